package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// spooling is a cut at work: one tap per part, and the seal when all have ended.
type spooling struct {
	cut   Cut
	plan  *plan
	taps  []*tap
	ready chan struct{} // closed when sealed, or when that cannot happen
	err   error         // set before ready is closed
	parts []PartSpec
}

// tap carries the rows of one route to the spool.
type tap struct {
	spool *spooling
	part  int
	unit  *unit
	queue *queue
}

// tapOutputs puts a tap on every output port of every copy of a plan.
func (e *Execution) tapOutputs(ctx context.Context, p *plan, sp *spooling) error {
	sp.plan = p
	ports := make([]transform.Port, 0, len(p.schemas))
	for port := range p.schemas {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	for _, u := range p.units {
		for _, port := range ports {
			t := &tap{spool: sp, part: len(sp.parts), unit: u}
			t.queue = newQueue(p.schemas[port], false, e.spill)
			t.queue.senders = 1
			sp.taps = append(sp.taps, t)
			sp.parts = append(sp.parts, PartSpec{Port: port, Copy: u.copy, Schema: p.schemas[port]})
			u.routes[port].tap = t
		}
	}
	return sp.cut.Begin(ctx, sp.parts)
}

// run spools the rows of all parts, then seals.
func (sp *spooling) run(ctx context.Context, e *Execution) error {
	defer close(sp.ready)
	errs := make(chan error, len(sp.taps))
	for _, t := range sp.taps {
		go func() {
			err := e.contain(sp.plan.node.Name, func() error { return t.run(ctx, e) })
			if err != nil {
				t.queue.close()
			}
			errs <- err
		}()
	}
	var failed error
	for range sp.taps {
		failed = errors.Join(failed, <-errs)
	}
	if failed == nil {
		failed = e.whyNotSealed(sp.plan)
	}
	if failed == nil {
		failed = sp.cut.Seal(ctx, e.effectsOf(sp.plan))
	}
	if failed != nil {
		sp.err = atTransform(sp.plan.node.Name, failed)
		if err := sp.cut.Interrupt(context.WithoutCancel(ctx), failed.Error()); err != nil {
			e.opts.Log.Warn("Snapshot could not be marked as interrupted", "transform", sp.plan.node.Name, "err", err)
		}
	}
	return sp.err
}

func (t *tap) run(ctx context.Context, e *Execution) error {
	codecs, err := e.semantics.Codecs(t.queue.schema)
	if err != nil {
		return err
	}
	for {
		b, err := t.queue.next(ctx)
		if errors.Is(err, io.EOF) {
			return t.spool.cut.EndPart(ctx, t.part)
		}
		if err != nil {
			return err
		}
		err = t.add(ctx, b, codecs)
		b.Release()
		if err != nil {
			return err
		}
	}
}

func (t *tap) add(ctx context.Context, b *batch.Batch, codecs []*batch.Codec) error {
	typed, err := b.Typed(codecs)
	if err != nil {
		return t.unit.fault(b, err, 0)
	}
	defer typed.Release()
	return t.spool.cut.Add(ctx, t.part, typed)
}

// errNotWhole is why rows that all arrived must not be sealed.
var errNotWhole = errors.New("the source was not read to its end")

// whyNotSealed says why the rows of a plan are not a whole extraction: a transform
// upstream was stopped, aborted or failed. It is nil when all reached their end.
func (e *Execution) whyNotSealed(p *plan) error {
	e.mu.Lock()
	stopped := e.stopped || e.safe
	e.mu.Unlock()
	if stopped {
		return errNotWhole
	}
	for u := range e.upstream(p) {
		if State(u.state.Load()) != Finished {
			return errNotWhole
		}
	}
	return nil
}

// upstream gives the units of a plan and all that feed it.
func (e *Execution) upstream(p *plan) map[*unit]bool {
	seen := map[*unit]bool{}
	var visit func(*plan)
	done := map[*plan]bool{}
	visit = func(q *plan) {
		if done[q] {
			return
		}
		done[q] = true
		for _, u := range q.units {
			seen[u] = true
		}
		if q.origin != nil {
			visit(q.origin)
		}
		for _, w := range q.in {
			visit(w.from)
		}
	}
	visit(p)
	return seen
}

// effectsOf collects what the upstream of a plan left behind.
func (e *Execution) effectsOf(p *plan) Effects {
	up := e.upstream(p)
	names := map[string]bool{}
	out := Effects{Counters: e.shared.values()}
	for _, u := range e.units {
		if !up[u] || u.hidden {
			continue
		}
		names[strings.ToLower(u.node.Name)] = true
		for _, m := range u.perCopy() {
			out.Metrics = append(out.Metrics, TransformCounts{m.Name, m.Copy, m.Read, m.Written, m.Input, m.Output, m.Updated, m.Rejected, m.Errors})
		}
	}
	e.mu.Lock()
	for name, v := range e.variables {
		if v.by == "" || names[strings.ToLower(v.by)] {
			if out.Variables == nil {
				out.Variables = map[string]string{}
			}
			out.Variables[name] = v.value
		}
	}
	e.mu.Unlock()
	e.results.mu.Lock()
	for _, f := range e.results.files {
		if names[strings.ToLower(f.Origin)] {
			out.Files = append(out.Files, f)
		}
	}
	e.results.mu.Unlock()
	return out
}

// giveBack restores the effects of the upstream that does not run.
func (e *Execution) giveBack(b Bound) error {
	eff := b.Effects()
	s := &scopes{exec: e}
	for name, value := range eff.Variables {
		if err := s.SetVariable(name, value, transform.ScopeRoot); err != nil {
			return err
		}
	}
	// Several snapshots of one execution tell of the same transforms above.
	for _, f := range eff.Files {
		if !slices.Contains(e.results.files, f) {
			e.results.AddFile(f)
		}
	}
	e.shared.restore(eff.Counters)
	for _, m := range eff.Metrics {
		same := func(x TransformCounts) bool { return x.Name == m.Name && x.Copy == m.Copy }
		if !slices.ContainsFunc(e.reused, same) {
			e.reused = append(e.reused, m)
		}
	}
	return nil
}
