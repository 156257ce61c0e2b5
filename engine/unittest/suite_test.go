package unittest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transforms"
	"sluice/engine/unittest"
)

// The conformance ledger: one line per unit test of the Hop suite, "pass N" with
// the number of golden rows compared, or "fail" with the reason. A test that
// passed once stays passing; a test that compared no row does not count. Run with
// SLUICE_UPDATE_LEDGER=1 to write it anew.
const ledgerFile = "testdata/conformance.txt"

// wantPassing is the number of golden pipeline unit tests that have to pass.
const wantPassing = 60

func suiteRoot(t *testing.T) string {
	t.Helper()
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "suite.json")); err != nil {
		t.Fatalf("the Hop suite is not at %s; set SLUICE_HOP_SUITE: %v", root, err)
	}
	return root
}

// suiteTests lists the unit tests that the main workflows of suite.json reach:
// those of their project folders, as "project/test".
func suiteTests(t *testing.T, root string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "suite.json"))
	if err != nil {
		t.Fatal(err)
	}
	var mains []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(data, &mains); err != nil {
		t.Fatal(err)
	}
	projects := map[string]bool{}
	for _, m := range mains {
		p, _, _ := strings.Cut(m.ID, "/")
		projects[p] = true
	}
	var list []string
	for p := range projects {
		found, err := filepath.Glob(filepath.Join(root, p, "metadata", "unit-test", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			list = append(list, p+"/"+strings.TrimSuffix(filepath.Base(f), ".json"))
		}
	}
	slices.Sort(list)
	if len(list) == 0 {
		t.Fatal("the suite has no unit tests")
	}
	return list
}

func TestHopSuite(t *testing.T) {
	root := suiteRoot(t)
	before := readLedger(t)
	var lines []string
	passed := 0
	home := map[string]string{}
	for _, id := range suiteTests(t, root) {
		p, name, _ := strings.Cut(id, "/")
		if home[p] == "" {
			home[p] = copyTree(t, filepath.Join(root, p))
		}
		o := runOne(t, home[p], name)
		line := "fail " + reason(o)
		if o.Passed() && o.Rows > 0 {
			line = fmt.Sprintf("pass %d", o.Rows)
			passed++
		} else if o.Passed() {
			line = "none no golden row was compared"
		}
		if was := before[id]; strings.HasPrefix(was, "pass ") && line != was && os.Getenv("SLUICE_UPDATE_LEDGER") == "" {
			t.Errorf("%s: was %q, is %q\n%v", id, was, line, o.Differences)
		}
		lines = append(lines, id+"\t"+strings.ReplaceAll(line, home[p], "${PROJECT_HOME}"))
	}
	t.Logf("%d of %d golden unit tests pass", passed, len(lines))
	if os.Getenv("SLUICE_UPDATE_LEDGER") != "" {
		writeLedger(t, lines)
	} else if missing := len(lines) - len(before); missing != 0 {
		t.Errorf("the ledger has %d entries for %d tests; run with SLUICE_UPDATE_LEDGER=1", len(before), len(lines))
	}
	if passed < wantPassing {
		t.Errorf("%d golden unit tests pass, want at least %d", passed, wantPassing)
	}
}

func reason(o *unittest.Outcome) string {
	text := ""
	switch {
	case o.Err != nil:
		text = o.Err.Error()
	case len(o.Differences) > 0:
		text = o.Differences[0]
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 240 {
		text = string(r[:240]) + "…"
	}
	return text
}

func runOne(t *testing.T, home, name string) *unittest.Outcome {
	t.Helper()
	base := project.SystemVariables(project.System{Getenv: func(k string) string {
		if k == "HOP_CONFIG_FOLDER" {
			return home
		}
		return ""
	}})
	var env []string
	if f := filepath.Join(home, "dev-env-config.json"); exists(f) {
		env = append(env, f)
	}
	p, err := project.Open(project.OpenOptions{Home: home, EnvironmentFiles: env, Base: base})
	if err != nil {
		return &unittest.Outcome{Test: name, Err: err}
	}
	r := &pipeline.Runner{
		Registry: transforms.Registry(), Metadata: p.Metadata(), Files: files.Local{Dir: home}, Now: time.Now,
		Location: time.UTC, Alloc: batch.NewAllocator(), SpillFolder: t.TempDir(),
		Databases: func(scope *project.Variables, _ *batch.Allocator) pipeline.Databases {
			return database.NewPool(database.Options{Metadata: p.Metadata(), Scope: scope, Location: time.UTC})
		},
	}
	o := unittest.Run(t.Context(), r, p.Variables(), "local", name, nil)
	if err := r.Alloc.CheckLeaks(); err != nil {
		t.Errorf("%s: %v (error %v)", name, err, o.Err)
	}
	return o
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(p, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func readLedger(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	f, err := os.Open(ledgerFile)
	if os.IsNotExist(err) {
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if id, line, ok := strings.Cut(s.Text(), "\t"); ok {
			out[id] = line
		}
	}
	return out
}

func writeLedger(t *testing.T, lines []string) {
	t.Helper()
	head := "# Golden unit tests of the Hop suite: project/test, then what came of it. \"pass N\" compared N golden rows.\n"
	if err := os.MkdirAll(filepath.Dir(ledgerFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ledgerFile, []byte(head+strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
