package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sluice/engine/replay"
	"sluice/storage"
	"sluice/storage/record"
)

func replayCommand(sh *shell) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use: "replay EXECUTION...", Short: "Run what failed again, from the sealed rows",
		Long:    "Makes the pre-flight, and when nothing speaks against it a new execution that goes on from what was recorded\nand sealed. The original execution is never touched.",
		Example: "  sluice replay 01a22f54\n  sluice replay 01a22f54 --ack second-write:Warehouse\n  sluice replay 01a22f54 01a22f77 01a22f90",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.plan != "" && len(args) > 1 {
				return errors.New("--plan is of one execution")
			}
			return sh.replays(c.Context(), args, f)
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.plan, "plan", "", "`token` of a pre-flight: refuse to start when anything has moved since")
	return c
}

// replays runs several replays, one after another. Each is judged by itself; the
// first bad exit code is the command's.
func (sh *shell) replays(ctx context.Context, ids []string, f *replayFlags) error {
	var first error
	for i, id := range ids {
		err := sh.replay(ctx, id, f)
		if ctx.Err() != nil || len(ids) == 1 {
			return err
		}
		if err == nil {
			continue
		}
		fmt.Fprintf(sh.Err, "%s: %v\n", id, err)
		if first == nil {
			first = err
		}
		fmt.Fprintf(sh.Err, "%d of %d done\n", i+1, len(ids))
	}
	return first
}

type jsonReplay struct {
	ExecutionID string       `json:"execution_id,omitempty"`
	State       string       `json:"state"`
	Started     time.Time    `json:"started,omitzero"`
	Ended       time.Time    `json:"ended,omitzero"`
	Error       string       `json:"error,omitempty"`
	Plan        *replay.Plan `json:"plan"`
}

func (sh *shell) replay(ctx context.Context, id string, f *replayFlags) error {
	r, err := sh.openReplay(ctx, id, f)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	plan, err := r.Preflight(ctx, r.options)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if f.plan != "" && plan.Token != f.plan {
		return &exitError{ExitRefused, fmt.Errorf("%w: the plan was %s and is %s", replay.ErrMoved, f.plan, plan.Token)}
	}
	if !f.json {
		sh.printPlan(plan)
		fmt.Fprintln(sh.Out)
	}
	if plan.Verdict != replay.Ready {
		if f.json {
			return errors.Join(sh.json(jsonReplay{State: string(plan.Verdict), Plan: plan}), verdictError(plan))
		}
		sh.printCommand(plan, f)
		return verdictError(plan)
	}
	run, err := r.Prepare(ctx, plan, r.options)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	var started time.Time
	run.Started = func(id string, _ replay.Runnable) {
		started = time.Now()
		r.log.Info("Replay started", "execution_id", id, "of", plan.Execution)
	}
	newID, result, err := run.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	var held *storage.HeldError
	var claimed *record.ClaimedError
	var open *replay.NotReadyError
	switch {
	case errors.As(err, &held), errors.As(err, &claimed), errors.Is(err, replay.ErrMoved):
		return &exitError{ExitRefused, err}
	case errors.As(err, &open):
		return &exitError{verdictCode(open.Plan), err}
	case started.IsZero():
		return &exitError{codeOf(err), err}
	}
	ended, state := time.Now(), stateOf(result, err)
	r.log.Info("Replay ended", "state", state, "seconds", fmt.Sprintf("%.3f", ended.Sub(started).Seconds()))
	if f.json {
		out := jsonReplay{ExecutionID: newID, State: state, Started: started, Ended: ended, Plan: plan}
		if err != nil {
			out.Error = err.Error()
		}
		return errors.Join(sh.json(out), sh.outcome(result, err))
	}
	fmt.Fprintf(sh.Out, "%s: replay %s of %s\n", state, newID, plan.Execution)
	return sh.outcome(result, err)
}
