package sql_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	family "sluice/engine/transforms/sql"
)

// base gives every run of a case a database of its own, made by a script. After
// Run it holds the one of the last run.
type base struct {
	t      testing.TB
	script string
	db     *sql.DB
}

// design answers from the pool, as a run does.
type design struct {
	transformtest.Design
	pool *database.Pool
	vars *project.Variables
}

func (d *design) QueryLayout(connection, query string) (*batch.Schema, error) {
	return d.pool.QueryLayout(d.vars, connection, query)
}

func (d *design) TableLayout(connection, schema, table string) (*batch.Schema, error) {
	return d.pool.TableLayout(d.vars, connection, schema, table)
}

// env is a Case.Env.
func (b *base) env(env *transform.Env) {
	b.t.Helper()
	dir := b.t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "rdbms"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	text := `{"name":"db","rdbms":{"SQLITE":{"pluginId":"SQLITE","databaseName":"${DB_FILE}"}}}`
	if err := os.WriteFile(filepath.Join(dir, "rdbms", "db.json"), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	env.Vars.Set("DB_FILE", filepath.Join(dir, "test.db"))
	env.Vars.Set("DB", "db")
	pool := database.NewPool(database.Options{Metadata: project.OpenMetadata(dir), Scope: env.Vars, Location: time.UTC})
	b.t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			b.t.Errorf("close: %v", err)
		}
	})
	env.Databases = pool
	env.Design = &design{Design: transformtest.Design{Resolver: env.Vars, Sem: env.Semantics}, pool: pool, vars: env.Vars}
	var err error
	if b.db, _, err = pool.DB(b.t.Context(), "db"); err != nil {
		b.t.Fatal(err)
	}
	b.exec(b.script)
}

func (b *base) exec(script string) {
	b.t.Helper()
	for _, s := range database.Split(script) {
		if _, err := b.db.ExecContext(b.t.Context(), s); err != nil {
			b.t.Fatalf("%s: %v", s, err)
		}
	}
}

// rows gives the result of a query in the database of the last run.
func (b *base) rows(query string) []string {
	b.t.Helper()
	rows, err := b.db.QueryContext(b.t.Context(), query)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		b.t.Fatal(err)
	}
	var list []string
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			b.t.Fatal(err)
		}
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = fmt.Sprint(v)
		}
		list = append(list, strings.Join(words, "|"))
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	return list
}

func people() []transformtest.Input {
	return []transformtest.Input{{
		Fields: []batch.Field{batch.NewField("id", batch.Integer), batch.NewField("name", batch.String)},
		Rows:   [][]any{{1, "Ada"}, {2, "Bob"}, {3, nil}, {4, "Dan"}, {5, ""}},
	}}
}

func fails(t *testing.T, out *transformtest.Output, words ...string) {
	t.Helper()
	if out.Err == nil {
		t.Fatalf("no error; rows %v", out.Rows)
	}
	for _, w := range words {
		if !strings.Contains(out.Err.Error(), w) {
			t.Errorf("error %q does not say %q", out.Err, w)
		}
	}
}

// Every element of the suite that is of a type of this family can be read.
func TestSuiteSettingsDecode(t *testing.T) {
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	known := transform.NewRegistry(family.Transforms)
	seen := 0
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hpl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(path, text)
		if err != nil {
			return nil //nolint:nilerr // files that are broken on purpose are the business of hopxml
		}
		for _, el := range doc.Root().All("transform") {
			d, ok := known.Find(el.Child("type").Text())
			if !ok {
				continue
			}
			seen++
			s, problems := d.Decode(el)
			missing, err := d.Missing(s)
			if err != nil {
				return err
			}
			for _, p := range append(problems, missing...) {
				t.Errorf("%s, %s: %s %s", path, el.Child("name").Text(), p.Setting, p.Message)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("the Hop suite is needed (SLUICE_HOP_SUITE): %v", err)
	}
	if seen == 0 {
		t.Error("the suite has no transform of this family")
	}
}
