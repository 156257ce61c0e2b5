package batch_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
)

func TestConversions(t *testing.T) {
	str, num, in, big := batch.String, batch.Number, batch.Integer, batch.BigNumber
	for name, c := range map[string]struct {
		from batch.Type
		v    batch.Value
		to   batch.Type
		want string // text of the result by the target's default mask; "null", or "error: …"
		edit func(from, to *batch.Field)
	}{
		"number rounds half up":           {num, batch.NumberValue(2.5), in, "3", nil},
		"negative number rounds up too":   {num, batch.NumberValue(-2.5), in, "-2", nil},
		"NaN becomes 0":                   {num, batch.NumberValue(math.NaN()), in, "0", nil},
		"huge number saturates":           {num, batch.NumberValue(1e30), in, "9223372036854775807", nil},
		"integer to number":               {in, batch.IntegerValue(5), num, "5.0", nil},
		"number to text":                  {num, batch.NumberValue(5), str, "5.0", nil},
		"number to decimal is its text":   {num, batch.NumberValue(0.1), big, "0.1", nil},
		"decimal truncates":               {big, batch.DecimalValue(dec(t, "1.9")), in, "1", nil},
		"integer to boolean":              {in, batch.IntegerValue(7), batch.Boolean, "Y", nil},
		"boolean to integer":              {batch.Boolean, batch.BooleanValue(true), in, "1", nil},
		"boolean as word":                 {batch.Boolean, batch.BooleanValue(false), str, "false", func(f, _ *batch.Field) { f.Length = 5 }},
		"date to integer":                 {batch.Date, batch.DateValue(1000), in, "1000", nil},
		"integer to date":                 {in, batch.IntegerValue(0), batch.Date, "1970/01/01 00:00:00.000", nil},
		"date to timestamp":               {batch.Date, batch.DateValue(-1), batch.Timestamp, "1969/12/31 23:59:59.999000000", nil},
		"text to integer truncates":       {str, batch.StringValue("1.9"), in, "1", nil},
		"text with rest":                  {str, batch.StringValue("1x"), in, "error: cannot become Integer", nil},
		"text with rest, lenient":         {str, batch.StringValue("1x"), in, "1", func(_, to *batch.Field) { to.Lenient = true }},
		"empty text":                      {str, batch.StringValue(""), in, "null", nil},
		"text to boolean":                 {str, batch.StringValue("Yes"), batch.Boolean, "Y", nil},
		"text to boolean, anything else":  {str, batch.StringValue("maybe"), batch.Boolean, "N", nil},
		"text to decimal beyond its mask": {str, batch.StringValue("1e-30"), big, "0.0", nil},
		"text to uuid":                    {str, batch.StringValue("0F0e0d0c-0b0a-0908-0706-050403020100"), batch.UUID, "0f0e0d0c-0b0a-0908-0706-050403020100", nil},
		"text to address":                 {str, batch.StringValue("127.0.0.1"), batch.Inet, "127.0.0.1", nil},
		"text to JSON":                    {str, batch.StringValue(`{"a":1}`), batch.JSON, `{"a":1}`, nil},
		"text to JSON, not JSON":          {str, batch.StringValue(`{"a"`), batch.JSON, "error: not valid JSON", nil},
		"month 13 rolls over":             {str, batch.StringValue("2024/13/01"), batch.Date, "2025/01/01", func(_, to *batch.Field) { to.Mask = "yyyy/MM/dd" }},
		"month 13 is refused when strict": {str, batch.StringValue("2024/13/01"), batch.Date, "error: cannot become Date", func(_, to *batch.Field) { to.Mask, to.Strict = "yyyy/MM/dd", true }},
		"binary to integer":               {batch.Binary, batch.Value{Type: batch.Binary, Valid: true, Text: "x"}, in, "error: cannot be converted", nil},
		"null stays null":                 {in, batch.Null(in), str, "null", nil},
	} {
		t.Run(name, func(t *testing.T) {
			sem := batch.DefaultSemantics(time.UTC)
			from, to := batch.NewField("from", c.from), batch.NewField("to", c.to)
			if c.edit != nil {
				c.edit(&from, &to)
			}
			conv, err := sem.Converter(&from, &to)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			v, err := conv.Value(c.v)
			codec, cerr := sem.Codec(&to)
			if cerr != nil {
				t.Fatal(cerr)
			}
			switch {
			case err != nil:
				got = "error: " + err.Error()
			case !v.Valid:
				got = "null"
			default:
				got = codec.Text(v)
			}
			if want, isErr := strings.CutPrefix(c.want, "error: "); isErr {
				if err == nil || !strings.Contains(got, want) {
					t.Errorf("got %q, want an error with %q", got, want)
				}
			} else if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			columnAgrees(t, conv, c.from, c.v, v, err)
		})
	}
}

// columnAgrees converts the value as a column and compares.
func columnAgrees(t *testing.T, conv *batch.Converter, from batch.Type, in, want batch.Value, wantErr error) {
	t.Helper()
	a := batch.NewAllocator()
	b := a.Batch(batch.NewSchema(batch.NewField("x", from)))
	b.Cols[0].AppendNull()
	b.Cols[0].AppendValue(in)
	b.Cols[0].AppendNull()
	sel := b.Select([]int32{1})
	bad := 0
	col, err := conv.Column(sel, b.Cols[0], func(int, error) error { bad++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if col.Len() != 3 || (bad > 0) != (wantErr != nil) || (wantErr == nil && !same(col.Value(1), want)) {
		t.Errorf("as a column: %+v (%d rows, %d bad), as a value: %+v (%v)", col.Value(1), col.Len(), bad, want, wantErr)
	}
	col.Release()
	sel.Release()
	b.Release()
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestTextRules(t *testing.T) {
	for name, c := range map[string]struct {
		typ    batch.Type
		text   string
		isNull bool
		rule   batch.TextRule
		want   string
	}{
		"plain":                       {batch.Integer, "12", false, batch.TextRule{}, "12"},
		"no text":                     {batch.String, "", true, batch.TextRule{}, "null"},
		"empty, integer":              {batch.Integer, "", false, batch.TextRule{}, "null"},
		"empty, text":                 {batch.String, "", false, batch.TextRule{}, ""},
		"blanks only, text":           {batch.String, "  ", false, batch.TextRule{}, ""},
		"blanks only, integer":        {batch.Integer, "  ", false, batch.TextRule{}, "null"},
		"if null for no text":         {batch.Integer, "", true, batch.TextRule{IfNull: "7"}, "7"},
		"if null for the null text":   {batch.Integer, "NA ", false, batch.TextRule{NullIf: "na", IfNull: "7"}, "7"},
		"null text, any case, padded": {batch.Integer, "na  ", false, batch.TextRule{NullIf: "NA"}, "null"},
		"null text with blanks kept":  {batch.String, "  ", false, batch.TextRule{NullIf: "NA"}, "  "},
		"trimmed both":                {batch.String, "\t x \n", false, batch.TextRule{NullIf: "-", Trim: batch.TrimBoth}, "x"},
		"trimmed left":                {batch.String, " x ", false, batch.TextRule{Trim: batch.TrimLeft}, "x "},
		"trimmed before conversion":   {batch.Integer, " 5 ", false, batch.TextRule{Trim: batch.TrimBoth}, "5"},
		"not trimmed, refused":        {batch.Integer, " 5", false, batch.TextRule{}, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			f := batch.NewField("f", c.typ)
			codec, err := batch.DefaultSemantics(time.UTC).Codec(&f)
			if err != nil {
				t.Fatal(err)
			}
			v, err := codec.ParseText([]byte(c.text), c.isNull, c.rule)
			got := "error"
			if err == nil && !v.Valid {
				got = "null"
			} else if err == nil {
				got = codec.Text(v)
			}
			if got != c.want {
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
		})
	}
}

func TestComparisons(t *testing.T) {
	sem := batch.DefaultSemantics(time.UTC)
	differs := &batch.Semantics{EmptyDiffers: true, Location: time.UTC}
	n := func(f float64) batch.Value { return batch.NumberValue(f) }
	s := batch.StringValue
	for name, c := range map[string]struct {
		sem  *batch.Semantics
		a, b batch.Value
		fold bool
		want int
	}{
		"null before value":             {sem, batch.Null(batch.Integer), batch.IntegerValue(math.MinInt64), false, -1},
		"nulls are equal":               {sem, batch.Null(batch.String), batch.Null(batch.String), false, 0},
		"empty text is null":            {sem, s(""), batch.Null(batch.String), false, 0},
		"empty text is a value if told": {differs, s(""), batch.Null(batch.String), false, 1},
		"NaN is greatest":               {sem, n(math.NaN()), n(math.Inf(1)), false, 1},
		"minus zero before zero":        {sem, n(math.Copysign(0, -1)), n(0), false, -1},
		"upper before lower":            {sem, s("B"), s("a"), false, -1},
		"without case":                  {sem, s("B"), s("a"), true, 1},
		"without case, equal":           {sem, s("Straße"), s("STRAßE"), true, 0},
		"UTF-16 order of emoji":         {sem, s("\U0001F600"), s("\uFF5E"), false, -1},
		"prefix first":                  {sem, s("ab"), s("abc"), false, -1},
		"decimals by value":             {sem, batch.DecimalValue(dec(t, "1.0")), batch.DecimalValue(dec(t, "1.00")), false, 0},
		"addresses by number":           {sem, batch.Value{Type: batch.Inet, Valid: true, Text: "\x09\x00\x00\x01"}, batch.Value{Type: batch.Inet, Valid: true, Text: "\x0a\x00\x00\x01"}, false, -1},
		"timestamps by nanosecond":      {sem, batch.Value{Type: batch.Timestamp, Valid: true, Int: 5, Nano: 1}, batch.Value{Type: batch.Timestamp, Valid: true, Int: 5, Nano: 2}, false, -1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.sem.CompareValues(c.a, c.b, c.fold); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if got := c.sem.CompareValues(c.b, c.a, c.fold); got != -c.want {
				t.Errorf("turned round: got %d, want %d", got, -c.want)
			}
			al := batch.NewAllocator()
			x, y := al.Repeat(c.a, c.a.Type, 1), al.Repeat(c.b, c.b.Type, 1)
			if got := c.sem.Compare(x, 0, y, 0, c.fold); got != c.want {
				t.Errorf("as columns: got %d, want %d", got, c.want)
			}
		})
	}
}

func TestDefaultMasksOfLengths(t *testing.T) {
	sem := batch.DefaultSemantics(time.UTC)
	f := batch.NewField("n", batch.Integer)
	f.Length, f.Mask = 3, ""
	codec, err := sem.Codec(&f)
	if err != nil {
		t.Fatal(err)
	}
	if got := codec.Text(batch.IntegerValue(7)); got != " 007" {
		t.Errorf("got %q", got)
	}
	f = batch.NewField("n", batch.Integer)
	f.Length = 3
	if codec, err = sem.Codec(&f); err != nil || codec.Text(batch.IntegerValue(7)) != "7" {
		t.Errorf("a new field has its mask: %v", err)
	}
}
