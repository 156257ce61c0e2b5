package recorder

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/workflow"
	"sluice/storage"
)

// turn is an action run under way: what its workflow had set when it started.
type turn struct {
	before map[string]string
	scope  *project.Variables
}

func nameOf(name, file string) string {
	if name != "" {
		return name
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func (r *Recorder) beginWorkflow(ctx context.Context, e *workflow.Execution) (*slog.Logger, error) {
	run := e.Source()
	file := run.File
	if file == "" {
		file = run.Workflow.Document.Name()
	}
	err := r.begin(ctx, storage.NewExecution{
		Execution: storage.Execution{
			ExecutionHead: storage.ExecutionHead{
				ID: e.ID(), Parent: run.ParentID, CallPath: string(run.CallPath), Kind: storage.KindWorkflow, Name: nameOf(e.Name(), file), File: file,
			},
			RunConfiguration: run.RunConfig,
			Parameters:       r.parameters(e.Scope(), e.Graph().Parameters),
			Variables:        r.variables(e.Scope()),
		},
		Content: WithoutSecrets(run.Workflow.Document.Bytes()),
	})
	if errors.Is(err, errUnknownParent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.live[e.ID()].stop = e.Stop
	r.mu.Unlock()
	return r.logger(run.Log, e.ID(), e.RootID()), nil
}

func (r *Recorder) endWorkflow(ctx context.Context, e *workflow.Execution, result transform.Result, err error) {
	state, message := stateOf(result, err)
	r.end(ctx, e.ID(), state, message, storage.Counts{Read: result.Input, Committed: result.Output, Erroneous: result.Rejected})
	r.mu.Lock()
	delete(r.runs, e.CallPath())
	r.mu.Unlock()
}

func (r *Recorder) recorded(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[id] != nil
}

// base are the facts of an action run that do not change.
func base(run *workflow.ActionRun) storage.ActionRun {
	return storage.ActionRun{
		ActionKey: storage.ActionKey{Root: run.Execution.RootID(), CallPath: string(run.CallPath), Node: run.Action, Ordinal: run.Ordinal()},
		Execution: run.Execution.ID(), Attempts: run.Attempt, Started: run.Started,
	}
}

func (r *Recorder) startAction(run *workflow.ActionRun) {
	if !r.recorded(run.Execution.ID()) {
		return
	}
	r.mu.Lock()
	at := r.runs[run.CallPath]
	if at == nil {
		at = map[string]*turn{}
		r.runs[run.CallPath] = at
	}
	key := turnKey(run)
	if at[key] == nil {
		scope := run.Execution.Scope().Child()
		at[key] = &turn{before: run.Execution.Variables(), scope: scope}
	}
	r.mu.Unlock()
	a := base(run)
	a.State = storage.ActionRunning
	r.failed("action run", r.o.Store.SaveActionRun(context.Background(), a))
}

func turnKey(run *workflow.ActionRun) string {
	return string(engine.CallPath("").Child(run.Action, run.Ordinal(), 1))
}

func (r *Recorder) endAction(run *workflow.ActionRun) {
	if !r.recorded(run.Execution.ID()) {
		return
	}
	ctx := context.Background()
	a := base(run)
	if run.Again {
		a.State, a.Message = storage.ActionRunning, messageOf(run.Err)
		r.failed("action run", r.o.Store.SaveActionRun(ctx, a))
		return
	}
	r.mu.Lock()
	t := r.runs[run.CallPath][turnKey(run)]
	delete(r.runs[run.CallPath], turnKey(run))
	r.mu.Unlock()
	after := run.After
	a.Ended, a.Message, a.ReusedFrom = run.Ended, messageOf(run.Err), run.ReusedFrom
	a.State = actionState(run)
	a.Result = &storage.ActionResult{
		OK: after.OK, Stopped: after.Stopped, Errors: after.Errors, Read: after.Read, Written: after.Written, Input: after.Input, Output: after.Output,
		Updated: after.Updated, Rejected: after.Rejected, Deleted: after.Deleted, Files: after.Files, ExitStatus: after.ExitStatus,
		Entry: after.EntryNumber, LogText: after.LogText,
	}
	if n := len(run.Children); n > 0 {
		a.Child = run.Children[n-1]
	}
	var err error
	a.Rows, err = r.encode(after.Rows)
	r.failed("result rows", err)
	a.Files = r.files(ctx, run.Execution.Files(), after.ResultFiles)
	scope := run.Execution.Scope()
	for _, name := range slices.Sorted(maps.Keys(run.Set)) {
		v := r.variable(scope, name, run.Set[name])
		if above, ok := run.Above[name]; ok {
			v.Above = scopeNames[above]
		}
		a.After = append(a.After, v)
		if t == nil {
			continue
		}
		if value, ok := t.scope.Get(name); ok {
			a.Before = append(a.Before, r.variable(scope, name, value))
		}
	}
	r.failed("action run", r.o.Store.SaveActionRun(ctx, a))
	r.touch(ctx, false)
}

func actionState(run *workflow.ActionRun) storage.ActionState {
	switch {
	case run.ReusedFrom != "":
		return storage.ActionReused
	case run.After.Stopped && run.Err != nil && errors.Is(run.Err, pipeline.ErrStopped), errors.Is(run.Err, context.Canceled):
		return storage.ActionStopped
	case run.Err != nil || run.After.Errors > 0:
		return storage.ActionFailed
	case !run.After.OK:
		return storage.ActionFailed
	}
	return storage.ActionSucceeded
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
