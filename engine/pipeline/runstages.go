package pipeline

import (
	"context"
	"errors"
	"sync"
)

// runStages runs all stages and spools. A failure ends what feeds no open gate;
// the extractions of the gates that do not depend on what failed go on to their
// seal.
func (e *Execution) runStages(ctx context.Context) error {
	r := newRunning(ctx, e)
	defer r.end()
	var group sync.WaitGroup
	for _, s := range e.stages {
		group.Go(func() {
			if err := s.contain(func() error { return s.run(r.stages[s].ctx) }); err != nil {
				r.failed(err, s.members)
			}
		})
	}
	for _, sp := range e.spools {
		group.Go(func() {
			if err := sp.run(r.spools[sp].ctx, e); err != nil {
				r.failed(err, sp.plan.units)
			}
		})
	}
	group.Wait()
	return r.first
}

// life is how long a stage or a spool may run.
type life struct {
	ctx context.Context //nolint:containedctx // of a goroutine that runStages starts and waits for
	end context.CancelCauseFunc
}

// running are the stages and spools of one execution while they run.
type running struct {
	exec   *Execution
	stages map[*stage]life
	spools map[*spooling]life
	needs  map[*spooling]map[*unit]bool // units upstream of each spool

	mu    sync.Mutex // guards what follows
	first error
	dead  map[*spooling]bool
}

func newRunning(ctx context.Context, e *Execution) *running {
	r := &running{exec: e, stages: map[*stage]life{}, spools: map[*spooling]life{}, needs: map[*spooling]map[*unit]bool{}, dead: map[*spooling]bool{}}
	lifeOf := func() life {
		c, end := context.WithCancelCause(ctx)
		return life{c, end}
	}
	for _, s := range e.stages {
		r.stages[s] = lifeOf()
	}
	for _, sp := range e.spools {
		r.spools[sp], r.needs[sp] = lifeOf(), e.upstream(sp.plan)
	}
	return r
}

func (r *running) end() {
	for _, l := range r.stages {
		l.end(nil)
	}
	for _, l := range r.spools {
		l.end(nil)
	}
}

// failed keeps the first error that is more than a consequence, gives up the gates
// that the failed units feed or are, and ends what feeds none of the others.
func (r *running) failed(err error, units []*unit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil || (errors.Is(r.first, context.Canceled) && !errors.Is(err, context.Canceled)) {
		r.first = err
	}
	for sp, needs := range r.needs {
		lost := !sp.cut.Survives()
		for _, u := range units {
			lost = lost || needs[u]
		}
		if lost && !r.dead[sp] {
			r.dead[sp] = true
			r.spools[sp].end(consequence{r.first})
		}
	}
	for s, l := range r.stages {
		if !r.needed(s) {
			l.end(consequence{r.first})
		}
	}
}

// consequence ends what another failure ended: it tells of that one, and counts as
// a cancellation.
type consequence struct{ of error }

func (c consequence) Error() string { return c.of.Error() }

// Is implements what errors.Is asks.
func (c consequence) Is(target error) bool { return target == context.Canceled }

// needed says whether a stage feeds a gate that is still to be sealed.
func (r *running) needed(s *stage) bool {
	for sp, needs := range r.needs {
		if r.dead[sp] {
			continue
		}
		for _, u := range s.members {
			if needs[u] {
				return true
			}
		}
	}
	return false
}
