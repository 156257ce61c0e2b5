package presenter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/recorder"
	"sluice/storage"
)

// ExecutionState is the badge of an execution.
func ExecutionState(s storage.State) scene.State {
	switch s {
	case storage.StateQueued:
		return scene.StateQueued
	case storage.StateRunning:
		return scene.StateRunning
	case storage.StateStopping:
		return scene.StateStopping
	case storage.StateSucceeded:
		return scene.StateSucceeded
	case storage.StateStopped:
		return scene.StateStopped
	case storage.StateInterrupted:
		return scene.StateInterrupted
	case storage.StateSkipped:
		return scene.StateSkipped
	case storage.StatePartial:
		return scene.StatePartial
	}
	return scene.StateFailed
}

// ActionBadge is the badge of an action run.
func ActionBadge(s storage.ActionState) scene.State {
	switch s {
	case storage.ActionRunning:
		return scene.StateRunning
	case storage.ActionSucceeded:
		return scene.StateSucceeded
	case storage.ActionReused:
		return scene.StateReused
	case storage.ActionStopped:
		return scene.StateStopped
	case storage.ActionInterrupted:
		return scene.StateInterrupted
	case storage.ActionSkipped:
		return scene.StateSkipped
	}
	return scene.StateFailed
}

// ExecutionDetail is all that is shown of one execution.
type ExecutionDetail struct {
	storage.Execution
	Tree       []storage.ExecutionHead
	Actions    []storage.ActionRun // its own
	Runs       []storage.ActionRun // of the whole tree
	Metrics    []storage.TransformMetrics
	Snapshots  []storage.SnapshotLink
	Lineage    []storage.ExecutionHead
	Definition []byte
	Since      string // what became of the file since it ran, "" when it is the same
}

// LoadExecution reads what is known of an execution. It reads the disk.
func LoadExecution(ctx context.Context, s storage.ExecutionReader, id string) (*ExecutionDetail, error) {
	e, err := s.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &ExecutionDetail{Execution: e}
	d.Runs, err = s.ActionRuns(ctx, e.Root)
	for _, a := range d.Runs {
		if a.Execution == id {
			d.Actions = append(d.Actions, a)
		}
	}
	errs := []error{err}
	keep := func(err error) { errs = append(errs, err) }
	d.Tree, err = s.Tree(ctx, id)
	keep(err)
	d.Metrics, err = s.Metrics(ctx, id)
	keep(err)
	d.Snapshots, err = s.Snapshots(ctx, id)
	keep(err)
	d.Lineage, err = s.Lineage(ctx, id)
	keep(err)
	if e.Definition != "" {
		d.Definition, err = s.Definition(ctx, e.Definition)
		if errors.Is(err, storage.ErrNotFound) {
			err = nil // it went with an older record
		}
		keep(err)
	}
	d.Since = since(d.File, d.Definition)
	return d, errors.Join(errs...)
}

// since compares a definition as it ran with the file as it is.
func since(file string, ran []byte) string {
	if file == "" || len(ran) == 0 {
		return ""
	}
	now, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "its file is gone"
	case err != nil:
		return "its file cannot be read"
	case !bytes.Equal(recorder.WithoutSecrets(now), recorder.WithoutSecrets(ran)):
		return "its file has changed since"
	}
	return ""
}

// FirstCause is the message of what failed first, and the node; "" when nothing
// did.
func (d *ExecutionDetail) FirstCause() (node, message string) {
	for _, a := range d.Actions {
		if a.State == storage.ActionFailed && a.Message != "" {
			return a.Node, a.Message
		}
	}
	if d.State == storage.StateFailed || d.State == storage.StateInterrupted {
		message = d.Message
		if message == "" && d.State == storage.StateInterrupted {
			message = "Its process ended before it did"
		}
	}
	return "", message
}

// Replayable tells whether a replay may be asked for, else why not.
func (d *ExecutionDetail) Replayable() (ok bool, why string) {
	switch {
	case d.Root != d.ID:
		return false, "It was started by another execution: replay that one"
	case !d.State.Ended():
		return false, "It is still going"
	}
	return true, ""
}

// EntryText is a log entry as a person reads it.
func EntryText(e storage.LogEntry) string {
	switch d := e.Data.(type) {
	case nil:
		return e.Text
	case storage.StartedEntry:
		return "started " + d.Source
	case storage.ProgressEntry:
		return fmt.Sprintf("%s read, %s written", Grouped(d.Read), Grouped(d.Committed))
	case storage.TaskResultEntry:
		return strings.TrimSpace("ended " + string(d.State) + " " + d.Error)
	case storage.ReplayEntry:
		return strings.TrimSpace(d.Decision + " " + d.Unit + " " + d.Why)
	}
	return string(e.Kind)
}

// Graph is the file as it ran, with the gates as they were sealed, for the canvas;
// nil when its definition was not kept.
func (d *ExecutionDetail) Graph(catalog *Catalog) (*File, error) {
	if len(d.Definition) == 0 {
		return nil, nil
	}
	doc, err := hopxml.Parse(d.File, d.Definition)
	if err != nil {
		return nil, err
	}
	f, err := NewFile(doc, d.File, d.Name, catalog)
	if err != nil {
		return nil, err
	}
	var gates []gate.Standing
	for _, l := range d.Snapshots {
		if l.CallPath != d.CallPath {
			continue
		}
		g := gate.Standing{Node: l.Node, ID: l.Ref.Gate, Location: l.Location, Snapshot: l.Ref.ID, State: storage.SnapshotSealed}
		if l.Digest == "" {
			g.State = storage.SnapshotInterrupted
			if !d.State.Ended() {
				g.State = storage.SnapshotOpen
			}
		}
		gates = append(gates, g)
	}
	f.SetGates(NewGates(gates, nil))
	return f, nil
}

// View is how the execution stands, for the canvas.
func (d *ExecutionDetail) View(now time.Time) *RunView {
	v := &RunView{Started: d.Started, Ended: d.Ended, Now: now, Execution: d.ID}
	if !d.Ended.IsZero() {
		v.Now = d.Ended
	}
	states := map[string]pipeline.State{"waiting": pipeline.Waiting, "running": pipeline.Running, "finished": pipeline.Finished, "stopped": pipeline.Stopped, "failed": pipeline.Failed}
	for _, m := range d.Metrics {
		v.Metrics = append(v.Metrics, pipeline.Metrics{
			Name: m.Transform, Copy: m.Copy, State: states[m.State], Read: m.Read, Written: m.Written, Input: m.Input, Output: m.Output,
			Updated: m.Updated, Rejected: m.Rejected, Errors: m.Errors, Started: m.Started, Ended: m.Ended,
		})
	}
	if d.Kind == storage.KindWorkflow {
		v.Actions, v.Notes, v.NotReached = map[string]scene.State{}, map[string]string{}, d.State.Ended()
		for _, a := range d.Actions {
			v.Actions[strings.ToLower(a.Node)] = ActionBadge(a.State)
			v.Notes[strings.ToLower(a.Node)] = actionNote(a)
		}
	}
	return v
}

// actionNote is the line under an action: what it wrote, else what it read.
func actionNote(a storage.ActionRun) string {
	switch r := a.Result; {
	case r == nil:
		return ""
	case max(r.Output, r.Written) > 0 && a.State == storage.ActionFailed:
		return Grouped(max(r.Output, r.Written)) + " written"
	case max(r.Output, r.Written, r.Read, r.Input) > 0:
		return Plural(max(r.Output, r.Written, r.Read, r.Input), "row")
	}
	return ""
}
