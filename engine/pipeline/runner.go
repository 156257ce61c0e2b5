package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Runner prepares pipelines from files, with what all executions of one process
// share. It also runs the children of executor transforms.
type Runner struct {
	Registry    *transform.Registry
	Metadata    *project.Metadata
	Files       files.Store
	Databases   func(scope *project.Variables, alloc *batch.Allocator) Databases // nil: no databases
	Log         *slog.Logger
	Now         func() time.Time
	Location    *time.Location
	Alloc       *batch.Allocator // shared by parents and children, since result rows pass between them
	Workers     int
	MemoryBytes int64
	SpillFolder string
	// Engines are further keys of engineRunConfiguration, besides Local, whose
	// pipelines run here.
	Engines []string
	// Extend is Run.Extend of all runs that have none of their own.
	Extend func(ctx context.Context, p *Preparation) error
	// Watcher is told of every execution, children too, but not of previews and
	// unit tests; nil: nobody is.
	Watcher Watcher
	// Read gives the document of a file; nil reads it from the disk.
	Read func(path string) (*hopxml.Document, error)
	// Workflow runs a child workflow; nil: not possible.
	Workflow func(ctx context.Context, parent *Execution, c transform.Child) (transform.Result, error)
}

// Run says what to run and on what ground.
type Run struct {
	File      string           // location of the .hpl
	Pipeline  *hopxml.Pipeline // instead of reading File
	RunConfig string
	// Scope is the parent's scope; the pipeline gets a copy.
	Scope *project.Variables
	// Parameters are values for the pipeline's named parameters, Variables are
	// set before they are activated.
	Parameters map[string]string
	Variables  map[string]string
	Previous   transform.Result
	Scopes     transform.Scopes // of the enclosing engines
	ParentID   string
	ID         string // UUIDv7; empty: a new one
	RootID     string // of the top of the call tree; empty: this execution
	CallPath   engine.CallPath
	// Fresh says that something before this run was not reused, so that nothing in
	// it may be.
	Fresh bool

	Sample        func(transformName string, copy int, port transform.Port, b *batch.Batch)
	Until         string
	SuppressSinks bool
	// Edit may change the graph before it is prepared (unit tests).
	Edit func(*Graph) error
	// Extend may change what is prepared: cuts, bound rows, variables. It is
	// asked for the executions of children too.
	Extend func(ctx context.Context, p *Preparation) error
}

// Preparation is an execution that is about to be prepared.
type Preparation struct {
	Run      *Run
	Pipeline *hopxml.Pipeline
	Config   *project.PipelineRunConfiguration
	Graph    *Graph
	Options  *Options
}

// Prepare loads the pipeline and prepares its execution.
func (r *Runner) Prepare(ctx context.Context, run Run) (*Execution, error) {
	p := run.Pipeline
	if p == nil {
		var err error
		if p, err = r.Load(run.File); err != nil {
			return nil, unusable(err)
		}
	}
	if run.Extend == nil {
		run.Extend = r.Extend
	}
	config, err := r.configuration(run.RunConfig, run.Scope)
	if err != nil {
		return nil, unusable(err)
	}
	g, err := Load(p, r.Registry)
	if err != nil {
		return nil, unusable(err)
	}
	if run.Edit != nil {
		if err := run.Edit(g); err != nil {
			return nil, err
		}
	}
	if err := run.identify(); err != nil {
		return nil, err
	}
	o := Options{
		Vars: run.scope(g, config), Metadata: r.Metadata, Files: r.Files, Log: r.Log, Now: r.Now, Location: r.Location,
		ID: run.ID, Scopes: run.Scopes, Previous: run.Previous, Alloc: r.Alloc,
		Workers: r.Workers, MemoryBytes: r.MemoryBytes, SpillFolder: r.SpillFolder,
		Sample: run.Sample, Until: run.Until, SuppressSinks: run.SuppressSinks,
	}
	if o.SpillFolder == "" {
		if o.SpillFolder, err = o.Vars.Resolve(config.Local.SpillDirectory); err != nil {
			return nil, err
		}
	}
	if r.Databases != nil {
		o.Databases = r.Databases(o.Vars, r.Alloc)
	}
	prepared := &Preparation{Run: &run, Pipeline: p, Config: config, Graph: g, Options: &o}
	c := &children{runner: r, runConfig: run.RunConfig, extend: run.Extend}
	o.Children = c
	if run.Extend != nil {
		if err := run.Extend(ctx, prepared); err != nil {
			return nil, unusable(closing(o.Databases, err))
		}
	}
	watched, err := r.begin(ctx, prepared)
	if err != nil {
		return nil, closing(o.Databases, err)
	}
	e, err := Prepare(ctx, g, o)
	c.parent = e
	if err != nil {
		watched.end(ctx, transform.Result{Errors: 1}, err)
		return nil, err
	}
	e.callPath, e.rootID, e.fresh = run.CallPath, run.RootID, run.Fresh
	e.watched = watched
	watched.running(e)
	return e, nil
}

func closing(d Databases, err error) error {
	if c, ok := d.(io.Closer); ok {
		return errors.Join(err, c.Close())
	}
	return err
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

// Load reads a pipeline file; the errors say what to do.
func (r *Runner) Load(location string) (*hopxml.Pipeline, error) {
	path, ok := project.LocalPath(location)
	if !ok {
		return nil, &engine.Error{Message: fmt.Sprintf("pipeline %s is not on this machine", location), Hint: "copy it to a local folder"}
	}
	d, err := r.Document(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &engine.Error{Message: fmt.Sprintf("there is no pipeline file %s", path), Hint: "check the path and the variables in it", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return d.Pipeline()
}

// Document reads a file of this machine.
func (r *Runner) Document(path string) (*hopxml.Document, error) {
	if r.Read != nil {
		return r.Read(path)
	}
	return hopxml.Open(path)
}

func (r *Runner) configuration(name string, scope *project.Variables) (*project.PipelineRunConfiguration, error) {
	name, err := scope.Resolve(name)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name = r.Metadata.DefaultRunConfiguration(project.TypePipelineRunConfiguration); name == "" {
			name = project.LocalRunConfiguration
		}
	}
	c, err := r.Metadata.PipelineRunConfiguration(name)
	if err != nil {
		return nil, fmt.Errorf("run configuration %q: %w", name, err)
	}
	if c.Engine != project.EngineLocal && !slices.Contains(r.Engines, c.Engine) {
		return nil, &engine.Error{
			Message: fmt.Sprintf("run configuration %q uses the engine %s, which is not supported", name, c.Engine),
			Hint:    "choose a run configuration with the Local engine",
		}
	}
	return c, nil
}

// scope makes the pipeline's variables: the parent's, the internal ones, those of
// the run configuration, the given ones, and the activated parameters.
func (run *Run) scope(g *Graph, config *project.PipelineRunConfiguration) *project.Variables {
	v := run.Scope.Child()
	file := run.File
	if file == "" {
		file = g.File
	}
	project.SetPipelineVariables(v, project.Running{File: file, Name: g.Name, ID: run.ID, ParentID: run.ParentID})
	for _, c := range config.Variables {
		value, err := v.Resolve(c.Value)
		if err != nil {
			value = c.Value
		}
		v.Set(c.Name, value)
	}
	v.SetAll(run.Variables)
	given, _ := project.WithValues(g.Parameters, run.Parameters)
	project.ActivateParameters(v, given)
	return v
}

// children runs the pipelines that executor transforms start.
type children struct {
	runner    *Runner
	parent    *Execution
	runConfig string
	extend    func(context.Context, *Preparation) error
}

// RunPipeline implements transform.Children.
func (c *children) RunPipeline(ctx context.Context, child transform.Child) (transform.Result, error) {
	scope := c.parent.ChildScope(child.InheritAll)
	name := child.RunConfig
	if name == "" {
		name = c.runConfig
	}
	e, err := c.runner.Prepare(ctx, Run{
		File: child.File, RunConfig: name, Scope: scope, Parameters: child.Variables, Variables: child.Variables,
		Previous: transform.Result{Rows: child.Rows}, Scopes: &enclosing{exec: c.parent}, ParentID: c.parent.opts.ID,
		RootID: c.parent.rootID, CallPath: c.parent.ChildPath(child.By), Fresh: c.parent.fresh,
		Extend: c.extend,
	})
	if err != nil {
		return transform.Result{}, err
	}
	r, err := e.Run(ctx)
	if err != nil && ctx.Err() == nil {
		c.runner.log().Error("Child pipeline failed", "pipeline", filepath.Base(child.File), "err", err)
		r.LogText = strings.TrimSpace(r.LogText + "\n" + err.Error())
	}
	return r, nil
}

// RunWorkflow implements transform.Children.
func (c *children) RunWorkflow(ctx context.Context, child transform.Child) (transform.Result, error) {
	if c.runner.Workflow == nil {
		return transform.Result{}, ErrNoChildren
	}
	return c.runner.Workflow(ctx, c.parent, child)
}

func (r *Runner) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

// baseScope is the parent's scope without what its own parameters and transforms
// have set: children that do not inherit still see the project's variables.
func (e *Execution) baseScope() *project.Variables {
	v := e.opts.Vars.Child()
	for _, p := range e.graph.Parameters {
		v.Unset(p.Name)
	}
	for name := range e.Variables() {
		v.Unset(name)
	}
	return v
}

// ChildScope gives the scope that a child starts from: the pipeline's, or only
// what the pipeline itself was given.
func (e *Execution) ChildScope(inheritAll bool) *project.Variables {
	if inheritAll {
		return e.opts.Vars
	}
	return e.baseScope()
}

// Log is where the execution logs.
func (e *Execution) Log() *slog.Logger { return e.opts.Log }

// Scope gives the variables of the pipeline; changes are seen by what starts later.
func (e *Execution) Scope() *project.Variables { return e.opts.Vars }

// Enclosing gives the scopes that a child of this execution sets variables in.
func (e *Execution) Enclosing() transform.Scopes { return &enclosing{exec: e} }

// ID is the execution's id.
func (e *Execution) ID() string { return e.opts.ID }

// RootID is the id of the top of the call tree.
func (e *Execution) RootID() string { return e.rootID }

// CallPath is where the execution is below that top.
func (e *Execution) CallPath() engine.CallPath { return e.callPath }

// Fresh says that something before this execution was not reused.
func (e *Execution) Fresh() bool { return e.fresh }

// ChildPath gives the path of the next child that an executor transform starts.
func (e *Execution) ChildPath(by string) engine.CallPath {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.children == nil {
		e.children = map[string]int{}
	}
	e.children[by]++
	return e.callPath.Child(by, e.children[by], 1)
}

// enclosing are the scopes above a child: its parent execution and that one's
// own enclosing engines.
type enclosing struct{ exec *Execution }

// SetVariable implements transform.Scopes.
func (s *enclosing) SetVariable(name, value string, scope transform.Scope) error {
	if scope == transform.ScopePipeline {
		return nil
	}
	s.exec.opts.Vars.Set(name, value)
	s.exec.noteVariable(name, value, "")
	up := s.exec.opts.Scopes
	if up == nil || scope == transform.ScopeParent {
		return nil
	}
	if scope == transform.ScopeGrandParent {
		scope = transform.ScopeParent
	}
	return up.SetVariable(name, value, scope)
}

// Variable implements transform.Scopes.
func (s *enclosing) Variable(name string, scope transform.Scope) (string, bool) {
	up := s.exec.opts.Scopes
	if up == nil || scope == transform.ScopeParent {
		return s.exec.opts.Vars.Get(name)
	}
	if scope == transform.ScopeGrandParent {
		scope = transform.ScopeParent
	}
	return up.Variable(name, scope)
}
