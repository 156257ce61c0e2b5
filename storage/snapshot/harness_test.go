package snapshot_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

const gate = "0123456789ab"

var (
	schema = json.RawMessage(`{"fields":[{"name":"id","type":"Integer"}]}`)
	writer = snapshot.Host{Name: "writer", PID: 1, BootID: "b1"}
	reaper = snapshot.Host{Name: "reaper", PID: 2, BootID: "b2"}
)

// seeded gives the same ids and nonces for the same seed.
func seeded(seed uint64) io.Reader {
	return rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), 1})
}

func newStore(r storage.Remote, o snapshot.Options) *snapshot.Store {
	if o.Random == nil {
		o.Random = seeded(1)
	}
	if o.Host == (snapshot.Host{}) {
		o.Host = writer
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	}
	return snapshot.NewStore(r, o)
}

func begin(root string) snapshot.Begin {
	return snapshot.Begin{
		Gate:        gate,
		Origin:      snapshot.Origin{ExecutionID: root + "-child", RootExecutionID: root, CallPath: "main.hwf/load#1", File: "load.hpl", Node: "Orders", Semantics: map[string]int{"SortRows": 2}},
		Fingerprint: json.RawMessage(`{"Orders":{"sql":"select 1"}}`),
	}
}

// rowsOf is what segment index of a part holds; every row is 8 bytes.
func rowsOf(part, index int) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("%03d-%03d\n", part, index)), 50+part+index)
}

// write runs a whole session: parts with segments each, then the seal.
func write(ctx context.Context, s *snapshot.Store, root string, parts, segments int) (*snapshot.Writer, *snapshot.Manifest, error) {
	w, err := s.Begin(ctx, begin(root))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = w.Close(ctx) }()
	for p := range parts {
		if err := writePart(ctx, w, p, segments); err != nil {
			return w, nil, err
		}
	}
	m, err := w.Seal(ctx, snapshot.Sealing{
		Variables: []snapshot.Variable{{Name: "DAY", Value: "2026-11-30"}},
		Sources:   []snapshot.SourceMark{{Node: "Orders", Kind: "query", Value: "2026-11-30T12:00:00Z"}},
		Effects:   json.RawMessage(`{"variables":{"COUNT":"3"}}`),
	})
	return w, m, err
}

func writePart(ctx context.Context, w *snapshot.Writer, p, segments int) error {
	id, err := w.AddPart("main", p, schema)
	if err != nil {
		return err
	}
	content := sha256.New()
	var rows int64
	for i := range segments {
		data := rowsOf(p, i)
		n := int64(len(data) / 8)
		rows += n
		content.Write(data)
		if _, err := w.PutSegment(ctx, snapshot.NewSegment{Part: id, Index: i, Rows: n, Extension: "parquet", Data: data}); err != nil {
			return err
		}
	}
	return w.EndPart(id, rows, [32]byte(content.Sum(nil)))
}

// mustWrite writes a sealed snapshot.
func mustWrite(t *testing.T, s *snapshot.Store, root string, parts, segments int) (storage.SnapshotRef, *snapshot.Manifest) {
	t.Helper()
	w, m, err := write(t.Context(), s, root, parts, segments)
	if err != nil {
		t.Fatal(err)
	}
	return w.Ref(), m
}

// readAll streams every part and gives the rows, or what was handed out
// before the error.
func readAll(ctx context.Context, sn *snapshot.Snapshot, r snapshot.Reading) ([]byte, error) {
	var out []byte
	for _, p := range sn.Manifest.Parts {
		for loaded, err := range sn.Segments(ctx, p.ID, r) {
			if err != nil {
				return out, err
			}
			out = append(out, loaded.Data...)
		}
	}
	return out, nil
}

// allRows is what readAll must give.
func allRows(parts, segments int) []byte {
	var out []byte
	for p := range parts {
		for i := range segments {
			out = append(out, rowsOf(p, i)...)
		}
	}
	return out
}

// tree reads every object below dir.
func tree(t *testing.T, r storage.Remote, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	list, err := r.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if o.Dir {
			maps.Copy(out, tree(t, r, o.Name))
			continue
		}
		data, err := storage.ReadAll(t.Context(), r, o.Name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		out[o.Name] = data
	}
	return out
}

func file(ref storage.SnapshotRef, name string) string { return path.Join(ref.Gate, ref.ID, name) }

func mustPut(t *testing.T, r storage.Remote, name string, data []byte) {
	t.Helper()
	if err := r.Put(t.Context(), name, storage.Bytes(data)); err != nil {
		t.Fatal(err)
	}
}

func sha(data []byte) [32]byte { return sha256.Sum256(data) }

func (w memoryWitness) RecordSeal(_ context.Context, ref storage.SnapshotRef, digest string) error {
	w[ref] = digest
	return nil
}

func (w memoryWitness) SealedDigest(_ context.Context, ref storage.SnapshotRef) (string, error) {
	return w[ref], nil
}

// Short names for the signatures of wrapped remotes.
type (
	contextT   = context.Context
	readCloser = io.ReadCloser
)
