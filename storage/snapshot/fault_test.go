package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"sluice/storage"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

// maxCalls is far beyond what one session makes; a loop that gets there hangs.
const maxCalls = 500

// settled checks what any reader may find after a crash, and gives the state.
func settled(t *testing.T, label string, r storage.Remote, ref storage.SnapshotRef, direct bool, rows []byte) storage.SnapshotState {
	t.Helper()
	s := newStore(r, snapshot.Options{Host: reaper, Random: seeded(99)})
	sn, err := s.Load(t.Context(), ref)
	if err == nil {
		if _, err := sn.Verify(t.Context(), snapshot.Full, nil); err != nil {
			t.Fatalf("%s: SEALED, but %v", label, err)
		}
		got, err := readAll(t.Context(), sn, snapshot.Reading{})
		if err != nil || !bytes.Equal(got, rows) {
			t.Fatalf("%s: SEALED, but read %d of %d bytes, %v", label, len(got), len(rows), err)
		}
		return storage.SnapshotSealed
	}
	var own *storage.SnapshotError
	if !errors.As(err, &own) {
		t.Fatalf("%s: %v is no snapshot error", label, err)
	}
	switch {
	case own.State == storage.SnapshotInterrupted, own.State == storage.SnapshotOpen, errors.Is(err, storage.ErrNotFound):
	case own.State == storage.SnapshotDamaged && direct: // a torn file under its final name
	default:
		t.Fatalf("%s: state %q, %v", label, own.State, err)
	}
	return own.State
}

// onlySnapshot finds the one that a session left, if it left any.
func onlySnapshot(t *testing.T, r storage.Remote) (storage.SnapshotRef, bool) {
	t.Helper()
	ids, err := newStore(r, snapshot.Options{}).IDs(t.Context(), gate)
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) == 0 {
		return storage.SnapshotRef{}, false
	}
	return storage.SnapshotRef{Gate: gate, ID: ids[0]}, true
}

// TestFailAtEveryCall lets each single call of a whole session fail in each
// way, once or for good, on three kinds of remotes.
func TestFailAtEveryCall(t *testing.T) {
	for _, kind := range []storagetest.Faults{{}, {Unconditional: true}, {Direct: true}} {
		for _, mode := range storagetest.Modes {
			for _, crash := range []bool{false, true} {
				name := fmt.Sprintf("%s direct=%t unconditional=%t crash=%t", mode, kind.Direct, kind.Unconditional, crash)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					faults := kind // the subtests run side by side
					faults.Mode, faults.Crash = mode, crash
					failAtEveryCall(t, faults)
				})
			}
		}
	}
}

func failAtEveryCall(t *testing.T, faults storagetest.Faults) {
	rows := allRows(2, 2)
	seen := map[storage.SnapshotState]int{}
	for n := 1; ; n++ {
		if n > maxCalls {
			t.Fatal("the session does not end")
		}
		faults.FailAt = n
		disk := &storage.Memory{}
		remote := storagetest.NewFaulty(disk, faults)
		_, _, err := write(t.Context(), newStore(remote, snapshot.Options{}), "e1", 2, 2)
		remote.Settle()
		label := fmt.Sprintf("call %d", n)
		ref, found := onlySnapshot(t, disk)
		if !found {
			if err == nil {
				t.Fatalf("%s: sealed, and nothing is there", label)
			}
			seen["nothing"]++
			continue
		}
		state := settled(t, label, disk, ref, faults.Direct, rows)
		if err == nil && state != storage.SnapshotSealed {
			t.Fatalf("%s: the writer reported SEALED, a reader sees %s", label, state)
		}
		seen[state]++
		afterReaper := reap(t, label, disk, ref, faults.Direct, rows)
		if state == storage.SnapshotSealed && afterReaper != storage.SnapshotSealed {
			t.Fatalf("%s: the reaper lost a sealed snapshot: %s", label, afterReaper)
		}
		if n > remote.Calls() {
			t.Logf("%d calls: %v", n-1, seen)
			break
		}
	}
	if seen[storage.SnapshotInterrupted]+seen[storage.SnapshotOpen] == 0 || seen[storage.SnapshotSealed] == 0 {
		t.Errorf("the faults hit nothing: %v", seen)
	}
}

// reap declares the writer dead and tells what is left.
func reap(t *testing.T, label string, r storage.Remote, ref storage.SnapshotRef, direct bool, rows []byte) storage.SnapshotState {
	t.Helper()
	s := newStore(r, snapshot.Options{Host: reaper, Random: seeded(7)})
	if _, err := s.DeclareDead(t.Context(), ref, "test"); err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrCorrupt) {
		t.Fatalf("%s: declare dead: %v", label, err)
	}
	state := settled(t, label+" reaped", r, ref, direct, rows)
	if state == storage.SnapshotOpen {
		t.Fatalf("%s: still open after the reaper", label)
	}
	return state
}

// TestReaperFailsAtEveryCall: a reaper that dies leaves nothing worse, and the
// next one finishes its work.
func TestReaperFailsAtEveryCall(t *testing.T) {
	for _, mode := range storagetest.Modes {
		t.Run(mode.String(), func(t *testing.T) {
			for n := 1; n < maxCalls; n++ {
				disk := &storage.Memory{}
				s := newStore(disk, snapshot.Options{})
				w, err := s.Begin(t.Context(), begin("e1"))
				if err != nil {
					t.Fatal(err)
				}
				if err := writePart(t.Context(), w, 0, 2); err != nil {
					t.Fatal(err)
				}
				left := disk.Clone() // what a kill leaves
				if err := w.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				remote := storagetest.NewFaulty(left, storagetest.Faults{FailAt: n, Mode: mode, Crash: true})
				_, err = newStore(remote, snapshot.Options{Host: reaper, Random: seeded(5)}).DeclareDead(t.Context(), w.Ref(), "killed")
				remote.Settle()
				settled(t, fmt.Sprintf("call %d", n), left, w.Ref(), false, nil)
				if state := reap(t, fmt.Sprintf("call %d", n), left, w.Ref(), false, nil); state != storage.SnapshotInterrupted {
					t.Fatalf("call %d: second reaper leaves %s", n, state)
				}
				if err == nil {
					return
				}
			}
			t.Fatal("the reaper does not end")
		})
	}
}

// interleaving runs the hooks of a test between two calls of a writer.
type interleaving struct {
	reapers int
	kind    storagetest.Faults
}

// TestTwoReapersAndAPausedWriter stops the writer before every single call of
// its session (SIGSTOP past its lease), lets reapers declare it dead, and
// wakes it up again.
func TestTwoReapersAndAPausedWriter(t *testing.T) {
	for _, c := range []interleaving{
		{1, storagetest.Faults{}},
		{2, storagetest.Faults{}},
		{1, storagetest.Faults{Unconditional: true}},
		{2, storagetest.Faults{Unconditional: true}},
		{2, storagetest.Faults{Direct: true}},
	} {
		t.Run(fmt.Sprintf("reapers=%d unconditional=%t direct=%t", c.reapers, c.kind.Unconditional, c.kind.Direct), func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c interleaving) run(t *testing.T) {
	rows := allRows(2, 2)
	seen := map[storage.SnapshotState]int{}
	for pause := 1; pause < maxCalls; pause++ {
		disk := &storage.Memory{}
		faults := c.kind
		paused := false
		faults.Hook = func(call int, _, _ string) {
			if call == pause {
				paused = true
				c.reapAll(t, disk)
			}
		}
		remote := storagetest.NewFaulty(disk, faults)
		w, _, err := write(t.Context(), newStore(remote, snapshot.Options{}), "e1", 2, 2)
		if w == nil {
			t.Fatalf("pause before call %d: %v", pause, err) // Begin takes another id
		}
		ref := w.Ref()
		label := fmt.Sprintf("pause before call %d", pause)
		state := settled(t, label, disk, ref, false, rows)
		if err == nil && state != storage.SnapshotSealed {
			t.Fatalf("%s: the writer reported SEALED, a reader sees %s", label, state)
		}
		seen[state]++
		if !paused {
			t.Logf("%d calls: %v", pause-1, seen)
			if seen[storage.SnapshotInterrupted] == 0 || seen[storage.SnapshotSealed] == 0 {
				t.Errorf("the pauses hit nothing: %v", seen)
			}
			return
		}
	}
	t.Fatal("the session does not end")
}

// reapAll declares every open snapshot dead, by reapers that interleave: the
// second one runs before every call of the first.
func (c interleaving) reapAll(t *testing.T, disk *storage.Memory) {
	ids, err := newStore(disk, snapshot.Options{}).IDs(t.Context(), gate)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		ref := storage.SnapshotRef{Gate: gate, ID: id}
		declare := func(r storage.Remote, seed uint64) {
			s := newStore(r, snapshot.Options{Host: reaper, Random: seeded(seed)})
			// A begin that was paused between two files has no record yet.
			if _, err := s.DeclareDead(t.Context(), ref, "paused"); err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("reaper: %v", err)
			}
		}
		faults := c.kind
		if c.reapers == 2 {
			faults.Hook = func(call int, _, _ string) {
				if call == 4 || call == 7 {
					declare(disk, 200)
				}
			}
		}
		declare(storagetest.NewFaulty(disk, faults), 100)
	}
}
