package digest

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"sluice/engine/batch"
)

// block adds rows from (included) to end (excluded) of columns.
func (d *Digest) block(cols []*batch.Column, from, end int) {
	for _, c := range cols {
		r := rows{c: c, from: from, end: end}
		d.buf = r.presence(d.buf[:0])
		if r.present > 0 {
			d.values(&r)
		}
		d.sum.Write(d.buf)
	}
}

// rows is a run of rows of a column.
type rows struct {
	c         *batch.Column
	from, end int
	present   int // rows that are not null
}

func (r *rows) whole() bool { return r.present == r.end-r.from }

// presence appends which rows hold a value, and counts them.
func (r *rows) presence(dst []byte) []byte {
	n := r.end - r.from
	r.present = n
	if r.c.Nulls() == 0 {
		return append(dst, 1)
	}
	at := len(dst)
	dst = append(dst, 2)
	r.present = 0
	for i := 0; i < n; i += 8 {
		b := bits8(r.c.Valid, r.from+i)
		if n-i < 8 {
			b &= 1<<(n-i) - 1
		}
		r.present += bits.OnesCount8(b)
		dst = append(dst, b)
	}
	switch r.present {
	case 0:
		return append(dst[:at], 0)
	case n:
		return append(dst[:at], 1)
	}
	return dst
}

// bits8 gives eight bits from any position, zeros behind the end.
func bits8(m batch.Bitmap, i int) byte {
	b := uint16(m[i>>3])
	if i>>3+1 < len(m) {
		b |= uint16(m[i>>3+1]) << 8
	}
	return byte(b >> (i & 7))
}

// values appends the values that are not null to the buffer; large data goes to
// the sum at once.
func (d *Digest) values(r *rows) {
	c := r.c
	switch {
	case c.Type == batch.BigNumber:
		d.decimals(r)
	case c.IsText():
		d.bytes(r)
	case c.Type == batch.Number:
		d.buf = slices.Grow(d.buf, r.present*8)
		for i := r.from; i < r.end; i++ {
			if !c.IsNull(i) {
				d.buf = binary.LittleEndian.AppendUint64(d.buf, math.Float64bits(c.Floats[i]))
			}
		}
	case c.Type == batch.Boolean:
		for i := r.from; i < r.end; i++ {
			if !c.IsNull(i) {
				d.buf = append(d.buf, c.Bits[i>>3]>>(i&7)&1)
			}
		}
	default:
		d.integers(d.compact(r, c.Ints))
		if c.Type == batch.Timestamp {
			d.nanos(r)
		}
	}
}

// compact gives the values that are not null.
func (d *Digest) compact(r *rows, values []int64) []int64 {
	if r.whole() {
		return values[r.from:r.end]
	}
	out := slices.Grow(d.ints[:0], r.end-r.from)[:r.end-r.from]
	d.ints = out
	k := 0
	for i := r.from; i < r.end; i++ {
		out[k] = values[i]
		k += int(r.c.Valid[i>>3] >> (i & 7) & 1)
	}
	return out[:k]
}

// integers appends numbers in as few bytes as the widest of them needs.
func (d *Digest) integers(values []int64) {
	low, high := int64(0), int64(0)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	n, at := len(values), len(d.buf)+1
	switch {
	case low >= math.MinInt8 && high <= math.MaxInt8:
		d.buf = slices.Grow(append(d.buf, 1), n)[:at+n]
		for i, out := 0, d.buf[at:]; i < len(out); i++ {
			out[i] = byte(values[i])
		}
	case low >= math.MinInt16 && high <= math.MaxInt16:
		d.buf = slices.Grow(append(d.buf, 2), 2*n)
		for _, v := range values {
			d.buf = binary.LittleEndian.AppendUint16(d.buf, uint16(v))
		}
	case low >= math.MinInt32 && high <= math.MaxInt32:
		d.buf = slices.Grow(append(d.buf, 4), 4*n)
		for _, v := range values {
			d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(v))
		}
	default:
		d.buf = slices.Grow(append(d.buf, 8), 8*n)
		for _, v := range values {
			d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(v))
		}
	}
}

func (d *Digest) nanos(r *rows) {
	at := len(d.buf)
	d.buf = append(d.buf, 0)
	if r.c.Nanos == nil {
		return
	}
	some := int32(0)
	for i := r.from; i < r.end; i++ {
		if !r.c.IsNull(i) {
			some |= r.c.Nanos[i]
			d.buf = binary.LittleEndian.AppendUint16(d.buf, uint16(r.c.Nanos[i]))
		}
	}
	if some == 0 {
		d.buf = d.buf[:at+1]
		return
	}
	d.buf[at] = 1
}

// bytes appends lengths and data.
func (d *Digest) bytes(r *rows) {
	c := r.c
	n := r.end - r.from
	out := slices.Grow(d.ints[:0], n)[:n]
	d.ints = out
	offsets := c.Offsets[r.from : r.end+1]
	k, total := n, int64(offsets[n]-offsets[0])
	if r.whole() {
		for i := range out {
			out[i] = int64(offsets[i+1] - offsets[i])
		}
	} else {
		k, total = 0, 0
		for i := range out {
			row := r.from + i
			bit := int64(c.Valid[row>>3] >> (row & 7) & 1)
			out[k] = int64(offsets[i+1] - offsets[i])
			total += out[k] & -bit
			k += int(bit)
		}
	}
	d.integers(out[:k])
	d.sum.Write(d.buf)
	d.buf = d.buf[:0]
	if all := c.Data[offsets[0]:offsets[n]]; int64(len(all)) == total {
		d.sum.Write(all)
		return
	}
	for i := r.from; i < r.end; i++ { // null rows have bytes
		if !c.IsNull(i) {
			d.buf = append(d.buf, c.Bytes(i)...)
		}
	}
}

// decimals appends unscaled values when they have one scale and fit 64 bits, else
// texts, which keep digits and scale.
func (d *Digest) decimals(r *rows) {
	scale, values, ok := d.unscaled(r)
	if ok {
		d.buf = append(d.buf, 1)
		d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(scale))
		d.integers(values)
		return
	}
	d.buf = append(d.buf, 2)
	t := d.texts
	t.Truncate(0)
	for i := r.from; i < r.end; i++ {
		if !r.c.IsNull(i) {
			t.Data = r.c.Decimal(i).Append(t.Data)
			t.EndValue()
		}
	}
	d.bytes(&rows{c: t, end: r.present, present: r.present})
}

// unscaled gives the unscaled values that are not null, and false when they do not
// fit or have several scales.
func (d *Digest) unscaled(r *rows) (scale int32, values []int64, ok bool) {
	c := r.c
	out := slices.Grow(d.ints[:0], r.end-r.from)
	defer func() { d.ints = out }()
	if c.Big == nil {
		wide := int64(0)
		for i := r.from; i < r.end; i++ {
			if r.whole() || c.Valid.Get(i) {
				v := int64(c.Decs[i].Lo)
				wide |= c.Decs[i].Hi ^ v>>63
				out = append(out, v)
			}
		}
		return c.Scale, out, wide == 0
	}
	for i := r.from; i < r.end; i++ {
		if c.IsNull(i) {
			continue
		}
		hi, lo, s, fits := c.Big[i].Int128()
		if !fits || hi != int64(lo)>>63 || (len(out) > 0 && s != scale) {
			return 0, nil, false
		}
		scale, out = s, append(out, int64(lo))
	}
	return scale, out, true
}
