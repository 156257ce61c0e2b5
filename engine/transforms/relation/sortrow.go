package relation

import (
	"encoding/binary"
	"math"
	"math/big"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// A stored row is one run of bytes, so that moving a row while it is sorted costs
// one or two cache misses and not one for every column:
//
//	uvarint length of what follows
//	uvarint length of the key's rest, rest: the normalised key from prefixBytes on
//	per field: a lead of 0 is null
//	  text                  lead uvarint(length+firstText), bytes
//	  typed Binary and such lead rowFixed, then as text
//	  fixed width           lead rowFixed, 8 bytes, or another of the leads below
//
// Values say themselves whether they are typed or raw text, since an input may
// have both in one column. Stored rows never leave the machine.
const (
	rowNull    = 0
	rowFixed   = 1 // 8 bytes; of a BigNumber the scale in a byte and 64 bits
	rowWide    = 2 // Timestamp: 8 bytes and nanoseconds; BigNumber: scale, 128 bits
	rowBig     = 3 // BigNumber: scale, sign, uvarint length, magnitude
	rowTrue    = 4
	rowFalse   = 5
	firstText  = 8
	maxLead    = 0x7f // longest lead of one byte
	copyWhole  = 16   // short texts are copied as this many bytes
	rowsAtOnce = 64   // rows that are fetched from memory together
)

// rowLayout packs rows of a schema and knows what was packed. One goroutine packs;
// unpacking may begin when it has ended.
type rowLayout struct {
	alloc     *batch.Allocator
	schema    *batch.Schema
	transform string
	fields    []rowField
	body      []byte
}

type rowField struct {
	typ        batch.Type
	codec      *batch.Codec
	raw, typed bool // there were columns of this kind
	plain      batch.PlainText
}

func newRowLayout(transform string, alloc *batch.Allocator, sem *batch.Semantics, s *batch.Schema) (*rowLayout, error) {
	codecs, err := sem.Codecs(s)
	if err != nil {
		return nil, err
	}
	l := &rowLayout{transform: transform, alloc: alloc, schema: s, fields: make([]rowField, s.Len())}
	for k := range l.fields {
		l.fields[k] = rowField{typ: s.Fields[k].Type, codec: codecs[k]}
	}
	return l, nil
}

// note takes down what kind of columns a batch has.
func (l *rowLayout) note(b *batch.Batch) {
	for k := range l.fields {
		f, c := &l.fields[k], b.Cols[k]
		switch {
		case !f.raw && !f.typed:
			f.plain = c.Plain
		case f.plain != c.Plain:
			f.plain = batch.PlainText{}
		}
		f.raw, f.typed = f.raw || c.Raw, f.typed || !c.Raw
	}
}

// append appends row i of b, which was noted, and its normalised key.
func (l *rowLayout) append(dst []byte, b *batch.Batch, i int, key []byte) []byte {
	rest := key[min(len(key), prefixBytes):]
	body := append(binary.AppendUvarint(l.body[:0], uint64(len(rest))), rest...)
	for k, c := range b.Cols {
		switch {
		case c.IsNull(i):
			body = append(body, rowNull)
		case c.IsText():
			if !c.Raw && c.Type != batch.String {
				body = append(body, rowFixed)
			}
			text := c.Data[c.Offsets[i]:c.Offsets[i+1]]
			if lead := len(text) + firstText; lead <= maxLead {
				body = append(body, byte(lead))
			} else {
				body = binary.AppendUvarint(body, uint64(lead))
			}
			body = append(body, text...)
		default:
			body = appendFixed(body, l.fields[k].typ, c, i)
		}
	}
	l.body = body
	return append(binary.AppendUvarint(dst, uint64(len(body))), body...)
}

// appendFixed appends a value that is neither null nor text.
func appendFixed(dst []byte, t batch.Type, c *batch.Column, i int) []byte {
	le := binary.LittleEndian
	switch t {
	case batch.Number:
		return le.AppendUint64(append(dst, rowFixed), math.Float64bits(c.Floats[i]))
	case batch.Boolean:
		if c.Bits.Get(i) {
			return append(dst, rowTrue)
		}
		return append(dst, rowFalse)
	case batch.BigNumber:
		return appendDecimalValue(dst, c, i)
	case batch.Timestamp:
		if nano := c.Nano(i); nano != 0 {
			return le.AppendUint32(le.AppendUint64(append(dst, rowWide), uint64(c.Ints[i])), uint32(nano))
		}
	}
	return le.AppendUint64(append(dst, rowFixed), uint64(c.Ints[i]))
}

func appendDecimalValue(dst []byte, c *batch.Column, i int) []byte {
	le := binary.LittleEndian
	if c.Big == nil {
		return appendDec128(dst, c.Decs[i].Hi, c.Decs[i].Lo, c.Scale)
	}
	d := c.Big[i]
	if hi, lo, scale, ok := d.Int128(); ok {
		return appendDec128(dst, hi, lo, scale)
	}
	sign := byte(0)
	if d.Sign() < 0 {
		sign = 1
	}
	magnitude := d.Unscaled().Bytes()
	dst = append(le.AppendUint32(append(dst, rowBig), uint32(d.Scale())), sign)
	return append(binary.AppendUvarint(dst, uint64(len(magnitude))), magnitude...)
}

func appendDec128(dst []byte, hi int64, lo uint64, scale int32) []byte {
	le := binary.LittleEndian
	if hi == int64(lo)>>63 && scale == int32(uint8(scale)) {
		return le.AppendUint64(append(dst, rowFixed, byte(scale)), lo)
	}
	dst = le.AppendUint32(append(dst, rowWide), uint32(scale))
	return le.AppendUint64(le.AppendUint64(dst, lo), uint64(hi))
}

// storedRow is a row at the front of a slice that goes on behind it.
type storedRow []byte

// end is the size of the row.
func (r storedRow) end() int {
	n, from := readLength(r, 0)
	return from + n
}

// rest is the row's key from prefixBytes on.
func (r storedRow) rest() []byte {
	_, at := readLength(r, 0)
	n, at := readLength(r, at)
	return r[at : at+n]
}

// readLength reads a uvarint at an offset and gives the offset behind it.
func readLength(p []byte, at int) (n, next int) {
	if p[at] <= maxLead {
		return int(p[at]), at + 1
	}
	v, w := binary.Uvarint(p[at:])
	return int(v), at + w
}

// fetch reads a byte of each cache line of a few rows. Memory gives many of them at
// once this way, and what is done with the rows afterwards finds them in cache.
func fetch(rows []storedRow) (seen byte) {
	const line, most = 64, 512
	for _, r := range rows {
		seen |= r[0]
	}
	for _, r := range rows {
		end := r.end()
		for at := line; at < min(end, most); at += line {
			seen |= r[at]
		}
		seen |= r[end-1]
	}
	return seen
}

// rowReader makes batches of stored rows. It is for one goroutine.
type rowReader struct {
	*rowLayout
	at   [rowsAtOnce]int
	seen byte // keeps the reads of fetch
}

// batch gives a batch (one hold) of rows.
func (d *rowReader) batch(rows []storedRow) (*batch.Batch, error) {
	cols := make([]*batch.Column, len(d.fields))
	for k := range cols {
		f := &d.fields[k]
		cols[k] = newColumn(d.alloc, f.typ, f.raw && !f.typed)
		cols[k].Plain = f.plain
		if cols[k].IsText() {
			cols[k].Extend(len(rows))
		}
	}
	out := d.alloc.Assemble(d.schema, cols, len(rows))
	for done := 0; done < len(rows); done += rowsAtOnce {
		part := rows[done:min(done+rowsAtOnce, len(rows))]
		d.seen |= fetch(part)
		for i, r := range part {
			_, at := readLength(r, 0)
			n, at := readLength(r, at)
			d.at[i] = at + n
		}
		for k, c := range cols {
			if err := d.read(c, &d.fields[k], part, done); err != nil {
				out.Release()
				return nil, &engine.Error{Transform: d.transform, Field: d.schema.Fields[k].Name, Err: err}
			}
		}
	}
	return out, nil
}

// read adds the next value of each row to a column, of which n rows are filled.
func (d *rowReader) read(c *batch.Column, f *rowField, rows []storedRow, n int) error {
	switch {
	case c.IsText() && (c.Raw || f.typ == batch.String):
		d.readTexts(c, rows, n)
		return nil
	case c.IsText():
		return d.readBytes(c, f, rows, n)
	}
	for i, r := range rows {
		lead, at := readLength(r, d.at[i])
		switch {
		case lead == rowNull:
			c.AppendNull()
		case lead >= firstText:
			end := at + lead - firstText
			if err := f.codec.ParseInto(c, r[at:end]); err != nil {
				return err
			}
			at = end
		default:
			at = readFixed(c, lead, r, at)
		}
		d.at[i] = at
	}
	return nil
}

// readTexts reads values that are all text.
func (d *rowReader) readTexts(c *batch.Column, rows []storedRow, n int) {
	data, ends := c.Data, c.Offsets[n+1:n+len(rows)+1]
	for i, r := range rows {
		lead, at := readLength(r, d.at[i])
		size := max(lead-firstText, 0)
		switch {
		case lead == rowNull:
			c.SetNull(n + i)
		case size <= copyWhole && len(r)-at >= copyWhole && cap(data)-len(data) >= copyWhole:
			from := len(data)
			copy(data[from:from+copyWhole], r[at:at+copyWhole])
			data = data[:from+size]
		default:
			data = append(data, r[at:at+size]...)
		}
		d.at[i] = at + size
		ends[i] = int32(len(data))
	}
	c.Data = data
}

// readBytes reads values of a text-like type, some of them raw.
func (d *rowReader) readBytes(c *batch.Column, f *rowField, rows []storedRow, n int) error {
	for i, r := range rows {
		lead, at := readLength(r, d.at[i])
		switch lead {
		case rowNull:
			c.SetNull(n + i)
		case rowFixed:
			lead, at = readLength(r, at)
			c.Data = append(c.Data, r[at:at+lead-firstText]...)
			at += lead - firstText
		default:
			text := r[at : at+lead-firstText]
			one := d.alloc.Column(f.typ)
			err := f.codec.ParseInto(one, text)
			if err == nil && one.IsNull(0) {
				c.SetNull(n + i)
			}
			c.Data = append(c.Data, one.Data...)
			one.Release()
			if err != nil {
				return err
			}
			at += len(text)
		}
		d.at[i] = at
		c.Offsets[n+i+1] = int32(len(c.Data))
	}
	return nil
}

// readFixed reads a typed value and gives the offset behind it.
func readFixed(c *batch.Column, lead int, r storedRow, at int) int {
	le := binary.LittleEndian
	switch c.Type {
	case batch.Number:
		c.AppendFloat(math.Float64frombits(le.Uint64(r[at:])))
		return at + 8
	case batch.Boolean:
		c.AppendBool(lead == rowTrue)
		return at
	case batch.BigNumber:
		return readDecimal(c, lead, r, at)
	case batch.Timestamp:
		if lead == rowWide {
			c.AppendTimestamp(int64(le.Uint64(r[at:])), int32(le.Uint32(r[at+8:])))
			return at + 12
		}
	}
	c.AppendInt(int64(le.Uint64(r[at:])))
	return at + 8
}

func readDecimal(c *batch.Column, lead int, r storedRow, at int) int {
	le := binary.LittleEndian
	switch lead {
	case rowFixed:
		c.AppendDecimal64(int64(le.Uint64(r[at+1:])), int32(r[at]))
		return at + 9
	case rowWide:
		scale, lo, hi := int32(le.Uint32(r[at:])), le.Uint64(r[at+4:]), le.Uint64(r[at+12:])
		c.AppendDecimal(decimal.FromInt128(int64(hi), lo, scale))
		return at + 20
	}
	scale, negative := int32(le.Uint32(r[at:])), r[at+4] == 1
	n, from := readLength(r, at+5)
	v := new(big.Int).SetBytes(r[from : from+n])
	if negative {
		v.Neg(v)
	}
	c.AppendDecimal(decimal.FromBig(v, scale))
	return from + n
}
