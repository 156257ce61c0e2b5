package relation

import (
	"math"
	"slices"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// growTo gives a slice of n items, new ones zero.
func growTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	return append(slices.Grow(s, n-len(s)), make([]T, n-len(s))...)
}

// keepOnly gives a slice of item g alone, or an empty one. What lies beyond the
// slice is zero, as growTo expects.
func keepOnly[T any](s []T, g int) []T {
	if g < 0 {
		clear(s)
		return s[:0]
	}
	s[0] = s[g]
	clear(s[1:])
	return s[:1]
}

// rowAt is the row of the n-th selected row.
func rowAt(sel []int32, n int) int {
	if sel != nil {
		return int(sel[n])
	}
	return n
}

// sums adds up integers or numbers, and divides by their count for averages.
type sums[T int64 | float64] struct {
	average bool
	values  func(*batch.Column) []T
	put     func(*batch.Column, T)
	typ     batch.Type
	sum     []T
	n       []int64
}

func (s *sums[T]) grow(n int) { s.sum, s.n = growTo(s.sum, n), growTo(s.n, n) }

func (s *sums[T]) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	values, sel, some := s.values(c), b.Sel, c.Nulls() > 0
	for n, g := range groups {
		i := rowAt(sel, n)
		if g < 0 || (some && c.IsNull(i)) {
			continue
		}
		if s.n[g] == 0 {
			s.sum[g] = values[i] // not 0+v: the sum of -0 is -0
		} else {
			s.sum[g] += values[i]
		}
		s.n[g]++
	}
	return nil
}

func (s *sums[T]) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(s.typ)
	for g := from; g < end; g++ {
		switch {
		case s.n[g] == 0:
			out.AppendNull()
		case s.average:
			s.put(out, s.sum[g]/T(s.n[g]))
		default:
			s.put(out, s.sum[g])
		}
	}
	return out
}

func (s *sums[T]) keep(g int)   { s.sum, s.n = keepOnly(s.sum, g), keepOnly(s.n, g) }
func (s *sums[T]) bytes() int64 { return int64(16 * cap(s.n)) }

// decimalSums is sums for exact decimals.
type decimalSums struct {
	average bool
	sum     []decimal.Decimal
	n       []int64
}

func (s *decimalSums) grow(n int) { s.sum, s.n = growTo(s.sum, n), growTo(s.n, n) }

func (s *decimalSums) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	for n, g := range groups {
		i := rowAt(b.Sel, n)
		if g < 0 || c.IsNull(i) {
			continue
		}
		v := c.Decimal(i)
		if s.n[g] > 0 {
			var err error
			if v, err = s.sum[g].Add(v); err != nil {
				return &batch.RowError{Row: i, Err: err}
			}
		}
		s.sum[g] = v
		s.n[g]++
	}
	return nil
}

func (s *decimalSums) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(batch.BigNumber)
	for g := from; g < end; g++ {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		v := s.sum[g]
		if s.average {
			// The divisor is never 0, and 34 digits always suffice.
			v, _ = v.QuoDecimal128(decimal.FromInt64(s.n[g]))
		}
		out.AppendDecimal(v)
	}
	return out
}

func (s *decimalSums) keep(g int)   { s.sum, s.n = keepOnly(s.sum, g), keepOnly(s.n, g) }
func (s *decimalSums) bytes() int64 { return int64(40 * cap(s.n)) }

// counts counts rows, or values that are not null.
type counts struct {
	rows bool
	sem  *batch.Semantics
	n    []int64
}

func (s *counts) grow(n int) { s.n = growTo(s.n, n) }

func (s *counts) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	for n, g := range groups {
		if g >= 0 && (s.rows || !s.sem.IsNull(c, rowAt(b.Sel, n))) {
			s.n[g]++
		}
	}
	return nil
}

func (s *counts) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(batch.Integer)
	for _, n := range s.n[from:end] {
		out.AppendInt(n)
	}
	return out
}

func (s *counts) keep(g int)   { s.n = keepOnly(s.n, g) }
func (s *counts) bytes() int64 { return int64(8 * cap(s.n)) }

// distincts counts distinct values that are not null.
type distincts struct {
	keys   *keys
	orNull bool // nothing counted is null, not 0
	seen   *index
	n      []int64
	key    []byte
	one    [1]*batch.Column
}

func newDistinct(sem *batch.Semantics, column int, f *batch.Field, orNull bool) *distincts {
	k := &keys{sem: sem, fields: []keyField{{name: f.Name, index: column, typ: f.Type}}}
	return &distincts{keys: k, orNull: orNull, seen: newIndex()}
}

func (s *distincts) grow(n int) { s.n = growTo(s.n, n) }

func (s *distincts) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	s.one[0] = c
	for n, g := range groups {
		i := rowAt(b.Sel, n)
		if g < 0 || s.keys.sem.IsNull(c, i) {
			continue
		}
		s.key = appendKeyInt(s.key[:0], int64(g))
		s.key = s.keys.append(s.key, s.one[:], i, 0)
		if _, found := s.seen.put(hashOf(s.key), s.key); !found {
			s.n[g]++
		}
	}
	return nil
}

func (s *distincts) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(batch.Integer)
	for _, n := range s.n[from:end] {
		if n == 0 && s.orNull {
			out.AppendNull()
			continue
		}
		out.AppendInt(n)
	}
	return out
}

// keep carries the values of the group over under its new number.
func (s *distincts) keep(g int) {
	s.n = keepOnly(s.n, g)
	old := s.seen
	s.seen = newIndex()
	if g < 0 {
		return
	}
	want := string(appendKeyInt(nil, int64(g)))
	for k := range old.len() {
		key := old.key(k)
		if string(key[:8]) == want {
			s.key = append(appendKeyInt(s.key[:0], 0), key[8:]...)
			s.seen.put(hashOf(s.key), s.key)
		}
	}
}

func (s *distincts) bytes() int64 { return s.seen.bytes() + int64(8*cap(s.n)) }

// percentiles keeps all values of a group.
type percentiles struct {
	p       float64
	nearest bool
	values  [][]float64
	held    int64
}

func (s *percentiles) grow(n int) { s.values = growTo(s.values, n) }

func (s *percentiles) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	for n, g := range groups {
		i := rowAt(b.Sel, n)
		if g < 0 || c.IsNull(i) {
			continue
		}
		before := cap(s.values[g])
		s.values[g] = append(s.values[g], c.Floats[i])
		s.held += int64(8 * (cap(s.values[g]) - before))
	}
	return nil
}

func (s *percentiles) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(batch.Number)
	for _, v := range s.values[from:end] {
		slices.SortFunc(v, batch.CompareFloats)
		switch {
		case !s.nearest:
			out.AppendFloat(percentile(v, s.p))
		case len(v) == 0:
			out.AppendNull()
		default:
			out.AppendFloat(v[max(int(math.Ceil(s.p/100*float64(len(v)))), 1)-1])
		}
	}
	return out
}

// percentile is the legacy estimator: position p·(n+1)/100, linear between the
// neighbours; NaN of nothing.
func percentile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	pos := p * float64(n+1) / 100
	switch {
	case pos < 1 || n == 1:
		return sorted[0]
	case pos >= float64(n):
		return sorted[n-1]
	}
	k := math.Floor(pos)
	low, high := sorted[int(k)-1], sorted[int(k)]
	return low + (pos-k)*(high-low)
}

func (s *percentiles) keep(g int)   { s.values = keepOnly(s.values, g); s.held = 0 }
func (s *percentiles) bytes() int64 { return s.held + int64(24*cap(s.values)) }

// deviations computes standard deviations in one pass.
type deviations struct {
	sample     bool
	refuseNull bool
	field      string
	n          []int64
	mean, sum  []float64
}

func (s *deviations) grow(n int) {
	s.n, s.mean, s.sum = growTo(s.n, n), growTo(s.mean, n), growTo(s.sum, n)
}

func (s *deviations) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	for n, g := range groups {
		i := rowAt(b.Sel, n)
		switch {
		case g < 0:
			continue
		case c.IsNull(i) && s.refuseNull:
			return &batch.RowError{Row: i, Err: errNullDeviation}
		case c.IsNull(i):
			continue
		}
		s.n[g]++
		x := c.Floats[i]
		delta := x - s.mean[g]
		s.mean[g] += delta / float64(s.n[g])
		s.sum[g] += delta * (x - s.mean[g])
	}
	return nil
}

func (s *deviations) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(batch.Number)
	for g := from; g < end; g++ {
		n := s.n[g]
		if s.sample {
			n--
		}
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		out.AppendFloat(math.Sqrt(s.sum[g] / float64(n)))
	}
	return out
}

func (s *deviations) keep(g int) {
	s.n, s.mean, s.sum = keepOnly(s.n, g), keepOnly(s.mean, g), keepOnly(s.sum, g)
}
func (s *deviations) bytes() int64 { return int64(24 * cap(s.n)) }

// nulls is what running aggregates give where single rows are not kept.
type nulls struct {
	typ batch.Type
}

func (s *nulls) grow(int)                                        {}
func (s *nulls) fold([]int32, *batch.Batch, *batch.Column) error { return nil }
func (s *nulls) keep(int)                                        {}
func (s *nulls) bytes() int64                                    { return 0 }
func (s *nulls) result(a *batch.Allocator, from, end int) *batch.Column {
	return a.Repeat(batch.Null(s.typ), s.typ, end-from)
}
