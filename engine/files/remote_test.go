package files_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/files"
	"sluice/storage"
)

// overMemory is a Mux over this machine and one remote named "mem".
func overMemory(t *testing.T) (*files.Mux, *storage.Memory) {
	t.Helper()
	m := &storage.Memory{}
	return &files.Mux{Remote: &files.Remotes{Folder: t.TempDir(), Locate: func(_ context.Context, location string) (files.Located, error) {
		name, ok := strings.CutPrefix(location, "mem:")
		if !ok {
			return files.Located{}, storage.ErrUnknownRemote
		}
		return files.Located{Remote: m, Name: strings.Trim(name, "/"), Prefix: "mem:"}, nil
	}}}, m
}

func storeText(t *testing.T, s files.Store, location, text string) {
	t.Helper()
	w, err := s.Create(t.Context(), location, files.CreateOptions{Parents: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOnARemote(t *testing.T) {
	s, _ := overMemory(t)
	ctx := t.Context()
	storeText(t, s, "mem:in/a.csv", "a")
	storeText(t, s, "mem:in/deep/b.csv", "bb")
	local := filepath.Join(t.TempDir(), "c.csv")
	storeText(t, s, local, "ccc")
	if err := s.Move(ctx, local, "mem:in/c.csv"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(local); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the moved file is still here: %v", err)
	}
	list, err := s.List(ctx, "mem:in", true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range list {
		got = append(got, i.Path)
	}
	if diff := cmp.Diff([]string{"mem:in/a.csv", "mem:in/c.csv", "mem:in/deep", "mem:in/deep/b.csv"}, got); diff != "" {
		t.Error(diff)
	}
	data, err := files.ReadAll(ctx, s, "mem:in/c.csv")
	if err != nil || string(data) != "ccc" {
		t.Errorf("read %q, %v", data, err)
	}
	if i, err := s.Stat(ctx, "mem:in/deep"); err != nil || !i.Folder {
		t.Errorf("folder: %+v, %v", i, err)
	}
	if err := s.RemoveAll(ctx, "mem:in"); err != nil {
		t.Fatal(err)
	}
	if ok, err := files.Exists(ctx, s, "mem:in/deep/b.csv"); ok || err != nil {
		t.Errorf("still there: %v, %v", ok, err)
	}
}

func TestRemoteErrorsAreThoseOfFiles(t *testing.T) {
	s, m := overMemory(t)
	ctx := t.Context()
	if _, err := s.Open(ctx, "mem:nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	if _, err := s.Create(ctx, "mem:x", files.CreateOptions{Append: true}); !errors.Is(err, files.ErrNotSupported) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Open(ctx, "other:x"); !errors.Is(err, storage.ErrUnknownRemote) || !strings.Contains(err.Error(), "sluice remotes list") {
		t.Errorf("unknown remote: %v", err)
	}
	w, err := s.Create(ctx, "mem:half", files.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if list, _ := m.List(ctx, ""); len(list) != 0 {
		t.Errorf("an aborted file left %v", list)
	}
	if err := s.RemoveAll(ctx, "mem:"); err == nil {
		t.Error("the root of a remote was removed")
	}
}

func TestIsRemote(t *testing.T) {
	here := filepath.Join(t.TempDir(), "ab:c")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]bool{
		"s3:bucket/x": true, "my remote:x": true, ":memory:x": true, "s3://b/x": true, "hdfs://h:8020/x": true,
		"file:///x": false, "/x/y:z": false, "x.csv": false, `C:\x`: false, "C:/x": false, "./a:b": false, here: false,
	} {
		if got := files.IsRemote(location); got != want {
			t.Errorf("%s: %v", location, got)
		}
	}
}
