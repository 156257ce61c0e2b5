package scenario_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // sources and targets

	"sluice/app/cli"
)

// shop is a project whose orders are extracted through a gate and loaded into a
// warehouse, on an installation of its own.
type shop struct {
	t    *testing.T
	dir  string
	data string // of the installation
}

// The exit codes that scenarios look at.
const (
	ready    = cli.ExitOK
	failed   = cli.ExitErrors
	unusable = cli.ExitUnusable
	blocked  = cli.ExitRefused
	needsAck = cli.ExitNeedsAck
)

const config = `{"metadataBaseFolder": "${PROJECT_HOME}/metadata", "config": {"variables": [
 {"name": "WAREHOUSE", "value": "${PROJECT_HOME}/warehouse", "description": ""},
 {"name": "STATUS", "value": "open", "description": ""}, {"name": "NOTE", "value": "first", "description": ""}]}}`

func connection(name, file string) string {
	return fmt.Sprintf(`{"rdbms": {"SQLITE": {"databaseName": "%s", "pluginId": "SQLITE", "accessType": 0, "hostname": "", "password": "Encrypted ", "pluginName": "SQLite", "port": "", "attributes": {}, "username": ""}}, "name": "%s"}`, file, name)
}

// newShop makes the project: 10 orders, of which 6 are open, and a warehouse that
// is down.
func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{t: t, dir: t.TempDir(), data: t.TempDir()}
	t.Setenv("HOP_CONFIG_FOLDER", t.TempDir())
	t.Setenv("SLUICE_CACHE", t.TempDir())
	t.Setenv("SLUICE_SNAPSHOTS", "")
	s.use(s.data)
	s.write("project-config.json", config)
	s.write("metadata/rdbms/source.json", connection("source", "${PROJECT_HOME}/source.db"))
	s.write("metadata/rdbms/target.json", connection("target", "${WAREHOUSE}/target.db"))
	s.write("load.hpl", load)
	s.sql("source.db", "CREATE TABLE orders (id INTEGER, status VARCHAR(10), amount INTEGER)")
	for i := range 10 {
		s.sql("source.db", fmt.Sprintf("INSERT INTO orders VALUES (%d, '%s', %d)", i+1, map[bool]string{true: "open", false: "shipped"}[i < 6], 10*(i+1)))
	}
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
	return s
}

// use makes this the data folder of the installation.
func (s *shop) use(data string) { s.t.Setenv("SLUICE_DATA", data) }

func (s *shop) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shop) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// edit replaces text in a file; it has to be there.
func (s *shop) edit(name, old, text string) {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		s.t.Fatalf("%s has no %q", name, old)
	}
	s.write(name, strings.Replace(string(data), old, text, 1))
}

func (s *shop) sql(file, statement string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path(file))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// warehouseUp makes the target with its empty table.
func (s *shop) warehouseUp() {
	s.t.Helper()
	if err := os.MkdirAll(s.path("warehouse"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.sql("warehouse/target.db", "CREATE TABLE IF NOT EXISTS loaded (id INTEGER, amount INTEGER)")
}

// loaded gives the rows of the target, "id:amount".
func (s *shop) loaded() []string {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path("warehouse/target.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), "SELECT id, amount FROM loaded ORDER BY id")
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var id, amount int
		if err := rows.Scan(&id, &amount); err != nil {
			s.t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%d:%d", id, amount))
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return list
}

func (s *shop) count(table string) (n int) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path("warehouse/target.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

var original = []string{"1:10", "2:20", "3:30", "4:40", "5:50", "6:60"}

func (s *shop) wantLoaded(want []string) {
	s.t.Helper()
	if got := s.loaded(); !slices.Equal(got, want) {
		s.t.Errorf("the target holds %v, want %v", got, want)
	}
}

// sourceGone makes sure that nobody reads the source any more.
func (s *shop) sourceGone() {
	s.t.Helper()
	if err := os.Remove(s.path("source.db")); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(s.path("source.db"), 0o755); err != nil { // opening it would fail
		s.t.Fatal(err)
	}
}

// answer is what a command said.
type answer struct {
	t         *testing.T
	args      []string
	code      int
	out, errs string
}

func (s *shop) sluice(args ...string) answer {
	s.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return answer{s.t, args, code, out.String(), errs.String()}
}

func (a answer) want(code int, texts ...string) answer {
	a.t.Helper()
	if a.code != code {
		a.t.Fatalf("sluice %s ended with %d, want %d\n%s%s", strings.Join(a.args, " "), a.code, code, a.out, a.errs)
	}
	for _, text := range texts {
		if !strings.Contains(a.out+a.errs, text) {
			a.t.Errorf("sluice %s does not say %q:\n%s%s", strings.Join(a.args, " "), text, a.out, a.errs)
		}
	}
	return a
}

// fails runs a file that is to fail, and gives the execution's id.
func (s *shop) fails(args ...string) string {
	s.t.Helper()
	a := s.sluice(append([]string{"run"}, append(args, "--json", "--log-level", "error")...)...).want(failed)
	var r struct {
		ID string `json:"execution_id"`
	}
	if err := json.Unmarshal([]byte(a.out), &r); err != nil || r.ID == "" {
		s.t.Fatalf("%v\n%s%s", err, a.out, a.errs)
	}
	return r.ID
}

// plan is what a scenario reads of a pre-flight.
type plan struct {
	Verdict string
	Token   string
	Checks  []struct {
		ID, Status, What, Then, Now string
		Overridable                 bool
	}
	Steps []struct {
		CallPath, Node, Decision string
		Ordinal                  int
		Rows                     int64
	}
	Changes []struct{ Node, Setting, Then, Now string }
}

func (s *shop) preflight(code int, args ...string) plan {
	s.t.Helper()
	a := s.sluice(append([]string{"preflight", "--json"}, args...)...).want(code)
	var p plan
	if err := json.Unmarshal([]byte(a.out), &p); err != nil {
		s.t.Fatalf("%v\n%s", err, a.out)
	}
	return p
}

// check finds a check by its id and status.
func (p plan) check(id, status string) string {
	for _, c := range p.Checks {
		if strings.HasPrefix(c.ID, id) && c.Status == status {
			return c.ID + ": " + c.What + " (then " + c.Then + ", now " + c.Now + ")"
		}
	}
	return ""
}

func (p plan) wantCheck(t *testing.T, id, status string, texts ...string) {
	t.Helper()
	got := p.check(id, status)
	if got == "" {
		t.Errorf("no check %s %s in %+v", status, id, p.Checks)
		return
	}
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("check %s does not say %q: %s", id, text, got)
		}
	}
}

// decision gives what the plan does with a node.
func (p plan) decision(node string) string {
	for _, st := range p.Steps {
		if st.Node == node {
			return st.Decision
		}
	}
	return "absent"
}

func (p plan) wantSteps(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		node, decision, _ := strings.Cut(w, "=")
		if got := p.decision(node); got != decision {
			t.Errorf("%s is %s, want %s; steps %+v", node, got, decision, p.Steps)
		}
	}
}
