//go:build !headless

package desktop

import (
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/gate"
)

// pick selects a node by name.
func (e *editor) pick(t *testing.T, name string) scene.Ref {
	t.Helper()
	n, ok := e.file.NodeNamed(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	ref := scene.NodeRef(presenter.SceneID(n.ID))
	e.choose(ref)
	return ref
}

// badge is what the canvas shows at a node.
func (e *editor) badge(t *testing.T, name string) scene.Node {
	t.Helper()
	for _, n := range e.file.Scene(nil).Nodes {
		if n.Label == name {
			return n
		}
	}
	t.Fatalf("there is no %s", name)
	return scene.Node{}
}

// gated opens the sample with a gate at Order value, sealed by one run.
func (s *shown) gated(t *testing.T) *editor {
	t.Helper()
	e := s.sample(t)
	e.pick(t, "Order value")
	s.do("gate")
	e.run(presenter.RunOptions{}, plainRun, nil)
	if v := e.runView(); v.State != presenter.RunSucceeded {
		t.Fatalf("the run is %v: %v", v.State, v.Err)
	}
	if n := e.badge(t, "Order value"); n.Gate != scene.GateSealed {
		t.Fatalf("after the run: %+v", n)
	}
	return e
}

// lastDialog is the title of the dialog on top, "" when there is none.
func (s *shown) lastDialog() string {
	if len(s.dialogs) == 0 {
		return ""
	}
	return s.dialogs[len(s.dialogs)-1].title
}

func (s *shown) closeDialogs() {
	for len(s.dialogs) > 0 {
		s.dialogs[len(s.dialogs)-1].close()
	}
}

func TestAGateIsMarkedByPointing(t *testing.T) {
	s := show(t, false)
	s.open(filepath.Join(s.folder, "list-shop.hpl"))
	e := s.current
	e.pick(t, "Open orders")
	s.do("gate")
	if !s.happened("gate marked Open orders") || !e.file.Dirty() {
		t.Fatalf("not marked: %s", s.log)
	}
	if !strings.Contains(string(e.file.Document().Bytes()), "replay-gate") {
		t.Error("the file has no gate")
	}
	s.do("gate") // it is one already: its settings
	if s.lastDialog() != "Replay gate at Open orders" {
		t.Fatalf("dialogs %d: %s", len(s.dialogs), s.log)
	}
	s.draw()
	s.closeDialogs()
	s.do("replay-here")
	if !strings.Contains(s.frame.hint.full, "no snapshot yet") {
		t.Errorf("replay from a gate that sealed nothing: %q", s.frame.hint.full)
	}
	s.do("gate-remove")
	if !s.happened("gate removed Open orders") || strings.Contains(string(e.file.Document().Bytes()), "replay-gate") {
		t.Errorf("not removed: %s", s.log)
	}
	s.do("snapshot-rows")
	if !strings.Contains(s.frame.hint.full, "is no replay gate") {
		t.Errorf("rows without a gate: %q", s.frame.hint.full)
	}
}

func TestTheSettingsOfAGateAreOneStepOfUndo(t *testing.T) {
	for _, dark := range []bool{false, true} {
		s := show(t, dark)
		e := s.sample(t)
		e.pick(t, "Order value")
		s.do("gate-settings")
		s.draw()
		m, err := e.file.GateForm("Order value")
		if err != nil {
			t.Fatal(err)
		}
		g := &gateDialog{e: e, m: m, hints: map[string]*words{}, helps: map[string]string{}}
		g.open()
		g.set(gate.KeyMinRows, "few")
		if !g.ok.Disabled() || !strings.Contains(g.hints[gate.KeyMinRows].full, "few") {
			t.Errorf("a bad number: %q", g.hints[gate.KeyMinRows].full)
		}
		s.draw()
		g.set(gate.KeyMinRows, "1")
		m.GetFields(e.outputs("Order value"))
		if len(m.Fields) == 0 {
			t.Fatal("there are no fields")
		}
		m.Fields[0].NotNull = true
		g.fields.changed()
		s.draw()
		g.test(t.TempDir())
		if hint := g.hints[gate.KeyLocation].full; !strings.Contains(hint, "reachable") {
			t.Errorf("the test says %q", hint)
		}
		g.test("nowhere:")
		if hint := g.hints[gate.KeyLocation].full; !strings.Contains(hint, "nowhere") {
			t.Errorf("the test says %q", hint)
		}
		g.ok.OnTapped()
		is, err := e.file.GateOf("Order value")
		if err != nil || is == nil || is.Settings[gate.KeyMinRows] != "1" || is.Settings[gate.KeyNotNull] != m.Fields[0].Name {
			t.Errorf("%+v, %v", is, err)
		}
		if e.file.Unsaved() != 1 {
			t.Errorf("%d steps", e.file.Unsaved())
		}
		s.closeDialogs()
	}
}

func TestASealedGateIsLookedInto(t *testing.T) {
	s := show(t, false)
	e := s.gated(t)
	ref := e.pick(t, "Order value")
	tip, ok := e.toolTip(scene.Hit{Ref: ref, Part: scene.PartGate})
	if !ok || tip.Title != "Sealed and verified" || !strings.HasPrefix(tip.Caption, "Sealed today ") || tip.Tone != scene.ToneOK {
		t.Errorf("the badge says %+v", tip)
	}
	s.do("snapshot-rows")
	if e.bottom.now != 3 || e.rows.count() == 0 || !strings.HasPrefix(e.rows.title.full, "Snapshot of Order value: ") {
		t.Errorf("panel %d shows %q", e.bottom.now, e.rows.title.full)
	}
	s.draw()
	if c := e.rows.cell(0, 1); c.text == "" {
		t.Error("the first value is empty")
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	e.rows.exportTo(e.rows.source, path)
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != e.rows.count()+1 {
		t.Errorf("%d bytes exported: %v", len(data), err)
	}
	s.do("snapshot-verify")
	if s.lastDialog() != "The snapshot of Order value verifies" {
		t.Errorf("verify: %q", s.lastDialog())
	}
	s.closeDialogs()
	s.do("snapshot-compare")
	if s.lastDialog() != "Nothing to compare with" {
		t.Errorf("compare: %q", s.lastDialog())
	}
	s.closeDialogs()
	s.do("snapshots")
	if s.lastDialog() != "Snapshots of Order value" {
		t.Errorf("list: %q", s.lastDialog())
	}
	s.draw()
	s.closeDialogs()

	fm, _ := e.file.Form(presenter.ElementID(ref.ID))
	fm.Description = "prices" // row-neutral
	if err := fm.Apply(); err != nil {
		t.Fatal(err)
	}
	e.changed()
	if n := e.badge(t, "Order value"); n.Gate != scene.GateSealed {
		t.Errorf("a description made it %v", n.Gate)
	}
	e.run(presenter.RunOptions{}, plainRun, nil)
	e.pick(t, "Order value")
	s.do("snapshot-compare")
	if !s.happened("compared equal=true") {
		t.Errorf("the same rows twice: %s", s.log)
	}
	s.closeDialogs()
}

func TestAStaleGateSaysWhy(t *testing.T) {
	s := show(t, false)
	e := s.gated(t)
	orders, _ := e.file.NodeNamed("Orders")
	fm, ok := e.file.Form(orders.ID)
	if !ok {
		t.Fatal("Orders has no form")
	}
	for i := range fm.Entries {
		if fm.Entries[i].Setting.Form == "sql" {
			fm.Entries[i].Text += "\nlimit 5"
		}
	}
	if err := fm.Apply(); err != nil {
		t.Fatal(err)
	}
	e.changed()
	ref := e.pick(t, "Order value")
	if n := e.badge(t, "Order value"); n.Gate != scene.GateStale {
		t.Fatalf("it shows %v", n.Gate)
	}
	tip, _ := e.toolTip(scene.Hit{Ref: ref, Part: scene.PartGate})
	if tip.Title != "Stale: settings changed after the seal" || len(tip.Rows) < 3 || !strings.HasPrefix(tip.Rows[0].Key, "Orders › ") || tip.Rows[2].Value != "limit 5" {
		t.Errorf("the badge says %+v", tip)
	}
	found := false
	for _, p := range e.problems.list {
		found = found || p.Node == "Order value" && strings.HasPrefix(p.Message, "Stale: ")
	}
	if !found {
		t.Errorf("problems: %+v", e.problems.list)
	}
	for _, p := range e.problems.list {
		if p.Node == "Order value" {
			e.problems.fix(p)
		}
	}
	if s.lastDialog() != "What changed above Order value" {
		t.Errorf("the problem is mended by %q", s.lastDialog())
	}
	s.draw()
	s.closeDialogs()
	e.undo()
	if n := e.badge(t, "Order value"); n.Gate != scene.GateSealed {
		t.Errorf("after undo: %v", n.Gate)
	}
}

func TestReplayFromHereOpensTheDialogAtTheGate(t *testing.T) {
	s := show(t, false)
	e := s.gated(t)
	e.pick(t, "Order value")
	s.do("replay-here")
	if !strings.HasPrefix(s.lastDialog(), "Save ") {
		t.Fatalf("with unsaved changes: %q", s.lastDialog())
	}
	s.dialogs[0].onEnter()
	x := s.lastReplay
	if x == nil || x.view == nil || x.choices.Start == "" || x.view.Plan.Start != x.choices.Start || !strings.Contains(x.view.Plan.Start, "Order value") {
		t.Fatalf("the dialog is %+v; %s", x, s.log)
	}
	s.draw()
	x.dl.close()
}

func TestTheDevelopmentCacheIsUsedByPointing(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	e.pick(t, "Orders")
	s.do("cache-run")
	if !strings.Contains(s.frame.hint.full, "Nothing is cached") {
		t.Errorf("run from no cache: %q", s.frame.hint.full)
	}
	s.do("cache")
	if !strings.HasPrefix(s.lastDialog(), "Cache output of Orders") {
		t.Fatalf("dialog %q", s.lastDialog())
	}
	s.dialogs[0].close()
	if !e.try("cache", e.file.MarkCache("Orders", 0)) {
		t.Fatal("not marked")
	}
	e.run(presenter.RunOptions{}, plainRun, nil)
	if n := e.badge(t, "Orders"); !strings.HasSuffix(n.Metric, " rows cached") || n.Gate != scene.GateNone {
		t.Errorf("after the run: %+v", n)
	}
	s.do("cache-run")
	for _, m := range e.runView().Metrics {
		if m.Name == "Orders" && m.Input > 0 {
			t.Errorf("the source ran: %+v", m)
		}
	}
	if lines, _ := e.log.Lines(0); !slices.ContainsFunc(lines, func(l presenter.LogLine) bool {
		return l.Transform == "Orders" && strings.Contains(l.Text, "from the cache")
	}) {
		t.Error("the log does not tell of the cache")
	}
	s.do("snapshot-rows")
	if e.rows.count() == 0 {
		t.Error("cached rows are not shown")
	}
	s.do("cache-clear")
	if n := e.badge(t, "Orders"); n.Metric != "cached at the next run" {
		t.Errorf("after clearing: %+v", n)
	}
	s.do("cache-remove")
	if _, cached := e.file.CacheOf("Orders"); cached {
		t.Error("it is cached still")
	}
}

func TestAFileIsExportedAsAPicture(t *testing.T) {
	s := show(t, true)
	e := s.gated(t)
	path := filepath.Join(t.TempDir(), "main.png")
	e.savePicture(path)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := png.DecodeConfig(f); err != nil || c.Width < 1000 || c.Height < 400 {
		t.Errorf("%d x %d, %v", c.Width, c.Height, err)
	}
}

func TestTheRunDialogSetsVariables(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	e.options.Variables = map[string]string{"COUNTRY": "NL"}
	s.do("run")
	s.draw()
	s.closeDialogs()
	r := newRunDialog(e, runChoices{configurations: []string{"local"}, standard: "local"})
	r.open()
	r.variables = append(r.variables, runVariable{"DAY", "monday"}, runVariable{"", "lost"})
	r.showVariables()
	s.draw()
	r.start()
	if v := e.runView(); v.State != presenter.RunSucceeded {
		t.Fatalf("%v: %v", v.State, v.Err)
	}
	if len(e.options.Variables) != 2 || e.options.Variables["DAY"] != "monday" {
		t.Errorf("%v", e.options.Variables)
	}
	s.showExecution(e.session.View().Execution)
	found := ""
	for _, v := range s.runs.detail.shown.Variables {
		if v.Name == "DAY" {
			found = v.Value
		}
	}
	if found != "monday" {
		t.Errorf("the run knew DAY as %q", found)
	}
}
