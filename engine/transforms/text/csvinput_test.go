package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

func strFields(names ...string) string {
	var b strings.Builder
	b.WriteString("<fields>")
	for _, n := range names {
		b.WriteString("<field><name>" + n + "</name><type>String</type></field>")
	}
	return b.String() + "</fields>"
}

// csvCase is one file, what is set, and the rows that come of it.
type csvCase struct {
	file string
	xml  string
	vars map[string]string
	want []string
}

func TestCSVInputRows(t *testing.T) {
	abc := strFields("a", "b", "c")
	cases := map[string]csvCase{
		"header is skipped": {"x,y,z\n1,2,3\n", "<header>Y</header>" + abc, nil, []string{"1|2|3"}},
		"no header":         {"1,2,3\n", "<header>N</header>" + abc, nil, []string{"1|2|3"}},
		"header alone":      {"x,y,z", "<header>Y</header>" + abc, nil, nil},
		"empty file":        {"", "<header>Y</header>" + abc, nil, nil},
		"empty is null":     {",,3\n", "<header>N</header>" + abc, nil, []string{"<null>|<null>|3"}},
		"empty may be kept": {",x\n", "<header>N</header>" + abc, map[string]string{"HOP_EMPTY_STRING_DIFFERS_FROM_NULL": "Y"}, []string{"|x|<null>"}},
		"missing columns":   {"1\n1,2,3,4,5\n", "<header>N</header>" + abc, nil, []string{"1|<null>|<null>", "1|2|3"}},
		"blank lines":       {"1,2,3\n\n\n4,5,6\n", "<header>N</header>" + abc, nil, []string{"1|2|3", "<null>|<null>|<null>", "4|5|6"}},
		"quotes": {
			"\"a,1\",\"b \"\"x\"\"\",\"c\nd\"\n", "<header>N</header>" + abc, nil,
			[]string{`a,1|b "x"|` + "c\nd"},
		},
		"quote inside": {"5\" pipe,b,c\n", "<header>N</header>" + abc, nil, []string{`5" pipe|b|c`}},
		"line ends in fields": {
			"a\nb,c,d\n", "<header>N</header><newline_possible>Y</newline_possible>" + abc, nil,
			[]string{"a\nb|c|d"},
		},
		"byte order mark":     {"\xEF\xBB\xBF1,2,3\n", "<header>N</header>" + abc, nil, []string{"1|2|3"}},
		"hex separator":       {"1\t2\t3\n", "<header>N</header><separator>$[09]</separator>" + abc, nil, []string{"1|2|3"}},
		"several characters":  {"1#,2#,3\n", "<header>N</header><separator>#,</separator>" + abc, nil, []string{"1|2|3"}},
		"variable separator":  {"1~2~3\n", "<header>N</header><separator>${S}</separator>" + abc, map[string]string{"S": "~"}, []string{"1|2|3"}},
		"no enclosure":        {"\"1,2\",3\n", "<header>N</header><enclosure/>" + abc, nil, []string{`"1|2"|3`}},
		"latin":               {"\xe4,2,3\n", "<header>N</header><encoding>ISO-8859-1</encoding>" + abc, nil, []string{"ä|2|3"}},
		"windows by its name": {"\x80,2,3\n", "<header>N</header><encoding>Cp1252</encoding>" + abc, nil, []string{"€|2|3"}},
		"utf-16":              {"\xFF\xFE1\x00,\x00\xAC\x20,\x003\x00", "<header>N</header><encoding>UTF-16</encoding>" + abc, nil, []string{"1|€|3"}},
		"not utf-8":           {"\xe4\xff,2,3\n", "<header>N</header>" + abc, nil, []string{"\uFFFD|2|3"}},
		"trim": {
			"\t a ,b\n", `<header>N</header><fields><field><name>a</name><type>String</type><trim_type>both</trim_type></field>
			<field><name>b</name><type>String</type><trim_type>left</trim_type></field></fields>`, nil,
			[]string{"a|b"},
		},
		"row number": {
			"h\na\nb\n", "<header>Y</header><rownum_field>n</rownum_field>" + strFields("a"), nil,
			[]string{"a|1", "b|2"},
		},
		"file name": {
			"a\n", "<header>N</header><filename_field>f</filename_field><include_filename>Y</include_filename><rownum_field>n</rownum_field>" + strFields("a"), nil,
			[]string{"a|in.csv|1"},
		},
		"types": {
			"12,1.5,2024/01/31,Y,12.50,-123456789012\n", `<header>N</header><fields>
			<field><name>i</name><type>Integer</type><format>#</format></field>
			<field><name>n</name><type>Number</type><format>#.#</format></field>
			<field><name>d</name><type>Date</type><format>yyyy/MM/dd</format></field>
			<field><name>b</name><type>Boolean</type></field>
			<field><name>m</name><type>BigNumber</type><format>0.00</format></field>
			<field><name>l</name><type>Integer</type><format>#</format></field></fields>`, nil,
			[]string{"12|1.5|2024/01/31|Y|12.50|-123456789012"},
		},
		"prefix in the mask": {
			" 7\n", `<header>N</header><fields><field><name>i</name><type>Integer</type><format> #</format></field></fields>`, nil,
			[]string{" 7"},
		},
		"decimal comma": {
			"1.234,50;1,5\n", `<header>N</header><separator>;</separator><fields>
			<field><name>m</name><type>BigNumber</type><format>#,##0.00</format><decimal>,</decimal><group>.</group></field>
			<field><name>n</name><type>Number</type><format>0.0</format><decimal>,</decimal><group>.</group></field></fields>`, nil,
			[]string{"1.234,50|1,5"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, lazy := range []string{"N", "Y"} {
				hook, _ := with(map[string]string{"in.csv": c.file})
				out := transformtest.Run(t, transformtest.Case{
					Definition: text.CSVInput, Vars: c.vars, Env: hook,
					XML: "<filename>in.csv</filename><lazy_conversion>" + lazy + "</lazy_conversion>" + c.xml,
				})
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				if diff := cmp.Diff(c.want, out.Main()); diff != "" {
					t.Errorf("lazy %s: %s", lazy, diff)
				}
			}
		})
	}
}

func TestCSVInputLayout(t *testing.T) {
	hook, _ := with(map[string]string{"in.csv": ""})
	out := transformtest.Run(t, transformtest.Case{
		Definition: text.CSVInput, Env: hook,
		XML: `<filename>in.csv</filename><filename_field>f</filename_field><include_filename>Y</include_filename><rownum_field>n</rownum_field>
			<fields><field><name>a</name><type>Integer</type><format/><length>7</length></field></fields>`,
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if got := out.Fields(transform.Main); got != "a Integer, f String, n Integer" {
		t.Error(got)
	}
	f := out.Schemas[transform.Main].Fields[0]
	if f.Mask != "" || f.Length != 7 || f.Origin != "tested" {
		t.Errorf("%+v", f)
	}
}

func TestCSVInputRejectsWhatItCannotConvert(t *testing.T) {
	c := transformtest.Case{
		Definition: text.CSVInput,
		XML: `<filename>in.csv</filename><header>Y</header><fields>
			<field><name>i</name><type>Integer</type><format>#</format></field>
			<field><name>d</name><type>Date</type><format>yyyy-MM-dd</format></field></fields>`,
		Error: &transform.ErrorLink{Target: "bad", CountField: "nr", FieldField: "fields", CodeField: "code"},
	}
	c.Env, _ = with(map[string]string{"in.csv": "i,d\n1,2024-01-01\nx,2024-01-02\n3,today\nnone,never\n5,2024-01-05\n"})
	out := transformtest.Run(t, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"1|2024-01-01", "5|2024-01-05"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"<null>|2024-01-02|1|i|CSVINPUT001",
		"3|<null>|1|d|CSVINPUT001",
		"<null>|<null>|1|i, d|CSVINPUT001",
	}
	if diff := cmp.Diff(want, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
	if n := out.Env.Counters.Rejected.Load(); n != 3 {
		t.Errorf("%d rejected", n)
	}
	if n := out.Env.Counters.Input.Load(); n != 6 {
		t.Errorf("%d lines of input, want 6 with the header", n)
	}

	c.Error = nil
	mustContain(t, transformtest.Run(t, c).Err, `"i"`, "row 2", `"x"`)
}

func TestCSVInputReadsTheFilesOfItsInput(t *testing.T) {
	c := transformtest.Case{
		Definition: text.CSVInput,
		XML:        "<filename_field>file</filename_field><include_filename>Y</include_filename><rownum_field>n</rownum_field><header>Y</header>" + strFields("a"),
		Inputs: []transformtest.Input{{
			Fields: []batch.Field{batch.NewField("id", batch.Integer), batch.NewField("File", batch.String)},
			Rows:   [][]any{{1, "1.csv"}, {2, nil}, {3, "2.csv"}, {4, "1.csv"}, {5, "2.csv"}, {6, "2.csv"}},
		}},
	}
	c.Env, _ = with(map[string]string{"1.csv": "h\nx\n", "2.csv": "h\ny\nz\n"})
	out := transformtest.Run(t, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := []string{"x|1.csv|1", "y|2.csv|1", "z|2.csv|2", "x|1.csv|1", "y|2.csv|1", "z|2.csv|2", "y|2.csv|1", "z|2.csv|2"}
	if diff := cmp.Diff(want, out.Main()); diff != "" {
		t.Error(diff)
	}
	c.XML = strings.Replace(c.XML, ">file<", ">path<", 1)
	mustContain(t, transformtest.Run(t, c).Err, `"path"`, "id, File")
}

func TestCSVInputSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		xml   string
		words []string
	}{
		"no file":       {"<filename>nowhere.csv</filename>" + strFields("a"), []string{"nowhere.csv"}},
		"no name":       {"<filename/>" + strFields("a"), []string{"no file name"}},
		"no fields":     {"<filename>in.csv</filename>", []string{"no fields"}},
		"no separator":  {"<filename>in.csv</filename><separator/>" + strFields("a"), []string{"separator"}},
		"bad encoding":  {"<filename>in.csv</filename><encoding>klingon</encoding>" + strFields("a"), []string{"klingon", "UTF-8"}},
		"bad mask":      {"<filename>in.csv</filename><fields><field><name>d</name><type>Date</type><format>qq</format></field></fields>", []string{`"d"`}},
		"lost metadata": {"<filename>in.csv</filename><schemaDefinition>none</schemaDefinition><ignoreFields>Y</ignoreFields>", []string{"none"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			hook, _ := with(map[string]string{"in.csv": "1\n"})
			mustContain(t, transformtest.Run(t, transformtest.Case{Definition: text.CSVInput, XML: c.xml, Env: hook, Fixed: true}).Err, c.words...)
		})
	}
}

func TestCSVInputAddsResultFile(t *testing.T) {
	hook, _ := with(map[string]string{"in.csv": "1\n"})
	out := transformtest.Run(t, transformtest.Case{Definition: text.CSVInput, Env: hook, XML: "<filename>in.csv</filename><add_filename_result>Y</add_filename_result>" + strFields("a")})
	got := out.Env.Results.(*transformtest.Results).Files
	if len(got) != 1 || got[0].Path != "in.csv" || got[0].Type != "GENERAL" || got[0].Origin != "tested" {
		t.Errorf("%+v", got)
	}
}

// TestCSVInputManyBlocks reads a file of many blocks and compares columns that
// are known, with and without row numbers, copies and lazy conversion.
func TestCSVInputManyBlocks(t *testing.T) {
	data := orders(30_000)
	for _, extra := range []string{"", "<rownum_field>n</rownum_field>", "<lazy_conversion>Y</lazy_conversion>"} {
		hook, _ := with(map[string]string{"o.csv": data})
		out := transformtest.Run(t, transformtest.Case{Definition: text.CSVInput, Env: hook, Fixed: true, XML: "<filename>o.csv</filename><header>Y</header>" + extra + orderFields})
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		lines := strings.Split(strings.TrimSuffix(data, "\n"), "\n")[1:]
		if len(out.Main()) != len(lines) {
			t.Fatalf("%d rows of %d", len(out.Main()), len(lines))
		}
		for i, row := range out.Main() {
			want := strings.SplitN(lines[i], ",", 7)
			want[6] = strings.Trim(want[6], `"`)
			if want[6] == "" {
				want[6] = "<null>"
			}
			if strings.Contains(extra, "rownum") {
				want = append(want, want[0])
			}
			if row != strings.Join(want, "|") {
				t.Fatalf("row %d is %q, want %q", i+1, row, want)
			}
		}
	}
}

func TestCSVInputChecks(t *testing.T) {
	in := []transform.Input{{From: "in", Schema: batch.NewSchema(batch.NewField("f", batch.String))}}
	cases := map[string]struct {
		xml  string
		in   []transform.Input
		want string
	}{
		"all set":       {"<filename>x</filename>" + strFields("a"), nil, ""},
		"no file":       {strFields("a"), nil, "filename"},
		"no name field": {"<filename>x</filename>" + strFields("a"), in, "filename_field"},
		"no fields":     {"<filename>x</filename>", nil, "fields>field"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for p := range transformtest.Settings(t, text.CSVInput, c.xml).(transform.Checker).Check(transform.Links{Inputs: c.in}, nil) {
				got += p.Setting
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
