package batch

import (
	"fmt"
	"math"
	"strconv"

	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// Converter turns values of one field into values of another, as Hop's
// convertData does (reference 3.4). It is safe for many goroutines.
type Converter struct {
	from, to *Codec
}

// Converter compiles a conversion. A text is read with the target's mask.
func (s *Semantics) Converter(from, to *Field) (*Converter, error) {
	f, err := s.Codec(from)
	if err != nil {
		return nil, err
	}
	t, err := s.Codec(to)
	if err != nil {
		return nil, err
	}
	return &Converter{from: f, to: t}, nil
}

// Same says that the conversion leaves values as they are.
func (c *Converter) Same() bool { return c.from.field.Type == c.to.field.Type }

// Value converts one value.
func (c *Converter) Value(v Value) (Value, error) {
	ft, tt := c.from.field.Type, c.to.field.Type
	if !v.Valid {
		return Null(tt), nil
	}
	if ft == tt {
		return v, nil
	}
	switch {
	case tt == String:
		return StringValue(c.from.Text(v)), nil
	case ft == String || (ft == JSON && tt != Binary):
		return c.to.Parse([]byte(v.Text))
	}
	out, ok := convertNative(v, tt)
	if !ok {
		return Null(tt), &ConvertError{Field: c.to.field.Name, Text: c.from.Text(v), Type: tt, Err: fmt.Errorf("a value of type %s cannot be converted", ft)}
	}
	return out, nil
}

// Column converts the selected rows of b's typed column src to a new column (one
// hold) with b's physical rows; rows that are not selected are null. A row that
// cannot be converted is reported to bad, which returns an error to stop; the row
// is null then.
func (c *Converter) Column(b *Batch, src *Column, bad func(row int, err error) error) (*Column, error) {
	if c.Same() {
		return src.Retain(), nil
	}
	out := b.alloc.Column(c.to.field.Type)
	next := 0
	for i := range b.All() {
		for ; next < i; next++ {
			out.AppendNull()
		}
		if err := c.appendRow(out, src, i); err != nil {
			out.AppendNull()
			if err := bad(i, err); err != nil {
				out.Release()
				return nil, err
			}
		}
		next = i + 1
	}
	for ; next < b.Physical(); next++ {
		out.AppendNull()
	}
	return out, nil
}

// appendRow converts row i with typed paths for the common pairs.
func (c *Converter) appendRow(out, src *Column, i int) error {
	if src.IsNull(i) {
		out.AppendNull()
		return nil
	}
	switch {
	case out.Type == String:
		out.Data = c.from.AppendText(out.Data, src, i)
		out.EndValue()
		return nil
	case src.Type == String:
		return c.to.ParseInto(out, src.Bytes(i))
	case src.Type == Integer && out.Type == Number:
		out.AppendFloat(float64(src.Ints[i]))
		return nil
	case src.Type == Number && out.Type == Integer:
		out.AppendInt(roundToInt(src.Floats[i]))
		return nil
	}
	v, err := c.Value(src.Value(i))
	if err != nil {
		return err
	}
	out.AppendValue(v)
	return nil
}

// roundToInt is Java's Math.round: half up towards +∞, saturating, NaN is 0.
func roundToInt(f float64) int64 {
	r := math.Floor(f)
	if f-r >= 0.5 {
		r++
	}
	switch {
	case f != f:
		return 0
	case r >= math.MaxInt64:
		return math.MaxInt64
	case r <= math.MinInt64:
		return math.MinInt64
	}
	return int64(r)
}

// convertNative converts between types that are not text.
func convertNative(v Value, to Type) (Value, bool) {
	switch to {
	case Number:
		return toNumber(v)
	case Integer:
		return toInteger(v)
	case BigNumber:
		return toBigNumber(v)
	case Boolean:
		return toBoolean(v)
	case Date, Timestamp:
		return toDate(v, to)
	case Binary:
		return Value{Type: Binary, Valid: true, Text: v.Text}, v.Type == JSON || v.Type == UUID || v.Type == Inet
	case JSON:
		return toJSON(v)
	case UUID:
		return Value{Type: UUID, Valid: true, Text: v.Text}, v.Type == Binary && len(v.Text) == 16
	case Inet:
		return Value{Type: Inet, Valid: true, Text: v.Text}, v.Type == Binary && (len(v.Text) == 4 || len(v.Text) == 16)
	}
	return Null(to), false
}

func toNumber(v Value) (Value, bool) {
	switch v.Type {
	case Integer, Boolean:
		return NumberValue(float64(v.Int)), true
	case BigNumber:
		return NumberValue(v.Dec.Float64()), true
	case Date, Timestamp:
		return NumberValue(float64(v.Millis())), true
	}
	return Null(Number), false
}

func toInteger(v Value) (Value, bool) {
	switch v.Type {
	case Number:
		return IntegerValue(roundToInt(v.Float)), true
	case BigNumber:
		n, _ := v.Dec.Int64()
		return IntegerValue(n), true
	case Boolean:
		return IntegerValue(v.Int), true
	case Date, Timestamp:
		return IntegerValue(v.Millis()), true
	}
	return Null(Integer), false
}

func toBigNumber(v Value) (Value, bool) {
	switch v.Type {
	case Integer, Boolean:
		return DecimalValue(decimal.FromInt64(v.Int)), true
	case Number:
		d, ok := DecimalOf(v.Float)
		return DecimalValue(d), ok
	case Date, Timestamp:
		return DecimalValue(decimal.FromInt64(v.Millis())), true
	}
	return Null(BigNumber), false
}

// DecimalOf gives the decimal of a number as Java's BigDecimal.valueOf does: of
// its shortest text. NaN and infinities have none.
func DecimalOf(f float64) (decimal.Decimal, bool) {
	if f != f || math.IsInf(f, 0) {
		return decimal.Decimal{}, false
	}
	d, err := decimal.Parse(string(mask.AppendJavaDouble(nil, f)))
	return d, err == nil
}

func toBoolean(v Value) (Value, bool) {
	switch v.Type {
	case Integer:
		return BooleanValue(v.Int != 0), true
	case Number:
		return BooleanValue(v.Float != 0), true
	case BigNumber:
		return BooleanValue(!v.Dec.IsZero()), true
	}
	return Null(Boolean), false
}

func toDate(v Value, to Type) (Value, bool) {
	var ms int64
	switch v.Type {
	case Timestamp:
		return Value{Type: to, Valid: true, Int: v.Millis()}, true
	case Date, Integer:
		ms = v.Int
	case Number:
		ms = roundToInt(v.Float)
	case BigNumber:
		ms, _ = v.Dec.Int64()
	default:
		return Null(to), false
	}
	if to == Timestamp {
		ms *= 1000
	}
	return Value{Type: to, Valid: true, Int: ms}, true
}

func toJSON(v Value) (Value, bool) {
	out := Value{Type: JSON, Valid: true}
	switch v.Type {
	case Integer:
		out.Text = strconv.FormatInt(v.Int, 10)
	case Number:
		out.Text = string(mask.AppendJavaDouble(nil, v.Float))
	case Boolean:
		out.Text = strconv.FormatBool(v.Int != 0)
	case BigNumber:
		out.Text = v.Dec.String()
	case Binary:
		out.Text = v.Text
	default:
		return Null(JSON), false
	}
	return out, true
}

// AppendCompatible appends a value as Hop's "compatible string" (reference 3.4),
// which conditions, denormaliser keys and unformatted variables use: integers
// plain, numbers as Java's Double.toString, everything else by the codec.
func (c *Codec) AppendCompatible(dst []byte, v Value) []byte {
	if !v.Valid {
		return dst
	}
	switch v.Type {
	case Integer:
		return strconv.AppendInt(dst, v.Int, 10)
	case Number:
		return mask.AppendJavaDouble(dst, v.Float)
	case BigNumber:
		return append(dst, v.Dec.String()...)
	}
	return c.AppendValue(dst, v)
}
