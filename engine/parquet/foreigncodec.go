package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// The codecs that only foreign files have.
const (
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5 // in the frames of Hadoop
	codecLZ4Raw = 7
)

// decompress gives the raw bytes of p, in dst when they fit, never more than raw.
// Uncompressed bytes are p itself.
func decompress(codec int32, dst, p []byte, raw int) ([]byte, error) {
	if raw == 0 {
		return nil, nil
	}
	var err error
	switch codec {
	case codecNone:
		dst = p
	case codecSnappy:
		if n, err := s2.DecodedLen(p); err != nil || n != raw || n > maxSnappy*(len(p)+1) {
			return nil, errPage
		}
		dst, err = s2.Decode(room(dst, raw), p)
	case codecGzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(p)); err == nil {
			dst, err = limited(dst, z, raw)
		}
	case codecBrotli:
		dst, err = limited(dst, brotli.NewReader(bytes.NewReader(p)), raw)
	case codecZstd:
		dst, err = unzstd(dst, p, raw)
	case codecLZ4Raw:
		dst, err = lz4Block(dst[:0], p, raw)
	case codecLZ4:
		if dst, err = lz4Frames(dst[:0], p, raw); err != nil {
			dst, err = lz4Block(dst[:0], p, raw)
		}
	case codecLZO:
		return nil, fmt.Errorf("parquet: the file is compressed with LZO, which cannot be read; write it with Snappy or ZSTD")
	default:
		return nil, fmt.Errorf("parquet: the compression %d is not known; write the file with Snappy or ZSTD", codec)
	}
	if err != nil || len(dst) != raw {
		return nil, errPage
	}
	return dst, nil
}

func room(dst []byte, size int) []byte { return grown(&dst, size) }

// limited reads no more than one byte too many.
func limited(dst []byte, in io.Reader, raw int) ([]byte, error) {
	out := bytes.NewBuffer(dst[:0])
	_, err := io.Copy(out, io.LimitReader(in, int64(raw)+1))
	return out.Bytes(), err
}

// boundedZstd keeps decoders that fill no more than the capacity they are given.
var boundedZstd sync.Pool // *zstd.Decoder

func unzstd(dst, p []byte, raw int) ([]byte, error) {
	dec, ok := boundedZstd.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
	}
	defer boundedZstd.Put(dec)
	return dec.DecodeAll(p, room(dst, raw)[:0:raw])
}

// lz4Frames reads blocks that follow their sizes, raw and packed, big endian.
func lz4Frames(dst, p []byte, raw int) ([]byte, error) {
	for len(p) > 0 {
		if len(p) < 8 {
			return nil, errPage
		}
		size, packed := binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])
		if p = p[8:]; uint64(packed) > uint64(len(p)) || uint64(size) > uint64(raw-len(dst)) {
			return nil, errPage
		}
		var err error
		if dst, err = lz4Block(dst, p[:packed], int(size)); err != nil {
			return nil, err
		}
		p = p[packed:]
	}
	return dst, nil
}

// lz4Block appends the raw bytes of a block. It follows the LZ4 block format:
// literals, then a copy from before, each with lengths that a nibble begins.
func lz4Block(dst, p []byte, raw int) ([]byte, error) {
	const (
		most     = 255 // raw bytes for a packed one, at most
		shortest = 4   // bytes of a copy
	)
	if raw > most*len(p) {
		return nil, errPage
	}
	from := len(dst)
	dst = slices.Grow(dst, raw)
	for len(p) > 0 {
		token := p[0]
		n, rest, ok := lz4Length(int(token>>4), p[1:])
		if !ok || n > len(rest) || n > from+raw-len(dst) {
			return nil, errPage
		}
		dst = append(dst, rest[:n]...)
		if p = rest[n:]; len(p) == 0 {
			break
		}
		if len(p) < 2 {
			return nil, errPage
		}
		back := int(binary.LittleEndian.Uint16(p))
		n, p, ok = lz4Length(int(token&15), p[2:])
		n += shortest
		if !ok || back == 0 || back > len(dst)-from || n > from+raw-len(dst) {
			return nil, errPage
		}
		for at := len(dst) - back; n > 0; {
			k := min(n, len(dst)-at)
			dst = append(dst, dst[at:at+k]...)
			n -= k
		}
	}
	if len(dst) != from+raw {
		return nil, errPage
	}
	return dst, nil
}

// lz4Length reads the bytes that make a length of 15 longer.
func lz4Length(n int, p []byte) (int, []byte, bool) {
	if n < 15 {
		return n, p, true
	}
	for i, b := range p {
		if n += int(b); b < 255 {
			return n, p[i+1:], true
		}
	}
	return 0, nil, false
}
