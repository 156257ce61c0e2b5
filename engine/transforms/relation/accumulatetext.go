package relation

import (
	"errors"
	"runtime"
	"slices"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

var errNullDeviation = errors.New("a null has no standard deviation; remove such rows before, or use Group by, which skips them")

// concats joins the texts of the values that are not null.
type concats struct {
	codec     *batch.Codec
	separator string
	distinct  bool
	text      [][]byte
	sets      []map[string]struct{}
	held      int64
	one       []byte
}

func (s *concats) grow(n int) {
	if s.distinct {
		s.sets = growTo(s.sets, n)
		return
	}
	s.text = growTo(s.text, n)
}

func (s *concats) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	for n, g := range groups {
		i := rowAt(b.Sel, n)
		if g < 0 || c.IsNull(i) {
			continue
		}
		if s.distinct {
			s.add(g, c, i)
			continue
		}
		t := s.text[g]
		before := cap(t)
		if len(t) > 0 {
			t = append(t, s.separator...)
		}
		t = s.codec.AppendText(t, c, i)
		s.text[g] = t
		s.held += int64(cap(t) - before)
	}
	return nil
}

// setEntryBytes is about what a map entry costs beside its text.
const setEntryBytes = 48

func (s *concats) add(g int32, c *batch.Column, i int) {
	if s.sets[g] == nil {
		s.sets[g] = map[string]struct{}{}
	}
	s.one = s.codec.AppendText(s.one[:0], c, i)
	if _, ok := s.sets[g][string(s.one)]; !ok {
		s.sets[g][string(s.one)] = struct{}{}
		s.held += int64(len(s.one)) + setEntryBytes
	}
}

func (s *concats) result(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(batch.String)
	if !s.distinct {
		for _, t := range s.text[from:end] {
			out.AppendBytes(t)
		}
		return out
	}
	for _, set := range s.sets[from:end] {
		texts := make([]string, 0, len(set))
		for t := range set {
			texts = append(texts, t)
		}
		slices.SortFunc(texts, batch.CompareText)
		out.AppendString(strings.Join(texts, s.separator))
	}
	return out
}

func (s *concats) keep(g int) {
	if s.distinct {
		s.sets = keepOnly(s.sets, g)
	} else {
		s.text = keepOnly(s.text, g)
	}
	s.held = 0
}

func (s *concats) bytes() int64 { return s.held + int64(24*cap(s.text)+8*cap(s.sets)) }

// picks keeps one of the values of a group: the first, last, least or greatest.
type picks struct {
	code   AggregateCode
	sem    *batch.Semantics
	strict bool // an empty text is a value for FIRST, LAST and MIN
	cells  cells
}

func (s *picks) grow(n int) { s.cells.grow(n) }

func (s *picks) null(c *batch.Column, i int) bool {
	if s.strict {
		return c.IsNull(i)
	}
	return s.sem.IsNull(c, i)
}

func (s *picks) fold(groups []int32, b *batch.Batch, c *batch.Column) error {
	take := s.rule()
	for n, g := range groups {
		if g < 0 {
			continue
		}
		i := rowAt(b.Sel, n)
		// The first row of a group gives its value whatever it is, as in Hop.
		if s.cells.state[g] == cellUnset || take(int(g), c, i) {
			s.cells.set(int(g), c, i)
		}
	}
	return nil
}

// rule says whether a later row's value replaces what a group has.
func (s *picks) rule() func(g int, c *batch.Column, i int) bool {
	switch s.code {
	case First:
		return func(g int, c *batch.Column, i int) bool { return s.cells.state[g] == cellNull && !s.null(c, i) }
	case FirstInclNull:
		return func(int, *batch.Column, int) bool { return false }
	case Last:
		return func(_ int, c *batch.Column, i int) bool { return !s.null(c, i) }
	case LastInclNull:
		return func(int, *batch.Column, int) bool { return true }
	case Maximum:
		return func(g int, c *batch.Column, i int) bool { return s.cells.compare(s.sem, g, c, i) < 0 }
	}
	if s.sem.MinNullIsValued {
		return func(g int, c *batch.Column, i int) bool { return s.cells.compare(s.sem, g, c, i) > 0 }
	}
	return func(g int, c *batch.Column, i int) bool {
		if s.null(c, i) {
			return false
		}
		return s.noValue(g) || s.cells.compare(s.sem, g, c, i) > 0
	}
}

// noValue says whether group g holds a null, which any value replaces as minimum.
func (s *picks) noValue(g int) bool {
	if s.cells.state[g] != cellValue {
		return true
	}
	return !s.strict && s.cells.typ == batch.String && !s.sem.EmptyDiffers && len(s.cells.texts[g]) == 0
}

func (s *picks) result(a *batch.Allocator, from, end int) *batch.Column {
	return s.cells.column(a, from, end)
}
func (s *picks) keep(g int)   { s.cells.keep(g) }
func (s *picks) bytes() int64 { return s.cells.bytes() }

// cells holds one value per group, of one type.
type cells struct {
	typ   batch.Type
	state []byte
	ints  []int64
	nanos []int32
	nums  []float64
	decs  []decimal.Decimal
	texts [][]byte
	held  int64
}

const (
	cellUnset byte = iota
	cellNull
	cellValue
)

func (s *cells) isBytes() bool {
	switch s.typ {
	case batch.Integer, batch.Date, batch.Timestamp, batch.Boolean, batch.Number, batch.BigNumber:
		return false
	}
	return true
}

func (s *cells) grow(n int) {
	s.state = growTo(s.state, n)
	switch {
	case s.isBytes():
		s.texts = growTo(s.texts, n)
	case s.typ == batch.Number:
		s.nums = growTo(s.nums, n)
	case s.typ == batch.BigNumber:
		s.decs = growTo(s.decs, n)
	case s.typ == batch.Timestamp:
		s.ints, s.nanos = growTo(s.ints, n), growTo(s.nanos, n)
	default:
		s.ints = growTo(s.ints, n)
	}
}

func (s *cells) set(g int, c *batch.Column, i int) {
	if c.IsNull(i) {
		s.state[g] = cellNull
		return
	}
	s.state[g] = cellValue
	switch {
	case s.isBytes():
		before := cap(s.texts[g])
		s.texts[g] = append(s.texts[g][:0], c.Bytes(i)...)
		s.held += int64(cap(s.texts[g]) - before)
	case s.typ == batch.Number:
		s.nums[g] = c.Floats[i]
	case s.typ == batch.BigNumber:
		s.decs[g] = c.Decimal(i)
	case s.typ == batch.Boolean:
		s.ints[g] = 0
		if c.Bits.Get(i) {
			s.ints[g] = 1
		}
	case s.typ == batch.Timestamp:
		s.ints[g], s.nanos[g] = c.Ints[i], c.Nano(i)
	default:
		s.ints[g] = c.Ints[i]
	}
}

// value gives what a group holds.
func (s *cells) value(g int) batch.Value {
	v := batch.Value{Type: s.typ, Valid: s.state[g] == cellValue}
	switch {
	case !v.Valid:
	case s.isBytes():
		v.Text = string(s.texts[g])
	case s.typ == batch.Number:
		v.Float = s.nums[g]
	case s.typ == batch.BigNumber:
		v.Dec = s.decs[g]
	case s.typ == batch.Timestamp:
		v.Int, v.Nano = s.ints[g], s.nanos[g]
	default:
		v.Int = s.ints[g]
	}
	return v
}

// compare orders what group g holds and row i of c, nulls first.
func (s *cells) compare(sem *batch.Semantics, g int, c *batch.Column, i int) int {
	if s.state[g] == cellValue && !c.IsNull(i) {
		switch s.typ {
		case batch.Number:
			return batch.CompareFloats(s.nums[g], c.Floats[i])
		case batch.Integer, batch.Date:
			return cmpInts(s.ints[g], c.Ints[i])
		case batch.String, batch.JSON:
			return batch.CompareBytes(s.texts[g], c.Bytes(i))
		}
	}
	return sem.CompareValues(s.value(g), c.Value(i), false)
}

func cmpInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (s *cells) column(a *batch.Allocator, from, end int) *batch.Column {
	out := a.Column(s.typ)
	for g := from; g < end; g++ {
		switch {
		case s.state[g] != cellValue:
			out.AppendNull()
		case s.isBytes():
			out.AppendBytes(s.texts[g])
		default:
			out.AppendValue(s.value(g))
		}
	}
	return out
}

func (s *cells) keep(g int) {
	s.state, s.ints, s.nanos = keepOnly(s.state, g), keepIfAny(s.ints, g), keepIfAny(s.nanos, g)
	s.nums, s.decs, s.texts = keepIfAny(s.nums, g), keepIfAny(s.decs, g), keepIfAny(s.texts, g)
	s.held = 0
}

func keepIfAny[T any](s []T, g int) []T {
	if len(s) == 0 {
		return s
	}
	return keepOnly(s, g)
}

func (s *cells) bytes() int64 {
	return s.held + int64(cap(s.state)+8*cap(s.ints)+4*cap(s.nanos)+8*cap(s.nums)+40*cap(s.decs)+24*cap(s.texts))
}

// lineEnd joins the values of CONCAT_STRING_CRLF: the platform's own.
var lineEnd = map[bool]string{true: "\r\n", false: "\n"}[runtime.GOOS == "windows"]
