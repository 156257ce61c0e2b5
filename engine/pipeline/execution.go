package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/spill"
	"sluice/engine/transform"
)

// ErrStopped is the cause of an execution that was asked to stop and did not fail.
var ErrStopped = errors.New("stopped")

// Execution is one run of a pipeline, made by Prepare. Its methods are safe for
// many goroutines.
type Execution struct {
	graph     *Graph
	opts      Options
	facts     transform.PipelineFacts
	semantics *batch.Semantics
	started   time.Time
	layout    *layout
	units     []*unit
	stages    []*stage
	memory    *budget
	spill     *spill.Dir
	shared    *shared
	results   *results
	suppress  []string
	spools    []*spooling
	reused    []TransformCounts // of transforms that did not run because their rows were bound
	rootID    string
	callPath  engine.CallPath
	fresh     bool
	watched   *watched // nil: nobody watches

	stopping chan struct{} // closed on a safe stop
	sniffed  atomic.Pointer[sniffing]

	mu        sync.Mutex // guards what follows
	cancel    context.CancelCauseFunc
	stopped   bool
	safe      bool
	failure   error
	paused    chan struct{} // not nil while paused; closed on resume
	variables map[string]setVariable
	children  map[string]int // started so far, by executor transform
}

// Run executes the pipeline to its end. The result is complete in any case; the
// error says why the execution failed, and wraps ErrStopped or the context's
// cause when it was stopped. The caller releases Result.Rows.
func (e *Execution) Run(ctx context.Context) (transform.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.mu.Lock()
	e.cancel = cancel
	if e.stopped || e.failure != nil {
		cancel(ErrStopped)
	}
	e.mu.Unlock()

	err := e.outcome(ctx, e.runStages(ctx))
	err = e.settle(ctx, err)
	if cerr := e.closeAll(); err == nil {
		err = cerr
	}
	e.finalStates(err)
	r := e.result(err)
	e.watched.end(ctx, r, err)
	return r, err
}

// outcome decides between the errors of the stages and a stop.
func (e *Execution) outcome(ctx context.Context, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.failure != nil:
		return e.failure
	case e.stopped:
		return ErrStopped
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return context.Cause(ctx)
	}
	return err
}

// Reused gives the counts of transforms that did not run because their rows came
// from a snapshot.
func (e *Execution) Reused() []TransformCounts { return e.reused }

// settle commits or aborts the sinks that have not seen the end of their rows: a
// stop without error commits, a failure aborts.
func (e *Execution) settle(ctx context.Context, err error) error {
	ctx = context.WithoutCancel(ctx)
	commit := err == nil || errors.Is(err, ErrStopped)
	for _, u := range e.units {
		sink, ok := u.proc.(transform.Sink)
		if !ok || u.settled {
			continue
		}
		u.settled = true
		var serr error
		if commit {
			serr = sink.Commit(ctx)
		} else {
			serr = sink.Abort(ctx)
		}
		if serr != nil && commit {
			err, commit = u.named(serr), false
		} else if serr != nil {
			e.opts.Log.Warn("Output could not be taken back", "transform", u.node.Name, "err", serr)
		}
	}
	return err
}

func (e *Execution) finalStates(err error) {
	for _, u := range e.units {
		s := State(u.state.Load())
		if s == Finished || s == Failed {
			continue
		}
		if err != nil && !errors.Is(err, ErrStopped) && failedIn(u, err) {
			u.counters.Errors.Add(1)
			u.setState(Failed, e.opts.Now())
			continue
		}
		u.setState(Stopped, e.opts.Now())
	}
}

// Stop asks for the end: sources stop producing when safe, else everything stops
// where it is.
func (e *Execution) Stop(safe bool) {
	kind := transform.StopNow
	if safe {
		kind = transform.StopSafely
	}
	e.requestStop(kind, "stopped by the user")
}

func (e *Execution) requestStop(kind transform.StopKind, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch kind {
	case transform.StopSafely:
		if !e.safe {
			e.safe = true
			close(e.stopping)
		}
		return
	case transform.StopWithError:
		if e.failure == nil {
			e.failure = errors.New(reason)
		}
	default:
		e.stopped = true
	}
	if e.cancel != nil {
		e.cancel(ErrStopped)
	}
}

// Pause holds the rows back until Resume; transforms finish the batch at hand.
func (e *Execution) Pause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused == nil {
		e.paused = make(chan struct{})
	}
}

// Resume lets a paused execution go on.
func (e *Execution) Resume() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused != nil {
		close(e.paused)
		e.paused = nil
	}
}

// pausePoint waits while the execution is paused.
func (e *Execution) pausePoint(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e.mu.Lock()
	wait := e.paused
	e.mu.Unlock()
	if wait == nil {
		return nil
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *Execution) finishedOf(name string, copy int) <-chan struct{} {
	p := e.layout.plan(name)
	if p == nil {
		return nil
	}
	if copy >= len(p.units) && len(p.units) == 1 && p.copies > copy {
		copy = 0 // the unit stands for all copies
	}
	if copy < 0 || copy >= len(p.units) {
		return nil
	}
	return p.units[copy].finished
}

// setVariable is a variable that a transform (or a child's, when by is empty) set.
type setVariable struct{ value, by string }

func (e *Execution) noteVariable(name, value, by string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.variables == nil {
		e.variables = map[string]setVariable{}
	}
	e.variables[name] = setVariable{value, by}
}

// Variables gives the variables that transforms have set.
func (e *Execution) Variables() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[string]string{}
	for k, v := range e.variables {
		out[k] = v.value
	}
	return out
}

// Suppressed names the sinks that were replaced because of SuppressSinks.
func (e *Execution) Suppressed() []string { return e.suppress }

// Schemas gives the output schemas of a transform, nil when it does not run.
func (e *Execution) Schemas(name string) transform.Schemas {
	if p := e.layout.plan(name); p != nil {
		return p.schemas
	}
	return nil
}

// Metrics gives the counters of every transform copy, in file order. A unit that
// stands for several copies is shown as that many, its rows dealt out.
func (e *Execution) Metrics() []Metrics {
	var list []Metrics
	for _, u := range e.units {
		if !u.hidden {
			list = append(list, u.perCopy()...)
		}
	}
	return list
}

func (u *unit) perCopy() []Metrics {
	m := u.metrics()
	if u.copies == 1 {
		return []Metrics{m}
	}
	list := make([]Metrics, u.copies)
	n := int64(u.copies)
	share := func(total int64, k int) int64 {
		s := total / n
		if int64(k) < total%n {
			s++
		}
		return s
	}
	for k := range list {
		c := m
		c.Copy = k
		for _, v := range []*int64{&c.Read, &c.Written, &c.Input, &c.Output, &c.Updated, &c.Rejected, &c.Errors} {
			*v = share(*v, k)
		}
		list[k] = c
	}
	return list
}

func (e *Execution) result(err error) transform.Result {
	r := transform.Result{Stopped: errors.Is(err, ErrStopped), Elapsed: e.opts.Now().Sub(e.started), LogChannel: e.opts.ID}
	for _, u := range e.units {
		for _, m := range u.perCopy() {
			r.Read, r.Written = max(r.Read, m.Read), max(r.Written, m.Written)
			r.Input, r.Output = max(r.Input, m.Input), max(r.Output, m.Output)
			r.Updated, r.Rejected = max(r.Updated, m.Updated), max(r.Rejected, m.Rejected)
			r.Errors += m.Errors
		}
	}
	if err != nil && !r.Stopped && r.Errors == 0 {
		r.Errors = 1
	}
	r.OK = r.Errors == 0
	e.results.mu.Lock()
	r.Rows, r.ResultFiles = e.results.rows, e.results.files
	e.results.mu.Unlock()
	return r
}

var _ io.Closer = (*spill.Dir)(nil)
