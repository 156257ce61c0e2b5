package workflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Runner prepares workflows from files, with what all executions of one process
// share. It is safe for many goroutines; nothing of it changes after the first
// Prepare.
type Runner struct {
	Actions *action.Registry
	// Pipelines runs the pipelines; files, metadata, clock, log and allocator are
	// its own. Connect makes it run workflows for executor transforms.
	Pipelines *pipeline.Runner
	Hooks     Hooks
	// Engines are further keys of engineRunConfiguration, besides Local, whose
	// workflows run here.
	Engines []string
	// Reuse gives what a run of an action left in an earlier execution, nil when
	// the action has to run. It is asked only where nothing before the action has
	// run anew. nil: everything runs.
	Reuse func(ctx context.Context, run *ActionRun) (*Recorded, error)
}

// Connect makes the pipelines' runner run the workflows of executor transforms.
func (r *Runner) Connect() { r.Pipelines.Workflow = r.fromTransform }

// Run says what to run and on what ground.
type Run struct {
	File      string           // location of the .hwf
	Workflow  *hopxml.Workflow // instead of reading File
	RunConfig string
	// Scope is the parent's scope; the workflow gets a copy.
	Scope *project.Variables
	// Parameters are values for the workflow's named parameters, Variables are
	// set before they are activated.
	Parameters map[string]string
	Variables  map[string]string
	Previous   transform.Result // borrowed
	Scopes     transform.Scopes // of the enclosing engines
	ParentID   string
	ID         string // UUIDv7; empty: a new one
	RootID     string // of the top of the call tree; empty: this execution
	CallPath   engine.CallPath
	// Fresh says that something before this run was not reused, so that nothing in
	// it may be.
	Fresh   bool
	StartAt string       // name of the action to start at; empty: the Start action
	Log     *slog.Logger // nil: the runner's
	parents []string     // files of the workflows that run this one, outermost first
}

// Prepare loads the workflow and checks that all its actions can run; nothing is
// started. Errors are *pipeline.UnusableError.
func (r *Runner) Prepare(run Run) (*Execution, error) {
	g, err := r.load(&run)
	if err != nil {
		return nil, &pipeline.UnusableError{Err: err}
	}
	for _, n := range g.Nodes {
		for _, p := range n.Problems {
			if n.reachable && p.Severity == transform.Err {
				return nil, &pipeline.UnusableError{Err: &engine.Error{Message: fmt.Sprintf("action %q: %s", n.Name, settingText(p)), Hint: p.Hint}}
			}
		}
	}
	if err := run.identify(); err != nil {
		return nil, err
	}
	if run.Log == nil {
		run.Log = r.Pipelines.Log
	}
	if run.Log == nil {
		run.Log = slog.New(slog.DiscardHandler)
	}
	return newExecution(r, g, run), nil
}

// identify gives the run its id and its place.
func (run *Run) identify() error {
	if run.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("new execution id: %w", err)
		}
		run.ID = id.String()
	}
	if run.RootID == "" {
		run.RootID = run.ID
	}
	return nil
}

func settingText(p transform.Problem) string {
	if p.Setting == "" {
		return p.Message
	}
	return "setting " + p.Setting + ": " + p.Message
}

func (r *Runner) load(run *Run) (*Graph, error) {
	if err := r.configuration(run.RunConfig, run.Scope); err != nil {
		return nil, err
	}
	if run.Workflow == nil {
		w, path, err := r.open(run.File)
		if err != nil {
			return nil, err
		}
		run.Workflow = w
		if slices.Contains(run.parents, path) {
			return nil, &engine.Error{Message: fmt.Sprintf("workflow %s runs itself", path), Hint: "a workflow cannot be run from within itself; loop with a hop back, or with the Repeat action"}
		}
		run.parents = append(append([]string(nil), run.parents...), path)
	}
	return Load(run.Workflow, r.Actions, run.StartAt)
}

// open reads a workflow file; the errors say what to do. Path is the local path.
func (r *Runner) open(location string) (w *hopxml.Workflow, path string, err error) {
	path, ok := project.LocalPath(location)
	if !ok {
		return nil, path, &engine.Error{Message: fmt.Sprintf("workflow %s is not on this machine", location), Hint: "copy it to a local folder"}
	}
	if path == "" {
		return nil, path, &engine.Error{Message: "no workflow file is named", Hint: "give the file of the workflow"}
	}
	d, err := r.Pipelines.Document(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, &engine.Error{Message: fmt.Sprintf("there is no workflow file %s", path), Hint: "check the path and the variables in it", Err: err}
	}
	if err != nil {
		return nil, path, err
	}
	w, err = d.Workflow()
	return w, path, err
}

func (r *Runner) configuration(name string, scope *project.Variables) error {
	name, err := scope.Resolve(name)
	if err != nil {
		return err
	}
	if name == "" {
		if name = r.Pipelines.Metadata.DefaultRunConfiguration(project.TypeWorkflowRunConfiguration); name == "" {
			name = project.LocalRunConfiguration
		}
	}
	c, err := r.Pipelines.Metadata.WorkflowRunConfiguration(name)
	if err != nil {
		return fmt.Errorf("run configuration %q: %w", name, err)
	}
	if c.Engine != project.EngineLocal && !slices.Contains(r.Engines, c.Engine) {
		return &engine.Error{
			Message: fmt.Sprintf("run configuration %q uses the engine %s, which is not supported", name, c.Engine),
			Hint:    "choose a run configuration with the Local engine",
		}
	}
	return nil
}

// scope makes the workflow's variables: the parent's, the internal ones, the
// given ones and the activated parameters.
func (run *Run) scope(g *Graph) *project.Variables {
	v := project.NewVariables()
	if run.Scope != nil {
		v = run.Scope.Child()
	}
	file := run.File
	if file == "" {
		file = g.File
	}
	project.SetWorkflowVariables(v, project.Running{File: file, Name: g.Name, ID: run.ID, ParentID: run.ParentID})
	v.SetAll(run.Variables)
	given, _ := project.WithValues(g.Parameters, run.Parameters)
	project.ActivateParameters(v, given)
	return v
}

// fromTransform runs a workflow for an executor transform.
func (r *Runner) fromTransform(ctx context.Context, parent *pipeline.Execution, c transform.Child) (transform.Result, error) {
	e, err := r.Prepare(Run{
		File: c.File, RunConfig: c.RunConfig, Scope: parent.ChildScope(c.InheritAll), Parameters: c.Variables, Variables: c.Variables,
		Previous: transform.Result{Rows: c.Rows}, Scopes: parent.Enclosing(), ParentID: parent.ID(), Log: parent.Log(),
		RootID: parent.RootID(), CallPath: parent.ChildPath(c.By), Fresh: parent.Fresh(),
		parents: workflowsAbove(ctx),
	})
	if err != nil {
		return transform.Result{}, err
	}
	result, err := e.Run(ctx)
	if err != nil && ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	return result, nil
}

// parentsKey carries the files of the workflows above through pipelines that run
// workflows, so that a circle is found.
type parentsKey struct{}

func workflowsAbove(ctx context.Context) []string {
	list, _ := ctx.Value(parentsKey{}).([]string)
	return list
}
