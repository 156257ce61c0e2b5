package sql_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms/flow"
	"sluice/engine/transforms/generate"
	"sluice/engine/transforms/relation"
	"sluice/engine/transforms/rows"
	"sluice/engine/transforms/script"
	family "sluice/engine/transforms/sql"
)

// The tables that the workflows of the suite's project "sqlite" make first.
const suiteTables = `
create table date_samples (id INTEGER PRIMARY KEY, label TEXT, d_date DATE, d_datetime DATETIME, d_timestamp TIMESTAMP, x_date TEXT, x_datetime TEXT, x_timestamp TEXT);
insert into date_samples values
	(1, 'nulls', null, null, null, '<null>', '<null>', '<null>'),
	(2, 'full', '2021-02-03 00:00:00', '2021-02-03 10:20:30', '2021-02-03 10:20:30.456', '2021-02-03', '2021-02-03 10:20:30', '2021-02-03 10:20:30.456'),
	(3, 'day', '2020-12-31', '2020-12-31', '2020-12-31', '2020-12-31', '2020-12-31 00:00:00', '2020-12-31 00:00:00.000'),
	(4, 'T', '2019-07-08', '2019-07-08T09:10:11', '2019-07-08T09:10:11.012', '2019-07-08', '2019-07-08 09:10:11', '2019-07-08 09:10:11.012');
create table data_types (id INTEGER PRIMARY KEY, t_string TEXT, t_varchar VARCHAR(50), t_char CHAR(1), t_integer INTEGER, t_bigint BIGINT, t_number REAL, t_double DOUBLE,
	t_bignumber DECIMAL(20,5), t_numeric NUMERIC, t_boolean BOOLEAN, t_date DATE, t_datetime DATETIME, t_timestamp TIMESTAMP, t_binary BLOB,
	x_string TEXT, x_varchar TEXT, x_char TEXT, x_integer TEXT, x_bigint TEXT, x_number TEXT, x_double TEXT, x_bignumber TEXT, x_numeric TEXT,
	x_boolean TEXT, x_date TEXT, x_datetime TEXT, x_timestamp TEXT, x_binary TEXT);
insert into data_types values
	(1, 'text value', 'vary', 'N', 42, 9223372036854775807, 1.5, 0.25, 98765.4321, 12, 1, '2021-02-03', '2021-02-03 10:20:30', '2021-02-03 10:20:30.456', X'4869',
	'text value', 'vary', 'N', '42', '9223372036854775807', '1.5', '0.25', '98765.4321', '12', 'Y', '2021-02-03', '2021-02-03 10:20:30', '2021-02-03 10:20:30.456', 'Hi'),
	(2, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
	'<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>', '<null>');
create table data_types_written (id INTEGER PRIMARY KEY, w_string TEXT, w_integer INTEGER, w_number REAL, w_bignumber DECIMAL(20,5), w_boolean CHAR(1), w_date DATE,
	w_timestamp TIMESTAMP, w_binary BLOB, x_string TEXT, x_integer TEXT, x_number TEXT, x_bignumber TEXT, x_boolean TEXT, x_date TEXT, x_timestamp TEXT, x_binary TEXT);`

// The pipelines of the suite's project "sqlite" compare what they read with what
// it should be, and abort when something differs.
func TestSuiteProjectReadsAndWritesEveryType(t *testing.T) {
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	home := filepath.Join(root, "sqlite")
	if _, err := os.Stat(home); err != nil {
		t.Fatalf("the Hop suite is needed (SLUICE_HOP_SUITE): %v", err)
	}
	p, err := project.Open(project.OpenOptions{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	scope := p.Variables()
	scope.Set("SQLITE_DB_FILE", filepath.Join(t.TempDir(), "suite.db"))
	pool := database.NewPool(database.Options{Metadata: p.Metadata(), Scope: scope, Location: berlin})
	db, _, err := pool.DB(t.Context(), "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	(&base{t: t, db: db}).exec(suiteTables)
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	r := &pipeline.Runner{
		Registry: transform.NewRegistry(flow.Transforms, generate.Transforms, relation.Transforms, rows.Transforms, script.Transforms, family.Transforms),
		Metadata: p.Metadata(), Files: files.Local{}, Log: slog.New(slog.DiscardHandler), Now: time.Now, Location: berlin, Alloc: batch.NewAllocator(),
		Databases: func(scope *project.Variables, _ *batch.Allocator) pipeline.Databases {
			return database.NewPool(database.Options{Metadata: p.Metadata(), Scope: scope, Location: berlin})
		},
	}
	for name, rows := range map[string]int64{"0001-read-date-columns": 4, "0002-read-date-functions": 4, "0005-read-data-types": 2, "0006-write-data-types": 0} {
		t.Run(name, func(t *testing.T) { compare(t, r, scope, filepath.Join(home, name+".hpl"), rows) })
	}
	compare(t, r, scope, filepath.Join(home, "0007-read-written-data-types.hpl"), 2)
	if err := r.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

// compare runs a pipeline without its last check, which counts the rows: they are
// counted here.
func compare(t *testing.T, r *pipeline.Runner, scope *project.Variables, file string, rows int64) {
	t.Helper()
	e, err := r.Prepare(t.Context(), pipeline.Run{File: file, Scope: scope, Edit: func(g *pipeline.Graph) error {
		g.Hops = slices.DeleteFunc(g.Hops, func(h pipeline.Hop) bool { return h.From == "all rows read?" || h.To == "all rows read?" })
		for _, n := range g.Nodes {
			n.Disabled = n.Disabled || n.Name == "all rows read?" || n.Name == "success"
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Run(t.Context())
	if err != nil || !result.OK {
		t.Errorf("%s: %+v, %v", file, result, err)
	}
	counted := int64(0)
	for _, m := range e.Metrics() {
		if m.Name == "count rows" {
			counted = m.Read
		}
	}
	if counted != rows {
		t.Errorf("%s: %d rows were as they should be, want %d", file, counted, rows)
	}
}
