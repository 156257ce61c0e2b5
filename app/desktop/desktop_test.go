//go:build !headless

package desktop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	fynedesktop "fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"sluice/app/presenter"
	"sluice/canvas/gesture"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
)

func themes(t *testing.T, f func(t *testing.T, s *shown)) {
	t.Helper()
	for _, dark := range []bool{false, true} {
		t.Run(map[bool]string{false: "light", true: "dark"}[dark], func(t *testing.T) { f(t, show(t, dark)) })
	}
}

func TestEveryActionHasAHandler(t *testing.T) {
	s := show(t, false)
	for _, a := range presenter.Actions() {
		if s.handlers[a.ID] == nil {
			t.Errorf("nothing is done for %s", a.ID)
		}
	}
	if len(s.handlers) != len(presenter.Actions()) {
		t.Errorf("%d handlers for %d actions", len(s.handlers), len(presenter.Actions()))
	}
}

func TestWelcomeAndSample(t *testing.T) {
	themes(t, func(t *testing.T, s *shown) {
		s.draw()
		e := s.sample(t)
		s.draw()
		if !s.happened("opened ") || !s.happened("problems 0") || len(e.file.Nodes()) < 8 {
			t.Errorf("events:\n%s", s.log)
		}
		if s.win.Title() != "main.hpl - Sluice" || len(s.memory.Recent) != 1 {
			t.Errorf("title %q, recent %v", s.win.Title(), s.memory.Recent)
		}
	})
}

func TestEveryTypeHasAFormThatOpens(t *testing.T) {
	themes(t, func(t *testing.T, s *shown) {
		for _, workflow := range []bool{false, true} {
			s.newFile(workflow)
			e := s.current
			for i, item := range e.file.Palette().Search("", "") {
				if item.ID == hopxml.StartType {
					continue // it is there already
				}
				id, err := e.file.Place(presenter.Placed{Type: item.ID})
				if err != nil {
					t.Fatalf("%s: %v", item.ID, err)
				}
				e.changed()
				before := e.file.Document()
				e.openForm(presenter.ElementID(id))
				if len(s.dialogs) != 1 {
					t.Fatalf("%s: no form", item.ID)
				}
				if n := objects(s.dialogs[0].pop.Content); n > 2000 {
					t.Errorf("%s: its form has %d objects", item.ID, n)
				}
				if !s.memory.Dark || i%8 == 0 {
					s.draw()
				}
				s.dialogs[0].onEnter() // OK without a change
				if len(s.dialogs) != 0 || e.file.Document() != before {
					t.Errorf("%s: OK without a change changed the file or left a dialog", item.ID)
				}
			}
		}
	})
}

func TestAFormChangesTheFileAndShowsErrors(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	n, _ := e.file.NodeNamed("Sort by country")
	e.openForm(n.ID)
	dl := s.dialogs[0]
	name := findField(t, dl.pop.Content, "Sort by country")
	name.SetText("Sorted")
	s.typed(presenter.Key{Name: "ENTER", Ctrl: true})
	if _, ok := e.file.NodeNamed("Sorted"); !ok || len(s.dialogs) != 0 || !e.file.Dirty() {
		t.Errorf("the form was not taken over: %s", s.log)
	}
	e.openForm(n.ID)
	findField(t, s.dialogs[0].pop.Content, "Sorted").SetText("orders")
	if !hasText(s.dialogs[0].pop.Content, "Another transform has this name") {
		t.Error("the error is not shown")
	}
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if len(s.dialogs) != 2 {
		t.Error("changes of a form are dropped without a question")
	}
}

func TestRunPreviewAndPanels(t *testing.T) {
	themes(t, func(t *testing.T, s *shown) {
		e := s.sample(t)
		s.do("run")
		if len(s.dialogs) != 1 {
			t.Fatalf("no run dialog: %s", s.log)
		}
		s.draw()
		s.typedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		if !s.happened("run Succeeded") {
			t.Fatalf("events:\n%s", s.log)
		}
		for i := range e.bottom.pages {
			e.bottom.choose(i)
			s.draw()
		}
		e.preview("Order value", 5)
		if e.bottom.now != 3 || e.rows.count() != 5 {
			t.Errorf("panel %d shows %d rows", e.bottom.now, e.rows.count())
		}
		e.rows.detail(0)
		s.draw()
		s.dialogs[0].close()
		if len(e.metrics.list) == 0 || len(e.lines.lines) == 0 {
			t.Errorf("%d metrics, %d lines", len(e.metrics.list), len(e.lines.lines))
		}
	})
}

func TestAFailedRunIsShown(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	n, _ := e.file.NodeNamed("Customers")
	if err := e.file.Do("break", hopxml.SetChild(n.ID, "filename", "/no/such/file.csv", hopxml.Canonical())); err != nil {
		t.Fatal(err)
	}
	e.changed()
	e.run(e.options, pipeline.Run{}, nil)
	if !s.happened("run Failed") || e.bottom.now != 1 {
		t.Errorf("panel %d; events:\n%s", e.bottom.now, s.log)
	}
	if node, _ := e.graph.Machine().Scene().Node(presenter.SceneID(n.ID)); node.State != scene.StateFailed {
		t.Errorf("the tile shows %v", node.State)
	}
	s.draw()
}

func TestDialogsOpenAndClose(t *testing.T) {
	themes(t, func(t *testing.T, s *shown) {
		e := s.sample(t)
		n, _ := e.file.NodeNamed("Orders")
		e.choose(scene.NodeRef(presenter.SceneID(n.ID)))
		for _, id := range []presenter.ActionID{"open", "open-project", "save-as", "find", "rename", "properties", "add-note", "show-fields", "preview", "shortcuts", "about", "edit"} {
			s.do(id)
			if len(s.dialogs) != 1 {
				t.Errorf("%s opens %d dialogs", id, len(s.dialogs))
				continue
			}
			s.draw()
			s.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
			if len(s.dialogs) != 0 {
				t.Fatalf("%s: Escape leaves a dialog", id)
			}
		}
		e.rawView(n.ID)
		s.draw()
		s.dialogs[0].close()
		e.contextDialog(scene.Point{X: 1000, Y: 500}, scene.Point{X: 1000, Y: 500}, "")
		s.draw()
		s.win.Canvas().Overlays().Top().Hide()
		e.menu(scene.NodeRef(presenter.SceneID(n.ID)), scene.Point{X: 10, Y: 10}, scene.Point{})
		s.draw()
	})
}

func TestSmallWindowAndLongNames(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	n, _ := e.file.NodeNamed("Orders")
	if err := e.file.Rename(n.ID, strings.Repeat("A very long name of a transform ", 6)+"."); err != nil {
		t.Fatal(err)
	}
	e.changed()
	s.win.Resize(fyne.NewSize(1024, 700))
	s.draw()
	e.openForm(n.ID)
	if size := s.dialogs[0].pop.Content.Size(); size.Width > 1024 || size.Height > 700 {
		t.Errorf("the form is %v in a window of 1024x700", size)
	}
	s.draw()
}

func TestGesturesEditTheFile(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	node := func(name string) scene.ID {
		n, ok := e.file.NodeNamed(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		return presenter.SceneID(n.ID)
	}
	before := e.file.Document().Bytes()
	e.intent(gesture.Move{To: map[scene.Ref]scene.Point{scene.NodeRef(node("Orders")): {X: 50, Y: 50}}})
	e.intent(gesture.Place{Item: "Dummy", Document: scene.Point{X: 300, Y: 600}})
	dummy := e.selected(scene.KindNode)[0]
	e.intent(gesture.Connect{From: node("Write turnover"), To: dummy})
	e.intent(gesture.Detach{Node: node("Order value"), To: scene.Point{X: 500, Y: 600}})
	e.intent(gesture.Delete{Refs: []scene.Ref{scene.NodeRef(node("Sort by country"))}})
	if n := e.file.Unsaved(); n < 4 {
		t.Errorf("%d edits; events:\n%s", n, s.log)
	}
	for e.file.CanUndo() != "" {
		s.do("undo")
	}
	if string(e.file.Document().Bytes()) != string(before) {
		t.Error("undoing every gesture does not give back the file")
	}
}

func TestSaveCloseAndChangesOutside(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	e.try("add note", e.file.AddNote(scene.Point{}, "hello"))
	s.autosave()
	if _, err := os.Stat(presenter.AutosavePath(e.file.Path())); err != nil || len(s.memory.Unsaved) != 1 {
		t.Errorf("unsaved work is not kept: %v, %v", err, s.memory.Unsaved)
	}
	s.do("save")
	if e.file.Dirty() || !s.happened("saved ") || len(s.memory.Unsaved) != 0 {
		t.Errorf("events:\n%s", s.log)
	}
	if _, err := os.Stat(presenter.AutosavePath(e.file.Path())); err == nil {
		t.Error("saved work is still kept beside the file")
	}
	data, err := os.ReadFile(e.file.Path())
	if err != nil || !strings.Contains(string(data), "hello") {
		t.Fatalf("the note is not in the file: %v", err)
	}
	if err := os.WriteFile(e.file.Path(), []byte(strings.Replace(string(data), "hello", "other", 1)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.lookOutside()
	if len(s.dialogs) != 1 || s.dialogs[0].title != "File changed outside" {
		t.Fatalf("no question after a change outside: %s", s.log)
	}
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if !strings.Contains(string(e.file.Document().Bytes()), "other") {
		t.Error("reloading does not show the file on disk")
	}
	e.try("add note", e.file.AddNote(scene.Point{}, "again"))
	s.do("close")
	if len(s.dialogs) != 1 || len(s.editors) != 1 {
		t.Fatal("a file with changes closes without a question")
	}
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if len(s.editors) != 0 || s.current != nil {
		t.Error("saving and closing leaves the file open")
	}
	s.draw()
}

func TestUnsavedWorkIsOfferedAtTheNextStart(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	e.try("add note", e.file.AddNote(scene.Point{}, "rescued"))
	path := e.file.Path()
	s.autosaveNow()
	s.remember()

	next := show(t, false)
	next.memory = presenter.LoadMemory(s.memoryPath)
	next.showWelcome()
	if !hasText(next.win.Canvas().Content(), "1 file with unsaved changes from the last time:") {
		t.Error("the welcome screen does not tell of unsaved work")
	}
	next.open(path)
	if len(next.dialogs) != 1 {
		t.Fatalf("nothing is offered: %s", next.log)
	}
	next.typedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if !strings.Contains(string(next.current.file.Document().Bytes()), "rescued") || !next.current.file.Dirty() {
		t.Error("the work is not restored")
	}
	next.do("save")
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), "rescued") {
		t.Errorf("restored work cannot be saved: %s", next.log)
	}
}

func TestWhatChangedOutsideIsComparedAndKept(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	data, err := os.ReadFile(e.file.Path())
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(data), "<sort_size>1000000<", "<sort_size>5<", 1)
	if other == string(data) {
		t.Fatal("the sample holds another sort size")
	}
	if err := os.WriteFile(e.file.Path(), []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	s.lookOutside()
	s.press(t, "Compare")
	if !s.happened("compared 1\n") || len(s.dialogs) != 1 || !strings.HasPrefix(s.dialogs[0].title, "Compare") {
		t.Fatalf("nothing is compared: %s", s.log)
	}
	s.draw()
	s.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if len(s.dialogs) != 1 || s.dialogs[0].title != "File changed outside" {
		t.Fatal("after the comparison nothing is asked")
	}
	s.press(t, "Keep mine")
	if !e.file.Dirty() || len(s.dialogs) != 0 {
		t.Error("what is kept does not count as unsaved")
	}
	s.lookOutside()
	if len(s.dialogs) != 0 {
		t.Error("the same change is asked about twice")
	}
	s.do("save")
	if now, _ := os.ReadFile(e.file.Path()); string(now) != string(data) {
		t.Errorf("what was kept was not saved: %s", s.log)
	}
}

func TestUnsavedWorkIsComparedAndDiscarded(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	path := e.file.Path()
	e.try("add note", e.file.AddNote(scene.Point{}, "rescued"))
	s.autosaveNow()
	next := show(t, false)
	next.open(path)
	next.press(t, "Compare")
	next.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if !next.happened("compared 1\n") || len(next.dialogs) != 1 {
		t.Fatalf("nothing is compared: %s", next.log)
	}
	next.press(t, "Discard")
	if presenter.FindRecovery(path) != nil || next.current.file.Dirty() {
		t.Errorf("discarded work is still there: %s", next.log)
	}
}

func TestMissingAndDamagedFilesAreExplained(t *testing.T) {
	s := show(t, false)
	bad := filepath.Join(s.folder, "bad.hpl")
	if err := os.WriteFile(bad, []byte("<pipeline>\n<info"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(s.folder, "none.hpl"): "no such file", bad: "bad.hpl:2"} {
		s.open(path)
		if len(s.dialogs) != 1 || !s.happened("error Open "+filepath.Base(path)) || !strings.Contains(s.log.String(), want) {
			t.Errorf("%s: events:\n%s", path, s.log)
		}
		s.draw()
		s.typedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	}
}

func TestKeysOfATextStayWithTheText(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	search := s.frame.side.palette.search
	s.win.Canvas().Focus(search)
	search.SetText("sort")
	before := e.file.Document()
	s.do("select-all")
	s.do("delete")
	s.do("align-left")
	if e.file.Document() != before {
		t.Error("an edit key of a text changed the file")
	}
	if search.SelectedText() != "sort" && search.Text != "sort" {
		t.Errorf("text %q, selected %q", search.Text, search.SelectedText())
	}
	search.TypedShortcut(&fynedesktop.CustomShortcut{KeyName: fyne.KeyN, Modifier: fyne.KeyModifierShortcutDefault})
	if len(s.editors) != 2 {
		t.Error("Ctrl+N does not work from a text")
	}
}

func TestMillionRowsNeedFewObjects(t *testing.T) {
	s := show(t, false)
	const many = 1_000_000
	g := newGrid(s.Desktop, []gridColumn{{"Number", 100, true, 0}, {"Text", 200, false, 0}}, func() int { return many }, func(r, c int) gridCell { return gridCell{text: fmt.Sprint(r)} })
	dl := s.dialog("Rows", "", g.all, fyne.NewSize(900, 600), nil)
	s.draw()
	if n := objects(dl.pop.Content); n > 2000 {
		t.Errorf("%d objects for a million rows", n)
	}
}

// findField finds the text field that holds a text.
func findField(t *testing.T, root fyne.CanvasObject, text string) *field {
	t.Helper()
	var found *field
	walk(root, func(o fyne.CanvasObject) {
		if f, ok := o.(*field); ok && f.Text == text && found == nil {
			found = f
		}
	})
	if found == nil {
		t.Fatalf("no field holds %q", text)
	}
	return found
}

// hasText tells whether a line of words is shown.
func hasText(root fyne.CanvasObject, text string) bool {
	found := false
	walk(root, func(o fyne.CanvasObject) {
		if w, ok := o.(*words); ok && strings.Contains(w.full, text) {
			found = true
		}
	})
	return found
}

func walk(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	visit(o)
	switch x := o.(type) {
	case *fyne.Container:
		for _, c := range x.Objects {
			walk(c, visit)
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(x).Objects() {
			walk(c, visit)
		}
	}
}
