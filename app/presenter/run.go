package presenter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/engine/workflow"
)

// RunOptions are what the run dialog asks for.
type RunOptions struct {
	Configuration string // empty: the project's default
	Level         string // of the log, Hop's code
	Parameters    map[string]string
	Variables     map[string]string // over those of the project
	// FromCache takes the rows of cached outputs that are not stale.
	FromCache bool
}

// given are the parameters and variables that were set for this run.
func (o *RunOptions) given() map[string]string {
	m := maps.Clone(o.Variables)
	if m == nil {
		m = map[string]string{}
	}
	maps.Copy(m, o.Parameters)
	return m
}

// RunState is where a run stands.
type RunState int

// The states of a run. RunPreparing is before the first row.
const (
	RunNone RunState = iota
	RunPreparing
	RunRunning
	RunPaused
	RunStopping
	RunSucceeded
	RunFailed
	RunStopped
)

var runStates = [...]struct {
	word string
	look scene.State
}{
	RunNone: {"", scene.StateNone}, RunPreparing: {"Preparing", scene.StateQueued}, RunRunning: {"Running", scene.StateRunning},
	RunPaused: {"Paused", scene.StateQueued}, RunStopping: {"Stopping", scene.StateStopping}, RunSucceeded: {"Succeeded", scene.StateSucceeded},
	RunFailed: {"Failed", scene.StateFailed}, RunStopped: {"Stopped", scene.StateStopped},
}

// String is the word for the state.
func (s RunState) String() string { return runStates[s].word }

// Look is the state's badge.
func (s RunState) Look() scene.State { return runStates[s].look }

// Active tells whether the run goes on.
func (s RunState) Active() bool { return s >= RunPreparing && s <= RunStopping }

// RunView is one moment of a run, for the user interface. A nil view shows nothing.
type RunView struct {
	State    RunState
	Started  time.Time
	Ended    time.Time
	Now      time.Time
	Metrics  []pipeline.Metrics
	Err      error
	FailedAt string // transform that failed, "" when none is known
	// Actions are the states of a workflow's actions, by name in lower case.
	Actions map[string]scene.State
	// Notes are the lines under actions, by name in lower case; NotReached says that
	// an action without a state was not reached.
	Notes      map[string]string
	NotReached bool
	// Gates are the gates that this run seals, by name of the node in lower case.
	Gates     map[string]gate.Outcome
	Execution string // its id; "" for previews and before the start
}

// Session is one run. Its methods are safe for many goroutines.
type Session struct {
	log *Log
	now func() time.Time

	mu      sync.Mutex // guards what follows
	view    RunView
	exec    *pipeline.Execution
	flow    *workflow.Execution
	actions map[string]scene.State
	gates   *gate.Session
	cancel  context.CancelCauseFunc
	stopped bool // by the user
	enough  bool // what was wanted is there
}

// NewSession prepares a session that logs into log.
func NewSession(log *Log, now func() time.Time) *Session {
	return &Session{log: log, now: now, view: RunView{State: RunPreparing, Started: now()}}
}

// Run runs a pipeline to its end; it belongs on a goroutine of its own. sample may
// be nil. The outcome is in View afterwards.
func (s *Session) Run(ctx context.Context, open func(*Log, string) (*workspace.Workspace, error), run pipeline.Run, o RunOptions) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	ws, err := open(s.log, o.Level)
	if err != nil {
		s.end(err, transform.Result{})
		return
	}
	ws.Scope.SetAll(o.Variables)
	run.Scope, run.RunConfig, run.Parameters = ws.Scope, o.Configuration, o.Parameters
	var recorded *workspace.Recorded
	if !run.Rehearsal() {
		if recorded, err = ws.Begin(ctx, o.Level, gate.SessionOptions{Given: o.given(), FromCache: o.FromCache}); err != nil {
			s.end(err, transform.Result{})
			return
		}
		s.seals(recorded.Session)
	}
	e, err := ws.Runner.Prepare(ctx, run)
	if err != nil {
		s.end(s.closing(ctx, recorded, false, err), transform.Result{})
		return
	}
	s.mu.Lock()
	s.exec, s.view.Execution = e, e.ID()
	if s.view.State == RunPreparing {
		s.view.State = RunRunning
	}
	stopped := s.stopped || s.enough
	s.mu.Unlock()
	if stopped {
		e.Stop(false)
	}
	for _, name := range e.Suppressed() {
		s.log.Add(LogLine{Time: s.now(), Transform: name, Text: "Not written: a preview never writes"})
	}
	result, err := e.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	s.end(s.closing(ctx, recorded, err == nil && result.OK, err), result)
}

// seals says whose gates the run seals.
func (s *Session) seals(gates *gate.Session) {
	s.mu.Lock()
	s.gates = gates
	s.mu.Unlock()
}

// gateStates are the gates of the root that are or were spooled.
func (s *Session) gateStates() map[string]gate.Outcome {
	if s.gates == nil {
		return nil
	}
	m := map[string]gate.Outcome{}
	for _, o := range s.gates.Outcomes() {
		if o.CallPath == "" {
			m[lower(o.Node)] = o
		}
	}
	return m
}

// closing ends what was recorded; what goes wrong there is told in the log, and
// is no failure of the run.
func (s *Session) closing(ctx context.Context, r *workspace.Recorded, succeeded bool, err error) error {
	if r == nil {
		return err
	}
	for _, u := range r.Session.Reused() {
		s.log.Add(LogLine{Time: s.now(), Transform: u.Node, Text: "Took " + Plural(u.Rows, "row") + " from the cache, sealed " + When(u.Sealed, s.now())})
	}
	for _, u := range r.Session.Stale() {
		s.log.Add(LogLine{Time: s.now(), Transform: u.Node, Text: "Not from the cache: " + u.Reason})
	}
	if cerr := r.End(ctx, succeeded); cerr != nil {
		s.log.Add(LogLine{Time: s.now(), Level: "Error", Error: true, Text: "Gates could not be tidied up: " + cerr.Error()})
	}
	return err
}

// RunWorkflow runs a workflow to its end, as Run does a pipeline.
func (s *Session) RunWorkflow(ctx context.Context, open func(*Log, string) (*workspace.Workspace, error), run workflow.Run, o RunOptions) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.cancel, s.actions = cancel, map[string]scene.State{}
	s.mu.Unlock()
	ws, err := open(s.log, o.Level)
	if err != nil {
		s.end(err, transform.Result{})
		return
	}
	recorded, err := ws.Begin(ctx, o.Level, gate.SessionOptions{Given: o.given()})
	if err != nil {
		s.end(err, transform.Result{})
		return
	}
	s.seals(recorded.Session)
	s.follow(&ws.Workflows.Hooks)
	ws.Scope.SetAll(o.Variables)
	run.Scope, run.RunConfig, run.Parameters = ws.Scope, o.Configuration, o.Parameters
	e, err := ws.Workflows.Prepare(run)
	if err != nil {
		s.end(s.closing(ctx, recorded, false, err), transform.Result{})
		return
	}
	s.mu.Lock()
	s.flow, s.view.Execution = e, e.ID()
	if s.view.State == RunPreparing {
		s.view.State = RunRunning
	}
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		e.Stop(false)
	}
	result, err := e.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	s.end(s.closing(ctx, recorded, err == nil && result.OK, err), result)
}

// follow notes the states of the root workflow's actions.
func (s *Session) follow(h *workflow.Hooks) {
	started, ended := h.Started, h.Ended
	note := func(r *workflow.ActionRun, state scene.State) {
		if r.CallPath != "" {
			return
		}
		s.mu.Lock()
		s.actions[strings.ToLower(r.Action)] = state
		if state == scene.StateFailed && s.view.FailedAt == "" {
			s.view.FailedAt = r.Action
		}
		s.mu.Unlock()
	}
	h.Started = func(r *workflow.ActionRun) {
		started(r)
		note(r, scene.StateRunning)
	}
	h.Ended = func(r *workflow.ActionRun) {
		ended(r)
		switch {
		case r.Again:
		case r.ReusedFrom != "":
			note(r, scene.StateReused)
		case r.After.Stopped:
			note(r, scene.StateStopped)
		case r.Err != nil || r.After.Errors > 0:
			note(r, scene.StateFailed)
		default:
			note(r, scene.StateSucceeded)
		}
	}
}

func (s *Session) end(err error, r transform.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exec != nil {
		s.view.Metrics = s.exec.Metrics()
	}
	s.view.Ended = s.now()
	switch {
	case s.stopped && (err == nil || errors.Is(err, pipeline.ErrStopped) || errors.Is(err, context.Canceled)):
		s.view.State = RunStopped
	case err != nil && !errors.Is(err, pipeline.ErrStopped):
		s.view.State, s.view.Err = RunFailed, err
		if at, ok := errors.AsType[*engine.Error](err); ok {
			s.view.FailedAt = at.Transform
		}
	case s.exec == nil && s.flow == nil || !r.OK && !errors.Is(err, pipeline.ErrStopped):
		what := "pipeline"
		if s.flow != nil {
			what = "workflow"
		}
		s.view.State, s.view.Err = RunFailed, fmt.Errorf("the %s ended with %s", what, Plural(r.Errors, "error"))
	case errors.Is(err, pipeline.ErrStopped) && !s.enough:
		s.view.State = RunStopped
	default:
		s.view.State = RunSucceeded
	}
	line := LogLine{Time: s.view.Ended, Text: fmt.Sprintf("%s after %s", s.view.State, Elapsed(s.view.Ended.Sub(s.view.Started)))}
	if s.view.Err != nil {
		p := problemOf(s.view.Err)
		line.Text, line.Error, line.Level, line.Transform = p.Message, true, "Error", s.view.FailedAt
		if p.Hint != "" {
			line.Text += " (" + p.Hint + ")"
		}
	}
	s.log.Add(line)
}

// View is the run as it stands.
func (s *Session) View() *RunView {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view
	if s.actions != nil {
		v.Actions = maps.Clone(s.actions)
	}
	if s.exec != nil && v.State.Active() {
		v.Metrics = s.exec.Metrics()
	}
	v.Gates = s.gateStates()
	v.Now = s.now()
	if !v.Ended.IsZero() {
		v.Now = v.Ended
	}
	return &v
}

// Pause holds the rows back, or lets them go on when they are held.
func (s *Session) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.exec == nil:
	case s.view.State == RunRunning:
		s.exec.Pause()
		s.view.State = RunPaused
	case s.view.State == RunPaused:
		s.exec.Resume()
		s.view.State = RunRunning
	}
}

// Stop ends the run; safe lets rows under way be worked off.
func (s *Session) Stop(safe bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.view.State.Active() {
		return
	}
	if s.exec != nil && s.view.State == RunPaused {
		s.exec.Resume()
	}
	s.stopped, s.view.State = true, RunStopping
	if s.exec != nil {
		s.exec.Stop(safe)
	}
	if s.flow != nil {
		s.flow.Stop(safe)
	}
}

// Enough ends the run as a success: the rows that were wanted are there.
func (s *Session) Enough() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.State.Active() && !s.stopped {
		s.enough = true
		if s.exec != nil {
			s.exec.Stop(false)
		}
	}
}
