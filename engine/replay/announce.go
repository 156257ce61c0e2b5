package replay

import (
	"context"
	"errors"
	"fmt"

	"sluice/storage"
	"sluice/storage/record"
	"sluice/storage/snapshot"
)

// announced are the records of a replay at the locations that its chain has used. A
// replay that binds no gate leaves a trace there as well, so that other machines
// know of it: from its start, and also when it is killed.
type announced struct {
	writers []*record.Writer
	record  record.Record // as it was at the start
}

// announce writes the record before anything runs.
func (r *Replay) announce(ctx context.Context, id string, at []storage.Remote) (*announced, error) {
	root, host := *r.Source.Root(), snapshot.ThisHost()
	e := storage.Execution{
		ExecutionHead: storage.ExecutionHead{
			ID: id, Root: id, ReplayOf: root.ID, Origin: root.Origin, Kind: root.Kind, Name: root.Name, File: r.Plan.File,
			State: storage.StateRunning, Started: r.Ground.Now(), Host: host.Name, PID: host.PID, BootID: host.BootID, Who: r.Claiming.Who, Reason: r.Options.Reason,
		},
		RunConfiguration: root.RunConfiguration, LogLevel: root.LogLevel, Replay: r.choice(),
	}
	a := &announced{record: record.Record{Executions: []storage.Execution{e}}}
	for _, remote := range at {
		w, err := record.Begin(ctx, remote, r.Claiming, a.record)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("record the replay where its snapshots are: %w", err), a.close(ctx))
		}
		a.writers = append(a.writers, w)
	}
	return a, nil
}

// end writes what became of the replay. One that came to no execution is told as
// failed.
func (a *announced) end(ctx context.Context, r *Replay, cause error) error {
	ctx = context.WithoutCancel(ctx)
	if len(a.writers) == 0 {
		return nil
	}
	rec, err := record.Collect(ctx, r.Store, a.record.Root().ID)
	if errors.Is(err, storage.ErrNotFound) {
		rec, err = a.record, nil
		e := rec.Root()
		e.State, e.Ended, e.Message = storage.StateFailed, r.Ground.Now(), "it did not start"
		if cause != nil {
			e.Message = cause.Error()
		}
	}
	if err != nil {
		return errors.Join(err, a.close(ctx))
	}
	for _, w := range a.writers {
		err = errors.Join(err, w.Save(ctx, rec))
	}
	if err = errors.Join(err, a.close(ctx)); err != nil {
		return fmt.Errorf("record the end of the replay where its snapshots are: %w", err)
	}
	return nil
}

func (a *announced) close(ctx context.Context) error {
	var errs []error
	for _, w := range a.writers {
		errs = append(errs, w.Close(ctx))
	}
	return errors.Join(errs...)
}
