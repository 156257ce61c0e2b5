package batch

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// Codec turns the values of one field into text and text into values, by the
// field's mask and symbols. It is immutable and safe for many goroutines.
type Codec struct {
	field Field
	sem   *Semantics
	out   *mask.NumberMask
	in    *mask.NumberMask
	date  *mask.DateMask
	// plain says that digits with at most one "." need no mask to be read
	plain bool
}

// Codec compiles the masks of a field. The error names the field and its mask.
func (s *Semantics) Codec(f *Field) (*Codec, error) {
	c := &Codec{field: *f, sem: s}
	var err error
	switch {
	case f.Type.IsNumeric():
		o := mask.NumberOptions{Symbols: mask.Symbols{Currency: f.Currency}, Lenient: f.Lenient || s.LenientNumbers}
		o.Symbols.Decimal, _ = utf8.DecodeRuneInString(f.Decimal)
		o.Symbols.Grouping, _ = utf8.DecodeRuneInString(f.Grouping)
		if f.Decimal == "" {
			o.Symbols.Decimal = 0
		}
		if f.Grouping == "" {
			o.Symbols.Grouping = 0
		}
		if c.out, err = mask.CompileNumber(s.formatMask(f), o); err == nil {
			c.in, err = mask.CompileNumber(s.parseMask(f), o)
		}
		c.plain = plainMask(s.parseMask(f)) && (f.Decimal == "" || f.Decimal == ".")
	case f.Type.IsDate():
		o := mask.DateOptions{Location: s.Location, Lenient: !f.Strict, Locale: f.Locale}
		if f.Zone != "" {
			loc, ok := mask.LoadLocation(f.Zone)
			if !ok {
				return nil, fmt.Errorf("field %q: time zone %q is not known", f.Name, f.Zone)
			}
			o.Location = loc
		}
		if o.Location == nil {
			o.Location = time.UTC
		}
		if f.Type == Timestamp {
			c.date, err = mask.CompileTimestamp(s.formatMask(f), o)
		} else {
			c.date, err = mask.CompileDate(s.formatMask(f), o)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", f.Name, err)
	}
	return c, nil
}

// Field is the field the codec was made for.
func (c *Codec) Field() *Field { return &c.field }

// AppendText appends the text of row i of a typed column of the codec's field;
// a null appends nothing.
func (c *Codec) AppendText(dst []byte, col *Column, i int) []byte {
	if col.IsNull(i) {
		return dst
	}
	switch col.Type {
	case String, JSON:
		return append(dst, col.Bytes(i)...)
	case Integer:
		dst, _ = c.out.AppendInt64(dst, col.Ints[i])
	case Number:
		dst, _ = c.out.AppendFloat64(dst, col.Floats[i])
	case Date:
		return c.date.AppendMillis(dst, col.Ints[i])
	default:
		return c.AppendValue(dst, col.Value(i))
	}
	return dst
}

// AppendValue appends the text of a value of the codec's field.
func (c *Codec) AppendValue(dst []byte, v Value) []byte {
	if !v.Valid {
		return dst
	}
	switch c.field.Type {
	case Integer:
		dst, _ = c.out.AppendInt64(dst, v.Int)
	case Number:
		dst, _ = c.out.AppendFloat64(dst, v.Float)
	case BigNumber:
		dst, _ = c.out.AppendDecimal(dst, v.Dec)
	case Boolean:
		return append(dst, c.boolText(v.Int != 0)...)
	case Date:
		return c.date.AppendMillis(dst, v.Int)
	case Timestamp:
		ms := floorDiv(v.Int, 1000)
		return c.date.AppendNanos(dst, ms, int32(v.Int-ms*1000)*1000+v.Nano)
	case UUID:
		id, err := uuid.FromBytes([]byte(v.Text))
		if err == nil {
			return append(dst, id.String()...)
		}
		return append(dst, v.Text...)
	case Inet:
		if a, ok := netip.AddrFromSlice([]byte(v.Text)); ok {
			return a.AppendTo(dst)
		}
		return append(dst, v.Text...)
	default:
		return append(dst, v.Text...)
	}
	return dst
}

// boolText is Hop's: words when the field is at least three characters long.
func (c *Codec) boolText(v bool) string {
	switch {
	case v && c.field.Length >= 3:
		return "true"
	case v:
		return "Y"
	case c.field.Length >= 3:
		return "false"
	}
	return "N"
}

// Text gives the text of a value.
func (c *Codec) Text(v Value) string { return string(c.AppendValue(nil, v)) }

// Parse converts a text to the field's type without trimming. An empty text is
// null for every type but String and Binary.
func (c *Codec) Parse(text []byte) (Value, error) {
	t := c.field.Type
	if len(text) == 0 && t != String && t != Binary {
		return Null(t), nil
	}
	switch t {
	case String, Binary, Serializable, Avro, None:
		return Value{Type: t, Valid: true, Text: string(text)}, nil
	case Integer:
		v, _, err := c.in.ParseInt64(text)
		return c.parsed(IntegerValue(v), text, err)
	case Number:
		v, _, err := c.in.ParseFloat64(text)
		return c.parsed(NumberValue(v), text, err)
	case BigNumber:
		v, _, err := c.in.ParseDecimal(text)
		if err != nil {
			if plain, e := decimal.Parse(string(text)); e == nil {
				v, err = plain, nil
			}
		}
		return c.parsed(DecimalValue(v), text, err)
	case Boolean:
		return BooleanValue(parseBool(text)), nil
	case Date:
		v, _, err := c.date.ParseMillis(text)
		return c.parsed(DateValue(v), text, err)
	case Timestamp:
		ms, ns, _, err := c.date.ParseTimestamp(text)
		if err != nil {
			if at, ok := c.jdbcTime(text); ok {
				ms, ns, err = at.UnixMilli(), int32(at.Nanosecond()%1e6), nil
			}
		}
		v := Value{Type: Timestamp, Valid: true, Int: ms*1000 + int64(ns/1000), Nano: ns % 1000}
		return c.parsed(v, text, err)
	case JSON:
		return c.parseJSON(text)
	case UUID:
		id, err := uuid.ParseBytes([]byte(strings.TrimSpace(string(text))))
		return c.parsed(Value{Type: UUID, Valid: true, Text: string(id[:])}, text, err)
	case Inet:
		a, err := netip.ParseAddr(strings.TrimPrefix(strings.TrimSpace(string(text)), "/"))
		return c.parsed(Value{Type: Inet, Valid: true, Text: string(a.AsSlice())}, text, err)
	}
	return Null(t), fmt.Errorf("text cannot become %s", t)
}

func (c *Codec) parseJSON(text []byte) (Value, error) {
	if !json.Valid(text) && !looseJSON(text) {
		return Null(JSON), c.fail(text, fmt.Errorf("it is not valid JSON"))
	}
	return Value{Type: JSON, Valid: true, Text: string(text)}, nil
}

// looseJSON accepts what Hop's reader accepts beyond the standard: objects whose
// field names are not quoted. They are kept as they are.
func looseJSON(text []byte) bool {
	t := strings.TrimSpace(string(text))
	return (strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}")) || (strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]"))
}

func (c *Codec) parsed(v Value, text []byte, err error) (Value, error) {
	if err != nil {
		return Null(c.field.Type), c.fail(text, err)
	}
	return v, nil
}

func (c *Codec) fail(text []byte, err error) error {
	return &ConvertError{Field: c.field.Name, Text: string(text), Type: c.field.Type, Err: err}
}

// ConvertError says that a text or value cannot become a field's type.
type ConvertError struct {
	Field string
	Text  string
	Type  Type
	Err   error
}

// Error names the text, the field and the type.
func (e *ConvertError) Error() string {
	return fmt.Sprintf("%q cannot become %s for field %q: %v", e.Text, e.Type, e.Field, e.Err)
}

// Unwrap gives the cause.
func (e *ConvertError) Unwrap() error { return e.Err }

func parseBool(text []byte) bool {
	switch strings.ToLower(string(text)) {
	case "y", "yes", "true", "1":
		return true
	}
	return false
}

// ParseInto appends the value of a text to a typed column of the codec's field.
// On an error nothing is appended.
func (c *Codec) ParseInto(col *Column, text []byte) error {
	if len(text) == 0 && col.Type != String && col.Type != Binary {
		col.AppendNull()
		return nil
	}
	switch col.Type {
	case String:
		col.AppendBytes(text)
		return nil
	case Integer:
		v, _, err := c.in.ParseInt64(text)
		if err != nil {
			return c.fail(text, err)
		}
		col.AppendInt(v)
		return nil
	case Number:
		v, _, err := c.in.ParseFloat64(text)
		if err != nil {
			return c.fail(text, err)
		}
		col.AppendFloat(v)
		return nil
	case Date:
		v, _, err := c.date.ParseMillis(text)
		if err != nil {
			return c.fail(text, err)
		}
		col.AppendInt(v)
		return nil
	case BigNumber:
		if v, scale, ok := c.plainDecimal(text); ok {
			col.AppendDecimal64(v, scale)
			return nil
		}
	}
	v, err := c.Parse(text)
	if err != nil {
		return err
	}
	col.AppendValue(v)
	return nil
}

// ParseInt converts the text of an Integer, or of a Date to milliseconds; the text is
// not empty.
func (c *Codec) ParseInt(text []byte) (v int64, err error) {
	if c.field.Type == Date {
		v, _, err = c.date.ParseMillis(text)
	} else {
		v, _, err = c.in.ParseInt64(text)
	}
	if err != nil {
		return 0, c.fail(text, err)
	}
	return v, nil
}

// plainMask says whether a mask is made of digit signs and points alone, so that
// it adds nothing to the digits of a number.
func plainMask(m string) bool { return strings.Trim(m, "#0.") == "" }

// maxPlainDigits is what fits an int64 for sure.
const maxPlainDigits = 18

// plainDecimal reads [-]digits[.digits] with at most 18 digits and at least one
// on each side of the point; everything else is for the mask.
func (c *Codec) plainDecimal(text []byte) (v int64, scale int32, ok bool) {
	if !c.plain {
		return 0, 0, false
	}
	digits := text
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > maxPlainDigits+1 {
		return 0, 0, false
	}
	point := -1
	for i, b := range digits {
		if d := b - '0'; d <= 9 {
			v = v*10 + int64(d)
			continue
		}
		if b != '.' || point >= 0 || i == 0 {
			return 0, 0, false
		}
		point = i
	}
	switch {
	case point == len(digits)-1 || (point < 0 && len(digits) > maxPlainDigits):
		return 0, 0, false
	case point >= 0:
		scale = int32(len(digits) - 1 - point)
	}
	if len(digits) != len(text) {
		v = -v
	}
	return v, scale, true
}
