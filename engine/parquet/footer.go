package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/batch"
)

const createdBy = "sluice parquet writer version 1 (build 1)"

// nanosSuffix names the companion column of a Timestamp with nanoseconds, for
// other programs; File finds it by nanosKey.
const nanosSuffix = "__nanos"

// noSum stands in the footer where its checksum goes.
const noSum = "00000000"

// all lists the columns of the file: the fields, then the companions.
func (w *Writer) all() []*columnWriter {
	list := slices.Clone(w.cols)
	for _, c := range w.cols {
		if c.nanos != nil {
			list = append(list, c.nanos)
		}
	}
	return list
}

// companions lists the numbers of the fields with a companion.
func (w *Writer) companions() string {
	var list []string
	for i, c := range w.cols {
		if c.nanos != nil {
			list = append(list, strconv.Itoa(i))
		}
	}
	return strings.Join(list, ",")
}

func (c *columnWriter) name() string {
	if c.shape != shapeNanos {
		return c.field.Name
	}
	name := c.field.Name + nanosSuffix
	for c.file.schema.Index(name) >= 0 {
		name += "_"
	}
	return name
}

// footer appends FileMetaData, its length and the closing magic.
func (w *Writer) footer() {
	cols := w.all()
	t := thriftWriter{}
	t.begin()
	t.i32(1, 1)
	t.list(2, thriftStruct, len(cols)+1)
	t.begin()
	t.text(4, "schema")
	t.i32(5, int32(len(cols)))
	t.end()
	for _, c := range cols {
		c.schemaElement(&t)
	}
	t.i64(3, w.rows)
	t.list(4, thriftStruct, len(w.groups))
	for g := range w.groups {
		w.rowGroup(&t, cols, g)
	}
	meta := w.metadata()
	t.list(5, thriftStruct, len(meta)+1)
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		t.entry(k, meta[k])
	}
	t.entry(footerKey, noSum)
	sumAt := len(t.buf) - len(noSum) - 1 // the entry's end marker follows
	t.text(6, createdBy)
	t.end()
	copy(t.buf[sumAt:], hexSum(crc32.ChecksumIEEE(t.buf)))
	w.out = append(w.out, t.buf...)
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(t.buf)))
	w.out = append(w.out, magic...)
}

func hexSum(sum uint32) string { return fmt.Sprintf("%08x", sum) }

// entry writes a key-value pair as an item of a list.
func (t *thriftWriter) entry(key, value string) {
	t.begin()
	t.text(1, key)
	t.text(2, value)
	t.end()
}

func (w *Writer) rowGroup(t *thriftWriter, cols []*columnWriter, g int) {
	t.begin()
	t.list(1, thriftStruct, len(cols))
	var raw, packed int64
	for _, c := range cols {
		ch := c.chunks[g]
		raw += ch.raw
		packed += ch.packed
		t.begin()
		t.i64(2, ch.start())
		t.structField(3)
		c.columnMetadata(t, ch)
		t.end()
		t.end()
	}
	t.i64(2, raw)
	t.i64(3, w.groups[g].rows())
	t.i64(6, packed)
	t.end()
}

func (c *columnWriter) columnMetadata(t *thriftWriter, ch chunk) {
	t.i32(1, c.shape.physical())
	encs := ch.encs.list()
	t.list(2, thriftI32, len(encs))
	for _, e := range encs {
		t.buf = binary.AppendVarint(t.buf, int64(e))
	}
	t.list(3, thriftBinary, 1)
	t.bareText(c.name())
	t.i32(4, ch.codec.number())
	t.i64(5, ch.rows)
	t.i64(6, ch.raw)
	t.i64(7, ch.packed)
	t.list(8, thriftStruct, 1)
	t.entry(headersKey, hexSum(ch.headers))
	t.i64(9, ch.offset)
	if ch.dictOffset != 0 {
		t.i64(11, ch.dictOffset)
	}
}

// schemaElement writes the type of a column, in the older and the newer form.
func (c *columnWriter) schemaElement(t *thriftWriter) {
	t.begin()
	defer t.end()
	phys := c.shape.physical()
	t.i32(1, phys)
	if phys == physFixed {
		t.i32(2, 16)
	}
	t.i32(3, 1) // optional
	t.text(4, c.name())
	switch {
	case c.shape == shapeNanos:
	case c.shape == shapeDecimal64:
		c.decimal(t, 18)
	case c.shape == shapeDecimal128:
		c.decimal(t, 38)
	case c.shape == shapeDecimalText || c.field.Type == batch.String:
		t.i32(6, convUTF8)
		t.logical(1)
	case c.field.Type == batch.JSON:
		t.i32(6, convJSON)
		t.logical(12)
	case c.field.Type == batch.UUID:
		t.logical(14)
	case c.field.Type == batch.Date:
		timestamp(t, convTimestampMillis, 1)
	case c.field.Type == batch.Timestamp:
		timestamp(t, convTimestampMicros, 2)
	}
}

// logical writes a LogicalType without parameters.
func (t *thriftWriter) logical(id int16) {
	t.structField(10)
	t.structField(id)
	t.end()
	t.end()
}

func (c *columnWriter) decimal(t *thriftWriter, precision int32) {
	t.i32(6, convDecimal)
	t.i32(7, c.scale)
	t.i32(8, precision)
	t.structField(10)
	t.structField(5)
	t.i32(1, c.scale)
	t.i32(2, precision)
	t.end()
	t.end()
}

// timestamp writes TIMESTAMP(isAdjustedToUTC, unit): 1 is milliseconds, 2
// microseconds.
func timestamp(t *thriftWriter, converted int32, unit int16) {
	t.i32(6, converted)
	t.structField(10)
	t.structField(8)
	t.flag(1, true)
	t.structField(2)
	t.structField(unit)
	t.end()
	t.end()
	t.end()
	t.end()
}
