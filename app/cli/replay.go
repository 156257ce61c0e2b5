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
	failed, since := false, ""
	c := &cobra.Command{
		Use: "replay EXECUTION... | --failed", Short: "Run what failed again, from the sealed rows",
		Long: `Makes the pre-flight, and when nothing speaks against it a new execution that goes on from what was recorded
and sealed. The original execution is never touched.

Several executions are replayed one after another, each by a plan of its own. --failed takes all that failed or were
interrupted since a moment and have no replay that succeeded, the oldest first.

Exit code 0: replayed, 1: it failed again, 3: blocked, 4: something has to be acknowledged; of several the first bad one.`,
		Example: "  sluice replay 01a22f54\n  sluice replay 01a22f54 --ack second-write:Warehouse\n  sluice replay 01a22f54 01a22f77 01a22f90\n  sluice replay --failed --since 12h",
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			switch {
			case failed && (len(args) > 0 || f.record != ""):
				return errors.New("--failed finds the executions in the record of this machine: name none, and no --record")
			case !failed && since != "":
				return errors.New("--since belongs to --failed")
			case !failed && len(args) == 0:
				return errors.New("name an execution, or all that failed with --failed; sluice executions list shows them")
			case f.plan != "" && (failed || len(args) > 1):
				return errors.New("--plan is of one execution")
			}
			if !failed {
				return sh.replays(c.Context(), args, f)
			}
			ids, err := sh.failed(c.Context(), since)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				fmt.Fprintln(sh.Err, "Nothing waits for a replay.")
			}
			return sh.replays(c.Context(), ids, f)
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.plan, "plan", "", "`token` of a pre-flight: refuse to start when anything has moved since")
	c.Flags().BoolVar(&failed, "failed", false, "all that failed and have no replay that succeeded")
	c.Flags().StringVar(&since, "since", "", "with --failed: begun at this `time` or later (24h, 7d, 2026-11-30)")
	return c
}

// failed lists what waits for a replay.
func (sh *shell) failed(ctx context.Context, since string) (ids []string, err error) {
	from, err := moment(since, time.Now())
	if err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	err = sh.withHistory(ctx, func(s storage.ExecutionStore) error {
		list, err := replay.Failed(ctx, s, from)
		for _, h := range list {
			ids = append(ids, h.ID)
		}
		return err
	})
	return ids, err
}

// replays runs several replays, one after another. Each is judged by itself; the
// first bad exit code is the command's.
func (sh *shell) replays(ctx context.Context, ids []string, f *replayFlags) error {
	if len(ids) == 1 {
		return sh.replay(ctx, ids[0], f)
	}
	var first error
	good := 0
	for i, id := range ids {
		fmt.Fprintf(sh.Err, "%d of %d: %s\n", i+1, len(ids), id)
		err := sh.replay(ctx, id, f)
		if ctx.Err() != nil {
			return err
		}
		if err == nil {
			good++
			continue
		}
		if exit, ok := errors.AsType[*exitError](err); !ok || exit.err != nil { // else its reason is printed already
			fmt.Fprintf(sh.Err, "%s: %v\n", id, err)
		}
		if first == nil {
			first = err
		}
	}
	if len(ids) > 0 {
		fmt.Fprintf(sh.Err, "%d of %d replayed\n", good, len(ids))
	}
	if first == nil {
		return nil
	}
	code := codeOf(first)
	if exit, ok := errors.AsType[*exitError](first); ok {
		code = exit.code
	}
	return &exitError{code, nil} // each was told above
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
