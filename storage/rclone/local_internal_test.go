package rclone

import (
	"context"
	"path/filepath"
	"testing"

	"sluice/storage"
	"sluice/storage/storagetest"
)

// TestPlainLocalKeepsTheContract runs the put-then-rename path over rclone's
// own local backend, which Open replaces by a storage.Folder.
func TestPlainLocalKeepsTheContract(t *testing.T) {
	c := New(Options{InMemory: true})
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	storagetest.Run(t, func(t *testing.T) storage.Remote {
		p, err := c.place(t.Context(), storage.Location{Remote: ":local", Path: filepath.ToSlash(t.TempDir()) + "/root"})
		if err != nil {
			t.Fatal(err)
		}
		return &Remote{place: p, backoff: c.o.Backoff}
	})
}
