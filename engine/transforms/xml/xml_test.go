package xml_test

import (
	"archive/zip"
	"encoding/csv"
	"io"
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
	"sluice/engine/transforms/xml"
)

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

// TestSuiteSettings decodes every transform of the family in Hop's projects.
func TestSuiteSettings(t *testing.T) {
	byID := map[string]transform.Definition{}
	for _, d := range xml.Transforms {
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
	if seen < 50 {
		t.Errorf("only %d transforms found", seen)
	}
}

func fieldXML(name, path, typ, more string) string {
	return "<field><name>" + name + "</name><xPath>" + path + "</xPath><element_type>node</element_type><result_type>valueof</result_type><type>" + typ + "</type>" + more + "</field>"
}

func TestGetXMLDataFromField(t *testing.T) {
	const head = `<IsInFields>Y</IsInFields><XmlField>doc</XmlField>`
	for name, c := range map[string]struct {
		xml  string
		docs []any
		want []string
		err  string
	}{
		"types": {
			xml: `<loopxpath>r/x</loopxpath><fields>` + fieldXML("i", "i", "Integer", "<trim_type>both</trim_type>") + fieldXML("n", "n", "Number", "") +
				fieldXML("d", "d", "Date", "<format>yyyy-MM-dd</format>") + fieldXML("none", "q/r", "Integer", "") + fieldXML("s", "s", "String", "") +
				`<field><name>a</name><xPath>n/u</xPath><element_type>Attribute</element_type></field><field><name>x</name><xPath>s</xPath><result_type>singlenode</result_type></field></fields>`,
			docs: []any{`<r><x><i> 7 </i><n u="m">1.5</n><d>2024-02-03</d><s> b </s></x><x/></r>`},
			want: []string{"7|1.5|2024-02-03|<null>| b |m|<s> b </s>", "<null>|<null>|<null>|<null>|||"},
		},
		"repeat": {
			xml:  `<loopxpath>/r/x</loopxpath><fields>` + fieldXML("a", "@a", "String", "<repeat>Y</repeat>") + fieldXML("v", ".", "Integer", "") + `</fields>`,
			docs: []any{`<r><x a="p">1</x><x>2</x><x a="">3</x></r>`}, want: []string{"p|1", "p|2", "p|3"},
		},
		"tokens": {
			xml:  `<usetoken>Y</usetoken><loopxpath>/r/x</loopxpath><fields>` + fieldXML("k", "@k", "String", "") + fieldXML("v", "../m[@k=@_k-]/@v", "String", "") + `</fields>`,
			docs: []any{`<r><x k="p"/><x k="it's"/><x/><m k="p" v="1"/><m k="it's" v="2"/></r>`}, want: []string{"p|1", "it's|2", "|"},
		},
		"namespaces off":      {xml: `<loopxpath>/r/x</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{`<r xmlns="u"><x>1</x></r>`}},
		"namespaces on":       {xml: `<namespaceaware>Y</namespaceaware><loopxpath>/r/x</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{`<r xmlns="u"><x>1</x></r>`}, want: []string{"1"}},
		"limit":               {xml: `<limit>2</limit><loopxpath>/r/x</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{`<r><x>1</x><x>2</x><x>3</x></r>`}, want: []string{"1", "2"}},
		"declared otherwise":  {xml: `<loopxpath>/r</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{`<?xml version="1.0" encoding="ISO-8859-1"?><r>ä</r>`}, want: []string{"ä"}},
		"no nodes":            {xml: `<loopxpath>/q</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{`<r/>`}},
		"null":                {xml: `<loopxpath>/q</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{nil}, err: `field "doc" is null`},
		"not XML":             {xml: `<loopxpath>/q</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{"<a>"}, err: "has no end"},
		"not a number":        {xml: `<loopxpath>/r</loopxpath><fields>` + fieldXML("v", ".", "Integer", "") + `</fields>`, docs: []any{"<r>x</r>"}, err: `"x" cannot become Integer`},
		"bad XPath":           {xml: `<loopxpath>/r</loopxpath><fields>` + fieldXML("v", "a[", "Integer", "") + `</fields>`, docs: []any{"<r/>"}, err: `field "v": XPath`},
		"no loop":             {xml: `<fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{"<r/>"}, err: "loop XPath is empty"},
		"loop over attribute": {xml: `<loopxpath>/r/@a</loopxpath><fields>` + fieldXML("v", ".", "String", "") + `</fields>`, docs: []any{`<r a="1"/>`}, err: "must find elements"},
	} {
		t.Run(name, func(t *testing.T) {
			var rows [][]any
			for i, d := range c.docs {
				rows = append(rows, []any{d, i})
			}
			out := transformtest.Run(t, transformtest.Case{
				Definition: xml.GetXMLData, XML: head + c.xml,
				Inputs: []transformtest.Input{{Fields: []batch.Field{field("doc", batch.String), field("nr", batch.Integer)}, Rows: rows}},
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
			var got []string
			for _, row := range out.Main() {
				_, rest, _ := strings.Cut(row, "|0|")
				got = append(got, rest)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGetXMLDataSendsBadRowsToTheErrorHop(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: xml.GetXMLData,
		XML:        `<IsInFields>Y</IsInFields><XmlField>doc</XmlField><loopxpath>/r/x</loopxpath><fields>` + fieldXML("v", ".", "Integer", "") + `</fields>`,
		Inputs:     []transformtest.Input{{Fields: []batch.Field{field("doc", batch.String)}, Rows: [][]any{{"<r><x>1</x><x>q</x><x>3</x></r>"}, {"<r>"}, {"<r><x>4</x></r>"}}}},
		Error:      &transform.ErrorLink{Target: "bad", CodeField: "code"},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	var got []string
	for _, row := range out.Main() {
		got = append(got, row[strings.LastIndex(row, "|")+1:])
	}
	if diff := cmp.Diff([]string{"1", "3", "4"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"<r><x>1</x><x>q</x><x>3</x></r>|GetXMLData001", "<r>|GetXMLData002"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
}

// golden reads a data set of the suite: rows without the header, values joined
// by "|".
func golden(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(suite(t), "xml/datasets", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range records[1:] {
		rows = append(rows, strings.Join(r, "|"))
	}
	return rows
}

// suiteTransform gives the settings of a transform of a suite's pipeline.
func suiteTransform(t *testing.T, file, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(suite(t), file))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := hopxml.Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, el := range doc.Root().All("transform") {
		if el.Child("name").Text() == name {
			raw := strings.TrimSpace(string(el.Raw()))
			return strings.TrimSuffix(strings.TrimPrefix(raw, "<transform>"), "</transform>")
		}
	}
	t.Fatalf("%s has no transform %q", file, name)
	return ""
}

func TestGetXMLDataGivesTheSuitesGoldenRows(t *testing.T) {
	vars := map[string]string{"PROJECT_HOME": filepath.Join(suite(t), "xml")}
	items := transformtest.Run(t, transformtest.Case{
		Definition: xml.GetXMLData, XML: suiteTransform(t, "xml/0010-get-data-from-xml-nested.hpl", "Get items"), Vars: vars,
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("filePath", batch.String)}, Rows: [][]any{{"${PROJECT_HOME}/files/itemlist.xml"}}}},
	})
	if items.Err != nil {
		t.Fatal(items.Err)
	}
	in := transformtest.Input{Fields: items.Schemas[transform.Main].Fields}
	for _, row := range items.Main() {
		v := strings.Split(row, "|")
		in.Rows = append(in.Rows, []any{v[0], v[1], map[string]float64{"0.55": 0.55, "0.75": 0.75, "0.65": 0.65}[v[2]], v[3], v[4]})
	}
	batters := transformtest.Run(t, transformtest.Case{
		Definition: xml.GetXMLData, XML: suiteTransform(t, "xml/0010-get-data-from-xml-nested.hpl", "Get Batters"), Vars: vars,
		Inputs: []transformtest.Input{in},
	})
	if batters.Err != nil {
		t.Fatal(batters.Err)
	}
	if diff := cmp.Diff(golden(t, "golden-get-data-from-xml-nested.csv"), batters.Main()); diff != "" {
		t.Error(diff)
	}
	simple := transformtest.Run(t, transformtest.Case{Definition: xml.GetXMLData, XML: suiteTransform(t, "xml/0010-get-data-from-xml.hpl", "Get data from XML"), Vars: vars})
	if simple.Err != nil {
		t.Fatal(simple.Err)
	}
	if diff := cmp.Diff(golden(t, "golden-get-data-from-xml.csv"), simple.Main()); diff != "" {
		t.Error(diff)
	}
}

func TestGetXMLDataPrunes(t *testing.T) {
	dir := t.TempDir()
	doc := `<r><head><y>0</y></head>` + strings.Repeat("<x><y>1</y><y>2</y></x>\n", 5000) + "</r>"
	if err := os.WriteFile(filepath.Join(dir, "a.xml"), []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(loop, prune string) []string {
		out := transformtest.Run(t, transformtest.Case{
			Definition: xml.GetXMLData, Fixed: true, Env: func(e *transform.Env) { e.Files = files.Local{Dir: dir} },
			XML: `<file><name>a.xml</name></file><loopxpath>` + loop + `</loopxpath><prunePath>` + prune + `</prunePath><fields>` + fieldXML("v", "y", "Integer", "") + fieldXML("d", ".", "String", "") + `</fields>`,
		})
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		return out.Main()
	}
	for _, loop := range []string{"/r/x", "/r/x/y"} {
		if diff := cmp.Diff(run(loop, ""), run(loop, "/r/x")); diff != "" {
			t.Errorf("loop %s: pruned rows differ", loop)
		}
	}
}

func TestAddXML(t *testing.T) {
	in := transformtest.Input{
		Fields: []batch.Field{field("id", batch.Integer), field("n", batch.Number), field("s", batch.String)},
		Rows:   [][]any{{1234567, 0.5, "a<b>\"&'ä\n€"}, {nil, nil, ""}},
	}
	for name, c := range map[string]struct{ xml, want string }{
		"elements": {
			`<fields><field><name>id</name></field><field><name>n</name><element>num</element><format>0.00</format></field><field><name>s</name></field></fields>`,
			`<?xml version="1.0" encoding="UTF-8" standalone="no"?><Row><id>1,234,567</id><num>0.50</num><s>a&lt;b&gt;"&amp;'ä` + "\n" + `€</s></Row>
<?xml version="1.0" encoding="UTF-8" standalone="no"?><Row><id/><num/><s/></Row>`,
		},
		"attributes in order, reference": {
			`<encoding>ISO-8859-1</encoding><xml_repeat_element>R</xml_repeat_element><file><omitXMLheader>Y</omitXMLheader></file>
			<fields><field><name>s</name><attribute>Y</attribute></field><field><name>id</name><format>#</format><attribute>Y</attribute><nullif>-</nullif></field></fields>`,
			`<R id="1234567" s="a&lt;b&gt;&quot;&amp;'ä&#10;&#8364;"/>
<R id="-" s=""/>`,
		},
		"omit nulls, parent, root text": {
			`<file><omitXMLheader>Y</omitXMLheader><omitNullValues>Y</omitNullValues></file>
			<fields><field><name>n</name></field><field><name>id</name><format>0</format><attribute>Y</attribute><attributeParentName>n</attributeParentName></field><field><name>n</name><element>Row</element></field></fields>`,
			`<Row><n id="1234567">0.5</n>0.5</Row>
<Row/>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: xml.AddXML, XML: `<valueName>x</valueName>` + c.xml, Inputs: []transformtest.Input{in}})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			var got []string
			for _, row := range out.Main() {
				at := strings.Index(row, "<R")
				if h := strings.Index(row, "<?xml"); h >= 0 {
					at = h
				}
				got = append(got, row[at:])
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
	bad := transformtest.Run(t, transformtest.Case{Definition: xml.AddXML, XML: `<fields><field><name>id</name><element>1 x</element></field></fields>`, Inputs: []transformtest.Input{in}})
	if bad.Err == nil || !strings.Contains(bad.Err.Error(), "cannot be a name in XML") {
		t.Errorf("a bad element name gives %v", bad.Err)
	}
}

func TestXMLOutput(t *testing.T) {
	in := transformtest.Input{
		Fields: []batch.Field{field("id", batch.Integer), field("s", batch.String)},
		Rows:   [][]any{{1, "a<b"}, {2, nil}, {3, ""}},
	}
	const head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	for name, c := range map[string]struct {
		xml   string
		empty bool
		files []string
	}{
		"all fields": {
			xml:   `<file><name>x</name><extention>xml</extention></file>`,
			files: []string{"x.xml: " + head + "<Rows>\n<Row><id>1</id> <s>a&lt;b</s></Row>\n<Row><id>2</id> <s/></Row>\n<Row><id>3</id> <s></s></Row>\n</Rows>\n"},
		},
		"fields and attributes": {
			xml: `<xml_main_element>M</xml_main_element><xml_repeat_element>r</xml_repeat_element><name_space>urn:x</name_space><encoding>ISO-8859-1</encoding><file><name>x</name><omit_null_values>Y</omit_null_values></file>
				<fields><field><content_type>Attribute</content_type><name>id</name><format>000</format><element>nr</element></field><field><name>s</name></field></fields>`,
			files: []string{"x.xml: <?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<M xmlns=\"urn:x\">\n<r nr=\"001\"><s>a&lt;b</s></r>\n<r nr=\"002\"></r>\n<r nr=\"003\"></r>\n</M>\n"},
		},
		"split": {
			xml: `<file><name>x</name><splitevery>2</splitevery></file><fields><field><name>id</name><format>0</format></field></fields>`,
			files: []string{
				"x_00001.xml: " + head + "<Rows>\n<Row><id>1</id></Row>\n<Row><id>2</id></Row>\n</Rows>\n",
				"x_00002.xml: " + head + "<Rows>\n<Row><id>3</id></Row>\n</Rows>\n",
			},
		},
		"no rows":            {xml: `<file><name>x</name></file>`, empty: true, files: []string{"x.xml: " + head + "<Rows>\n</Rows>\n"}},
		"no rows, late file": {xml: `<file><name>x</name><do_not_open_newfile_init>Y</do_not_open_newfile_init></file>`, empty: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			input := in
			if c.empty {
				input.Rows = nil
			}
			out := transformtest.Run(t, transformtest.Case{Definition: xml.XMLOutput, XML: c.xml, Inputs: []transformtest.Input{input}, Env: func(e *transform.Env) { e.Files = files.Local{Dir: dir} }})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if len(out.Main()) != len(input.Rows) {
				t.Errorf("%d rows passed on, want %d", len(out.Main()), len(input.Rows))
			}
			if diff := cmp.Diff(c.files, contents(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestXMLOutputZips(t *testing.T) {
	dir := t.TempDir()
	out := transformtest.Run(t, transformtest.Case{
		Definition: xml.XMLOutput, XML: `<file><name>x</name><zipped>Y</zipped></file>`, Env: func(e *transform.Env) { e.Files = files.Local{Dir: dir} },
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("a", batch.String)}, Rows: [][]any{{"1"}}}},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	z, err := zip.OpenReader(filepath.Join(dir, "x.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open("x.xml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || !strings.Contains(string(text), "<Row><a>1</a></Row>\n</Rows>") {
		t.Errorf("%q %v", text, err)
	}
}
