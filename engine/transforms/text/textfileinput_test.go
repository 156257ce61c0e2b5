package text_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

const inTxt = "<files><file><name>in.txt</name></file></files>"

func fixedFields(names string, widths ...int) string {
	var b strings.Builder
	at := 0
	for i, w := range widths {
		b.WriteString("<field><name>" + names[i:i+1] + "</name><type>String</type><position>" + itoa(at) + "</position><length>" + itoa(w) + "</length></field>")
		at += w
	}
	return "<fields>" + b.String() + "</fields>"
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}

type textCase struct {
	file string
	xml  string
	vars map[string]string
	want []string
}

func TestTextFileInputRows(t *testing.T) {
	abc := strFields("a", "b", "c")
	filter := func(text, position, last, positive string) string {
		return "<filter><filter_position>" + position + "</filter_position><filter_string>" + text + "</filter_string><filter_is_last_line>" + last + "</filter_is_last_line><filter_is_positive>" + positive + "</filter_is_positive></filter>"
	}
	lines := "h1\nh2\n1\n2\n3\n4\n5\nf\n"
	cases := map[string]textCase{
		"plain":               {"1;2;3\n4;5;6\n", abc, nil, []string{"1|2|3", "4|5|6"}},
		"header":              {"x\n\ny\n1;2;3\n", "<header>Y</header><nr_headerlines>2</nr_headerlines>" + abc, nil, []string{"1|2|3"}},
		"mixed drops CR":      {"1;2;3\r\n4;\r5;6\r\n", abc, nil, []string{"1|2|3", "4|5|6"}},
		"dos":                 {"1;2;3\r\n4;5;6\r\n", "<format>DOS</format>" + abc, nil, []string{"1|2|3", "4|5|6"}},
		"unix with CR":        {"1;2;3\r4;5;6\r\n7", "<format>Unix</format>" + abc, nil, []string{"1|2|3", "4|5|6", "7|<null>|<null>"}},
		"unix phantom lines":  {"1\r\n2\n", "<format>Unix</format><noempty>N</noempty>" + strFields("a"), nil, []string{"1", "<null>", "2"}},
		"empty lines dropped": {"1\n\n\n\n2\n", strFields("a"), nil, []string{"1", "2"}},
		"empty lines kept":    {"1\n\n\n2\n", "<noempty>N</noempty>" + strFields("a"), nil, []string{"1", "<null>", "<null>", "2"}},
		"short and long":      {"1;\n1;2;3;4\n;;\n", abc, nil, []string{"1|<null>|<null>", "1|2|3", "<null>|<null>|<null>"}},
		"enclosures":          {"\"a;b\";\"c\"\"d\";e\n\"x\";\"\";\"z\"\n", abc, nil, []string{`a;b|c"d|e`, "x|<null>|z"}},
		"never closed":        {"1;\"2;3\n4;5;6\n", abc, nil, []string{"1|2;3|<null>", "4|5|6"}},
		"breaks in enclosures": {
			"1;\"a\nb\n\nc\";2\n3;\"d\";4\n", "<enclosure_breaks>Y</enclosure_breaks>" + abc, nil,
			[]string{"1|a\nb\n\nc|2", "3|d|4"},
		},
		"no breaks in enclosures": {"1;\"a\nb\";2\n", abc, nil, []string{"1|a|<null>", "b\"|2|<null>"}},
		"escapes": {
			`1\;2;a\\;"q\"r"` + "\n", `<escapechar>\</escapechar>` + abc, nil,
			[]string{`1;2|a\|q"r`},
		},
		"escape keeps doubled": {`"a""b"` + "\n", `<escapechar>\</escapechar>` + strFields("a"), nil, []string{`a""b`}},
		"hex separator":        {"1\t2\n", "<separator>$[09]</separator>" + strFields("a", "b"), nil, []string{"1|2"}},
		"long separator":       {"1||2|3||4\n", "<separator>||</separator>" + abc, nil, []string{"1|2|3|4"}},
		"long enclosure":       {"<<a;b<<;c\n", "<enclosure>&lt;&lt;</enclosure>" + strFields("a", "b"), nil, []string{"a;b|c"}},
		"null if not enclosed": {
			"1;\"\";;x\n2;;\"\";\n", "<null_if_not_enclosed>Y</null_if_not_enclosed>" + strFields("a", "b", "c", "d"),
			map[string]string{"HOP_EMPTY_STRING_DIFFERS_FROM_NULL": "Y"},
			[]string{"1||<null>|x", "2|<null>||<null>"},
		},
		"blanks are empty": {"  ; x ;\n", abc, nil, []string{"| x |<null>"}},
		"null texts": {
			"NULL;null ;n/a\n;x;y\n", `<fields><field><name>a</name><type>String</type><nullif>null</nullif></field>
			<field><name>b</name><type>Integer</type><null_string>NULL</null_string><if_null_value>7</if_null_value></field>
			<field><name>c</name><type>String</type><ifnull>none</ifnull></field></fields><error_ignored>Y</error_ignored>`, nil,
			[]string{"|7|n/a", "<null>|<null>|y"},
		},
		"trim": {
			" a ; 12 \n", `<fields><field><name>a</name><type>String</type><trim_type>both</trim_type></field>
			<field><name>b</name><type>Integer</type><format>#</format><trim_type>both</trim_type></field></fields>`, nil,
			[]string{"a|12"},
		},
		"repeat": {
			"1;a\n;b\n2;\n;\n", `<fields><field><name>a</name><type>Integer</type><format>#</format><repeat>Y</repeat></field>
			<field><name>b</name><type>String</type><repeat>Y</repeat></field></fields>`, nil,
			[]string{"1|a", "1|b", "2|b", "2|b"},
		},
		"footer":        {lines, "<header>Y</header><nr_headerlines>2</nr_headerlines><footer>Y</footer><nr_footerlines>2</nr_footerlines>" + strFields("a"), nil, []string{"1", "2", "3", "4"}},
		"limit":         {lines, "<header>Y</header><limit>3</limit>" + strFields("a"), nil, []string{"h2", "1"}},
		"wrapped":       {"1;\n2\n3;\n4\n5;", "<line_wrapped>Y</line_wrapped><nr_wraps>1</nr_wraps>" + strFields("a", "b"), nil, []string{"1|2", "3|4", "5|<null>"}},
		"paged":         {"doc\nh\n1\n2\nf\nh\n3\n4\nf\nh\n5\n", "<layout_paged>Y</layout_paged><nr_lines_per_page>2</nr_lines_per_page><nr_lines_doc_header>1</nr_lines_doc_header><header>Y</header><footer>Y</footer>" + strFields("a"), nil, []string{"1", "2", "3", "4", "5"}},
		"paged no foot": {"h\n1\n2\nh\n3\n", "<layout_paged>Y</layout_paged><nr_lines_per_page>2</nr_lines_per_page><header>Y</header>" + strFields("a"), nil, []string{"1", "2", "3"}},
		"filter out":    {"a1\n#b\na#\n", "<filters>" + filter(base64.StdEncoding.EncodeToString([]byte("#")), "0", "N", "N") + "</filters>" + strFields("a"), nil, []string{"a1", "a#"}},
		"filter stops":  {"a\nb\nEND\nc\n", "<filters>" + filter("Base64: "+base64.StdEncoding.EncodeToString([]byte("end")), "0", "Y", "N") + "</filters>" + strFields("a"), nil, []string{"a", "b"}},
		"filter in":     {"h\nax\nb\nxc\n", "<header>Y</header><filters>" + filter("${K}", "-1", "N", "Y") + "</filters>" + strFields("a"), map[string]string{"K": "x"}, []string{"ax", "xc"}},
		"fixed":         {"ab123 x\nc4\n", "<file_type>Fixed</file_type>" + fixedFields("abc", 2, 3, 2), nil, []string{"ab|123| x", "c4|<null>|<null>"}},
		"fixed letters": {"äö€uvw\n", "<file_type>Fixed</file_type>" + fixedFields("abc", 2, 2, 2), nil, []string{"äö|€u|vw"}},
		"fixed bytes":   {"\xe4b\xf6d\n", "<file_type>Fixed</file_type><length>Bytes</length><encoding>ISO-8859-1</encoding>" + fixedFields("ab", 1, 3), nil, []string{"ä|böd"}},
		"row number":    {"a\nb\n", "<rownum>Y</rownum><rownum_field>n</rownum_field>" + strFields("a"), nil, []string{"a|1", "b|2"}},
		"file facts": {
			"a\n", "<include>Y</include><include_field>f</include_field><shortFileFieldName>s</shortFileFieldName><extensionFieldName>e</extensionFieldName><sizeFieldName>n</sizeFieldName><uriNameFieldName>u</uriNameFieldName>" + strFields("a"), nil,
			[]string{"a|in.txt|in.txt|txt|2|mem:in.txt"},
		},
		"errors ignored": {
			"x;1;y\n2;3;4\n", `<error_ignored>Y</error_ignored><error_count_field>n</error_count_field><error_fields_field>f</error_fields_field><fields>
			<field><name>a</name><type>Integer</type><format>#</format></field><field><name>b</name><type>Integer</type><format>#</format></field><field><name>c</name><type>Number</type><format>#</format></field></fields>`, nil,
			[]string{"<null>|1|<null>|2|a\tc", "2|3|4|0|"},
		},
		"error lines skipped": {
			"x\n2\n", `<error_ignored>Y</error_ignored><error_line_skipped>Y</error_line_skipped><fields><field><name>a</name><type>Integer</type><format>#</format></field></fields>`, nil,
			[]string{"2"},
		},
		"strict dates": {
			"2024-02-30\n", `<error_ignored>Y</error_ignored><date_format_lenient>N</date_format_lenient><fields><field><name>d</name><type>Date</type><format>yyyy-MM-dd</format></field></fields>`, nil,
			[]string{"<null>"},
		},
		"utf-16": {"\xFE\xFF\x001\x00;\x20\xAC\x00\n", strFields("a", "b"), nil, []string{"1|€"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			hook, _ := with(map[string]string{"in.txt": c.file})
			out := transformtest.Run(t, transformtest.Case{Definition: text.TextFileInput, XML: inTxt + c.xml, Env: hook, Vars: c.vars})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTextFileInputPathsAgree reads the same lines by blocks and line by line: a
// limit that is never reached turns the blocks off.
func TestTextFileInputPathsAgree(t *testing.T) {
	data := orders(20_000)
	cases := map[string]string{
		"plain":  strings.ReplaceAll(data, `"`, ""),
		"dos":    strings.ReplaceAll(strings.ReplaceAll(data, `"`, ""), "\n", "\r\n"),
		"quoted": data,
		"blank":  strings.ReplaceAll(data, "\n", "\n\n"),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			hook, _ := with(map[string]string{"in.txt": data})
			c := transformtest.Case{Definition: text.TextFileInput, Env: hook, Fixed: true}
			c.XML = inTxt + "<separator>,</separator><header>Y</header><rownum>Y</rownum><rownum_field>n</rownum_field>" + orderFields
			blocks := transformtest.Run(t, c)
			if blocks.Err != nil {
				t.Fatal(blocks.Err)
			}
			c.XML += "<limit>1000000</limit>"
			lines := transformtest.Run(t, c)
			if lines.Err != nil {
				t.Fatal(lines.Err)
			}
			if len(lines.Main()) != 20_000 {
				t.Fatalf("%d rows", len(lines.Main()))
			}
			if diff := cmp.Diff(lines.Main(), blocks.Main()); diff != "" {
				t.Error(diff)
			}
			if last := lines.Main()[19_999]; !strings.HasPrefix(last, "20000|") || !strings.HasSuffix(last, "|20000") {
				t.Error(last)
			}
		})
	}
}

func TestTextFileInputFiles(t *testing.T) {
	var local files.Store
	setup := func(env *transform.Env) {
		local = env.Files
		for name, content := range map[string]string{"d/b.txt": "b\n", "d/a.txt": "a1\na2\n", "d/sub/c.txt": "c\n", "d/skip.txt": "s\n", "d/x.csv": "x\n"} {
			w, err := local.Create(t.Context(), name, files.CreateOptions{Parents: true})
			if err == nil {
				_, err = io.WriteString(w, content)
				err = errors.Join(err, w.Commit())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	number := "<rownum>Y</rownum><rownum_field>n</rownum_field><shortFileFieldName>f</shortFileFieldName>"
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"classic list": {`<file><name>d</name><filemask>.*\.txt</filemask><exclude_filemask>s.*</exclude_filemask><file_required>N</file_required><include_subfolders>Y</include_subfolders>
			<name>d/x.csv</name><filemask/><exclude_filemask/><file_required>Y</file_required><include_subfolders>N</include_subfolders><name>gone.txt</name><file_required>N</file_required>
			<type>CSV</type><compression>None</compression></file>`, []string{"a1|1|a.txt", "a2|2|a.txt", "b|3|b.txt", "c|4|c.txt", "x|5|x.csv"}},
		"current list, by file": {`<files><file><name>d</name><filemask>[ab]\.txt</filemask></file></files><rownumByFile>Y</rownumByFile>`, []string{"a1|1|a.txt", "a2|2|a.txt", "b|1|b.txt"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []string{"0", "1000"} {
				out := transformtest.Run(t, transformtest.Case{Definition: text.TextFileInput, Env: setup, XML: c.xml + number + "<limit>" + limit + "</limit>" + strFields("a")})
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				if diff := cmp.Diff(c.want, out.Main()); diff != "" {
					t.Errorf("limit %s: %s", limit, diff)
				}
			}
		})
	}
}

func TestTextFileInputTakesNamesFromRows(t *testing.T) {
	hook, _ := with(map[string]string{"1.txt": "a\nb\n", "2.txt": "c\n"})
	c := transformtest.Case{
		Definition: text.TextFileInput, Env: hook,
		XML: "<accept_filenames>Y</accept_filenames><passing_through_fields>Y</passing_through_fields><accept_field>FILE</accept_field><rownum>Y</rownum><rownum_field>n</rownum_field>" + strFields("id"),
		Inputs: []transformtest.Input{{
			Fields: []batch.Field{plainField("id", batch.Integer), plainField("file", batch.String)},
			Rows:   [][]any{{1, "1.txt"}, {2, nil}, {3, "2.txt"}, {4, "1.txt"}},
		}},
	}
	out := transformtest.Run(t, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := []string{"1|1.txt|a|1", "1|1.txt|b|2", "3|2.txt|c|3", "4|1.txt|a|4", "4|1.txt|b|5"}
	if diff := cmp.Diff(want, out.Main()); diff != "" {
		t.Error(diff)
	}
	if got := out.Fields(transform.Main); got != "id Integer, file String, id_1 String, n Integer" {
		t.Error(got)
	}
	c.Inputs[0].Rows = [][]any{{1, "gone.txt"}, {3, "2.txt"}}
	c.Fixed = true
	mustContain(t, transformtest.Run(t, c).Err, "gone.txt")
	c.XML += "<error_ignored>Y</error_ignored><skip_bad_files>Y</skip_bad_files>"
	if out = transformtest.Run(t, c); out.Err != nil || cmp.Diff([]string{"3|2.txt|c|1"}, out.Main()) != "" {
		t.Error(out.Err, out.Main())
	}
}

func TestTextFileInputUnpacks(t *testing.T) {
	for _, c := range files.Compressions() {
		var packed bytes.Buffer
		w, err := c.Writer(&packed, "in.txt")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(w, "h\n1;2\n")
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		hook, _ := with(map[string]string{"in.txt": packed.String()})
		out := transformtest.Run(t, transformtest.Case{Definition: text.TextFileInput, Env: hook, XML: inTxt + "<header>Y</header><compression>" + string(c) + "</compression>" + strFields("a", "b")})
		if out.Err != nil || cmp.Diff([]string{"1|2"}, out.Main()) != "" {
			t.Errorf("%s: %v %v", c, out.Main(), out.Err)
		}
	}
}

func TestTextFileInputRejectsRows(t *testing.T) {
	hook, _ := with(map[string]string{"in.txt": "1\nx\n3\n"})
	for _, limit := range []string{"0", "100"} {
		c := transformtest.Case{
			Definition: text.TextFileInput, Env: hook, Error: &transform.ErrorLink{Target: "bad", FieldField: "f", CodeField: "c"},
			XML: inTxt + "<rownum>Y</rownum><rownum_field>n</rownum_field><limit>" + limit + "</limit><fields><field><name>i</name><type>Integer</type><format>#</format></field></fields>",
		}
		out := transformtest.Run(t, c)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if diff := cmp.Diff([]string{"1|1", "3|2"}, out.Main()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"<null>|2|i|TextFileInput001"}, out.Rows[transform.Error]); diff != "" {
			t.Error(diff)
		}
		c.Error = nil
		mustContain(t, transformtest.Run(t, c).Err, "row 2", `"x"`, `"i"`)
	}
}

func TestTextFileInputSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		xml   string
		words []string
	}{
		"no file":        {strFields("a"), []string{"no file was found"}},
		"required file":  {"<files><file><name>gone.txt</name><file_required>Y</file_required></file></files>" + strFields("a"), []string{"gone.txt", "required"}},
		"bad mask":       {"<files><file><name>in.txt</name><filemask>(</filemask></file></files>" + strFields("a"), []string{"mask"}},
		"no fields":      {inTxt, []string{"no fields"}},
		"no separator":   {inTxt + "<separator/>" + strFields("a"), []string{"separator"}},
		"single line CR": {inTxt + "<format>DOS</format>" + strFields("a"), []string{"in.txt", "DOS", "mixed"}},
		"not packed":     {inTxt + "<compression>GZip</compression>" + strFields("a"), []string{"in.txt", "unpack"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			hook, _ := with(map[string]string{"in.txt": "1\n2\n"})
			mustContain(t, transformtest.Run(t, transformtest.Case{Definition: text.TextFileInput, XML: c.xml, Env: hook, Fixed: true}).Err, c.words...)
		})
	}
}

func TestTextFileInputDropsRowsItDoesNotNeed(t *testing.T) {
	hook, _ := with(map[string]string{"in.txt": "1\n"})
	out := transformtest.Run(t, transformtest.Case{Definition: text.TextFileInput, XML: inTxt + strFields("a"), Env: hook, Inputs: []transformtest.Input{people}})
	if out.Err != nil || cmp.Diff([]string{"1"}, out.Main()) != "" {
		t.Error(out.Err, out.Main())
	}
}
