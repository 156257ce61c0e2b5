package gate

import (
	"context"
	"slices"
	"time"

	"sluice/engine"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// Standing is what is known of a gate while its file is designed: its newest
// snapshot, and whether a replay from it would still be of this pipeline.
type Standing struct {
	Node     string
	ID       string // of the gate
	Location string // as a person writes it, secrets out
	Cache    bool   // of a dev cache mark, no gate

	// State is that of the newest snapshot; "" when there is none.
	State    storage.SnapshotState
	Snapshot string
	Rows     int64
	Bytes    int64
	At       time.Time // when it was sealed, else when it was begun
	Why      string    // explains every state but SEALED
	// Root is the root execution that made it, CallPath where its pipeline or
	// workflow was below.
	Root     string
	CallPath engine.CallPath

	// Changes are the differences between the upstream as it ran and as it is now;
	// Unknown says why it cannot be compared.
	Changes []Change
	Unknown string
	// Err is why the location could not be asked.
	Err error
}

// Stale says that a sealed snapshot is not of the file as it is now.
func (s *Standing) Stale() bool {
	return s.State == storage.SnapshotSealed && (s.Unknown != "" || slices.ContainsFunc(s.Changes, func(c Change) bool { return !c.Moved }))
}

// Standings looks at the gates and dev cache marks of a pipeline. It reads what is
// stored and writes nothing. Sizes of segments are compared, hashes are not.
func (s *Session) Standings(ctx context.Context, p *pipeline.Preparation) ([]Standing, error) {
	return s.standings(ctx, p.Pipeline.Document, p.Options.Vars, newScene(p, s.o.Secrets))
}

// StandingsOf is Standings for a file that cannot be prepared, or a workflow: what is
// above a gate is not compared.
func (s *Session) StandingsOf(ctx context.Context, d *hopxml.Document, vars transform.Resolver) ([]Standing, error) {
	return s.standings(ctx, d, vars, nil)
}

func (s *Session) standings(ctx context.Context, d *hopxml.Document, vars transform.Resolver, sc *scene) ([]Standing, error) {
	marks, err := ReadMarks(d)
	if err != nil {
		return nil, err
	}
	var list []Standing
	for _, g := range marks.Gates {
		x := Standing{Node: g.Node, ID: g.ID}
		c, err := g.Resolve(vars)
		if err == nil {
			var place *Place
			if place, err = s.o.Places.Place(ctx, c.Location); err == nil {
				x.Location = place.Location.String()
				err = x.look(ctx, place, sc)
			}
		}
		x.Err = err
		list = append(list, x)
	}
	caches, err := ReadCacheMarks(d)
	if err != nil || len(caches.Gates) == 0 || s.o.Local == nil {
		return list, err
	}
	place, err := s.localPlace(KindCache)
	if err != nil {
		return list, err
	}
	for _, g := range caches.Gates {
		x := Standing{Node: g.Node, ID: g.ID, Location: place.Location.String(), Cache: true}
		x.Err = x.look(ctx, place, sc)
		list = append(list, x)
	}
	return list, nil
}

// look finds the newest snapshot that says something: one that was pruned, or never
// begun, does not.
func (x *Standing) look(ctx context.Context, place *Place, sc *scene) error {
	ids, err := place.Store.IDs(ctx, x.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		ref := storage.SnapshotRef{Gate: x.ID, ID: id}
		sum := place.Store.Inspect(ctx, ref)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if sum.State == storage.SnapshotPruned || sum.Husk {
			continue
		}
		x.State, x.Snapshot, x.Rows, x.Bytes, x.At = sum.State, id, sum.Rows, sum.Stored, sum.Begun
		x.Root, x.CallPath = sum.Origin.RootExecutionID, engine.CallPath(sum.Origin.CallPath)
		if sum.Why != nil {
			x.Why = sum.Why.Error()
		}
		if sum.State == storage.SnapshotSealed {
			x.At = sum.Ended
			x.compare(ctx, place, ref, sc)
		}
		return nil
	}
	return nil
}

// compare proves a sealed snapshot as far as sizes go, and its upstream.
func (x *Standing) compare(ctx context.Context, place *Place, ref storage.SnapshotRef, sc *scene) {
	sn, err := place.Store.Load(ctx, ref)
	if err == nil {
		_, err = sn.Verify(ctx, snapshot.Quick, nil)
	}
	if err != nil {
		x.State, x.Why = storage.SnapshotDamaged, err.Error()
		return
	}
	if sc == nil {
		return
	}
	r, err := place.Store.Record(ctx, ref)
	if err != nil {
		x.Unknown = err.Error()
		return
	}
	then, err := ParseFingerprint(r.Fingerprint)
	if err != nil {
		x.Unknown = err.Error()
		return
	}
	now := sc.fingerprint(x.Node)
	if unknown := slices.Concat(then.Unknown, now.Unknown); len(unknown) > 0 {
		x.Unknown = unknown[0]
		return
	}
	x.Changes = Diff(then, now)
}
