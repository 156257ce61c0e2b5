package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

// gated is a remote that can be cut off.
type gated struct {
	storage.Remote
	down atomic.Bool
}

func (g *gated) Put(ctx contextT, name string, c storage.Content) error {
	if g.down.Load() {
		return storage.ErrUnreachable
	}
	return g.Remote.Put(ctx, name, c)
}

func TestHeartbeatKeepsTheWriterAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &storage.Memory{}
		w, err := newStore(disk, snapshot.Options{}).Begin(t.Context(), begin("e1"))
		if err != nil {
			t.Fatal(err)
		}
		observer := newStore(disk, snapshot.Options{Host: reaper}).NewObserver()
		for range 60 { // an hour
			time.Sleep(time.Minute)
			if dead, err := observer.Observe(t.Context(), w.Ref()); dead || err != nil {
				t.Fatalf("a living writer: dead %t, %v", dead, err)
			}
		}
		if err := writePart(t.Context(), w, 0, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Seal(t.Context(), snapshot.Sealing{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWriterFencesItself(t *testing.T) {
	for name, c := range map[string]struct {
		outage time.Duration
		fenced bool
	}{
		"short outage": {80 * time.Second, false},
		"long outage":  {130 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &gated{Remote: &storage.Memory{}}
				s := newStore(r, snapshot.Options{})
				w, err := s.Begin(t.Context(), begin("e1"))
				if err != nil {
					t.Fatal(err)
				}
				if err := writePart(t.Context(), w, 0, 1); err != nil {
					t.Fatal(err)
				}
				r.down.Store(true)
				time.Sleep(c.outage)
				r.down.Store(false)
				select {
				case <-w.Fenced():
					if !c.fenced {
						t.Error("fenced")
					}
				default:
					if c.fenced {
						t.Error("not fenced")
					}
				}
				_, err = w.Seal(t.Context(), snapshot.Sealing{})
				if errors.Is(err, snapshot.ErrFenced) != c.fenced || (err == nil) == c.fenced {
					t.Errorf("seal: %v", err)
				}
				if _, err := s.Load(t.Context(), w.Ref()); (err == nil) == c.fenced {
					t.Errorf("load: %v", err)
				}
			})
		})
	}
}

// A beat that hangs must not keep a writer from fencing itself.
func TestHangingHeartbeatFences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &storage.Memory{}
		slow := storagetest.NewFaulty(disk, storagetest.Faults{Delay: 10 * time.Hour})
		var hang atomic.Bool
		r := &switching{fast: disk, slow: slow, hang: &hang}
		w, err := newStore(r, snapshot.Options{}).Begin(t.Context(), begin("e1"))
		if err != nil {
			t.Fatal(err)
		}
		hang.Store(true)
		time.Sleep(3 * time.Minute)
		hang.Store(false)
		select {
		case <-w.Fenced():
		default:
			t.Error("not fenced")
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// switching sends puts to one of two remotes.
type switching struct {
	storage.Remote
	fast *storage.Memory
	slow *storagetest.Faulty
	hang *atomic.Bool
}

func (s *switching) Capabilities() storage.Capabilities { return s.fast.Capabilities() }

func (s *switching) Put(ctx contextT, name string, c storage.Content) error {
	if s.hang.Load() {
		return s.slow.Put(ctx, name, c)
	}
	return s.fast.Put(ctx, name, c)
}

func (s *switching) Open(ctx contextT, name string, offset, length int64) (readCloser, error) {
	return s.fast.Open(ctx, name, offset, length)
}

func (s *switching) Stat(ctx contextT, name string) (storage.Object, error) {
	return s.fast.Stat(ctx, name)
}

func TestObserverNeedsTwiceTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &storage.Memory{}
		ref := killedWriter(t, disk)
		s := newStore(disk, snapshot.Options{Host: reaper})
		observer := s.NewObserver()
		start := time.Now()
		for {
			reaped, err := observer.Reap(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if len(reaped) > 0 {
				if !slices.Equal(reaped, []storage.SnapshotRef{ref}) {
					t.Errorf("reaped %v", reaped)
				}
				break
			}
			if time.Since(start) > time.Hour {
				t.Fatal("never reaped")
			}
			time.Sleep(10 * time.Second)
		}
		if took := time.Since(start); took != 200*time.Second {
			t.Errorf("reaped after %s, want 200 s", took)
		}
		if _, err := s.Load(t.Context(), ref); !errors.Is(err, snapshot.ErrInterrupted) {
			t.Errorf("load: %v", err)
		}
	})
}

// killedWriter leaves what a kill in the middle leaves.
func killedWriter(t *testing.T, disk *storage.Memory) storage.SnapshotRef {
	t.Helper()
	scratch := &storage.Memory{}
	w, err := newStore(scratch, snapshot.Options{}).Begin(t.Context(), begin("e1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := writePart(t.Context(), w, 0, 2); err != nil {
		t.Fatal(err)
	}
	for name, data := range tree(t, scratch, "") {
		mustPut(t, disk, name, data)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w.Ref()
}

// A remote that is down proves nothing about a writer.
func TestObserverCountsOnlySuccessfulReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &storage.Memory{}
		ref := killedWriter(t, disk)
		down := atomic.Bool{}
		r := &unreadable{Remote: disk, down: &down}
		observer := newStore(r, snapshot.Options{Host: reaper}).NewObserver()
		down.Store(true)
		for range 100 {
			time.Sleep(time.Minute)
			if dead, err := observer.Observe(t.Context(), ref); dead || err == nil {
				t.Fatalf("while down: dead %t, %v", dead, err)
			}
		}
		down.Store(false)
		if dead, err := observer.Observe(t.Context(), ref); dead || err != nil {
			t.Fatalf("first successful read: dead %t, %v", dead, err)
		}
		time.Sleep(200 * time.Second)
		if dead, err := observer.Observe(t.Context(), ref); !dead || err != nil {
			t.Errorf("second successful read: dead %t, %v", dead, err)
		}
	})
}

// A lease that was cut off while it was written, or that the remote gives only in part,
// does not keep a dead writer alive for ever; one that changes again does.
func TestTornLeases(t *testing.T) {
	for name, tear := range map[string]func(*tornLease){
		"no lease at all":   func(r *tornLease) { r.bytes = []byte("{\"format\":\"sluice-snap") },
		"cut by the remote": func(r *tornLease) { r.err = fmt.Errorf("%w: %w", storage.ErrUnreachable, io.ErrUnexpectedEOF) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := &storage.Memory{}
				ref := killedWriter(t, disk)
				r := &tornLease{Remote: disk}
				tear(r)
				observer := newStore(r, snapshot.Options{Host: reaper}).NewObserver()
				for at := range 20 {
					dead, err := observer.Observe(t.Context(), ref)
					if want := at*20 >= 200; dead != want || err != nil {
						t.Fatalf("after %d s: dead %t, %v", at*20, dead, err)
					}
					time.Sleep(20 * time.Second)
				}
				reaped, err := observer.Reap(t.Context(), "")
				if err != nil || len(reaped) != 1 {
					t.Errorf("reaped %v, %v", reaped, err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		disk := &storage.Memory{}
		w, err := newStore(disk, snapshot.Options{}).Begin(t.Context(), begin("e1"))
		if err != nil {
			t.Fatal(err)
		}
		r := &tornLease{Remote: disk}
		observer := newStore(r, snapshot.Options{Host: reaper}).NewObserver()
		for k := range 200 { // torn half of the time
			r.err = nil
			if k%20 < 10 {
				r.err = io.ErrUnexpectedEOF
			}
			if dead, err := observer.Observe(t.Context(), w.Ref()); dead || err != nil {
				t.Fatalf("look %d: dead %t, %v", k, dead, err)
			}
			time.Sleep(15 * time.Second)
		}
		if err := w.Interrupt(t.Context(), "the end of the test"); err != nil {
			t.Fatal(err)
		}
	})
}

// tornLease is a remote whose leases are torn.
type tornLease struct {
	storage.Remote
	bytes []byte
	err   error
}

func (r *tornLease) Open(ctx contextT, name string, offset, length int64) (readCloser, error) {
	switch {
	case path.Base(name) != "lease.json":
	case r.err != nil:
		return nil, r.err
	case r.bytes != nil:
		return io.NopCloser(bytes.NewReader(r.bytes)), nil
	}
	return r.Remote.Open(ctx, name, offset, length)
}

type unreadable struct {
	storage.Remote
	down *atomic.Bool
}

func (u *unreadable) Open(ctx contextT, name string, offset, length int64) (readCloser, error) {
	if u.down.Load() {
		return nil, storage.ErrUnreachable
	}
	return u.Remote.Open(ctx, name, offset, length)
}

// On a local folder the lock decides at once, and a sleeping laptop does not
// lose its snapshot.
func TestLocalWriterIsJudgedByItsLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	w, err := newStore(storage.NewPrivateFolder(dir), snapshot.Options{}).Begin(t.Context(), begin("e1"))
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(storage.NewPrivateFolder(dir), snapshot.Options{Random: seeded(3)}) // the same host
	if reaped, err := s.NewObserver().Reap(t.Context(), gate); err != nil || len(reaped) != 0 {
		t.Errorf("a living writer: %v, %v", reaped, err)
	}
	files := tree(t, storage.NewPrivateFolder(dir), "")
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead := storage.NewPrivateFolder(filepath.Join(t.TempDir(), "killed"))
	for name, data := range files {
		mustPut(t, dead, name, data)
	}
	s = newStore(dead, snapshot.Options{Random: seeded(4)})
	if reaped, err := s.NewObserver().Reap(t.Context(), gate); err != nil || !slices.Equal(reaped, []storage.SnapshotRef{w.Ref()}) {
		t.Errorf("a killed writer: %v, %v", reaped, err)
	}
}
