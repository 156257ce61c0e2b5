package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/recorder"
	"sluice/engine/transform"
	"sluice/engine/workflow"
	"sluice/storage"
	"sluice/storage/record"
)

// ErrMoved means that something that the plan was made from has changed since.
var ErrMoved = errors.New("something has changed since the pre-flight, run it again")

// NotReadyError says which checks keep a replay from starting.
type NotReadyError struct{ Plan *Plan }

// Error names the checks.
func (e *NotReadyError) Error() string {
	var blocked, open []string
	for _, c := range e.Plan.Open() {
		if c.blocks() {
			blocked = append(blocked, c.ID+": "+c.What)
		} else {
			open = append(open, c.ID)
		}
	}
	if len(blocked) > 0 {
		return "the replay is blocked: " + strings.Join(blocked, "; ")
	}
	return "the replay needs acknowledgement of " + strings.Join(open, ", ")
}

// Replay is one run of a plan.
type Replay struct {
	Plan     *Plan
	Source   *Source
	Ground   Ground
	Options  Options
	Store    storage.ExecutionStore
	Recorder func(context.Context, recorder.Options) (*recorder.Recorder, error) // attached to the ground's runners
	// Claims are the locations at which the replay is claimed: those of the
	// record's snapshots.
	Claims   []storage.Remote
	Claiming record.Options
	// Reload reads the record once more, when nobody else can replay any longer.
	Reload func(context.Context) (*Source, error)
	// Started hears of the execution before it runs; nil: nobody does.
	Started func(id string, e Runnable)
}

// Runnable is a prepared pipeline or workflow.
type Runnable interface {
	Run(ctx context.Context) (transform.Result, error)
	Stop(safe bool)
}

// Run runs the plan: a new execution, linked to the one that it replays. The
// caller releases the rows of the result. Before it starts the plan is made once
// more; ErrMoved when it comes out differently, a *NotReadyError when a check
// keeps it from starting, a *storage.HeldError or *record.ClaimedError when
// another one runs.
func (r *Replay) Run(ctx context.Context) (id string, result transform.Result, err error) {
	if len(r.Plan.Open()) > 0 {
		return "", result, &NotReadyError{r.Plan}
	}
	if id, err = storage.NewExecutionID(r.Ground.Now(), rand.Reader); err != nil {
		return "", result, err
	}
	origin := r.Source.Root().Origin
	lease, err := r.Store.Acquire(ctx, recorder.LeaseName(origin), id)
	if err != nil {
		return "", result, fmt.Errorf("another run or replay is active: %w", err)
	}
	defer func() { err = errors.Join(err, r.release(ctx, lease)) }()
	claims, err := r.claims(ctx)
	if err != nil {
		return "", result, err
	}
	for _, remote := range claims {
		claim, cerr := r.claim(ctx, remote, origin, id)
		if cerr != nil {
			return "", result, fmt.Errorf("another replay is active: %w", cerr)
		}
		defer func() { err = errors.Join(err, claim.Release(context.WithoutCancel(ctx))) }()
	}
	if err := r.again(ctx); err != nil {
		return "", result, err
	}
	traces, err := r.announce(ctx, id, claims)
	if err != nil {
		return "", result, err
	}
	result, err = r.run(ctx, id, lease)
	return id, result, errors.Join(err, traces.end(ctx, r, err))
}

func (r *Replay) release(ctx context.Context, l storage.HeldLease) error {
	err := r.Store.Release(context.WithoutCancel(ctx), l)
	if errors.Is(err, storage.ErrLeaseLost) {
		return nil // the execution has said so already
	}
	return err
}

// again makes the plan once more, now that nobody else can replay.
func (r *Replay) again(ctx context.Context) error {
	src, err := r.Reload(ctx)
	if err != nil {
		return err
	}
	now, err := Preflight(ctx, src, r.Ground, r.Options)
	if err != nil {
		return err
	}
	if len(now.Open()) > 0 {
		return &NotReadyError{now}
	}
	if now.Token != r.Plan.Token {
		return ErrMoved
	}
	r.Plan, r.Source = now, now.source
	return nil
}

// choice is what is recorded of a person's choices.
func (r *Replay) choice() *storage.ReplayChoice {
	c := &storage.ReplayChoice{Start: r.Plan.Start, Plan: r.Plan.Token, Definition: r.Plan.Definition, Quick: r.Options.Quick}
	for _, name := range slices.Sorted(maps.Keys(r.Options.Given)) {
		v := storage.Variable{Name: name, Value: r.Options.Given[name]}
		if policy := project.NewSecretPolicy(project.DefaultSecretPatterns()); policy.MatchesName(name) {
			v.Secret, v.Value = true, r.Ground.Secrets.Sum(v.Value)
		}
		c.Variables = append(c.Variables, v)
	}
	for _, x := range r.Plan.Checks {
		switch {
		case x.Overridden:
			c.Overrides = append(c.Overrides, storage.Override{Check: x.ID, Reason: r.Options.Reason})
		case x.Acknowledged:
			c.Acknowledged = append(c.Acknowledged, x.ID)
		}
	}
	return c
}

func (r *Replay) run(ctx context.Context, id string, lease storage.HeldLease) (result transform.Result, err error) {
	root := r.Source.Root()
	rec, err := r.Recorder(ctx, recorder.Options{
		ReplayOf: root.ID, Origin: root.Origin, Replay: r.choice(), Reason: r.Options.Reason, LogLevel: root.LogLevel, Lease: &lease, Entries: r.entries(root.ID),
	})
	if err != nil {
		return result, err
	}
	session := r.Ground.Session(gate.SessionOptions{
		From: r.Plan.from, RunOnly: r.Plan.only, Overrides: forSessions(r.Options.overrides()), Reason: r.Options.Reason, Quick: r.Options.Quick,
		Given: r.Options.Given, Told: rec.Told,
	})
	rec.Follow(session)
	r.Ground.Pipelines.Extend = r.extend(session.Extend)
	if r.Options.Definition == Original {
		r.Ground.Pipelines.Read = r.asRun(ctx)
	}
	r.Ground.Workflows.Reuse = r.give
	r.Ground.Workflows.Hooks.Succeeded = session.SealAction
	defer func() { err = errors.Join(err, session.Close(ctx, err == nil && result.OK)) }()
	e, err := r.prepare(ctx, id)
	if err != nil {
		return result, err
	}
	if r.Started != nil {
		r.Started(id, e)
	}
	return e.Run(ctx)
}

func (r *Replay) prepare(ctx context.Context, id string) (Runnable, error) {
	root := r.Source.Root()
	p := &planner{src: r.Source, ground: r.Ground, o: r.Options, plan: &Plan{}}
	p.variables()
	parameters := p.given()
	if root.Kind == storage.KindWorkflow {
		return r.Ground.Workflows.Prepare(workflow.Run{
			File: r.Plan.File, RunConfig: root.RunConfiguration, Scope: r.Ground.Scope, Parameters: parameters, Variables: parameters, ID: id,
		})
	}
	return r.Ground.Pipelines.Prepare(ctx, pipeline.Run{
		File: r.Plan.File, RunConfig: root.RunConfiguration, Scope: r.Ground.Scope, Parameters: parameters, Variables: parameters, ID: id,
	})
}

// entries are the decisions of the plan for the log.
func (r *Replay) entries(of string) []storage.ReplayEntry {
	var list []storage.ReplayEntry
	for _, s := range r.Plan.Steps {
		e := storage.ReplayEntry{Of: of, Unit: s.Name(), Decision: string(s.Decision), Why: s.Why}
		for _, b := range r.Plan.bound {
			if b.Snapshot == s.Snapshot && s.Snapshot != "" {
				e.Snapshot = &storage.SnapshotRef{Gate: b.Gate, ID: b.Snapshot}
			}
		}
		list = append(list, e)
	}
	return list
}

// give is workflow.Runner.Reuse.
func (r *Replay) give(ctx context.Context, run *workflow.ActionRun) (*workflow.Recorded, error) {
	key := storage.ActionKey{CallPath: string(run.CallPath), Node: run.Action, Ordinal: run.Ordinal()}
	a, ok := r.Plan.reuse[key]
	if !ok {
		return nil, nil
	}
	rows, err := r.rows(ctx, key, a)
	if err != nil {
		return nil, err
	}
	c := a.Result
	w := &workflow.Recorded{From: r.Source.Root().ID, Variables: map[string]string{}, Above: map[string]transform.Scope{}}
	w.Result = action.Result{Result: transform.Result{
		OK: c.OK, Errors: c.Errors, Read: c.Read, Written: c.Written, Input: c.Input, Output: c.Output, Updated: c.Updated, Rejected: c.Rejected,
		Deleted: c.Deleted, Files: c.Files, ExitStatus: c.ExitStatus, Stopped: c.Stopped, LogText: c.LogText, Rows: rows,
	}}
	p := &planner{src: r.Source, ground: r.Ground}
	for _, f := range a.Files {
		w.Result.ResultFiles = append(w.Result.ResultFiles, transform.ResultFile{
			Path: p.rebase(f.Path), Type: f.Type, Origin: f.Origin, Parent: f.Parent, Comment: f.Comment, Timestamp: f.Modified,
		})
	}
	for _, v := range a.After {
		w.Variables[v.Name] = p.rebase(v.Value)
		if scope, ok := recorder.ScopeOf(v.Above); ok {
			w.Above[v.Name] = scope
		}
	}
	return w, nil
}

// rows gives the result rows of a bypassed action: from its gate where it is one,
// else from the record.
func (r *Replay) rows(ctx context.Context, key storage.ActionKey, a storage.ActionRun) ([]*batch.Batch, error) {
	if sealed := r.Plan.sealed[key]; sealed != nil {
		return sealed.ReadRows(ctx)
	}
	set, err := r.Source.Rows(ctx, a)
	if err != nil {
		return nil, err
	}
	return recorder.DecodeRows(set, r.Ground.Pipelines.Alloc)
}

// asRun reads files as they ran.
func (r *Replay) asRun(ctx context.Context) func(string) (*hopxml.Document, error) {
	p := &planner{src: r.Source, ground: r.Ground}
	byFile := map[string]*storage.Execution{}
	for _, rec := range slices.Backward(r.Source.line()) {
		for k := range rec.Executions {
			e := &rec.Executions[k]
			byFile[p.rebase(e.File)] = e
		}
	}
	return func(path string) (*hopxml.Document, error) {
		e := byFile[path]
		if e == nil {
			return hopxml.Open(path) // it did not run then
		}
		d, err := p.recorded(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("%s as it ran: %w", path, err)
		}
		return d.Named(path), nil
	}
}
