package rclone_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rclone/rclone/fs/config/obscure"

	"sluice/storage"
	"sluice/storage/rclone"
	"sluice/storage/storagetest"
)

// quick makes failing tests fail soon.
var quick = storage.Backoff{Attempts: 2, First: time.Millisecond, Most: time.Millisecond}

// client uses no rclone.conf of this machine.
func client(t *testing.T) *rclone.Client {
	t.Helper()
	c := rclone.New(rclone.Options{InMemory: true, Backoff: quick})
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

func open(t *testing.T, c *rclone.Client, text string) storage.Remote {
	t.Helper()
	l, err := storage.ParseLocation(text, storage.Parsing{AllowOptions: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMemoryKeepsTheContract(t *testing.T) {
	c := client(t)
	var n atomic.Int64
	storagetest.Run(t, func(t *testing.T) storage.Remote {
		return open(t, c, fmt.Sprintf(":memory:bucket%d/root", n.Add(1)))
	})
}

func TestLocalKeepsTheContract(t *testing.T) {
	c := client(t)
	storagetest.Run(t, func(t *testing.T) storage.Remote {
		r := open(t, c, ":local:"+filepath.ToSlash(t.TempDir())+"/root")
		if _, ok := r.(*storage.Folder); !ok {
			t.Fatalf("a local remote is a %T, which does not sync", r)
		}
		return r
	})
}

func TestCryptOverLocalKeepsTheContract(t *testing.T) {
	c := client(t)
	password := obscure.MustObscure("a password of the test")
	storagetest.Run(t, func(t *testing.T) storage.Remote {
		return open(t, c, fmt.Sprintf(":crypt,remote=%q,password=%s:root", filepath.ToSlash(t.TempDir()), password))
	})
}
