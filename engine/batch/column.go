package batch

import (
	"sync/atomic"

	"sluice/engine/batch/decimal"
)

// Dec128 is a 128-bit two's complement unscaled decimal in Arrow's order.
type Dec128 struct {
	Lo uint64
	Hi int64
}

// Column is one field's values in one batch. Which slices are in use depends on
// the type:
//
//	Integer, Date        Ints: int64, or milliseconds
//	Timestamp            Ints: microseconds, Nanos: the remaining 0–999 ns (absent when all are 0)
//	Number               Floats
//	Boolean              Bits: one bit per row
//	BigNumber            Decs with Scale, or Big when the values do not fit 128 bits and one scale
//	String, Binary, JSON, UUID, Inet, and raw text   Offsets (one more than rows) and Data
//
// Rows are appended by one owner; once the column is in a batch that was handed
// on it is immutable.
type Column struct {
	Type    Type
	Valid   Bitmap // absent when no row is null
	Ints    []int64
	Nanos   []int32
	Floats  []float64
	Bits    Bitmap
	Decs    []Dec128
	Scale   int32
	Big     []decimal.Decimal
	Offsets []int32
	Data    []byte

	// Raw says that Offsets and Data hold the text of values whose Type is
	// another one; Batch.Col converts it.
	Raw bool
	// Plain, when not 0, says that no value holds this separator, this quote,
	// CR or LF, so a writer that uses both need not look.
	Plain PlainText

	n     int
	nulls int
	refs  atomic.Int32
	typed atomic.Pointer[Column]
	bad   []*RowError // of a converted column: rows whose text could not be converted
	alloc *Allocator
}

// PlainText names the separator and quote that a column's text is known not to
// contain. The zero value promises nothing.
type PlainText struct{ Separator, Quote byte }

// Len is the number of rows.
func (c *Column) Len() int { return c.n }

// Nulls is the number of null rows.
func (c *Column) Nulls() int { return c.nulls }

// IsNull says whether row i holds no value. An empty string is not null here;
// Semantics.IsNull applies Hop's rule.
func (c *Column) IsNull(i int) bool { return c.Valid != nil && !c.Valid.Get(i) }

// Int gives an Integer, a Date in milliseconds or a Timestamp in microseconds.
func (c *Column) Int(i int) int64 { return c.Ints[i] }

// Float gives a Number.
func (c *Column) Float(i int) float64 { return c.Floats[i] }

// Bool gives a Boolean.
func (c *Column) Bool(i int) bool { return c.Bits.Get(i) }

// Bytes gives a text or binary value; it stays the column's, do not change it.
func (c *Column) Bytes(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]] }

// Str gives a text value as a new string.
func (c *Column) Str(i int) string { return string(c.Data[c.Offsets[i]:c.Offsets[i+1]]) }

// Nano gives the nanoseconds of a Timestamp below its microseconds, 0 to 999.
func (c *Column) Nano(i int) int32 {
	if c.Nanos == nil {
		return 0
	}
	return c.Nanos[i]
}

// Decimal gives a BigNumber.
func (c *Column) Decimal(i int) decimal.Decimal {
	if c.Big != nil {
		return c.Big[i]
	}
	return decimal.FromInt128(c.Decs[i].Hi, c.Decs[i].Lo, c.Scale)
}

func (t Type) isBytes() bool {
	switch t {
	case String, Binary, JSON, UUID, Inet, Serializable, Avro, None:
		return true
	}
	return false
}

// IsText says whether the column's values are in Offsets and Data.
func (c *Column) IsText() bool { return c.Raw || c.Type.isBytes() }

func (c *Column) appended(valid bool) {
	if valid {
		if c.Valid != nil {
			c.Valid = c.Valid.grow(c.n, c.n+1, true)
		}
		c.n++
		return
	}
	if c.Valid == nil {
		c.Valid = Bitmap(c.alloc.bytes()).grow(0, c.n, true)
	}
	c.Valid = c.Valid.grow(c.n, c.n+1, false)
	c.nulls++
	c.n++
}

// AppendNull adds a null row.
func (c *Column) AppendNull() {
	switch {
	case c.IsText():
		c.Offsets = append(c.Offsets, int32(len(c.Data)))
	case c.Type == Number:
		c.Floats = append(c.Floats, 0)
	case c.Type == Boolean:
		c.Bits = c.Bits.grow(c.n, c.n+1, false)
	case c.Type == BigNumber && c.Big != nil:
		c.Big = append(c.Big, decimal.Decimal{})
	case c.Type == BigNumber:
		c.Decs = append(c.Decs, Dec128{})
	default:
		c.Ints = append(c.Ints, 0)
		if c.Nanos != nil {
			c.Nanos = append(c.Nanos, 0)
		}
	}
	c.appended(false)
}

// AppendNulls adds n null rows.
func (c *Column) AppendNulls(n int) {
	if n <= 0 {
		return
	}
	if (c.Type == Boolean && !c.Raw) || c.Big != nil || c.Nanos != nil {
		for range n {
			c.AppendNull()
		}
		return
	}
	switch {
	case c.IsText():
		end := int32(len(c.Data))
		for range n {
			c.Offsets = append(c.Offsets, end)
		}
	case c.Type == Number:
		c.Floats = appendZeros(c.Floats, n)
	case c.Type == BigNumber:
		c.Decs = appendZeros(c.Decs, n)
	default:
		c.Ints = appendZeros(c.Ints, n)
	}
	if c.Valid == nil {
		c.Valid = Bitmap(c.alloc.bytes()).grow(0, c.n, true)
	}
	c.Valid = c.Valid.grow(c.n, c.n+n, false)
	c.n += n
	c.nulls += n
}

func appendZeros[T any](s []T, n int) []T {
	at := len(s)
	s = resize(s, at+n)
	clear(s[at:])
	return s
}

// AppendInt adds an Integer, a Date in milliseconds or a Timestamp in microseconds.
func (c *Column) AppendInt(v int64) {
	c.Ints = append(c.Ints, v)
	if c.Nanos != nil {
		c.Nanos = append(c.Nanos, 0)
	}
	c.appended(true)
}

// AppendTimestamp adds a Timestamp of microseconds and 0 to 999 nanoseconds.
func (c *Column) AppendTimestamp(micros int64, nanos int32) {
	if nanos != 0 && c.Nanos == nil {
		c.Nanos = make([]int32, c.n, cap(c.Ints))
	}
	c.Ints = append(c.Ints, micros)
	if c.Nanos != nil {
		c.Nanos = append(c.Nanos, nanos)
	}
	c.appended(true)
}

// AppendFloat adds a Number.
func (c *Column) AppendFloat(v float64) {
	c.Floats = append(c.Floats, v)
	c.appended(true)
}

// AppendBool adds a Boolean.
func (c *Column) AppendBool(v bool) {
	c.Bits = c.Bits.grow(c.n, c.n+1, v)
	c.appended(true)
}

// AppendBytes adds a copy of a text or binary value.
func (c *Column) AppendBytes(v []byte) {
	c.Data = append(c.Data, v...)
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.appended(true)
}

// AppendString adds a text value.
func (c *Column) AppendString(v string) {
	c.Data = append(c.Data, v...)
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.appended(true)
}

// EndValue adds a value whose bytes the caller has appended to Data.
func (c *Column) EndValue() {
	c.Offsets = append(c.Offsets, int32(len(c.Data)))
	c.appended(true)
}

// AppendDecimal adds a BigNumber. The column keeps 128-bit values of one scale
// while it can, and falls back to arbitrary precision when it cannot.
func (c *Column) AppendDecimal(v decimal.Decimal) {
	if c.Big == nil {
		if hi, lo, scale, ok := v.Int128(); ok && (scale == c.Scale || c.n == c.nulls) {
			c.Scale = scale
			c.Decs = append(c.Decs, Dec128{Lo: lo, Hi: hi})
			c.appended(true)
			return
		}
		c.widen()
	}
	c.Big = append(c.Big, v)
	c.appended(true)
}

// AppendDecimal64 adds a BigNumber of an unscaled value and a scale.
func (c *Column) AppendDecimal64(unscaled int64, scale int32) {
	if c.Big != nil || (scale != c.Scale && c.n != c.nulls) {
		c.AppendDecimal(decimal.FromInt128(unscaled>>63, uint64(unscaled), scale))
		return
	}
	c.Scale = scale
	c.Decs = append(c.Decs, Dec128{Lo: uint64(unscaled), Hi: unscaled >> 63})
	c.appended(true)
}

func (c *Column) widen() {
	c.Big = make([]decimal.Decimal, len(c.Decs), len(c.Decs)*2+1)
	for i, d := range c.Decs {
		if !c.IsNull(i) {
			c.Big[i] = decimal.FromInt128(d.Hi, d.Lo, c.Scale)
		}
	}
	c.Decs = c.Decs[:0]
}

// AppendFrom adds row i of a column of the same type and rawness.
func (c *Column) AppendFrom(src *Column, i int) {
	switch {
	case src.IsNull(i):
		c.AppendNull()
	case c.IsText():
		c.AppendBytes(src.Bytes(i))
	case c.Type == Number:
		c.AppendFloat(src.Floats[i])
	case c.Type == Boolean:
		c.AppendBool(src.Bits.Get(i))
	case c.Type == BigNumber:
		c.AppendDecimal(src.Decimal(i))
	case c.Type == Timestamp:
		c.AppendTimestamp(src.Ints[i], src.Nano(i))
	default:
		c.AppendInt(src.Ints[i])
	}
}

// SetNull makes row i null, whose value is a fixed-width one or an empty text.
func (c *Column) SetNull(i int) {
	if c.Valid == nil {
		c.Valid = Bitmap(c.alloc.bytes()).grow(0, c.n, true)
	}
	if c.Valid.Get(i) {
		c.Valid.Set(i, false)
		c.nulls++
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// Truncate drops all rows from row n on.
func (c *Column) Truncate(n int) {
	if n >= c.n {
		return
	}
	switch {
	case c.IsText():
		c.Offsets = c.Offsets[:n+1]
		c.Data = c.Data[:c.Offsets[n]]
	case c.Type == Number:
		c.Floats = c.Floats[:n]
	case c.Type == Boolean:
	case c.Type == BigNumber && c.Big != nil:
		c.Big = c.Big[:n]
	case c.Type == BigNumber:
		c.Decs = c.Decs[:n]
	default:
		c.Ints = c.Ints[:n]
		if c.Nanos != nil {
			c.Nanos = c.Nanos[:n]
		}
	}
	c.n = n
	if c.Valid != nil {
		c.nulls = n - c.Valid.Count(n)
		if c.nulls == 0 {
			c.Valid = nil
		}
	}
}

// Bytesize is the memory that the rows take, in bytes, for budgets and caps.
func (c *Column) Bytesize() int {
	n := len(c.Ints)*8 + len(c.Nanos)*4 + len(c.Floats)*8 + len(c.Bits) + len(c.Decs)*16 + len(c.Offsets)*4 + len(c.Data) + len(c.Valid)
	return n + len(c.Big)*64
}

// Retain adds a holder and returns the column.
func (c *Column) Retain() *Column {
	c.refs.Add(1)
	return c
}

// Release gives up one hold; the last one returns the memory to the allocator.
func (c *Column) Release() {
	switch n := c.refs.Add(-1); {
	case n == 0:
		if t := c.typed.Swap(nil); t != nil {
			t.Release()
		}
		c.alloc.reclaim(c)
	case n < 0:
		panic("batch: column released more often than retained")
	}
}
