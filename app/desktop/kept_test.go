//go:build !headless

package desktop

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sluice/app/presenter"
	"sluice/assets/sample"
	"sluice/canvas/scene"
)

// again starts the desktop with what another one kept.
func (s *shown) again(t *testing.T) *shown {
	t.Helper()
	s.remember()
	next := show(t, false)
	next.memory = presenter.LoadMemory(s.memoryPath)
	return next
}

func TestTheWindowComesBackAsItWas(t *testing.T) {
	s := show(t, true)
	s.win.Resize(fyne.NewSize(1300, 810))
	paths := []string{filepath.Join(s.folder, "nightly.hwf"), filepath.Join(s.folder, sample.Main), filepath.Join(s.folder, "load-orders.hpl")}
	for _, p := range paths {
		s.open(p)
	}
	e := s.editorOf(paths[1])
	s.show(e)
	s.draw()
	s.do("zoom-in")
	s.do("zoom-in")
	want := e.graph.Machine().View()
	s.frame.side.split.SetOffset(0.61)
	s.frame.split.SetOffset(0.25)
	e.split.SetOffset(0.5)

	next := s.again(t)
	if m := next.memory; !m.Dark || m.Width != 1300 || m.Height != 810 || m.Side != 0.25 || m.Bottom != 0.5 || m.Splits["side"] != 0.61 {
		t.Errorf("kept: %+v", m)
	}
	next.win.Resize(fyne.NewSize(1300, 810))
	next.restore(next.memory.Open, next.memory.Current)
	var open []string
	for _, e := range next.editors {
		open = append(open, e.file.Path())
	}
	if !slices.Equal(open, paths) || next.current == nil || next.current.file.Path() != paths[1] {
		t.Fatalf("open are %v with %v in front", open, next.current)
	}
	next.frame.split.SetOffset(0.25)
	next.draw()
	if v := next.current.graph.Machine().View(); math.Abs(v.Zoom-want.Zoom) > 1e-9 || v.Zoom == 1 {
		t.Errorf("zoom is %v, was %v", v, want)
	}
}

func TestFilesOfTheLastTimeThatAreGone(t *testing.T) {
	s := show(t, false)
	gone := filepath.Join(s.folder, "load-orders.hpl")
	s.open(filepath.Join(s.folder, sample.Main))
	s.open(gone)
	next := s.again(t)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	next.restore(next.memory.Open, next.memory.Current)
	if len(next.editors) != 1 || len(next.dialogs) != 0 || !next.happened("gone load-orders.hpl") {
		t.Errorf("%d open, %d dialogs; %s", len(next.editors), len(next.dialogs), next.log)
	}
	next.remember()
	if slices.Contains(next.memory.Open, gone) {
		t.Error("what is gone is still listed as open")
	}
}

// Files of a command line, or dropped together, open in their order; one that is not
// there is told and does not keep the others out.
func TestFilesOpenInTheirOrder(t *testing.T) {
	s := show(t, false)
	var paths []string
	for _, name := range []string{"nightly.hwf", "nowhere.hpl", "load-orders.hpl", sample.Main} {
		paths = append(paths, filepath.Join(s.folder, name))
	}
	s.dropped(paths...)
	var open []string
	for _, e := range s.editors {
		open = append(open, e.file.Title())
	}
	if want := []string{"nightly.hwf", "load-orders.hpl", sample.Main}; !slices.Equal(open, want) || s.current != s.editors[2] {
		t.Errorf("open are %v", open)
	}
	if len(s.dialogs) != 1 || !strings.Contains(s.dialogs[0].title, "nowhere.hpl") {
		t.Errorf("%d dialogs are open", len(s.dialogs))
	}
}

func TestDroppedFilesOpen(t *testing.T) {
	s := show(t, false)
	main := filepath.Join(s.folder, sample.Main)
	s.dropped(main)
	if s.current == nil || s.current.file.Path() != main {
		t.Fatalf("a dropped file does not open: %s", s.log)
	}
	s.dropped(filepath.Join(s.folder, "customers.csv"))
	if len(s.editors) != 1 || s.frame.hint.full != "customers.csv is no pipeline, workflow or folder" {
		t.Errorf("a dropped table: %d open, %q", len(s.editors), s.frame.hint.full)
	}
	other := t.TempDir()
	s.dropped(other)
	if s.frame.side.home != other {
		t.Errorf("a dropped folder shows %s", s.frame.side.home)
	}
}

func TestTheEndOfARunIsNotified(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	run := func() { e.run(e.options, plainRun, nil) }
	told := fyne.NewNotification("Sluice", "main.hpl: succeeded")
	test.AssertNotificationSent(t, nil, run)
	s.away = true
	test.AssertNotificationSent(t, told, run)
	s.do("notifications")
	s.press(t, "Never")
	test.AssertNotificationSent(t, nil, run)
	s.away = false
	s.do("notifications")
	s.draw()
	s.press(t, "Always")
	test.AssertNotificationSent(t, told, run)
	if presenter.LoadMemory(s.memoryPath).Notify != presenter.NotifyAlways {
		t.Error("the choice is not kept")
	}
	test.AssertNotificationSent(t, nil, func() { e.preview("Order value", 5) })
}

func TestPositionsPointAtWhatIsThere(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	s.draw()
	find := func(kind, name string) *Position {
		for _, p := range s.positions() {
			if p.Kind == kind && p.Name == name {
				return &p
			}
		}
		return nil
	}
	n, _ := e.file.NodeNamed("Orders")
	at, size, _ := e.graph.Area(scene.NodeRef(presenter.SceneID(n.ID)))
	origin := s.app.Driver().AbsolutePositionForObject(e.graph)
	p := find("node", "Orders")
	if p == nil || p.X < origin.X+at.X || p.X > origin.X+at.X+size.Width || p.Y < origin.Y+at.Y || p.Y > origin.Y+at.Y+size.Height {
		t.Errorf("the node is at %+v", p)
	}
	if run := find("button", "Run"); run == nil || run.Off {
		t.Errorf("the button is %+v", run)
	}
	s.do("run")
	s.draw()
	if find("node", "Orders") != nil || find("button", "Cancel") == nil {
		t.Errorf("with a dialog open: %v", s.positions())
	}
}
