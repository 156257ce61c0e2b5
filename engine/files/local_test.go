package files_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sluice/engine/files"
)

func write(t *testing.T, s files.Store, name, text string, o files.CreateOptions) files.Writer {
	t.Helper()
	w, err := s.Create(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	return w
}

func read(t *testing.T, s files.Store, name string) string {
	t.Helper()
	data, err := files.ReadAll(t.Context(), s, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestANewFileAppearsWholeOrNotAtAll(t *testing.T) {
	s := files.Local{Dir: t.TempDir()}
	w := write(t, s, "a/b.txt", "first", files.CreateOptions{Parents: true})
	if ok, _ := files.Exists(t.Context(), s, "a/b.txt"); ok {
		t.Error("visible before Commit")
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := write(t, s, "a/b.txt", "second", files.CreateOptions{}).Abort(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "a/b.txt"); got != "first" {
		t.Errorf("after Abort: %q", got)
	}
	if err := write(t, s, "a/b.txt", "+", files.CreateOptions{Append: true}).Commit(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "a/b.txt"); got != "first+" {
		t.Errorf("after append: %q", got)
	}
	left, err := os.ReadDir(filepath.Join(s.Dir, "a"))
	if err != nil || len(left) != 1 {
		t.Errorf("temporary files stay: %v %v", left, err)
	}
}

func TestReplacingKeepsTheMode(t *testing.T) {
	s := files.Local{Dir: t.TempDir()}
	p := filepath.Join(s.Dir, "x")
	if err := os.WriteFile(p, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(t, s, "x", "new", files.CreateOptions{}).Commit(); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(p); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", st.Mode(), err)
	}
}

func TestLocations(t *testing.T) {
	dir := t.TempDir()
	s := files.Local{Dir: dir}
	if err := write(t, s, "with blank.txt", "x", files.CreateOptions{}).Commit(); err != nil {
		t.Fatal(err)
	}
	uri := files.URI(filepath.Join(dir, "with blank.txt"))
	for _, loc := range []string{"with blank.txt", filepath.Join(dir, "with blank.txt"), "file://" + dir + "/with blank.txt", uri} {
		if read(t, s, loc) != "x" {
			t.Errorf("%s", loc)
		}
	}
	for _, bad := range []string{"", "a\x00b"} {
		if _, err := s.Open(t.Context(), bad); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
	if _, err := s.Stat(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

func TestListAndMove(t *testing.T) {
	s := files.Local{Dir: t.TempDir()}
	for _, n := range []string{"d/b.txt", "d/a.txt", "d/sub/c.txt"} {
		if err := write(t, s, n, n, files.CreateOptions{Parents: true}).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for deep, want := range map[bool]string{false: "a.txt b.txt sub/ ", true: "a.txt b.txt sub/ c.txt "} {
		list, err := s.List(t.Context(), "d", deep)
		got := ""
		for _, i := range list {
			got += i.Name
			if i.Folder {
				got += "/"
			} else if i.Size == 0 || !i.Readable {
				t.Errorf("%+v", i)
			}
			got += " "
		}
		if err != nil || got != want {
			t.Errorf("deep %v: %q %v", deep, got, err)
		}
	}
	if err := s.Move(t.Context(), "d/a.txt", "moved.txt"); err != nil || read(t, s, "moved.txt") != "d/a.txt" {
		t.Errorf("move: %v", err)
	}
	if err := s.RemoveAll(t.Context(), "/"); err == nil {
		t.Error("the root of the file system may be removed")
	}
	if err := s.RemoveAll(t.Context(), "d"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx, ".", true); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
