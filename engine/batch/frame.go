package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"unsafe"

	"github.com/golang/snappy"

	"sluice/engine/batch/decimal"
)

// A frame is one batch as bytes: raw column buffers in a Snappy block. It never
// leaves the machine: byte order is the machine's own and there is no version.
//
//	u32 length of the block, u32 CRC-32C of the block, block
//	block (uncompressed): u32 rows, then per column
//	  u8 flags, [scale i32], [plain 2 bytes], and each present buffer as u32 length + bytes

const (
	frameValid = 1 << iota
	frameRaw
	frameNanos
	frameBig
	framePlain
)

// ErrFrame means that a frame was damaged on its way through a temporary file.
var ErrFrame = errors.New("temporary file is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FrameEncoder turns batches into frames. It owns its buffers; one goroutine.
type FrameEncoder struct{ plain, packed []byte }

// Append appends the frame of the selected rows of b to dst.
func (e *FrameEncoder) Append(dst []byte, b *Batch) []byte {
	d := b.Dense()
	defer d.Release()
	p := binary.LittleEndian.AppendUint32(e.plain[:0], uint32(d.Physical()))
	for _, c := range d.Cols {
		p = c.appendFrame(p)
	}
	e.plain = p
	if n := snappy.MaxEncodedLen(len(p)); cap(e.packed) < n {
		e.packed = make([]byte, n)
	}
	block := snappy.Encode(e.packed[:cap(e.packed)], p)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(block)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(block, castagnoli))
	return append(dst, block...)
}

func raw[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

func appendBuffer(p, buf []byte) []byte {
	p = binary.LittleEndian.AppendUint32(p, uint32(len(buf)))
	return append(p, buf...)
}

func (c *Column) appendFrame(p []byte) []byte {
	var flags byte
	set := func(on bool, f byte) {
		if on {
			flags |= f
		}
	}
	set(c.Valid != nil, frameValid)
	set(c.Raw, frameRaw)
	set(c.Nanos != nil, frameNanos)
	set(c.Big != nil, frameBig)
	set(c.Plain != PlainText{}, framePlain)
	p = append(p, flags)
	if c.Plain != (PlainText{}) {
		p = append(p, c.Plain.Separator, c.Plain.Quote)
	}
	if c.Valid != nil {
		p = appendBuffer(p, c.Valid[:(c.n+7)/8])
	}
	switch {
	case c.IsText():
		p = appendBuffer(p, raw(c.Offsets[:c.n+1]))
		return appendBuffer(p, c.Data[:c.Offsets[c.n]])
	case c.Type == Number:
		return appendBuffer(p, raw(c.Floats))
	case c.Type == Boolean:
		return appendBuffer(p, c.Bits[:(c.n+7)/8])
	case c.Type == BigNumber && c.Big != nil:
		for i := range c.Big {
			p = appendBuffer(p, []byte(c.Big[i].String()))
		}
		return p
	case c.Type == BigNumber:
		p = binary.LittleEndian.AppendUint32(p, uint32(c.Scale))
		return appendBuffer(p, raw(c.Decs))
	}
	p = appendBuffer(p, raw(c.Ints))
	if c.Nanos != nil {
		p = appendBuffer(p, raw(c.Nanos))
	}
	return p
}

// FrameHeader is the number of bytes before a frame's block.
const FrameHeader = 8

// FrameSize reads the length of the block that follows a header.
func FrameSize(header []byte) int { return int(binary.LittleEndian.Uint32(header)) }

// FrameDecoder turns frames back into batches. It owns its buffer; one goroutine.
type FrameDecoder struct {
	alloc  *Allocator
	schema *Schema
	plain  []byte
}

// NewFrameDecoder reads frames of batches of a schema.
func NewFrameDecoder(a *Allocator, s *Schema) *FrameDecoder {
	return &FrameDecoder{alloc: a, schema: s}
}

// Decode gives the batch (one hold) of a header and its block.
func (d *FrameDecoder) Decode(header, block []byte) (*Batch, error) {
	if crc32.Checksum(block, castagnoli) != binary.LittleEndian.Uint32(header[4:]) {
		return nil, ErrFrame
	}
	plain, err := snappy.Decode(d.plain[:cap(d.plain)], block)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	d.plain = plain
	r := frameReader{p: plain}
	rows := int(r.u32())
	b := d.alloc.shell(d.schema)
	b.n = rows
	for i := range d.schema.Fields {
		b.Cols = append(b.Cols, d.column(&r, d.schema.Fields[i].Type, rows))
	}
	if r.short || len(r.p) != 0 {
		b.Release()
		return nil, ErrFrame
	}
	return b, nil
}

func (d *FrameDecoder) column(r *frameReader, t Type, rows int) *Column {
	flags := r.byte()
	c := d.alloc.column(t, flags&frameRaw != 0)
	c.n = rows
	if flags&framePlain != 0 {
		c.Plain = PlainText{r.byte(), r.byte()}
	}
	if flags&frameValid != 0 {
		c.Valid = append(Bitmap(nil), r.buffer()...)
		if len(c.Valid) < (rows+7)/8 {
			r.short = true
			return c
		}
		c.nulls = rows - c.Valid.Count(rows)
	}
	switch {
	case c.IsText():
		c.Offsets = readFixed(c.Offsets, r, rows+1)
		c.Data = append(c.Data[:0], r.buffer()...)
	case t == Number:
		c.Floats = readFixed(c.Floats, r, rows)
	case t == Boolean:
		c.Bits = append(c.Bits[:0], r.buffer()...)
	case t == BigNumber && flags&frameBig != 0:
		c.Big = readBig(r, rows)
	case t == BigNumber:
		c.Scale = int32(r.u32())
		c.Decs = readFixed(c.Decs, r, rows)
	default:
		c.Ints = readFixed(c.Ints, r, rows)
		if flags&frameNanos != 0 {
			c.Nanos = readFixed([]int32(nil), r, rows)
		}
	}
	return c
}

func readBig(r *frameReader, rows int) []decimal.Decimal {
	big := make([]decimal.Decimal, 0, rows)
	for range rows {
		v, err := decimal.Parse(string(r.buffer()))
		if err != nil {
			r.short = true
		}
		big = append(big, v)
	}
	return big
}

func readFixed[T any](dst []T, r *frameReader, n int) []T {
	buf := r.buffer()
	var zero T
	if size := int(unsafe.Sizeof(zero)); len(buf) != n*size || n > math.MaxInt32 {
		r.short = true
		return dst[:0]
	}
	dst = resize(dst[:0], n)
	copy(raw(dst), buf)
	return dst
}

type frameReader struct {
	p     []byte
	short bool
}

func (r *frameReader) take(n int) []byte {
	if n < 0 || n > len(r.p) {
		r.short, r.p = true, nil
		return nil
	}
	out := r.p[:n]
	r.p = r.p[n:]
	return out
}

func (r *frameReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *frameReader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *frameReader) buffer() []byte { return r.take(int(r.u32())) }
