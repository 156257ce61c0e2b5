package workflow

import (
	"fmt"

	"sluice/engine/action"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Finding is one problem of one action.
type Finding struct {
	Action string
	transform.Problem
}

// String gives one line: severity, action, setting, message, hint.
func (f Finding) String() string {
	s := fmt.Sprintf("%s: action %q: %s", f.Severity, f.Action, settingText(f.Problem))
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// HasErrors says whether a finding keeps the workflow from running as it should.
func HasErrors(list []Finding) bool {
	for _, f := range list {
		if f.Severity == transform.Err {
			return true
		}
	}
	return false
}

// Check loads a workflow and tells what is wrong with the actions that hops lead
// to, without running one. The error is for a file that cannot be used at all.
func (r *Runner) Check(run Run) ([]Finding, error) {
	g, err := r.load(&run)
	if err != nil {
		return nil, &pipeline.UnusableError{Err: err}
	}
	d := &design{vars: run.scope(g), metadata: r.Pipelines.Metadata}
	var list []Finding
	for _, n := range g.Nodes {
		if !n.reachable {
			if n != g.start {
				list = append(list, Finding{n.Name, transform.Problem{Severity: transform.Note, Message: "no enabled hop leads here; it does not run"}})
			}
			continue
		}
		problems := n.Problems
		missing, err := n.Definition.Missing(n.Settings)
		if err != nil {
			return nil, err
		}
		problems = append(problems, missing...)
		if c, ok := n.Settings.(action.Checker); ok {
			for p := range c.Check(d) {
				problems = append(problems, p)
			}
		}
		for _, h := range n.Hops {
			if n.Definition.Unconditional && !h.Unconditional {
				problems = append(problems, transform.Warnf("", "the hop to %q is never followed: %s has no outcome", h.To.Name, n.Definition.Name))
			}
		}
		for _, p := range problems {
			list = append(list, Finding{n.Name, p})
		}
	}
	return list, nil
}

// Variables gives the variables that the actions of a workflow would see, without
// running one.
func (r *Runner) Variables(run Run) (*project.Variables, error) {
	g, err := r.load(&run)
	if err != nil {
		return nil, &pipeline.UnusableError{Err: err}
	}
	return run.scope(g), nil
}

// design answers what Check asks.
type design struct {
	vars     *project.Variables
	metadata *project.Metadata
}

// Resolve implements transform.Resolver.
func (d *design) Resolve(text string) (string, error) { return d.vars.Resolve(text) }

// Connection implements action.Design.
func (d *design) Connection(name string) bool {
	_, err := d.metadata.Load(project.TypeRDBMS, name)
	return err == nil
}
