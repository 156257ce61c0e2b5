package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// Stale says why kept rows of a transform are not used.
type Stale struct {
	Node   string `json:"transform"`
	Reason string `json:"reason"`
}

// String names the transform and the reason.
func (s Stale) String() string { return fmt.Sprintf("%q: %s", s.Node, s.Reason) }

// Stale lists kept rows that were passed over.
func (s *Session) Stale() []Stale {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stale
}

// staleError is why one kept snapshot does not stand for today's rows.
type staleError struct{ reason string }

func (e *staleError) Error() string { return e.reason }

// fits tells whether a snapshot holds the rows that a transform would make now:
// the same logic, variables and source files.
func (sc *scene) fits(ctx context.Context, src *Source, node string) error {
	stale := func(format string, args ...any) error { return &staleError{fmt.Sprintf(format, args...)} }
	then, err := ParseFingerprint(src.Record.Fingerprint)
	if err != nil {
		return stale("%v", err)
	}
	now := sc.fingerprint(node)
	if unknown := slices.Concat(then.Unknown, now.Unknown); len(unknown) > 0 {
		return stale("cannot be compared: %s", unknown[0])
	}
	if changes := Diff(then, now); len(changes) > 0 {
		return stale("changed above: %s", changes[0])
	}
	m := src.Manifest()
	if name := changedVariable(m.Variables, sc.variables(node)); name != "" {
		return stale("the variable %s has another value", name)
	}
	for _, mark := range m.Sources {
		if mark.Kind != markFile {
			continue
		}
		name, _, _ := strings.Cut(mark.Value, " size=")
		i := slices.IndexFunc(sc.marksOnce(ctx, mark.Node), func(x snapshot.SourceMark) bool {
			return x.Node == mark.Node && strings.HasPrefix(x.Value, name+" size=") && sameFile(x.Value, mark.Value)
		})
		if i < 0 {
			return stale("the file %s has changed", name)
		}
	}
	return nil
}

func changedVariable(then, now []snapshot.Variable) string {
	for _, v := range then {
		if !slices.Contains(now, v) {
			return v.Name
		}
	}
	for _, v := range now {
		if !slices.ContainsFunc(then, func(x snapshot.Variable) bool { return x.Name == v.Name }) {
			return v.Name
		}
	}
	return ""
}

// keptRows finds the newest snapshot of a kind that fits. A nil Source comes with
// the reason, or with nil when there is none at all.
func (s *Session) keptRows(ctx context.Context, sc *scene, place *Place, id, node string, kind Kind, accept func(*Source) error) (*Source, error) {
	var first error
	src, err := newest(ctx, place, id, func(sn *snapshot.Snapshot) (*Source, error) {
		src, err := sourceOf(ctx, place, sn, sc.p.Options.Alloc)
		if err != nil {
			return nil, err
		}
		if src.Kind() != kind {
			return nil, errNext
		}
		err = sc.fits(ctx, src, node)
		if err == nil && accept != nil {
			err = accept(src)
		}
		if _, ok := errors.AsType[*staleError](err); ok {
			if first == nil {
				first = err
			}
			return nil, errNext
		}
		return src, err
	})
	var own *storage.SnapshotError
	switch {
	case err == nil:
		return src, nil
	case first != nil:
		return nil, first
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil
	case errors.As(err, &own):
		return nil, &staleError{err.Error()}
	}
	return nil, err
}

// forget removes the snapshots of an id but those to keep. Rows of this machine
// that only spare work need no tombstone for long.
func forget(ctx context.Context, place *Place, id string, keep func(storage.SnapshotRef) bool) (int64, error) {
	list, err := place.Store.List(ctx, id)
	if err != nil {
		return 0, err
	}
	plan := snapshot.Plan{}
	for _, x := range list {
		if x.Ours && x.State != storage.SnapshotOpen && !keep(x.Ref) {
			plan.Actions = append(plan.Actions, snapshot.Action{Ref: x.Ref, Kind: snapshot.Forget, State: x.State, Bytes: x.Stored, Reason: "superseded"})
		}
	}
	if len(plan.Actions) == 0 {
		return 0, nil
	}
	_, err = place.Store.Execute(ctx, plan)
	return plan.Bytes(), err
}

func keepNone(storage.SnapshotRef) bool { return false }

// use binds kept rows.
func (s *Session) use(p *pipeline.Preparation, node string, src *Source) {
	o := p.Options
	if o.Bound == nil {
		o.Bound = map[string]pipeline.Bound{}
	}
	o.Bound[strings.ToLower(node)] = src
}

func (s *Session) noteReused(node string, src *Source) {
	m := src.Manifest()
	s.mu.Lock()
	s.reused = append(s.reused, Reused{Node: node, Snapshot: src.Ref.ID, Rows: m.RowCount, Sealed: m.Ended})
	s.mu.Unlock()
}

func (s *Session) noteStale(node string, reason error) {
	s.mu.Lock()
	s.stale = append(s.stale, Stale{Node: node, Reason: reason.Error()})
	s.mu.Unlock()
}

// localConfig are the settings of a cut that is nobody's gate.
func localConfig(id string, release Release) Config {
	return Config{
		ID: id, Release: release, Contract: Contract{MinRows: -1, MaxRows: -1}, Limits: Limits{MinFree: 256 << 20},
		Policy: Policy{Kind: PolicyNever},
	}
}
