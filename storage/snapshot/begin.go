package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/storage"
)

// beginAttempts is how often Begin takes a new id when somebody was faster.
const beginAttempts = 3

// Begin describes the snapshot to be written.
type Begin struct {
	Gate   string // gate id, 12 hex digits
	Origin Origin
	// Fingerprint and Settings are compact JSON or nil, kept in open.json.
	Fingerprint json.RawMessage
	Settings    json.RawMessage
	// CachePin keeps the segments that are written through to the cache, or
	// nil.
	CachePin *CachePin
}

// Begin creates the folder of a new snapshot and starts its heartbeat.
func (s *Store) Begin(ctx context.Context, b Begin) (*Writer, error) {
	if err := checkCanonical("fingerprint", b.Fingerprint); err != nil {
		return nil, err
	}
	if err := checkCanonical("settings", b.Settings); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		w, err := s.begin(ctx, b)
		if err == nil {
			return w, nil
		}
		taken := errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLocked) || errors.Is(err, ErrInterrupted)
		if !taken || attempt == beginAttempts {
			return nil, fmt.Errorf("begin snapshot of gate %s: %w", b.Gate, err)
		}
	}
}

func (s *Store) begin(ctx context.Context, b Begin) (_ *Writer, err error) {
	now := s.o.Now()
	id, err := NewID(now, s.o.Random)
	if err != nil {
		return nil, err
	}
	w := &Writer{store: s, ref: storage.SnapshotRef{Gate: b.Gate, ID: id}, segments: map[[2]int]Segment{}, pin: b.CachePin}
	if err := checkRef(w.ref); err != nil {
		return nil, err
	}
	if w.record, err = s.newRecord(w.ref, b, now); err != nil {
		return nil, err
	}
	if w.opened, err = canonical(w.record); err != nil {
		return nil, err
	}
	if len(w.opened) > maxRecordBytes {
		return nil, fmt.Errorf("fingerprint and settings take %d bytes, at most %d are allowed", len(w.opened), maxRecordBytes)
	}
	if err := s.create(ctx, in(w.ref, openName), w.opened); err != nil {
		return nil, err
	}
	if err := w.confirmOpen(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.abandon(ctx)
		}
	}()
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	if w.beat, err = startHeartbeat(ctx, s, w.ref, w.record.Nonce, w.release != nil); err != nil {
		return nil, err
	}
	// A reaper on this host may have found open.json before it was locked.
	return w, w.unburied(ctx)
}

func (s *Store) newRecord(ref storage.SnapshotRef, b Begin, now time.Time) (*Record, error) {
	nonce, err := s.nonce()
	if err != nil {
		return nil, err
	}
	r := &Record{
		header: header{openFormat, formatVersion}, SnapshotID: ref.ID, GateID: ref.Gate, Origin: b.Origin,
		Writer: s.o.Host, Nonce: nonce, Liveness: livenessLease, HeartbeatMillis: s.o.Heartbeat.Milliseconds(),
		Fingerprint: b.Fingerprint, Settings: b.Settings, Started: now.UTC().Round(0),
	}
	if _, ok := s.remote.(storage.Locker); ok && s.remote.Capabilities().Local {
		r.Liveness = livenessLock
	}
	if k := s.signer(); k != nil {
		r.KeyID = k.id
	}
	return r, nil
}

// confirmOpen reads open.json back: the folder is ours only if it holds our
// nonce.
func (w *Writer) confirmOpen(ctx context.Context) error {
	stored, err := storage.ReadAll(ctx, w.store.remote, in(w.ref, openName), maxRecordBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, w.opened) {
		return corrupt("%s read back differs from what was written", openName)
	}
	return nil
}

func (w *Writer) lock(ctx context.Context) error {
	if w.record.Liveness != livenessLock {
		return nil
	}
	release, err := w.store.remote.(storage.Locker).TryLock(ctx, in(w.ref, openName))
	if err != nil {
		return fmt.Errorf("lock %s: %w", openName, err)
	}
	w.release = release
	return nil
}

// unburied is nil only when the tombstone is certainly absent.
func (w *Writer) unburied(ctx context.Context) error {
	t, err := w.store.tombstone(ctx, w.ref)
	if err != nil {
		return err
	}
	if t != nil {
		return tombstoneError(w.ref, t)
	}
	return nil
}

// abandon gives up a snapshot that was never handed out.
func (w *Writer) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verdictTimeout)
	defer cancel()
	if err := w.Interrupt(ctx, "could not be begun"); err != nil {
		w.store.o.Logger.Warn("Abandoned snapshot has no verdict", "snapshot", w.ref.String(), "err", err)
	}
}
