package snapshot

import (
	"context"
	"fmt"
	"time"

	"sluice/storage"
)

// Pin keeps a snapshot from being pruned, by anybody, until it is unpinned or
// ttl has passed (0 is for ever). id is an execution id or a name. Pinning
// again with the same id renews it. ErrPruned when it is too late.
//
// The pin is written first and the tombstone looked at second; retention
// buries first and looks for pins second. So at least one of the two sees
// the other.
func (s *Store) Pin(ctx context.Context, ref storage.SnapshotRef, id, reason string, ttl time.Duration) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if !pinPattern().MatchString(id) {
		return fmt.Errorf("pin %q: letters, digits, - and _ only: %w", id, storage.ErrBadName)
	}
	// Nothing is written into a folder that is not a snapshot.
	if _, _, err := s.record(ctx, ref); err != nil {
		return about(ref, "", err)
	}
	now := s.o.Now().UTC().Round(0)
	p := Pin{ID: id, By: s.o.Host, Reason: reason, Created: now}
	if ttl > 0 {
		p.Expires = now.Add(ttl)
	}
	data, err := p.encode()
	if err != nil {
		return err
	}
	if err := s.remote.Put(ctx, in(ref, pinName(id)), storage.Bytes(data)); err != nil {
		return about(ref, "", fmt.Errorf("pin: %w", err))
	}
	t, err := s.tombstone(ctx, ref)
	if err != nil {
		return about(ref, "", fmt.Errorf("pin: %w", err))
	}
	if t != nil && t.Status == storage.SnapshotPruned {
		_ = s.remote.Delete(ctx, in(ref, pinName(id))) // a pruned snapshot ignores pins
		return tombstoneError(ref, t)
	}
	return nil
}

// Unpin removes a pin. It is not an error when there is none.
func (s *Store) Unpin(ctx context.Context, ref storage.SnapshotRef, id string) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if !pinPattern().MatchString(id) {
		return fmt.Errorf("pin %q: %w", id, storage.ErrBadName)
	}
	return about(ref, "", s.remote.Delete(ctx, in(ref, pinName(id))))
}
