package gate

import (
	"context"
	"maps"
	"slices"

	"sluice/engine/pipeline"
	"sluice/storage"
)

// Judgement is what a start from gates would do.
type Judgement struct {
	Checks []Check
	Bound  []Reused        // by name of the node
	Run    map[string]bool // transforms that run or give their snapshot, in lower case
}

// Judge weighs a start from gates without writing, pinning or opening anything
// but the snapshots. The gates and transforms are those of the session's options
// for the place of the preparation.
func (s *Session) Judge(ctx context.Context, p *pipeline.Preparation) (*Judgement, error) {
	marks, err := ReadMarks(p.Pipeline.Document)
	if err != nil {
		return nil, err
	}
	if err := marks.Err(); err != nil {
		return nil, err
	}
	st := &starting{session: s, p: p, marks: marks, bound: map[string]*Source{}, restore: map[string]string{}}
	run, err := st.weigh(ctx, s.startsAt(p))
	if err != nil {
		return nil, err
	}
	_ = refused(st.checks, s.o.Overrides) // notes what is overridden; the caller decides
	j := &Judgement{Checks: st.checks, Run: run}
	for _, key := range slices.Sorted(maps.Keys(st.bound)) {
		j.Bound = append(j.Bound, st.reused(key, st.bound[key]))
	}
	return j, nil
}

// IsSealed asks the location whether a snapshot is sealed. A record may not know:
// its writer was killed between the seal and the note of it.
func (s *Session) IsSealed(ctx context.Context, location string, ref storage.SnapshotRef) bool {
	place, err := s.o.Places.Place(ctx, location)
	if err != nil {
		return false
	}
	_, err = place.Store.Load(ctx, ref)
	return err == nil
}

// Remote gives the storage of a location of snapshots; its records are there too.
func (s *Session) Remote(ctx context.Context, location string) (storage.Remote, error) {
	place, err := s.o.Places.Place(ctx, location)
	if err != nil {
		return nil, err
	}
	return place.Remote, nil
}
