package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/engine/workflow"
)

const workflowExtension = ".hwf"

// isWorkflow says whether a file is run as a workflow.
func isWorkflow(file string) bool { return strings.EqualFold(filepath.Ext(file), workflowExtension) }

// runWorkflow runs a workflow to its end.
func (sh *shell) runWorkflow(ctx context.Context, ws *workspace.Workspace, session *gate.Session, file string, params map[string]string, f *runFlags, log *slog.Logger) error {
	report := &actionReport{}
	runner := *ws.Workflows
	record := runner.Hooks.Ended
	runner.Hooks.Ended = func(r *workflow.ActionRun) {
		record(r)
		report.add(r)
	}
	runner.Hooks.Succeeded = session.SealAction
	runner.Connect()
	if len(f.gates.from) > 0 {
		return fmt.Errorf("--from-gate is for pipelines; %s is a workflow: replay its execution instead", file)
	}
	started := time.Now()
	e, err := runner.Prepare(workflow.Run{File: file, RunConfig: f.runConfig, Scope: ws.Scope, Parameters: params, StartAt: f.startAt})
	if err != nil {
		return &exitError{codeOf(err), err}
	}
	log.Info("Workflow started", "workflow", file, "execution_id", e.ID())
	result, err := e.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	if serr := endSession(ctx, ws, session, err == nil && result.OK); serr != nil {
		log.Warn("Gates could not be tidied up", "err", serr)
	}
	ended := time.Now()
	if f.json {
		return errors.Join(sh.printActions(e, report, result, err, started, ended), sh.workflowOutcome(result, err))
	}
	sh.showOutcomes(session)
	log.Info("Workflow ended", "state", stateOf(result, err), "seconds", fmt.Sprintf("%.3f", ended.Sub(started).Seconds()))
	return sh.workflowOutcome(result, err)
}

func (sh *shell) workflowOutcome(r transform.Result, err error) error {
	switch {
	case sh.signal.code() != 0:
		return &exitError{sh.signal.code(), nil}
	case err != nil && !errors.Is(err, pipeline.ErrStopped):
		return &exitError{ExitErrors, err}
	case !r.OK:
		return &exitError{ExitErrors, fmt.Errorf("the workflow ended without success (%d errors); the log tells which action failed", r.Errors)}
	}
	return nil
}

// actionReport gathers the actions that have run, those of child workflows too.
type actionReport struct {
	mu   sync.Mutex // guards list
	list []jsonAction
}

func (a *actionReport) add(r *workflow.ActionRun) {
	j := jsonAction{
		Workflow: r.Execution.Name(), Name: r.Action, Type: r.Type, Number: r.Number, Turn: r.Turn, Attempt: r.Attempt, Again: r.Again,
		Started: r.Started, Ended: r.Ended, Result: r.After.OK, Errors: r.After.Errors, Rows: r.After.RowCount(), Files: len(r.After.ResultFiles),
		Read: r.After.Read, Written: r.After.Written, Input: r.After.Input, Output: r.After.Output, Updated: r.After.Updated, Rejected: r.After.Rejected,
	}
	if r.Err != nil {
		j.Error = r.Err.Error()
	}
	a.mu.Lock()
	a.list = append(a.list, j)
	a.mu.Unlock()
}

type jsonWorkflow struct {
	ExecutionID string       `json:"execution_id"`
	State       string       `json:"state"`
	Started     time.Time    `json:"started"`
	Ended       time.Time    `json:"ended"`
	Error       string       `json:"error,omitempty"`
	Actions     []jsonAction `json:"actions"`
}

type jsonAction struct {
	Workflow string    `json:"workflow"`
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Number   int       `json:"number"`
	Turn     int       `json:"turn"`
	Attempt  int       `json:"attempt"`
	Again    bool      `json:"tried_again,omitempty"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Result   bool      `json:"result"`
	Errors   int64     `json:"errors"`
	Error    string    `json:"error,omitempty"`
	Rows     int64     `json:"rows"`
	Files    int       `json:"files"`
	Read     int64     `json:"read"`
	Written  int64     `json:"written"`
	Input    int64     `json:"input"`
	Output   int64     `json:"output"`
	Updated  int64     `json:"updated"`
	Rejected int64     `json:"rejected"`
}

func (sh *shell) printActions(e *workflow.Execution, report *actionReport, r transform.Result, err error, started, ended time.Time) error {
	out := jsonWorkflow{ExecutionID: e.ID(), State: stateOf(r, err), Started: started, Ended: ended, Actions: report.list}
	if out.Actions == nil {
		out.Actions = []jsonAction{}
	}
	if err != nil {
		out.Error = err.Error()
	}
	enc := json.NewEncoder(sh.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// checkWorkflow prints what is wrong with a workflow and gives the exit code.
func (sh *shell) checkWorkflow(ws *workspace.Workspace, file string) int {
	findings, err := ws.Workflows.Check(workflow.Run{File: file, Scope: ws.Scope})
	for _, p := range findings {
		fmt.Fprintf(sh.Out, "%s: %s\n", file, p)
	}
	switch {
	case err != nil:
		fmt.Fprintf(sh.Out, "%s: error: %v\n", file, err)
		return ExitUnusable
	case workflow.HasErrors(findings):
		return ExitErrors
	case len(findings) == 0:
		fmt.Fprintf(sh.Out, "%s: ok\n", file)
	}
	return ExitOK
}
