package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/storage"
)

// DeclareDead gives the verdict INTERRUPTED in place of a writer that cannot
// give it: the tombstone first, then a manifest if there is still none. It
// returns the state that a reader sees afterwards.
//
// Only call it for a writer that is known to be gone: its process has ended
// (the caller's journal says so), its lock is free, or an Observer says so.
// Being wrong costs the snapshot, never its truth: a paused writer that wakes
// up finds the tombstone and does not report SEALED. When its manifest turns
// out to be SEALED and everything it names is stored, the tombstone is
// withdrawn.
func (s *Store) DeclareDead(ctx context.Context, ref storage.SnapshotRef, reason string) (storage.SnapshotState, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	state, err := s.verdict(ctx, ref)
	if err != nil || state != storage.SnapshotOpen {
		return state, err
	}
	_, opened, err := s.record(ctx, ref)
	if err != nil {
		return "", about(ref, "", err)
	}
	stone, mine, err := s.bury(ctx, ref, Tombstone{Status: storage.SnapshotInterrupted, Reason: reason})
	if err != nil {
		return "", about(ref, "", fmt.Errorf("declare dead: %w", err))
	}
	if err := s.concludeInterrupted(ctx, ref, opened, reason); err != nil {
		return "", about(ref, "", fmt.Errorf("declare dead: %w", err))
	}
	if !mine {
		return stone.Status, nil
	}
	return s.reconsider(ctx, ref, stone)
}

// verdict is Load's state; the error is for what could not be found out.
func (s *Store) verdict(ctx context.Context, ref storage.SnapshotRef) (storage.SnapshotState, error) {
	_, err := s.Load(ctx, ref)
	if err == nil {
		return storage.SnapshotSealed, nil
	}
	var own *storage.SnapshotError
	if errors.As(err, &own) && own.State != "" {
		return own.State, nil
	}
	return "", err
}

// concludeInterrupted writes an INTERRUPTED manifest where there is none, so
// that a tombstone is not the only witness.
func (s *Store) concludeInterrupted(ctx context.Context, ref storage.SnapshotRef, opened []byte, reason string) error {
	name := in(ref, manifestName)
	err := s.certainlyAbsent(ctx, name)
	if errors.Is(err, storage.ErrExists) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := parseRecord(opened, ref)
	if err != nil {
		return err
	}
	m := &Manifest{
		SnapshotID: ref.ID, GateID: ref.Gate, Origin: r.Origin, Status: storage.SnapshotInterrupted, Reason: reason,
		Started: r.Started, Ended: s.o.Now(), OpenDigest: sum(opened),
	}
	data, err := m.seal(s.signer())
	if err != nil {
		return err
	}
	if err := s.create(ctx, name, data); err != nil && !errors.Is(err, storage.ErrExists) {
		return err
	}
	return nil
}

// reconsider withdraws this reaper's own tombstone when the writer sealed
// after all: the manifest verifies and every segment has its size. The
// segments' hashes are proved by every reader.
func (s *Store) reconsider(ctx context.Context, ref storage.SnapshotRef, mine *Tombstone) (storage.SnapshotState, error) {
	data, err := storage.ReadAll(ctx, s.remote, in(ref, manifestName), maxManifestBytes)
	if err != nil {
		return "", about(ref, "", err)
	}
	m, err := ParseManifest(data, ref, s.o.Keys)
	if err != nil || m.Status != storage.SnapshotSealed {
		return storage.SnapshotInterrupted, nil //nolint:nilerr // what does not verify stays buried
	}
	sealed := &Snapshot{Ref: ref, Manifest: m, store: s}
	if _, err := sealed.Verify(ctx, Quick, nil); err != nil {
		if errors.Is(err, storage.ErrCorrupt) {
			return storage.SnapshotInterrupted, nil
		}
		return "", err
	}
	if err := s.withdraw(ctx, ref, mine); err != nil {
		return "", about(ref, "", fmt.Errorf("withdraw tombstone: %w", err))
	}
	return s.verdict(ctx, ref)
}

// An Observer finds dead writers of other hosts, and of this one, below one
// store. It must be asked from time to time; an hour's silence of the
// observer itself does no harm. It is owned by one goroutine.
type Observer struct {
	store   *Store
	watches map[storage.SnapshotRef]*storage.LeaseWatch
}

// NewObserver has seen nothing yet.
func (s *Store) NewObserver() *Observer {
	return &Observer{store: s, watches: map[storage.SnapshotRef]*storage.LeaseWatch{}}
}

// Observe looks once at a snapshot and tells whether its writer is dead. Only
// successful reads count: a remote that is down proves nothing. What has a
// verdict already is not dead.
func (o *Observer) Observe(ctx context.Context, ref storage.SnapshotRef) (dead bool, err error) {
	state, err := o.store.verdict(ctx, ref)
	if err != nil || state != storage.SnapshotOpen {
		delete(o.watches, ref)
		return false, err
	}
	r, _, err := o.store.record(ctx, ref)
	if err != nil {
		return false, about(ref, "", err)
	}
	if free, known := o.store.lockFree(ctx, ref, r); known {
		return free, nil
	}
	seen := storage.Lease{Seq: -1, Interval: r.heartbeat()}
	data, err := storage.ReadAll(ctx, o.store.remote, in(ref, leaseName), maxSmallBytes)
	if err == nil {
		var l *lease
		if l, err = parseLease(data); err == nil {
			seen.Nonce, seen.Seq = l.Nonce, l.Seq
		}
	}
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound):
	case storage.Torn(err):
		seen = storage.TornLease(r.heartbeat())
	default:
		return false, about(ref, "", err)
	}
	watch := o.watches[ref]
	if watch == nil {
		watch = &storage.LeaseWatch{}
		o.watches[ref] = watch
	}
	return watch.Observe(seen, time.Now()), nil
}

// lockFree asks the operating system, where writer and observer are on one
// host and the writer holds a lock.
func (s *Store) lockFree(ctx context.Context, ref storage.SnapshotRef, r *Record) (free, known bool) {
	locker, ok := s.remote.(storage.Locker)
	if !ok || r.Liveness != livenessLock || r.Writer.Name != s.o.Host.Name || !s.remote.Capabilities().Local {
		return false, false
	}
	release, err := locker.TryLock(ctx, in(ref, openName))
	switch {
	case err == nil:
		_ = release()
		return true, true
	case errors.Is(err, storage.ErrLocked):
		return false, true
	}
	return false, false
}

// Reap observes every open snapshot of a gate (all gates when "") and declares
// the dead ones INTERRUPTED. It gives those. It goes on after an error and
// returns them joined.
func (o *Observer) Reap(ctx context.Context, gate string) ([]storage.SnapshotRef, error) {
	gates := []string{gate}
	if gate == "" {
		var err error
		if gates, err = o.store.Gates(ctx); err != nil {
			return nil, err
		}
	}
	var reaped []storage.SnapshotRef
	var problems []error
	for _, g := range gates {
		ids, err := o.store.IDs(ctx, g)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, id := range ids {
			ref := storage.SnapshotRef{Gate: g, ID: id}
			done, err := o.reapOne(ctx, ref)
			if err != nil {
				problems = append(problems, err)
			}
			if done {
				reaped = append(reaped, ref)
			}
		}
	}
	return reaped, errors.Join(problems...)
}

func (o *Observer) reapOne(ctx context.Context, ref storage.SnapshotRef) (bool, error) {
	dead, err := o.Observe(ctx, ref)
	if err != nil || !dead {
		return false, err
	}
	state, err := o.store.DeclareDead(ctx, ref, "its writer stopped without a verdict")
	delete(o.watches, ref)
	return err == nil && state == storage.SnapshotInterrupted, err
}
