package json_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/json"
)

// suite is the folder of Hop's own projects.
func suite(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SLUICE_HOP_SUITE")
	if dir == "" {
		dir, _ = filepath.Abs(filepath.Join("..", "..", "..", "..", "shared", "hop-suite"))
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the Hop suite is missing (set SLUICE_HOP_SUITE): %v", err)
	}
	return dir
}

func field(name string, t batch.Type) batch.Field { return batch.NewField(name, t) }

// inFolder makes a case read and write below a folder.
func inFolder(dir string) func(*transform.Env) {
	return func(e *transform.Env) { e.Files = files.Local{Dir: dir} }
}

// contents gives the files below a folder as "name: text".
func contents(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		list = append(list, rel+": "+string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(list)
	return list
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSuiteSettings decodes every transform of the family in Hop's projects.
func TestSuiteSettings(t *testing.T) {
	byID := map[string]transform.Definition{}
	for _, d := range json.Transforms {
		if _, err := d.Settings(); err != nil {
			t.Error(err)
		}
		byID[d.ID] = d
	}
	seen := 0
	err := filepath.WalkDir(suite(t), func(p string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(p) != ".hpl" {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(p, data)
		if err != nil {
			return err
		}
		for _, el := range doc.Root().All("transform") {
			def, ok := byID[el.Child("type").Text()]
			if !ok {
				continue
			}
			seen++
			_, problems := def.Decode(el)
			for _, problem := range problems {
				t.Errorf("%s: %s: %s", p, problem.Setting, problem.Message)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 15 {
		t.Errorf("only %d transforms found", seen)
	}
}

func TestJSONInputFields(t *testing.T) {
	const head = `<IsInFields>Y</IsInFields><valueField>doc</valueField>`
	one := func(name, path, typ, more string) string {
		return "<field><name>" + name + "</name><path>" + path + "</path><type>" + typ + "</type>" + more + "</field>"
	}
	for name, c := range map[string]struct {
		xml  string
		docs []any
		want []string
		err  string
	}{
		"types": {
			xml: "<ignoreMissingPath>Y</ignoreMissingPath><fields>" + one("i", "$.i", "Integer", "") + one("n", "$.n", "Number", "") + one("b", "$.b", "BigNumber", "") +
				one("f", "$.f", "Boolean", "") + one("d", "$.d", "Date", "<format>yyyy-MM-dd</format>") + one("s", "s", "String", "<trim_type>both</trim_type>") + one("j", "$.j", "JSON", "") + "</fields>",
			docs: []any{`{"i":9007199254740993,"n":1.5,"b":12345678901234567890.123456789,"f":true,"d":"2024-02-03","s":" x ","j":{"z":1,"a":[1.50]}}`, `{"i":"7","n":"2.5","s":3,"j":"{\"k\":1}"}`, `{"s":{"a":"/"},"j":"word"}`},
			want: []string{
				`9007199254740993|1.5|12345678901234567890.123456789|Y|2024-02-03|x|{"z":1,"a":[1.5]}`,
				`7|2.5|<null>|<null>|<null>|3|{"k":1}`,
				`<null>|<null>|<null>|<null>|<null>|{"a":"/"}|"word"`,
			},
		},
		"rows of an array": {
			xml:  "<fields>" + one("a", "$.x[*].a", "Integer", "") + one("b", "$.x[*].b", "String", "") + "</fields>",
			docs: []any{`{"x":[{"a":1,"b":"p"},{},{"a":2}]}`},
			want: []string{"1|p", "2|<null>"},
		},
		"root brackets and variables": {
			xml:  "<fields>" + one("a", "$[0]", "Integer", "") + one("b", "$[${LAST}].x", "String", "") + "</fields>",
			docs: []any{`[41,{"x":"y"}]`}, want: []string{"41|y"},
		},
		"repeat": {
			xml:  "<fields>" + one("a", "$.x[*].a", "Integer", "<repeat>Y</repeat>") + one("b", "$.x[*].b", "String", "") + "</fields>",
			docs: []any{`{"x":[{"a":1,"b":"p"},{"b":"q"},{"a":2}]}`},
			want: []string{"1|p", "1|q", "2|<null>"},
		},
		"null and missing": {
			xml:  "<ignoreMissingPath>Y</ignoreMissingPath><fields>" + one("a", "$.a[-1]", "String", "") + "</fields>",
			docs: []any{nil, `{"a":[1,2,3]}`, `{"a":[]}`},
			want: []string{"<null>", "3", "<null>"},
		},
		"missing is an error": {
			xml:  "<fields>" + one("a", "$.a", "String", "") + "</fields>",
			docs: []any{`{"b":1}`}, err: "path $.a finds nothing",
		},
		"bad structure": {
			xml:  "<fields>" + one("a", "$.a[*]", "String", "") + one("b", "$.b[*]", "String", "") + "</fields>",
			docs: []any{`{"a":[1,2],"b":[1]}`}, err: "do not fit together",
		},
		"one list missing": {
			xml:  "<ignoreMissingPath>Y</ignoreMissingPath><fields>" + one("a", "$.a[*]", "String", "") + one("b", "$.b[*]", "String", "") + "</fields>",
			docs: []any{`{"b":[1,2]}`}, want: []string{"<null>|1", "<null>|2"},
		},
		"no leaf to null": {
			xml:  "<defaultPathLeafToNull>N</defaultPathLeafToNull><fields>" + one("a", "$.x[*].a", "String", "") + "</fields>",
			docs: []any{`{"x":[{"a":1},{},{"a":2}]}`}, want: []string{"1", "2"},
		},
		"too large": {
			xml:  "<fields>" + one("a", "$.a", "Integer", "") + "</fields>",
			docs: []any{`{"a":12345678901234567890}`}, err: "use BigNumber",
		},
		"limit": {
			xml:  "<limit>2</limit><fields>" + one("a", "$.x[*]", "Integer", "") + "</fields>",
			docs: []any{`{"x":[1]}`, `{"x":[2,3]}`, `{"x":[4]}`}, want: []string{"1", "2"},
		},
		"not JSON": {
			xml:  "<fields>" + one("a", "$.a", "Integer", "") + "</fields>",
			docs: []any{`{"a":`}, err: "invalid JSON",
		},
		"bad path": {
			xml:  "<fields>" + one("a", "$.a[", "Integer", "") + "</fields>",
			docs: []any{`{}`}, err: `field "a": JSON path`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var rows [][]any
			for _, d := range c.docs {
				rows = append(rows, []any{d})
			}
			out := transformtest.Run(t, transformtest.Case{
				Definition: json.JSONInput, XML: head + "<removeSourceField>Y</removeSourceField>" + c.xml, Vars: map[string]string{"LAST": "-1"},
				Inputs: []transformtest.Input{{Fields: []batch.Field{field("doc", batch.String)}, Rows: rows}},
			})
			if c.err != "" {
				if out.Err == nil || !strings.Contains(out.Err.Error(), c.err) {
					t.Fatalf("error %v, want %q", out.Err, c.err)
				}
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONInputSendsBadDocumentsToTheErrorHop(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: json.JSONInput,
		XML: `<IsInFields>Y</IsInFields><valueField>doc</valueField><rownum>Y</rownum><rownum_field>nr</rownum_field>
			<fields><field><name>a</name><path>$.a</path><type>Integer</type></field></fields>`,
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("id", batch.Integer), field("doc", batch.String)}, Rows: [][]any{{1, `{"a":1}`}, {2, `{`}, {3, `{"a":"x"}`}, {4, `{"a":4}`}}}},
		Error:  &transform.ErrorLink{Target: "bad", CodeField: "code", FieldField: "field"},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{`1|{"a":1}|1|1`, `4|{"a":4}|4|2`}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`2|{|doc|JsonInput001`, `3|{"a":"x"}|doc|JsonInput001`}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
}

func TestJSONInputReadsFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "in/a.json", `{"x":[{"v":1},{"v":2}]}`)
	put(t, dir, "in/b.json", `{"x":[{"v":3}]}`)
	put(t, dir, "in/empty.json", ``)
	xml := func(more string) string {
		return `<files><file><name>${DIR}/in</name><filemask>.*\.json</filemask></file></files>
			<include>Y</include><include_field>file</include_field><rownum>Y</rownum><rownum_field>nr</rownum_field><shortFileFieldName>short</shortFileFieldName><sizeFieldName>size</sizeFieldName>
			<fields><field><name>v</name><path>$.x[*].v</path><type>Integer</type></field></fields>` + more
	}
	c := transformtest.Case{Definition: json.JSONInput, XML: xml("<IsIgnoreEmptyFile>Y</IsIgnoreEmptyFile><addresultfile>Y</addresultfile>"), Vars: map[string]string{"DIR": dir}}
	out := transformtest.Run(t, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := []string{"1|" + dir + "/in/a.json|1|a.json|23", "2|" + dir + "/in/a.json|2|a.json|23", "3|" + dir + "/in/b.json|3|b.json|15"}
	if diff := cmp.Diff(want, out.Main()); diff != "" {
		t.Error(diff)
	}
	if got := out.Fields("main"); got != "v Integer, file String, nr Integer, short String, size Integer" {
		t.Error(got)
	}
	if got := len(out.Env.Results.(*transformtest.Results).Files); got != 2 {
		t.Errorf("%d result files, want 2", got)
	}
	c.XML = xml("")
	if out := transformtest.Run(t, c); out.Err == nil || !strings.Contains(out.Err.Error(), "empty.json is empty") {
		t.Errorf("an empty file gives %v", out.Err)
	}
	c.XML = strings.ReplaceAll(xml(""), "<filemask>.*", "<filemask>none.*")
	if out := transformtest.Run(t, c); out.Err == nil || !strings.Contains(out.Err.Error(), "no file found") {
		t.Errorf("no file gives %v", out.Err)
	}
	c.XML += "<doNotFailIfNoFile>Y</doNotFailIfNoFile>"
	if out := transformtest.Run(t, c); out.Err != nil || len(out.Main()) != 0 {
		t.Errorf("no file gives %v %v", out.Main(), out.Err)
	}
}

func TestJSONInputStreamsLargeArrays(t *testing.T) {
	dir := t.TempDir()
	var doc strings.Builder
	doc.WriteString(`{"meta":{"a":[{}]},"x":[`)
	const rows = 10000
	for i := range rows {
		if i > 0 {
			doc.WriteString(",\n")
		}
		doc.WriteString(`{"v":` + strings.Repeat("1", i%15+1) + `,"t":"` + strings.Repeat("y", i%50) + `"}`)
	}
	put(t, dir, "a.json", doc.String()+`]}`)
	out := transformtest.Run(t, transformtest.Case{
		Definition: json.JSONInput, Fixed: true, Env: inFolder(dir),
		XML: `<file><name>a.json</name><filemask/></file><fields><field><name>v</name><path>$.x[*].v</path><type>Integer</type></field><field><name>t</name><path>$.x[*].t</path></field></fields>`,
	})
	if out.Err != nil || len(out.Main()) != rows {
		t.Fatalf("%d rows, %v", len(out.Main()), out.Err)
	}
	if got := out.Main()[49]; got != "11111|"+strings.Repeat("y", 49) {
		t.Error(got)
	}
}

func TestJSONInputFileInField(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: json.JSONInput,
		XML: `<IsInFields>Y</IsInFields><IsAFile>Y</IsAFile><valueField>filename</valueField><removeSourceField>Y</removeSourceField><ignoreMissingPath>Y</ignoreMissingPath>
			<fields><field><name>name</name><path>$.fighters[*].name</path><type>String</type></field><field><name>power</name><path>$.fighters[*].power</path><type>Integer</type></field></fields>`,
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("filename", batch.String)}, Rows: [][]any{{"${SUITE}/json/resources/json-input-file-in-field-it.json"}}}},
		Vars:   map[string]string{"SUITE": suite(t)},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	golden, err := os.ReadFile(filepath.Join(suite(t), "json/datasets/golden-json-input-file-in-field.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(golden), ",", "|")), "\n")[1:]
	if diff := cmp.Diff(want, out.Main()); diff != "" {
		t.Error(diff)
	}
}

func TestJSONOutput(t *testing.T) {
	in := transformtest.Input{
		Fields: []batch.Field{field("id", batch.Integer), field("n", batch.Number), field("s", batch.String), field("ok", batch.Boolean)},
		Rows:   [][]any{{1, 1.0, "a\"/ä", true}, {2, nil, "", false}, {3, 1e10, nil, nil}},
	}
	const fields = `<fields><field><name>s</name><element>text</element></field><field><name>id</name></field><field><name>n</name></field><field><name>ok</name></field></fields>`
	const a, b, c = `{"text":"a\"/ä","id":1,"n":1.0,"ok":true}`, `{"text":"","id":2,"n":null,"ok":false}`, `{"text":null,"id":3,"n":1.0E10,"ok":null}`
	for name, c := range map[string]struct {
		xml   string
		rows  []string
		files []string
		empty bool
		err   string
	}{
		"field, one block": {
			xml:  `<operation_type>outputvalue</operation_type><outputValue>doc</outputValue>` + fields,
			rows: []string{`<null>|<null>|<null>|<null>|{"data":[` + a + `,` + b + `,` + c + `]}`},
		},
		"field, blocks": {
			xml:  `<operation_type>outputvalue</operation_type><nrRowsInBloc>2</nrRowsInBloc><jsonBloc>b</jsonBloc>` + fields,
			rows: []string{`2|<null>||N|{"b":[` + a + `,` + b + `]}`, `<null>|<null>|<null>|<null>|{"b":[` + c + `]}`},
		},
		"file": {
			xml:   `<operation_type>writetofile</operation_type><fileName>out/x</fileName><extension>json</extension><createParentFolder>Y</createParentFolder>` + fields,
			rows:  []string{"1|1.0|a\"/ä|Y", "2|<null>||N", "3|10000000000.0|<null>|<null>"},
			files: []string{`out/x.json: {"data":[` + a + `,` + b + `,` + c + `]}`},
		},
		"files per block": {
			xml:   `<operation_type>both</operation_type><fileName>x</fileName><extension>js</extension><nrRowsInBloc>2</nrRowsInBloc><encoding>ISO-8859-1</encoding><fields><field><name>s</name></field></fields>`,
			rows:  []string{`2|<null>||N|{"data":[{"s":"a\"/ä"},{"s":""}]}`, `<null>|<null>|<null>|<null>|{"data":[{"s":null}]}`},
			files: []string{"x_0.js: {\"data\":[{\"s\":\"a\\\"/\xe4\"},{\"s\":\"\"}]}", `x_1.js: {"data":[{"s":null}]}`},
		},
		"no rows":             {xml: `<fileName>x</fileName><doNotOpenNewFileInit>Y</doNotOpenNewFileInit>` + fields, empty: true},
		"no rows, early file": {xml: `<fileName>x</fileName>` + fields, empty: true, files: []string{"x: "}},
		"no file name":        {xml: fields, err: "file name: it is empty"},
		"no such field":       {xml: `<fileName>x</fileName><fields><field><name>q</name></field></fields>`, err: `field "q" not found; the input has id, n, s, ok`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			input := in
			if c.empty {
				input.Rows = nil
			}
			out := transformtest.Run(t, transformtest.Case{Definition: json.JSONOutput, XML: c.xml, Inputs: []transformtest.Input{input}, Env: inFolder(dir)})
			if c.err != "" {
				if out.Err == nil || !strings.Contains(out.Err.Error(), c.err) {
					t.Fatalf("error %v, want %q", out.Err, c.err)
				}
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.rows, out.Main()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.files, contents(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnhancedJSONOutput(t *testing.T) {
	in := transformtest.Input{
		Fields: []batch.Field{field("g", batch.String), field("v", batch.Integer), field("j", batch.String)},
		Rows:   [][]any{{"a", 1, `{"k":1.50}`}, {"a", nil, nil}, {"b", 3, `{"m":[]}`}},
	}
	key := func(element string) string {
		return `<key_fields><key_field><key_field_name>g</key_field_name><key_field_element>` + element + `</key_field_element></key_field></key_fields>`
	}
	const v = `<fields><field><name>v</name><element>v</element></field></fields>`
	for name, c := range map[string]struct {
		xml   string
		rows  []string
		files []string
		err   string
	}{
		"groups": {
			xml:  `<operation_type>outputvalue</operation_type><jsonBloc>r</jsonBloc><outputValue>doc</outputValue>` + key("") + v,
			rows: []string{`a|{"r":[{"v":1},{"v":null}]}`, `b|{"r":{"v":3}}`},
		},
		"lists, no block, size": {
			xml:  `<operation_type>outputvalue</operation_type><use_arrays_with_single_instance>Y</use_arrays_with_single_instance><additional_fields><json_size_field>size</json_size_field></additional_fields>` + key("") + v,
			rows: []string{`a|[{"v":1},{"v":null}]|20`, `b|[{"v":3}]|9`},
		},
		"one object per group": {
			xml:  `<operation_type>outputvalue</operation_type><jsonBloc>r</jsonBloc><use_single_item_per_group>Y</use_single_item_per_group>` + key("") + `<fields><field><name>g</name></field><field><name>v</name></field></fields>`,
			rows: []string{`a|{"r":{"g":"a","v":[1]}}`, `b|{"r":{"g":"b","v":[3]}}`},
		},
		"fragments": {
			xml: `<operation_type>outputvalue</operation_type>` + `<fields><field><name>v</name><remove_if_blank>Y</remove_if_blank></field><field><name>j</name><element>f</element><json_fragment>Y</json_fragment></field>
				<field><name>j</name><json_fragment>Y</json_fragment><is_without_enclosing>Y</is_without_enclosing></field></fields>`,
			rows: []string{`[{"v":1,"f":{"k":1.5},"k":1.5},{},{"v":3,"f":{"m":[]},"m":[]}]`},
		},
		"indented": {
			xml:  `<operation_type>outputvalue</operation_type><jsonBloc>r</jsonBloc><json_prittified>Y</json_prittified>` + v,
			rows: []string{"{\n  \"r\" : [ {\n    \"v\" : 1\n  }, {\n    \"v\" : null\n  }, {\n    \"v\" : 3\n  } ]\n}"},
		},
		"file": {
			xml:   `<operation_type>writetofile</operation_type><jsonBloc>r</jsonBloc><file><name>x</name><extention>json</extention></file>` + v,
			rows:  []string{`{"r":[{"v":1},{"v":null},{"v":3}]}`},
			files: []string{`x.json: {"r":[{"v":1},{"v":null},{"v":3}]}`},
		},
		"file of groups": {
			xml:   `<operation_type>both</operation_type><jsonBloc>r</jsonBloc><outputValue>doc</outputValue><file><name>x</name></file>` + key("G") + v,
			rows:  []string{`a|{"r":[{"v":1},{"v":null}]}`, `b|{"r":{"v":3}}`},
			files: []string{`x: {"r":[{"G":"a","doc":{"r":[{"v":1},{"v":null}]}},{"G":"b","doc":{"r":{"v":3}}}]}`},
		},
		"split": {
			xml:   `<operation_type>writetofile</operation_type><jsonBloc>r</jsonBloc><file><name>x</name><extension>json</extension><split_output_after>2</split_output_after></file>` + v,
			files: []string{`x_0.json: {"r":[{"v":1},{"v":null}]}`, `x_1.json: {"r":{"v":3}}`},
		},
		"bad fragment": {
			xml: `<operation_type>outputvalue</operation_type><fields><field><name>g</name><json_fragment>Y</json_fragment></field></fields>`,
			err: `field "g" is marked as a JSON fragment`,
		},
		"no such key": {xml: `<key_fields><key_field><key_field_name>q</key_field_name></key_field></key_fields>` + v, err: `key: field "q" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := transformtest.Run(t, transformtest.Case{Definition: json.EnhancedJSONOutput, XML: c.xml, Inputs: []transformtest.Input{in}, Env: inFolder(dir)})
			if c.err != "" {
				if out.Err == nil || !strings.Contains(out.Err.Error(), c.err) {
					t.Fatalf("error %v, want %q", out.Err, c.err)
				}
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.rows, out.Main()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.files, contents(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEnhancedJSONOutputStreams writes more than is kept in memory, without a hop
// that wants the document.
func TestEnhancedJSONOutputStreams(t *testing.T) {
	dir := t.TempDir()
	var rows [][]any
	var want strings.Builder
	for i := range 3000 {
		text := strings.Repeat("x", 60+i%7)
		rows = append(rows, []any{text})
		want.WriteString(`,{"s":"` + text + `"}`)
	}
	out := transformtest.Run(t, transformtest.Case{
		Definition: json.EnhancedJSONOutput, Fixed: true, Outputs: []string{}, Env: inFolder(dir),
		XML:    `<operation_type>writetofile</operation_type><jsonBloc>r</jsonBloc><file><name>x</name></file><fields><field><name>s</name></field></fields>`,
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("s", batch.String)}, Rows: rows}},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{`x: {"r":[` + want.String()[1:] + `]}`}, contents(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestJSONNormalizeGivesTheSuitesGoldenRows(t *testing.T) {
	for file, set := range map[string]string{
		"0008-json-normalize-orders": "golden-json-normalize-orders", "0009-json-normalize-root-array": "golden-json-normalize-root-array",
		"0010-json-normalize-complex": "golden-json-normalize-complex",
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(suite(t), "json", file+".hpl"))
			if err != nil {
				t.Fatal(err)
			}
			doc, err := hopxml.Parse(file, data)
			if err != nil {
				t.Fatal(err)
			}
			golden, err := os.ReadFile(filepath.Join(suite(t), "json/datasets", set+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			for _, el := range doc.Root().All("transform") {
				if el.Child("type").Text() != "JsonNormalizeInput" {
					continue
				}
				raw := strings.TrimSpace(string(el.Raw()))
				out := transformtest.Run(t, transformtest.Case{
					Definition: json.JSONNormalize, XML: strings.TrimSuffix(strings.TrimPrefix(raw, "<transform>"), "</transform>"),
					Vars: map[string]string{"HOP_UNIT_TESTS_FOLDER": filepath.Join(suite(t), "json")},
				})
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(golden), ",", "|")), "\n")
				columns := strings.Count(lines[0], "|") + 1
				var got []string
				for _, row := range out.Main() {
					got = append(got, strings.Join(strings.Split(row, "|")[:columns], "|"))
				}
				if diff := cmp.Diff(lines[1:], got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestJSONNormalize(t *testing.T) {
	f := func(name, path, typ string) string {
		return "<field><name>" + name + "</name><path>" + path + "</path><type>" + typ + "</type></field>"
	}
	for name, c := range map[string]struct {
		xml, doc string
		want     []string
		err      string
	}{
		"nested": {
			xml: `<ignoreMissingField>Y</ignoreMissingField><recordPath>$.r[*]</recordPath><fields>` + f("a", "x.y.z", "Integer") + f("t", "t", "String") + f("o", "x", "String") + `</fields>`,
			doc: `{"r":[{"x":{"y":{"z":7}},"t":["p",{"q":1}]},null,5]}`, want: []string{`7|["p",{"q":1}]|<null>`, "<null>|<null>|<null>", "<null>|<null>|<null>"},
		},
		"depth": {
			xml: `<maxFlattenDepth>1</maxFlattenDepth><recordPath>$.r</recordPath><fieldSeparator>_</fieldSeparator><fields>` + f("a", "x_y", "JSON") + `</fields>`,
			doc: `{"r":[{"x":{"y":{"z":7}}}]}`, want: []string{`{"z":7}`},
		},
		"too deep":        {xml: `<maxFlattenDepth>0</maxFlattenDepth><beyondDepthBehavior>ERROR</beyondDepthBehavior><fields>` + f("a", "x", "JSON") + `</fields>`, doc: `{"x":{"y":1}}`, err: "lies below the depth 0"},
		"left out":        {xml: `<maxFlattenDepth>0</maxFlattenDepth><beyondDepthBehavior>OMIT</beyondDepthBehavior><fields>` + f("a", "x", "JSON") + `</fields>`, doc: `{"x":{"y":1}}`, err: "path x is not in the record"},
		"only element":    {xml: `<arrayHandling>SINGLE_ELEMENT</arrayHandling><fields>` + f("a", "x.y", "Integer") + f("b", "e", "Integer") + `</fields>`, doc: `{"x":[{"y":1}],"e":[]}`, want: []string{"1|<null>"}},
		"two elements":    {xml: `<arrayHandling>SINGLE_ELEMENT</arrayHandling><fields>` + f("a", "x", "Integer") + `</fields>`, doc: `{"x":[1,2]}`, err: "has 2 elements"},
		"array refused":   {xml: `<arrayHandling>ERROR</arrayHandling><fields>` + f("a", "x", "Integer") + `</fields>`, doc: `{"x":[1]}`, err: "an array at x"},
		"array of arrays": {xml: `<recordPath>$[*]</recordPath><fields>` + f("a", "_", "Integer") + `</fields>`, doc: `[[1,2]]`, want: []string{"1", "2"}},
		"nothing":         {xml: `<recordPath>$.q[*]</recordPath><fields>` + f("a", "_", "Integer") + `</fields>`, doc: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{
				Definition: json.JSONNormalize, XML: `<IsInFields>Y</IsInFields><valueField>doc</valueField><removeSourceField>Y</removeSourceField>` + c.xml,
				Inputs: []transformtest.Input{{Fields: []batch.Field{field("doc", batch.String)}, Rows: [][]any{{c.doc}}}},
			})
			if (out.Err == nil) != (c.err == "") || (out.Err != nil && !strings.Contains(out.Err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", out.Err, c.err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" && c.err == "" {
				t.Error(diff)
			}
		})
	}
}
