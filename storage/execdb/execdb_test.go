package execdb_test

import (
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/execdb"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

var _ snapshot.Witness = (*execdb.Store)(nil)

func open(t *testing.T, dir string, o execdb.Options) *execdb.Store {
	t.Helper()
	s, err := execdb.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storagetest.RunExecutions(t, func(t *testing.T, r storage.Redactor, now func() time.Time) storage.ExecutionStore {
		return open(t, t.TempDir(), execdb.Options{Redact: r, Now: now})
	})
}
