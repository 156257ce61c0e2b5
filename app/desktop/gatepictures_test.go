//go:build pictures && !headless

package desktop

import (
	"path/filepath"
	"testing"

	"sluice/app/presenter"
	"sluice/assets/sample"
	"sluice/canvas/scene"
	"sluice/engine/gate"
)

// gatePictures draws a pipeline whose gates are in all five states, and what there is
// to see of them.
func (s *shown) gatePictures(t *testing.T, shot func(string)) {
	t.Helper()
	s.open(filepath.Join(s.folder, sample.Main))
	e := s.current
	for name, settings := range map[string]map[string]string{
		"Customers": nil, "Orders": nil, "Order value": nil, "Cancelled orders": {gate.KeyMinRows: "1000"},
	} {
		if !e.try("mark", e.file.MarkGate(name, settings)) {
			t.Fatal(s.log)
		}
	}
	e.run(presenter.RunOptions{}, plainRun, nil)
	v, ok := e.file.Gates().Gate("Order value")
	if !ok || v.State == "" {
		t.Fatalf("no snapshot: %s", s.log)
	}
	cutShort(t, filepath.Join(v.Location, v.ID, v.Snapshot))
	if !e.try("mark", e.file.MarkGate("Best country first", nil)) {
		t.Fatal(s.log)
	}
	orders, _ := e.file.NodeNamed("Orders")
	fm, _ := e.file.Form(orders.ID)
	for i := range fm.Entries {
		if fm.Entries[i].Setting.Form == "sql" {
			fm.Entries[i].Text = fm.Entries[i].Text + "\nLIMIT 500"
		}
	}
	if err := fm.Apply(); err != nil {
		t.Fatal(err)
	}
	e.session, e.shown = nil, presenter.RunNone
	e.changed()
	e.graph.Fit()
	e.bottom.choose(2)
	e.choose()
	shot("designer-gates")
	ref := e.pick(t, "Orders")
	at, size, _ := e.graph.Area(ref)
	e.menu(ref, scene.Point{X: float64(at.X + size.Width), Y: float64(at.Y + size.Height/2)}, scene.Point{})
	shot("gate-menu")
	s.win.Canvas().Overlays().Top().Hide()
	s.do("gate-settings")
	shot("gate-settings")
	s.closeDialogs()
	s.openHelp("help/gates")
	shot("help")
	s.closeDialogs()
	s.do("settings")
	shot("settings")
	s.closeDialogs()
	s.do("about")
	shot("about")
	s.closeDialogs()
	e.pick(t, "Customers")
	s.do("snapshot-rows")
	shot("snapshot-rows")
	for e.file.Undo() != "" {
	}
	s.closeFile(e)
	s.closeDialogs()
}
