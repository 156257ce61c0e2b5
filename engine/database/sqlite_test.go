package database_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/project"
	"sluice/engine/transform/transformtest"
)

// fixture is a project with one connection "db".
type fixture struct {
	scope *project.Variables
	meta  *project.Metadata
	file  string
	loc   *time.Location
}

func newFixture(t *testing.T, kind, name, attributes string) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{scope: project.NewVariables(), meta: project.OpenMetadata(dir), file: filepath.Join(dir, "a b?.db"), loc: time.UTC}
	f.scope.Set("FILE", f.file)
	if err := os.MkdirAll(filepath.Join(dir, "rdbms"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"name":"db","rdbms":{%q:{"pluginId":%q,"databaseName":%q,"attributes":{%s}}}}`, kind, kind, name, attributes)
	if err := os.WriteFile(filepath.Join(dir, "rdbms", "db.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) pool(t *testing.T) *database.Pool {
	t.Helper()
	p := database.NewPool(database.Options{Metadata: f.meta, Scope: f.scope, Location: f.loc})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return p
}

func open(t *testing.T, p *database.Pool, script string) (*sql.DB, database.Dialect) {
	t.Helper()
	db, d, err := p.DB(t.Context(), "db")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range database.Split(script) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db, d.(database.Dialect)
}

// read gives the rows of a query as text, in the layout the pool tells.
func (f *fixture) read(t *testing.T, p *database.Pool, query string) ([]string, error) {
	t.Helper()
	schema, err := p.QueryLayout(f.scope, "db", query)
	if err != nil {
		t.Fatal(err)
	}
	db, d := open(t, p, "")
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	r, err := database.NewReader(rows, d, schema)
	if err != nil {
		t.Fatal(err)
	}
	b := batch.NewAllocator().Batch(schema)
	if _, err := r.Fill(b, 0); err != nil {
		return nil, err
	}
	texts, err := transformtest.Texts(batch.DefaultSemantics(f.loc), b)
	if err != nil {
		t.Fatal(err)
	}
	return texts, rows.Err()
}

func layoutText(s *batch.Schema) string {
	var words []string
	for _, f := range s.Fields {
		words = append(words, fmt.Sprintf("%s %s(%d,%d)", f.Name, f.Type, f.Length, f.Precision))
	}
	return strings.Join(words, " ")
}

func TestSQLiteDeclaredTypesDecideTheFields(t *testing.T) {
	cases := map[string]string{
		"INTEGER": "Integer(9,0)", "bigint": "Integer(15,0)", "SMALLINT": "Integer(4,0)", "TINYINT": "Integer(2,0)",
		"DECIMAL(20,5)": "BigNumber(20,5)", "NUMERIC": "BigNumber(-1,-1)", "NUMERIC (20)": "BigNumber(20,-1)",
		"REAL": "Number(-1,-1)", "DOUBLE PRECISION": "Number(-1,-1)", "FLOAT": "Number(-1,-1)",
		"BOOLEAN": "Boolean(-1,-1)", "DATE": "Date(-1,-1)", "DATETIME": "Date(-1,-1)", "TIMESTAMP": "Date(-1,-1)",
		"TEXT": "String(-1,-1)", "VARCHAR(50)": "String(50,-1)", "JSON": "String(-1,-1)", "BLOB": "String(-1,-1)",
	}
	f := newFixture(t, "SQLITE", "${FILE}", "")
	p := f.pool(t)
	for declared, want := range cases {
		t.Run(declared, func(t *testing.T) {
			open(t, p, "drop table if exists t; create table t(a "+declared+"); insert into t values ('x')")
			s, err := p.TableLayout(f.scope, "db", "", "t")
			if err != nil {
				t.Fatal(err)
			}
			if got := layoutText(s); got != "a "+want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestSQLiteTimestampsWhereTheConnectionSaysSo(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", `"SUPPORTS_TIMESTAMP_DATA_TYPE":"Y"`)
	p := f.pool(t)
	open(t, p, "create table t(a TIMESTAMP); insert into t values ('2024-05-16 10:11:12.123456789')")
	got, err := f.read(t, p, "select a from t")
	if err != nil || got[0] != "2024/05/16 10:11:12.123456789" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSQLiteExpressionsGetTheTypeOfTheirValues(t *testing.T) {
	cases := map[string]string{
		"select n*2 from t":                               "Integer",
		"select n*1.5 from t":                             "Number",
		"select case n when 1 then 1 else 1.5 end from t": "Number",
		"select n||'x' from t":                            "String",
		"select date(d) from t":                           "String", // null in the first row
		"select null from t":                              "String",
		"select n*2 from t where n=99":                    "String", // no row at all
		"select count(*) from t where n=?":                "Integer",
	}
	f := newFixture(t, "SQLITE", "${FILE}", "")
	p := f.pool(t)
	open(t, p, "create table t(n INTEGER, d DATE); insert into t values (1, null), (2, '2024-05-16')")
	for query, want := range cases {
		t.Run(query, func(t *testing.T) {
			s, err := p.QueryLayout(f.scope, "db", query)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Fields[0].Type.String(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestSQLiteValuesOfAnyStorageClass(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ declared, value, want, wrong string }{
		"whole number in NUMERIC":    {"NUMERIC", "9007199254740993", "9007199254740993.0", ""},
		"real in DECIMAL":            {"DECIMAL(20,5)", "12345.6789", "12345.6789", ""},
		"large real in DECIMAL":      {"DECIMAL", "55487400.5", "55487400.5", ""},
		"text in NUMERIC":            {"NUMERIC", "'abc'", "", "abc"},
		"text in INTEGER":            {"INTEGER", "'abc'", "", "CAST"},
		"fraction in INTEGER":        {"INTEGER", "2.5", "", "2.5"},
		"whole real in INTEGER":      {"INTEGER", "2.0", "2", ""},
		"integer in REAL":            {"REAL", "2", "2.0", ""},
		"boolean 1":                  {"BOOLEAN", "1", "Y", ""},
		"boolean text":               {"BOOLEAN", "'true'", "Y", ""},
		"boolean 0":                  {"BOOLEAN", "0", "N", ""},
		"date":                       {"DATE", "'2024-05-16'", "2024/05/16 00:00:00.000", ""},
		"date with T":                {"DATETIME", "'2022-03-04T05:06:07.089'", "2022/03/04 05:06:07.089", ""},
		"date with small t":          {"DATETIME", "'2022-03-04t05:06'", "2022/03/04 05:06:00.000", ""},
		"date and minutes":           {"DATE", "'2022-03-04 05:06'", "2022/03/04 05:06:00.000", ""},
		"UTC":                        {"TIMESTAMP", "'2022-07-04 05:06:07Z'", "2022/07/04 07:06:07.000", ""},
		"offset":                     {"TIMESTAMP", "'2022-07-04 05:06:07-03:00'", "2022/07/04 10:06:07.000", ""},
		"offset after minutes":       {"TIMESTAMP", "'2022-07-04 05:06-03:00'", "2022/07/04 10:06:00.000", ""},
		"time alone":                 {"DATE", "'05:06'", "2000/01/01 05:06:00.000", ""},
		"milliseconds":               {"DATE", "1715853600000", "2024/05/16 12:00:00.000", ""},
		"Julian day":                 {"DATE", "2460447.25", "2024/05/16 18:00:00.000", ""},
		"not a date":                 {"DATE", "'16.05.2024'", "", "16.05.2024"},
		"blob is text":               {"BLOB", "X'48656C6C6F'", "Hello", ""},
		"empty blob":                 {"BLOB", "X''", "", ""},
		"number in a column of JSON": {"JSON", "12", "12", ""},
		"null":                       {"DATE", "null", "<null>", ""},
	}
	f := newFixture(t, "SQLITE", "${FILE}", "")
	f.loc = berlin
	p := f.pool(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			open(t, p, "drop table if exists t; create table t(a "+c.declared+"); insert into t values ("+c.value+")")
			got, err := f.read(t, p, "select a from t")
			if c.wrong != "" {
				var cell *database.CellError
				if !errors.As(err, &cell) || cell.Field != "a" || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("got %v, error %v", got, err)
				}
				return
			}
			if err != nil || len(got) != 1 || got[0] != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestBinderSetsValuesAsHopDoes(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", "")
	p := f.pool(t)
	db, d := open(t, p, "create table t(a)")
	money := batch.NewField("m", batch.Number)
	money.Precision = 2
	day := batch.NewField("day", batch.Date)
	day.Precision = 1
	schema := batch.NewSchema(batch.NewField("s", batch.String), money, batch.NewField("d", batch.BigNumber), batch.NewField("b", batch.Boolean),
		batch.NewField("t", batch.Date), day, batch.NewField("ts", batch.Timestamp), batch.NewField("i", batch.Integer), batch.NewField("x", batch.Binary))
	env, _ := transformtest.NewEnv(t, nil)
	at := time.Date(2024, 5, 16, 10, 11, 12, 123456789, time.UTC)
	dec := batch.Value{Type: batch.BigNumber, Valid: true}
	dec.Dec, _ = batch.DecimalOf(12345.6789)
	b := transformtest.Batch(env, schema, [][]any{{"a", 2.345, dec, true, at, at, at, 7, []byte("Hi")}, {""}})
	defer b.Release()
	binder, err := database.NewBinder(d, env.Semantics, schema, []int{0, 1, 2, 3, 4, 5, 6, 7, 8})
	if err != nil {
		t.Fatal(err)
	}
	args, err := binder.Append(nil, b, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"a", 2.34, "12345.6789", "Y", "2024-05-16 10:11:12.123", "2024-05-16", "2024-05-16 10:11:12.123456789", int64(7), []byte("Hi")}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	args, err = binder.Append(nil, b, 1)
	if err != nil || args[0] != nil {
		t.Errorf("an empty string is null: %v, %v", args, err)
	}
	var date string
	if err := db.QueryRowContext(t.Context(), "select datetime(?)", want[4]).Scan(&date); err != nil || date != "2024-05-16 10:11:12" {
		t.Errorf("SQLite reads the date as %q, %v", date, err)
	}
}

func TestLayoutsAreKeptUntilTheDatabaseChanges(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", "")
	p := f.pool(t)
	open(t, p, "create table t(a INTEGER)")
	first, err := p.QueryLayout(f.scope, "db", "select * from t")
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.QueryLayout(f.scope, "db", "select * from t")
	if err != nil || again != first {
		t.Errorf("the layout was asked for again: %v", err)
	}
	open(t, p, "alter table t add column b TEXT")
	changed, err := p.QueryLayout(f.scope, "db", "select * from t")
	if err != nil || changed.Len() != 2 {
		t.Errorf("got %v, %v", changed.Names(), err)
	}
}

func TestALayoutWritesNothing(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", "")
	p := f.pool(t)
	db, _ := open(t, p, "create table t(a INTEGER)")
	if _, err := p.QueryLayout(f.scope, "db", "insert into t values (1) returning a"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "select count(*) from t").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestALayoutDoesNotMakeADatabase(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", "")
	_, err := f.pool(t).QueryLayout(f.scope, "db", "select 1")
	if err == nil || !strings.Contains(err.Error(), f.file) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(f.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file exists now: %v", err)
	}
}

func TestMemoryIsSharedByTheConnectionsOfAPool(t *testing.T) {
	for _, name := range []string{":memory:", "", "file::memory:?mode=memory"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "SQLITE", name, "")
			p := f.pool(t)
			db, _ := open(t, p, "create table t(a INTEGER); insert into t values (1),(2)")
			one, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			var n int
			if err := db.QueryRowContext(t.Context(), "select count(*) from t").Scan(&n); err != nil || n != 2 {
				t.Errorf("%d rows, %v", n, err)
			}
			other, _ := open(t, f.pool(t), "")
			if err := other.QueryRowContext(t.Context(), "select count(*) from t").Scan(&n); err == nil {
				t.Error("another pool sees the same memory")
			}
		})
	}
}

func TestStatementsAfterConnectingAndOptions(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", `"SQL_CONNECT":"create temp table hello(a); insert into hello values ('${WHO}')","EXTRA_OPTION_SQLITE.foreign_keys":"true"`)
	f.scope.Set("WHO", "you")
	db, _ := open(t, f.pool(t), "")
	var who string
	var keys, busy int
	if err := db.QueryRowContext(t.Context(), "select a from hello").Scan(&who); err != nil || who != "you" {
		t.Errorf("got %q, %v", who, err)
	}
	if err := db.QueryRowContext(t.Context(), "pragma foreign_keys").Scan(&keys); err != nil || keys != 1 {
		t.Errorf("foreign keys %d, %v", keys, err)
	}
	if err := db.QueryRowContext(t.Context(), "pragma busy_timeout").Scan(&busy); err != nil || busy != 3000 {
		t.Errorf("busy timeout %d, %v", busy, err)
	}
}

func TestConnectionsThatCannotBeOpenedSayWhatToDo(t *testing.T) {
	cases := map[string]struct{ kind, name, attributes, connection, want string }{
		"type":      {"ORACLE", "x", "", "db", `connection "db" is of type ORACLE, which is not supported yet; supported: SQLITE`},
		"name":      {"SQLITE", "x", "", "nowhere", `there is no connection "nowhere"`},
		"variable":  {"SQLITE", "x", "", "${NONE_SET}", `there is no connection "${NONE_SET}"`},
		"no name":   {"SQLITE", "x", "", "", "no connection is chosen"},
		"an option": {"SQLITE", "x", `"EXTRA_OPTION_SQLITE.cache_size":"1); drop table t; --"`, "db", "option cache_size"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.kind, c.name, c.attributes)
			_, _, err := f.pool(t).DB(t.Context(), c.connection)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestALockedDatabaseSaysWhoMayHoldIt(t *testing.T) {
	f := newFixture(t, "SQLITE", "${FILE}", `"EXTRA_OPTION_SQLITE.busy_timeout":"1"`)
	p := f.pool(t)
	db, d := open(t, p, "create table t(a INTEGER)")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "insert into t values (1)"); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "insert into t values (2)")
	if err == nil || !strings.Contains(d.Hint(err), "lock") {
		t.Errorf("error %v, hint %q", err, d.Hint(err))
	}
}
