package digest

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"sluice/engine/batch"
)

// piece is a run of rows of a dense batch (held): from (included) to end.
type piece struct {
	b         *batch.Batch
	from, end int
}

// rows are the rows of a block in one column: runs of several batches, in order.
type rows struct {
	runs    []run
	n       int // rows
	present int // of them that are not null
}

type run struct {
	c         *batch.Column
	from, end int
}

func (r *rows) whole() bool { return r.present == r.n }

// block adds the rows of pieces.
func (d *Digest) block(pieces []piece) {
	for k := range pieces[0].b.Cols {
		r := rows{runs: d.runs[:0]}
		for _, p := range pieces {
			r.runs = append(r.runs, run{p.b.Cols[k], p.from, p.end})
			r.n += p.end - p.from
		}
		d.runs = r.runs
		d.buf = r.presence(d.buf[:0])
		if r.present > 0 {
			d.values(r.runs[0].c, &r)
		}
		d.flushBuffer()
	}
}

// presence appends which rows hold a value, and counts them.
func (r *rows) presence(dst []byte) []byte {
	nulls := 0
	for _, run := range r.runs {
		nulls += run.c.Nulls()
	}
	if r.present = r.n; nulls == 0 {
		return append(dst, 1)
	}
	at := len(dst)
	dst = append(dst, 2)
	r.present = 0
	word, filled := uint64(0), 0
	for _, run := range r.runs {
		for i := run.from; i < run.end; i += 8 {
			n := min(8, run.end-i)
			b := bits8(run.c.Valid, i) & (1<<n - 1)
			r.present += bits.OnesCount64(b)
			word |= b << filled
			if filled += n; filled >= 8 {
				dst = append(dst, byte(word))
				word >>= 8
				filled -= 8
			}
		}
	}
	if filled > 0 {
		dst = append(dst, byte(word))
	}
	switch r.present {
	case 0:
		return append(dst[:at], 0)
	case r.n:
		return append(dst[:at], 1)
	}
	return dst
}

// bits8 gives eight bits from any position, zeros behind the end; ones when no row
// is null.
func bits8(m batch.Bitmap, i int) uint64 {
	if m == nil {
		return 0xff
	}
	b := uint64(m[i>>3])
	if i>>3+1 < len(m) {
		b |= uint64(m[i>>3+1]) << 8
	}
	return b >> (i & 7) & 0xff
}

// values appends the values that are not null to the buffer; large data goes to
// the sum at once.
func (d *Digest) values(c *batch.Column, r *rows) {
	switch {
	case c.Type == batch.BigNumber:
		d.decimals(r)
	case c.IsText():
		d.bytes(r)
	case c.Type == batch.Number:
		for _, run := range r.runs {
			if littleEndian && run.c.Nulls() == 0 && run.end > run.from {
				d.flushBuffer()
				_, _ = d.sum.Write(bytesOf(run.c.Floats[run.from:run.end]))
				continue
			}
			for i := run.from; i < run.end; i++ {
				if !run.c.IsNull(i) {
					d.buf = binary.LittleEndian.AppendUint64(d.buf, math.Float64bits(run.c.Floats[i]))
				}
			}
		}
	case c.Type == batch.Boolean:
		for _, run := range r.runs {
			for i := run.from; i < run.end; i++ {
				if !run.c.IsNull(i) {
					d.buf = append(d.buf, run.c.Bits[i>>3]>>(i&7)&1)
				}
			}
		}
	default:
		d.integers(d.compact(r))
		if c.Type == batch.Timestamp {
			d.nanos(r)
		}
	}
}

// scratch gives room for a number per row.
func (d *Digest) scratch(n int) []int64 {
	d.ints = slices.Grow(d.ints[:0], n)[:n]
	return d.ints
}

// compact gives the numbers that are not null.
func (d *Digest) compact(r *rows) []int64 {
	if first := r.runs[0]; len(r.runs) == 1 && r.whole() {
		return first.c.Ints[first.from:first.end]
	}
	out := d.scratch(r.n)
	k := 0
	for _, run := range r.runs {
		values := run.c.Ints[run.from:run.end]
		if run.c.Nulls() == 0 {
			k += copy(out[k:], values)
			continue
		}
		for i, v := range values {
			out[k] = v
			k += run.valid(i)
		}
	}
	return out[:k]
}

// valid is 1 when row i of a run with nulls holds a value, else 0.
func (r *run) valid(i int) int {
	i += r.from
	return int(r.c.Valid[i>>3] >> (i & 7) & 1)
}

// littleEndian says that the machine stores numbers as the digest takes them.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// integers adds numbers, where they lie if the machine allows it.
func (d *Digest) integers(values []int64) {
	if !littleEndian || len(values) == 0 {
		for _, v := range values {
			d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(v))
		}
		return
	}
	d.flushBuffer()
	_, _ = d.sum.Write(bytesOf(values))
}

// bytesOf gives numbers as they lie in memory. There is at least one.
func bytesOf[T int64 | float64](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8*len(values))
}

// flushBuffer adds what was appended so far.
func (d *Digest) flushBuffer() {
	_, _ = d.sum.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *Digest) nanos(r *rows) {
	at := len(d.buf)
	d.buf = append(d.buf, 0)
	some := int32(0)
	for _, run := range r.runs {
		for i := run.from; i < run.end; i++ {
			if !run.c.IsNull(i) {
				v := run.c.Nano(i)
				some |= v
				d.buf = binary.LittleEndian.AppendUint16(d.buf, uint16(v))
			}
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
	out := d.scratch(r.n)
	k := 0
	for _, run := range r.runs {
		offsets := run.c.Offsets[run.from : run.end+1]
		if run.c.Nulls() == 0 {
			lengths := out[k : k+len(offsets)-1]
			for i := range lengths {
				lengths[i] = int64(offsets[i+1] - offsets[i])
			}
			k += len(lengths)
			continue
		}
		for i := range run.end - run.from {
			out[k] = int64(offsets[i+1] - offsets[i])
			k += run.valid(i)
		}
	}
	d.integers(out[:k])
	d.flushBuffer()
	for _, run := range r.runs {
		d.data(run)
	}
}

// data adds the bytes of texts, or appends them where null rows have bytes.
func (d *Digest) data(run run) {
	c := run.c
	all := c.Data[c.Offsets[run.from]:c.Offsets[run.end]]
	total := len(all)
	if c.Nulls() > 0 {
		for i := run.from; i < run.end; i++ {
			null := int(^c.Valid[i>>3] >> (i & 7) & 1)
			total -= int(c.Offsets[i+1]-c.Offsets[i]) & -null
		}
	}
	if total == len(all) {
		_, _ = d.sum.Write(all)
		return
	}
	for i := run.from; i < run.end; i++ {
		if !c.IsNull(i) {
			_, _ = d.sum.Write(c.Bytes(i))
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
	for _, run := range r.runs {
		for i := run.from; i < run.end; i++ {
			if !run.c.IsNull(i) {
				t.Data = run.c.Decimal(i).Append(t.Data)
				t.EndValue()
			}
		}
	}
	d.bytes(&rows{runs: []run{{c: t, end: r.present}}, n: r.present, present: r.present})
}

// unscaled gives the unscaled values that are not null, and false when they do not
// fit or have several scales.
func (d *Digest) unscaled(r *rows) (scale int32, values []int64, ok bool) {
	out := d.scratch(r.n)
	k := 0
	for _, run := range r.runs {
		n, s, ok := run.unscaled(out[k:])
		if !ok || k > 0 && n > 0 && s != scale {
			return 0, nil, false
		}
		if n > 0 {
			scale = s
		}
		k += n
	}
	return scale, out[:k], true
}

// unscaled writes those of one run.
func (r *run) unscaled(out []int64) (n int, scale int32, ok bool) {
	c := r.c
	switch {
	case c.Big == nil && c.Nulls() == 0:
		wide := int64(0)
		decs := c.Decs[r.from:r.end]
		for i := range decs {
			v := int64(decs[i].Lo)
			wide |= decs[i].Hi ^ v>>63
			out[i] = v
		}
		return len(decs), c.Scale, wide == 0
	case c.Big == nil:
		wide := int64(0)
		for i, dec := range c.Decs[r.from:r.end] {
			v, valid := int64(dec.Lo), r.valid(i)
			wide |= (dec.Hi ^ v>>63) & -int64(valid)
			out[n] = v
			n += valid
		}
		return n, c.Scale, wide == 0
	}
	for i := r.from; i < r.end; i++ {
		if c.IsNull(i) {
			continue
		}
		hi, lo, s, fits := c.Big[i].Int128()
		if !fits || hi != int64(lo)>>63 || (n > 0 && s != scale) {
			return 0, 0, false
		}
		scale, out[n] = s, int64(lo)
		n++
	}
	return n, scale, true
}
