package sheet_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/sheet"
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

func inFolder(dir string) func(*transform.Env) {
	return func(e *transform.Env) { e.Files = files.Local{Dir: dir} }
}

// suiteTransforms calls each with every transform of the family in Hop's
// projects.
func suiteTransforms(t *testing.T, each func(file string, d transform.Definition, el *hopxml.Element)) {
	t.Helper()
	byID := map[string]transform.Definition{}
	for _, d := range sheet.Transforms {
		byID[d.ID] = d
	}
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
		rel, _ := filepath.Rel(suite(t), p)
		for _, el := range doc.Root().All("transform") {
			if def, ok := byID[el.Child("type").Text()]; ok {
				each(rel, def, el)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSuiteSettings(t *testing.T) {
	for _, d := range sheet.Transforms {
		if _, err := d.Settings(); err != nil {
			t.Error(err)
		}
	}
	seen := 0
	suiteTransforms(t, func(file string, d transform.Definition, el *hopxml.Element) {
		seen++
		_, problems := d.Decode(el)
		for _, p := range problems {
			t.Errorf("%s: %s: %s", file, p.Setting, p.Message)
		}
	})
	if seen < 30 {
		t.Errorf("only %d transforms found", seen)
	}
}

// suiteInput runs an Excel input of a pipeline of the suite.
func suiteInput(t *testing.T, file, name string) *transformtest.Output {
	t.Helper()
	var out *transformtest.Output
	project := filepath.Join(suite(t), strings.SplitN(file, "/", 2)[0])
	suiteTransforms(t, func(f string, d transform.Definition, el *hopxml.Element) {
		if filepath.ToSlash(f) != file || el.Child("name").Text() != name {
			return
		}
		raw := strings.TrimSpace(string(el.Raw()))
		out = transformtest.Run(t, transformtest.Case{
			Definition: d, Fixed: true, XML: strings.TrimSuffix(strings.TrimPrefix(raw, "<transform>"), "</transform>"),
			Vars: map[string]string{"PROJECT_HOME": project, "EXCEL_FILE_PASSWORD": "Test123"},
		})
	})
	if out == nil {
		t.Fatalf("%s has no transform %q", file, name)
	}
	return out
}

func TestSuiteGoldenRows(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(suite(t), "transforms/datasets/golden-excel-input-basic-xls.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(data), ",", "|")), "\n")[1:]
	for _, kind := range []string{"xls", "xlsx", "ods"} {
		out := suiteInput(t, "transforms/0053-excel-input-"+kind+"-basic.hpl", "basic."+kind)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if diff := cmp.Diff(want, out.Main()); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func TestSuiteFormatsAgree(t *testing.T) {
	want := []string{"One|2010/09/07 00:00:00.000|75.0|Y|75.0", "Two|2010/09/08 00:00:00.000|42.0|N|117.0", "Three|2010/09/09 00:00:00.000|93.0|Y|210.0"}
	for _, c := range [][2]string{
		{"spreadsheet/00100-excelinput.hpl", "Microsoft Excel input ODS"},
		{"spreadsheet/00100-excelinput.hpl", "Microsoft Excel input XLS"},
		{"spreadsheet/00100-excelinput.hpl", "Microsoft Excel input XLSX"},
		{"spreadsheet/0013-plain-file-with-password.hpl", "Read protected file"},
		{"spreadsheet/0013-protected-password-from-variable.hpl", "Read protected file"},
		{"spreadsheet/0013-protected-xls-poi.hpl", "Read protected file"},
		{"spreadsheet/0013-protected-xlsx-poi.hpl", "Read protected file"},
	} {
		out := suiteInput(t, c[0], c[1])
		if out.Err != nil {
			t.Errorf("%v: %v", c, out.Err)
			continue
		}
		if diff := cmp.Diff(want, out.Main()); diff != "" {
			t.Errorf("%v: %s", c, diff)
		}
	}
	out := suiteInput(t, "spreadsheet/0013-protected-wrong-password.hpl", "Read protected file")
	if out.Err == nil || !strings.Contains(out.Err.Error(), "the password is wrong") {
		t.Errorf("a wrong password gives %v", out.Err)
	}
}

func TestSuiteFormulas(t *testing.T) {
	out := suiteInput(t, "transforms/0070-excel-input-formula-3670.hpl", "read xlsx with formulas")
	want := []string{"347.11|2024/02/27 00:00:00.000|abcdef|N", "34002.227|2024/02/17 00:00:00.000|foo bar|Y", "0.0|2021/01/01 00:00:00.000|dummy text|N"}
	var got []string
	for _, row := range out.Main() {
		got = append(got, strings.Join(strings.Split(row, "|")[4:], "|"))
	}
	if diff := cmp.Diff(want, got); diff != "" || out.Err != nil {
		t.Error(diff, out.Err)
	}
}

// TestDamagedWorkbooks changes bytes of the suite's workbooks: whatever comes of
// it, reading ends with rows or an error.
func TestDamagedWorkbooks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"basic.xls", "basic.xlsx", "basic.ods"} {
		data, err := os.ReadFile(filepath.Join(suite(t), "transforms/files/excel", name))
		if err != nil {
			t.Fatal(err)
		}
		damaged := 0
		for n := range 200 {
			bad := append([]byte(nil), data...)
			for k := range 1 + n%5 {
				bad[(n*7919+k*104729)%len(bad)] ^= byte(1 + n%255)
			}
			if n%10 == 0 {
				bad = bad[:len(bad)*n/200]
			}
			if err := os.WriteFile(filepath.Join(dir, name), bad, 0o644); err != nil {
				t.Fatal(err)
			}
			out := transformtest.Run(t, transformtest.Case{
				Definition: sheet.ExcelInput, Fixed: true, Env: inFolder(dir),
				XML: `<file><name>` + name + `</name></file><error_ignored>Y</error_ignored><fields><field><name>a</name><type>String</type></field></fields>`,
			})
			if out.Err != nil {
				damaged++
			}
		}
		if damaged == 0 {
			t.Errorf("%s: no damage was noticed", name)
		}
	}
}
