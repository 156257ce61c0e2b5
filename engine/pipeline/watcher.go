package pipeline

import (
	"context"
	"sync"

	"sluice/engine/transform"
)

// Watcher is told of executions. Its methods are called by the goroutine that
// prepares or runs the execution, for several executions at once.
type Watcher interface {
	// Begin comes before anything is opened; it may put another log into the
	// options. An error refuses the execution, and no End follows.
	Begin(ctx context.Context, p *Preparation) error
	// Running gives the execution once it is prepared.
	Running(p *Preparation, e *Execution)
	// End comes once after each Begin, also when the execution could not be
	// prepared (Running was not called then). The rows of r are borrowed.
	End(ctx context.Context, p *Preparation, r transform.Result, err error)
}

// watched is one execution that a Watcher knows. A nil one does nothing.
type watched struct {
	by   Watcher
	p    *Preparation
	once sync.Once // guards the call of End
}

// begin tells the watcher, unless the run is a preview or a unit test.
func (r *Runner) begin(ctx context.Context, p *Preparation) (*watched, error) {
	if r.Watcher == nil || p.Run.Rehearsal() {
		return nil, nil
	}
	if err := r.Watcher.Begin(ctx, p); err != nil {
		return nil, err
	}
	return &watched{by: r.Watcher, p: p}, nil
}

func (w *watched) running(e *Execution) {
	if w != nil {
		w.by.Running(w.p, e)
	}
}

func (w *watched) end(ctx context.Context, r transform.Result, err error) {
	if w != nil {
		w.once.Do(func() { w.by.End(context.WithoutCancel(ctx), w.p, r, err) })
	}
}

// Rehearsal says whether the run is a preview or a unit test: nothing of it is
// kept.
func (run *Run) Rehearsal() bool { return run.SuppressSinks || run.Until != "" || run.Edit != nil }
