package presenter_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/pipeline"
)

func workspaceOf(t *testing.T, f *presenter.File) *workspace.Workspace {
	t.Helper()
	ws, err := opener(f)(&presenter.Log{}, "")
	must(t, err)
	return ws
}

// sealedGate gives a file whose gate was sealed by one run.
func sealedGate(t *testing.T) (*presenter.File, presenter.GateView) {
	t.Helper()
	f := openCut(t)
	must(t, f.MarkGate("gate", nil))
	ran(t, f, pipeline.Run{}, nil)
	v, ok := looked(t, f).Snapshot("gate")
	if !ok {
		t.Fatal("nothing is sealed")
	}
	return f, v
}

func TestSnapshotRowsAreShownAndExported(t *testing.T) {
	f, v := sealedGate(t)
	src, err := presenter.OpenSnapshot(t.Context(), workspaceOf(t, f), v)
	must(t, err)
	defer func() { must(t, src.Close()) }()
	r := src.Rows(0)
	defer r.Close()
	if r.Total != 12 || r.Len() != 0 || len(r.Fields()) != 1 || r.Fields()[0].Name != "a" {
		t.Errorf("%+v", r.Fields())
	}
	if got := r.Caption(); got != "Snapshot of gate: 0 rows of 12 loaded" {
		t.Error(got)
	}
	r.Load(t.Context())
	if got := r.Caption(); got != "Snapshot of gate: 12 rows" {
		t.Error(got)
	}
	if diff := cmp.Diff([]presenter.Cell{{Text: "x"}}, r.Row(11)); diff != "" {
		t.Error(diff)
	}
	if r.Row(12) != nil || r.Row(-1) != nil {
		t.Error("there are rows behind the last and before the first one")
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	n, err := r.ExportCSV(t.Context(), path)
	must(t, err)
	data, err := os.ReadFile(path)
	must(t, err)
	if want := "a\n" + strings.Repeat("x\n", 12); n != 12 || string(data) != want {
		t.Errorf("%d rows: %q", n, data)
	}
	r.Close()
	if r.Len() != 0 || r.Row(0) != nil {
		t.Error("there are rows after Close")
	}
}

func TestSnapshotsAreComparedWithTheOneBefore(t *testing.T) {
	f, v := sealedGate(t)
	if _, err := presenter.CompareSnapshots(t.Context(), workspaceOf(t, f), v); !errors.Is(err, presenter.ErrOneSnapshot) {
		t.Errorf("with one snapshot: %v", err)
	}
	ran(t, f, pipeline.Run{}, nil)
	c, err := presenter.CompareSnapshots(t.Context(), workspaceOf(t, f), v)
	must(t, err)
	if !c.Equal {
		t.Errorf("the same rows: %+v", c.Comparison)
	}
	fm := form(t, f, "rows")
	entry(t, fm, "limit").Text = "13"
	must(t, fm.Apply())
	ran(t, f, pipeline.Run{}, nil)
	c, err = presenter.CompareSnapshots(t.Context(), workspaceOf(t, f), v)
	must(t, err)
	if c.Equal || len(c.Counts) != 1 || len(c.Rows) != 1 || c.Rows[0].Row != 13 || c.Newer.Rows != 13 || c.Older.Rows != 12 {
		t.Errorf("another row: %+v", c.Comparison)
	}
	list, err := presenter.ListSnapshots(t.Context(), workspaceOf(t, f), v)
	if err != nil || len(list) != 3 || list[0].Rows != 13 {
		t.Errorf("%v, %+v", err, list)
	}
}

func TestVerifyFindsAFlippedBit(t *testing.T) {
	f, v := sealedGate(t)
	proof, err := presenter.VerifySnapshot(t.Context(), workspaceOf(t, f), v)
	if err != nil || proof.Segments != 1 {
		t.Fatalf("%v, %+v", err, proof)
	}
	flipped := false
	must(t, filepath.WalkDir(os.Getenv("SLUICE_DATA"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".parquet") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[len(data)/2] ^= 1
		flipped = true
		return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, data, 0o600))
	}))
	if !flipped {
		t.Fatal("there is no segment")
	}
	if _, err := presenter.VerifySnapshot(t.Context(), workspaceOf(t, f), v); err == nil {
		t.Error("a flipped bit was not found")
	}
}

func TestAClearedCacheIsEmpty(t *testing.T) {
	f := openCut(t)
	must(t, f.MarkCache("gate", 0))
	ran(t, f, pipeline.Run{}, nil)
	v, ok := looked(t, f).Cache("gate")
	if !ok || v.Rows != 12 {
		t.Fatalf("%+v", v)
	}
	if n, err := presenter.ClearCache(t.Context(), workspaceOf(t, f), v); err != nil || n == 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if v, ok := looked(t, f).Cache("gate"); !ok || v.State != "" {
		t.Errorf("%+v", v)
	}
}
