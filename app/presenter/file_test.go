package presenter_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
)

func TestUndoingEverythingGivesTheBytesThatWereRead(t *testing.T) {
	f := openSample(t)
	before, err := os.ReadFile(f.Path())
	must(t, err)
	added := place(t, f, presenter.Placed{Type: "Dummy", At: scene.Point{X: 400, Y: 600}, From: id(t, f, "Orders")})
	must(t, f.Move("move", map[scene.Ref]scene.Point{scene.NodeRef(added): {X: 500, Y: 500}}))
	must(t, f.Rename(presenter.ElementID(id(t, f, "Is it a sale?")), "Sale?"))
	must(t, f.Delete([]scene.Ref{scene.NodeRef(id(t, f, "Sort by country"))}))
	must(t, f.AddNote(scene.Point{X: 10, Y: 10}, "a note"))
	if !f.Dirty() || f.Unsaved() != 5 {
		t.Errorf("dirty %v with %d unsaved edits, want 5", f.Dirty(), f.Unsaved())
	}
	after := f.Document().Bytes()
	for f.Undo() != "" {
	}
	if !bytes.Equal(f.Document().Bytes(), before) || f.Dirty() {
		t.Error("undoing everything does not give back the file")
	}
	for f.Redo() != "" {
	}
	if !bytes.Equal(f.Document().Bytes(), after) {
		t.Error("doing everything again gives another file")
	}
}

func TestSavingKeepsTheHistory(t *testing.T) {
	f := openSample(t)
	must(t, f.AddNote(scene.Point{}, "one"))
	doc := f.Document()
	must(t, doc.Save(f.Path()))
	stamp, err := presenter.StampOf(f.Path())
	must(t, err)
	f.MarkSaved(doc, f.Path(), stamp)
	if f.Dirty() || f.CanUndo() != "add note" {
		t.Errorf("after saving: dirty %v, undo %q", f.Dirty(), f.CanUndo())
	}
	f.Undo()
	if !f.Dirty() {
		t.Error("undoing behind a save is no unsaved change")
	}
}

func TestAChangeOutsideIsSeenAndReloadCanBeUndone(t *testing.T) {
	f := openSample(t)
	if presenter.ChangedOutside(f.Path(), f.Stamp) {
		t.Error("an untouched file counts as changed")
	}
	mine := f.Document().Bytes()
	must(t, os.WriteFile(f.Path(), bytes.Replace(mine, []byte("Turnover per country"), []byte("Turnover by land"), 1), 0o644))
	if !presenter.ChangedOutside(f.Path(), f.Stamp) {
		t.Fatal("a changed file is not seen")
	}
	must(t, f.AddNote(scene.Point{}, "mine"))
	var changed *hopxml.ChangedError
	if err := f.Document().Save(f.Path()); !errors.As(err, &changed) {
		t.Errorf("saving over another's change gives %v", err)
	}
	doc, stamp, err := presenter.ReadFile(f.Path())
	must(t, err)
	must(t, f.Reload(doc, stamp))
	if f.Dirty() || !strings.Contains(string(f.Document().Bytes()), "Turnover by land") {
		t.Error("reloading does not show the file on disk")
	}
	f.Undo()
	if !strings.Contains(string(f.Document().Bytes()), "mine") {
		t.Error("undo does not bring back what was here before the reload")
	}
}

func TestUnsavedWorkIsKeptAndFoundAgain(t *testing.T) {
	f := openSample(t)
	if presenter.FindRecovery(f.Path()) != nil {
		t.Fatal("there is unsaved work in a fresh folder")
	}
	before, err := os.ReadFile(f.Path())
	must(t, err)
	must(t, f.AddNote(scene.Point{}, "not saved"))
	must(t, presenter.Autosave(f.Path(), f.Document()))
	if now, _ := os.ReadFile(f.Path()); !bytes.Equal(now, before) {
		t.Fatal("keeping unsaved work changed the file itself")
	}
	g := openFile(t, f.Path())
	r := presenter.FindRecovery(g.Path())
	if r == nil {
		t.Fatal("the unsaved work is not found")
	}
	later := r.Saved.Add(time.Minute)
	must(t, os.Chtimes(g.Path(), later, later))
	if again := presenter.FindRecovery(g.Path()); r.Outdated || !again.Outdated {
		t.Error("a file that was written after its unsaved work is not told from one that was not")
	}
	must(t, g.Recover(r.Document))
	if !g.Dirty() || !bytes.Equal(g.Document().Bytes(), f.Document().Bytes()) {
		t.Error("recovering does not give the unsaved work")
	}
	must(t, presenter.DropAutosave(f.Path()))
	must(t, presenter.DropAutosave(f.Path()))
	if presenter.FindRecovery(f.Path()) != nil {
		t.Error("dropped work is found again")
	}
}

func TestUnreadableUnsavedWorkIsLeftAlone(t *testing.T) {
	f := openSample(t)
	side := presenter.AutosavePath(f.Path())
	must(t, os.WriteFile(side, []byte("<pipeline>"), 0o600))
	if presenter.FindRecovery(f.Path()) != nil {
		t.Error("damaged work is offered")
	}
	if _, err := os.Stat(side); err != nil {
		t.Errorf("damaged work was removed: %v", err)
	}
}

func TestEveryFileOfTheSuiteIsSavedUnchangedAndAMoveChangesOnlyItsPlace(t *testing.T) {
	folder, moved := t.TempDir(), 0
	for i, path := range suite(t) {
		f := openFile(t, path)
		onDisk, err := os.ReadFile(path)
		must(t, err)
		g := f.Scene(nil)
		if len(g.Nodes) != len(f.Nodes()) {
			t.Errorf("%s: shown with %d of %d nodes", path, len(g.Nodes), len(f.Nodes()))
		}
		if f.ReadOnly() {
			continue
		}
		to := filepath.Join(folder, fmt.Sprint(i)+filepath.Ext(path))
		must(t, f.Document().Save(to))
		if saved, err := os.ReadFile(to); err != nil || !bytes.Equal(saved, onDisk) {
			t.Errorf("%s: saving gives other bytes, %v", path, err)
		}
		if len(g.Nodes) == 0 {
			continue
		}
		n := g.Nodes[i%len(g.Nodes)]
		before, _ := f.Node(presenter.ElementID(n.ID))
		must(t, f.Move("move", map[scene.Ref]scene.Point{scene.NodeRef(n.ID): n.Pos.Add(scene.Point{X: 13, Y: 17})}))
		after, _ := f.Node(before.ID)
		want := []string{fmt.Sprintf("<xloc>%d</xloc>", after.X), fmt.Sprintf("<yloc>%d</yloc>", after.Y)}
		got := changedLines(onDisk, f.Document().Bytes())
		slices.Sort(got) // a few files have y before x
		if after.X != before.X+13 || after.Y != before.Y+17 || !slices.Equal(got, want) {
			t.Errorf("%s: moving %s changes %q, want %q", path, n.Label, got, want)
		}
		moved++
	}
	if moved < 500 {
		t.Errorf("only %d files were tried", moved)
	}
}

// changedLines gives the lines of b, without blanks around them, that differ from
// those of a; all of them when a has more or fewer.
func changedLines(a, b []byte) []string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	var lines []string
	for i := range y {
		if len(x) != len(y) || !bytes.Equal(x[i], y[i]) {
			lines = append(lines, string(bytes.TrimSpace(y[i])))
		}
	}
	return lines
}

func TestNeitherPipelineNorWorkflowIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hpl")
	must(t, os.WriteFile(path, []byte("<other/>"), 0o600))
	doc, _, err := presenter.ReadFile(path)
	must(t, err)
	if _, err := presenter.NewFile(doc, path, "", nil); err == nil || !strings.Contains(err.Error(), "neither a pipeline nor a workflow") {
		t.Errorf("error is %v", err)
	}
}

func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "desktop.json")
	m := presenter.LoadMemory(path)
	if m.Width != 1440 || m.Dark {
		t.Errorf("first start: %+v", m)
	}
	m.Dark = true
	for _, p := range []string{"/a.hpl", "/b.hpl", "/a.hpl"} {
		m.Opened(p)
	}
	if !m.SetUnsaved("/a.hpl", true) || m.SetUnsaved("/a.hpl", true) {
		t.Error("noting unsaved work twice")
	}
	must(t, m.Save(path))
	again := presenter.LoadMemory(path)
	if !again.Dark || len(again.Recent) != 2 || again.Recent[0] != "/a.hpl" || len(again.Unsaved) != 1 {
		t.Errorf("kept: %+v", again)
	}
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	if presenter.LoadMemory(path).Dark {
		t.Error("a damaged file is no first start")
	}
}
