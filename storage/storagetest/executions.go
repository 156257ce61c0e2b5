package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/storage"
)

// OpenExecutions gives an empty execution store with this redactor and clock;
// the test closes it.
type OpenExecutions func(t *testing.T, redact storage.Redactor, now func() time.Time) storage.ExecutionStore

// day is when the tests of the contract begin.
var day = time.Date(2026, 9, 1, 2, 0, 0, 0, time.UTC)

// clock moves on by a second with each look.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) look() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// RunExecutions holds an execution store against the contract of
// storage.ExecutionStore.
func RunExecutions(t *testing.T, open OpenExecutions) {
	for name, test := range map[string]func(*testing.T, storage.ExecutionStore){
		"facts come back":         factsComeBack,
		"transitions":             transitionsFollowTheTable,
		"compare and set":         compareAndSet,
		"one transition wins":     oneTransitionWins,
		"trees and lineage":       treesAndLineage,
		"lists":                   lists,
		"shortened ids":           shortenedIDs,
		"action runs":             actionRuns,
		"metrics and snapshots":   metricsAndSnapshots,
		"logs":                    logs,
		"leases":                  leases,
		"execution under a lease": executionUnderLease,
		"retention":               retention,
		"refusals":                refusals,
		"closed":                  closed,
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{now: day}
			s := open(t, nil, c.look)
			test(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	t.Run("secrets", func(t *testing.T) { secrets(t, open) })
}

func create(t *testing.T, s storage.ExecutionStore, n storage.NewExecution) storage.Execution {
	t.Helper()
	if n.Kind == "" {
		n.Kind = storage.KindPipeline
	}
	if n.Name == "" {
		n.Name = "load orders"
	}
	e, err := s.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func running(e storage.Execution) storage.NewExecution {
	e.State = storage.StateRunning
	return storage.NewExecution{Execution: e}
}

func child(parent string) storage.NewExecution {
	var e storage.Execution
	e.Parent = parent
	return running(e)
}

func named(name string) storage.NewExecution {
	var e storage.Execution
	e.Name = name
	return running(e)
}

func advance(t *testing.T, s storage.ExecutionStore, id string, to storage.State) storage.ExecutionHead {
	t.Helper()
	h, err := s.Transition(t.Context(), id, storage.Change{To: to})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func factsComeBack(t *testing.T, s storage.ExecutionStore) {
	want := storage.Execution{
		ExecutionHead: storage.ExecutionHead{
			Kind: storage.KindWorkflow, Name: "nightly", File: "${PROJECT_HOME}/nightly.hwf", Who: "ada", Reason: "schedule", State: storage.StateQueued,
			Host: "node-1", PID: 42, BootID: "b",
		},
		RunConfiguration: "local", LogLevel: "Basic",
		Parameters: []storage.Variable{{Name: "DAY", Value: "2026-09-01"}, {Name: "EMPTY"}},
		Variables:  []storage.Variable{{Name: "PW", Value: "k1:00112233445566778899aabbccddeeff", Secret: true}},
		Replay:     &storage.ReplayChoice{Start: "first-failed", Overrides: []storage.Override{{Check: "age", Reason: "checked by hand"}}},
	}
	text := []byte("<workflow/>")
	made := create(t, s, storage.NewExecution{Execution: want, Content: text})
	got, err := s.Execution(t.Context(), made.ID)
	if err != nil || !reflect.DeepEqual(got, made) {
		t.Fatalf("read %+v, %v; made %+v", got, err, made)
	}
	want.ID, want.Root, want.Origin, want.Definition = made.ID, made.ID, made.ID, made.Definition
	if !reflect.DeepEqual(got, want) {
		t.Errorf("kept %+v\nwant %+v", got, want)
	}
	if content, err := s.Definition(t.Context(), got.Definition); err != nil || !bytes.Equal(content, text) {
		t.Errorf("definition %q, %v", content, err)
	}
	started := advance(t, s, made.ID, storage.StateRunning)
	ended, err := s.Transition(t.Context(), made.ID, storage.Change{To: storage.StateFailed, Message: "target is down"})
	if err != nil {
		t.Fatal(err)
	}
	if started.Started.IsZero() || !started.Ended.IsZero() || !ended.Ended.After(ended.Started) || ended.Message != "target is down" {
		t.Errorf("times %v, %v; message %q", started.Started, ended.Ended, ended.Message)
	}
	if c := ended.Created(); c.Before(day) || c.After(ended.Started) {
		t.Errorf("created %v", c)
	}
}

// path is a way from QUEUED to each state.
var path = map[storage.State][]storage.State{
	storage.StateQueued: nil, storage.StateRunning: {storage.StateRunning}, storage.StateStopping: {storage.StateRunning, storage.StateStopping},
	storage.StateSucceeded: {storage.StateRunning, storage.StateSucceeded}, storage.StatePartial: {storage.StateRunning, storage.StatePartial},
	storage.StateFailed: {storage.StateFailed}, storage.StateStopped: {storage.StateStopped}, storage.StateSkipped: {storage.StateSkipped},
	storage.StateInterrupted: {storage.StateRunning, storage.StateInterrupted},
}

func transitionsFollowTheTable(t *testing.T, s storage.ExecutionStore) {
	for _, from := range storage.States() {
		for _, to := range append(storage.States(), "", "DONE") {
			e := create(t, s, storage.NewExecution{})
			for _, step := range path[from] {
				advance(t, s, e.ID, step)
			}
			_, err := s.Transition(t.Context(), e.ID, storage.Change{To: to})
			after, readErr := s.Execution(t.Context(), e.ID)
			switch {
			case readErr != nil:
				t.Fatal(readErr)
			case from.CanBecome(to) && (err != nil || after.State != to || after.Ended.IsZero() == to.Ended()):
				t.Errorf("%s to %s: %v, is %s, ended %v", from, to, err, after.State, after.Ended)
			case !from.CanBecome(to) && (!errors.Is(err, storage.ErrTransition) || after.State != from):
				t.Errorf("%s to %s: %v, is %s", from, to, err, after.State)
			}
		}
	}
}

func compareAndSet(t *testing.T, s storage.ExecutionStore) {
	e := create(t, s, storage.NewExecution{})
	c := storage.Change{From: []storage.State{storage.StateRunning, storage.StateStopping}, To: storage.StateStopped}
	_, err := s.Transition(t.Context(), e.ID, c)
	var refused *storage.TransitionError
	if !errors.As(err, &refused) || refused.From != storage.StateQueued {
		t.Errorf("from an unexpected state: %v", err)
	}
	advance(t, s, e.ID, storage.StateRunning)
	if _, err := s.Transition(t.Context(), e.ID, c); err != nil {
		t.Error(err)
	}
}

func oneTransitionWins(t *testing.T, s storage.ExecutionStore) {
	e := create(t, s, running(storage.Execution{}))
	var wg sync.WaitGroup
	results := make(chan error, 16)
	for i := range 16 {
		to := []storage.State{storage.StateSucceeded, storage.StateFailed, storage.StateStopped}[i%3]
		wg.Go(func() {
			_, err := s.Transition(t.Context(), e.ID, storage.Change{From: []storage.State{storage.StateRunning}, To: to})
			results <- err
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, storage.ErrTransition) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d transitions won", won)
	}
}

func ids(list []storage.ExecutionHead) []string {
	out := make([]string, len(list))
	for i, h := range list {
		out[i] = h.ID
	}
	return out
}

func treesAndLineage(t *testing.T, s storage.ExecutionStore) {
	root := create(t, s, named("root"))
	first, second := create(t, s, child(root.ID)), create(t, s, child(root.ID))
	grand := create(t, s, child(first.ID))
	again := named("again")
	again.ReplayOf = root.ID
	replay := create(t, s, again)
	inReplay := create(t, s, child(replay.ID))
	third := named("third")
	third.ReplayOf = replay.ID
	last := create(t, s, third)
	create(t, s, named("other"))

	if grand.Root != root.ID || grand.Origin != root.ID || replay.Root != replay.ID || replay.Origin != root.ID || inReplay.Root != replay.ID || inReplay.Origin != root.ID || last.Origin != root.ID {
		t.Errorf("roots and origins: %+v %+v %+v %+v", grand, replay, inReplay, last)
	}
	for _, id := range []string{root.ID, second.ID, grand.ID} {
		tree, err := s.Tree(t.Context(), id)
		if want := []string{root.ID, first.ID, second.ID, grand.ID}; err != nil || !slices.Equal(ids(tree), want) {
			t.Errorf("tree of %s: %v, %v, want %v", id, ids(tree), err, want)
		}
	}
	for _, id := range []string{root.ID, grand.ID, inReplay.ID, last.ID} {
		chain, err := s.Lineage(t.Context(), id)
		if want := []string{root.ID, replay.ID, last.ID}; err != nil || !slices.Equal(ids(chain), want) {
			t.Errorf("lineage of %s: %v, %v, want %v", id, ids(chain), err, want)
		}
	}
}

func lists(t *testing.T, s storage.ExecutionStore) {
	var all []storage.Execution
	for i := range 25 {
		n := named(fmt.Sprintf("Load %02d", i))
		n.Kind, n.File = storage.KindPipeline, fmt.Sprintf("/p/file_%02d.hpl", i)
		if i%5 == 4 {
			n.Parent = all[0].ID
		}
		if i%3 == 0 {
			n.Kind = storage.KindWorkflow
		}
		e := create(t, s, n)
		if i%2 == 1 {
			e.ExecutionHead = advance(t, s, e.ID, storage.StateFailed)
		}
		all = append(all, e)
	}
	for name, q := range map[string]storage.ExecutionQuery{
		"all":         {},
		"failed":      {States: []storage.State{storage.StateFailed}},
		"two states":  {States: []storage.State{storage.StateFailed, storage.StateRunning}},
		"kind":        {Kinds: []storage.ExecutionKind{storage.KindWorkflow}},
		"name":        {Name: "LOAD 1"},
		"file":        {Name: "file_07"},
		"wildcards":   {Name: "%_"},
		"roots":       {RootsOnly: true},
		"origin":      {Origin: all[0].ID},
		"from":        {From: all[10].Created()},
		"to":          {To: all[10].Created()},
		"between":     {From: all[3].Created(), To: all[9].Created(), States: []storage.State{storage.StateRunning}},
		"id":          {IDPrefix: all[7].ID},
		"all of them": {Name: "load", Kinds: []storage.ExecutionKind{storage.KindPipeline}, RootsOnly: true, States: []storage.State{storage.StateFailed}},
	} {
		var want []string
		for i := len(all) - 1; i >= 0; i-- {
			if q.Matches(&all[i].ExecutionHead) {
				want = append(want, all[i].ID)
			}
		}
		for _, limit := range []int{0, 1, 4, 24, 25} {
			var got []string
			q := q
			q.Limit = limit
			for {
				page, err := s.Executions(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, ids(page.Executions)...)
				if page.Next == "" {
					break
				}
				if len(page.Executions) != limit {
					t.Fatalf("%s: a page of %d with limit %d has a next one", name, len(page.Executions), limit)
				}
				q.After = page.Next
			}
			if !slices.Equal(got, want) || name != "wildcards" && len(want) == 0 {
				t.Errorf("%s, limit %d: %v, want %v", name, limit, got, want)
			}
		}
	}
}

func shortenedIDs(t *testing.T, s storage.ExecutionStore) {
	a, b := running(storage.Execution{}), running(storage.Execution{})
	a.ID, b.ID = "01a00000-0000-7000-8000-000000000001", "01a00000-0000-7000-8000-0000000000ff"
	create(t, s, a)
	create(t, s, b)
	for prefix, want := range map[string]string{
		a.ID: a.ID, "01A00000000070008000000000000001": a.ID, "01a00000-0000-7000-8000-0000000000f": b.ID, " 01a000000000700080000000000000f ": b.ID,
	} {
		if id, err := s.ResolveID(t.Context(), prefix); err != nil || id != want {
			t.Errorf("%q: %s, %v", prefix, id, err)
		}
	}
	for prefix, want := range map[string]error{"01a0": storage.ErrAmbiguous, "01b": storage.ErrNotFound, "": storage.ErrBadName, "x": storage.ErrBadName, "%": storage.ErrBadName} {
		if _, err := s.ResolveID(t.Context(), prefix); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", prefix, err, want)
		}
	}
}

func actionRuns(t *testing.T, s storage.ExecutionStore) {
	e := create(t, s, named("w"))
	in := create(t, s, child(e.ID))
	var want []storage.ActionRun
	for i := range 3 {
		at := day.Add(time.Duration(i) * time.Minute)
		a := storage.ActionRun{
			ActionKey: storage.ActionKey{Root: e.ID, CallPath: "loop#2", Node: "Load", Ordinal: i + 1}, Execution: in.ID, State: storage.ActionRunning, Started: at,
			Before: []storage.Variable{{Name: "N", Value: fmt.Sprint(i)}},
		}
		if err := s.SaveActionRun(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		a.State, a.Ended, a.Child, a.Attempts = storage.ActionSucceeded, at.Add(time.Second), in.ID, 2
		a.Result = &storage.ActionResult{OK: true, Read: 10, Written: 9, Rejected: 1, ExitStatus: 3, LogText: "done"}
		a.Rows = storage.RowSet{Count: 2, Format: "parquet", Data: []byte{0, 1, 255, byte(i)}}
		a.Files = []storage.ResultFile{{Path: "/out/a.csv", Type: "GENERAL", Size: 12, SHA256: "ab", Modified: at}}
		a.After = []storage.Variable{{Name: "N", Value: fmt.Sprint(i + 1)}, {Name: "S", Value: "k:00112233445566778899aabbccddeeff", Secret: true}}
		if err := s.SaveActionRun(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		want = append(want, a)
	}
	reused := storage.ActionRun{ActionKey: storage.ActionKey{Root: e.ID, Node: "Load", Ordinal: 1}, Execution: e.ID, State: storage.ActionReused, Started: day.Add(time.Hour), ReusedFrom: e.ID, Rows: storage.RowSet{Count: 7}}
	if err := s.SaveActionRun(t.Context(), reused); err != nil {
		t.Fatal(err)
	}
	got, err := s.ActionRuns(t.Context(), e.ID)
	if want = append(want, reused); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("runs %+v, %v\nwant %+v", got, err, want)
	}
	if err := s.SaveActionRun(t.Context(), want[0]); !errors.Is(err, storage.ErrEnded) {
		t.Errorf("an ended run was replaced: %v", err)
	}
	advance(t, s, in.ID, storage.StateSucceeded)
	late := want[0]
	late.Ordinal = 9
	if err := s.SaveActionRun(t.Context(), late); !errors.Is(err, storage.ErrEnded) {
		t.Errorf("a run of an ended execution was added: %v", err)
	}
}

func metricsAndSnapshots(t *testing.T, s storage.ExecutionStore) {
	e := create(t, s, named("p"))
	in := create(t, s, child(e.ID))
	list := []storage.TransformMetrics{
		{Transform: "read", State: "Running", Read: 1}, {Transform: "load", Copy: 1, State: "Running", Output: 5, Started: day, Sink: &storage.SinkFacts{Target: "t", How: "append", Rows: 5}},
	}
	if err := s.SaveMetrics(t.Context(), e.ID, list); err != nil {
		t.Fatal(err)
	}
	list[0].Read, list[0].State, list[0].Ended = 100, "Finished", day.Add(time.Hour)
	if err := s.SaveMetrics(t.Context(), e.ID, list[:1]); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Metrics(t.Context(), e.ID); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("metrics %+v, %v", got, err)
	}

	ref := storage.SnapshotRef{Gate: "0123456789ab", ID: "01a00000-0000-7000-8000-000000000001"}
	link := storage.SnapshotLink{Execution: in.ID, Ref: ref, Role: storage.SnapshotWritten, Location: "s3:bucket", Node: "gate"}
	for range 2 {
		if err := s.LinkSnapshot(t.Context(), link); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := s.SealedDigest(t.Context(), ref); err != nil || d != "" {
		t.Errorf("digest before the seal %q, %v", d, err)
	}
	if err := errors.Join(s.RecordSeal(t.Context(), ref, "d1"), s.RecordSeal(t.Context(), ref, "d1")); err != nil {
		t.Error(err)
	}
	if err := s.RecordSeal(t.Context(), ref, "d2"); !errors.Is(err, storage.ErrExists) {
		t.Errorf("another digest: %v", err)
	}
	link.Digest = "d1"
	for _, id := range []string{e.ID, in.ID} {
		if got, err := s.Snapshots(t.Context(), id); err != nil || !reflect.DeepEqual(got, []storage.SnapshotLink{link}) {
			t.Errorf("snapshots of %s: %+v, %v", id, got, err)
		}
	}
}

func logs(t *testing.T, s storage.ExecutionStore) {
	e := create(t, s, named("p"))
	in := create(t, s, child(e.ID))
	counts := storage.Counts{Read: 10, Committed: 8, Erroneous: 1, Skipped: 1}
	data := []storage.LogData{
		storage.StartedEntry{Source: "topic"},
		storage.ProgressEntry{Counts: counts, RowsPerSecond: 1.5},
		storage.BatchResultEntry{Counts: counts, Batch: 3, Duration: time.Second, Error: "e"},
		storage.TaskResultEntry{Counts: counts, State: storage.StatePartial},
		storage.RecordErrorEntry{Source: "f", Offset: 7, Error: "bad", Field: "x", Code: "C"},
		storage.ArchiveEntry{File: "a", Mode: "archive", To: "b"},
		storage.CheckpointEntry{Task: "t", Partition: 2, Position: "77"},
		storage.ReplayEntry{Of: e.ID, Unit: "Load#1", Decision: "REUSE", Snapshot: &storage.SnapshotRef{Gate: "g", ID: "i"}},
		nil,
		storage.UnknownEntry{Of: "from_the_future", Raw: []byte(`{"x":1}`)},
	}
	var want []storage.LogEntry
	for i, d := range data {
		entry := storage.LogEntry{Execution: in.ID, Root: e.ID, Time: day, Level: storage.LogLevel(i%4 - 1), Node: "Load", Copy: i, Text: fmt.Sprintf("Entry %d 100%%", i), Data: d}
		if i%3 == 0 {
			entry.Execution, entry.Node = e.ID, ""
		}
		if err := s.Log(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		entry.Kind = storage.LogLine
		if d != nil {
			entry.Kind = d.Kind()
		}
		want = append(want, entry)
	}
	_ = s.Log(t.Context(), storage.LogEntry{Execution: "another", Text: "Entry"})
	page, err := s.Logs(t.Context(), storage.LogQuery{Root: e.ID})
	if err != nil || len(page.Entries) != len(want) || page.More {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	for i := range page.Entries {
		want[i].Seq = page.Entries[i].Seq
		if i > 0 && want[i].Seq <= want[i-1].Seq {
			t.Errorf("entry %d is numbered %d after %d", i, want[i].Seq, want[i-1].Seq)
		}
	}
	if !reflect.DeepEqual(page.Entries, want) {
		t.Errorf("entries %+v\nwant %+v", page.Entries, want)
	}
	warn := storage.LevelWarn
	for name, q := range map[string]storage.LogQuery{
		"tree": {Root: e.ID}, "own": {Execution: e.ID}, "child": {Execution: in.ID, Root: e.ID}, "level": {Root: e.ID, MinLevel: &warn},
		"kinds": {Root: e.ID, Kinds: []storage.LogKind{storage.LogLine, storage.LogReplay}}, "node": {Root: e.ID, Node: "Load"},
		"search": {Root: e.ID, Search: "ENTRY 3"}, "percent": {Root: e.ID, Search: "0%"},
	} {
		var matching []storage.LogEntry
		for i := range want {
			if q.Matches(&want[i]) {
				matching = append(matching, want[i])
			}
		}
		for _, limit := range []int{0, 1, 3} {
			var got []storage.LogEntry
			q := q
			for q.Limit = limit; ; {
				page, err := s.Logs(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page.Entries...)
				if q.After = page.Next; !page.More {
					break
				}
			}
			if !reflect.DeepEqual(got, matching) || len(got) == 0 {
				t.Errorf("%s, limit %d: %d entries, want %d", name, limit, len(got), len(matching))
			}
		}
	}
	if err := s.Log(t.Context(), storage.LogEntry{Text: "of nobody"}); err == nil {
		t.Error("an entry without an execution was taken")
	}
}

func leases(t *testing.T, s storage.ExecutionStore) {
	e := named("p")
	e.Who = "ada"
	made := create(t, s, e)
	var wg sync.WaitGroup
	results := make(chan error, 100)
	for range 100 {
		wg.Go(func() {
			_, err := s.Acquire(t.Context(), "task/a", made.ID)
			results <- err
		})
	}
	wg.Wait()
	close(results)
	got := 0
	for err := range results {
		var held *storage.HeldError
		switch {
		case err == nil:
			got++
		case !errors.As(err, &held), held.Execution != made.ID, held.Who != "ada", held.PID == 0:
			t.Errorf("refusal does not name the holder: %v", err)
		}
	}
	if got != 1 {
		t.Fatalf("%d of 100 have the lease", got)
	}
	first, err := s.Acquire(t.Context(), "task/b", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.CheckLease(t.Context(), first), s.Release(t.Context(), first)); err != nil {
		t.Error(err)
	}
	second, err := s.Acquire(t.Context(), "task/b", "")
	if err != nil || second.Epoch <= first.Epoch {
		t.Errorf("epoch %d after %d, %v", second.Epoch, first.Epoch, err)
	}
	for _, err := range []error{s.CheckLease(t.Context(), first), s.Release(t.Context(), first)} {
		if !errors.Is(err, storage.ErrLeaseLost) {
			t.Errorf("the first epoch is still good: %v", err)
		}
	}
}

func executionUnderLease(t *testing.T, s storage.ExecutionStore) {
	lease, err := s.Acquire(t.Context(), "task/a", "")
	if err != nil {
		t.Fatal(err)
	}
	n := named("t")
	n.Kind, n.Lease = storage.KindTask, &lease
	e := create(t, s, n)
	in := create(t, s, child(e.ID))
	if err := s.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "task/a", ""); err != nil {
		t.Fatal(err)
	}
	_, moved := s.Transition(t.Context(), e.ID, storage.Change{To: storage.StateSucceeded})
	_, begun := s.Create(t.Context(), n)
	for name, err := range map[string]error{
		"transition": moved, "create": begun, "metrics": s.SaveMetrics(t.Context(), in.ID, nil),
		"action run": s.SaveActionRun(t.Context(), storage.ActionRun{ActionKey: storage.ActionKey{Root: e.ID, Node: "n", Ordinal: 1}, Execution: in.ID, State: storage.ActionRunning}),
	} {
		if !errors.Is(err, storage.ErrLeaseLost) {
			t.Errorf("%s without the lease: %v", name, err)
		}
	}
}

func retention(t *testing.T, s storage.ExecutionStore) {
	var roots []storage.Execution
	for i := range 10 {
		n := named(fmt.Sprintf("p%d", i%2))
		n.Content = []byte("definition of all")
		if i == 5 {
			n.ReplayOf = roots[1].ID
		}
		e := create(t, s, n)
		in := create(t, s, child(e.ID))
		link := storage.SnapshotLink{Execution: in.ID, Ref: storage.SnapshotRef{Gate: "g", ID: e.ID}, Role: storage.SnapshotWritten}
		run := storage.ActionRun{ActionKey: storage.ActionKey{Root: e.ID, Node: "n", Ordinal: 1}, Execution: e.ID, State: storage.ActionSucceeded}
		err := errors.Join(s.LinkSnapshot(t.Context(), link), s.SaveActionRun(t.Context(), run), s.SaveMetrics(t.Context(), in.ID, []storage.TransformMetrics{{Transform: "x"}}),
			s.Log(t.Context(), storage.LogEntry{Execution: in.ID, Root: e.ID, Text: "x"}, storage.LogEntry{Execution: e.ID, Text: "y"}))
		if err != nil {
			t.Fatal(err)
		}
		if i != 0 {
			advance(t, s, in.ID, storage.StateSucceeded)
		}
		if i != 2 {
			advance(t, s, e.ID, storage.StateSucceeded)
		}
		roots = append(roots, e)
	}
	needed := map[string]string{roots[3].ID: "its snapshot is pinned"}
	policy := storage.RetentionPolicy{Count: 4, Needed: func(h storage.ExecutionHead) (string, error) { return needed[h.ID], nil }}
	plan, err := s.PlanRetention(t.Context(), policy)
	if err != nil {
		t.Fatal(err)
	}
	// 0 has a living child, 2 runs, 3 is needed; 6 to 9 are the newest.
	items := func(list []storage.RetentionItem) (out []string) {
		for _, i := range list {
			out = append(out, i.ID)
		}
		return out
	}
	if want := []string{roots[5].ID, roots[4].ID, roots[1].ID}; !slices.Equal(items(plan.Remove), want) {
		t.Errorf("would remove %v, want %v", plan.Remove, want)
	}
	if want := []string{roots[3].ID, roots[2].ID, roots[0].ID}; !slices.Equal(items(plan.Keep), want) {
		t.Errorf("would keep %v, want %v", plan.Keep, want)
	}
	if page, err := s.Executions(t.Context(), storage.ExecutionQuery{}); err != nil || len(page.Executions) != 20 {
		t.Errorf("a plan changed something: %d left, %v", len(page.Executions), err)
	}
	needed[roots[4].ID] = "pinned in between"
	done, err := s.Remove(t.Context(), plan)
	if err != nil || done.Executions != 4 || done.LogEntries != 4 || !slices.Equal(items(done.Kept), []string{roots[4].ID}) {
		t.Errorf("removed %+v, %v", done, err)
	}
	gone := roots[1].ID
	if _, err := s.Execution(t.Context(), gone); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	runs, err1 := s.ActionRuns(t.Context(), gone)
	links, err2 := s.Snapshots(t.Context(), gone)
	page, err3 := s.Logs(t.Context(), storage.LogQuery{Root: gone})
	if len(runs)+len(links)+len(page.Entries) > 0 || errors.Join(err1, err2, err3) != nil {
		t.Errorf("left: %v %v %v, %v %v %v", runs, links, page, err1, err2, err3)
	}
	if page, err := s.Logs(t.Context(), storage.LogQuery{Root: roots[9].ID}); err != nil || len(page.Entries) != 2 {
		t.Errorf("the log of a kept one has %d entries, %v", len(page.Entries), err)
	}
	if _, err := s.Definition(t.Context(), roots[0].Definition); err != nil {
		t.Errorf("a definition in use is gone: %v", err)
	}

	// A replay keeps what it replays.
	replay := named("r")
	replay.ReplayOf = roots[6].ID
	create(t, s, replay)
	plan, err = s.PlanRetention(t.Context(), storage.RetentionPolicy{Roots: []string{roots[6].ID, roots[7].ID}})
	if err != nil || !slices.Equal(items(plan.Remove), []string{roots[7].ID}) || !slices.Equal(items(plan.Keep), []string{roots[6].ID}) {
		t.Errorf("by name: %+v, %v", plan, err)
	}
	again := named("r2")
	again.ReplayOf = roots[7].ID
	create(t, s, again)
	if done, err := s.Remove(t.Context(), plan); err != nil || done.Executions != 0 || len(done.Kept) != 1 {
		t.Errorf("replayed after the plan: %+v, %v", done, err)
	}

	for name, c := range map[string]struct {
		policy storage.RetentionPolicy
		want   int
	}{
		"no limit": {storage.RetentionPolicy{}, 0}, "age far": {storage.RetentionPolicy{MaxAge: 1000 * time.Hour}, 0},
		"age": {storage.RetentionPolicy{MaxAge: time.Nanosecond}, 4}, "per name": {storage.RetentionPolicy{PerName: 1}, 2},
	} {
		plan, err := s.PlanRetention(t.Context(), c.policy)
		if err != nil || len(plan.Remove) != c.want {
			t.Errorf("%s: would remove %d, want %d, %v", name, len(plan.Remove), c.want, err)
		}
	}
	failing := storage.RetentionPolicy{Count: 1, Needed: func(storage.ExecutionHead) (string, error) { return "", storage.ErrUnreachable }}
	if _, err := s.PlanRetention(t.Context(), failing); !errors.Is(err, storage.ErrUnreachable) {
		t.Errorf("nobody knows whether it is needed: %v", err)
	}
}

func refusals(t *testing.T, s storage.ExecutionStore) {
	e := create(t, s, named("p"))
	unknown := "01a00000-0000-7000-8000-000000000001"
	inClear := named("p")
	inClear.Variables = []storage.Variable{{Name: "PW", Value: "hunter2", Secret: true}}
	twice, orphan, bad, ended := named("p"), child(unknown), named("p"), named("p")
	twice.ID, bad.ID, ended.State = e.ID, "../x", storage.StateFailed
	for name, c := range map[string]struct {
		n    storage.NewExecution
		want error
	}{
		"secret in clear": {inClear, storage.ErrSecretInClear}, "id taken": {twice, storage.ErrExists}, "no parent": {orphan, storage.ErrNotFound},
		"bad id": {bad, storage.ErrBadName}, "ended": {ended, storage.ErrTransition}, "no name": {storage.NewExecution{}, storage.ErrBadName},
	} {
		if c.n.Kind == "" && name != "no name" {
			c.n.Kind = storage.KindPipeline
		}
		if c.n.Name == "" && name != "no name" {
			c.n.Name = "x"
		}
		if _, err := s.Create(t.Context(), c.n); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	_, err1 := s.Execution(t.Context(), unknown)
	_, err2 := s.Tree(t.Context(), unknown)
	_, err3 := s.Lineage(t.Context(), unknown)
	_, err4 := s.Transition(t.Context(), unknown, storage.Change{To: storage.StateRunning})
	_, err5 := s.Definition(t.Context(), "no")
	for i, err := range []error{err1, err2, err3, err4, err5, s.SaveMetrics(t.Context(), unknown, nil)} {
		if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("unknown execution, call %d: %v", i+1, err)
		}
	}
	run := storage.ActionRun{ActionKey: storage.ActionKey{Root: e.ID, Node: "n", Ordinal: 1}, Execution: e.ID, State: storage.ActionRunning}
	run.After = inClear.Variables
	if err := s.SaveActionRun(t.Context(), run); !errors.Is(err, storage.ErrSecretInClear) {
		t.Errorf("action run with a secret: %v", err)
	}
	run.After, run.Root = nil, unknown
	if err := s.SaveActionRun(t.Context(), run); !errors.Is(err, storage.ErrBadName) {
		t.Errorf("action run of another root: %v", err)
	}
}

func closed(t *testing.T, s storage.ExecutionStore) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), named("p")); err == nil {
		t.Error("a closed store takes executions")
	}
	if err := s.Log(t.Context(), storage.LogEntry{Execution: "x"}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("log on a closed store: %v", err)
	}
}

// PlantSecrets fills every text of a store with the secrets and gives the
// root's id, so that a scan can look for them.
func PlantSecrets(t *testing.T, s storage.ExecutionStore, planted []string) string {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	secret := func() string { return "text " + planted[r.IntN(len(planted))] + " text" }
	n := named("p")
	n.File, n.Reason, n.Message = secret(), secret(), secret()
	n.Parameters, n.Variables = []storage.Variable{{Name: "A", Value: secret()}}, []storage.Variable{{Name: "B", Value: secret()}}
	n.Replay = &storage.ReplayChoice{Variables: []storage.Variable{{Name: "C", Value: secret()}}, Overrides: []storage.Override{{Check: "x", Reason: secret()}}}
	for _, value := range planted {
		n.Content = append(n.Content, "<password>"+value+"</password>\n"...)
	}
	e := create(t, s, n)
	run := storage.ActionRun{
		ActionKey: storage.ActionKey{Root: e.ID, Node: "n", Ordinal: 1}, Execution: e.ID, State: storage.ActionFailed, Message: secret(),
		Result: &storage.ActionResult{LogText: secret()}, Files: []storage.ResultFile{{Path: secret(), Comment: secret()}},
		Before: []storage.Variable{{Name: "A", Value: secret()}}, After: []storage.Variable{{Name: "A", Value: secret()}},
	}
	ref := storage.SnapshotRef{Gate: "g", ID: "i"}
	err := errors.Join(s.SaveActionRun(t.Context(), run),
		s.SaveMetrics(t.Context(), e.ID, []storage.TransformMetrics{{Transform: "x", Sink: &storage.SinkFacts{Target: secret()}}}),
		s.LinkSnapshot(t.Context(), storage.SnapshotLink{Execution: e.ID, Ref: ref, Role: storage.SnapshotWritten, Location: secret()}))
	for range 3 * len(planted) {
		for _, d := range []storage.LogData{
			nil,
			storage.StartedEntry{Source: secret(), Target: secret()},
			storage.BatchResultEntry{Error: secret()},
			storage.TaskResultEntry{Error: secret()},
			storage.RecordErrorEntry{Source: secret(), Error: secret(), Stage: secret()},
			storage.ArchiveEntry{File: secret(), To: secret(), Error: secret()},
			storage.CheckpointEntry{Source: secret(), Position: secret()},
			storage.ReplayEntry{Unit: secret(), Why: secret()},
		} {
			err = errors.Join(err, s.Log(t.Context(), storage.LogEntry{Execution: e.ID, Text: secret(), Data: d}))
		}
	}
	if _, moveErr := s.Transition(t.Context(), e.ID, storage.Change{To: storage.StateFailed, Message: secret()}); errors.Join(err, moveErr) != nil {
		t.Fatal(err, moveErr)
	}
	return e.ID
}

// Secrets are values with all that could hide them from a redactor.
var Secrets = []string{"hunter2!", "p&ss<w>rd", `quo"te\slash`, "ünïcode-ß", "with blank %41", "tok/en+=="}

func secrets(t *testing.T, open OpenExecutions) {
	var values storage.SecretValues
	values.Add(Secrets...)
	c := &clock{now: day}
	s := open(t, values.Redact, c.look)
	root := PlantSecrets(t, s, Secrets)
	e, err1 := s.Execution(t.Context(), root)
	content, err2 := s.Definition(t.Context(), e.Definition)
	runs, err3 := s.ActionRuns(t.Context(), root)
	metrics, err4 := s.Metrics(t.Context(), root)
	links, err5 := s.Snapshots(t.Context(), root)
	page, err6 := s.Logs(t.Context(), storage.LogQuery{Root: root, Limit: 10_000})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, s.Close()); err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%+v %s %+v %+v %+v", e, content, *runs[0].Result, runs, links)
	all += fmt.Sprintf("%+v %+v %+v %+v", *metrics[0].Sink, page.Entries, e.Replay, values.String())
	if !bytes.Contains([]byte(all), []byte(storage.RedactedText)) {
		t.Error("nothing was redacted")
	}
	for _, secret := range Secrets {
		if bytes.Contains([]byte(all), []byte(secret)) {
			t.Errorf("%q is stored in clear", secret)
		}
	}
}
