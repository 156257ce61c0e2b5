// Package storagetest holds the contract that every storage.Remote keeps,
// and a remote that fails on purpose.
package storagetest

import (
	"bytes"
	"context"
	"crypto/md5" // the hash that remotes offer
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"sluice/storage"
)

// Run checks a kind of remote against the contract of storage.Remote and of
// the optional abilities it has. open gives an empty remote each time it is
// called and fails the test when it cannot.
func Run(t *testing.T, open func(t *testing.T) storage.Remote) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, r storage.Remote)
	}{
		{"round trip", roundTrip},
		{"names", names},
		{"ranges", ranges},
		{"absent", absent},
		{"replace", replace},
		{"list", list},
		{"delete", remove},
		{"bad names", badNames},
		{"short body", shortBody},
		{"cancelled put", cancelledPut},
		{"cancelled calls", cancelledCalls},
		{"readers while replacing", readersWhileReplacing},
		{"many writers", manyWriters},
		{"put if absent", putIfAbsent},
		{"move", move},
		{"folders", folders},
		{"stored hash", storedHash},
		{"lock", lock},
		{"free space", freeSpace},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// noise is n bytes that do not compress, the same for the same seed.
func noise(n int, seed uint64) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	b := make([]byte, n)
	_, _ = r.Read(b) // never fails
	return b
}

func put(t *testing.T, r storage.Remote, name string, data []byte) {
	t.Helper()
	if err := r.Put(t.Context(), name, storage.Bytes(data)); err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
}

func want(t *testing.T, r storage.Remote, name string, data []byte) {
	t.Helper()
	got, err := storage.ReadAll(t.Context(), r, name, int64(len(data))+1)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	if !bytes.Equal(got, data) {
		t.Fatalf("%s holds %d bytes that differ from the %d written", name, len(got), len(data))
	}
}

func wantGone(t *testing.T, r storage.Remote, name string) {
	t.Helper()
	if _, err := r.Stat(t.Context(), name); !errors.Is(err, storage.ErrNotFound) {
		t.Fatalf("stat %s: %v, want ErrNotFound", name, err)
	}
}

func roundTrip(t *testing.T, r storage.Remote) {
	for _, n := range []int{0, 1, 4096, 1<<20 + 7, 9 << 20} {
		name := fmt.Sprintf("gate/snapshot/object-%d", n)
		data := noise(n, uint64(n))
		content := storage.Bytes(data)
		sum := md5.Sum(data)
		content.MD5 = sum[:]
		if err := r.Put(t.Context(), name, content); err != nil {
			t.Fatalf("put %d bytes: %v", n, err)
		}
		want(t, r, name, data)
		o, err := r.Stat(t.Context(), name)
		if err != nil || o.Name != name || o.Size != int64(n) || o.Dir {
			t.Errorf("stat: %+v, %v", o, err)
		}
	}
}

func names(t *testing.T, r storage.Remote) {
	for i, name := range []string{
		"plain.json", "with blank.csv", "umlaut-äöü-日本.csv", "percent%20sign", "plus+and&amp", "#hash", "a/b/c/d/e.bin",
		"UPPER", "trailing.dot.x", "comma,semicolon;", "at@tilde~", "quote'single", "brackets[x](y){z}", "equals=sign",
	} {
		data := noise(100+i, uint64(i))
		put(t, r, name, data)
		want(t, r, name, data)
		if o, err := r.Stat(t.Context(), name); err != nil || o.Name != name {
			t.Errorf("stat %q: %+v, %v", name, o, err)
		}
	}
}

func ranges(t *testing.T, r storage.Remote) {
	data := noise(100_000, 1)
	put(t, r, "r", data)
	for _, c := range []struct{ offset, length, from, to int64 }{
		{0, -1, 0, 100_000},
		{0, 10, 0, 10},
		{5, 10, 5, 15},
		{99_990, 100, 99_990, 100_000},
		{50_000, -1, 50_000, 100_000},
		{0, 0, 0, 0},
		{0, 200_000, 0, 100_000},
		{65_536, 1, 65_536, 65_537},
	} {
		in, err := r.Open(t.Context(), "r", c.offset, c.length)
		if err != nil {
			t.Fatalf("open %d+%d: %v", c.offset, c.length, err)
		}
		got, err := io.ReadAll(in)
		if closeErr := in.Close(); err != nil || closeErr != nil {
			t.Fatalf("read %d+%d: %v, %v", c.offset, c.length, err, closeErr)
		}
		if !bytes.Equal(got, data[c.from:c.to]) {
			t.Errorf("range %d+%d gave %d bytes, want %d..%d", c.offset, c.length, len(got), c.from, c.to)
		}
	}
	// An unread reader must close without harm.
	in, err := r.Open(t.Context(), "r", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Errorf("close unread: %v", err)
	}
}

func absent(t *testing.T, r storage.Remote) {
	put(t, r, "there/x", []byte("x"))
	if _, err := r.Stat(t.Context(), "there/x/below-a-file"); err == nil {
		t.Error("an object below an object")
	}
	for _, name := range []string{"no", "there/no", "no/where/at/all"} {
		wantGone(t, r, name)
		if in, err := r.Open(t.Context(), name, 0, -1); !errors.Is(err, storage.ErrNotFound) {
			if err == nil {
				_ = in.Close()
			}
			t.Errorf("open %s: %v, want ErrNotFound", name, err)
		}
	}
	if l, err := r.List(t.Context(), "no/where"); err != nil || len(l) != 0 {
		t.Errorf("list of a missing folder: %v, %v", l, err)
	}
}

func replace(t *testing.T, r storage.Remote) {
	for i := range 4 {
		data := noise(10_000-1000*i, uint64(i))
		put(t, r, "lease.json", data)
		want(t, r, "lease.json", data)
	}
	l, err := r.List(t.Context(), "")
	if err != nil || len(l) != 1 {
		t.Errorf("after replacing: %v, %v", l, err)
	}
}

func list(t *testing.T, r storage.Remote) {
	if l, err := r.List(t.Context(), ""); err != nil || len(l) != 0 {
		t.Fatalf("a new remote holds %v, %v", l, err)
	}
	for _, name := range []string{"g/b/2", "g/a", "g/b/1", "top", "g/c"} {
		put(t, r, name, []byte(name))
	}
	for dir, wanted := range map[string]string{
		"":    "[g/ top:3]",
		"g":   "[g/a:3 g/b/ g/c:3]",
		"g/b": "[g/b/1:5 g/b/2:5]",
	} {
		l, err := r.List(t.Context(), dir)
		if err != nil {
			t.Fatalf("list %q: %v", dir, err)
		}
		var got []string
		for _, o := range l {
			if o.Dir {
				got = append(got, o.Name+"/")
			} else {
				got = append(got, fmt.Sprintf("%s:%d", o.Name, o.Size))
			}
		}
		if fmt.Sprint(got) != wanted {
			t.Errorf("list %q = %v, want %s", dir, got, wanted)
		}
	}
}

func remove(t *testing.T, r storage.Remote) {
	put(t, r, "d/x", []byte("x"))
	put(t, r, "d/y", []byte("y"))
	for range 2 { // the second time there is nothing to delete
		if err := r.Delete(t.Context(), "d/x"); err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
	wantGone(t, r, "d/x")
	want(t, r, "d/y", []byte("y"))
	if err := r.Delete(t.Context(), "no/such/folder/x"); err != nil {
		t.Errorf("delete in a missing folder: %v", err)
	}
}

func badNames(t *testing.T, r storage.Remote) {
	for _, name := range []string{"", "/abs", "../up", "a/../b", "a//b", "a/", ".", "a/.", "new\nline", "nul\x00", "bad\xff"} {
		if err := r.Put(t.Context(), name, storage.Bytes([]byte("x"))); !errors.Is(err, storage.ErrBadName) {
			t.Errorf("put %q: %v, want ErrBadName", name, err)
		}
		if _, err := r.Stat(t.Context(), name); !errors.Is(err, storage.ErrBadName) {
			t.Errorf("stat %q: %v, want ErrBadName", name, err)
		}
		if err := r.Delete(t.Context(), name); !errors.Is(err, storage.ErrBadName) {
			t.Errorf("delete %q: %v, want ErrBadName", name, err)
		}
		if in, err := r.Open(t.Context(), name, 0, -1); !errors.Is(err, storage.ErrBadName) {
			if err == nil {
				_ = in.Close()
			}
			t.Errorf("open %q: %v, want ErrBadName", name, err)
		}
	}
}

// shortBody: a body shorter than its size is no object, and the old one stays.
func shortBody(t *testing.T, r storage.Remote) {
	old := noise(1000, 1)
	put(t, r, "s", old)
	for _, name := range []string{"s", "fresh"} {
		body := storage.Content{Body: bytes.NewReader(noise(500, 2)), Size: 2000}
		if err := r.Put(t.Context(), name, body); err == nil {
			t.Errorf("put %s of 500 bytes declared as 2000: no error", name)
		}
	}
	if r.Capabilities().AtomicPut {
		want(t, r, "s", old)
		wantGone(t, r, "fresh")
	}
}

// stoppingBody ends a context when half of it was read.
type stoppingBody struct {
	data []byte
	stop context.CancelCauseFunc
}

var errStopped = errors.New("stopped by the test")

func (b *stoppingBody) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(b.data)/2) {
		b.stop(errStopped)
	}
	n := copy(p, b.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func cancelledPut(t *testing.T, r storage.Remote) {
	old := noise(1000, 1)
	put(t, r, "c", old)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	data := noise(8<<20, 2)
	err := r.Put(ctx, "c", storage.Content{Body: &stoppingBody{data, stop}, Size: int64(len(data))})
	if err == nil {
		t.Fatal("a cancelled put returned nil")
	}
	if !errors.Is(err, errStopped) && !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the cause of the context", err)
	}
	if r.Capabilities().AtomicPut {
		want(t, r, "c", old)
	}
}

func cancelledCalls(t *testing.T, r storage.Remote) {
	put(t, r, "c", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Put(ctx, "c", storage.Bytes([]byte("yy"))); err == nil {
		t.Error("put with a cancelled context returned nil")
	}
	want(t, r, "c", []byte("x"))
	if _, err := r.Stat(ctx, "c"); errors.Is(err, storage.ErrNotFound) {
		t.Error("a cancelled stat says ErrNotFound, which would be taken for certain")
	}
}

// readersWhileReplacing: nobody ever reads a mixture of two objects.
func readersWhileReplacing(t *testing.T, r storage.Remote) {
	if !r.Capabilities().AtomicPut {
		return
	}
	versions := make([][]byte, 2)
	for i := range versions {
		versions[i] = bytes.Repeat([]byte{byte('a' + i)}, 100_000)
	}
	put(t, r, "v", versions[0])
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				got, err := storage.ReadAll(t.Context(), r, "v", 1<<20)
				if err != nil {
					continue // single misses are allowed
				}
				if !bytes.Equal(got, versions[0]) && !bytes.Equal(got, versions[1]) {
					t.Errorf("torn read of %d bytes", len(got))
					return
				}
			}
		})
	}
	for i := range 30 {
		put(t, r, "v", versions[i%2])
	}
	done.Store(true)
	wg.Wait()
}

func manyWriters(t *testing.T, r storage.Remote) {
	const writers = 4
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for k := range 3 {
				if err := r.Put(t.Context(), fmt.Sprintf("w/%d-%d", i, k), storage.Bytes(noise(50_000, uint64(i*10+k)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range writers {
		for k := range 3 {
			want(t, r, fmt.Sprintf("w/%d-%d", i, k), noise(50_000, uint64(i*10+k)))
		}
	}
	l, err := r.List(t.Context(), "w")
	if err != nil || len(l) != 3*writers {
		t.Errorf("list: %d objects, %v", len(l), err)
	}
}

func putIfAbsent(t *testing.T, r storage.Remote) {
	c, ok := r.(storage.ConditionalPutter)
	if !ok {
		return
	}
	err := c.PutIfAbsent(t.Context(), "first", storage.Bytes([]byte("1")))
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.PutIfAbsent(t.Context(), "first", storage.Bytes([]byte("2"))); !errors.Is(err, storage.ErrExists) {
		t.Errorf("second put: %v, want ErrExists", err)
	}
	want(t, r, "first", []byte("1"))
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			switch err := c.PutIfAbsent(t.Context(), "race", storage.Bytes([]byte{byte(i)})); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, storage.ErrExists):
				t.Errorf("loser: %v, want ErrExists", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of 8 writers won", won.Load())
	}
	if got, err := storage.ReadAll(t.Context(), r, "race", 10); err != nil || len(got) != 1 {
		t.Errorf("after the race: %v, %v", got, err)
	}
}

func move(t *testing.T, r storage.Remote) {
	m, ok := r.(storage.Mover)
	if !ok {
		return
	}
	put(t, r, "m/from", []byte("new"))
	put(t, r, "m/to", []byte("old one"))
	err := m.Move(t.Context(), "m/from", "m/to")
	if errors.Is(err, errors.ErrUnsupported) {
		want(t, r, "m/to", []byte("old one"))
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, "m/to", []byte("new"))
	wantGone(t, r, "m/from")
	if err := m.Move(t.Context(), "m/to", "another/folder/to"); err != nil {
		t.Errorf("move into a new folder: %v", err)
	}
	if err := m.Move(t.Context(), "m/none", "m/x"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("move of nothing: %v, want ErrNotFound", err)
	}
}

func folders(t *testing.T, r storage.Remote) {
	maker, canMake := r.(storage.FolderMaker)
	remover, canRemove := r.(storage.FolderRemover)
	if !canMake || !canRemove || !r.Capabilities().Folders {
		return
	}
	for range 2 {
		if err := maker.MakeFolder(t.Context(), "f/deep/er"); err != nil {
			t.Fatal(err)
		}
	}
	if l, err := r.List(t.Context(), "f/deep"); err != nil || len(l) != 1 || !l[0].Dir {
		t.Errorf("list: %v, %v", l, err)
	}
	put(t, r, "f/deep/er/x", []byte("x"))
	if err := remover.RemoveFolder(t.Context(), "f/deep/er"); err == nil {
		t.Error("removed a folder that is not empty")
	}
	want(t, r, "f/deep/er/x", []byte("x"))
	if err := r.Delete(t.Context(), "f/deep/er/x"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := remover.RemoveFolder(t.Context(), "f/deep/er"); err != nil {
			t.Errorf("remove empty folder: %v", err)
		}
	}
	if err := remover.RemoveFolder(t.Context(), ""); err == nil {
		t.Error("removed the root")
	}
}

func storedHash(t *testing.T, r storage.Remote) {
	if r.Capabilities().Hash == "" {
		return
	}
	h, ok := r.(storage.Hasher)
	if !ok || r.Capabilities().Hash != "md5" {
		t.Fatalf("hash %q is promised, not given", r.Capabilities().Hash)
	}
	data := noise(70_000, 3)
	put(t, r, "h", data)
	sum := md5.Sum(data)
	got, err := h.StoredHash(t.Context(), "h")
	if err != nil || got != hex.EncodeToString(sum[:]) {
		t.Errorf("stored hash %q, %v", got, err)
	}
	if _, err := h.StoredHash(t.Context(), "none"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("hash of nothing: %v, want ErrNotFound", err)
	}
}

func lock(t *testing.T, r storage.Remote) {
	l, ok := r.(storage.Locker)
	if !ok || !r.Capabilities().Local {
		return
	}
	if _, err := l.TryLock(t.Context(), "l"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("lock of nothing: %v, want ErrNotFound", err)
	}
	put(t, r, "l", []byte("x"))
	release, err := l.TryLock(t.Context(), "l")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryLock(t.Context(), "l"); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	want(t, r, "l", []byte("x"))
	if err := release(); err != nil {
		t.Error(err)
	}
	again, err := l.TryLock(t.Context(), "l")
	if err != nil {
		t.Fatalf("lock after release: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

// freeSpace: a place that its first object will make has the space of where it
// will be.
func freeSpace(t *testing.T, r storage.Remote) {
	s, ok := r.(storage.SpaceReporter)
	if !ok {
		return
	}
	known := func() bool {
		n, err := s.FreeSpace(t.Context())
		if err == nil && n <= 0 {
			t.Errorf("free space %d", n)
		} else if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		return err == nil
	}
	before := known()
	put(t, r, "f", []byte("x"))
	if after := known(); before != after {
		t.Errorf("free space is known before the first object: %t, after it: %t", before, after)
	}
}
