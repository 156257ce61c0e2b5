package execdb_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/execdb"
)

// ticking is a clock that the test moves.
type ticking struct {
	mu  sync.Mutex
	now time.Time
}

func (c *ticking) look() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *ticking) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// rare keeps the background heartbeat out of a test.
const rare = time.Hour

func TestLeftoversOfDeadProcess(t *testing.T) {
	dir := t.TempDir()
	c := &ticking{now: time.Date(2026, 9, 1, 2, 0, 0, 0, time.UTC)}
	dying := open(t, dir, execdb.Options{Now: c.look, Heartbeat: rare, Host: "node-1", PID: 77})
	lease, err := dying.Acquire(t.Context(), "task/a", "")
	if err != nil {
		t.Fatal(err)
	}
	run := begin(t, dying, "running")
	queued, err := dying.Create(t.Context(), named("queued", storage.StateQueued))
	if err != nil {
		t.Fatal(err)
	}
	stopping, done := begin(t, dying, "stopping"), begin(t, dying, "done")
	for id, to := range map[string]storage.State{stopping.ID: storage.StateStopping, done.ID: storage.StateSucceeded} {
		if _, err := dying.Transition(t.Context(), id, storage.Change{To: to}); err != nil {
			t.Fatal(err)
		}
	}
	action := storage.ActionRun{ActionKey: storage.ActionKey{Root: run.ID, Node: "n", Ordinal: 1}, Execution: run.ID, State: storage.ActionRunning, Started: c.look()}
	if err := dying.SaveActionRun(t.Context(), action); err != nil {
		t.Fatal(err)
	}
	last := c.move(20 * time.Minute)
	if err := dying.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.move(3 * time.Hour)

	// While it lives nothing is taken from it, however old its heartbeat is.
	other := open(t, dir, execdb.Options{Now: c.look, Heartbeat: rare})
	if e, err := other.Execution(t.Context(), run.ID); err != nil || e.State != storage.StateRunning {
		t.Fatalf("a sleeping process lost its execution: %s, %v", e.State, err)
	}
	var held *storage.HeldError
	if _, err := other.Acquire(t.Context(), "task/a", ""); !errors.As(err, &held) || held.Host != "node-1" || held.PID != 77 {
		t.Errorf("lease of a living process: %v", err)
	}

	if err := dying.FreeLock(); err != nil {
		t.Fatal(err)
	}
	next, err := other.Acquire(t.Context(), "task/a", "")
	if err != nil || next.Epoch <= lease.Epoch {
		t.Errorf("lease of a dead process: %+v, %v", next, err)
	}
	third := open(t, dir, execdb.Options{Now: c.look, Heartbeat: rare})
	for _, id := range []string{run.ID, queued.ID, stopping.ID} {
		e, err := third.Execution(t.Context(), id)
		if err != nil || e.State != storage.StateInterrupted || !e.Ended.Equal(last) || e.Message == "" {
			t.Errorf("%s is %s, ended %v, want %v (%q), %v", e.Name, e.State, e.Ended, last, e.Message, err)
		}
	}
	if e, err := third.Execution(t.Context(), done.ID); err != nil || e.State != storage.StateSucceeded {
		t.Errorf("an ended execution became %s, %v", e.State, err)
	}
	runs, err := third.ActionRuns(t.Context(), run.ID)
	if err != nil || len(runs) != 1 || runs[0].State != storage.ActionInterrupted || !runs[0].Ended.Equal(last) {
		t.Errorf("action run %+v, %v", runs, err)
	}

	// The one that was declared dead stops itself and changes nothing more.
	_, moved := dying.Transition(t.Context(), run.ID, storage.Change{To: storage.StateSucceeded})
	_, begun := dying.Create(t.Context(), named("late", storage.StateRunning))
	for name, err := range map[string]error{
		"lease": dying.CheckLease(t.Context(), lease), "create": begun, "beat": dying.Beat(t.Context()),
		"metrics": dying.SaveMetrics(t.Context(), run.ID, nil), "action": dying.SaveActionRun(t.Context(), action),
	} {
		if !errors.Is(err, storage.ErrLeaseLost) {
			t.Errorf("%s of a dead process: %v", name, err)
		}
	}
	if moved == nil {
		t.Error("a dead process moved its execution")
	}
	select {
	case <-dying.Lost():
	default:
		t.Error("a dead process is not told")
	}
	if err := other.CheckLease(t.Context(), next); err != nil {
		t.Error(err)
	}
}

func TestOnlyTheOwnerWrites(t *testing.T) {
	dir := t.TempDir()
	owner, other := open(t, dir, execdb.Options{}), open(t, dir, execdb.Options{})
	e := begin(t, owner, "p")
	_, ended := other.Transition(t.Context(), e.ID, storage.Change{To: storage.StateSucceeded})
	link := storage.SnapshotLink{Execution: e.ID, Ref: storage.SnapshotRef{Gate: "g", ID: "i"}, Role: storage.SnapshotBound}
	for name, err := range map[string]error{
		"end": ended, "metrics": other.SaveMetrics(t.Context(), e.ID, nil), "link": other.LinkSnapshot(t.Context(), link),
		"run": other.SaveActionRun(t.Context(), storage.ActionRun{ActionKey: storage.ActionKey{Root: e.ID, Node: "n", Ordinal: 1}, Execution: e.ID, State: storage.ActionRunning}),
	} {
		if !errors.Is(err, storage.ErrNotOwner) {
			t.Errorf("%s by another process: %v", name, err)
		}
	}
	// Anybody may ask it to stop, or take a queued one back.
	if h, err := other.Transition(t.Context(), e.ID, storage.Change{To: storage.StateStopping}); err != nil || h.State != storage.StateStopping {
		t.Errorf("ask to stop: %v", err)
	}
	queued, err := owner.Create(t.Context(), named("q", storage.StateQueued))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Transition(t.Context(), queued.ID, storage.Change{To: storage.StateRunning}); !errors.Is(err, storage.ErrNotOwner) {
		t.Errorf("start of a foreign execution: %v", err)
	}
	if _, err := other.Transition(t.Context(), queued.ID, storage.Change{To: storage.StateStopped}); err != nil {
		t.Errorf("take back: %v", err)
	}
}

// An owner that closes with work under way leaves it to the next opening.
func TestCloseWithWorkUnderWay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, execdb.Options{})
	e := begin(t, s, "p")
	if _, err := s.Acquire(t.Context(), "x", e.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := open(t, dir, execdb.Options{})
	if got, err := next.Execution(t.Context(), e.ID); err != nil || got.State != storage.StateInterrupted || got.Ended.Before(got.Started) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := next.Acquire(t.Context(), "x", ""); err != nil {
		t.Error(err)
	}
	swept, err := next.Sweep(t.Context())
	if err != nil || swept.Processes != 0 || slices.Contains(swept.Interrupted, e.ID) {
		t.Errorf("swept twice: %+v, %v", swept, err)
	}
}

func TestHeartbeatsAreThoseOfTheProcessesThatRun(t *testing.T) {
	dir := t.TempDir()
	c := &ticking{now: time.Date(2026, 9, 1, 2, 0, 0, 0, time.UTC)}
	s := open(t, dir, execdb.Options{Now: c.look, Heartbeat: rare})
	run, done := begin(t, s, "running"), begin(t, s, "done")
	if _, err := s.Transition(t.Context(), done.ID, storage.Change{To: storage.StateSucceeded}); err != nil {
		t.Fatal(err)
	}
	last := c.move(time.Minute)
	if err := s.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.move(10 * time.Minute)
	beats, err := s.Heartbeats(t.Context())
	if err != nil || len(beats) != 1 || !beats[run.ID].Equal(last) {
		t.Errorf("%v, %v; want %v for %s", beats, err, last, run.ID)
	}
}
