package snapshot_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

func TestWriteThenRead(t *testing.T) {
	for name, r := range map[string]storage.Remote{
		"memory": &storage.Memory{},
		"folder": storage.NewPrivateFolder(filepath.Join(t.TempDir(), "s")),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(r, snapshot.Options{})
			ref, m := mustWrite(t, s, "e1", 2, 3)
			if m.RowCount != int64(len(allRows(2, 3))/8) || len(m.Segments) != 6 || len(m.Parts) != 2 {
				t.Errorf("manifest: %d rows, %d segments, %d parts", m.RowCount, len(m.Segments), len(m.Parts))
			}
			sn, err := s.Load(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range []snapshot.Level{snapshot.Quick, snapshot.Stored, snapshot.Full} {
				v, err := sn.Verify(t.Context(), level, nil)
				if err != nil || v.Segments != 6 || v.Bytes != m.Bytes {
					t.Errorf("verify %s: %+v, %v", level, v, err)
				}
			}
			got, err := readAll(t.Context(), sn, snapshot.Reading{Ahead: 2})
			if err != nil || !bytes.Equal(got, allRows(2, 3)) {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
		})
	}
}

// The stored check says what it really reached.
func TestStoredCheckFallsBackToSizes(t *testing.T) {
	s := newStore(storage.NewPrivateFolder(t.TempDir()), snapshot.Options{})
	ref, _ := mustWrite(t, s, "e1", 1, 1)
	sn, err := s.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	v, err := sn.Verify(t.Context(), snapshot.Stored, nil)
	if err != nil || v.Level != snapshot.Quick || len(v.Notes) == 0 {
		t.Errorf("verification %+v, %v", v, err)
	}
}

func TestNoRowsAreAValidSnapshot(t *testing.T) {
	s := newStore(&storage.Memory{}, snapshot.Options{})
	ref, m := mustWrite(t, s, "e1", 1, 0)
	sn, err := s.Load(t.Context(), ref)
	if err != nil || m.RowCount != 0 || m.ContentDigest == "" {
		t.Fatalf("%+v, %v", m, err)
	}
	if got, err := readAll(t.Context(), sn, snapshot.Reading{}); err != nil || len(got) != 0 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// Equal rows give an equal content digest, whatever the segment boundaries.
func TestContentDigestIsThatOfTheRows(t *testing.T) {
	s := newStore(&storage.Memory{}, snapshot.Options{})
	_, first := mustWrite(t, s, "e1", 2, 3)
	_, again := mustWrite(t, s, "e2", 2, 3)
	_, other := mustWrite(t, s, "e3", 2, 4)
	if first.ContentDigest != again.ContentDigest || first.ContentDigest == other.ContentDigest {
		t.Errorf("content digests %s, %s, %s", first.ContentDigest, again.ContentDigest, other.ContentDigest)
	}
	if first.Digest == again.Digest {
		t.Error("two snapshots have one digest")
	}
	w, err := s.Begin(t.Context(), begin("e4"))
	if err != nil {
		t.Fatal(err)
	}
	for p := range 2 { // the same rows in one segment for each part
		id, err := w.AddPart("main", p, schema)
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		for i := range 3 {
			data = append(data, rowsOf(p, i)...)
		}
		rows := int64(len(data) / 8)
		if _, err := w.PutSegment(t.Context(), snapshot.NewSegment{Part: id, Rows: rows, Extension: "parquet", Data: data}); err != nil {
			t.Fatal(err)
		}
		if err := w.EndPart(id, rows, sha(data)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := w.Seal(t.Context(), snapshot.Sealing{})
	if err != nil || m.ContentDigest != first.ContentDigest {
		t.Errorf("one segment: %v, digest differs", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	put := func(part, index int, rows int64, extension string) func(*testing.T, *snapshot.Writer) error {
		return func(t *testing.T, w *snapshot.Writer) error {
			_, err := w.PutSegment(t.Context(), snapshot.NewSegment{Part: part, Index: index, Rows: rows, Extension: extension, Data: []byte("x")})
			return err
		}
	}
	for name, try := range map[string]func(*testing.T, *snapshot.Writer) error{
		"unknown part":         put(7, 0, 1, "parquet"),
		"negative index":       put(0, -1, 1, "parquet"),
		"negative rows":        put(0, 5, -1, "parquet"),
		"extension with slash": put(0, 5, 1, "../x"),
		"same segment twice":   put(0, 0, 1, "parquet"),
		"too large": func(t *testing.T, w *snapshot.Writer) error {
			_, err := w.PutSegment(t.Context(), snapshot.NewSegment{Part: 0, Index: 9, Rows: 1, Extension: "parquet", Data: make([]byte, snapshot.MaxSegmentBytes+1)})
			return err
		},
		"schema is not compact": func(_ *testing.T, w *snapshot.Writer) error {
			_, err := w.AddPart("x", 0, []byte(`{ "a": 1 }`))
			return err
		},
		"schema missing": func(_ *testing.T, w *snapshot.Writer) error {
			_, err := w.AddPart("x", 0, nil)
			return err
		},
		"seal with an open part": func(t *testing.T, w *snapshot.Writer) error {
			_, err := w.Seal(t.Context(), snapshot.Sealing{})
			return err
		},
		"seal with a gap": func(t *testing.T, w *snapshot.Writer) error {
			if err := put(0, 2, 1, "parquet")(t, w); err != nil {
				t.Fatal(err)
			}
			if err := w.EndPart(0, 2, sha(nil)); err != nil {
				t.Fatal(err)
			}
			_, err := w.Seal(t.Context(), snapshot.Sealing{})
			return err
		},
		"seal with wrong rows": func(t *testing.T, w *snapshot.Writer) error {
			if err := w.EndPart(0, 99, sha(nil)); err != nil {
				t.Fatal(err)
			}
			_, err := w.Seal(t.Context(), snapshot.Sealing{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(&storage.Memory{}, snapshot.Options{})
			w, err := s.Begin(t.Context(), begin("e1"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close(t.Context()) }()
			if _, err := w.AddPart("main", 0, schema); err != nil {
				t.Fatal(err)
			}
			if err := put(0, 0, 1, "parquet")(t, w); err != nil {
				t.Fatal(err)
			}
			if err := try(t, w); err == nil {
				t.Error("no error")
			}
			_ = w.Close(t.Context())
			if _, err := s.Load(t.Context(), w.Ref()); !errors.Is(err, snapshot.ErrInterrupted) {
				t.Errorf("afterwards: %v, want INTERRUPTED", err)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	s := newStore(&storage.Memory{}, snapshot.Options{})
	w, err := s.Begin(t.Context(), begin("e1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), w.Ref()); !errors.Is(err, snapshot.ErrOpen) {
		t.Errorf("while writing: %v", err)
	}
	if err := writePart(t.Context(), w, 0, 2); err != nil {
		t.Fatal(err)
	}
	if err := w.Interrupt(t.Context(), "stopped by the user"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load(t.Context(), w.Ref())
	if !errors.Is(err, snapshot.ErrInterrupted) || !strings.Contains(err.Error(), "stopped by the user") ||
		!strings.Contains(err.Error(), "the source was partially extracted, stage it again from scratch") {
		t.Errorf("error %v", err)
	}
	if _, err := w.Seal(t.Context(), snapshot.Sealing{}); !errors.Is(err, snapshot.ErrClosed) {
		t.Errorf("seal after the verdict: %v", err)
	}
}

func TestKeys(t *testing.T) {
	key := func(text string) *snapshot.Key {
		k, err := snapshot.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	a, b := key("a secret of enough bytes"), key("another secret, enough too")
	for name, c := range map[string]struct {
		sign, read []*snapshot.Key
		want       error
	}{
		"none":                 {nil, nil, nil},
		"same":                 {[]*snapshot.Key{a}, []*snapshot.Key{a}, nil},
		"rotated":              {[]*snapshot.Key{a}, []*snapshot.Key{b, a}, nil},
		"other":                {[]*snapshot.Key{a}, []*snapshot.Key{b}, snapshot.ErrWrongKey},
		"unsigned":             {nil, []*snapshot.Key{a}, snapshot.ErrUnsigned},
		"signed, no key here":  {[]*snapshot.Key{a}, nil, nil},
		"signed by the second": {[]*snapshot.Key{b, a}, []*snapshot.Key{a}, snapshot.ErrWrongKey},
	} {
		t.Run(name, func(t *testing.T) {
			r := &storage.Memory{}
			ref, _ := mustWrite(t, newStore(r, snapshot.Options{Keys: c.sign}), "e1", 1, 1)
			_, err := newStore(r, snapshot.Options{Keys: c.read}).Load(t.Context(), ref)
			if !errors.Is(err, c.want) {
				t.Errorf("load: %v, want %v", err, c.want)
			}
		})
	}
	if _, err := snapshot.ParseKey("short"); err == nil {
		t.Error("a short key was taken")
	}
	if text := a.String() + a.LogValue().String(); strings.Contains(text, "secret") {
		t.Errorf("a key prints itself: %s", text)
	}
}

// memoryWitness is a second witness.
type memoryWitness map[storage.SnapshotRef]string

func TestSecondWitness(t *testing.T) {
	r, witness := &storage.Memory{}, memoryWitness{}
	s := newStore(r, snapshot.Options{Witness: witness})
	ref, m := mustWrite(t, s, "e1", 1, 1)
	if witness[ref] != m.Digest {
		t.Fatalf("witness has %q, manifest %q", witness[ref], m.Digest)
	}
	if _, err := s.Load(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	witness[ref] = strings.Repeat("0", 64)
	if _, err := s.Load(t.Context(), ref); !errors.Is(err, snapshot.ErrWitness) || !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("load: %v, want ErrWitness", err)
	}
}

func TestListFindLatest(t *testing.T) {
	r := &storage.Memory{}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := newStore(r, snapshot.Options{Now: func() time.Time { at = at.Add(time.Hour); return at }})
	var refs []storage.SnapshotRef
	for range 3 {
		ref, _ := mustWrite(t, s, "e1", 1, 1)
		refs = append(refs, ref)
	}
	w, err := s.Begin(t.Context(), begin("e2"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Interrupt(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	mustPut(t, r, gate+"/notes.txt", []byte("a stranger"))
	mustPut(t, r, "executions/e1/record.json", []byte("{}"))
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 4 {
		t.Fatalf("list: %d, %v", len(list), err)
	}
	var states []storage.SnapshotState
	for _, x := range list {
		states = append(states, x.State)
	}
	if !slices.Equal(states, []storage.SnapshotState{storage.SnapshotInterrupted, storage.SnapshotSealed, storage.SnapshotSealed, storage.SnapshotSealed}) {
		t.Errorf("states %v", states)
	}
	if list[1].Ref != refs[2] || list[1].Rows != 50 || list[1].Origin.RootExecutionID != "e1" || list[1].Begun.IsZero() || !list[1].Ours {
		t.Errorf("summary %+v", list[1])
	}
	latest, err := s.Latest(t.Context(), gate)
	if err != nil || latest.Ref != refs[2] {
		t.Errorf("latest: %v, %v", latest, err)
	}
	if ref, err := s.Find(t.Context(), "", refs[0].ID[:30]); err != nil || ref != refs[0] {
		t.Errorf("find: %v, %v", ref, err)
	}
	if _, err := s.Find(t.Context(), gate, refs[0].ID[:4]); !errors.Is(err, snapshot.ErrAmbiguous) {
		t.Errorf("find by 4 digits: %v", err)
	}
	if _, err := s.Find(t.Context(), gate, "ffff"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("find none: %v", err)
	}
	if _, err := s.Load(t.Context(), storage.SnapshotRef{Gate: "../../etc", ID: refs[0].ID}); !errors.Is(err, storage.ErrBadName) {
		t.Errorf("gate outside: %v", err)
	}
	if _, err := s.Latest(t.Context(), "ffffffffffff"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("latest of no gate: %v", err)
	}
}

// Every condition a person can meet says what to try.
func TestEveryConditionHasAHint(t *testing.T) {
	for _, err := range []error{
		snapshot.ErrInterrupted, snapshot.ErrPruned, snapshot.ErrOpen, snapshot.ErrUnsigned, snapshot.ErrWrongKey,
		snapshot.ErrNewerFormat, snapshot.ErrWitness, snapshot.ErrFenced, snapshot.ErrPinned, snapshot.ErrAmbiguous,
		storage.ErrCorrupt, storage.ErrNoSpace, storage.ErrPermission, storage.ErrUnknownRemote, storage.ErrUnreachable, storage.ErrAuth,
	} {
		if snapshot.Hint(&storage.SnapshotError{Err: err}) == "" {
			t.Errorf("no hint for %v", err)
		}
	}
}

// A reader may give memory for the next segments; what does not fit is replaced.
func TestMemoryOfTheReader(t *testing.T) {
	const segments = 6
	r := &storage.Memory{}
	s := newStore(r, snapshot.Options{})
	ref, _ := mustWrite(t, s, "root", 1, segments)
	sn, err := s.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		size int
		used bool
	}{"large enough": {1 << 16, true}, "too small": {16, false}, "none": {0, false}} {
		t.Run(name, func(t *testing.T) {
			var given [][]byte
			reading := snapshot.Reading{Memory: func(bytes int64) []byte {
				if bytes <= 0 {
					t.Errorf("memory of %d bytes is asked for", bytes)
				}
				given = append(given, make([]byte, c.size))
				return given[len(given)-1]
			}}
			var all []byte
			var starts []*byte
			for loaded, err := range sn.Segments(t.Context(), 0, reading) {
				if err != nil {
					t.Fatal(err)
				}
				all, starts = append(all, loaded.Data...), append(starts, &loaded.Data[0])
			}
			for i, memory := range given { // the other goroutine has ended
				if used := c.size > 0 && starts[i] == &memory[0]; used != c.used {
					t.Errorf("segment %d: the memory was used: %v", i, used)
				}
			}
			if !bytes.Equal(all, allRows(1, segments)) || len(given) != segments {
				t.Errorf("%d bytes in %d pieces of memory", len(all), len(given))
			}
		})
	}
}
