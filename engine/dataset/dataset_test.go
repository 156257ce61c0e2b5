package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/dataset"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform/transformtest"
)

func source(t *testing.T, dir string) dataset.Source {
	t.Helper()
	vars := project.NewVariables()
	vars.Set(project.VariableDatasetsFolder, dir)
	return dataset.Source{Files: files.Local{}, Vars: vars, Semantics: batch.DefaultSemantics(time.UTC), Alloc: batch.NewAllocator()}
}

func field(name string, t batch.Type, format string) project.DatasetField {
	return project.DatasetField{Name: name, Type: int(t), Length: -1, Precision: -1, Format: format}
}

func read(t *testing.T, src dataset.Source, d *project.Dataset) ([]string, error) {
	t.Helper()
	schema := dataset.Schema(d, "")
	var rows []string
	err := dataset.Read(t.Context(), src, d, schema, func(b *batch.Batch) error {
		defer b.Release()
		texts, err := transformtest.Texts(src.Semantics, b)
		rows = append(rows, texts...)
		return err
	})
	if err := src.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
	return rows, err
}

func TestRead(t *testing.T) {
	ab := []project.DatasetField{field("a", batch.String, ""), field("n", batch.Integer, "")}
	for name, c := range map[string]struct {
		fields []project.DatasetField
		data   string
		want   []string
		err    string
	}{
		"plain":                   {fields: ab, data: "a,n\nx,1\ny,2\n", want: []string{"x|1", "y|2"}},
		"no end of line":          {fields: ab, data: "a,n\nx,1", want: []string{"x|1"}},
		"other line ends":         {fields: ab, data: "a,n\r\nx,1\r\ny,2\rz,3", want: []string{"x|1", "y|2", "z|3"}},
		"columns by position":     {fields: ab, data: "n,a\nx,1\n", want: []string{"x|1"}},
		"quotes":                  {fields: ab, data: "a,n\n\"x, \"\"y\"\"\nz\",\"1\" \n", want: []string{"x, \"y\"\nz|1"}},
		"a quote inside a value":  {fields: ab, data: "a,n\nx\"y,1\n", want: []string{"x\"y|1"}},
		"empty and null":          {fields: ab, data: "a,n\n,\n\"\",\"\"\n", want: []string{"|<null>", "|<null>"}},
		"missing at the end":      {fields: ab, data: "a,n\nx\n", want: []string{"x|<null>"}},
		"more columns":            {fields: ab, data: "a,n\nx,1,2\n", want: []string{"x|1"}},
		"empty lines are nothing": {fields: ab[:1], data: "a\n\nx\n\n\"\"\n", want: []string{"x", ""}},
		"only a header":           {fields: ab, data: "a,n\n"},
		"nothing at all":          {fields: ab},
		"default masks": {
			fields: []project.DatasetField{field("d", batch.Date, ""), field("f", batch.Number, ""), field("b", batch.Boolean, ""), field("x", batch.Type(99), "")},
			data:   "d,f,b,x\n20240105-101112.013,1.25,Y,q\n", want: []string{"20240105-101112.013|1.2|Y|q"},
		},
		"own masks":      {fields: []project.DatasetField{field("d", batch.Date, "yyyy/MM/dd"), field("i", batch.Integer, " #")}, data: "d,i\n2024/01/05, 7\n", want: []string{"2024/01/05| 7"}},
		"JDBC times":     {fields: []project.DatasetField{field("t", batch.Timestamp, "")}, data: "t\n2025-12-16 09:47:47.123\n2025/12/16 09:47:47.000000001\n", want: []string{"2025/12/16 09:47:47.123000000", "2025/12/16 09:47:47.000000001"}},
		"of no number":   {fields: ab, data: "a,n\nx,1\ny,z\n", err: `line 3: "z" cannot become Integer for field "n"`},
		"an open quote":  {fields: ab, data: "a,n\n\"x,1\n", err: "line 2: a quoted value is not closed"},
		"after a quote":  {fields: ab, data: "a,n\n\"x\"y,1\n", err: "follows a quoted value"},
		"a zero byte":    {fields: ab, data: "a,n\nx\x00y,1\n", want: []string{"x\x00y|1"}},
		"a long history": {fields: ab, data: "a,n\n" + strings.Repeat("x,1\n", 10_000), want: strings.Split(strings.Repeat("x|1\n", 9_999)+"x|1", "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "s.csv"), []byte(c.data), 0o600); err != nil {
				t.Fatal(err)
			}
			rows, err := read(t, source(t, dir), &project.Dataset{Name: "set", BaseFilename: "s.csv", Fields: c.fields})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), `"set"`) {
					t.Errorf("error is %v, want one with %q and the set", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, rows); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMissingFileHasNoRows(t *testing.T) {
	rows, err := read(t, source(t, t.TempDir()), &project.Dataset{Name: "set", BaseFilename: "none.csv", Fields: []project.DatasetField{field("a", batch.String, "")}})
	if err != nil || rows != nil {
		t.Errorf("%v %v", rows, err)
	}
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	dir := t.TempDir()
	src := source(t, dir)
	d := &project.Dataset{Name: "set", BaseFilename: "sub/s.csv", Fields: []project.DatasetField{
		field("a", batch.String, ""), field("n", batch.Number, "0.000"), field("d", batch.Date, "yyyy-MM-dd"), field("i", batch.Integer, ""),
	}}
	env, _ := transformtest.NewEnv(t, nil)
	// The last column is converted: the set holds an Integer.
	rows := batch.NewSchema(batch.NewField("a", batch.String), batch.NewField("n", batch.Number), batch.NewField("d", batch.Date), batch.NewField("x", batch.Number))
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	b := transformtest.Batch(env, rows, [][]any{{"x,\"y\"\nz", 1.5, day, 2.0}, {"", nil, nil, nil}, {nil, -0.25, day, 7.0}})
	w, err := dataset.Create(t.Context(), src, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	b.Release()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "sub", "s.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(data), "a,n,d,i\n\"x,\"\"y\"\"\nz\",1.500,2024-02-29,2\n\"\",,,\n\"\",-0.250,2024-02-29,7\n"; got != want {
		t.Errorf("file is %q, want %q", got, want)
	}
	got, err := read(t, src, d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x,\"y\"\nz|1.500|2024-02-29|2", "|<null>|<null>|<null>", "|-0.250|2024-02-29|7"}, got); diff != "" {
		t.Error(diff)
	}
	if w, err = dataset.Create(t.Context(), src, d); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "sub", "s.csv")); string(after) != string(data) {
		t.Error("an aborted write changed the file")
	}
}

// Every data set of Hop's own projects can be read.
func TestSuiteReads(t *testing.T) {
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	folders, err := filepath.Glob(filepath.Join(root, "*", "metadata"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("the Hop suite is needed; set SLUICE_HOP_SUITE to its folder: %v", err)
	}
	sets, rows := 0, 0
	for _, folder := range folders {
		m := project.OpenMetadata(folder)
		names, err := m.Names(project.TypeDataset)
		if err != nil {
			t.Fatal(err)
		}
		src := source(t, filepath.Join(filepath.Dir(folder), "datasets"))
		src.Vars.Set(project.VariableProjectHome, filepath.Dir(folder))
		for _, name := range names {
			_, list, err := dataset.Load(t.Context(), src, m, name)
			if err != nil {
				t.Errorf("%s: %v", folder, err)
			}
			sets++
			for _, b := range list {
				rows += b.Rows()
				b.Release()
			}
		}
	}
	if sets < 200 || rows < 1000 {
		t.Errorf("%d sets with %d rows", sets, rows)
	}
}
