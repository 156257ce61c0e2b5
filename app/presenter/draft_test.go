package presenter_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/app/workspace"
)

func TestDraftsComeBack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "unsaved")
	if list, err := presenter.LoadDrafts(folder); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	f, err := presenter.NewPipeline("a/b: new", time.Now(), presenter.NewCatalog(workspace.Registry(), workspace.Actions()))
	if err != nil {
		t.Fatal(err)
	}
	path := presenter.DraftPath(folder, f.Title(), true)
	if err := presenter.SaveDraft(path, f.Document()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "broken.hpl"), []byte("<pipeline>"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := presenter.LoadDrafts(folder)
	if err == nil || len(list) != 1 || list[0].Title != "a-b- new" || string(list[0].Document.Bytes()) != string(f.Document().Bytes()) {
		t.Errorf("drafts %+v, %v", list, err)
	}
	for range 2 {
		if err := presenter.DropDraft(path); err != nil {
			t.Error(err)
		}
	}
}
