package script_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/script"
)

func calculation(name, code, a, b, c, typ, more string) string {
	return fmt.Sprintf(`<calculation><field_name>%s</field_name><calc_type>%s</calc_type><field_a>%s</field_a><field_b>%s</field_b><field_c>%s</field_c>
		<value_type>%s</value_type><value_length>-1</value_length><value_precision>-1</value_precision>%s</calculation>`, name, code, a, b, c, typ, more)
}

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

// One row of operands for all the operations.
var operands = []batch.Field{
	field("i", batch.Integer), field("j", batch.Integer), field("k", batch.Integer), field("f", batch.Number), field("g", batch.Number),
	field("s", batch.String), field("t", batch.String), field("b", batch.Boolean), field("d", batch.Date), field("e", batch.Date),
	field("n", batch.BigNumber), field("m", batch.BigNumber), field("null", batch.Integer), field("nodate", batch.Date), field("x", batch.Binary),
	field("time", batch.String), field("nothing", batch.String),
}

var operandRow = []any{
	7, 2, -1, 2.5, -2.5,
	"heLLo wörld_x", "hello", true, at("2024-12-31 23:59:58"), at("2024-02-29 12:00:00"),
	decimal.FromInt64(10), decimal.FromInt64(3), nil, nil,
	[]byte{1, 2, 255},
	"01:30:00", nil,
}

func TestCalculations(t *testing.T) {
	for _, c := range []struct{ code, a, b, c, typ, want string }{
		{"CONSTANT", "12", "", "", "Integer", "12"},
		{"CONSTANT", "abc", "", "", "String", "abc"},
		{"COPY_FIELD", "s", "", "", "String", "heLLo wörld_x"},
		{"COPY_OF_FIELD", "i", "", "", "String", "7"},
		{"-", "i", "", "", "Integer", "<null>"},
		{"ADD", "i", "j", "", "Integer", "9"},
		{"ADD", "f", "i", "", "Number", "9.5"},
		{"ADD", "i", "f", "", "Integer", "10"},
		{"ADD", "s", "i", "", "String", "heLLo wörld_x7"},
		{"ADD", "b", "b", "", "Boolean", "Y"},
		{"ADD", "n", "m", "", "BigNumber", "13.0"},
		{"ADD", "i", "null", "", "Integer", "<null>"},
		{"ADD3", "i", "j", "k", "Integer", "8"},
		{"ADD3", "t", "i", "t", "String", "hello7hello"},
		{"SUBTRACT", "f", "g", "", "Number", "5.0"},
		{"SUBTRACT", "i", "j", "", "Number", "5.0"},
		{"SUBTRACT", "d", "e", "", "Integer", "26481598000"},
		{"MULTIPLY", "i", "j", "", "Integer", "14"},
		{"MULTIPLY", "t", "j", "", "String", "hellohello"},
		{"MULTIPLY", "j", "t", "", "String", "hellohello"},
		{"DIVIDE", "i", "j", "", "Integer", "3"},
		{"DIVIDE", "k", "j", "", "Integer", "0"},
		{"DIVIDE", "f", "i", "", "Number", "0.3571428571"},
		{"DIVIDE", "n", "m", "", "BigNumber", "3.33333333333333333333"},
		{"REMAINDER", "i", "j", "", "Integer", "1"},
		{"REMAINDER", "k", "j", "", "Integer", "-1"},
		{"REMAINDER", "f", "j", "", "Number", "0.5"},
		{"REMAINDER", "n", "m", "", "BigNumber", "1.0"},
		{"SQUARE", "i", "", "", "Integer", "49"},
		{"SQUARE_ROOT", "j", "", "", "Number", "1.4142135624"},
		{"PERCENT_1", "i", "j", "", "Integer", "350"},
		{"PERCENT_2", "i", "j", "", "Integer", "7"},
		{"PERCENT_3", "f", "j", "", "Number", "2.55"},
		{"COMBINATION_1", "i", "j", "k", "Integer", "5"},
		{"COMBINATION_2", "i", "j", "", "Number", "7.2801098893"},
		{"ROUND_1", "f", "", "", "Number", "3.0"},
		{"ROUND_1", "g", "", "", "Number", "-2.0"},
		{"ROUND_STD_1", "g", "", "", "Number", "-3.0"},
		{"ROUND_2", "i", "k", "", "Integer", "10"},
		{"ROUND_CUSTOM_1", "f", "j", "", "Number", "3.0"},
		{"ROUND_CUSTOM_1", "g", "j", "", "Number", "-2.0"},
		{"ROUND_CUSTOM_2", "f", "k", "k", "Number", "0.0"},
		{"CEIL", "g", "", "", "Number", "-2.0"},
		{"FLOOR", "g", "", "", "Number", "-3.0"},
		{"ABS", "g", "", "", "Number", "2.5"},
		{"ABS", "k", "", "", "Integer", "1"},
		{"NVL", "null", "i", "", "Integer", "7"},
		{"NVL", "nothing", "i", "", "String", "7"},
		{"ADD_DAYS", "e", "j", "", "Date", "2024/03/02 12:00:00.000"},
		{"ADD_HOURS", "e", "i", "", "Date", "2024/02/29 19:00:00.000"},
		{"ADD_MINUTES", "e", "i", "", "Date", "2024/02/29 12:07:00.000"},
		{"ADD_SECONDS", "e", "k", "", "Date", "2024/02/29 11:59:59.000"},
		{"ADD_MONTHS", "d", "j", "", "Date", "2025/02/28 23:59:58.000"},
		{"ADD_MONTHS", "d", "null", "", "Date", "<null>"},
		{"YEAR_OF_DATE", "d", "", "", "Integer", "2024"},
		{"MONTH_OF_DATE", "d", "", "", "Integer", "12"},
		{"DAY_OF_YEAR", "d", "", "", "Integer", "366"},
		{"DAY_OF_MONTH", "e", "", "", "Integer", "29"},
		{"DAY_OF_WEEK", "d", "", "", "Integer", "3"},
		{"WEEK_OF_YEAR", "d", "", "", "Integer", "1"},
		{"WEEK_OF_YEAR", "e", "", "", "Integer", "9"},
		{"WEEK_OF_YEAR_ISO8601", "d", "", "", "Integer", "1"},
		{"YEAR_OF_DATE_ISO8601", "d", "", "", "Integer", "2025"},
		{"QUARTER_OF_DATE", "e", "", "", "Integer", "1"},
		{"HOUR_OF_DAY", "d", "", "", "Integer", "23"},
		{"MINUTE_OF_HOUR", "d", "", "", "Integer", "59"},
		{"SECOND_OF_MINUTE", "d", "", "", "Integer", "58"},
		{"DATE_DIFF", "d", "e", "", "Integer", "306"},
		{"DATE_DIFF", "e", "d", "", "Integer", "-306"},
		{"DATE_DIFF_HR", "d", "e", "", "Integer", "7355"},
		{"DATE_DIFF_MSEC", "d", "nodate", "", "Integer", "<null>"},
		{"DATE_WORKING_DIFF", "d", "e", "", "Integer", "219"},
		{"DATE_WORKING_DIFF", "e", "d", "", "Integer", "-219"},
		{"REMOVE_TIME_FROM_DATE", "d", "", "", "Date", "2024/12/31 00:00:00.000"},
		{"FIRST_DAY_OF_MONTH", "d", "", "", "Date", "2024/12/01 00:00:00.000"},
		{"LAST_DAY_OF_MONTH", "e", "", "", "Date", "2024/02/29 00:00:00.000"},
		{"ADD_TIME_TO_DATE", "e", "time", "", "Date", "2024/02/29 13:30:00.000"},
		{"STRING_LEN", "s", "", "", "Integer", "13"},
		{"STRING_LEN", "nothing", "", "", "Integer", "0"},
		{"UPPER_CASE", "s", "", "", "String", "HELLO WÖRLD_X"},
		{"LOWER_CASE", "s", "", "", "String", "hello wörld_x"},
		{"INIT_CAP", "s", "", "", "String", "Hello Wörld_x"},
		{"GET_ONLY_DIGITS", "time", "", "", "String", "013000"},
		{"REMOVE_DIGITS", "time", "", "", "String", "::"},
		{"ESCAPE_HTML", "s", "", "", "String", "heLLo w&ouml;rld_x"},
		{"URL_ENCODE", "s", "", "", "String", "heLLo+w%C3%B6rld_x"},
		{"USE_CDATA", "t", "", "", "String", "<![CDATA[hello]]>"},
		{"BASE64_ENCODE", "t", "", "", "String", "aGVsbG8"},
		{"BASE64_ENCODE_PADDED", "x", "", "", "String", "AQL/"},
		{"BYTE_TO_HEX_ENCODE", "t", "", "", "String", "68656C6C6F"},
		{"CHAR_TO_HEX_ENCODE", "t", "", "", "String", "00680065006C006C006F"},
		{"SUBSTITUTE_VARIABLE", "t", "", "", "String", "hello"},
		{"CHECK_XML_WELL_FORMED", "t", "", "", "Boolean", "N"},
		{"LEVENSHTEIN_DISTANCE", "s", "t", "", "Integer", "10"},
		{"JARO", "t", "t", "", "Number", "1.0"},
		{"SOUNDEX", "t", "", "", "String", "H400"},
		{"REFINED_SOUNDEX", "t", "", "", "String", "H070"},
		{"METAPHONE", "t", "", "", "String", "HL"},
	} {
		t.Run(c.code+" "+c.a+" "+c.b, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{
				Definition: script.Calculator, XML: calculation("new", c.code, c.a, c.b, c.c, c.typ, ""), Inputs: input(operands, operandRow),
			})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			row := out.Main()[0]
			if got := row[strings.LastIndexByte(row, '|')+1:]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCalculatorChains(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: script.Calculator,
		XML: calculation("two", "CONSTANT", "2", "", "", "Integer", "<remove>Y</remove>") +
			calculation("twice", "MULTIPLY", "f", "two", "", "Number", "<conversion_mask>0.00</conversion_mask>") +
			calculation("text", "COPY_FIELD", "twice", "", "", "String", "<conversion_mask>#.#</conversion_mask>") +
			calculation("F", "ADD", "twice", "f", "", "Integer", ""),
		Inputs: input([]batch.Field{field("f", batch.Number)}, []any{1.25}, []any{nil}, []any{math.Pi}),
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"1.25|2.50|2.5|4", "<null>|<null>|<null>|<null>", "3.1415926536|6.28|6.3|9"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if got, want := out.Fields("main"), "f Number, twice Number, text String, F_1 Integer"; got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
}

func TestCalculatorFails(t *testing.T) {
	for name, c := range map[string]struct{ xml, want string }{
		"division by zero": {calculation("q", "DIVIDE", "i", "z", "", "Integer", ""), "row 2, field \"q\": division by zero"},
		"null days":        {calculation("q", "ADD_DAYS", "d", "none", "", "Date", ""), "null cannot be added"},
		"missing field":    {calculation("q", "ADD", "i", "nope", "", "Integer", ""), `field "nope" not found; there are i, z, d`},
		"unknown type":     {calculation("q", "FROBNICATE", "i", "", "", "Integer", ""), `"FROBNICATE" is not known`},
		"no type":          {calculation("q", "ADD", "i", "z", "", "", ""), "no type"},
		"no field B":       {calculation("q", "ADD", "i", "", "", "Integer", ""), "field B is not set"},
		"not a number":     {calculation("q", "ABS", "d", "", "", "Integer", ""), "numbers only"},
		"no file":          {"<failIfNoFile>Y</failIfNoFile>" + calculation("q", "MD5", "file", "", "", "String", ""), "does not exist"},
		"constant":         {calculation("q", "CONSTANT", "x", "", "", "Integer", ""), `"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{
				Definition: script.Calculator, XML: c.xml, Fixed: true,
				Inputs: input([]batch.Field{field("i", batch.Integer), field("z", batch.Integer), field("d", batch.Date), field("none", batch.Integer), field("file", batch.String)},
					[]any{1, 1, at("2024-01-01 00:00:00"), nil, "no/such/file"}, []any{1, 0, nil, nil, "no/such/file"}),
			})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", out.Err, c.want)
			}
		})
	}
}

func TestCalculatorReadsFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.xml")
	if err := os.WriteFile(name, []byte("<a>ä</a>"), 0o600); err != nil {
		t.Fatal(err)
	}
	xml := ""
	for i, code := range []string{"CRC32", "ADLER32", "MD5", "GET_FILE_ENCODING", "CHECK_XML_FILE_WELL_FORMED"} {
		typ := []string{"Integer", "Integer", "String", "String", "Boolean"}[i]
		xml += calculation(code, code, "file", "", "", typ, "")
	}
	out := transformtest.Run(t, transformtest.Case{
		Definition: script.Calculator, XML: xml,
		Inputs: input([]batch.Field{field("file", batch.String)}, []any{name}, []any{filepath.Join(dir, "none")}),
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := []string{
		name + "|3969977735|287441741|c1522e446911456b0896f875dbf9f1cb|UTF-8|Y",
		filepath.Join(dir, "none") + "|0|0|<null>|<null>|<null>",
	}
	if diff := cmp.Diff(want, out.Main()); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkCalculatorMultiply(b *testing.B) {
	env, _ := transformtest.NewEnv(b, nil)
	schema := batch.NewSchema(field("amount", batch.Number), field("quantity", batch.Integer))
	data := env.Alloc.Batch(schema)
	for i := range batch.MaxRows {
		data.Cols[0].AppendFloat(float64(i) / 100)
		data.Cols[1].AppendInt(int64(i % 7))
	}
	defer data.Release()
	s := transformtest.Settings(b, script.Calculator, calculation("total", "MULTIPLY", "amount", "quantity", "", "Number", ""))
	p, err := s.Start(env, transform.Links{Inputs: []transform.Input{{Schema: schema}}})
	if err != nil {
		b.Fatal(err)
	}
	emit := func(_ transform.Port, b *batch.Batch) error { b.Release(); return nil }
	for b.Loop() {
		if err := p.(transform.RowWise).Apply(context.Background(), data, emit); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(batch.MaxRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
