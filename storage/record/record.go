package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/storage"
)

// Record is all that is known of one root execution.
type Record struct {
	// Executions are the root, first, and its children, oldest first.
	Executions []storage.Execution `json:"executions"`
	// Runs are the action runs, in order of start. Each that has ended is final.
	Runs []storage.ActionRun `json:"-"`
	// Metrics are the counters of transforms, by execution.
	Metrics   map[string][]storage.TransformMetrics `json:"metrics,omitempty"`
	Snapshots []storage.SnapshotLink                `json:"snapshots,omitempty"`
	// Extra is compact JSON that only the engine understands.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Definitions are redacted definitions as run, by hash. A loaded record has
	// none: ask Loaded.Definition.
	Definitions map[string][]byte `json:"-"`
}

// Root is the root execution.
func (r *Record) Root() *storage.Execution { return &r.Executions[0] }

// Ended tells whether the root execution has come to its end.
func (r *Record) Ended() bool { return r.Root().State.Ended() }

// Collect reads the record of a root execution from a store.
func Collect(ctx context.Context, s storage.ExecutionReader, root string) (Record, error) {
	tree, err := s.Tree(ctx, root)
	if err != nil {
		return Record{}, err
	}
	r := Record{Metrics: map[string][]storage.TransformMetrics{}, Definitions: map[string][]byte{}}
	for _, h := range tree {
		e, err := s.Execution(ctx, h.ID)
		if err != nil {
			return Record{}, err
		}
		r.Executions = append(r.Executions, e)
		metrics, err := s.Metrics(ctx, h.ID)
		if err != nil {
			return Record{}, err
		}
		if len(metrics) > 0 {
			r.Metrics[h.ID] = metrics
		}
		if e.Definition == "" || r.Definitions[e.Definition] != nil {
			continue
		}
		if r.Definitions[e.Definition], err = s.Definition(ctx, e.Definition); err != nil {
			return Record{}, err
		}
	}
	if r.Runs, err = s.ActionRuns(ctx, root); err != nil {
		return Record{}, err
	}
	r.Snapshots, err = s.Snapshots(ctx, root)
	return r, err
}

// redacted checks a record and gives a copy without secrets.
func (r Record) redacted(redact storage.Redactor) (Record, error) {
	if len(r.Executions) == 0 || r.Executions[0].Root != r.Executions[0].ID {
		return r, fmt.Errorf("record without its root execution: %w", storage.ErrBadName)
	}
	if err := checkCompact(r.Extra); err != nil {
		return r, err
	}
	out := r
	out.Executions, out.Runs, out.Snapshots = nil, nil, nil
	var errs []error
	for _, e := range r.Executions {
		e, err := e.Redacted(redact)
		e.Started, e.Ended = utc(e.Started), utc(e.Ended)
		out.Executions, errs = append(out.Executions, e), append(errs, err)
	}
	for _, a := range r.Runs {
		a, err := a.Clean(redact)
		a.Started, a.Ended = utc(a.Started), utc(a.Ended)
		for i := range a.Files {
			a.Files[i].Modified = utc(a.Files[i].Modified)
		}
		out.Runs, errs = append(out.Runs, a), append(errs, err)
	}
	for _, l := range r.Snapshots {
		digest := l.Digest
		l, err := l.Clean(redact)
		l.Digest = digest
		out.Snapshots, errs = append(out.Snapshots, l), append(errs, err)
	}
	out.Metrics = nil
	for id, list := range r.Metrics {
		if out.Metrics == nil {
			out.Metrics = map[string][]storage.TransformMetrics{}
		}
		for _, m := range list {
			m = m.Clean(redact)
			m.Started, m.Ended = utc(m.Started), utc(m.Ended)
			out.Metrics[id] = append(out.Metrics[id], m)
		}
	}
	return out, errors.Join(errs...)
}

// utc gives each moment one text form.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}
