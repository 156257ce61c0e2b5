package storage_test

import (
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/storagetest"
)

func TestMemoryExecutionsKeepTheContract(t *testing.T) {
	t.Parallel()
	storagetest.RunExecutions(t, func(_ *testing.T, r storage.Redactor, now func() time.Time) storage.ExecutionStore {
		return &storage.MemoryExecutions{Redact: r, Now: now}
	})
}
