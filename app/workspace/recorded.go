package workspace

import (
	"context"
	"errors"

	"sluice/engine/gate"
	"sluice/engine/recorder"
)

// Recorded is a run whose gates are at work and that is recorded. End closes it.
type Recorded struct {
	Recorder *recorder.Recorder
	Session  *gate.Session
	ws       *Workspace
}

// Begin makes the next run of the workspace's runners a recorded one with gates.
// o is what the gates need beside places and secrets. A workspace is for one run.
func (w *Workspace) Begin(ctx context.Context, level string, o gate.SessionOptions) (*Recorded, error) {
	rec, err := w.Record(ctx, recorder.Options{LogLevel: level, Reason: o.Reason})
	if err != nil {
		return nil, err
	}
	o.Places, o.Secrets, o.Local, o.Alloc, o.Log = w.Places, w.Secrets, w.Places.Local, w.Runner.Alloc, w.Runner.Log
	o.Project, o.AppVersion, o.Told = w.Project.Name, w.AppVersion, rec.Told
	s := gate.NewSession(o)
	rec.Follow(s)
	w.Runner.Extend = s.Extend
	w.Workflows.Hooks.Succeeded = s.SealAction
	return &Recorded{Recorder: rec, Session: s, ws: w}, nil
}

// End gives back what the run held; the history stays open.
func (r *Recorded) End(ctx context.Context, succeeded bool) error {
	return errors.Join(r.Session.Close(ctx, succeeded), r.ws.Places.Close(context.WithoutCancel(ctx)))
}
