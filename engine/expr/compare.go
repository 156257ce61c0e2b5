package expr

import (
	"cmp"
	"math"

	"sluice/engine/batch"
)

// bit is 1 for true; the compiler makes it free of branches.
func bit(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// nullTest selects nulls, or all but nulls.
type nullTest struct {
	left *operand
	want bool
}

func (t *nullTest) inverted() (node, bool) { return &nullTest{t.left, !t.want}, true }

func (t *nullTest) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	col, err := t.left.column(b, in)
	if err != nil {
		return nil, err
	}
	n := b.Physical()
	out := s.take(count(in, n))
	emptyIsNull := col.Type == batch.String && !t.left.sem.EmptyDiffers
	if col.Valid == nil && !emptyIsNull {
		if t.want {
			return out, nil
		}
		return all(out, in, n), nil
	}
	sem := t.left.sem
	return filter(out, in, n, func(i int) bool { return sem.IsNull(col, i) == t.want }), nil
}

// filter appends the rows of in (nil: all n) for which keep is true.
func filter(out, in []int32, n int, keep func(i int) bool) []int32 {
	if in == nil {
		for i := range n {
			if keep(i) {
				out = append(out, int32(i))
			}
		}
		return out
	}
	for _, i := range in {
		if keep(int(i)) {
			out = append(out, i)
		}
	}
	return out
}

// intRange keeps the values from lo to lo+width, or all others. Every comparison
// of integers with a constant is one.
type intRange struct {
	left   *operand
	lo     int64
	width  uint64
	invert bool
	onNull bool
}

func newIntRange(op order, left *operand, v int64) node {
	r := &intRange{left: left, onNull: op.nulls(false)}
	hi := v
	r.lo = v
	switch op.op {
	case NotEqual:
		r.invert = true
	case Smaller, LargerEqual:
		if v == math.MinInt64 {
			if op.op == Smaller {
				return constant(false)
			}
			return &nullTest{left: left}
		}
		r.lo, hi = math.MinInt64, v-1
	case SmallerEqual, Larger:
		r.lo = math.MinInt64
	}
	r.invert = r.invert || op.op == Larger || op.op == LargerEqual
	r.width = uint64(hi) - uint64(r.lo)
	return r
}

func (r *intRange) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	col, err := r.left.column(b, in)
	if err != nil {
		return nil, err
	}
	n := b.Physical()
	m := count(in, n)
	out := s.take(m)[:m]
	k, vals, lo, width := 0, col.Ints[:n], uint64(r.lo), r.width
	flip := bit(r.invert)
	switch {
	case col.Valid != nil:
		return filter(out[:0], in, n, func(i int) bool {
			if !col.Valid.Get(i) {
				return r.onNull
			}
			return (uint64(vals[i])-lo <= width) != r.invert
		}), nil
	case in == nil:
		for i, v := range vals {
			out[k] = int32(i)
			k += bit(uint64(v)-lo <= width) ^ flip
		}
	default:
		for _, i := range in {
			out[k] = i
			k += bit(uint64(vals[i])-lo <= width) ^ flip
		}
	}
	return out[:k], nil
}

// floatRange keeps the values from lo to hi, or all others; NaN is in no range,
// which makes it greater than everything.
type floatRange struct {
	left   *operand
	lo, hi float64
	invert bool
	onNull bool
}

func newFloatRange(op order, left *operand, v float64) node {
	signed := v == 0 && op.op != Larger && op.op != SmallerEqual
	if v != v || (v == 0 && math.Signbit(v)) || signed {
		return &floatOrder{op: op, left: left, value: v} // -0 < 0 and NaN = NaN, as in Java
	}
	r := &floatRange{left: left, lo: math.Inf(-1), hi: v, onNull: op.nulls(false)}
	switch op.op {
	case Equal, NotEqual:
		r.lo = v
	case Smaller, LargerEqual:
		if math.IsInf(v, -1) {
			return &floatOrder{op: op, left: left, value: v}
		}
		r.hi = math.Nextafter(v, math.Inf(-1))
	}
	r.invert = op.op == NotEqual || op.op == Larger || op.op == LargerEqual
	return r
}

func (r *floatRange) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	col, err := r.left.column(b, in)
	if err != nil {
		return nil, err
	}
	n := b.Physical()
	m := count(in, n)
	out := s.take(m)[:m]
	k, vals, lo, hi := 0, col.Floats[:n], r.lo, r.hi
	flip := bit(r.invert)
	switch {
	case col.Valid != nil:
		return filter(out[:0], in, n, func(i int) bool {
			if !col.Valid.Get(i) {
				return r.onNull
			}
			return (vals[i] >= lo && vals[i] <= hi) != r.invert
		}), nil
	case in == nil:
		for i, v := range vals {
			out[k] = int32(i)
			k += bit(v >= lo)&bit(v <= hi) ^ flip
		}
	default:
		for _, i := range in {
			out[k] = i
			v := vals[i]
			k += bit(v >= lo)&bit(v <= hi) ^ flip
		}
	}
	return out[:k], nil
}

// floatOrder compares Numbers as Double.compare does.
type floatOrder struct {
	op    order
	left  *operand
	value float64
}

func (o *floatOrder) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	return judged(s, b, in, o.left, o.op, func(c *batch.Column, i int) int { return batch.CompareFloats(c.Floats[i], o.value) })
}

// floatOfInt compares an Integer field with a Number.
type floatOfInt struct {
	op    order
	left  *operand
	value float64
}

func (o *floatOfInt) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	return judged(s, b, in, o.left, o.op, func(c *batch.Column, i int) int { return batch.CompareFloats(float64(c.Ints[i]), o.value) })
}

// valueOrder compares values of any type with a constant of the same type.
type valueOrder struct {
	op    order
	left  *operand
	value batch.Value
	sem   *batch.Semantics
}

func (o *valueOrder) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	return judged(s, b, in, o.left, o.op, func(c *batch.Column, i int) int { return o.sem.CompareValues(c.Value(i), o.value, false) })
}

// judged selects by a three-way comparison with something that is not null.
func judged(s *scratch, b *batch.Batch, in []int32, left *operand, op order, compare func(*batch.Column, int) int) ([]int32, error) {
	col, err := left.column(b, in)
	if err != nil {
		return nil, err
	}
	n := b.Physical()
	onNull := op.nulls(false)
	return filter(s.take(count(in, n)), in, n, func(i int) bool {
		if left.sem.IsNull(col, i) {
			return onNull
		}
		return op.of(compare(col, i))
	}), nil
}

// fieldOrder compares two fields; the right one is converted to the left one's
// type when they differ.
type fieldOrder struct {
	op          order
	left, right *operand
	sem         *batch.Semantics
	convert     *batch.Converter
	widen       bool // Integer with Number: compared as Numbers
}

func (f *fieldOrder) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	l, err := f.left.column(b, in)
	if err != nil {
		return nil, err
	}
	r, err := f.right.column(b, in)
	if err != nil {
		return nil, err
	}
	n := b.Physical()
	out := s.take(count(in, n))
	if f.convert != nil {
		return f.converted(out, b, in, l, r)
	}
	compare := f.comparer(l, r)
	return filter(out, in, n, func(i int) bool {
		ln, rn := f.sem.IsNull(l, i), f.sem.IsNull(r, i)
		switch {
		case ln:
			return f.op.nulls(rn)
		case rn:
			return f.op.greater
		}
		return f.op.of(compare(i))
	}), nil
}

// comparer gives the comparison of two columns' values that are not null.
func (f *fieldOrder) comparer(l, r *batch.Column) func(i int) int {
	switch {
	case f.widen:
		return func(i int) int { return batch.CompareFloats(float64(l.Ints[i]), r.Floats[i]) }
	case l.Type == batch.Integer, l.Type == batch.Date:
		return func(i int) int { return cmp.Compare(l.Ints[i], r.Ints[i]) }
	case l.Type == batch.Number:
		return func(i int) int { return batch.CompareFloats(l.Floats[i], r.Floats[i]) }
	case l.Type == batch.String:
		return func(i int) int { return batch.CompareBytes(l.Bytes(i), r.Bytes(i)) }
	}
	return func(i int) int { return f.sem.CompareValues(l.Value(i), r.Value(i), false) }
}

func (f *fieldOrder) converted(out []int32, b *batch.Batch, in []int32, l, r *batch.Column) ([]int32, error) {
	var bad error
	rt := f.right.field.Type
	out = filter(out, in, b.Physical(), func(i int) bool {
		if bad != nil {
			return false
		}
		rv := r.Value(i)
		rv.Type = rt
		rv, err := f.convert.Value(rv)
		if err != nil {
			bad = &batch.RowError{Row: i, Err: err}
			return false
		}
		ln, rn := f.sem.IsNull(l, i), f.sem.IsNullValue(rv)
		switch {
		case ln:
			return f.op.nulls(rn)
		case rn:
			return f.op.greater
		}
		return f.op.of(f.sem.CompareValues(l.Value(i), rv, false))
	})
	return out, bad
}
