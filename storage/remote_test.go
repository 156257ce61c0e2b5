package storage_test

import (
	"path/filepath"
	"testing"

	"sluice/storage"
	"sluice/storage/storagetest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(*testing.T) storage.Remote { return &storage.Memory{} })
}

func TestFolderKeepsTheContract(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(t *testing.T) storage.Remote {
		return storage.NewPrivateFolder(filepath.Join(t.TempDir(), "new", "root"))
	})
}
