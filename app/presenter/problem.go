package presenter

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/app/workspace"
	"sluice/engine"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/engine/workflow"
	"sluice/storage/snapshot"
)

// Problem is one line of the list of problems.
type Problem struct {
	Node     string // "" for the whole file
	Setting  string
	Message  string
	Hint     string
	Severity transform.Severity
}

// Check tells what is wrong with a pipeline, errors first. It may ask databases, so
// it runs beside the user interface.
func Check(ctx context.Context, ws *workspace.Workspace, p *hopxml.Pipeline, file string) []Problem {
	findings, err := ws.Runner.Check(ctx, pipeline.Run{File: file, Pipeline: p, Scope: ws.Scope})
	var list []Problem
	for _, f := range findings {
		list = append(list, Problem{Node: f.Transform, Setting: f.Setting, Message: f.Message, Hint: f.Hint, Severity: f.Severity})
	}
	return worstFirst(list, err)
}

// CheckWorkflow tells what is wrong with a workflow, as Check does for a pipeline.
func CheckWorkflow(ws *workspace.Workspace, w *hopxml.Workflow, file string) []Problem {
	findings, err := ws.Workflows.Check(workflow.Run{File: file, Workflow: w, Scope: ws.Scope})
	var list []Problem
	for _, f := range findings {
		list = append(list, Problem{Node: f.Action, Setting: f.Setting, Message: f.Message, Hint: f.Hint, Severity: f.Severity})
	}
	return worstFirst(list, err)
}

// worstFirst sorts problems by severity, behind what makes the file unusable.
func worstFirst(list []Problem, err error) []Problem {
	rank := map[transform.Severity]int{transform.Err: 0, transform.Warning: 1, transform.Note: 2}
	slices.SortStableFunc(list, func(a, b Problem) int { return rank[a.Severity] - rank[b.Severity] })
	for _, e := range flatten(err) {
		list = append([]Problem{problemOf(e)}, list...)
	}
	return list
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if unusable := (*pipeline.UnusableError)(nil); errors.As(err, &unusable) {
		err = unusable.Err
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, flatten(e)...)
		}
		return out
	}
	return []error{err}
}

func problemOf(err error) Problem {
	p := Problem{Message: err.Error(), Severity: transform.Err}
	if at, ok := errors.AsType[*engine.Error](err); ok {
		p.Node = at.Transform
		if at.Message == "" && at.Err != nil {
			p.Message, p.Hint = at.Err.Error(), at.Hint
		}
		if at.Message != "" {
			p.Message, p.Hint = at.Message, at.Hint
			if at.Err != nil {
				p.Message += ": " + at.Err.Error()
			}
		}
	}
	return p
}

// Explain gives what a person reads of an error: what is wrong, and what to do.
func Explain(err error) (message, hint string) {
	p := problemOf(err)
	if p.Node != "" {
		p.Message = p.Node + ": " + p.Message
	}
	if p.Hint == "" {
		p.Hint = strings.TrimSuffix(snapshot.Hint(err), ".") // those of storage
	}
	return p.Message, p.Hint
}
