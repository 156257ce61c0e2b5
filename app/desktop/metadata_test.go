//go:build !headless

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"sluice/app/presenter"
	"sluice/engine/project"
)

// metadata opens the perspective on the sample project.
func (s *shown) metadata(t *testing.T) *metadata {
	t.Helper()
	t.Setenv("RCLONE_CONFIG", filepath.Join(t.TempDir(), "rclone.conf"))
	t.Setenv("RCLONE_CONFIG_ARCHIVE_TYPE", "local")
	if s.current == nil {
		s.sample(t)
	}
	s.do("go-metadata")
	if s.meta.store == nil {
		t.Fatalf("the metadata was not read: %s", s.log)
	}
	return s.meta
}

var (
	ordersConnection = presenter.MetaRef{Type: project.TypeRDBMS, Name: "orders"}
	archiveRemote    = presenter.MetaRef{Type: presenter.MetaRemote, Name: "archive"}
	sampleVariables  = presenter.MetaRef{Type: presenter.MetaEnvironment, Name: "environment"}
)

func TestMetadataPerspective(t *testing.T) {
	for _, dark := range []bool{false, true} {
		s := show(t, dark)
		m := s.metadata(t)
		s.draw()
		for _, g := range m.groups {
			for _, i := range g.Items {
				m.choose(i.Ref)
				if m.now == nil || m.now.item.Ref != i.Ref {
					t.Fatalf("%v did not open: %s", i.Ref, s.log)
				}
				s.draw()
				s.do("meta-json")
				s.draw()
			}
		}
		if n := objects(s.win.Content()); n > 2000 {
			t.Errorf("the perspective has %d objects", n)
		}
		m.choose(archiveRemote)
		m.now.where = "archive:" + t.TempDir()
		s.do("meta-test")
		if r := m.results[archiveRemote]; r.State != presenter.LevelGood {
			t.Errorf("the test of the remote gave %+v", r)
		}
		for _, id := range []presenter.ActionID{"meta-new", "environment"} {
			s.do(id)
			if len(s.dialogs) != 1 {
				t.Fatalf("%s opened no dialog", id)
			}
			s.draw()
			s.dialogs[0].close()
		}
		s.win.Resize(fyne.NewSize(1024, 700))
		s.draw()
	}
}

func TestAConnectionIsTestedEditedAndSaved(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	m.choose(ordersConnection)
	s.do("meta-test")
	if r := m.results[ordersConnection]; r.State != presenter.LevelGood || !s.happened("metadata tested orders: Test passed") {
		t.Fatalf("the test gave %+v", r)
	}
	var file *presenter.MetaField
	for _, f := range m.now.draft.Fields() {
		if f.Label == "Database file" {
			file = f
		}
	}
	m.now.form.set(file, "${PROJECT_HOME}/absent.db")
	if m.now.tools.save.Disabled() || len(m.unsaved()) != 1 {
		t.Error("an edit cannot be saved")
	}
	s.do("meta-test")
	if r := m.results[ordersConnection]; r.State != presenter.LevelBad {
		t.Errorf("the test of an absent file gave %+v", r)
	}
	s.draw()
	path := filepath.Join(s.folder, "metadata", "rdbms", "orders.json")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(before), "absent") {
		t.Error("the test saved the draft")
	}
	nodes := len(s.current.file.Nodes())
	s.do("undo")
	s.do("cut")
	if len(s.current.file.Nodes()) != nodes {
		t.Error("a file that is not in sight was changed")
	}
	s.do("save")
	after, err := os.ReadFile(path)
	if err != nil || string(after) != strings.Replace(string(before), "orders.db", "absent.db", 1) {
		t.Errorf("the file is %s, %v", after, err)
	}
}

func TestDeletingMetadataNamesItAndItsUses(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	m.choose(ordersConnection)
	s.do("delete")
	if len(s.dialogs) != 1 || !strings.Contains(s.dialogs[0].title, "orders") {
		t.Fatal("nothing is asked")
	}
	s.dialogs[0].close()
	if _, err := os.Stat(m.now.draft.Path); err != nil {
		t.Errorf("Escape deleted the connection: %v", err)
	}
	store, item := m.store, m.now.item
	m.change(nil, "Rename orders", func() (presenter.MetaItem, error) { return store.Rename(item, "sales") })
	if m.now == nil || m.now.item.Ref.Name != "sales" {
		t.Error("the renamed connection is not shown")
	}
	s.draw()
}

func TestAnEnvironmentIsUsed(t *testing.T) {
	s := show(t, false)
	s.metadata(t)
	s.useEnvironment(filepath.Join(s.folder, "environment.json"))
	ws, err := s.workspace("", s.folder)(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := ws.Scope.Get("SLUICE_SNAPSHOTS"); v == "" {
		t.Error("the variables of the environment are not set")
	}
	if s.frame.status.environment.caption != "Environment: environment" {
		t.Errorf("the status bar says %q", s.frame.status.environment.caption)
	}
	s.meta.choose(sampleVariables)
	if s.meta.now.item.Note != "active" {
		t.Error("the environment is not marked")
	}
	s.draw()
	f := s.meta.now.draft.Fields()[0]
	if err := s.meta.now.draft.SetRows(f, append(s.meta.now.draft.Rows(f), presenter.MetaRow{Cells: []string{"NEW", "1", ""}})); err != nil {
		t.Fatal(err)
	}
	s.meta.choose(ordersConnection)
	s.useEnvironment("")
	if len(s.meta.open) != 1 || s.meta.open[0].item.Ref != sampleVariables || !s.meta.open[0].dirty() {
		t.Errorf("another environment closed what is not saved: %v", s.meta.open)
	}
	if s.frame.status.environment.caption != "No environment" {
		t.Errorf("the status bar says %q", s.frame.status.environment.caption)
	}
}

func TestQuittingAsksAboutUnsavedMetadata(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	m.choose(sampleVariables)
	f := m.now.draft.Fields()[0]
	if err := m.now.draft.SetRows(f, append(m.now.draft.Rows(f), presenter.MetaRow{Cells: []string{"NEW", "1", ""}})); err != nil {
		t.Fatal(err)
	}
	s.quit()
	if len(s.dialogs) != 1 || s.dialogs[0].title != "Unsaved metadata" || s.quitting {
		t.Fatal("nothing is asked")
	}
	s.draw()
	s.dialogs[0].onEnter()
	if list, err := project.LoadEnvironmentFile(m.open[0].draft.Path); err != nil || list[len(list)-1].Name != "NEW" || !s.quitting {
		t.Errorf("the file holds %v, %v", list, err)
	}
}

func TestKeysAreSearched(t *testing.T) {
	themes(t, func(t *testing.T, s *shown) {
		s.do("shortcuts")
		s.draw()
		if search, ok := s.win.Canvas().Focused().(*field); ok {
			search.SetText("no such action")
			s.draw()
		} else {
			t.Error("the search has not the keyboard")
		}
	})
}

func TestMetadataWithoutAProject(t *testing.T) {
	s := show(t, false)
	t.Setenv("RCLONE_CONFIG", filepath.Join(t.TempDir(), "rclone.conf"))
	s.do("go-metadata")
	s.draw()
	s.do("meta-new")
	if len(s.dialogs) != 0 {
		t.Error("metadata can be made without a project")
	}
	if s.meta.store != nil {
		t.Error("a project is open")
	}
}
