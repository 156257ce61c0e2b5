package parquet

import (
	"fmt"

	"sluice/engine/batch"
)

// The numbers of the Parquet format (parquet.thrift).
const (
	physBoolean = 0
	physInt32   = 1
	physInt64   = 2
	physInt96   = 3
	physFloat   = 4
	physDouble  = 5
	physBytes   = 6
	physFixed   = 7

	encPlain       = 0
	encRLE         = 3
	encDelta       = 5
	encDeltaLength = 6
	encDictionary  = 8
	encSplit       = 9 // BYTE_STREAM_SPLIT

	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecZstd   = 6

	pageData       = 0
	pageDictionary = 2

	convUTF8            = 0
	convDecimal         = 5
	convTimestampMillis = 9
	convTimestampMicros = 10
	convJSON            = 19
)

const magic = "PAR1"

const encryptedMagic = "PARE"

// MetadataKey is the key-value entry with the schema as Hop knows it.
const MetadataKey = "sluice.schema"

// The other key-value entries of the file and of a column chunk.
const (
	versionKey = "sluice.version" // of this layout
	nanosKey   = "sluice.nanos"   // field numbers of the companion columns, in their order
	footerKey  = "sluice.footer"  // CRC-32 of the footer, in which these digits are zeros
	headersKey = "sluice.headers" // of a chunk: CRC-32 of its page headers
)

const formatVersion = "1"

// ownKeys are the entries that Options.Metadata cannot set.
var ownKeys = map[string]bool{MetadataKey: true, versionKey: true, nanosKey: true, footerKey: true}

// Codec is the compression of pages.
type Codec int

// The codecs.
const (
	Snappy Codec = iota
	Zstd
	Uncompressed
	Gzip // for files of other programs; slow
)

// ParseCodec reads snappy, zstd or none; empty is snappy.
func ParseCodec(name string) (Codec, error) {
	switch name {
	case "", "snappy":
		return Snappy, nil
	case "zstd":
		return Zstd, nil
	case "none":
		return Uncompressed, nil
	}
	return Snappy, fmt.Errorf("compression %q is not known; use snappy, zstd or none", name)
}

func (c Codec) number() int32 {
	return [...]int32{codecSnappy, codecZstd, codecNone, codecGzip}[c]
}

// shape is how the values of a field are stored. BigNumber has three.
type shape int

const (
	shapeInt64 shape = iota
	shapeDouble
	shapeBoolean
	shapeBytes
	shapeUUID
	shapeDecimal64  // BigNumber of one scale, unscaled value in 64 bits
	shapeDecimal128 // BigNumber of one scale, 16 bytes big endian
	shapeDecimalText
	shapeNanos // companion of a Timestamp: nanoseconds below the microsecond
)

func shapeOf(t batch.Type) shape {
	switch t {
	case batch.Integer, batch.Date, batch.Timestamp:
		return shapeInt64
	case batch.Number:
		return shapeDouble
	case batch.Boolean:
		return shapeBoolean
	case batch.BigNumber:
		return shapeDecimal64
	case batch.UUID:
		return shapeUUID
	}
	return shapeBytes
}

func (s shape) physical() int32 {
	switch s {
	case shapeInt64, shapeDecimal64:
		return physInt64
	case shapeNanos:
		return physInt32
	case shapeDouble:
		return physDouble
	case shapeBoolean:
		return physBoolean
	case shapeUUID, shapeDecimal128:
		return physFixed
	}
	return physBytes
}
