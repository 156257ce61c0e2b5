//go:build !headless

package desktop

import (
	"context"
	"errors"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/replay"
	"sluice/storage"
)

// replay starts the plan. The dialog closes once the new execution is on its way.
func (x *replayDialog) replay() {
	if x.run == nil || x.view == nil {
		return
	}
	run, plan, o := x.run, x.view.Plan, x.choices.Options()
	x.letStart(false)
	x.asked++
	x.say("Starting…", "check-pending", inkSoft, "Everything is looked at once more")
	ctx, cancel := context.WithCancel(context.Background())
	x.starting = cancel
	d := x.d
	d.spawn(func() {
		defer cancel()
		id, started, ok, err := x.begin(ctx, run, plan, o)
		d.post(func() {
			x.starting = nil
			x.ended(id, started, ok, err)
		})
	})
}

// begin runs the plan, and closes what it needed once it was started. Until then the
// dialog may still be cancelled.
func (x *replayDialog) begin(ctx context.Context, run *workspace.Replaying, plan *replay.Plan, o replay.Options) (id string, started, ok bool, err error) {
	r, err := run.Prepare(ctx, plan, o)
	if err != nil {
		return "", false, false, err
	}
	d := x.d
	r.Started = func(id string, _ replay.Runnable) {
		started = true
		d.post(func() {
			x.run, x.starting = nil, nil
			x.dl.close()
			d.event("replay started %s", id)
			d.goTo(placeExecutions)
			d.runs.wanted = id
		})
	}
	id, result, err := r.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	if started {
		err = errors.Join(err, run.Close(context.WithoutCancel(ctx)))
	}
	return id, started, result.OK, err
}

func (x *replayDialog) ended(id string, started, succeeded bool, err error) {
	d := x.d
	var open *replay.NotReadyError
	switch {
	case !started && !x.dl.isOpen():
		x.close()
		return
	case !started && (errors.Is(err, replay.ErrMoved) || errors.As(err, &open)):
		x.moved = true
		d.event("replay moved")
		x.reload()
		return
	case !started:
		x.judged()
		d.fail("Replay "+x.of.Name, err)
		return
	}
	word := "succeeded"
	if !succeeded {
		word = "failed"
	}
	d.event("replay ended %s %s", id, word)
	d.notify("Replay of " + x.of.Name + " " + word)
	d.showExecution(id)
}

// reload reads the record again, since it may be what moved, and checks.
func (x *replayDialog) reload() {
	run, id := x.run, x.of.ID
	x.again.Disable() // the check reads what is read again here
	background(x.d, func() (*presenter.ExecutionDetail, error) {
		if err := run.Reload(context.Background()); err != nil {
			return nil, err
		}
		return presenter.LoadExecution(context.Background(), run.Store, id)
	}, func(of *presenter.ExecutionDetail, err error) {
		x.again.Enable()
		if x.run == nil {
			return
		}
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			x.d.fail("Check the replay", err)
			return
		}
		if of != nil {
			x.of = of
		}
		x.sealed = nil
		x.check()
	})
}
