package snapshot_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

func hashOf(data []byte) string {
	sum := sha(data)
	return hex.EncodeToString(sum[:])
}

// block is 1000 bytes of one letter.
func block(c byte) []byte { return bytes.Repeat([]byte{c}, 1000) }

func cachePut(t *testing.T, c *snapshot.Cache, blocks ...byte) {
	t.Helper()
	for _, b := range blocks {
		if err := c.Put(hashOf(block(b)), block(b)); err != nil {
			t.Fatal(err)
		}
	}
}

func cacheHas(c *snapshot.Cache, b byte) bool {
	data, ok := c.Get(hashOf(block(b)), 1000)
	return ok && bytes.Equal(data, block(b))
}

// age makes an entry look unused since a time long ago.
func age(t *testing.T, dir string, b byte, minutes int) {
	t.Helper()
	h := hashOf(block(b))
	at := time.Now().Add(-time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "segments", h[:2], h), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestCacheEvictsTheLeastRecentlyUsed(t *testing.T) {
	dir := t.TempDir()
	c := snapshot.NewCache(dir, 3000)
	cachePut(t, c, 'a', 'b', 'c')
	age(t, dir, 'a', 30)
	age(t, dir, 'b', 20)
	age(t, dir, 'c', 10)
	if !cacheHas(c, 'a') { // uses it
		t.Fatal("a is not cached")
	}
	cachePut(t, c, 'd')
	for b, want := range map[byte]bool{'a': true, 'b': false, 'c': true, 'd': true} {
		if cacheHas(c, b) != want {
			t.Errorf("%c cached: %t, want %t", b, !want, want)
		}
	}
	if n, err := c.Size(); err != nil || n != 3000 {
		t.Errorf("size %d, %v", n, err)
	}
	if n, err := c.Clear(); err != nil || n != 3000 {
		t.Errorf("cleared %d, %v", n, err)
	}
}

// Pins of this process, and of another one that lives, hold; those of a dead
// one do not.
func TestCachePins(t *testing.T) {
	dir := t.TempDir()
	c, elsewhere := snapshot.NewCache(dir, 2000), snapshot.NewCache(dir, 2000)
	cachePut(t, c, 'a', 'b')
	age(t, dir, 'a', 30)
	age(t, dir, 'b', 20)
	pin, err := elsewhere.Pin()
	if err != nil {
		t.Fatal(err)
	}
	if err := pin.Add(hashOf(block('a'))); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, "pins", "pin-dead")
	if err := os.WriteFile(dead, []byte(hashOf(block('b'))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cachePut(t, c, 'c')
	if !cacheHas(c, 'a') || cacheHas(c, 'b') || !cacheHas(c, 'c') {
		t.Errorf("a %t, b %t, c %t", cacheHas(c, 'a'), cacheHas(c, 'b'), cacheHas(c, 'c'))
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pin of a dead process: %v", err)
	}
	for range 2 {
		if err := pin.Release(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Clear(); err != nil || cacheHas(c, 'a') {
		t.Errorf("after release: %v", err)
	}
}

func TestCacheNeverGivesWrongBytes(t *testing.T) {
	dir := t.TempDir()
	c := snapshot.NewCache(dir, 1<<20)
	cachePut(t, c, 'a')
	h := hashOf(block('a'))
	if err := os.WriteFile(filepath.Join(dir, "segments", h[:2], h), block('x'), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(h, 1000); ok {
		t.Error("damaged bytes were handed out")
	}
	if err := c.Put(h, block('x')); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("put of other bytes: %v", err)
	}
	if _, ok := c.Get("../../etc/passwd", 1000); ok {
		t.Error("a name that is no hash")
	}
	if err := c.Put(hashOf(make([]byte, 2<<20)), make([]byte, 2<<20)); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("larger than the cache: %v", err)
	}
}

// A sealed snapshot of this machine is read back without the remote; one that
// must not lie on this disk is not.
func TestReadingThroughTheCache(t *testing.T) {
	cache := snapshot.NewCache(t.TempDir(), 1<<20)
	pin, err := cache.Pin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pin.Release() }()
	disk := &storage.Memory{}
	var opens int
	r := storagetest.NewFaulty(disk, storagetest.Faults{Hook: func(_ int, method, name string) {
		if method == "Open" && bytes.Contains([]byte(name), []byte("-seg-")) {
			opens++
		}
	}})
	s := newStore(r, snapshot.Options{Cache: cache})
	b := begin("e1")
	b.CachePin = pin
	w, err := s.Begin(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := writePart(t.Context(), w, 0, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal(t.Context(), snapshot.Sealing{}); err != nil {
		t.Fatal(err)
	}
	sn, err := s.Load(t.Context(), w.Ref())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reading snapshot.Reading
		opens   int
	}{"cached": {snapshot.Reading{}, 0}, "no cache": {snapshot.Reading{NoCache: true}, 3}} {
		opens = 0
		got, err := readAll(t.Context(), sn, c.reading)
		if err != nil || !bytes.Equal(got, allRows(1, 3)) || opens != c.opens {
			t.Errorf("%s: %d bytes, %v, %d downloads, want %d", name, len(got), err, opens, c.opens)
		}
	}
	if n, err := cache.Clear(); err != nil || n != 0 {
		t.Errorf("pinned entries were cleared: %d, %v", n, err)
	}
}

// A reader that stops early leaves no goroutine, and a missing segment ends
// the sequence.
func TestStreamingStops(t *testing.T) {
	disk := &storage.Memory{}
	s := newStore(disk, snapshot.Options{})
	ref, m := mustWrite(t, s, "e1", 1, 5)
	sn, err := s.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // fails when a goroutine is left
		for _, err := range sn.Segments(t.Context(), 0, snapshot.Reading{Ahead: 3}) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	})
	if err := disk.Delete(t.Context(), file(ref, m.Segments[2].Name)); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(t.Context(), sn, snapshot.Reading{Ahead: 3})
	if !errors.Is(err, storage.ErrCorrupt) || !bytes.Equal(got, allRows(1, 2)) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}
