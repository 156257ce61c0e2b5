package text_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

// tree makes files below the environment's folder and tells where that is.
func tree(t *testing.T, root *string, names ...string) func(*transform.Env) {
	return func(env *transform.Env) {
		for _, name := range names {
			w, err := env.Files.Create(t.Context(), name, files.CreateOptions{Parents: true})
			if err == nil {
				_, err = io.WriteString(w, name)
				err = errors.Join(err, w.Commit())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		*root = env.Files.(files.Local).Dir
	}
}

// columnsOf keeps some values of rows and cuts the root off paths.
func columnsOf(rows []string, root string, at ...int) []string {
	var out []string
	for _, r := range rows {
		words := strings.Split(r, "|")
		var kept []string
		for _, k := range at {
			kept = append(kept, strings.TrimPrefix(strings.TrimPrefix(words[k], root), "/"))
		}
		out = append(out, strings.Join(kept, "|"))
	}
	return out
}

func TestGetFileNames(t *testing.T) {
	var root string
	setup := tree(t, &root, "d/b.txt", "d/a.txt", "d/s/c.txt", "d/s/.hid", "e/z.tar.gz")
	item := func(name, mask, exclude, sub string) string {
		return "<name>" + name + "</name><filemask>" + mask + "</filemask><exclude_filemask>" + exclude + "</exclude_filemask><file_required>N</file_required><include_subfolders>" + sub + "</include_subfolders>"
	}
	cases := map[string]struct {
		xml  string
		want []string // path, type, size, extension
	}{
		"one folder":   {"<file>" + item("d", "", "", "N") + "</file>", []string{"d/a.txt|file|7|txt", "d/b.txt|file|7|txt", "d/s|folder|<null>|"}},
		"files only":   {"<file>" + item("d", "", "", "N") + "</file><filter><filterfiletype>only_files</filterfiletype></filter>", []string{"d/a.txt|file|7|txt", "d/b.txt|file|7|txt"}},
		"folders only": {"<file>" + item("d", "", "", "Y") + "</file><filter><filterfiletype>only_folders</filterfiletype></filter>", []string{"d/s|folder|<null>|"}},
		"masks":        {"<file>" + item("d", `.*\.txt`, "b.*", "Y") + "</file>", []string{"d/a.txt|file|7|txt", "d/s/c.txt|file|9|txt"}},
		"sorted":       {"<file>" + item("e", "", "", "N") + item("d/b.txt", "", "", "N") + "</file>", []string{"d/b.txt|file|7|txt", "e/z.tar.gz|file|10|gz"}},
		"limit":        {"<limit>1</limit><file>" + item("d", "", "", "N") + "</file>", []string{"d/a.txt|file|7|txt"}},
		"none":         {"<doNotFailIfNoFile>N</doNotFailIfNoFile><file>" + item("gone", "", "", "N") + "</file>", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: text.GetFileNames, XML: c.xml, Env: setup, Fixed: true})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, columnsOf(out.Main(), root, 0, 3, 9, 10)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGetFileNamesFacts(t *testing.T) {
	var root string
	out := transformtest.Run(t, transformtest.Case{
		Definition: text.GetFileNames, Fixed: true, Env: tree(t, &root, "d/.h.txt"),
		XML: "<file><name>d</name></file><rownum>Y</rownum><rownum_field>nr</rownum_field><isaddresult>Y</isaddresult>",
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	path := filepath.Join(root, "d", ".h.txt")
	words := strings.Split(out.Main()[0], "|")
	words[8] = "" // time of change
	want := []string{path, ".h.txt", filepath.Join(root, "d"), "file", "Y", "Y", "Y", "Y", "", "8", "txt", "file://" + path, "file:///", "1"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	if got, want := out.Fields(transform.Main), "filename String, short_filename String, path String, type String, exists Boolean, ishidden Boolean, isreadable Boolean, iswriteable Boolean, lastmodifiedtime Date, size Integer, extension String, uri String, rooturi String, nr Integer"; got != want {
		t.Error(got)
	}
	if f := out.Env.Results.(*transformtest.Results).Files; len(f) != 1 || f[0].Path != path {
		t.Errorf("%+v", f)
	}
}

func TestGetFileNamesOfRows(t *testing.T) {
	var root string
	c := transformtest.Case{
		Definition: text.GetFileNames, Env: tree(t, &root, "d/b.txt", "d/a.txt", "d/s/c.txt", "e/z.gz"), Fixed: true,
		XML: "<filefield>Y</filefield><filename_Field>F</filename_Field><wildcard_Field>m</wildcard_Field><dynamic_include_subfolders>Y</dynamic_include_subfolders><filter><filterfiletype>only_files</filterfiletype></filter><rownum>Y</rownum><rownum_field>nr</rownum_field>",
		Inputs: []transformtest.Input{{
			Fields: []batch.Field{plainField("f", batch.String), plainField("m", batch.String)},
			Rows:   [][]any{{"d", `.*\.txt`}, {"gone", nil}, {"e", nil}, {"d", "b.*"}},
		}},
	}
	out := transformtest.Run(t, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := []string{"d|d/a.txt|1", "d|d/b.txt|2", "d|d/s/c.txt|3", "e|e/z.gz|4", "d|d/b.txt|5"}
	if diff := cmp.Diff(want, columnsOf(out.Main(), root, 0, 2, 15)); diff != "" {
		t.Error(diff)
	}

	c.XML += "<raiseAnExceptionIfNoFile>Y</raiseAnExceptionIfNoFile>"
	mustContain(t, transformtest.Run(t, c).Err, "no file", "row 2")
	c.Error = &transform.ErrorLink{Target: "bad", CodeField: "code"}
	out = transformtest.Run(t, c)
	if diff := cmp.Diff([]string{"gone|<null>|GetFilenames001"}, out.Rows[transform.Error]); diff != "" || out.Err != nil {
		t.Error(diff, out.Err)
	}
	c.XML = strings.Replace(c.XML, ">F<", ">G<", 1)
	mustContain(t, transformtest.Run(t, c).Err, `"G"`, "f, m")
}

func TestGetFileNamesMayFail(t *testing.T) {
	cases := map[string]struct{ xml, word string }{
		"none":     {"<file><name>gone</name></file><raiseAnExceptionIfNoFile>Y</raiseAnExceptionIfNoFile>", "no file"},
		"required": {"<file><name>gone</name><file_required>Y</file_required></file><doNotFailIfNoFile>Y</doNotFailIfNoFile>", "gone"},
		"bad mask": {"<file><name>.</name><filemask>[</filemask></file>", "mask"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			mustContain(t, transformtest.Run(t, transformtest.Case{Definition: text.GetFileNames, XML: c.xml, Fixed: true}).Err, c.word)
		})
	}
}

func TestFileExists(t *testing.T) {
	var root string
	c := transformtest.Case{
		Definition: text.FileExists, Env: tree(t, &root, "d/a.txt"),
		XML: "<filenamefield>F</filenamefield><resultfieldname>${R}</resultfieldname><includefiletype>Y</includefiletype><filetypefieldname>kind</filetypefieldname><addresultfilenames>Y</addresultfilenames>",
		Inputs: []transformtest.Input{{
			Fields: []batch.Field{plainField("f", batch.String)},
			Rows:   [][]any{{"d/a.txt"}, {"d"}, {nil}, {"gone"}, {"bad\x00name"}, {"d/a.txt"}},
		}},
		Vars:  map[string]string{"R": "there"},
		Error: &transform.ErrorLink{Target: "bad", CodeField: "code"},
	}
	out := transformtest.Run(t, c)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"d/a.txt|Y|file", "d|Y|folder", "<null>|N|<null>", "gone|N|<null>", "d/a.txt|Y|file"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"bad\x00name|FileExistsO01"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
	if got := out.Fields(transform.Main); got != "f String, there Boolean, kind String" {
		t.Error(got)
	}
	if f := out.Env.Results.(*transformtest.Results).Files; len(f) != 2 {
		t.Errorf("%+v", f)
	}
	c.XML = strings.Replace(c.XML, ">F<", ">G<", 1)
	mustContain(t, transformtest.Run(t, c).Err, `"G"`)
	c.XML = strings.Replace(c.XML, "${R}", "", 1)
	mustContain(t, transformtest.Run(t, c).Err, "result field")
}
