package batch

import (
	"bytes"
	"cmp"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/engine/batch/decimal"
)

// Value is one cell outside of a column. The zero Value is a null of type None.
type Value struct {
	Type  Type
	Valid bool  // false: null
	Int   int64 // Integer, Date in ms, Timestamp in µs, Boolean as 0 or 1
	Nano  int32 // Timestamp: nanoseconds below the microsecond
	Float float64
	Text  string // String, JSON, and the bytes of Binary, UUID and Inet
	Dec   decimal.Decimal
}

// Null gives a null of a type.
func Null(t Type) Value { return Value{Type: t} }

// IntegerValue gives an Integer.
func IntegerValue(v int64) Value { return Value{Type: Integer, Valid: true, Int: v} }

// NumberValue gives a Number.
func NumberValue(v float64) Value { return Value{Type: Number, Valid: true, Float: v} }

// StringValue gives a String.
func StringValue(v string) Value { return Value{Type: String, Valid: true, Text: v} }

// BooleanValue gives a Boolean.
func BooleanValue(v bool) Value {
	n := int64(0)
	if v {
		n = 1
	}
	return Value{Type: Boolean, Valid: true, Int: n}
}

// DateValue gives a Date of milliseconds since 1970.
func DateValue(ms int64) Value { return Value{Type: Date, Valid: true, Int: ms} }

// DecimalValue gives a BigNumber.
func DecimalValue(v decimal.Decimal) Value { return Value{Type: BigNumber, Valid: true, Dec: v} }

// Bool gives a Boolean's value.
func (v Value) Bool() bool { return v.Int != 0 }

// Millis gives a Date or Timestamp in milliseconds.
func (v Value) Millis() int64 {
	if v.Type == Timestamp {
		return floorDiv(v.Int, 1000)
	}
	return v.Int
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Value gives row i.
func (c *Column) Value(i int) Value {
	v := Value{Type: c.Type}
	if c.IsNull(i) {
		return v
	}
	v.Valid = true
	switch {
	case c.IsText():
		v.Text = c.Str(i)
	case c.Type == Number:
		v.Float = c.Floats[i]
	case c.Type == Boolean:
		if c.Bits.Get(i) {
			v.Int = 1
		}
	case c.Type == BigNumber:
		v.Dec = c.Decimal(i)
	case c.Type == Timestamp:
		v.Int, v.Nano = c.Ints[i], c.Nano(i)
	default:
		v.Int = c.Ints[i]
	}
	return v
}

// AppendValue adds a value of the column's type.
func (c *Column) AppendValue(v Value) {
	switch {
	case !v.Valid:
		c.AppendNull()
	case c.IsText():
		c.AppendString(v.Text)
	case c.Type == Number:
		c.AppendFloat(v.Float)
	case c.Type == Boolean:
		c.AppendBool(v.Int != 0)
	case c.Type == BigNumber:
		c.AppendDecimal(v.Dec)
	case c.Type == Timestamp:
		c.AppendTimestamp(v.Int, v.Nano)
	default:
		c.AppendInt(v.Int)
	}
}

// Repeat gives a column (one hold) of n times the same value.
func (a *Allocator) Repeat(v Value, t Type, n int) *Column {
	c := a.Column(t)
	for range n {
		c.AppendValue(v)
	}
	return c
}

// IsNullValue applies Hop's rule for nulls (reference 3.3): an empty String is
// null unless HOP_EMPTY_STRING_DIFFERS_FROM_NULL is set.
func (s *Semantics) IsNullValue(v Value) bool {
	return !v.Valid || (v.Type == String && v.Text == "" && !s.EmptyDiffers)
}

// IsNull is IsNullValue for row i of a column.
func (s *Semantics) IsNull(c *Column, i int) bool {
	if c.IsNull(i) {
		return true
	}
	return c.Type == String && !s.EmptyDiffers && c.Offsets[i] == c.Offsets[i+1]
}

// CompareValues orders two values of one type as Hop does (reference 3.6): nulls
// first, strings by UTF-16 code units, NaN greatest. fold ignores case.
func (s *Semantics) CompareValues(a, b Value, fold bool) int {
	an, bn := s.IsNullValue(a), s.IsNullValue(b)
	switch {
	case an && bn:
		return 0
	case an:
		return -1
	case bn:
		return 1
	}
	switch a.Type {
	case Number:
		return CompareFloats(a.Float, b.Float)
	case BigNumber:
		return a.Dec.Cmp(b.Dec)
	case String, JSON:
		if fold {
			return CompareFold(a.Text, b.Text)
		}
		return CompareText(a.Text, b.Text)
	case Inet:
		return compareInet(a.Text, b.Text)
	case Binary, UUID, Serializable, Avro, None:
		return strings.Compare(a.Text, b.Text)
	case Timestamp:
		if c := cmp.Compare(a.Int, b.Int); c != 0 {
			return c
		}
		return cmp.Compare(a.Nano, b.Nano)
	}
	return cmp.Compare(a.Int, b.Int)
}

// Compare orders row i of c and row j of d, columns of one type.
func (s *Semantics) Compare(c *Column, i int, d *Column, j int, fold bool) int {
	if (c.Type == String || c.Type == JSON) && !fold {
		an, bn := s.IsNull(c, i), s.IsNull(d, j)
		if !an && !bn {
			return CompareBytes(c.Bytes(i), d.Bytes(j))
		}
		return cmpBool(bn, an)
	}
	if c.Type == Integer || c.Type == Date {
		an, bn := c.IsNull(i), d.IsNull(j)
		if !an && !bn {
			return cmp.Compare(c.Ints[i], d.Ints[j])
		}
		return cmpBool(bn, an)
	}
	return s.CompareValues(c.Value(i), d.Value(j), fold)
}

// cmpBool orders nulls first: bn is "b is null".
func cmpBool(bn, an bool) int {
	switch {
	case an == bn:
		return 0
	case an:
		return -1
	}
	return 1
}

// CompareFloats is Java's Double.compare: -0 before 0, NaN greatest.
func CompareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return cmp.Compare(floatRank(a), floatRank(b))
}

func floatRank(f float64) int {
	switch {
	case f != f:
		return 2
	case f == 0 && 1/f < 0:
		return 0
	}
	return 1
}

// CompareText orders strings as Java's compareTo: by UTF-16 code units. That
// differs from byte order only where one side has a character beyond U+FFFF and
// the other one from U+E000 on.
func CompareText(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return compareUnits(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// CompareBytes is CompareText for byte slices.
func CompareBytes(a, b []byte) int {
	c := bytes.Compare(a, b)
	if c == 0 {
		return 0
	}
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return compareUnits(a[i], b[i])
		}
	}
	return c
}

// compareUnits orders the first differing bytes of two UTF-8 texts by UTF-16
// units: lead bytes F0–F4 are surrogates (D800–DFFF), which sort below EE and EF
// (U+E000–U+FFFF).
func compareUnits(x, y byte) int {
	if x >= 0xEE && y >= 0xEE {
		xs, ys := x >= 0xF0, y >= 0xF0
		if xs != ys {
			if xs {
				return -1
			}
			return 1
		}
	}
	return cmp.Compare(x, y)
}

// CompareFold is Java's compareToIgnoreCase.
func CompareFold(a, b string) int {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			fa, fb := foldRune(ra), foldRune(rb)
			if fa != fb {
				return cmp.Compare(fa, fb)
			}
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

func foldRune(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

func compareInet(a, b string) int {
	x, ok := netip.AddrFromSlice([]byte(a))
	y, ok2 := netip.AddrFromSlice([]byte(b))
	if !ok || !ok2 {
		return strings.Compare(a, b)
	}
	return x.Compare(y)
}
