//go:build !headless

package desktop

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"sluice/app/presenter"
	"sluice/canvas/scene"
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
		if x.shown.State != storage.StateFailed || len(x.tree.lines) < 4 || x.replay.Disabled() || !strings.Contains(x.cause.full, "Load orders failed") {
			t.Errorf("%s, tree of %d, cause %q", x.shown.State, len(x.tree.lines), x.cause.full)
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
	if x.view.Plan.Verdict != replay.IsBlocked || !x.start.Disabled() || !s.happened("replay BLOCKED Blocked by 1 check") {
		t.Fatalf("verdict %s\n%s", x.view.Plan.Verdict, s.log)
	}
	x.choices.Overridden["upstream"] = true
	x.check()
	if !x.start.Disabled() || x.problem.full == "" {
		t.Error("an override without a reason is taken")
	}
	x.reason.SetText("the filter was wrong before")
	if x.start.Disabled() || x.view.Plan.Verdict != replay.Ready {
		t.Errorf("with a reason: %s", x.view.Plan.Verdict)
	}
	x.command()
	if !s.happened("command sluice replay " + id + " --override upstream --reason 'the filter was wrong before'") {
		t.Errorf("the command is another one: %s", s.log)
	}
}

// recorded puts so many failed executions into the store.
func (s *shown) recorded(t testing.TB, n int) {
	t.Helper()
	store, err := s.history.Store(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for range n {
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
}

func TestTheListOfExecutionsIsLight(t *testing.T) {
	s := show(t, false)
	s.do("go-executions")
	if !s.runs.empty.Objects[0].Visible() || s.runs.empty.Objects[1].Visible() {
		t.Error("an empty list says something else than that nothing has run")
	}
	s.recorded(t, 300)
	s.runs.reload()
	if len(s.runs.rows) != 200 || !s.runs.more.Visible() || s.runs.shown.full != "1–200" {
		t.Errorf("%d rows, %q", len(s.runs.rows), s.runs.shown.full)
	}
	s.draw()
	if n := objects(s.win.Content()); n > 2000 {
		t.Errorf("%d objects", n)
	}
	s.runs.more.onTap()
	if len(s.runs.rows) != 300 || s.runs.more.Visible() {
		t.Errorf("%d rows after the next page", len(s.runs.rows))
	}
	s.runs.filter.Text = "nothing like this"
	s.runs.reload()
	if len(s.runs.rows) != 0 || !s.runs.empty.Visible() || !s.runs.empty.Objects[1].Visible() {
		t.Error("a list that is narrowed to nothing does not say so")
	}
	s.draw()
}

// TestTenThousandExecutionsOpen prints how long the perspective takes to open, and to
// bring a live list up to date.
func TestTenThousandExecutionsOpen(t *testing.T) {
	s := show(t, false)
	s.recorded(t, 10_000)
	began := time.Now()
	s.do("go-executions")
	s.draw()
	t.Logf("opened and drawn in %v", time.Since(began))
	if len(s.runs.rows) != 200 || s.runs.detail.shown == nil {
		t.Errorf("%d rows", len(s.runs.rows))
	}
	began = time.Now()
	s.runs.refreshRows()
	t.Logf("brought up to date in %v", time.Since(began))
	if n := objects(s.win.Content()); n > 2000 {
		t.Errorf("%d objects", n)
	}
}

func TestTreeGraphAndTabsFollowOneSelection(t *testing.T) {
	for _, small := range []bool{false, true} {
		s := show(t, small)
		if small {
			s.win.Resize(fyne.NewSize(1024, 700))
		}
		s.nightly(t)
		s.do("go-executions")
		x := s.runs.detail
		if x.tabs.buttons[tabTree].Visible() != small {
			t.Errorf("small %v: the tree has a tab: %v", small, !small)
		}
		line := -1
		for i, l := range x.tree.lines {
			if l.Node == "Load orders" {
				line = i
			}
		}
		if line < 0 {
			t.Fatalf("the tree is %+v", x.tree.lines)
		}
		x.tree.choose(x.tree.lines[line])
		if ids := x.graph.Machine().Selection().IDs(scene.KindNode); len(ids) != 1 || x.node != "Load orders" || x.tabs.log.filter.Node != "Load orders" {
			t.Errorf("selected %v, node %q, log of %q", ids, x.node, x.tabs.log.filter.Node)
		}
		for _, e := range x.tabs.log.log.Entries {
			if e.Node != "Load orders" {
				t.Errorf("the log shows %+v", e)
			}
		}
		s.current.choose()
		x.definition.OnTapped()
		if got := s.current.chosenNames(); s.current.file.Title() != "nightly.hwf" || !slices.Equal(got, []string{"Load orders"}) {
			t.Errorf("the definition is %s with %v selected", s.current.file.Title(), got)
		}
		s.do("go-executions")
		x.focus("")
		if len(x.tabs.log.log.Entries) == 0 || x.tabs.log.log.NextError(-1) < 0 {
			t.Errorf("the log has %d lines and no error", len(x.tabs.log.log.Entries))
		}
		for n := range x.tabs.pages {
			if n < tabTree || small {
				x.tabs.choose(n)
				s.draw()
			}
		}
		child := x.tree.lines[line+1]
		if child.Execution == x.shown.ID {
			t.Fatalf("the action called nothing: %+v", x.tree.lines)
		}
		x.tree.choose(child)
		if x.shown.ID != child.Execution || !x.parent.Visible() || !x.replay.Disabled() || !strings.Contains(x.about.full, "replay that one") {
			t.Errorf("the child shows %s: %q", x.shown.ID, x.about.full)
		}
		if len(x.tabs.links) == 0 {
			t.Fatal("the child sealed nothing")
		}
		x.tabs.openSnapshot(x.tabs.links[0])
		if x.tabs.now != tabRows || x.tabs.rows.count() == 0 {
			t.Errorf("tab %d shows %d rows", x.tabs.now, x.tabs.rows.count())
		}
		s.draw()
		x.parent.onTap()
		if x.shown.Parent != "" {
			t.Errorf("the parent shows %s", x.shown.ID)
		}
		n := len(x.tree.shown)
		x.tree.folded[key(x.tree.lines[0])] = true
		x.tree.arrange()
		if len(x.tree.shown) != 1 || n < 3 {
			t.Errorf("folded, the tree shows %d of %d lines", len(x.tree.shown), n)
		}
	}
}

// chosenNames are the names of the selected nodes.
func (e *editor) chosenNames() (names []string) {
	for _, id := range e.graph.Machine().Selection().IDs(scene.KindNode) {
		for _, n := range e.file.Nodes() {
			if presenter.SceneID(n.ID) == id {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

func TestAFileOutOfSightIsNotEdited(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	e.pick(t, "Order value")
	s.do("go-executions")
	for _, id := range []presenter.ActionID{"delete", "undo", "gate", "run", "cut"} {
		s.do(id)
	}
	if e.file.Dirty() || e.session != nil || len(s.dialogs) > 0 || !strings.Contains(s.frame.hint.full, "designer") {
		t.Errorf("dirty %v, %d dialogs, %q", e.file.Dirty(), len(s.dialogs), s.frame.hint.full)
	}
	s.do("go-designer")
	s.do("delete")
	if !e.file.Dirty() {
		t.Error("in the designer nothing is deleted")
	}
}

func TestRecordsAreTidiedUpAndPacked(t *testing.T) {
	s := show(t, true)
	s.do("support-bundle")
	if !strings.Contains(s.frame.hint.full, "Select an execution") {
		t.Errorf("a bundle of nothing: %q", s.frame.hint.full)
	}
	e := s.nightly(t)
	s.recorded(t, 3)
	s.showExecution(e.session.View().Execution)
	path := filepath.Join(t.TempDir(), "b.zip")
	s.packBundle(s.runs.detail.shown, path)
	if st, err := os.Stat(path); err != nil || st.Size() == 0 || !s.happened("bundle ") {
		t.Errorf("%v", err)
	}
	s.closeDialogs()
	log := filepath.Join(t.TempDir(), "log.jsonl")
	s.runs.detail.tabs.log.exportTo(log)
	if data, err := os.ReadFile(log); err != nil || !strings.Contains(string(data), "Load orders") {
		t.Errorf("%d bytes of log, %v", len(data), err)
	}
	s.do("disk")
	s.draw()
	if s.lastDialog() != "Disk use" {
		t.Errorf("dialog %q", s.lastDialog())
	}
	s.closeDialogs()
	s.do("retention")
	s.draw()
	if s.lastDialog() != "Remove old records" {
		t.Errorf("dialog %q", s.lastDialog())
	}
	s.closeDialogs()
	r, err := s.removeRecords(storage.RetentionPolicy{Count: 1})
	if err != nil || r.Executions != 2 {
		t.Errorf("%d removed, %v: the failed one with sealed rows stays", r.Executions, err)
	}
	s.do("delete-record")
	if s.lastDialog() != "Delete this record?" {
		t.Errorf("dialog %q", s.lastDialog())
	}
}

var plainRun = pipeline.Run{}
