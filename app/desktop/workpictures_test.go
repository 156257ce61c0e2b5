//go:build pictures && !headless

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"sluice/app/presenter"
	"sluice/assets/sample"
	"sluice/canvas/scene"
)

// workPictures draws what guards unsaved work, and what is asked by list.
func (s *shown) workPictures(t *testing.T, shot func(name string)) {
	t.Helper()
	main, file := filepath.Join(s.folder, sample.Main), filepath.Join(s.folder, "turnover.hpl")
	data, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(file)
	e := s.current
	n, _ := e.file.NodeNamed("Sort by country")
	if err := e.file.Rename(n.ID, "Sort by a name that is far longer than any column has room for"); err != nil {
		t.Fatal(err)
	}
	e.try("move", e.file.Move("move", map[scene.Ref]scene.Point{scene.NodeRef(presenter.SceneID(n.ID)): {X: 400, Y: 300}}))
	other := strings.Replace(string(data), "<sort_size>1000000<", "<sort_size>5<", 1)
	if err := os.WriteFile(file, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	s.lookOutside()
	shot("changed-outside")
	s.press(t, "Compare")
	shot("compare")
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	s.press(t, "Keep mine")
	s.do("select-hop")
	shot("select-hop")
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	s.do("notifications")
	shot("notifications")
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	s.win.Canvas().Focus(e.tools["run"])
	shot("focus")
	s.do("save")
	s.memory.Unsaved, s.memory.Recent = []string{file}, nil
	s.showWelcome()
	shot("welcome-unsaved")
	s.memory.Unsaved = nil
	s.show(e)
	s.closeFile(e)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}
