package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// Source is a sealed snapshot in the place of the transform that made it.
type Source struct {
	sealedRows
	Ref    storage.SnapshotRef
	Place  *Place
	Record *snapshot.Record
	kind   recorded
	eff    pipeline.Effects
}

var _ pipeline.Bound = (*Source)(nil)

// Effects implements pipeline.Bound.
func (s *Source) Effects() pipeline.Effects { return s.eff }

// Manifest is that of the snapshot.
func (s *Source) Manifest() *snapshot.Manifest { return s.snapshot.Manifest }

// Kind says what the snapshot stands for.
func (s *Source) Kind() Kind { return s.kind.Kind }

// OpenSource loads a sealed snapshot: its manifest is verified, its segments are
// not yet.
func OpenSource(ctx context.Context, p *Place, ref storage.SnapshotRef, a *batch.Allocator) (*Source, error) {
	sn, err := p.Store.Load(ctx, ref)
	if err != nil {
		return nil, err
	}
	return sourceOf(ctx, p, sn, a)
}

func sourceOf(ctx context.Context, p *Place, sn *snapshot.Snapshot, a *batch.Allocator) (*Source, error) {
	s := &Source{sealedRows: sealedRows{snapshot: sn, alloc: a}, Ref: sn.Ref, Place: p}
	var err error
	if s.Record, err = sn.Record(ctx); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(s.Record.Settings, &s.kind); err != nil && len(s.Record.Settings) > 0 {
		return nil, fmt.Errorf("snapshot %s: settings: %w", sn.Ref, err)
	}
	if s.parts, err = partsOf(sn.Manifest); err != nil {
		return nil, err
	}
	if s.eff, err = effectsOf(sn.Manifest); err != nil {
		return nil, err
	}
	return s, nil
}

// choose opens the snapshot that a start names. Latest is the newest sealed one;
// when there is none the error is that of the newest.
func choose(ctx context.Context, p *Place, gateID, id string, a *batch.Allocator) (*Source, error) {
	if id != "" && !strings.EqualFold(id, Latest) {
		ref, err := p.Store.Find(ctx, gateID, id)
		if err != nil {
			return nil, err
		}
		return OpenSource(ctx, p, ref, a)
	}
	return newest(ctx, p, gateID, func(sn *snapshot.Snapshot) (*Source, error) { return sourceOf(ctx, p, sn, a) })
}

// errNoSnapshot says that a gate has never been reached.
var errNoSnapshot = fmt.Errorf("there is no snapshot of this gate: %w", storage.ErrNotFound)

// newest gives the newest sealed snapshot that open accepts; errNext passes one
// over.
func newest(ctx context.Context, p *Place, gateID string, open func(*snapshot.Snapshot) (*Source, error)) (*Source, error) {
	ids, err := p.Store.IDs(ctx, gateID)
	if err != nil {
		return nil, err
	}
	var first error
	for _, id := range ids {
		sn, err := p.Store.Load(ctx, storage.SnapshotRef{Gate: gateID, ID: id})
		if err == nil {
			var s *Source
			if s, err = open(sn); err == nil {
				return s, nil
			}
		}
		var own *storage.SnapshotError
		if !errors.Is(err, errNext) && !errors.As(err, &own) {
			return nil, err
		}
		if first == nil && !errors.Is(err, errNext) {
			first = err
		}
	}
	if first == nil {
		first = errNoSnapshot
	}
	return nil, first
}

var errNext = errors.New("another snapshot is looked for")
