package replay

import (
	"context"
	"errors"
	"maps"
	"slices"

	"sluice/engine"
	"sluice/storage"
	"sluice/storage/record"
)

// line are the record itself and those that it goes on from, the newest first.
func (s *Source) line() []*record.Record {
	list := []*record.Record{&s.Record}
	for of := s.Root().ReplayOf; of != ""; {
		r := s.byRoot(of)
		if r == nil {
			break // it ran on another machine, or was removed
		}
		list = append(list, r)
		of = r.Root().ReplayOf
		if len(list) > len(s.Chain)+1 {
			break // damaged: it goes in a circle
		}
	}
	return list
}

// succeeded tells whether the execution succeeded with everything below it: an
// executor may leave failed children behind.
func (s *Source) succeeded() bool {
	return !slices.ContainsFunc(s.Executions, func(e storage.Execution) bool { return e.State != storage.StateSucceeded })
}

func (s *Source) byRoot(id string) *record.Record {
	for i := range s.Chain {
		if s.Chain[i].Root().ID == id {
			return &s.Chain[i]
		}
	}
	return nil
}

// execution gives the latest execution at a place of the tree, of this record or
// of the nearest one that it goes on from; nil when none was there.
func (s *Source) execution(at engine.CallPath) *storage.Execution {
	for _, r := range s.line() {
		if e := executionAt(r, at); e != nil {
			return e
		}
	}
	return nil
}

// elsewhereAt gives an execution at a place that only another replay of the chain
// has started.
func (s *Source) elsewhereAt(at engine.CallPath) *storage.Execution {
	var last *storage.Execution
	for i := range s.Chain {
		if e := executionAt(&s.Chain[i], at); e != nil {
			last = e
		}
	}
	return last
}

func executionAt(r *record.Record, at engine.CallPath) *storage.Execution {
	var last *storage.Execution
	for i := range r.Executions {
		e := &r.Executions[i]
		if e.CallPath == string(at) && (last == nil || e.ID > last.ID) {
			last = e
		}
	}
	return last
}

// run gives the record of one action run; nil when there is none.
func (s *Source) run(at engine.CallPath, node string, ordinal int) *storage.ActionRun {
	return runAt(&s.Record, at, node, ordinal)
}

func runAt(r *record.Record, at engine.CallPath, node string, ordinal int) *storage.ActionRun {
	for i := range r.Runs {
		a := &r.Runs[i]
		if a.CallPath == string(at) && a.Node == node && a.Ordinal == ordinal {
			return a
		}
	}
	return nil
}

// runOf gives the record of the action run that started the execution at a place;
// nil when a transform started it, or nothing is known.
func (s *Source) runOf(at engine.CallPath) *storage.ActionRun {
	for i := range s.Runs {
		a := &s.Runs[i]
		if string(engine.CallPath(a.CallPath).Child(a.Node, a.Ordinal, 1)) == withoutChild(at) {
			return a
		}
	}
	return nil
}

// madeBy gives the record in which a run of an action really ran: a reused run
// leads to the one that it was taken from. It is nil when that one is not known.
func (s *Source) madeBy(a *storage.ActionRun) *record.Record {
	r := &s.Record
	for range len(s.Chain) + 1 {
		if a == nil || a.State != storage.ActionReused {
			return r
		}
		if r = s.byRoot(a.ReusedFrom); r == nil {
			return nil
		}
		a = runAt(r, engine.CallPath(a.CallPath), a.Node, a.Ordinal)
	}
	return nil // damaged: it goes in a circle
}

// ranElsewhere tells whether any execution of the chain has run an action in this
// turn or a later one. What was reused or skipped did not run.
func (s *Source) ranElsewhere(at engine.CallPath, node string, ordinal int) bool {
	for i := range s.Chain {
		for k := range s.Chain[i].Runs {
			a := &s.Chain[i].Runs[k]
			if a.CallPath == string(at) && a.Node == node && a.Ordinal >= ordinal && a.State != storage.ActionReused && a.State != storage.ActionSkipped {
				return true
			}
		}
	}
	return false
}

// turns gives the highest turn of an action that an execution of the chain came to.
func (s *Source) turns(at engine.CallPath, node string) int {
	last := 0
	for i := range s.Chain {
		for k := range s.Chain[i].Runs {
			if a := &s.Chain[i].Runs[k]; a.CallPath == string(at) && a.Node == node {
				last = max(last, a.Ordinal)
			}
		}
	}
	return last
}

// unended is the first execution of the chain that has not ended; "" when all have.
func (s *Source) unended() string {
	for i := range s.Chain {
		if r := s.Chain[i].Root(); !r.State.Ended() {
			return r.ID
		}
	}
	return ""
}

// links gives the snapshots of one execution, by name of the node; the last one
// of a node counts.
func (s *Source) links(execution string) map[string]storage.SnapshotLink {
	list := map[string]storage.SnapshotLink{}
	for _, r := range s.line() {
		for _, l := range r.Snapshots {
			if l.Execution == execution {
				list[l.Node] = l
			}
		}
	}
	return list
}

// finished tells which transforms of the pipeline at a place have come to their
// end, in this execution or in one that it goes on from.
func (s *Source) finished(at engine.CallPath) map[string]bool {
	done := map[string]bool{}
	for _, r := range slices.Backward(s.line()) {
		e := executionAt(r, at)
		if e == nil {
			continue
		}
		state := map[string]bool{}
		for _, m := range r.Metrics[e.ID] {
			all, seen := state[m.Transform]
			state[m.Transform] = (all || !seen) && m.State == stateFinished
		}
		maps.Copy(done, state)
	}
	return done
}

// stateFinished is the engine's word for a transform that came to its end.
const stateFinished = "finished"

// definition reads a definition as run, from where its record is.
func (s *Source) definition(ctx context.Context, e *storage.Execution) ([]byte, error) {
	data, err := s.Definition(ctx, e.Definition)
	if other := s.elsewhere[e.Root]; other != nil && errors.Is(err, storage.ErrNotFound) {
		return other.Definition(ctx, e.Definition)
	}
	return data, err
}
