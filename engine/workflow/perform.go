package workflow

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Hooks are told what happens; any of them may be nil. They are called by the
// goroutine that runs the action, several at once in parallel sections, and may
// not keep what they are shown.
type Hooks struct {
	// Begin comes before the first action; an error refuses the execution, a log
	// takes the place of its own.
	Begin   func(context.Context, *Execution) (*slog.Logger, error)
	End     func(context.Context, *Execution, transform.Result, error)
	Started func(*ActionRun)
	// Succeeded comes after a try that succeeded, before any hop is followed; its
	// error makes the action a failure.
	Succeeded func(context.Context, *ActionRun) error
	Ended     func(*ActionRun)                      // after each try, the last one when Again is false
	Pipeline  func(*ActionRun, *pipeline.Execution) // a child pipeline is about to run
	Workflow  func(*ActionRun, *Execution)          // a child workflow is about to run
}

// ActionRun is one run, or try, of an action.
type ActionRun struct {
	Execution    *Execution
	Action, Type string
	Number       int             // among all action runs of the execution, from 0
	Turn         int             // among the runs of this action, from 0
	CallPath     engine.CallPath // of the workflow
	Attempt      int             // from 1
	Started      time.Time
	Ended        time.Time
	Before       *action.Result // borrowed, like After
	After        *action.Result // nil until it has ended
	Variables    *project.Variables
	Err          error // why it failed; nil when it did not, or when only its outcome is false
	Again        bool  // it failed and is tried again
	// Set are the variables of the workflow that the action has set, and Children
	// the executions that it has started, in order.
	Set      map[string]string
	Children []string
	// Above are those of Set that were set in what encloses the workflow, too, and
	// how far up.
	Above map[string]transform.Scope
	// ReusedFrom is the root execution whose run was given back instead, empty
	// when the action ran.
	ReusedFrom string

	fresh   bool       // what it was given is
	mu      sync.Mutex // guards started, Set, Above and Children
	started int        // children of this attempt
}

// Ordinal counts the runs of the action in its execution, from 1.
func (r *ActionRun) Ordinal() int { return r.Turn + 1 }

// Recorded is what a run of an action left in an earlier execution.
type Recorded struct {
	Result    action.Result              // owned by the receiver
	Variables map[string]string          // of the workflow that the action had set
	Above     map[string]transform.Scope // those of Variables that it had set further up, and how far
	From      string                     // root execution
}

// child notes an execution that is about to start, and gives its place.
func (r *ActionRun) child() engine.CallPath {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started++
	return r.CallPath.Child(r.Action, r.Ordinal(), r.started)
}

func (r *ActionRun) begot(id string) {
	r.mu.Lock()
	r.Children = append(r.Children, id)
	r.mu.Unlock()
}

func (r *ActionRun) set(name, value string) {
	r.mu.Lock()
	if r.Set == nil {
		r.Set = map[string]string{}
	}
	r.Set[name] = value
	r.mu.Unlock()
}

// setAbove notes that a variable was set in what encloses the workflow.
func (r *ActionRun) setAbove(name string, scope transform.Scope) {
	r.mu.Lock()
	if r.Above == nil {
		r.Above = map[string]transform.Scope{}
	}
	r.Above[name] = scope
	r.mu.Unlock()
}

// perform runs one action, with its retries. It takes over the result and gives
// the action's own.
func (e *Execution) perform(ctx context.Context, n *Node, in *action.Result) *action.Result {
	e.mu.Lock()
	run := &ActionRun{Execution: e, Action: n.Name, Type: n.Type, Number: e.runs, Turn: e.turns[n], CallPath: e.run.CallPath, Before: in, fresh: in.Fresh}
	e.runs++
	e.turns[n]++
	e.mu.Unlock()
	defer in.Release()
	switch out, err := e.reuse(ctx, run, in); {
	case err != nil:
		e.endHere() // what follows would not get what it got then
		return e.refuse(run, in, fmt.Errorf("what was recorded of it cannot be given back: %w", err))
	case out != nil:
		return out
	}
	e.log.Info("Starting action", "action", n.Name)
	plan, err := n.Retry.plan(e.vars)
	if err != nil {
		return e.refuse(run, in, fmt.Errorf("retry: %w", err))
	}
	out := in.Clone()
	out.Fresh = true
	for run.Attempt = 1; ; run.Attempt++ {
		e.attempt(ctx, n, run, out)
		wait, again := time.Duration(0), false
		if !out.OK && !e.ended(ctx) {
			wait, again = plan.next(run.Attempt, run.Err)
		}
		run.Again = again
		e.note(e.runner.Hooks.Ended, run)
		if !again {
			break
		}
		e.log.Warn("Trying again", "action", n.Name, "attempt", run.Attempt+1, "wait", wait.String())
		if !pause(ctx, wait, e.stopping) {
			break
		}
		out.Release()
		*out = *in.Clone()
		out.Fresh = true
	}
	e.log.Info("Finished action", "action", n.Name, "result", out.OK)
	return out
}

// refuse ends an action that could not start.
func (e *Execution) refuse(run *ActionRun, in *action.Result, err error) *action.Result {
	out := in.Clone()
	out.Fresh, out.EntryNumber = true, run.Number
	run.Attempt, run.Started, run.Variables = 1, e.now(), e.vars
	e.note(e.runner.Hooks.Started, run)
	e.failed(out, err, e.log.With("action", run.Action))
	run.Ended, run.After, run.Err = e.now(), out, err
	e.note(e.runner.Hooks.Ended, run)
	return out
}

// reuse gives back what the action left in an earlier execution; nil when it has
// to run.
func (e *Execution) reuse(ctx context.Context, run *ActionRun, in *action.Result) (*action.Result, error) {
	if e.runner.Reuse == nil || in.Fresh || e.ended(ctx) {
		return nil, nil
	}
	was, err := e.runner.Reuse(ctx, run)
	if err != nil || was == nil {
		return nil, err
	}
	for name, value := range was.Variables {
		e.setVariable(name, value)
		run.set(name, value)
		scope, above := was.Above[name]
		if up := e.run.Scopes; above && up != nil {
			run.setAbove(name, scope)
			if err := up.SetVariable(name, value, scope); err != nil {
				return nil, err
			}
		}
	}
	out := &was.Result
	out.Fresh, out.EntryNumber = false, run.Number
	run.Started, run.ReusedFrom, run.After = e.now(), was.From, out
	run.Ended, run.Variables = run.Started, e.vars
	e.log.Info("Reused action", "action", run.Action, "result", out.OK, "from", was.From)
	e.note(e.runner.Hooks.Ended, run)
	return out, nil
}

func (e *Execution) note(hook func(*ActionRun), run *ActionRun) {
	if hook != nil {
		hook(run)
	}
}

// attempt runs an action once.
func (e *Execution) attempt(ctx context.Context, n *Node, run *ActionRun, out *action.Result) {
	env, finish := e.envOf(n, run)
	run.Started, run.After, run.Err = e.now(), nil, nil
	run.mu.Lock()
	run.started = 0
	run.mu.Unlock()
	e.note(e.runner.Hooks.Started, run)
	err := e.contain(func() error { return n.Settings.Run(ctx, env, out) })
	if err != nil {
		e.failed(out, err, env.Log)
	}
	if hook := e.runner.Hooks.Succeeded; err == nil && out.OK && hook != nil {
		run.After = out
		if err = hook(ctx, run); err != nil {
			e.failed(out, err, env.Log)
		}
	}
	text, cerr := finish()
	if cerr != nil && err == nil {
		err = cerr
		e.failed(out, err, env.Log)
	}
	out.Fresh = true
	out.CarryLog(text)
	out.EntryNumber = run.Number
	run.Ended, run.After, run.Err = e.now(), out, err
}

// failed makes the result that of an action that failed with an error.
func (e *Execution) failed(out *action.Result, err error, log *slog.Logger) {
	out.OK, out.Errors = false, max(out.Errors, 1)
	if isStop(err) {
		out.Stopped = true
		return
	}
	log.Error("Action failed", "err", err)
}

// contain turns a panic into an error with the stack.
func (e *Execution) contain(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return run()
}

// maxCapturedLog bounds the log text of one action, in bytes.
const maxCapturedLog = 1 << 20

// capture keeps what an action and its children log, up to a bound.
type capture struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (c *capture) add(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text.Len()+len(line) <= maxCapturedLog {
		c.text.WriteString(line)
	}
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// envOf makes what the action may touch. Finish closes what it has opened and
// gives what it has logged.
func (e *Execution) envOf(n *Node, run *ActionRun) (env *action.Env, finish func() (string, error)) {
	logged := &capture{}
	vars := e.vars.Child()
	vars.Set(project.VariableActionID, fmt.Sprintf("%s/%d", e.run.ID, run.Number))
	run.Variables = vars
	base := e.runner.Pipelines
	log := slog.New((&action.LogTee{Next: e.log.Handler(), Level: slog.LevelInfo, Line: logged.add}))
	db := &connections{open: func() pipeline.Databases {
		if base.Databases == nil {
			return nil
		}
		return base.Databases(vars, base.Alloc)
	}}
	env = &action.Env{
		Action: n.Name, Number: run.Number, Turn: run.Turn,
		Vars: vars, Alloc: base.Alloc, Semantics: e.semantics, Location: e.location(),
		Log: log.With("action", n.Name), Now: e.now, Files: base.Files, Metadata: base.Metadata, Databases: db,
		Scopes: &scopes{exec: e, own: vars, run: run}, Workflow: e.facts(),
		Stop: e.endHere, EndRepeat: e.markEndRepeat,
	}
	if env.Files == nil {
		env.Files = files.Local{}
	}
	env.Children = &children{exec: e, run: run, vars: vars, log: log}
	return env, func() (string, error) { return logged.String(), db.close() }
}

func (e *Execution) facts() action.WorkflowFacts {
	f := action.WorkflowFacts{Name: e.graph.Name, File: e.run.File, ID: e.run.ID, Parameters: map[string]string{}}
	if f.File == "" {
		f.File = e.graph.File
	}
	for _, p := range e.graph.Parameters {
		if v, ok := e.run.Parameters[p.Name]; ok {
			f.Parameters[p.Name] = v
		}
	}
	return f
}

// connections opens the databases of one action run when it first asks for one,
// so that connections are resolved in the action's scope, as in Hop.
type connections struct {
	open func() pipeline.Databases
	mu   sync.Mutex // guards pool
	pool pipeline.Databases
}

// DB implements transform.Databases.
func (c *connections) DB(ctx context.Context, name string) (*sql.DB, transform.Dialect, error) {
	c.mu.Lock()
	if c.pool == nil {
		c.pool = c.open()
	}
	pool := c.pool
	c.mu.Unlock()
	if pool == nil {
		return nil, nil, pipeline.ErrNoDatabases
	}
	return pool.DB(ctx, name)
}

func (c *connections) close() error {
	if closer, ok := c.pool.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
