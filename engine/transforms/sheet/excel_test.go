package sheet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/sheet"
)

var when = time.Date(2024, 2, 29, 13, 45, 30, 0, time.UTC)

func sample() transformtest.Input {
	big, _ := decimal.Parse("12.5")
	return transformtest.Input{
		Fields: []batch.Field{field("s", batch.String), field("i", batch.Integer), field("n", batch.Number), field("b", batch.Boolean), field("d", batch.Date), field("g", batch.BigNumber)},
		Rows:   [][]any{{"one", 1, 1.25, true, when, big}, {nil, nil, nil, nil, nil, nil}, {" <&>  \t\n", -3, 1e10, false, when.AddDate(-100, 0, 0), big}},
	}
}

func write(t *testing.T, dir, xml string, in transformtest.Input) *transformtest.Output {
	t.Helper()
	return transformtest.Run(t, transformtest.Case{Definition: sheet.ExcelWriter, Fixed: true, XML: xml, Inputs: []transformtest.Input{in}, Env: inFolder(dir)})
}

// cells gives the texts of a sheet, a row per line.
func cells(t *testing.T, file, name string) string {
	t.Helper()
	f, err := excelize.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.GetRows(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r, "|"))
	}
	return strings.Join(lines, "\n")
}

const excelFields = `<fields><field><name>s</name><type>String</type></field><field><name>i</name><type>Integer</type></field><field><name>n</name><type>Number</type></field>
	<field><name>b</name><type>Boolean</type></field><field><name>d</name><type>Date</type><format>yyyy-MM-dd HH:mm:ss</format></field><field><name>g</name><type>BigNumber</type></field></fields>`

func TestWriterAndInputRoundTrip(t *testing.T) {
	for name, c := range map[string]struct{ more, extension string }{
		"streamed":     {"", "xlsx"},
		"cell by cell": {"<autosizecolums>Y</autosizecolums>", "xlsx"},
		"OpenDocument": {"", "ods"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := write(t, dir, "<file>"+c.more+`<name>out/x</name><extension>`+c.extension+`</extension><createParentFolder>Y</createParentFolder></file><header>Y</header><add_to_result_filenames>Y</add_to_result_filenames>`, sample())
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if len(out.Main()) != 3 || len(out.Env.Results.(*transformtest.Results).Files) != 1 {
				t.Errorf("rows %v", out.Main())
			}
			in := transformtest.Run(t, transformtest.Case{
				Definition: sheet.ExcelInput, Fixed: true, Env: inFolder(dir),
				XML: `<file><name>out/x.` + c.extension + `</name></file><header>Y</header><noempty>N</noempty><sheetfield>sheet</sheetfield><sheetrownumfield>row</sheetrownumfield><rownumfield>nr</rownumfield>` + excelFields,
			})
			if in.Err != nil {
				t.Fatal(in.Err)
			}
			want := []string{
				"one|1|1.25|Y|2024-02-29 13:45:30|12.5|Sheet1|2|1",
				"<null>|<null>|<null>|<null>|<null>|<null>|Sheet1|3|2",
				" <&>  \t\n|-3|10000000000.0|N|1924-02-29 13:45:30|12.5|Sheet1|4|3",
			}
			if diff := cmp.Diff(want, in.Main()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func numbers(values ...int) transformtest.Input {
	in := transformtest.Input{Fields: []batch.Field{field("v", batch.Integer)}}
	for _, v := range values {
		in.Rows = append(in.Rows, []any{v})
	}
	return in
}

func TestWriterPlaces(t *testing.T) {
	const name = `<name>x</name><extension>xlsx</extension>`
	for label, c := range map[string]struct{ xml, want string }{
		"starting cell":       {`<file>` + name + `</file><header>Y</header><startingCell>B3</startingCell>`, "\n\n|v\n|7\n|8"},
		"footer":              {`<file>` + name + `</file><header>N</header><footer>Y</footer>`, "7\n8\nv"},
		"reuse, overwrite":    {`<file>` + name + `<if_file_exists>reuse</if_file_exists><if_sheet_exists>reuse</if_sheet_exists></file><header>Y</header>`, "v\n7\n8\n3"},
		"append":              {`<file>` + name + `<if_file_exists>reuse</if_file_exists><if_sheet_exists>reuse</if_sheet_exists></file><header>Y</header><appendLines>Y</appendLines><appendOmitHeader>Y</appendOmitHeader>`, "v\n1\n2\n3\n7\n8"},
		"append with a gap":   {`<file>` + name + `<if_file_exists>reuse</if_file_exists><if_sheet_exists>reuse</if_sheet_exists></file><header>Y</header><appendLines>Y</appendLines><appendEmpty>1</appendEmpty>`, "v\n1\n2\n3\n\nv\n7\n8"},
		"offset":              {`<file>` + name + `<if_file_exists>reuse</if_file_exists><if_sheet_exists>reuse</if_sheet_exists></file><header>N</header><appendLines>Y</appendLines><appendOffset>-1</appendOffset>`, "v\n1\n2\n7\n8"},
		"push":                {`<file>` + name + `<if_file_exists>reuse</if_file_exists><if_sheet_exists>reuse</if_sheet_exists></file><header>N</header><startingCell>A2</startingCell><rowWritingMethod>push</rowWritingMethod>`, "v\n7\n8\n1\n2\n3"},
		"new sheet, old file": {`<file>` + name + `<if_file_exists>reuse</if_file_exists><if_sheet_exists>new</if_sheet_exists></file><header>N</header>`, "7\n8"},
		"new file":            {`<file>` + name + `</file><header>N</header>`, "7\n8"},
	} {
		t.Run(label, func(t *testing.T) {
			dir := t.TempDir()
			if out := write(t, dir, `<file>`+name+`</file><header>Y</header>`, numbers(1, 2, 3)); out.Err != nil {
				t.Fatal(out.Err)
			}
			if out := write(t, dir, c.xml, numbers(7, 8)); out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, cells(t, filepath.Join(dir, "x.xlsx"), "Sheet1")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWriterFiles(t *testing.T) {
	list := func(dir string) string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name()+"="+strings.ReplaceAll(cells(t, filepath.Join(dir, e.Name()), "Sheet1"), "\n", ","))
		}
		return strings.Join(names, " ")
	}
	named := transformtest.Input{Fields: []batch.Field{field("f", batch.String), field("v", batch.Integer)}, Rows: [][]any{{"a", 1}, {"b", 2}, {"a", 3}}}
	for label, c := range map[string]struct {
		xml  string
		in   transformtest.Input
		want string
	}{
		"split":        {`<file><name>x</name><extension>xlsx</extension><splitevery>2</splitevery></file><header>Y</header>`, numbers(1, 2, 3), "x_0.xlsx=v,1,2 x_1.xlsx=v,3"},
		"name in row":  {`<file><extension>xlsx</extension><filename_in_field>Y</filename_in_field><filename_field>f</filename_field></file><header>N</header><fields><field><name>v</name></field></fields>`, named, "a.xlsx=1,3 b.xlsx=2"},
		"no rows":      {`<file><name>x</name><extension>xlsx</extension></file><header>Y</header>`, numbers(), "x.xlsx=v"},
		"no rows late": {`<file><name>x</name><extension>xlsx</extension><do_not_open_newfile_init>Y</do_not_open_newfile_init></file><header>Y</header>`, numbers(), ""},
	} {
		t.Run(label, func(t *testing.T) {
			dir := t.TempDir()
			if out := write(t, dir, c.xml, c.in); out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, list(dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWriterStylesLinksCommentsFormulas(t *testing.T) {
	dir := t.TempDir()
	template := excelize.NewFile()
	bold, err := template.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := template.SetCellStyle("Sheet1", "Z1", "Z1", bold); err != nil {
		t.Fatal(err)
	}
	if err := template.SaveAs(filepath.Join(dir, "template.xlsx")); err != nil {
		t.Fatal(err)
	}
	in := transformtest.Input{
		Fields: []batch.Field{field("v", batch.Number), field("f", batch.String), field("link", batch.String), field("note", batch.String), field("who", batch.String)},
		Rows:   [][]any{{1.5, "A2*2", "https://example.org/", "look", "me"}, {2.5, "A3*2", nil, nil, nil}},
	}
	out := write(t, dir, `<file><name>x</name><extension>xlsx</extension><sheetname>Data</sheetname></file><template><enabled>Y</enabled><filename>template.xlsx</filename><sheet_enabled>Y</sheet_enabled><sheetname>Sheet1</sheetname><hidden>Y</hidden></template>
		<header>Y</header><makeSheetActive>Y</makeSheetActive><forceFormulaRecalculation>Y</forceFormulaRecalculation>
		<fields><field><name>v</name><title>Value</title><titleStyleCell>Z1</titleStyleCell><styleCell>Sheet1!$Z$1</styleCell><format>0.00</format><hyperlinkField>link</hyperlinkField><commentField>note</commentField><commentAuthorField>who</commentAuthorField></field>
		<field><name>f</name><formula>Y</formula></field></fields>`, in)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	f, err := excelize.OpenFile(filepath.Join(dir, "x.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if diff := cmp.Diff("Value|f\n1.50|\n2.50|", cells(t, filepath.Join(dir, "x.xlsx"), "Data")); diff != "" {
		t.Error(diff)
	}
	if got, _ := f.GetCellFormula("Data", "B3"); got != "A3*2" {
		t.Errorf("formula %q", got)
	}
	if ok, link, _ := f.GetCellHyperLink("Data", "A2"); !ok || link != "https://example.org/" {
		t.Errorf("link %v %q", ok, link)
	}
	comments, err := f.GetComments("Data")
	if err != nil || len(comments) != 1 || comments[0].Cell != "A2" || comments[0].Author != "me" {
		t.Errorf("comments %v %v", comments, err)
	}
	for cell, underlined := range map[string]bool{"A2": true, "A3": false} {
		id, _ := f.GetCellStyle("Data", cell)
		style, err := f.GetStyle(id)
		if err != nil || style.Font == nil || !style.Font.Bold || (style.Font.Underline == "single") != underlined {
			t.Errorf("%s has style %+v, %v", cell, style.Font, err)
		}
	}
	if visible, _ := f.GetSheetVisible("Sheet1"); visible {
		t.Error("the template sheet is not hidden")
	}
	if f.GetSheetName(f.GetActiveSheetIndex()) != "Data" {
		t.Error("the sheet is not active")
	}
}

func TestWriterRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		xml string
		in  transformtest.Input
		err string
	}{
		"xls":              {`<file><extension>xls</extension></file>`, numbers(1), "set the extension to xlsx"},
		"ods template":     {`<file><extension>ods</extension></file><template><enabled>Y</enabled></template>`, numbers(1), "templates are not supported for .ods"},
		"ods reuse":        {`<file><extension>ods</extension><if_file_exists>reuse</if_file_exists></file>`, numbers(1), "cannot be added to"},
		"long sheet name":  {`<file><extension>xlsx</extension><sheetname>` + strings.Repeat("x", 32) + `</sheetname></file>`, numbers(1), "longer than the 31 characters"},
		"no template":      {`<file><extension>xlsx</extension></file><template><enabled>Y</enabled><filename>none.xlsx</filename></template>`, numbers(1), "template none.xlsx does not exist"},
		"other template":   {`<file><extension>xlsx</extension></file><template><enabled>Y</enabled><filename>none.xls</filename></template>`, numbers(1), "the same extension"},
		"no such field":    {`<file><extension>xlsx</extension></file><fields><field><name>q</name></field></fields>`, numbers(1), `field "q" not found; the input has v`},
		"long text":        {`<file><extension>xlsx</extension></file>`, transformtest.Input{Fields: []batch.Field{field("s", batch.String)}, Rows: [][]any{{strings.Repeat("x", 40000)}}}, "a cell holds 32767"},
		"date before 1900": {`<file><extension>xlsx</extension></file>`, transformtest.Input{Fields: []batch.Field{field("d", batch.Date)}, Rows: [][]any{{time.Date(1899, 1, 1, 0, 0, 0, 0, time.UTC)}}}, "before 1900"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := write(t, dir, c.xml, c.in)
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.err) {
				t.Errorf("error %v, want %q", out.Err, c.err)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("files were left: %v", entries)
			}
		})
	}
}

func TestInputSheetsAndErrors(t *testing.T) {
	dir := t.TempDir()
	f := excelize.NewFile()
	for _, name := range []string{"Sheet1", "Data 1", "Data 2"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for cell, v := range map[string]any{"B2": "id", "B3": 1, "C3": name, "B5": "x", "C5": 2.5, "B6": 3, "C6": nil} {
			if err := f.SetCellValue(name, cell, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.SaveAs(filepath.Join(dir, "a.xlsx")); err != nil {
		t.Fatal(err)
	}
	const fields = `<fields><field><name>id</name><type>Integer</type></field><field><name>t</name><type>String</type><repeat>Y</repeat></field></fields>`
	for name, c := range map[string]struct {
		xml  string
		want []string
		err  string
	}{
		"regex, ignored errors": {
			xml:  `<header>Y</header><noempty>Y</noempty><error_ignored>Y</error_ignored><sheets><sheet><name>Data.*</name><startrow>1</startrow><startcol>1</startcol><is_regex>Y</is_regex></sheet></sheets>`,
			want: []string{"1|Data 1", "<null>|2.5", "3|2.5", "1|Data 2", "<null>|2.5", "3|2.5"},
		},
		"skipped errors": {
			xml:  `<header>Y</header><noempty>Y</noempty><error_ignored>Y</error_ignored><error_line_skipped>Y</error_line_skipped><sheets><sheet><name>Data 1</name><startrow>1</startrow><startcol>1</startcol></sheet></sheets>`,
			want: []string{"1|Data 1", "3|Data 1"},
		},
		"empty rows": {
			xml:  `<header>Y</header><noempty>N</noempty><error_ignored>Y</error_ignored><sheets><sheet><name>Data 1</name><startrow>1</startrow><startcol>1</startcol></sheet></sheets>`,
			want: []string{"1|Data 1", "<null>|Data 1", "<null>|2.5", "3|2.5"},
		},
		"stop on empty": {
			xml:  `<header>Y</header><noempty>Y</noempty><stoponempty>Y</stoponempty><sheets><sheet><name>Data 1</name><startrow>1</startrow><startcol>1</startcol></sheet></sheets>`,
			want: []string{"1|Data 1"},
		},
		"all sheets, limit": {
			xml:  `<header>Y</header><noempty>Y</noempty><limit>4</limit><error_ignored>Y</error_ignored><sheets><sheet><name/><startrow>1</startrow><startcol>1</startcol></sheet></sheets>`,
			want: []string{"1|Sheet1", "<null>|2.5", "3|2.5", "1|Data 1"},
		},
		"error": {
			xml: `<header>Y</header><noempty>Y</noempty><sheets><sheet><name>Data 1</name><startrow>1</startrow><startcol>1</startcol></sheet></sheets>`,
			err: `sheet "Data 1", cell B5`,
		},
		"strict": {
			xml: `<header>Y</header><noempty>Y</noempty><strict_types>Y</strict_types><sheets><sheet><name>Data 1</name><startrow>1</startrow><startcol>1</startcol></sheet></sheets>`,
			err: "the cell holds a String, but the field is Integer",
		},
		"no such sheet": {xml: `<header>Y</header><sheets><sheet><name>none</name></sheet></sheets>`},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: sheet.ExcelInput, Fixed: true, Env: inFolder(dir), XML: `<file><name>a.xlsx</name></file>` + c.xml + fields})
			if c.err != "" {
				if out.Err == nil || !strings.Contains(out.Err.Error(), c.err) {
					t.Errorf("error %v, want %q", out.Err, c.err)
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
	accepted := transformtest.Run(t, transformtest.Case{
		Definition: sheet.ExcelInput, Env: inFolder(dir),
		XML:    `<accept_filenames>Y</accept_filenames><accept_field>f</accept_field><header>Y</header><noempty>Y</noempty><stoponempty>Y</stoponempty><sheets><sheet><name>Data 1</name><startrow>1</startrow><startcol>1</startcol></sheet></sheets>` + fields,
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("f", batch.String)}, Rows: [][]any{{"a.xlsx"}, {"a.xlsx"}}}},
	})
	if diff := cmp.Diff([]string{"1|Data 1", "1|Data 1"}, accepted.Main()); diff != "" || accepted.Err != nil {
		t.Error(diff, accepted.Err)
	}
	damaged := filepath.Join(dir, "b.xlsx")
	if err := os.WriteFile(damaged, []byte("a,b"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := transformtest.Run(t, transformtest.Case{Definition: sheet.ExcelInput, Fixed: true, Env: inFolder(dir), XML: `<file><name>b.xlsx</name></file>` + fields})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "is no .xlsx, .xls or .ods workbook") {
		t.Errorf("a text file gives %v", out.Err)
	}
}
