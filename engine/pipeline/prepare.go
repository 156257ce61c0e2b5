package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/project"
	"sluice/engine/spill"
	"sluice/engine/transform"
)

// Prepare checks a graph and starts its transforms; no row moves yet. On an error
// everything that was started is closed again.
func Prepare(ctx context.Context, g *Graph, o Options) (*Execution, error) {
	o.defaults()
	if o.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("new execution id: %w", err)
		}
		o.ID = id.String()
	}
	e := newExecution(g, o)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := e.prepare(ctx); err != nil {
		_ = e.closeAll() // err says why
		return nil, err
	}
	return e, nil
}

func (e *Execution) prepare(ctx context.Context) error {
	if err := e.cutAfter(e.opts.Until); err != nil {
		return unusable(err)
	}
	e.keepOnly(e.opts.Run)
	for _, n := range e.graph.Nodes {
		for _, p := range n.Problems {
			if p.Severity == transform.Err && !n.Disabled {
				return unusable(&engine.Error{Transform: n.Name, Message: "setting " + p.Setting + ": " + p.Message, Hint: p.Hint})
			}
		}
	}
	if e.opts.SuppressSinks {
		e.suppressSinks()
	}
	for _, b := range e.opts.Bound {
		if err := e.giveBack(b); err != nil {
			return err
		}
	}
	l, err := newLayout(e.graph, e.opts.Vars, e.opts.Cuts, e.opts.Bound)
	if err != nil {
		return unusable(err)
	}
	e.layout = l
	designs := &liveDesign{exec: e}
	if err := l.computeSchemas(func(*plan) transform.Design { return designs }); err != nil {
		return err
	}
	for _, p := range l.plans {
		if err := e.startUnits(p, designs); err != nil {
			return err
		}
	}
	e.connect()
	for _, p := range l.plans {
		if p.spool == nil {
			continue
		}
		if err := e.tapOutputs(ctx, p, p.spool); err != nil {
			return atTransform(p.node.Name, err)
		}
		e.spools = append(e.spools, p.spool)
	}
	e.pruneSources()
	return e.planStages()
}

// cutAfter disables what does not lead to a transform.
func (e *Execution) cutAfter(name string) error {
	if name == "" {
		return nil
	}
	target := e.graph.Node(name)
	if target == nil {
		return &engine.Error{Transform: name, Message: "there is no such transform in the pipeline"}
	}
	keep := map[string]bool{strings.ToLower(target.Name): true}
	for changed := true; changed; {
		changed = false
		for _, h := range e.graph.Hops {
			if from := strings.ToLower(h.From); keep[strings.ToLower(h.To)] && !keep[from] {
				keep[from], changed = true, true
			}
		}
	}
	e.keepOnly(keep)
	return nil
}

// keepOnly takes all other transforms and their hops out, and the hops into
// bound ones.
func (e *Execution) keepOnly(keep map[string]bool) {
	if keep == nil {
		return
	}
	for _, n := range e.graph.Nodes {
		n.Disabled = n.Disabled || !keep[strings.ToLower(n.Name)]
	}
	hops := e.graph.Hops[:0:0]
	for _, h := range e.graph.Hops {
		from, to := strings.ToLower(h.From), strings.ToLower(h.To)
		if keep[from] && keep[to] && e.opts.Bound[to] == nil {
			hops = append(hops, h)
		}
	}
	e.graph.Hops = hops
}

// startUnits makes the copies of a plan. Copies of a stateless transform whose
// rows would only be dealt out to them are one unit: the workers share its work.
func (e *Execution) startUnits(p *plan, design transform.Design) error {
	for c := range p.copies {
		u := &unit{
			node: p.node, copy: c, copies: 1, links: p.links, ports: p.ports, schemas: p.schemas,
			finished: make(chan struct{}), routes: map[transform.Port]*route{}, hidden: p.hidden, mixed: p.mixed,
		}
		p.units = append(p.units, u)
		e.units = append(e.units, u)
		u.env = e.envOf(u, p.copies, design)
		proc, err := p.node.Settings.Start(u.env, p.links)
		if err != nil {
			return atTransform(p.node.Name, err)
		}
		u.proc = proc
		if err := u.checkShape(); err != nil {
			return err
		}
		if u.limits, err = newLimits(p.node.Errors, u.env); err != nil {
			return atTransform(p.node.Name, err)
		}
		if c == 0 && p.copies > 1 && p.canCollapse(u) {
			u.copies = p.copies
			return nil
		}
	}
	return nil
}

func (p *plan) canCollapse(u *unit) bool {
	if transform.ShapeOf(u.proc) != transform.ShapeStateless || p.node.PerCopy || u.limits != nil {
		return false
	}
	if _, ok := u.proc.(transform.Finisher); ok {
		return false
	}
	for _, w := range p.in {
		if !w.from.node.Distribute && !w.targeted {
			return false
		}
	}
	return len(p.in) > 0
}

func (u *unit) checkShape() error {
	ok := false
	switch transform.ShapeOf(u.proc) {
	case transform.ShapeSource:
		_, ok = u.proc.(transform.Source)
	case transform.ShapeStream:
		_, ok = u.proc.(transform.Stream)
	default:
		_, ok = u.proc.(transform.RowWise)
	}
	if !ok {
		return fmt.Errorf("transform %q: %T does not do what its shape says", u.node.Name, u.proc)
	}
	return nil
}

func (e *Execution) envOf(u *unit, copies int, design transform.Design) *transform.Env {
	vars := e.opts.Vars.Child()
	project.SetTransformVariables(vars, project.TransformCopy{Name: u.node.Name, Copy: u.copy, ID: e.opts.ID})
	env := &transform.Env{
		Transform: u.node.Name, Copy: u.copy, Copies: copies,
		Vars: vars, Alloc: e.opts.Alloc, Semantics: e.semantics,
		Log: e.opts.Log.With("transform", u.node.Name), Now: e.opts.Now, Started: e.started,
		Design: design, Files: e.opts.Files, Databases: e.opts.Databases,
		Memory: e.memory, Spill: e.spill, Results: e.results, Scopes: &scopes{exec: e, by: u.node.Name},
		Children: e.opts.Children, Counters: &u.counters, Shared: e.shared, Pipeline: e.facts,
		Stopping: e.stopping, Stop: e.requestStop, Finished: e.finishedOf,
	}
	if env.Children == nil {
		env.Children = noChildren{}
	}
	env.Children = childrenOf{env.Children, u.node.Name}
	if u.node.Errors != nil {
		named := u.node.Errors.Named()
		env.Errors = &named
	}
	return env
}

// connect makes routes and edges between units.
func (e *Execution) connect() {
	for _, p := range e.layout.plans {
		for _, u := range p.units {
			for port := range p.schemas {
				u.routes[port] = &route{port: port, distribute: p.node.Distribute && port != transform.Error}
			}
		}
		for _, w := range p.out {
			for _, u := range p.units {
				e.connectWire(w, u)
			}
		}
	}
}

func (e *Execution) connectWire(w *wire, u *unit) {
	targets := w.to.units
	switch {
	case w.targeted:
		targets = targets[:1]
	case len(w.from.units) == len(targets) && len(targets) > 1:
		targets = targets[u.copy : u.copy+1]
	}
	for _, to := range targets {
		for _, port := range w.out {
			r := u.routes[port]
			if r == nil {
				r = &route{port: port}
				u.routes[port] = r
			}
			edge := &edge{from: u, to: to, wire: w}
			r.edges = append(r.edges, edge)
			to.in = append(to.in, edge)
		}
	}
}

// closeAll gives back everything a started execution holds.
func (e *Execution) closeAll() error {
	var errs []error
	for _, u := range e.units {
		if c, ok := u.proc.(interface{ Close() error }); ok {
			if err := c.Close(); err != nil {
				errs = append(errs, atTransform(u.node.Name, err))
			}
		}
	}
	for _, s := range e.stages {
		s.closeQueues()
	}
	for _, sp := range e.spools {
		for _, t := range sp.taps {
			t.queue.close()
		}
	}
	if c, ok := e.opts.Databases.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	errs = append(errs, e.spill.Close())
	return errors.Join(errs...)
}

func newExecution(g *Graph, o Options) *Execution {
	e := &Execution{
		graph: g, opts: o, started: o.Now(), stopping: make(chan struct{}),
		semantics: batch.ReadSemantics(o.Vars.Get, o.Location),
		spill:     spill.NewDir(o.SpillFolder, o.Alloc),
		memory:    &budget{limit: o.MemoryBytes}, shared: newShared(),
		facts: g.Facts,
	}
	e.facts.ID = o.ID
	e.results = &results{previous: o.Previous}
	return e
}
