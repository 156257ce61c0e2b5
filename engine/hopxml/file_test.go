package hopxml_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sluice/engine/hopxml"
)

func writeFile(t *testing.T, path, data string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const small = "<pipeline><info><name>a</name></info></pipeline>"

func renamed(t *testing.T, d *hopxml.Document, name string) *hopxml.Document {
	t.Helper()
	return apply(t, d, hopxml.SetInfo("name", name))
}

func TestSave(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.hpl")
	const mode = 0o640
	writeFile(t, path, small, mode)
	d, _ := open(t, path)
	second := renamed(t, d, "b")
	for _, step := range []struct {
		doc  *hopxml.Document
		want string
	}{{second, "b"}, {renamed(t, second, "c"), "c"}, {d, "a"}} { // the last one after an undo
		if err := step.doc.Save(path); err != nil {
			t.Fatal(err)
		}
		if got, want := contents(t, path), strings.Replace(small, ">a<", ">"+step.want+"<", 1); got != want {
			t.Errorf("saved %q, want %q", got, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
		t.Errorf("mode became %v", info.Mode())
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestSaveRefusesAChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hpl")
	writeFile(t, path, small, 0o600)
	d, _ := open(t, path)
	d = renamed(t, d, "b")
	const foreign = "<pipeline>changed by Hop</pipeline>"
	writeFile(t, path, foreign, 0o600)
	var changed *hopxml.ChangedError
	if err := d.Save(path); !errors.As(err, &changed) || changed.Path != path {
		t.Fatalf("got %v, want a ChangedError", err)
	}
	if contents(t, path) != foreign {
		t.Error("the changed file was overwritten")
	}
	if err := d.Overwrite(path); err != nil {
		t.Fatal(err)
	}
	if err := renamed(t, d, "c").Save(path); err != nil {
		t.Errorf("save after Overwrite: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(path); err != nil || !strings.Contains(contents(t, path), ">b<") {
		t.Errorf("save of a deleted file: %v", err)
	}
}

func TestSaveElsewhere(t *testing.T) {
	folder := t.TempDir()
	first, second := filepath.Join(folder, "a.hpl"), filepath.Join(folder, "b.hpl")
	writeFile(t, first, small, 0o600)
	d, _ := open(t, first)
	if err := d.Save(second); err != nil {
		t.Fatal(err)
	}
	// the document now belongs to the second file
	if err := renamed(t, d, "b").Save(second); err != nil {
		t.Error(err)
	}
	if err := d.Save(first); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	if err := d.Save(filepath.Join(folder, "none", "c.hpl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
}

func TestSaveRefusesAProtectedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hpl")
	writeFile(t, path, small, 0o400)
	d, _ := open(t, path)
	if err := renamed(t, d, "b").Save(path); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
	if contents(t, path) != small {
		t.Error("the file was written")
	}
}

func TestSaveFollowsALink(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "a.hpl"), filepath.Join(folder, "link.hpl")
	writeFile(t, file, small, 0o600)
	if err := os.Symlink(file, link); err != nil {
		if runtime.GOOS == "windows" {
			return // links need a privilege there
		}
		t.Fatal(err)
	}
	d, _ := open(t, link)
	if err := renamed(t, d, "b").Save(link); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || !strings.Contains(contents(t, file), ">b<") {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.hpl")
	if _, err := hopxml.Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	writeFile(t, path, "<pipeline>\n <a></b>", 0o600)
	_, err := hopxml.Open(path)
	if want := path + ":2:5: </b> found where <a> of line 2 is open; write </a> first, or correct the names"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
