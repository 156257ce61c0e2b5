package pipeline

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/transform"
)

// Finding is one problem of one transform.
type Finding struct {
	Transform string
	transform.Problem
}

// String gives one line: severity, transform, setting, message, hint.
func (f Finding) String() string {
	s := fmt.Sprintf("%s: transform %q: ", f.Severity, f.Transform)
	if f.Setting != "" {
		s += f.Setting + ": "
	}
	s += f.Message
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// HasErrors says whether a finding keeps the pipeline from running.
func HasErrors(list []Finding) bool {
	for _, f := range list {
		if f.Severity == transform.Err {
			return true
		}
	}
	return false
}

// Check loads a pipeline and tells what is wrong with it, without starting a
// transform. The error is for a file that cannot be used at all.
func (r *Runner) Check(ctx context.Context, run Run) ([]Finding, error) {
	p := run.Pipeline
	if p == nil {
		var err error
		if p, err = r.Load(run.File); err != nil {
			return nil, unusable(err)
		}
	}
	g, err := Load(p, r.Registry)
	if err != nil {
		return nil, unusable(err)
	}
	config, err := r.configuration(run.RunConfig, run.Scope)
	if err != nil {
		return nil, unusable(err)
	}
	o := Options{Vars: run.scope(g, config), Metadata: r.Metadata, Files: r.Files, Log: r.Log, Now: r.Now, Location: r.Location, Alloc: r.Alloc}
	if r.Databases != nil {
		o.Databases = r.Databases(o.Vars, r.Alloc)
	}
	o.defaults()
	e := newExecution(g, o)
	list, err := e.check(ctx)
	return list, errors.Join(err, e.closeAll())
}

func (e *Execution) check(ctx context.Context) ([]Finding, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var list []Finding
	for _, n := range e.graph.Nodes {
		if n.Disabled || n.Settings == nil {
			continue
		}
		for _, p := range n.Problems {
			list = append(list, Finding{n.Name, p})
		}
		problems, err := n.Definition.Missing(n.Settings)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			list = append(list, Finding{n.Name, p})
		}
	}
	l, err := newLayout(e.graph, e.opts.Vars, nil, nil)
	if err != nil {
		return list, unusable(err)
	}
	e.layout = l
	d := &liveDesign{exec: e}
	if err := l.computeSchemas(func(*plan) transform.Design { return d }); err != nil {
		return list, unusable(err)
	}
	for _, p := range l.plans {
		c, ok := p.node.Settings.(transform.Checker)
		if !ok {
			continue
		}
		for problem := range c.Check(p.links, d) {
			list = append(list, Finding{p.node.Name, problem})
		}
	}
	return list, nil
}
