package replay_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/engine/recorder"
	"sluice/engine/replay"
	"sluice/storage"
	"sluice/storage/record"
	"sluice/storage/snapshot"
)

// errGoesOn ends a replay that was about to begin.
var errGoesOn = errors.New("it goes on")

// replaying is a replay that comes as far as reading the record again.
func replaying(b *bench, p *replay.Plan, src *replay.Source) *replay.Replay {
	return &replay.Replay{
		Plan: p, Source: src, Ground: b.ground, Store: &storage.MemoryExecutions{},
		Reload: func(context.Context) (*replay.Source, error) { return nil, errGoesOn },
	}
}

func TestARunOfAPlanThatIsNotReady(t *testing.T) {
	b, tl := shopTale(t)
	tl.was("load#1", "out", "failed", appended(2, true))
	src := b.source(tl)
	_, _, err := replaying(b, b.plan(replay.Options{}, tl), src).Run(t.Context())
	open, ok := errors.AsType[*replay.NotReadyError](err)
	if !ok || !strings.Contains(err.Error(), "second-write:out") || open.Plan.Verdict != replay.NeedsAck {
		t.Errorf("%v", err)
	}
}

func TestOnlyOneReplayOnAMachine(t *testing.T) {
	b, tl := shopTale(t)
	r := replaying(b, b.plan(replay.Options{}, tl), b.source(tl))
	lease, err := r.Store.Acquire(t.Context(), "root/"+tl.Root().Origin, tl.id())
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Run(t.Context())
	if _, ok := errors.AsType[*storage.HeldError](err); !ok {
		t.Errorf("%v", err)
	}
	if err := r.Store.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	for range 2 { // each gives the lease back
		if _, _, err = r.Run(t.Context()); !errors.Is(err, errGoesOn) {
			t.Errorf("%v", err)
		}
	}
}

func TestAPlanIsMadeAgainBeforeTheStart(t *testing.T) {
	b, tl := shopTale(t)
	r := replaying(b, b.plan(replay.Options{}, tl), b.source(tl))
	r.Reload = func(context.Context) (*replay.Source, error) {
		tl.Runs[2].Attempts = 2 // somebody else was here
		return b.source(tl), nil
	}
	if _, _, err := r.Run(t.Context()); !errors.Is(err, replay.ErrMoved) {
		t.Errorf("%v", err)
	}
	r = replaying(b, b.plan(replay.Options{}, tl), b.source(tl))
	r.Reload = func(context.Context) (*replay.Source, error) {
		return b.source(tl, tl, b.tell(storage.KindWorkflow, "w.hwf", storage.StateSucceeded).replays(tl)), nil
	}
	_, _, err := r.Run(t.Context())
	if open, ok := errors.AsType[*replay.NotReadyError](err); !ok || open.Plan.Open()[0].ID != replay.CheckReplayed {
		t.Errorf("%v", err)
	}
}

// TestAClaimOfTheDeadGoesByItself, on a remote without locks.
func TestAClaimOfTheDeadGoesByItself(t *testing.T) {
	for name, dies := range map[string]bool{"killed": true, "alive": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, tl := shopTale(t)
				origin, other := tl.Root().Origin, tl.id()
				at := &dying{Remote: b.remote}
				o := record.Options{Heartbeat: 20 * time.Second, Host: snapshot.Host{Name: "pod-7", PID: 42}, Who: "nightly"}
				claim, err := record.TakeClaim(t.Context(), at, o, origin, other)
				if err != nil {
					t.Fatal(err)
				}
				at.dead.Store(dies) // no beat arrives any more
				r := replaying(b, b.plan(replay.Options{}, tl), b.source(tl))
				r.Claims, r.Claiming = []storage.Remote{b.remote}, record.Options{Heartbeat: 20 * time.Second}
				began := time.Now()
				_, _, err = r.Run(t.Context())
				waited := time.Since(began)
				if dies && (!errors.Is(err, errGoesOn) || waited < 10*20*time.Second) {
					t.Errorf("after %s: %v", waited, err)
				}
				if held, ok := errors.AsType[*record.ClaimedError](err); !dies && (!ok || held.Execution != other || held.Host != "pod-7" || held.PID != 42 || held.Who != "nightly" || waited > 3*20*time.Second) {
					t.Errorf("after %s: %v", waited, err)
				}
				at.dead.Store(false)
				if err := claim.Release(t.Context()); err != nil {
					t.Error(err)
				}
				for _, name := range objects(t, b.remote, "") {
					if strings.Contains(name, "/claims/") {
						t.Errorf("%s is left", name)
					}
				}
			})
		})
	}
}

// TestAClaimIsTakenWhereverTheChainWas: the replay's own execution used no location.
func TestAClaimIsTakenWhereverTheChainWas(t *testing.T) {
	b, first := shopTale(t)
	b.write("end.hwf", workflowOf("Start>end", sets("end", "x")))
	second := b.tell(storage.KindWorkflow, "end.hwf", failed).replays(first).did("Start", ok).did("end", bad)
	claim, err := record.TakeClaim(t.Context(), b.remote, record.Options{Heartbeat: 20 * time.Millisecond}, first.Root().ID, b.id())
	if err != nil {
		t.Fatal(err)
	}
	src := b.source(second, first, second)
	r := replaying(b, b.plan(replay.Options{}, second, first, second), src)
	r.Claiming = record.Options{Heartbeat: 20 * time.Millisecond}
	if _, _, err := r.Run(t.Context()); !errors.Is(err, record.ErrClaimed) {
		t.Errorf("%v", err)
	}
	if err := claim.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Run(t.Context()); !errors.Is(err, errGoesOn) {
		t.Errorf("%v", err)
	}
}

// TestAReplayIsOnRecordFromItsStart, and as one that did not start when it is refused.
func TestAReplayIsOnRecordFromItsStart(t *testing.T) {
	b, tl := shopTale(t)
	src := b.source(tl)
	r := replaying(b, b.plan(replay.Options{}, tl), src)
	r.Claims, r.Claiming = []storage.Remote{b.remote}, record.Options{Who: "nightly"}
	r.Reload = func(context.Context) (*replay.Source, error) { return b.source(tl), nil }
	found := func() *record.Loaded {
		t.Helper()
		list, err := record.Load(t.Context(), b.remote, record.Options{}, tl.Root().ID)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d records, %v", len(list), err)
		}
		return list[0]
	}
	r.Recorder = func(context.Context, recorder.Options) (*recorder.Recorder, error) {
		e := found().Root()
		if e.State != storage.StateRunning || e.ReplayOf != tl.Root().ID || e.Origin != tl.Root().ID || e.Who != "nightly" || e.PID == 0 || e.Replay.Plan != r.Plan.Token {
			t.Errorf("while it starts the record is %+v", e)
		}
		return nil, errDown
	}
	id, _, err := r.Run(t.Context())
	if !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	if e := found().Root(); e.ID != id || e.State != storage.StateFailed || e.Message != errDown.Error() || e.Ended.IsZero() {
		t.Errorf("in the end the record is %+v", e)
	}
	if life, _, err := record.Look(t.Context(), b.remote, tl.Root().ID); err != nil || life != record.Ended {
		t.Errorf("the lease is %s, %v", life, err)
	}
}

// dying is a remote that a killed process does not reach any more.
type dying struct {
	storage.Remote
	dead atomic.Bool
}

func (d *dying) Put(ctx context.Context, name string, c storage.Content) error {
	if d.dead.Load() {
		return errDown
	}
	return d.Remote.Put(ctx, name, c)
}

// TestFailedExecutionsThatWait for a replay.
func TestFailedExecutionsThatWait(t *testing.T) {
	b := newBench(t)
	store := &storage.MemoryExecutions{}
	put := func(of string, states ...storage.State) string {
		t.Helper()
		n := storage.NewExecution{Execution: storage.Execution{ExecutionHead: storage.ExecutionHead{ID: b.id(), ReplayOf: of, Kind: storage.KindPipeline, Name: "p", File: "/p.hpl", State: storage.StateQueued}}}
		e, err := store.Create(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if _, err := store.Transition(t.Context(), e.ID, storage.Change{To: s}); err != nil {
				t.Fatal(err)
			}
		}
		return e.ID
	}
	old := put("", storage.StateRunning, failed)
	since := b.now.Add(time.Second / 2)
	one := put("", storage.StateRunning, failed)
	put("", storage.StateRunning, storage.StateSucceeded)
	two := put("", storage.StateRunning, failed)
	done := put("", storage.StateRunning, failed)
	put("", storage.StateRunning, storage.StateStopped) // by a person
	killed := put("", storage.StateRunning, interrupted)
	again := put(one, storage.StateRunning, failed)
	put(done, storage.StateRunning, storage.StateSucceeded)
	busy := put(two, storage.StateRunning)
	ids := func(from time.Time) string {
		t.Helper()
		list, err := replay.Failed(t.Context(), store, from)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, h := range list {
			ids = append(ids, h.ID)
		}
		return strings.Join(ids, " ")
	}
	if got, want := ids(since), again+" "+killed; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := ids(time.Time{}), old+" "+again+" "+killed; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := store.Transition(t.Context(), busy, storage.Change{To: failed}); err != nil {
		t.Fatal(err)
	}
	if got, want := ids(since), again+" "+busy+" "+killed; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
