package database

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// FieldOf implements transform.Dialect. Only the declared type of a column
// decides, up to its parenthesis, as in Hop: the storage of single values does
// not. A name SQLite does not know is text. An expression has no declared type:
// its field has type None, and its values tell.
func (d *sqliteDialect) FieldOf(name, declared string, _, _ int64) batch.Field {
	word, length, precision := splitDeclared(declared)
	t := batch.String
	switch word {
	case "":
		t = batch.None
	case "NUMERIC", "NUMBER", "DECIMAL":
		return sized(name, batch.BigNumber, length, precision)
	case "BOOLEAN":
		t = batch.Boolean
	case "TINYINT":
		return sized(name, batch.Integer, 2, 0)
	case "SMALLINT", "INT2":
		return sized(name, batch.Integer, 4, 0)
	case "INT", "INTEGER", "MEDIUMINT":
		return sized(name, batch.Integer, 9, 0)
	case "BIGINT", "INT8", "UNSIGNED BIG INT":
		return sized(name, batch.Integer, 15, 0)
	case "DOUBLE", "DOUBLE PRECISION", "REAL", "FLOAT":
		if length > 15 || precision > 15 {
			return sized(name, batch.BigNumber, length, precision)
		}
		return sized(name, batch.Number, length, precision)
	case "DATE", "DATETIME":
		t = batch.Date
	case "TIMESTAMP":
		if t = batch.Date; d.timestamps {
			t = batch.Timestamp
		}
	case "CLOB":
		length = clobLength
	}
	if t == batch.String {
		return sized(name, t, length, -1)
	}
	return batch.NewField(name, t)
}

func sized(name string, t batch.Type, length, precision int) batch.Field {
	f := batch.NewField(name, t)
	f.Length, f.Precision = length, precision
	return f
}

// splitDeclared takes "DECIMAL (20, 5)" apart; what is missing is -1.
func splitDeclared(declared string) (word string, length, precision int) {
	word, args, _ := strings.Cut(strings.ToUpper(declared), "(")
	length, precision = -1, -1
	args, _, _ = strings.Cut(args, ")")
	first, second, _ := strings.Cut(args, ",")
	if n, err := strconv.Atoi(strings.TrimSpace(first)); err == nil {
		length = n
		if p, err := strconv.Atoi(strings.TrimSpace(second)); err == nil {
			precision = p
		}
	}
	return strings.TrimSpace(word), length, precision
}

// Append implements Dialect: a value of any storage class goes into a field of
// any type when nothing is lost by it.
func (d *sqliteDialect) Append(col *batch.Column, f *batch.Field, src any) error {
	if b, ok := src.([]byte); ok {
		if col.IsText() {
			col.AppendBytes(b)
			return nil
		}
		src = string(b)
	}
	ok, err := false, error(nil)
	switch col.Type {
	case batch.Integer:
		ok = appendInteger(col, src)
	case batch.Number:
		ok = appendNumber(col, src)
	case batch.BigNumber:
		ok = appendBigNumber(col, src)
	case batch.Boolean:
		ok = appendBoolean(col, src)
	case batch.Date, batch.Timestamp:
		ok = d.appendDate(col, src)
	default:
		col.AppendString(d.text(src))
		ok = true
	}
	if !ok {
		err = &CellError{Field: f.Name, Value: d.text(src), Err: fmt.Errorf(
			"it is read as %s, which cannot hold this value; read it with CAST(… AS TEXT), or repair the value", col.Type)}
	}
	return err
}

func appendInteger(col *batch.Column, src any) bool {
	switch v := src.(type) {
	case int64:
		col.AppendInt(v)
		return true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			col.AppendInt(int64(v))
			return true
		}
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			col.AppendInt(n)
			return true
		}
	}
	return false
}

func appendNumber(col *batch.Column, src any) bool {
	switch v := src.(type) {
	case int64:
		col.AppendFloat(float64(v))
		return true
	case float64:
		col.AppendFloat(v)
		return true
	case string:
		if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
			col.AppendFloat(n)
			return true
		}
	}
	return false
}

func appendBigNumber(col *batch.Column, src any) bool {
	switch v := src.(type) {
	case int64:
		col.AppendDecimal(decimal.FromInt64(v))
		return true
	case float64:
		n, ok := batch.DecimalOf(v)
		if ok && n.Scale() < 0 {
			n, _ = n.Rescale(0, decimal.HalfUp) // only adds zeros
		}
		if ok {
			col.AppendDecimal(n)
		}
		return ok
	case string:
		if n, err := decimal.Parse(strings.TrimSpace(v)); err == nil {
			col.AppendDecimal(n)
			return true
		}
	}
	return false
}

func appendBoolean(col *batch.Column, src any) bool {
	switch v := src.(type) {
	case int64:
		col.AppendBool(v != 0)
	case float64:
		col.AppendBool(v != 0)
	case string:
		switch strings.ToLower(v) {
		case "y", "yes", "true", "1":
			col.AppendBool(true)
		default:
			col.AppendBool(false)
		}
	default:
		return false
	}
	return true
}

// appendDate takes the texts SQLite knows as dates; an integer is milliseconds
// since 1970 and a real a Julian day in local time, as the JDBC driver reads them.
func (d *sqliteDialect) appendDate(col *batch.Column, src any) bool {
	var t time.Time
	switch v := src.(type) {
	case time.Time:
		t = v
	case int64:
		t = time.UnixMilli(v)
	case float64:
		ms := math.Round((v - julianOf1970) * 86400000)
		if math.Abs(ms) > 1<<53 {
			return false
		}
		wall := time.UnixMilli(int64(ms)).UTC()
		t = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), d.loc)
	case string:
		var ok bool
		if t, ok = parseSQLiteDate(v, d.loc); !ok {
			return false
		}
	default:
		return false
	}
	if col.Type == batch.Timestamp {
		col.AppendTimestamp(t.UnixMicro(), int32(t.Nanosecond()%1000))
	} else {
		col.AppendInt(t.UnixMilli())
	}
	return true
}

const julianOf1970 = 2440587.5

// sqliteDates are the date and time values of SQLite's documentation, without the
// zone that may follow each.
var sqliteDates = []string{
	"2006-01-02", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04",
	"15:04:05.999999999", "15:04",
}

// parseSQLiteDate reads a date as SQLite's own functions do. A time without a date
// is on 2000-01-01, a value without a zone is local.
func parseSQLiteDate(text string, loc *time.Location) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if body, ok := cutZ(text); ok {
		text, loc = body, time.UTC
	}
	if len(text) > 10 && text[10] == 't' {
		text = text[:10] + "T" + text[11:]
	}
	for _, layout := range sqliteDates {
		t, err := time.ParseInLocation(layout, text, loc)
		if err != nil {
			t, err = time.ParseInLocation(layout+"-07:00", text, loc)
		}
		if err != nil {
			continue
		}
		if t.Year() == 0 {
			t = time.Date(2000, 1, 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
		}
		return t, true
	}
	return time.Time{}, false
}

func cutZ(text string) (string, bool) {
	if n := len(text); n > 0 && (text[n-1] == 'Z' || text[n-1] == 'z') {
		return strings.TrimSpace(text[:n-1]), true
	}
	return text, false
}

// text gives any value as SQLite would cast it to text.
func (d *sqliteDialect) text(src any) string {
	switch v := src.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return string(mask.AppendJavaDouble(nil, v))
	case time.Time:
		return string(appendSQLiteDate(nil, v.In(d.loc)))
	}
	return fmt.Sprint(src)
}

// appendSQLiteDate writes the text that SQLite's date functions read, with
// milliseconds always and the digits below only where there are any.
func appendSQLiteDate(dst []byte, t time.Time) []byte {
	dst = t.AppendFormat(dst, "2006-01-02 15:04:05.000")
	if rest := t.Nanosecond() % 1e6; rest != 0 {
		dst = append(dst, strings.TrimRight(fmt.Sprintf("%06d", rest), "0")...)
	}
	return dst
}

// Bind implements Dialect, as Hop sets values of SQLite: dates as text, booleans
// as Y and N unless the connection says that the database has booleans, exact
// decimals as text, numbers rounded to the precision of their field.
func (d *sqliteDialect) Bind(f *batch.Field, col *batch.Column, i int) (any, error) {
	switch col.Type {
	case batch.Integer:
		return col.Ints[i], nil
	case batch.Number:
		return roundTo(col.Floats[i], f.Precision), nil
	case batch.BigNumber:
		return col.Decimal(i).Plain(), nil
	case batch.Boolean:
		return d.boolean(col.Bool(i)), nil
	case batch.Date:
		t := time.UnixMilli(col.Ints[i]).In(d.loc)
		if f.Precision == 1 { // Hop's sign of a date without a time
			return t.Format(time.DateOnly), nil
		}
		return string(appendSQLiteDate(nil, t)), nil
	case batch.Timestamp:
		t := time.UnixMicro(col.Ints[i]).Add(time.Duration(col.Nano(i))).In(d.loc)
		return string(appendSQLiteDate(nil, t)), nil
	case batch.Binary:
		return col.Bytes(i), nil
	case batch.UUID, batch.Inet:
		codec, err := batch.DefaultSemantics(d.loc).Codec(f)
		if err != nil {
			return nil, err
		}
		return codec.Text(col.Value(i)), nil
	}
	return col.Str(i), nil
}

func (d *sqliteDialect) boolean(v bool) any {
	switch {
	case d.booleans && v:
		return int64(1)
	case d.booleans:
		return int64(0)
	case v:
		return "Y"
	}
	return "N"
}

// roundTo rounds half even to a number of digits after the point; negative: not
// at all.
func roundTo(v float64, digits int) float64 {
	if digits < 0 || v == math.Trunc(v) {
		return v
	}
	n, ok := batch.DecimalOf(v)
	if !ok || int(n.Scale()) <= digits {
		return v
	}
	if n, err := n.Rescale(int32(digits), decimal.HalfEven); err == nil {
		return n.Float64()
	}
	return v
}
