package filenames_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

func text(s string) transform.Expr[string] { return transform.Expr[string]{Text: s} }

func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		p := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := folder(t, "b.json", "a.json", "a-events.json", "c.txt", "sub/d.json", ".hidden.json")
	vars := project.NewVariables()
	vars.SetAll(map[string]string{"DIR": dir})
	for name, c := range map[string]struct {
		entries []filenames.Entry
		want    string
		err     string
	}{
		"single file":      {entries: []filenames.Entry{{Name: text("${DIR}/c.txt")}}, want: "c.txt"},
		"mask":             {entries: []filenames.Entry{{Name: text("${DIR}"), Mask: text(`[a-z].*\.json`)}}, want: "a-events.json a.json b.json"},
		"hidden files":     {entries: []filenames.Entry{{Name: text("${DIR}"), Mask: text(`.*\.json`), Exclude: text(`[a-z].*`)}}, want: ".hidden.json"},
		"exclude":          {entries: []filenames.Entry{{Name: text("${DIR}"), Mask: text(`^[^/.]+\.json$`), Exclude: text(`.*-events\.json$`)}}, want: "a.json b.json"},
		"exclude only":     {entries: []filenames.Entry{{Name: text("${DIR}"), Exclude: text(`.*json`)}}, want: "c.txt"},
		"subfolders":       {entries: []filenames.Entry{{Name: text("${DIR}"), Mask: text(`[bd]\.json`), Subfolders: true}}, want: "b.json sub/d.json"},
		"sorted over all":  {entries: []filenames.Entry{{Name: text("${DIR}/c.txt")}, {Name: text("${DIR}/a.json")}}, want: "a.json c.txt"},
		"absent":           {entries: []filenames.Entry{{Name: text("${DIR}/none")}}, want: ""},
		"absent, required": {entries: []filenames.Entry{{Name: text("${DIR}/none"), Required: true}}, err: "does not exist"},
		"backslashes":      {entries: []filenames.Entry{{Name: text(`${DIR}\sub\d.json`)}}, want: "sub/d.json"},
		"no name":          {entries: []filenames.Entry{{Mask: text(".*"), Required: true}}, want: ""},
		"mask on a file":   {entries: []filenames.Entry{{Name: text("${DIR}/c.txt"), Mask: text(".*")}}, want: ""},
		"bad mask":         {entries: []filenames.Entry{{Name: text("${DIR}"), Mask: text("[")}}, err: "file mask"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := filenames.Find(t.Context(), files.Local{}, vars, c.entries)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range got {
				rel, _ := filepath.Rel(dir, f.Path)
				names = append(names, rel)
			}
			if diff := cmp.Diff(c.want, strings.Join(names, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFactsKeepHopsOrder(t *testing.T) {
	f := filenames.Facts{RootURI: text("root"), ShortName: text("short"), Size: text("size"), Extension: text("ext"), Path: text("path"), Modified: text("time")}
	list, err := f.Resolve("in", project.NewVariables())
	if err != nil {
		t.Fatal(err)
	}
	info := files.Info{Path: "/data/a.b.csv", Name: "a.b.csv", URI: "file:///data/a.b.csv", Size: 7, ModTime: time.UnixMilli(5)}
	var got []string
	for _, fact := range list {
		v := fact.Value(info)
		got = append(got, fact.Field.Name+"="+v.Text+":"+time.UnixMilli(v.Int).UTC().Format("05.000"))
	}
	want := []string{"short=a.b.csv:00.000", "ext=csv:00.000", "path=/data:00.000", "size=:00.007", "time=:00.005", "root=file:///:00.000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStamp(t *testing.T) {
	at := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, c := range map[string]struct {
		stamp filenames.Stamp
		want  string
	}{
		"none":          {filenames.Stamp{}, "f"},
		"date and time": {filenames.Stamp{Date: true, Time: true}, "f_20240203_040506"},
		"format":        {filenames.Stamp{Date: true, Format: "-yyyy"}, "f-2024"},
	} {
		got, err := c.stamp.Append("f", at, nil)
		if err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := (filenames.Stamp{Format: "'"}).Append("f", at, nil); err == nil {
		t.Error("want an error for a broken format")
	}
}
