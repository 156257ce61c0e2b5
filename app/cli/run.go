package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/recorder"
	"sluice/engine/transform"
)

type runFlags struct {
	projectFlags
	runConfig  string
	parameters []string
	json       bool
	startAt    string
	gates      gateFlags
}

func runCommand(sh *shell) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:               "run FILE",
		Short:             "Run a pipeline or workflow",
		Example:           "  sluice run orders.hpl --param DAY=2026-11-30\n  sluice run orders.hpl --project ~/shop --environment dev.json --json",
		Args:              oneFile,
		ValidArgsFunction: hopFiles,
		RunE:              func(c *cobra.Command, args []string) error { return sh.run(c.Context(), args[0], f) },
	}
	f.register(c)
	c.Flags().StringVar(&f.runConfig, "run-config", "", "run configuration of the project; default: the project's default, else local")
	c.Flags().StringArrayVar(&f.parameters, "param", nil, "parameter as `NAME=VALUE`; may be given again")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object at the end, and the log on standard error")
	f.gates.register(c)
	c.Flags().StringVar(&f.startAt, "start-at", "", "`action` of a workflow to start at; default: its Start action")
	return c
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one file (%d given)", len(args))
	}
	return nil
}

func hopFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hpl", "hwf"}, cobra.ShellCompDirectiveFilterFileExt
}

func (sh *shell) run(ctx context.Context, file string, f *runFlags) error {
	params, err := assignments(f.parameters, "--param")
	if err != nil {
		return err
	}
	log, err := logger(sh.Err, f.logLevel)
	if err != nil {
		return err
	}
	if err := readable(file); err != nil {
		return &exitError{ExitUnusable, err}
	}
	ws, err := f.open(file, log)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	if marks, err := marksOf(file); err == nil && marks.Err() != nil {
		return &exitError{ExitUnusable, marks.Err()} // a workflow's too
	}
	if isWorkflow(file) {
		id, err := sh.unfinished(ctx, ws, file, f.runConfig)
		if err != nil {
			return err
		}
		if id != "" {
			return sh.continued(ctx, id, file, f)
		}
	}
	rec, err := ws.Record(ctx, recorder.Options{LogLevel: f.logLevel, Reason: f.gates.reason})
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	defer closeHistory(ws, log)
	session, err := f.session(ws, params, rec, log)
	if err != nil {
		return err
	}
	if isWorkflow(file) {
		return sh.runWorkflow(ctx, ws, session, file, params, f, log)
	}
	if f.startAt != "" {
		return &exitError{ExitUnusable, fmt.Errorf("--start-at is for workflows; %s is a pipeline", file)}
	}
	started := time.Now()
	e, err := ws.Runner.Prepare(ctx, pipeline.Run{File: file, RunConfig: f.runConfig, Scope: ws.Scope, Parameters: params})
	sh.showStart(session)
	if err != nil {
		code := codeOf(err)
		err = errors.Join(err, endSession(ctx, ws, session, false))
		if f.json && rec.Root() != "" {
			out := jsonRun{ExecutionID: rec.Root(), State: "FAILED", Started: started, Ended: time.Now(), Error: err.Error(), Transforms: []jsonTransform{}}
			return errors.Join(sh.json(out), &exitError{code, err})
		}
		return &exitError{code, err}
	}
	p := watch(sh, e, !f.json)
	log.Info("Pipeline started", "pipeline", file, "execution_id", e.ID())
	result, err := e.Run(ctx)
	p.stop()
	for _, b := range result.Rows {
		b.Release()
	}
	if serr := endSession(ctx, ws, session, err == nil && result.OK); serr != nil {
		log.Warn("Gates could not be tidied up", "err", serr)
	}
	ended := time.Now()
	if f.json {
		return errors.Join(sh.printJSON(e, session, f.gates.reason, result, err, started, ended), sh.outcome(result, err))
	}
	sh.showOutcomes(session)
	log.Info("Pipeline ended", "state", stateOf(result, err), "seconds", fmt.Sprintf("%.3f", ended.Sub(started).Seconds()))
	return sh.outcome(result, err)
}

// closeHistory writes down what is left to record.
func closeHistory(ws *workspace.Workspace, log *slog.Logger) {
	if err := ws.History.Close(); err != nil {
		log.Warn("The record of this execution is not complete", "err", err)
	}
}

// outcome makes the command's error of a result.
func (sh *shell) outcome(r transform.Result, err error) error {
	switch {
	case sh.signal.code() != 0:
		return &exitError{sh.signal.code(), nil}
	case err != nil && !errors.Is(err, pipeline.ErrStopped):
		return &exitError{ExitErrors, err}
	case !r.OK:
		return &exitError{ExitErrors, fmt.Errorf("the pipeline ended with %d errors", r.Errors)}
	}
	return nil
}

func stateOf(r transform.Result, err error) string {
	switch {
	case errors.Is(err, pipeline.ErrStopped) && r.OK:
		return "STOPPED"
	case err != nil || !r.OK:
		return "FAILED"
	}
	return "SUCCEEDED"
}

// readable tells early and clearly when there is no such file.
func readable(file string) error {
	st, err := os.Stat(strings.TrimPrefix(file, "file://"))
	switch {
	case err != nil && errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no file %s; check the path", file)
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder; give a .hpl file in it", file)
	}
	return nil
}

type jsonRun struct {
	ExecutionID string          `json:"execution_id"`
	State       string          `json:"state"`
	Started     time.Time       `json:"started"`
	Ended       time.Time       `json:"ended"`
	Error       string          `json:"error,omitempty"`
	Transforms  []jsonTransform `json:"transforms"`
	Gates       *jsonGates      `json:"gates,omitempty"`
}

type jsonTransform struct {
	Name     string  `json:"name"`
	Copy     int     `json:"copy"`
	Read     int64   `json:"read"`
	Written  int64   `json:"written"`
	Input    int64   `json:"input"`
	Output   int64   `json:"output"`
	Updated  int64   `json:"updated"`
	Rejected int64   `json:"rejected"`
	Errors   int64   `json:"errors"`
	Rate     float64 `json:"rows_per_s"`
	State    string  `json:"state"`
}

func (sh *shell) printJSON(e *pipeline.Execution, session *gate.Session, reason string, r transform.Result, err error, started, ended time.Time) error {
	out := jsonRun{ExecutionID: e.ID(), State: stateOf(r, err), Started: started, Ended: ended, Transforms: []jsonTransform{}, Gates: gatesOf(session, reason)}
	if err != nil {
		out.Error = err.Error()
	}
	for _, m := range e.Metrics() {
		out.Transforms = append(out.Transforms, jsonTransform{
			Name: m.Name, Copy: m.Copy, Read: m.Read, Written: m.Written, Input: m.Input, Output: m.Output,
			Updated: m.Updated, Rejected: m.Rejected, Errors: m.Errors, Rate: m.Rate(ended), State: m.State.String(),
		})
	}
	enc := json.NewEncoder(sh.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
