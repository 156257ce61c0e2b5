package sample_test

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // makes and reads the database

	"sluice/assets/sample"
	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms/flow"
	"sluice/engine/transforms/relation"
	"sluice/engine/transforms/rows"
	"sluice/engine/transforms/script"
	dbfamily "sluice/engine/transforms/sql"
	"sluice/engine/transforms/text"
)

var update = flag.Bool("update", false, "make orders.db anew from orders.sql")

const mostBytes = 300_000

func TestOrdersDatabaseIsMadeByItsScript(t *testing.T) {
	made := filepath.Join(t.TempDir(), "orders.db")
	script, err := os.ReadFile("orders.sql")
	if err != nil {
		t.Fatal(err)
	}
	run(t, made, string(script))
	if *update {
		data, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("orders.db", data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"select * from orders order by order_id", "select sql from sqlite_master order by name"} {
		if diff := cmp.Diff(content(t, made, query), content(t, "orders.db", query)); diff != "" {
			t.Errorf("orders.db is not what orders.sql makes; run the test with -update\n%s", diff)
		}
	}
	if st, err := os.Stat("orders.db"); err != nil || st.Size() > mostBytes {
		t.Errorf("size %d, %v", st.Size(), err)
	}
}

func run(t *testing.T, file, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(database.Split(script), "VACUUM") {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(values...))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestUnpackWritesEveryFileOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	if err := sample.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	err := fs.WalkDir(sample.Files(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		want, err := fs.ReadFile(sample.Files(), name)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Unpack(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
}

// A pipeline drawn in Hop lies on no grid by force, but this one shall look tidy.
func TestThePipelineLiesOnTheGrid(t *testing.T) {
	text, err := fs.ReadFile(sample.Files(), sample.Main)
	if err != nil {
		t.Fatal(err)
	}
	d, err := hopxml.Parse(sample.Main, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range d.Root().All("transform") {
		for _, axis := range []string{"xloc", "yloc"} {
			var n int
			if _, err := fmt.Sscan(tr.Child("GUI").Child(axis).Text(), &n); err != nil || n%32 != 0 {
				t.Errorf("%s: %s is %d, %v", tr.Child("name").Text(), axis, n, err)
			}
		}
	}
}

// An unpacked copy runs, and its answer is that of the database itself.
func TestTheUnpackedProjectRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	if err := sample.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	p, err := project.Open(project.OpenOptions{Home: dir, EnvironmentFiles: []string{filepath.Join(dir, "environment.json")}})
	if err != nil || len(p.Warnings) > 0 {
		t.Fatalf("%v %v", p.Warnings, err)
	}
	r := &pipeline.Runner{
		Registry: transform.NewRegistry(flow.Transforms, relation.Transforms, rows.Transforms, script.Transforms, dbfamily.Transforms, text.Transforms),
		Metadata: p.Metadata(), Files: files.Local{}, Log: slog.New(slog.DiscardHandler), Now: time.Now, Location: time.UTC, Alloc: batch.NewAllocator(),
		Databases: func(scope *project.Variables, _ *batch.Allocator) pipeline.Databases {
			return database.NewPool(database.Options{Metadata: p.Metadata(), Scope: scope, Location: time.UTC})
		},
	}
	e, err := r.Prepare(t.Context(), pipeline.Run{File: filepath.Join(dir, sample.Main), Scope: p.Variables()})
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Run(t.Context())
	if err != nil || !result.OK {
		t.Fatalf("%+v %v", result, err)
	}
	if err := r.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
	turnover := lines(t, filepath.Join(dir, "out", "turnover-by-country.csv"))
	if turnover[0] != "country;orders;turnover;largest_order" || len(turnover) != 10 || !strings.Contains(strings.Join(turnover, "\n"), "\nunknown;") {
		t.Errorf("turnover:\n%s", strings.Join(turnover, "\n"))
	}
	var orders, total float64
	for _, l := range turnover[1:] {
		var n, sum float64
		words := strings.Split(l, ";")
		if _, err := fmt.Sscan(words[1]+" "+words[2], &n, &sum); err != nil {
			t.Fatal(err)
		}
		orders, total = orders+n, total+sum
	}
	want := content(t, "orders.db", "select count(*), round(sum(quantity*unit_price), 2) from orders where ordered_on >= '2025-01-01' and status <> 'cancelled'")[0]
	if got := fmt.Sprintf("%.0f %.2f", orders, total); got != want {
		t.Errorf("the files sum up to %s, the database to %s", got, want)
	}
	cancelled := lines(t, filepath.Join(dir, "out", "cancelled-orders.csv"))
	if want := content(t, "orders.db", "select count(*) from orders where ordered_on >= '2025-01-01' and status = 'cancelled'")[0]; fmt.Sprint(len(cancelled)-1) != want {
		t.Errorf("%d cancelled orders, want %s", len(cancelled)-1, want)
	}
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}
