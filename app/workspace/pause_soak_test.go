//go:build soak

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// pausedBeat of the lease; an observer waits for ten.
const pausedBeat = 100 * time.Millisecond

// TestSoakPausedWriter pauses a writer (SIGSTOP) in each phase, past its lease.
// Two observers of other hosts declare it dead at once, and it wakes up
// (SIGCONT) meanwhile or afterwards: the snapshot is INTERRUPTED and refused, or
// SEALED, and then verifies and replays the whole.
func TestSoakPausedWriter(t *testing.T) {
	eachPlace(t, func(t *testing.T, s *soak) {
		states := map[storage.SnapshotState]int{}
		for i := range len(phases) * s.size {
			phase := phases[i%len(phases)]
			t.Run(fmt.Sprintf("%d %s", i, phase), func(t *testing.T) {
				location := fmt.Sprintf("%s/pause-%d", s.root, i)
				s.judge(t, location, s.pause(t, location, phase), states)
			})
		}
		t.Logf("snapshots left: %v", states)
		if states[storage.SnapshotInterrupted] == 0 || states[storage.SnapshotOpen] > 0 {
			t.Errorf("the pauses had no effect: %v", states)
		}
	})
}

// pause gives what the writer reported as sealed.
func (s *soak) pause(t *testing.T, location, phase string) (reported []string) {
	t.Helper()
	b := newSoakBench(t, s.text, location)
	place, err := b.ws.Places.Place(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	nth, meanwhile := 1, s.rng.IntN(2) == 0
	if phase == "segment" || phase == "before manifest" {
		nth += s.rng.IntN(3)
	}
	later := time.Duration(s.rng.Int64N(int64(20 * time.Millisecond)))
	var reapers sync.WaitGroup
	paused := false
	s.child(t, location, 1, pausedBeat, func(p *os.Process, line string) {
		if id, ok := strings.CutPrefix(line, "sealed "); ok {
			reported = append(reported, id)
		}
		if paused || line != "phase "+phase {
			return
		}
		if nth--; nth > 0 {
			return
		}
		paused = true
		signal(t, p, syscall.SIGSTOP)
		acting := make(chan struct{}) // closed when a reaper is about to act
		act := sync.OnceFunc(func() { close(acting) })
		for _, host := range []string{"first", "second"} {
			reapers.Go(func() { reap(t, place, host, act) })
		}
		go func() {
			<-acting
			if meanwhile {
				time.Sleep(later) // the moment of a wake-up cannot be told from inside
			} else {
				reapers.Wait()
			}
			signal(t, p, syscall.SIGCONT)
		}()
	})
	reapers.Wait()
	if !paused {
		t.Fatalf("the writer never came to the phase %q", phase)
	}
	return reported
}

func signal(t *testing.T, p *os.Process, s syscall.Signal) {
	if err := p.Signal(s); err != nil {
		t.Errorf("%s: %v", s, err)
	}
}

// reap watches all snapshots of a place from another host until none is open any
// more, and declares dead those that are.
func reap(t *testing.T, place *gate.Place, host string, act func()) {
	store := snapshot.NewStore(place.Remote, snapshot.Options{Host: snapshot.Host{Name: host, PID: 1}})
	observer := store.NewObserver()
	defer act() // there may be nothing to do
	tick := time.NewTicker(pausedBeat / 2)
	defer tick.Stop()
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		open, err := look(patience, store, observer, act)
		if err != nil {
			t.Errorf("reaper %s: %v", host, err)
		}
		if !open || err != nil {
			return
		}
		<-tick.C
	}
}

// look says whether a snapshot is open still.
func look(ctx context.Context, store *snapshot.Store, observer *snapshot.Observer, act func()) (open bool, err error) {
	list, err := store.List(ctx, "")
	if err != nil {
		return false, err
	}
	for _, x := range list {
		if x.State != storage.SnapshotOpen || x.Husk {
			continue
		}
		dead, err := observer.Observe(ctx, x.Ref)
		switch {
		case errors.Is(err, storage.ErrNotFound): // no record yet: nothing to declare dead
			continue
		case err != nil:
			return false, err
		case !dead:
			open = true
			continue
		}
		act()
		if _, err := store.DeclareDead(ctx, x.Ref, "paused past its lease"); err != nil {
			return false, err
		}
	}
	return open, nil
}
