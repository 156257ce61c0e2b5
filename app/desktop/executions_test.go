//go:build !headless

package desktop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/engine/pipeline"
	"sluice/engine/replay"
	"sluice/storage"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sluice-desktop-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"SLUICE_DATA": dir, "SLUICE_CACHE": filepath.Join(dir, "cache"), "SLUICE_SNAPSHOTS": "", "HOP_CONFIG_FOLDER": dir} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	setLocale()
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// nightly runs the nightly load of the sample, whose warehouse is not there.
func (s *shown) nightly(t *testing.T) *editor {
	t.Helper()
	s.open(filepath.Join(s.folder, "nightly.hwf"))
	if s.current == nil {
		t.Fatalf("the workflow did not open: %s", s.log)
	}
	e := s.current
	e.run(presenter.RunOptions{}, plainRun, nil)
	if v := e.runView(); v.State != presenter.RunFailed || v.FailedAt != "Load orders" {
		t.Fatalf("the run is %v at %q: %v", v.State, v.FailedAt, v.Err)
	}
	return e
}

func TestAFailedWorkflowIsReplayedFromTheDialog(t *testing.T) {
	for _, dark := range []bool{false, true} {
		s := show(t, dark)
		e := s.nightly(t)
		s.do("go-executions")
		if s.runs == nil || len(s.runs.rows) != 1 || s.runs.detail.shown == nil {
			t.Fatalf("the list shows %+v; %s", s.runs, s.log)
		}
		x := s.runs.detail
		if x.shown.State != storage.StateFailed || len(x.heads) != 2 || x.replay.Disabled() || !strings.Contains(x.cause.full, "Load orders failed") {
			t.Errorf("%s, tree of %d, cause %q", x.shown.State, len(x.heads), x.cause.full)
		}
		for n := range x.tabs.pages {
			x.tabs.choose(n)
		}
		// The warehouse comes back, the shop has moved on.
		if err := os.MkdirAll(filepath.Join(s.folder, "warehouse"), 0o755); err != nil {
			t.Fatal(err)
		}
		s.runFile(t, "make-warehouse.hpl")
		s.runFile(t, "a-day-passes.hpl")
		s.do("go-executions")
		s.runs.choose(e.session.View().Execution)
		x.replay.OnTapped()
		if !s.happened("replay READY Ready to replay") {
			t.Fatalf("the dialog says: %s", s.log)
		}
		dl := s.dialogs[len(s.dialogs)-1]
		if !strings.HasPrefix(dl.title, "Replay") {
			t.Fatalf("dialog %q", dl.title)
		}
		s.replaying(t).start.OnTapped()
		if !s.happened("replay ended ") || len(s.dialogs) != 0 || x.shown.State != storage.StateSucceeded || x.shown.ReplayOf == "" {
			t.Fatalf("after the replay: %s shows %s\n%s", x.shown.ID, x.shown.State, s.log)
		}
		s.runFile(t, "list-warehouse.hpl")
		data, err := os.ReadFile(filepath.Join(s.folder, "out", "loaded.csv"))
		if n := strings.Count(string(data), "\n"); err != nil || n != 98 {
			t.Errorf("%d lines were loaded, %v", n, err)
		}
	}
}

// replaying is the replay dialog that is open.
func (s *shown) replaying(t *testing.T) *replayDialog {
	t.Helper()
	if s.lastReplay == nil {
		t.Fatal("no replay dialog is open")
	}
	return s.lastReplay
}

// runFile runs a pipeline of the sample beside the window.
func (s *shown) runFile(t *testing.T, name string) {
	t.Helper()
	s.open(filepath.Join(s.folder, name))
	s.current.run(presenter.RunOptions{}, plainRun, nil)
	if v := s.current.runView(); v.State != presenter.RunSucceeded {
		t.Fatalf("%s: %v %v", name, v.State, v.Err)
	}
}

func TestTheReplayDialogTellsWhyNot(t *testing.T) {
	s := show(t, false)
	e := s.nightly(t)
	id := e.session.View().Execution
	text, err := os.ReadFile(filepath.Join(s.folder, "load-orders.hpl"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "status = 'open'", "status = 'shipped'", 1)
	if err := os.WriteFile(filepath.Join(s.folder, "load-orders.hpl"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	s.showExecution(id)
	s.runs.detail.replay.OnTapped()
	x := s.replaying(t)
	if x.plan.Verdict != replay.IsBlocked || !x.start.Disabled() || !s.happened("replay BLOCKED Blocked by 1 check") {
		t.Fatalf("verdict %s\n%s", x.plan.Verdict, s.log)
	}
	x.choices.Overridden["upstream"] = true
	x.check()
	if !x.start.Disabled() || x.problem.full == "" {
		t.Error("an override without a reason is taken")
	}
	x.reason.SetText("the filter was wrong before")
	if x.start.Disabled() || x.plan.Verdict != replay.Ready {
		t.Errorf("with a reason: %s", x.plan.Verdict)
	}
	x.command()
	if !s.happened("command sluice replay " + id + " --override upstream --reason 'the filter was wrong before'") {
		t.Errorf("the command is another one: %s", s.log)
	}
}

func TestTheListOfExecutionsIsLight(t *testing.T) {
	s := show(t, false)
	store, err := s.history.Store(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		e, err := store.Create(context.Background(), storage.NewExecution{Execution: storage.Execution{ExecutionHead: storage.ExecutionHead{
			Kind: storage.KindPipeline, Name: strings.Repeat("a very long name of a pipeline ", 4), State: storage.StateRunning, File: "/shop/x.hpl",
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Transition(context.Background(), e.ID, storage.Change{To: storage.StateFailed, Message: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	s.do("go-executions")
	if len(s.runs.rows) < 50 {
		t.Errorf("%d rows", len(s.runs.rows))
	}
	s.runs.filter.Text = "nothing like this"
	s.runs.reload()
	if len(s.runs.rows) != 0 || !s.runs.empty.Visible() {
		t.Error("an empty list says nothing")
	}
}

var plainRun = pipeline.Run{}
