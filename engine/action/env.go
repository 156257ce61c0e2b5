package action

import (
	"context"
	"log/slog"
	"time"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Env is everything an action may touch, apart from its result. There are no
// globals.
type Env struct {
	Action string
	Number int // of this run among all action runs of the workflow, from 0
	Turn   int // how often this action has run before in this execution

	Vars      *project.Variables // the action's own scope, a copy of the workflow's
	Alloc     *batch.Allocator
	Semantics *batch.Semantics
	Location  *time.Location
	Log       *slog.Logger
	Now       func() time.Time // for values that are stored
	Files     files.Store
	Metadata  *project.Metadata
	Databases transform.Databases
	Scopes    Scopes
	Children  Children
	Workflow  WorkflowFacts

	// Stop ends the workflow after this action: no hop is followed any more.
	Stop func()
	// EndRepeat asks the Repeat action that runs this workflow to end its loop.
	EndRepeat func()
}

// Resolve replaces the variables of the action's scope.
func (e *Env) Resolve(text string) (string, error) { return e.Vars.Resolve(text) }

// WorkflowFacts name the running workflow.
type WorkflowFacts struct {
	Name       string
	File       string // path, empty when it was never saved
	ID         string
	Parameters map[string]string // values of its own parameters
}

// ResultFile makes an entry for the result's files.
func (e *Env) ResultFile(path, kind string) transform.ResultFile {
	return transform.ResultFile{Path: path, Type: kind, Origin: e.Action, Parent: e.Workflow.Name, Timestamp: e.Now()}
}

// The types of result files.
const (
	FileGeneral = "GENERAL"
	FileLog     = "LOG"
)

// Scope says whose variable is set (reference 5.6).
type Scope int

// The scopes of actions.
const (
	ScopeWorkflow Scope = iota // the workflow the action is in
	ScopeParent                // also the engine that runs the workflow
	ScopeGrandParent
	ScopeRoot    // all enclosing engines
	ScopeProcess // the same, and what starts later in this process
)

// Scopes sets and reads variables of the workflow and of what encloses it.
type Scopes interface {
	// Set sets a variable in the workflow (and the action's own scope) and above.
	// ErrNoParent means that there is no enclosing engine.
	Set(name, value string, scope Scope) error
	// Variable reads a variable as the workflow, or the engine above, has it.
	Variable(name string, scope Scope) (string, bool)
}

// Child is a pipeline or workflow that an action runs.
type Child struct {
	File      string
	RunConfig string
	// Call says which parameters the child gets; the engine fills in Declared and
	// sets what belongs to the action's own scope (Call.Scope).
	Call project.ChildCall
	// Variables are set in the child before its parameters are activated.
	Variables map[string]string
	Previous  transform.Result // borrowed
	Log       *slog.Logger     // nil: the action's
}

// Ended is how a child ended. The caller owns the rows of the result.
type Ended struct {
	Result
	Err       error              // why the child failed; nil when it did not
	Scope     *project.Variables // of the child at its end
	EndRepeat bool               // an EndRepeat action ran in the child
}

// Tested is what a pipeline unit test found.
type Tested struct {
	Passed      bool
	Rows        int // golden rows compared
	Differences []string
	Warnings    []string
	Err         error
}

// Children runs pipelines, workflows and unit tests. An error means that the
// child could not be started; a child that failed is in the answer.
type Children interface {
	RunPipeline(ctx context.Context, c Child) (*Ended, error)
	RunWorkflow(ctx context.Context, c Child) (*Ended, error)
	// StartPipeline and StartWorkflow do not wait for the child's end; the
	// workflow's execution does. The error is for a child that cannot be used.
	StartPipeline(ctx context.Context, c Child) error
	StartWorkflow(ctx context.Context, c Child) error
	RunTest(ctx context.Context, name string) Tested
}
