package record_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/storage"
	"sluice/storage/record"
)

// switchable is a remote that can go away, and that answers late.
type switchable struct {
	*storage.Memory
	down  atomic.Bool
	delay func() time.Duration
}

func (s *switchable) enter(ctx context.Context) error {
	if s.delay != nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(s.delay()):
		}
	}
	if s.down.Load() {
		return storage.ErrUnreachable
	}
	return nil
}

func (s *switchable) Put(ctx context.Context, name string, c storage.Content) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	err := s.Memory.Put(ctx, name, c)
	return errors.Join(err, s.enter(ctx)) // stored now, answered later
}

func (s *switchable) List(ctx context.Context, dir string) ([]storage.Object, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	list, err := s.Memory.List(ctx, dir)
	return list, errors.Join(err, s.enter(ctx))
}

// Many machines claim one replay at the same time, in all orders that random
// delays give: exactly one holds it, and each loser is told who does.
func TestOneClaimWins(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, round))
			var mu sync.Mutex
			random := func(n int64) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(r.Int64N(n) + 1)
			}
			memory := &storage.Memory{}
			var wg sync.WaitGroup
			var winners atomic.Int64
			const machines = 4
			var losers sync.Map
			var held []*record.Claim
			for n := range machines {
				wg.Go(func() {
					remote := &switchable{Memory: memory, delay: func() time.Duration { return random(int64(300 * time.Millisecond)) }}
					time.Sleep(random(int64(time.Second))) // virtual
					claim, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(10+n))
					if err == nil {
						winners.Add(1)
						mu.Lock()
						held = append(held, claim)
						mu.Unlock()
						return
					}
					losers.Store(n, err)
				})
			}
			wg.Wait()
			if n := winners.Load(); n != 1 {
				t.Errorf("seed %d, round %d: %d claims are held", seed, round, n)
			}
			losers.Range(func(n, err any) bool {
				var claimed *record.ClaimedError
				if !errors.As(err.(error), &claimed) || claimed.Execution == id(10+n.(int)) || claimed.PID == 0 {
					t.Errorf("seed %d, round %d: loser %d is told %v", seed, round, n, err)
				}
				return true
			})
			for _, c := range held {
				if err := c.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if left, err := memory.List(t.Context(), path.Join("executions", id(1), "claims")); err != nil || len(left) != 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// A claim that was torn while it was written blocks until somebody has watched it
// long enough.
func TestTornClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := &storage.Memory{}
		c, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(2))
		if err != nil {
			t.Fatal(err)
		}
		name := find(t, remote, "", id(2)+".json")
		if err := c.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := remote.Put(t.Context(), name, storage.Bytes([]byte(`{"format":"slu`))); err != nil {
			t.Fatal(err)
		}
		var claimed *record.ClaimedError
		if _, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(3)); !errors.As(err, &claimed) {
			t.Errorf("claim beside a torn one: %v", err)
		}
		start := time.Now()
		broken, err := record.BreakDead(t.Context(), remote, record.Options{}, id(1))
		if err != nil || !slices.Equal(broken, []string{id(2)}) || time.Since(start) < 200*time.Second {
			t.Errorf("broken %v after %s, %v", broken, time.Since(start), err)
		}
		again, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(4))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A claim of a dead machine blocks until somebody has watched it long enough.
func TestDeadClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := &switchable{Memory: &storage.Memory{}}
		dead, err := record.TakeClaim(t.Context(), remote, record.Options{Who: "ada"}, id(1), id(2))
		if err != nil {
			t.Fatal(err)
		}
		remote.down.Store(true) // for that machine only
		world := remote.Memory
		var claimed *record.ClaimedError
		if _, err := record.TakeClaim(t.Context(), world, record.Options{}, id(1), id(3)); !errors.As(err, &claimed) || claimed.Who != "ada" || claimed.Execution != id(2) {
			t.Errorf("claim beside one that may live: %v", err)
		}
		start := time.Now()
		broken, err := record.BreakDead(t.Context(), world, record.Options{}, id(1))
		if err != nil || len(broken) != 1 || broken[0] != id(2) || time.Since(start) < 200*time.Second {
			t.Errorf("broken %v after %s, %v", broken, time.Since(start), err)
		}
		if err := dead.Alive(); !errors.Is(err, record.ErrFenced) {
			t.Errorf("its owner goes on: %v", err)
		}
		living, err := record.TakeClaim(t.Context(), world, record.Options{}, id(1), id(4))
		if err != nil {
			t.Fatal(err)
		}
		if broken, err := record.BreakDead(t.Context(), world, record.Options{}, id(1)); err != nil || len(broken) != 0 {
			t.Errorf("a living claim was broken: %v, %v", broken, err)
		}
		_ = dead.Release(t.Context())
		if err := errors.Join(living.Alive(), living.Release(t.Context()), living.Release(t.Context())); err != nil {
			t.Error(err)
		}
		again, err := record.TakeClaim(t.Context(), world, record.Options{}, id(1), id(5))
		if err != nil {
			t.Fatal(err)
		}
		_ = again.Release(t.Context())
	})
}
