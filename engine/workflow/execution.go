package workflow

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Execution is one run of a workflow, made by Prepare. Its methods are safe for
// many goroutines.
type Execution struct {
	runner    *Runner
	graph     *Graph
	run       Run
	vars      *project.Variables
	semantics *batch.Semantics
	log       *slog.Logger
	started   time.Time

	stopping chan struct{} // closed when no further action starts
	detached sync.WaitGroup

	mu        sync.Mutex // guards what follows
	cancel    context.CancelCauseFunc
	closed    bool // stopping is closed
	stopped   bool // by a user, not by an Abort action
	endRepeat bool
	running   map[stopper]bool // children under way
	runs      int              // action runs so far
	turns     map[*Node]int
	variables map[string]string // set by actions and children
}

// stopper is a child that can be asked to end.
type stopper interface{ Stop(safe bool) }

func newExecution(r *Runner, g *Graph, run Run) *Execution {
	e := &Execution{
		runner: r, graph: g, run: run, vars: run.scope(g), log: run.Log,
		stopping: make(chan struct{}), running: map[stopper]bool{}, turns: map[*Node]int{}, variables: map[string]string{},
	}
	e.semantics = batch.ReadSemantics(e.vars.Get, e.location())
	return e
}

func (e *Execution) location() *time.Location {
	if l := e.runner.Pipelines.Location; l != nil {
		return l
	}
	return time.Local
}

func (e *Execution) now() time.Time {
	if now := e.runner.Pipelines.Now; now != nil {
		return now()
	}
	return time.Now()
}

// ID is the execution's id.
func (e *Execution) ID() string { return e.run.ID }

// RootID is the id of the top of the call tree.
func (e *Execution) RootID() string { return e.run.RootID }

// ParentID is the id of the execution that started this one, empty at the top.
func (e *Execution) ParentID() string { return e.run.ParentID }

// CallPath is where the execution is below the top.
func (e *Execution) CallPath() engine.CallPath { return e.run.CallPath }

// Source gives what the execution was made from.
func (e *Execution) Source() Run { return e.run }

// Name is the workflow's name.
func (e *Execution) Name() string { return e.graph.Name }

// Files gives the files that actions read and write.
func (e *Execution) Files() files.Store {
	if f := e.runner.Pipelines.Files; f != nil {
		return f
	}
	return files.Local{}
}

// Graph is the workflow that runs; it is not changed.
func (e *Execution) Graph() *Graph { return e.graph }

// Scope gives the variables of the workflow; changes are seen by the actions that
// start later.
func (e *Execution) Scope() *project.Variables { return e.vars }

// Enclosing gives the scopes that a child of this execution sets variables in.
func (e *Execution) Enclosing() transform.Scopes { return &enclosing{exec: e} }

// Variables gives the variables that actions and children have set.
func (e *Execution) Variables() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[string]string, len(e.variables))
	maps.Copy(out, e.variables)
	return out
}

// Run executes the workflow to its end, children that nobody waits for included.
// A workflow that failed is told by the result; the error is only for one that
// was stopped: it wraps pipeline.ErrStopped or the context's cause. The caller
// releases Result.Rows.
func (e *Execution) Run(ctx context.Context) (transform.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx = context.WithValue(ctx, parentsKey{}, e.run.parents)
	e.mu.Lock()
	e.cancel = cancel
	if e.stopped {
		cancel(pipeline.ErrStopped)
	}
	e.mu.Unlock()
	e.started = e.now()
	if begin := e.runner.Hooks.Begin; begin != nil {
		log, err := begin(ctx, e)
		if err != nil {
			return transform.Result{Errors: 1, LogChannel: e.run.ID}, err
		}
		if log != nil {
			e.log = log
		}
	}

	last := e.fromStart(ctx)
	e.detached.Wait()
	err := e.outcome(ctx)
	last.Stopped = err != nil
	last.OK = last.OK && last.Errors == 0 && err == nil
	last.Elapsed, last.LogChannel = e.now().Sub(e.started), e.run.ID
	if end := e.runner.Hooks.End; end != nil {
		end(context.WithoutCancel(ctx), e, last.Result, err)
	}
	return last.Result, err
}

func (e *Execution) outcome(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return pipeline.ErrStopped
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fromStart walks from the start, again and again when the start action repeats.
func (e *Execution) fromStart(ctx context.Context) *action.Result {
	for {
		first := &action.Result{Result: e.run.Previous}
		first = first.Clone()
		first.Fresh = e.run.Fresh
		first.OK = false
		last := e.walk(ctx, e.graph.start, first, nil)
		if last == nil {
			last = &action.Result{}
		}
		r, ok := e.graph.start.Settings.(action.Repeater)
		if !ok || !r.Repeats() || e.ended(ctx) || e.run.StartAt != "" {
			return last
		}
		last.Release()
	}
}

// ended says whether no further action is to start.
func (e *Execution) ended(ctx context.Context) bool {
	select {
	case <-e.stopping:
		return true
	default:
		return ctx.Err() != nil
	}
}

// Stop asks for the end. When safe, the action that runs ends by itself, the
// sources of its pipeline stop producing, and no hop is followed after it; else
// everything stops where it is.
func (e *Execution) Stop(safe bool) {
	e.mu.Lock()
	e.stopped = true
	children := make([]stopper, 0, len(e.running))
	for c := range e.running {
		children = append(children, c)
	}
	cancel := e.cancel
	e.mu.Unlock()
	e.endHere()
	for _, c := range children {
		c.Stop(safe)
	}
	if !safe && cancel != nil {
		cancel(pipeline.ErrStopped)
	}
}

// endHere lets no further action start.
func (e *Execution) endHere() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.stopping)
	}
}

// watch notes a child while it runs, so that a stop reaches it.
func (e *Execution) watch(child stopper) (done func()) {
	e.mu.Lock()
	e.running[child] = true
	late := e.stopped
	e.mu.Unlock()
	if late {
		child.Stop(true)
	}
	return func() {
		e.mu.Lock()
		delete(e.running, child)
		e.mu.Unlock()
	}
}

func (e *Execution) markEndRepeat() {
	e.mu.Lock()
	e.endRepeat = true
	e.mu.Unlock()
}

// setVariable sets a variable of the workflow.
func (e *Execution) setVariable(name, value string) {
	e.vars.Set(name, value)
	e.mu.Lock()
	e.variables[name] = value
	e.mu.Unlock()
}

func isStop(err error) bool {
	return errors.Is(err, pipeline.ErrStopped) || errors.Is(err, context.Canceled)
}
