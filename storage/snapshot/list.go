package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/storage"
)

// inspectParallel is how many snapshot folders are looked at at once.
const inspectParallel = 8

// Summary is what a list shows of one snapshot.
type Summary struct {
	Ref   storage.SnapshotRef
	State storage.SnapshotState
	// Why explains every state but SEALED.
	Why error
	// Begun is the time in the snapshot's id.
	Begun time.Time
	// Ended, Rows and Digest are those of a sealed manifest, or of the
	// tombstone of a pruned one.
	Ended  time.Time
	Rows   int64
	Digest string
	// Stored is what the folder takes now, in bytes.
	Stored int64
	Origin Origin
	Pins   []Pin
	// Ours is true when open.json is there and readable. Nothing else is ever
	// deleted.
	Ours bool
	// Husk is true for a folder that holds nothing, or temporary objects only:
	// its writer died before it had begun.
	Husk bool
	// leftovers is true when more than open.json and tombstone is stored.
	leftovers bool
}

// Pinned tells whether some pin holds at now.
func (s *Summary) Pinned(now time.Time) bool {
	return slices.ContainsFunc(s.Pins, func(p Pin) bool { return p.holds(now) })
}

// Gates lists the gates that have a folder below the root.
func (s *Store) Gates(ctx context.Context) ([]string, error) {
	return s.folders(ctx, "", gatePattern().MatchString)
}

// IDs lists the snapshots of a gate, newest first.
func (s *Store) IDs(ctx context.Context, gate string) ([]string, error) {
	if !gatePattern().MatchString(gate) {
		return nil, fmt.Errorf("gate id %q: %w", gate, storage.ErrBadName)
	}
	ids, err := s.folders(ctx, gate, idPattern().MatchString)
	slices.Reverse(ids)
	return ids, err
}

func (s *Store) folders(ctx context.Context, dir string, fits func(string) bool) ([]string, error) {
	list, err := s.remote.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range list {
		if name := path.Base(o.Name); o.Dir && fits(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// List summarises the snapshots of one gate, or of all gates when gate is "",
// by gate, newest first. One that cannot be looked at is listed with the
// reason.
func (s *Store) List(ctx context.Context, gate string) ([]Summary, error) {
	gates := []string{gate}
	if gate == "" {
		var err error
		if gates, err = s.Gates(ctx); err != nil {
			return nil, err
		}
	}
	var refs []storage.SnapshotRef
	for _, g := range gates {
		ids, err := s.IDs(ctx, g)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			refs = append(refs, storage.SnapshotRef{Gate: g, ID: id})
		}
	}
	list := make([]Summary, len(refs))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(inspectParallel)
	for i, ref := range refs {
		g.Go(func() error {
			list[i] = s.Inspect(gctx, ref)
			return context.Cause(gctx)
		})
	}
	return list, g.Wait()
}

// Inspect summarises one snapshot. It never fails: what cannot be found out
// is in Why.
func (s *Store) Inspect(ctx context.Context, ref storage.SnapshotRef) Summary {
	out := Summary{Ref: ref}
	out.Begun, _ = Time(ref.ID)
	loaded, err := s.Load(ctx, ref)
	if err != nil {
		out.Why = err
		if own, ok := errors.AsType[*storage.SnapshotError](err); ok {
			out.State = own.State
		}
	} else {
		out.State = storage.SnapshotSealed
		out.Rows, out.Digest, out.Ended = loaded.Manifest.RowCount, loaded.Manifest.Digest, loaded.Manifest.Ended
		out.Origin = loaded.Manifest.Origin
	}
	if record, _, err := s.record(ctx, ref); err == nil {
		out.Ours, out.Origin = true, record.Origin
	}
	if t, err := s.tombstone(ctx, ref); err == nil && t != nil {
		if t.Status == storage.SnapshotPruned {
			out.Rows, out.Digest, out.Ended = t.Rows, t.Digest, t.At
		}
	}
	if err := s.inspectFolder(ctx, &out); err != nil && out.Why == nil {
		out.Why = err
	}
	return out
}

func (s *Store) inspectFolder(ctx context.Context, out *Summary) error {
	list, err := s.remote.List(ctx, folder(out.Ref))
	if err != nil {
		return err
	}
	out.Husk = true
	for _, o := range list {
		out.Stored += o.Size
		file := path.Base(o.Name)
		out.Husk = out.Husk && storage.IsTemporary(file)
		out.leftovers = out.leftovers || file == manifestName || isErasable(file)
		id, ok := pinID(file)
		if !ok {
			continue
		}
		out.Pins = append(out.Pins, s.readPin(ctx, out.Ref, id))
	}
	return nil
}

// readPin gives a pin. One that cannot be read holds for ever: somebody meant
// something by it.
func (s *Store) readPin(ctx context.Context, ref storage.SnapshotRef, id string) Pin {
	data, err := storage.ReadAll(ctx, s.remote, in(ref, pinName(id)), maxSmallBytes)
	if err == nil {
		var p *Pin
		if p, err = parsePin(data); err == nil {
			return *p
		}
	}
	return Pin{ID: id, Reason: "cannot be read: " + err.Error()}
}

// Latest gives the newest sealed snapshot of a gate that loads.
// storage.ErrNotFound when there is none; the error names why the newest one
// was not taken.
func (s *Store) Latest(ctx context.Context, gate string) (*Snapshot, error) {
	ids, err := s.IDs(ctx, gate)
	if err != nil {
		return nil, err
	}
	var newest error
	for _, id := range ids {
		snapshot, err := s.Load(ctx, storage.SnapshotRef{Gate: gate, ID: id})
		if err == nil {
			return snapshot, nil
		}
		var own *storage.SnapshotError
		if !errors.As(err, &own) || own.State == "" {
			return nil, err // unknown is not "no"
		}
		if newest == nil {
			newest = err
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("gate %s has no snapshot: %w", gate, storage.ErrNotFound)
	}
	return nil, fmt.Errorf("gate %s has no sealed snapshot: %w; the newest: %w", gate, storage.ErrNotFound, newest)
}

// Find completes a shortened snapshot id, in one gate or, when gate is "", in
// all. storage.ErrNotFound when none fits; ErrAmbiguous names those that do.
func (s *Store) Find(ctx context.Context, gate, prefix string) (storage.SnapshotRef, error) {
	prefix = strings.ToLower(prefix)
	if prefix == "" {
		return storage.SnapshotRef{}, fmt.Errorf("empty snapshot id: %w", storage.ErrNotFound)
	}
	gates := []string{gate}
	if gate == "" {
		var err error
		if gates, err = s.Gates(ctx); err != nil {
			return storage.SnapshotRef{}, err
		}
	}
	var fits []storage.SnapshotRef
	for _, g := range gates {
		ids, err := s.IDs(ctx, g)
		if err != nil {
			return storage.SnapshotRef{}, err
		}
		for _, id := range ids {
			if strings.HasPrefix(id, prefix) {
				fits = append(fits, storage.SnapshotRef{Gate: g, ID: id})
			}
		}
	}
	switch len(fits) {
	case 0:
		return storage.SnapshotRef{}, fmt.Errorf("no snapshot id starts with %q: %w", prefix, storage.ErrNotFound)
	case 1:
		return fits[0], nil
	}
	names := make([]string, 0, 5)
	for _, r := range fits[:min(len(fits), 5)] {
		names = append(names, r.String())
	}
	return storage.SnapshotRef{}, fmt.Errorf("%q fits %d snapshots (%s): %w", prefix, len(fits), strings.Join(names, ", "), ErrAmbiguous)
}
