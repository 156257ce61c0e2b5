package workflow

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"sluice/engine/action"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/unittest"
)

// children runs what an action starts.
type children struct {
	exec *Execution
	run  *ActionRun
	vars *project.Variables
	log  *slog.Logger
}

// enclosing are the scopes above a child of the action.
func (c *children) enclosing() transform.Scopes { return &enclosing{exec: c.exec, run: c.run} }

// location gives the name of a child's file. A file written on Windows may have
// backslashes in it; Hop takes them for slashes, so when there is no such file,
// so do we.
func location(file string) string {
	if !strings.Contains(file, `\`) || project.Scheme(file) != "" {
		return file
	}
	if _, err := os.Stat(file); err == nil {
		return file
	}
	return strings.ReplaceAll(file, `\`, "/")
}

// pipelines is the runner with the log of the action.
func (c *children) pipelines(log *slog.Logger) *pipeline.Runner {
	r := *c.exec.runner.Pipelines
	r.Log = log
	return &r
}

func (c *children) logOf(child action.Child) *slog.Logger {
	if child.Log != nil {
		return child.Log
	}
	return c.log
}

// RunPipeline implements action.Children.
func (c *children) RunPipeline(ctx context.Context, child action.Child) (*action.Ended, error) {
	e, err := c.preparePipeline(ctx, child)
	if err != nil {
		return nil, err
	}
	defer c.exec.watch(e)()
	return c.finishPipeline(ctx, e), nil
}

func (c *children) finishPipeline(ctx context.Context, e *pipeline.Execution) *action.Ended {
	r, err := e.Run(ctx)
	ended := &action.Ended{Result: action.Result{Result: r}, Scope: e.Scope()}
	if err != nil && (!isStop(err) || ctx.Err() != nil) {
		ended.Err = err
	}
	return ended
}

func (c *children) preparePipeline(ctx context.Context, child action.Child) (*pipeline.Execution, error) {
	child.File = location(child.File)
	runner := c.pipelines(c.logOf(child))
	p, err := runner.Load(child.File)
	if err != nil {
		return nil, err
	}
	args, err := c.arguments(child, p.Info.Parameters, project.ChildCall.Pipeline)
	if err != nil {
		return nil, err
	}
	e, err := runner.Prepare(ctx, pipeline.Run{
		File: child.File, Pipeline: p, RunConfig: child.RunConfig, Scope: c.vars, Parameters: args.Parameters, Variables: args.Variables,
		Previous: child.Previous, Scopes: c.enclosing(), ParentID: c.exec.run.ID,
		RootID: c.exec.run.RootID, CallPath: c.run.child(), Fresh: c.run.fresh,
	})
	if err != nil {
		return nil, err
	}
	c.run.begot(e.ID())
	if hook := c.exec.runner.Hooks.Pipeline; hook != nil {
		hook(c.run, e)
	}
	return e, nil
}

// arguments gives what the child gets, and sets in the action's own scope what
// belongs there.
func (c *children) arguments(child action.Child, declared []hopxml.Parameter, of func(project.ChildCall) (project.ChildArguments, error)) (project.ChildArguments, error) {
	call := child.Call
	if call.Scope == nil {
		call.Scope = c.vars
	}
	call.Parent = c.exec.facts().Parameters
	for _, p := range declared {
		call.Declared = append(call.Declared, p.Name)
	}
	args, err := of(call)
	if err != nil {
		return args, err
	}
	c.vars.SetAll(args.Action)
	all := maps.Clone(child.Variables)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, args.Variables)
	args.Variables = all
	return args, nil
}

// RunWorkflow implements action.Children.
func (c *children) RunWorkflow(ctx context.Context, child action.Child) (*action.Ended, error) {
	e, err := c.prepareWorkflow(child)
	if err != nil {
		return nil, err
	}
	defer c.exec.watch(e)()
	r, err := e.Run(ctx)
	ended := &action.Ended{Result: action.Result{Result: r}, Scope: e.Scope(), EndRepeat: e.endedRepeat()}
	if err != nil {
		ended.Err = err
	}
	return ended, nil
}

func (e *Execution) endedRepeat() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.endRepeat
}

func (c *children) prepareWorkflow(child action.Child) (*Execution, error) {
	child.File = location(child.File)
	w, _, err := c.exec.runner.open(child.File)
	if err != nil {
		return nil, err
	}
	args, err := c.arguments(child, w.Info.Parameters, project.ChildCall.Workflow)
	if err != nil {
		return nil, err
	}
	e, err := c.exec.runner.Prepare(Run{
		File: child.File, RunConfig: child.RunConfig, Scope: c.vars, Parameters: args.Parameters, Variables: args.Variables,
		Previous: child.Previous, Scopes: c.enclosing(), ParentID: c.exec.run.ID, Log: c.logOf(child), parents: c.exec.run.parents,
		RootID: c.exec.run.RootID, CallPath: c.run.child(), Fresh: c.run.fresh,
	})
	if err != nil {
		return nil, err
	}
	c.run.begot(e.ID())
	if hook := c.exec.runner.Hooks.Workflow; hook != nil {
		hook(c.run, e)
	}
	return e, nil
}

// StartPipeline implements action.Children.
func (c *children) StartPipeline(ctx context.Context, child action.Child) error {
	held := (&action.Result{Result: child.Previous}).Clone()
	child.Previous = held.Result
	e, err := c.preparePipeline(ctx, child)
	if err != nil {
		held.Release()
		return err
	}
	c.detach(held, child, e, func() *action.Ended { return c.finishPipeline(ctx, e) })
	return nil
}

// StartWorkflow implements action.Children.
func (c *children) StartWorkflow(ctx context.Context, child action.Child) error {
	held := (&action.Result{Result: child.Previous}).Clone()
	child.Previous = held.Result
	e, err := c.prepareWorkflow(child)
	if err != nil {
		held.Release()
		return err
	}
	c.detach(held, child, e, func() *action.Ended {
		r, err := e.Run(ctx)
		return &action.Ended{Result: action.Result{Result: r}, Err: err}
	})
	return nil
}

// detach runs a child that nobody waits for but the end of the execution.
func (c *children) detach(held *action.Result, child action.Child, e stopper, run func() *action.Ended) {
	done := c.exec.watch(e)
	log := c.logOf(child)
	c.exec.detached.Go(func() {
		defer done()
		defer held.Release()
		ended := run()
		ended.Release()
		if ended.Err != nil || !ended.OK {
			log.Error("A child that nobody waits for failed", "file", filepath.Base(child.File), "err", ended.Err)
		}
	})
}

// RunTest implements action.Children.
func (c *children) RunTest(ctx context.Context, name string) action.Tested {
	o := unittest.Run(ctx, c.pipelines(c.log), c.vars, project.LocalRunConfiguration, name, c.enclosing())
	return action.Tested{Passed: o.Passed(), Rows: o.Rows, Differences: o.Differences, Warnings: o.Warnings, Err: o.Err}
}

var _ transform.Scopes = (*enclosing)(nil)
