package snapshot_test

import (
	"bytes"
	"errors"
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

var update = flag.Bool("update", false, "write testdata anew")

// goldenKey signs the golden snapshot.
const goldenKey = "the key of the golden snapshot"

// golden writes one sealed, one interrupted and one buried snapshot with fixed
// clock, ids and host.
func golden(t *testing.T, o snapshot.Options) *storage.Memory {
	t.Helper()
	disk := &storage.Memory{}
	s := newStore(disk, o)
	ref, _ := mustWrite(t, s, "e1", 2, 2)
	if err := s.Pin(t.Context(), ref, "run-1", "a replay", time.Hour); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		w, err := s.Begin(t.Context(), begin("e2"))
		if err != nil {
			t.Fatal(err)
		}
		if err := writePart(t.Context(), w, 0, 1); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			err = w.Interrupt(t.Context(), "stopped by the user")
		} else {
			_, err = s.DeclareDead(t.Context(), w.Ref(), "its process has ended")
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return disk
}

// TestFormatStays compares every byte with version 1 as it was first written.
// When it fails, the format has changed: FORMAT.md needs a new version.
func TestFormatStays(t *testing.T) {
	key, err := snapshot.ParseKey(goldenKey)
	if err != nil {
		t.Fatal(err)
	}
	disk := golden(t, snapshot.Options{Keys: []*snapshot.Key{key}})
	got := tree(t, disk, "")
	folder := storage.NewFolder(must(filepath.Abs("testdata/v1")))
	if *update {
		for name, data := range got {
			mustPut(t, folder, name, data)
		}
	}
	want := tree(t, folder, "")
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("names %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("%s\n is  %s\nwas %s", name, got[name], data)
		}
	}
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// TestVersion1IsRead reads the stored files as a later program would.
func TestVersion1IsRead(t *testing.T) {
	key, err := snapshot.ParseKey(goldenKey)
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(storage.NewFolder(must(filepath.Abs("testdata/v1"))), snapshot.Options{Keys: []*snapshot.Key{key}})
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 3 {
		t.Fatalf("%d snapshots, %v", len(list), err)
	}
	seen := map[storage.SnapshotState]int{}
	for _, x := range list {
		seen[x.State]++
		if x.State != storage.SnapshotSealed {
			continue
		}
		sn, err := s.Load(t.Context(), x.Ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sn.Verify(t.Context(), snapshot.Full, nil); err != nil {
			t.Error(err)
		}
		if got, err := readAll(t.Context(), sn, snapshot.Reading{}); err != nil || !bytes.Equal(got, allRows(2, 2)) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if len(x.Pins) != 1 || x.Pins[0].ID != "run-1" {
			t.Errorf("pins %+v", x.Pins)
		}
	}
	if seen[storage.SnapshotSealed] != 1 || seen[storage.SnapshotInterrupted] != 2 {
		t.Errorf("states %v", seen)
	}
}

func FuzzParseManifest(f *testing.F) {
	names, err := filepath.Glob("testdata/v1/*/*/SnapshotManifest.json")
	if err != nil || len(names) == 0 {
		f.Fatalf("%d seeds, %v", len(names), err)
	}
	var ref storage.SnapshotRef
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		ref = storage.SnapshotRef{Gate: gate, ID: path.Base(filepath.ToSlash(filepath.Dir(name)))}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := snapshot.ParseManifest(data, ref, nil)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, snapshot.ErrNewerFormat) {
				t.Errorf("error %v has no sentinel", err)
			}
			return
		}
		if !bytes.Equal(encode(t, m), data) {
			t.Error("a manifest was accepted that is not in canonical form")
		}
		for _, s := range m.Segments {
			if path.Base(s.Name) != s.Name {
				t.Errorf("segment name %q", s.Name)
			}
		}
	})
}
