package text_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

func plainField(name string, t batch.Type) batch.Field { return batch.NewField(name, t) }

func dec(t testing.TB, s string) decimal.Decimal {
	d, err := decimal.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var people = transformtest.Input{
	Fields: []batch.Field{plainField("id", batch.Integer), plainField("name", batch.String)},
	Rows:   [][]any{{1, "Ann"}, {2, nil}, {-3, `a;b "c"`}, {nil, ""}},
}

// outCase writes people, or other rows, and compares the files.
type outCase struct {
	xml   string
	in    *transformtest.Input
	vars  map[string]string
	have  map[string]string // files that exist before
	want  map[string]string
	lines int64
}

func TestTextFileOutput(t *testing.T) {
	const name = "<file><name>out</name><extension>txt</extension></file>"
	const free = "<enclosure_fix_disabled>N</enclosure_fix_disabled>"
	file := func(extra string) string {
		return "<file><name>out</name><extension>txt</extension>" + extra + "</file><format>UNIX</format>"
	}
	tall := &transformtest.Input{Fields: people.Fields, Rows: [][]any{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}}}
	names := &transformtest.Input{
		Fields: []batch.Field{plainField("f", batch.String), plainField("v", batch.Integer)},
		Rows:   [][]any{{"x", 1}, {"x", 2}, {"y", 3}, {"x", 4}, {"z", 5}, {"y", 6}},
	}
	pick := "<fields><field><name>v</name><type>Integer</type></field></fields>"
	cases := map[string]outCase{
		"defaults": {xml: name, want: map[string]string{"out.txt": "1;Ann\r\n2;\r\n-3;a;b \"c\"\r\n;\r\n"}, lines: 4},
		"header and enclosure": {
			xml: name + free + "<header>Y</header><format>UNIX</format>", lines: 5,
			want: map[string]string{"out.txt": "id;name\n1;Ann\n2;\n-3;\"a;b \"\"c\"\"\"\n;\n"},
		},
		"forced enclosure": {
			xml: name + "<enclosure_forced>Y</enclosure_forced><header>Y</header><format>CR</format>", lines: 5,
			want: map[string]string{"out.txt": "id;\"name\"\r1;\"Ann\"\r2;\r-3;\"a;b \"\"c\"\"\"\r;\r"},
		},
		"forced but padded": {
			xml: file("<pad>Y</pad>") + "<enclosure_forced>Y</enclosure_forced>", lines: 4,
			want: map[string]string{"out.txt": "1;Ann\n2;\n-3;a;b \"c\"\n;\n"},
		},
		"chosen fields": {
			xml: file("") + free + `<separator>||</separator><header>Y</header><footer>Y</footer><endedLine>END ${X}</endedLine><fields>
				<field><name>NAME</name><type>String</type><nullif>none</nullif><length>-1</length></field>
				<field><name>id</name><type>Integer</type><format>000</format><nullif>?</nullif></field></fields>`,
			vars: map[string]string{"X": "of file"}, lines: 7,
			want: map[string]string{"out.txt": "NAME||id\nAnn||001\nnone||002\n\"a;b \"\"c\"\"\"||-003\nnone||?\nNAME||id\nEND of file"},
		},
		"lengths": {
			xml: file("") + `<fields><field><name>name</name><type>String</type><length>3</length><trim_type>both</trim_type></field>
				<field><name>id</name><type>Integer</type><length>4</length></field></fields>`,
			in:    &transformtest.Input{Fields: people.Fields, Rows: [][]any{{7, " a "}, {-7, "abcd"}, {nil, nil}, {1, ""}, {2, "äöüß"}}},
			lines: 5, want: map[string]string{"out.txt": "a  ; 0007\nabc;-0007\n;\n   ; 0001\näöü; 0002\n"},
		},
		"no rows": {xml: file("") + "<header>Y</header>", in: &transformtest.Input{Fields: people.Fields}, want: map[string]string{"out.txt": ""}},
		"no rows, late": {
			xml: file("<do_not_open_new_file_init>Y</do_not_open_new_file_init>") + "<header>Y</header>",
			in:  &transformtest.Input{Fields: people.Fields}, want: map[string]string{},
		},
		"append": {
			xml: file("<append>Y</append>") + "<header>Y</header>", have: map[string]string{"out.txt": "id;name\n0;Zoe\n"}, in: tall, lines: 5,
			want: map[string]string{"out.txt": "id;name\n0;Zoe\n1;a\n2;b\n3;c\n4;d\n5;e\n"},
		},
		"append to nothing": {
			xml: file("<append>Y</append>") + "<header>Y</header>", in: tall, lines: 6,
			want: map[string]string{"out.txt": "id;name\n1;a\n2;b\n3;c\n4;d\n5;e\n"},
		},
		"split": {
			xml: file("<splitevery>3</splitevery>") + "<header>Y</header>", in: tall, lines: 8,
			want: map[string]string{"out_0.txt": "id;name\n1;a\n2;b\n", "out_1.txt": "id;name\n3;c\n4;d\n", "out_2.txt": "id;name\n5;e\n"},
		},
		"split with footer": {
			xml: file("<splitevery>4</splitevery>") + "<header>Y</header><footer>Y</footer>", in: tall, lines: 11,
			want: map[string]string{"out_0.txt": "id;name\n1;a\n2;b\nid;name\n", "out_1.txt": "id;name\n3;c\n4;d\nid;name\n", "out_2.txt": "id;name\n5;e\nid;name\n"},
		},
		"names in a field": {
			xml: file("") + "<header>Y</header><fileNameInField>Y</fileNameInField><fileNameField>F</fileNameField>" + pick, in: names, lines: 9,
			want: map[string]string{"x.txt": "v\n1\n2\n4\n", "y.txt": "v\n3\n6\n", "z.txt": "v\n5\n"},
		},
		"names in a field, one open file": {
			xml: file("") + "<header>Y</header><fileNameInField>Y</fileNameInField><fileNameField>f</fileNameField>" + pick, in: names, lines: 9,
			vars: map[string]string{"HOP_FILE_OUTPUT_MAX_STREAM_COUNT": "1"},
			want: map[string]string{"x.txt": "v\n1\n2\n4\n", "y.txt": "v\n3\n6\n", "z.txt": "v\n5\n"},
		},
		"date, time and copy": {
			xml: file("<add_date>Y</add_date><add_time>Y</add_time><split>Y</split>"), in: &transformtest.Input{Fields: people.Fields},
			want: map[string]string{"out_20241231_235959_0.txt": ""},
		},
		"own date format": {
			xml: file("<SpecifyFormat>Y</SpecifyFormat><date_time_format>-yyyy</date_time_format><add_date>Y</add_date>"), in: &transformtest.Input{Fields: people.Fields},
			want: map[string]string{"out-2024.txt": ""},
		},
		"latin": {
			xml: file("") + "<encoding>ISO-8859-1</encoding>", in: &transformtest.Input{Fields: people.Fields, Rows: [][]any{{1, "ä€"}}}, lines: 1,
			want: map[string]string{"out.txt": "1;\xe4?\n"},
		},
		"utf-16": {
			xml: file("") + "<encoding>UTF-16</encoding>", in: &transformtest.Input{Fields: people.Fields, Rows: [][]any{{1, "€"}, {2, ""}}}, lines: 2,
			want: map[string]string{"out.txt": "\xFE\xFF\x001\x00;\x20\xAC\x00\n\x002\x00;\x00\n"},
		},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			in := people
			if c.in != nil {
				in = *c.in
			}
			hook, files := with(c.have)
			out := transformtest.Run(t, transformtest.Case{Definition: text.TextFileOutput, XML: c.xml, Inputs: []transformtest.Input{in}, Vars: c.vars, Env: hook})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, files.texts); diff != "" {
				t.Error(diff)
			}
			if n := out.Env.Counters.Output.Load(); n != c.lines {
				t.Errorf("%d lines of output, want %d", n, c.lines)
			}
			if n := len(out.Main()); n != len(in.Rows) {
				t.Errorf("%d of %d rows passed on", n, len(in.Rows))
			}
		})
	}
}

func TestTextFileOutputFormatsValues(t *testing.T) {
	day := time.Date(2024, 2, 29, 23, 59, 58, 7e6, time.UTC)
	in := transformtest.Input{
		Fields: []batch.Field{plainField("i", batch.Integer), plainField("n", batch.Number), plainField("m", batch.BigNumber), plainField("d", batch.Date), plainField("b", batch.Boolean)},
		Rows: [][]any{
			{1234567, 2.5, dec(t, "1234.50"), day, true},
			{-5, -0.125, dec(t, "-0.05"), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), false},
			{int64(-1 << 63), 1e15, dec(t, "12345678901234567890.125"), time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC), nil},
		},
	}
	field := func(name, rest string) string { return "<field><name>" + name + "</name>" + rest + "</field>" }
	cases := map[string]struct{ fields, want string }{
		"masks": {
			field("i", "<format>#,##0</format>") + field("n", "<format>0.00</format>") + field("m", "<format>0.00</format>") + field("d", "<format>yyyy-MM-dd HH:mm:ss.SSS</format>") + field("b", ""),
			"1,234,567|2.50|1234.50|2024-02-29 23:59:58.007|Y\n-5|-0.12|-0.05|1969-12-31 00:00:00.000|N\n-9,223,372,036,854,775,808|1000000000000000.00|12345678901234567890.12|2150-01-01 00:00:00.000|\n",
		},
		"plain and long": {
			field("i", "<format>#</format>") + field("n", "") + field("m", "<format>#.##</format>") + field("d", "<format>dd/MM/yyyy'T'</format>") + field("b", "<length>5</length>"),
			"1234567|2.5|1234.5|29/02/2024T|true\n-5|-0.125|-0.05|31/12/1969T|false\n-9223372036854775808|1000000000000000.0|12345678901234567890.12|01/01/2150T|\n",
		},
		"rounding": {
			field("n", "<format>0</format><roundingType>up</roundingType>") + field("m", "<format>0.0</format><roundingType>floor</roundingType>"),
			"3|1234.5\n-1|-0.1\n1000000000000000|12345678901234567890.1\n",
		},
		"symbols": {
			field("n", "<format>0.00</format><decimal>,</decimal>") + field("m", "<format>#,##0.00</format><decimal>,</decimal><group>.</group>"),
			"2,50|1.234,50\n-0,12|-0,05\n1000000000000000,00|12.345.678.901.234.567.890,12\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			hook, files := with(nil)
			out := transformtest.Run(t, transformtest.Case{
				Definition: text.TextFileOutput, Inputs: []transformtest.Input{in}, Env: hook,
				XML: "<separator>|</separator><format>UNIX</format><file><name>o</name></file><fields>" + c.fields + "</fields>",
			})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, files.texts["o.txt"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextFileOutputFastDump(t *testing.T) {
	hook, files := with(nil)
	out := transformtest.Run(t, transformtest.Case{
		Definition: text.TextFileOutput, Env: hook,
		XML: "<format>UNIX</format><file><name>o</name><fast_dump>Y</fast_dump></file>",
		Inputs: []transformtest.Input{{
			Fields: []batch.Field{plainField("n", batch.Number), plainField("d", batch.Date), plainField("b", batch.Boolean), plainField("s", batch.String)},
			Rows:   [][]any{{5.0, transformtest.Clock, true, "x"}, {1e7, nil, nil, nil}},
		}},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if got, want := files.texts["o.txt"], "5.0;Tue Dec 31 23:59:59 UTC 2024;true;x\n1.0E7;;;\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDatesAsTheCodecWritesThem compares the fast writer of dates with the codec,
// in a zone with summer time.
func TestDatesAsTheCodecWritesThem(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	var want strings.Builder
	for ms := int64(-86_400_000 * 3); ms < 4_200_000_000_000; ms += 2_713_000_123 {
		when := time.UnixMilli(ms).In(zone)
		rows = append(rows, []any{when})
		want.WriteString(when.Format("2006-01-02 15:04:05.000") + "\n")
	}
	hook, files := with(nil)
	out := transformtest.Run(t, transformtest.Case{
		Definition: text.TextFileOutput,
		XML:        "<format>UNIX</format><file><name>o</name></file><fields><field><name>d</name><format>yyyy-MM-dd HH:mm:ss.SSS</format></field></fields>",
		Inputs:     []transformtest.Input{{Fields: []batch.Field{plainField("d", batch.Date)}, Rows: rows}},
		Env: func(env *transform.Env) {
			env.Semantics = batch.DefaultSemantics(zone)
			hook(env)
		},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff(want.String(), files.texts["o.txt"]); diff != "" {
		t.Error(diff)
	}
}

func TestTextFileOutputPacks(t *testing.T) {
	cases := map[string]string{"GZip": "o.txt.gz", "Zip": "o.zip", "Snappy": "o.txt", "None": "o.txt"}
	for name, file := range cases {
		t.Run(name, func(t *testing.T) {
			hook, store := with(nil)
			out := transformtest.Run(t, transformtest.Case{
				Definition: text.TextFileOutput, Env: hook, Inputs: []transformtest.Input{people},
				XML: "<format>UNIX</format><compression>" + name + "</compression><file><name>o</name></file>",
			})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff([]string{file}, store.names()); diff != "" {
				t.Fatal(diff)
			}
			r, err := files.Compression(name).Reader(strings.NewReader(store.texts[file]))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if err != nil || string(got) != "1;Ann\n2;\n-3;a;b \"c\"\n;\n" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestTextFileOutputAppendsToPackedFiles(t *testing.T) {
	var old bytes.Buffer
	z := gzip.NewWriter(&old)
	_, err := io.WriteString(z, "0;Zoe\n")
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	hook, store := with(map[string]string{"o.txt.gz": old.String(), "o.zip": "PK"})
	c := transformtest.Case{
		Definition: text.TextFileOutput, Env: hook, Inputs: []transformtest.Input{people}, Fixed: true,
		XML: "<format>UNIX</format><compression>GZip</compression><file><name>o</name><append>Y</append></file>",
	}
	if out := transformtest.Run(t, c); out.Err != nil {
		t.Fatal(out.Err)
	}
	r, err := files.GZip.Reader(strings.NewReader(store.texts["o.txt.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !strings.HasPrefix(string(got), "0;Zoe\n1;Ann\n") {
		t.Errorf("%q, %v", got, err)
	}
	c.XML = strings.Replace(c.XML, "GZip", "Zip", 1)
	mustContain(t, transformtest.Run(t, c).Err, "o.zip", "append")
}

func TestTextFileOutputLeavesNothingBehindWhenItFails(t *testing.T) {
	var store files.Store
	c := transformtest.Case{
		Definition: text.TextFileOutput, Fixed: true,
		XML: "<file><name>sub/o</name></file><fileNameInField>Y</fileNameInField><fileNameField>name</fileNameField>",
		Env: func(env *transform.Env) { store = env.Files },
		Inputs: []transformtest.Input{{
			Fields: people.Fields, Rows: [][]any{{1, "a"}, {2, "b"}, {3, "c"}, {4, nil}},
		}},
	}
	out := transformtest.Run(t, c)
	mustContain(t, out.Err, "name")
	list, err := store.List(t.Context(), ".", true)
	if err != nil || len(list) != 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

func TestTextFileOutputSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		xml   string
		words []string
	}{
		"lost field":       {"<file><name>o</name></file><fields><field><name>Nam</name></field></fields>", []string{`"Nam"`, "id, name"}},
		"lost name field":  {"<file><name>o</name></file><fileNameInField>Y</fileNameInField><fileNameField>f</fileNameField>", []string{`"f"`, "id, name"}},
		"no name":          {"<file><name/></file>", []string{"no file name"}},
		"bad compression":  {"<file><name>o</name></file><compression>RAR</compression>", []string{"RAR", "GZip"}},
		"bad encoding":     {"<file><name>o</name></file><encoding>EBCDIK</encoding>", []string{"EBCDIK"}},
		"bad split":        {"<file><name>o</name><splitevery>many</splitevery></file>", []string{"split every", "many"}},
		"bad date pattern": {"<file><name>o</name><SpecifyFormat>Y</SpecifyFormat><date_time_format>qqq</date_time_format></file>", []string{"format"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			mustContain(t, transformtest.Run(t, transformtest.Case{Definition: text.TextFileOutput, XML: c.xml, Inputs: []transformtest.Input{people}}).Err, c.words...)
		})
	}
}

func TestTextFileOutputAddsResultFiles(t *testing.T) {
	hook, _ := with(nil)
	for want, xml := range map[int]string{1: "<file><name>o</name></file>", 0: "<file><name>o</name><add_to_result_filenames>N</add_to_result_filenames></file>"} {
		out := transformtest.Run(t, transformtest.Case{Definition: text.TextFileOutput, XML: xml, Inputs: []transformtest.Input{people}, Env: hook})
		if got := out.Env.Results.(*transformtest.Results).Files; len(got) != want {
			t.Errorf("%d result files, want %d", len(got), want)
		}
	}
}

// TestRawTextIsWrittenBack reads with lazy conversion and writes with the same
// masks: every byte of a value comes back, also where formatting it would differ.
func TestRawTextIsWrittenBack(t *testing.T) {
	data := "007,1.50,2024-1-5,\"x,\"\"y\"\"\"\n,,,\n12,3,2024-01-05,plain\n"
	fields := `<fields><field><name>i</name><type>Integer</type><format>#</format></field>
		<field><name>n</name><type>Number</type><format>0.0</format></field>
		<field><name>d</name><type>Date</type><format>yyyy-MM-dd</format></field>
		<field><name>s</name><type>String</type></field></fields>`
	env, _ := transformtest.NewEnv(t, nil)
	hook, store := with(map[string]string{"in.csv": data})
	hook(env)
	in := transformtest.Settings(t, text.CSVInput, "<filename>in.csv</filename><lazy_conversion>Y</lazy_conversion>"+fields)
	l := transform.Links{Transform: "in", Copies: 1}
	schemas, err := in.Output(l, env.Design)
	if err != nil {
		t.Fatal(err)
	}
	src, err := in.Start(env, l)
	if err != nil {
		t.Fatal(err)
	}
	out := transformtest.Settings(t, text.TextFileOutput, "<file><name>out</name></file><separator>,</separator><enclosure_fix_disabled>N</enclosure_fix_disabled><format>UNIX</format>"+fields)
	w, err := out.Start(env, transform.Links{Transform: "out", Copies: 1, Inputs: []transform.Input{{From: "in", Schema: schemas[transform.Main]}}})
	if err != nil {
		t.Fatal(err)
	}
	err = src.(transform.Source).Produce(t.Context(), func(_ transform.Port, b *batch.Batch) error {
		defer b.Release()
		return w.(transform.RowWise).Apply(t.Context(), b, func(_ transform.Port, b *batch.Batch) error {
			b.Release()
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.(transform.Sink).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data, store.texts["out.txt"]); diff != "" {
		t.Error(diff)
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestTextFileOutputChecksItsFields(t *testing.T) {
	s := transformtest.Settings(t, text.TextFileOutput, "<fileNameInField>Y</fileNameInField><fileNameField>f</fileNameField><fields><field><name>ID</name></field><field><name>x</name></field></fields>")
	l := transform.Links{Inputs: []transform.Input{{From: "in", Schema: batch.NewSchema(people.Fields...)}}}
	var got []string
	for p := range s.(transform.Checker).Check(l, nil) {
		got = append(got, p.Setting)
	}
	if diff := cmp.Diff([]string{"fields>field[2]>name", "fileNameField"}, got); diff != "" {
		t.Error(diff)
	}
}
