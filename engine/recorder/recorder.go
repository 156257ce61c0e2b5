// Package recorder writes what executions do into an execution store, as it
// happens, and into the portable record beside the snapshots.
//
// A Recorder belongs to one root execution and everything below it. It is told
// by the engines (pipeline.Watcher, workflow.Hooks) and by the gates, and it
// never changes what runs, with two exceptions: what cannot be recorded at its
// start is refused, and an execution that has lost its right to write is stopped.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/workflow"
	"sluice/storage"
	"sluice/storage/record"
)

// Options say where to record, and what is known beforehand.
type Options struct {
	Store   storage.ExecutionStore
	Secrets gate.Secrets          // makes secrets comparable without keeping them
	Values  *storage.SecretValues // gets every secret that is seen; the store's redactor
	Log     *slog.Logger
	Now     func() time.Time

	Who, Reason string
	LogLevel    string
	// ReplayOf is the execution that is replayed, Replay what was chosen for it,
	// and Lease the lease on its root, when the caller has it already.
	ReplayOf string
	Origin   string // of the chain of ReplayOf, where that is not in the store
	Replay   *storage.ReplayChoice
	Lease    *storage.HeldLease
	// Entries are the decisions of the replay's plan, for the log.
	Entries []storage.ReplayEntry

	// Portable are the options of the record at remote locations.
	Portable record.Options
	// SampleEvery is how often counters are saved; 0 is a second.
	SampleEvery time.Duration
}

// Recorder records one root execution and what is below it. Its methods are safe
// for many goroutines.
type Recorder struct {
	o      Options
	policy *project.SecretPolicy

	mu        sync.Mutex // guards what follows
	live      map[string]*live
	runs      map[engine.CallPath]map[string]*turn // action runs under way
	root      string
	lease     *storage.HeldLease
	portables map[string]*portable // by location
	session   *gate.Session
	trouble   error   // the first thing that was not recorded
	rows      encoded // the rows that were encoded last
	sums      map[string]fileSum
}

// live is an execution that has not ended.
type live struct {
	id, root string
	stop     func(safe bool)
	sampler  func() // ends the sampling and saves the last counters
}

// New makes a recorder.
func New(o Options) *Recorder {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.SampleEvery == 0 {
		o.SampleEvery = time.Second
	}
	if o.Values == nil {
		o.Values = &storage.SecretValues{}
	}
	if o.Portable.Redact == nil {
		o.Portable.Redact = o.Values.Redact
	}
	return &Recorder{
		o: o, policy: project.NewSecretPolicy(project.DefaultSecretPatterns()), lease: o.Lease,
		live: map[string]*live{}, runs: map[engine.CallPath]map[string]*turn{}, portables: map[string]*portable{}, sums: map[string]fileSum{},
	}
}

// Attach makes the runners tell the recorder. Other hooks than those of the
// recorder stay.
func (r *Recorder) Attach(p *pipeline.Runner, w *workflow.Runner) {
	p.Watcher = r
	if w == nil {
		return
	}
	ended := w.Hooks.Ended
	w.Hooks.Begin, w.Hooks.End, w.Hooks.Started = r.beginWorkflow, r.endWorkflow, r.startAction
	w.Hooks.Ended = func(run *workflow.ActionRun) {
		r.endAction(run)
		if ended != nil {
			ended(run)
		}
	}
}

// Follow makes the recorder link the snapshots that a session binds. The session
// tells of those that are written through Told.
func (r *Recorder) Follow(s *gate.Session) {
	r.mu.Lock()
	r.session = s
	r.mu.Unlock()
}

// Root is the id of the root execution, empty before it has begun.
func (r *Recorder) Root() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.root
}

// Trouble is the first fact that could not be recorded while executions ran.
func (r *Recorder) Trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble
}

// begin creates an execution in the store.
func (r *Recorder) begin(ctx context.Context, n storage.NewExecution) error {
	r.mu.Lock()
	root := r.root
	known := n.Parent == "" || r.live[n.Parent] != nil
	r.mu.Unlock()
	if !known {
		return errUnknownParent
	}
	n.File = absolute(n.File)
	n.State, n.Who, n.LogLevel = storage.StateRunning, r.o.Who, r.o.LogLevel
	n.Started = r.o.Now()
	if n.Parent == "" {
		if root != "" {
			return fmt.Errorf("a recorder is for one root execution, and has %s", root)
		}
		n.ReplayOf, n.Origin, n.Replay, n.Reason = r.o.ReplayOf, r.o.Origin, r.o.Replay, r.o.Reason
		lease, err := r.takeLease(ctx, n)
		if err != nil {
			return err
		}
		n.Lease = lease
		root = n.ID
	}
	if _, err := r.o.Store.Create(ctx, n); err != nil {
		return fmt.Errorf("record execution: %w", err)
	}
	r.mu.Lock()
	r.root = root
	r.live[n.ID] = &live{id: n.ID, root: root}
	r.mu.Unlock()
	r.note(ctx, storage.LogEntry{Execution: n.ID, Root: root, Data: storage.StartedEntry{Source: n.File}})
	if n.Parent == "" {
		for _, e := range r.o.Entries {
			r.note(ctx, storage.LogEntry{Execution: n.ID, Root: root, Node: e.Unit, Data: e})
		}
		go r.watchLoss(n.ID)
	}
	return nil
}

// absolute makes the name of a file of this machine independent of the folder
// that the process is in.
func absolute(file string) string {
	path, local := project.LocalPath(file)
	if !local || path == "" {
		return file
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return file
}

// errUnknownParent: the parent is not recorded (a unit test), so its children
// are not.
var errUnknownParent = errors.New("the parent is not recorded")

// takeLease makes sure that one execution of a chain of replays runs at a time.
func (r *Recorder) takeLease(ctx context.Context, n storage.NewExecution) (*storage.HeldLease, error) {
	r.mu.Lock()
	held := r.lease
	r.mu.Unlock()
	if held != nil {
		return held, nil
	}
	origin := n.ID
	if n.ReplayOf != "" {
		of, err := r.o.Store.Execution(ctx, n.ReplayOf)
		if err != nil {
			return nil, fmt.Errorf("execution to replay: %w", err)
		}
		origin = of.Origin
	}
	lease, err := r.o.Store.Acquire(ctx, LeaseName(origin), n.ID)
	if err != nil {
		return nil, fmt.Errorf("another run of this chain of replays is active: %w", err)
	}
	r.mu.Lock()
	r.lease = &lease
	r.mu.Unlock()
	return &lease, nil
}

// LeaseName is the lease that one execution of a chain of replays has.
func LeaseName(origin string) string { return "root/" + origin }

// watchLoss stops everything when this process was declared dead.
func (r *Recorder) watchLoss(root string) {
	<-r.o.Store.Lost()
	r.mu.Lock()
	l := r.live[root]
	r.mu.Unlock()
	if l != nil && l.stop != nil {
		r.o.Log.Error("This process was declared dead, so it stops", "execution_id", root)
		l.stop(false)
	}
}

// end closes an execution.
func (r *Recorder) end(ctx context.Context, id string, state storage.State, message string, counts storage.Counts) {
	r.mu.Lock()
	l := r.live[id]
	r.mu.Unlock()
	if l == nil {
		return
	}
	if l.sampler != nil {
		l.sampler()
	}
	r.note(ctx, storage.LogEntry{Execution: id, Root: l.root, Data: storage.TaskResultEntry{Counts: counts, State: state, Error: message}})
	_, err := r.o.Store.Transition(ctx, id, storage.Change{To: state, At: r.o.Now(), Message: message})
	r.failed("end of execution", err)
	r.mu.Lock()
	delete(r.live, id)
	isRoot, lease := id == r.root, r.lease
	r.mu.Unlock()
	if !isRoot {
		r.touch(ctx, false)
		return
	}
	r.touch(ctx, true)
	r.closePortables(ctx)
	if lease != nil && r.o.Lease == nil {
		r.failed("lease", r.o.Store.Release(ctx, *lease))
	}
}

// note adds a log entry.
func (r *Recorder) note(ctx context.Context, e storage.LogEntry) {
	if e.Time.IsZero() {
		e.Time = r.o.Now()
	}
	r.failed("log entry", r.o.Store.Log(ctx, e))
}

// failed keeps the first thing that was not recorded, and says so once.
func (r *Recorder) failed(what string, err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	first := r.trouble == nil
	if first {
		r.trouble = fmt.Errorf("record %s: %w", what, err)
	}
	root := r.live[r.root]
	r.mu.Unlock()
	if first {
		r.o.Log.Warn("The record of this execution is not complete", "what", what, "err", err)
	}
	if (errors.Is(err, storage.ErrLeaseLost) || errors.Is(err, record.ErrFenced)) && root != nil && root.stop != nil {
		root.stop(false) // somebody else may have taken over
	}
}

var _ pipeline.Watcher = (*Recorder)(nil)
