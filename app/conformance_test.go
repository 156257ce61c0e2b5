package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/app"
)

// The conformance ledger: one line per main workflow of the Hop suite, "pass", or
// "fail" with the reason. A test that passed once stays passing. Run with
// SLUICE_UPDATE_LEDGER=1 to write it anew.
const ledgerFile = "testdata/conformance.txt"

const (
	wantPassing = 90
	testTimeout = 90 * time.Second
	atOnce      = 2
)

// asCommand makes the test binary the command line itself.
const asCommand = "SLUICE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(app.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// systemTemp are the tests whose golden data name the folder for temporary files
// of a common machine; all others get one of their own.
var systemTemp = map[string]bool{"transforms/main-0035-get-variables.hwf": true}

func suiteRoot(t *testing.T) string {
	t.Helper()
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "hop-suite")
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

func mains(t *testing.T, root string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "suite.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestHopWorkflows runs every main workflow of the suite through the command
// line, each in a copy of its project folder with a temporary folder of its own.
func TestHopWorkflows(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite takes minutes; not with -short")
	}
	root := suiteRoot(t)
	ids, before := mains(t, root), readLedger(t)
	lines := make([]string, len(ids))
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, id := range ids {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			lines[i] = runMain(t, root, id)
		})
	}
	group.Wait()
	passed := 0
	for i, id := range ids {
		if lines[i] == "pass" {
			passed++
		} else if before[id] == "pass" && os.Getenv("SLUICE_UPDATE_LEDGER") == "" {
			t.Errorf("%s passed before, now: %s", id, lines[i])
		}
		lines[i] = id + "\t" + lines[i]
	}
	t.Logf("%d of %d main workflows pass", passed, len(ids))
	if os.Getenv("SLUICE_UPDATE_LEDGER") != "" {
		if err := os.WriteFile(ledgerFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(before) != len(ids) {
		t.Errorf("the ledger has %d entries for %d tests; run with SLUICE_UPDATE_LEDGER=1", len(before), len(ids))
	}
	if passed < wantPassing {
		t.Errorf("%d main workflows pass, want at least %d", passed, wantPassing)
	}
}

func runMain(t *testing.T, root, id string) string {
	folder, main, _ := strings.Cut(id, "/")
	work := t.TempDir()
	home, temp := filepath.Join(work, folder), filepath.Join(work, "tmp")
	if err := errors.Join(os.CopyFS(home, os.DirFS(filepath.Join(root, folder))), os.Mkdir(temp, 0o700)); err != nil {
		return "fail " + err.Error()
	}
	self, err := os.Executable()
	if err != nil {
		return "fail " + err.Error()
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	args := []string{"run", filepath.Join(home, main), "--project", home, "--run-config", "local"}
	if environment := filepath.Join(home, "dev-env-config.json"); exists(environment) {
		args = append(args, "--environment", environment)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), asCommand+"=1", "HOME="+work, "XDG_DATA_HOME="+work, "XDG_CONFIG_HOME="+work, "XDG_CACHE_HOME="+work, "HOP_CONFIG_FOLDER="+home)
	if !systemTemp[id] {
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err = cmd.Run()
	switch {
	case err == nil:
		return "pass"
	case ctx.Err() != nil:
		return fmt.Sprintf("fail it did not end within %s", testTimeout)
	}
	return "fail " + reason(log.String(), work, home)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// changing is what differs from run to run.
var changing = regexp.MustCompile(`\.tmp-\d+|^[0-9:.]+ `)

// reason is the first error of the log, else its last line.
func reason(log, work, home string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	text := lines[len(lines)-1]
	for _, l := range lines {
		if strings.Contains(l, " ERROR ") {
			text = l
			break
		}
	}
	text = changing.ReplaceAllString(strings.TrimSpace(text), "")
	text = strings.ReplaceAll(strings.ReplaceAll(text, home, "${PROJECT_HOME}"), work, "…")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

func readLedger(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(ledgerFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ledger := map[string]string{}
	for in := bufio.NewScanner(f); in.Scan(); {
		id, line, _ := strings.Cut(in.Text(), "\t")
		ledger[id] = line
	}
	return ledger
}
