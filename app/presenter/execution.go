package presenter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/storage"
)

// ExecutionRow is one line of the list of executions.
type ExecutionRow struct {
	storage.ExecutionHead
	Look scene.State
	When string // with the age
	Took string
	Why  string // one line
}

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
		return scene.StateNone
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
		return scene.StateNone
	}
	return scene.StateFailed
}

// ExecutionRowOf makes a line of the list.
func ExecutionRowOf(h storage.ExecutionHead, now time.Time) ExecutionRow {
	r := ExecutionRow{ExecutionHead: h, Look: ExecutionState(h.State), Took: Elapsed(h.Duration(now))}
	if !h.Started.IsZero() {
		r.When = h.Started.Local().Format("2 Jan 15:04:05") + " · " + Ago(now.Sub(h.Started))
	}
	r.Why, _, _ = strings.Cut(h.Message, "\n")
	if h.ReplayOf != "" {
		r.Why = strings.TrimSpace("Replay of " + ShortID(h.ReplayOf) + "  " + r.Why)
	}
	return r
}

// shortIDLength keeps ids apart that were made in the same second.
const shortIDLength = 18

// ShortID is enough of an execution's id for a person and for every command.
func ShortID(id string) string { return id[:min(len(id), shortIDLength)] }

// ExecutionFilter is what the list is narrowed to.
type ExecutionFilter struct {
	Text   string // part of the name or file, or the beginning of an id
	State  string // a state, "" for all
	Always bool   // children too
}

// ExecutionStates are the choices of the state filter; the first is all.
func ExecutionStates() []string {
	list := []string{"All states"}
	for _, s := range storage.States() {
		list = append(list, string(s))
	}
	return list
}

// pageOfExecutions is how many are loaded at a time.
const pageOfExecutions = 200

// LoadExecutions reads a page of the list behind an id, "" for the first one. It
// reads the disk.
func LoadExecutions(ctx context.Context, s storage.ExecutionReader, f ExecutionFilter, after string, now time.Time) (rows []ExecutionRow, next string, err error) {
	q := storage.ExecutionQuery{RootsOnly: !f.Always, After: after, Limit: pageOfExecutions}
	if state := storage.State(f.State); state.Known() {
		q.States = []storage.State{state}
	}
	text := strings.TrimSpace(f.Text)
	if prefix, err := storage.NormalizeIDPrefix(text); err == nil && len(text) >= 6 {
		q.IDPrefix = prefix
	} else {
		q.Name = text
	}
	page, err := s.Executions(ctx, q)
	if err != nil {
		return nil, "", err
	}
	for _, h := range page.Executions {
		rows = append(rows, ExecutionRowOf(h, now))
	}
	return rows, page.Next, nil
}

// ExecutionDetail is all that is shown of one execution.
type ExecutionDetail struct {
	storage.Execution
	Tree       []storage.ExecutionHead
	Actions    []storage.ActionRun // its own
	Metrics    []storage.TransformMetrics
	Snapshots  []storage.SnapshotLink
	Lineage    []storage.ExecutionHead
	Log        []storage.LogEntry
	Definition []byte
}

// mostLogLines bounds what is loaded of a log at once.
const mostLogLines = 20_000

// LoadExecution reads what is known of an execution. It reads the disk.
func LoadExecution(ctx context.Context, s storage.ExecutionReader, id string) (*ExecutionDetail, error) {
	e, err := s.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &ExecutionDetail{Execution: e}
	runs, err := s.ActionRuns(ctx, e.Root)
	for _, a := range runs {
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
	q := storage.LogQuery{Execution: id, Limit: mostLogLines}
	if e.Root == id {
		q.Execution, q.Root = "", id
	}
	page, err := s.Logs(ctx, q)
	d.Log = page.Entries
	keep(err)
	if e.Definition != "" {
		d.Definition, err = s.Definition(ctx, e.Definition)
		if errors.Is(err, storage.ErrNotFound) {
			err = nil // it went with an older record
		}
		keep(err)
	}
	return d, errors.Join(errs...)
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

// Graph is the file as it ran, for the canvas; nil when its definition was not
// kept.
func (d *ExecutionDetail) Graph(catalog *Catalog) (*File, error) {
	if len(d.Definition) == 0 {
		return nil, nil
	}
	doc, err := hopxml.Parse(d.File, d.Definition)
	if err != nil {
		return nil, err
	}
	return NewFile(doc, d.File, d.Name, catalog)
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
		v.Actions = map[string]scene.State{}
		for _, a := range d.Actions {
			v.Actions[strings.ToLower(a.Node)] = ActionBadge(a.State)
		}
	}
	return v
}
