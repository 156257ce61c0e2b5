package snapshot

import (
	"context"
	"fmt"

	"sluice/storage"
)

// Record reads open.json of any snapshot, sealed or not. The error wraps
// storage.ErrNotFound or storage.ErrCorrupt where one applies.
func (s *Store) Record(ctx context.Context, ref storage.SnapshotRef) (*Record, error) {
	r, _, err := s.record(ctx, ref)
	if err != nil {
		return nil, about(ref, "", err)
	}
	return r, nil
}

// Record reads open.json of a sealed snapshot and proves that it is the one that
// was sealed.
func (sn *Snapshot) Record(ctx context.Context) (*Record, error) {
	r, data, err := sn.store.record(ctx, sn.Ref)
	if err != nil {
		return nil, about(sn.Ref, sn.stateOf(err), err)
	}
	if sum(data) != sn.Manifest.OpenDigest {
		return nil, about(sn.Ref, storage.SnapshotDamaged, fmt.Errorf("%s is not the one that was sealed: %w", openName, storage.ErrCorrupt))
	}
	return r, nil
}
