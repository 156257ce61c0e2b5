package presenter_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/assets/sample"
	"sluice/canvas/scene"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// openSample unpacks the sample project and opens its pipeline.
func openSample(t *testing.T) *presenter.File {
	t.Helper()
	folder := t.TempDir()
	if err := sample.Unpack(folder); err != nil {
		t.Fatal(err)
	}
	return openFile(t, filepath.Join(folder, sample.Main))
}

func openFile(t *testing.T, path string) *presenter.File {
	t.Helper()
	doc, stamp, err := presenter.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := presenter.NewFile(doc, path, "", presenter.NewCatalog(workspace.Registry(), workspace.Actions()))
	if err != nil {
		t.Fatal(err)
	}
	f.Stamp = stamp
	return f
}

func newPipeline(t *testing.T) *presenter.File {
	t.Helper()
	f, err := presenter.NewPipeline("New pipeline", noon, presenter.NewCatalog(workspace.Registry(), workspace.Actions()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// id is the name on the canvas of a node.
func id(t *testing.T, f *presenter.File, name string) scene.ID {
	t.Helper()
	n, ok := f.NodeNamed(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return presenter.SceneID(n.ID)
}

// hopOf is the name on the canvas of a hop; "" when there is none.
func hopOf(f *presenter.File, from, to string) scene.ID {
	for _, h := range f.Hops() {
		if h.From == from && h.To == to {
			return presenter.SceneID(h.ID)
		}
	}
	return ""
}

func place(t *testing.T, f *presenter.File, p presenter.Placed) scene.ID {
	t.Helper()
	id, err := f.Place(p)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// suite lists the pipelines and workflows of the Hop suite.
func suite(t *testing.T) []string {
	t.Helper()
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if presenter.IsHopFile(path) {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 500 {
		t.Fatalf("the Hop suite is missing (%d files); set SLUICE_HOP_SUITE: %v", len(files), err)
	}
	return files
}

// openNightly unpacks the sample project and gives its workflow.
func openNightly(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	must(t, sample.Unpack(folder))
	return filepath.Join(folder, "nightly.hwf")
}
