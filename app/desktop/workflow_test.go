//go:build !headless

package desktop

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
)

// TestAWorkflowIsDrawnAndRuns: actions are placed, connected, set and run.
func TestAWorkflowIsDrawnAndRuns(t *testing.T) {
	s := show(t, false)
	s.newFile(true)
	e := s.current
	start := e.file.Nodes()[0]
	e.contextDialog(scene.Point{X: 300, Y: 100}, scene.Point{X: 300, Y: 112}, presenter.SceneID(start.ID))
	if !s.happened("context dialog") {
		t.Fatal("no dialog")
	}
	s.win.Canvas().Overlays().Remove(s.win.Canvas().Overlays().Top())
	e.place(presenter.Placed{Type: "WRITE_TO_LOG", At: scene.Point{X: 300, Y: 112}, From: presenter.SceneID(start.ID)})
	hops := e.file.Hops()
	if len(hops) != 1 || hops[0].Condition() != hopxml.Always {
		t.Fatalf("hops %+v", hops)
	}
	e.choose(scene.HopRef(presenter.SceneID(hops[0].ID)))
	s.do("hop-failure")
	if c := e.file.Hops()[0].Condition(); c != hopxml.OnFailure {
		t.Errorf("the hop is followed %v", c)
	}
	s.do("hop-always")
	n, _ := e.file.NodeNamed("Write to log")
	fm, ok := e.file.Form(n.ID)
	if !ok {
		t.Fatal("no form")
	}
	for i := range fm.Entries {
		if fm.Entries[i].Setting.Name == "Message" || fm.Entries[i].Setting.Key() == "logmessage" {
			fm.Entries[i].Text = "hello from ${Internal.Workflow.Name}"
		}
	}
	if err := fm.Apply(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.file.Place(presenter.Placed{Type: hopxml.StartType}); !errors.Is(err, presenter.ErrSecondStart) {
		t.Errorf("a second start: %v", err)
	}
	e.run(presenter.RunOptions{}, pipeline.Run{}, nil)
	if v := e.runView(); v.State != presenter.RunSucceeded {
		t.Errorf("the run %v: %v", v.State, v.Err)
	}
	lines, _ := e.log.Lines(0)
	if !slices.ContainsFunc(lines, func(l presenter.LogLine) bool { return strings.Contains(l.Text, "hello from") }) {
		t.Errorf("the log is %v", lines)
	}
}

func TestVariablesAreOfferedWhileTyping(t *testing.T) {
	s := show(t, false)
	vars := project.NewVariables()
	vars.Set("FIRST_DAY", "x")
	f := s.field("", "", nil)
	f.variables = vars
	s.win.SetContent(f)
	test.Type(f, "from ${")
	if !s.happened("variables 1") {
		t.Fatalf("events:\n%s", s.log)
	}
	f.variableItems()[0].Action()
	if f.Text != "from ${FIRST_DAY}" {
		t.Errorf("the text is %q", f.Text)
	}
}
