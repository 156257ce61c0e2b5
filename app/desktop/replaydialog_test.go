//go:build !headless

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/gesture"
	"sluice/canvas/scene"
	"sluice/engine/replay"
	"sluice/storage"
)

// askNightly fails a night and opens the replay dialog for it.
func (s *shown) askNightly(t *testing.T) *replayDialog {
	t.Helper()
	e := s.nightly(t)
	s.showExecution(e.session.View().Execution)
	s.runs.detail.replay.OnTapped()
	return s.replaying(t)
}

// warehouse brings back what the night missed.
func (s *shown) warehouse(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(s.folder, "warehouse"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.runFile(t, "make-warehouse.hpl")
}

// rewrite changes a file of the project on disk.
func (s *shown) rewrite(t *testing.T, name, from, to string) {
	t.Helper()
	path := filepath.Join(s.folder, name)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q, %v", name, from, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheReplayDialogShowsPlanStartsAndChecks(t *testing.T) {
	for _, size := range []fyne.Size{fyne.NewSize(1440, 900), fyne.NewSize(1024, 700)} {
		themes(t, func(t *testing.T, s *shown) {
			s.win.Resize(size)
			x := s.askNightly(t)
			content := x.dl.pop.Content
			for _, text := range []string{"Ready to replay", "First failed action: Load orders", "Gate: Open orders", "checks passed", "Not opened"} {
				if !hasText(content, text) {
					t.Errorf("%v: the dialog does not say %q", size, text)
				}
			}
			if size.Width == 1024 {
				if got := content.Size(); got.Width < 1024-replayMargin-8 || got.Height < 700-replayMargin-8 {
					t.Errorf("in a small window the dialog is %v", got)
				}
			}
			for n := range x.pages.pages {
				x.pages.choose(n)
				s.draw()
			}
			if n := objects(x.dl.pop.Content); n > 2000 {
				t.Errorf("%d objects", n)
			}
			x.dl.close()
		})
	}
}

func TestANodeOfThePlanIsAStartPoint(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	node := func(name string) scene.ID {
		n, ok := x.plan.file.NodeNamed(name)
		if !ok {
			t.Fatalf("the plan has no %s", name)
		}
		return presenter.SceneID(n.ID)
	}
	x.plan.intent(gesture.Select{Selection: scene.Select(scene.NodeRef(node("Name the load")))})
	if x.view.Plan.Start != "Name the load" {
		t.Fatalf("it starts at %q", x.view.Plan.Start)
	}
	x.plan.intent(gesture.Open{Node: node("Load orders")})
	if x.plan.at != "Load orders#1" || !x.plan.up.Visible() {
		t.Fatalf("the plan shows %q", x.plan.at)
	}
	x.plan.intent(gesture.Select{Selection: scene.Select(scene.NodeRef(node("Open orders")))})
	if x.view.Plan.Start != "Load orders#1/Open orders" {
		t.Errorf("it starts at %q", x.view.Plan.Start)
	}
	x.plan.intent(gesture.Select{Selection: scene.Select(scene.NodeRef(node("Amount")))})
	if !strings.Contains(x.note.full, "Amount is no start point") {
		t.Errorf("a transform without a gate: %q", x.note.full)
	}
	x.plan.up.onTap()
	if x.plan.at != "" {
		t.Errorf("the way up leads to %q", x.plan.at)
	}
	last := len(x.starts.rows) - 1
	x.starts.list.Select(last)
	if x.view.Plan.Start != replay.FromStart {
		t.Errorf("the last row starts at %q", x.view.Plan.Start)
	}
}

// TestWarningsAreTickedOneByOne replays what a replay has done already.
func TestWarningsAreTickedOneByOne(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	id := x.of.ID
	x.dl.close()
	s.warehouse(t)
	s.showExecution(id)
	s.runs.detail.replay.OnTapped()
	s.replaying(t).start.OnTapped()
	s.showExecution(id)
	s.runs.detail.replay.OnTapped()
	x = s.replaying(t)
	if !s.happened("replay NEEDS_ACK Acknowledge 2 warnings") || !x.start.Disabled() {
		t.Fatalf("%s", s.log)
	}
	asked := x.asked
	for _, want := range []string{"Acknowledge 1 warning", "Ready to replay"} {
		var open *widget.Check
		walk(x.checks.box, func(o fyne.CanvasObject) {
			if c, ok := o.(*widget.Check); ok && !c.Checked && open == nil {
				open = c
			}
		})
		if open == nil {
			t.Fatal("there is nothing to tick")
		}
		open.SetChecked(true)
		if x.verdict.full != want {
			t.Errorf("after a tick: %q, want %q", x.verdict.full, want)
		}
	}
	if x.asked != asked {
		t.Error("a tick looked at everything again")
	}
	if x.start.Disabled() {
		t.Fatal("the replay cannot be started")
	}
	x.start.OnTapped()
	if s.runs.detail.shown.State != storage.StateSucceeded || s.runs.detail.shown.ReplayOf != id {
		t.Errorf("the second replay: %+v", s.runs.detail.shown.ExecutionHead)
	}
}

func TestABlockIsOverriddenWithAReason(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	s.rewrite(t, "load-orders.hpl", "status = 'open'", "status = 'shipped'")
	s.press(t, "Check again")
	if x.view.Plan.Verdict != replay.IsBlocked {
		t.Fatalf("verdict %s", x.view.Plan.Verdict)
	}
	s.press(t, "Override…")
	reason := findField(t, s.dialogs[len(s.dialogs)-1].pop.Content, "")
	reason.SetText("too short")
	s.press(t, "Override")
	if x.view.Plan.Verdict != replay.IsBlocked {
		t.Error("a reason of nine characters is taken")
	}
	reason.SetText("the filter was wrong before")
	s.press(t, "Override")
	if x.view.Plan.Verdict != replay.Ready || x.start.Disabled() || x.reason.Text != "the filter was wrong before" {
		t.Fatalf("overridden: %s, reason %q", x.view.Plan.Verdict, x.reason.Text)
	}
	x.reason.SetText("short")
	if !x.start.Disabled() || x.problem.full == "" {
		t.Error("the reason of an override can be emptied")
	}
	x.reason.SetText("the filter was wrong before")
	s.press(t, "Take back")
	if x.view.Plan.Verdict != replay.IsBlocked || len(x.choices.Overridden) != 0 {
		t.Errorf("taken back: %s", x.view.Plan.Verdict)
	}
	s.press(t, "Start from the beginning")
	if x.choices.Start != replay.FromStart || x.view.Plan.Verdict == replay.IsBlocked {
		t.Errorf("it starts at %q: %s", x.choices.Start, x.view.Plan.Verdict)
	}
}

func TestAVariableIsChangedAndReset(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	var cell *valueCell
	walk(x.vars.box, func(o fyne.CanvasObject) {
		if c, ok := o.(*valueCell); ok && c.value() == "2026-02-13" {
			cell = c
		}
	})
	if cell == nil {
		t.Fatal("the day is not listed")
	}
	cell.Tapped(nil)
	value := findField(t, x.vars.box, "2026-02-13")
	if s.win.Canvas().Focused() != value {
		t.Error("a click does not give the keyboard to the value")
	}
	value.SetText("2026-02-14")
	if x.choices.Given["LOAD_DAY"] != "2026-02-14" || x.vars.count.full != "1 of 5 changed" {
		t.Fatalf("given %v, %q", x.choices.Given, x.vars.count.full)
	}
	if findField(t, x.vars.box, "2026-02-14") != value {
		t.Error("the entry was taken away while typing")
	}
	s.press(t, "Check again")
	x.vars.reset("LOAD_DAY")
	if len(x.choices.Given) != 0 || value.Text != "2026-02-13" || x.view.Plan.Verdict != replay.Ready {
		t.Errorf("after the reset: %v, %q, %s", x.choices.Given, value.Text, x.view.Plan.Verdict)
	}
	x.vars.another()
	name := s.dialogs[len(s.dialogs)-1].pop.Content
	walk(name, func(o fyne.CanvasObject) {
		if e, ok := o.(*widget.SelectEntry); ok {
			e.SetText("EXTRA")
		}
	})
	s.press(t, "Use it")
	if v, ok := x.choices.Given["EXTRA"]; !ok || v != "" {
		t.Errorf("given %v", x.choices.Given)
	}
}

// TestWhatMovedIsCheckedAgain changes a file between the check and the start.
func TestWhatMovedIsCheckedAgain(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	s.warehouse(t)
	s.rewrite(t, "load-orders.hpl", "<table>open_orders</table>", "<table>open_orders </table>")
	x.start.OnTapped()
	if !s.happened("replay moved") || len(s.dialogs) == 0 {
		t.Fatalf("the old plan was run: %s", s.log)
	}
	if x.note.full != "Something changed since the check. Checked again." || x.view.Before == nil {
		t.Errorf("the dialog says %q", x.note.full)
	}
	s.press(t, "Check again")
	if x.view.Before != nil {
		t.Error("the marks stay for ever")
	}
}

func TestACheckIsCancelled(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	var later []func()
	spawn := s.spawn
	s.spawn = func(f func()) { later = append(later, f) }
	x.check()
	if x.again.Text != "Cancel check" || !x.start.Disabled() || x.verdict.full != "Checking…" {
		t.Fatalf("while it checks: %q, %q", x.again.Text, x.verdict.full)
	}
	x.again.OnTapped()
	if x.verdict.full != "Not checked" || x.again.Text != "Check again" {
		t.Errorf("cancelled: %q, %q", x.verdict.full, x.again.Text)
	}
	for _, f := range later {
		f()
	}
	if x.verdict.full != "Not checked" || !x.start.Disabled() {
		t.Errorf("a cancelled check says %q", x.verdict.full)
	}
	s.spawn = spawn
	x.again.OnTapped()
	if x.verdict.full != "Ready to replay" {
		t.Errorf("checked again: %q", x.verdict.full)
	}
}

// TestDamagedRowsAreStagedAgain cuts a segment short; the way out is to read the
// source again.
func TestDamagedRowsAreStagedAgain(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	cutShort(t, filepath.Join(os.Getenv("SLUICE_DATA"), "snapshots"))
	s.press(t, "Check again")
	if x.view.Plan.Verdict != replay.IsBlocked || !hasText(x.dl.pop.Content, "The rows of Open orders are damaged") {
		t.Fatalf("verdict %s", x.view.Plan.Verdict)
	}
	s.press(t, "Start from the beginning")
	if x.view.Plan.Verdict == replay.IsBlocked {
		t.Errorf("from the beginning: %+v", x.view.Plan.Open())
	}
}

// TestAReplayIsGivenUpWhileItStarts closes the dialog before the new execution is
// there.
func TestAReplayIsGivenUpWhileItStarts(t *testing.T) {
	s := show(t, false)
	x := s.askNightly(t)
	s.warehouse(t)
	var later []func()
	spawn := s.spawn
	s.spawn = func(f func()) { later = append(later, f) }
	x.start.OnTapped()
	if x.verdict.full != "Starting…" || !x.start.Disabled() {
		t.Fatalf("while it starts: %q", x.verdict.full)
	}
	x.dl.close()
	s.spawn = spawn
	for _, f := range later {
		f()
	}
	if s.happened("replay started") || s.happened("error ") || x.run != nil {
		t.Errorf("after the dialog was closed: %v, %s", x.run, s.log)
	}
}
