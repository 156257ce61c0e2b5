package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/storage"
)

// verdictTimeout bounds how long a failed writer tries to say so.
const verdictTimeout = 30 * time.Second

// Sealing is what is known only at the end of the extraction.
type Sealing struct {
	Variables []Variable
	Sources   []SourceMark
	Effects   json.RawMessage // compact JSON or nil
}

// Seal proves that everything is stored, writes the manifest, and proves that
// too. Only a nil error means SEALED, with one exception: ErrWitness wraps a
// failure to record the digest after the snapshot was sealed, and the manifest
// is returned. After any other error the snapshot has been declared
// INTERRUPTED, or will be by the next observer.
func (w *Writer) Seal(ctx context.Context, extra Sealing) (*Manifest, error) {
	if err := checkCanonical("effects", extra.Effects); err != nil {
		return nil, err
	}
	m, err := w.manifest(storage.SnapshotSealed, "", extra)
	if err == nil {
		err = w.seal(ctx, m)
	}
	if err != nil {
		err = fmt.Errorf("seal: %w", err)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), verdictTimeout)
		defer cancel()
		if verdictErr := w.Interrupt(late, err.Error()); verdictErr != nil {
			err = errors.Join(err, fmt.Errorf("write the verdict: %w", verdictErr))
		}
		return nil, about(w.ref, storage.SnapshotInterrupted, err)
	}
	w.close()
	if w.store.o.Witness != nil {
		if err := w.store.o.Witness.RecordSeal(ctx, w.ref, m.Digest); err != nil {
			return m, about(w.ref, storage.SnapshotSealed, fmt.Errorf("record the digest: %w: %w", ErrWitness, err))
		}
	}
	return m, nil
}

// seal is the barrier of FORMAT.md, step by step.
func (w *Writer) seal(ctx context.Context, m *Manifest) error {
	data, err := m.seal(w.store.signer())
	if err != nil {
		return err
	}
	// What no reader would accept must not be written.
	if _, err := ParseManifest(data, w.ref, w.store.o.Keys); err != nil {
		return err
	}
	if err := w.barrier(ctx, m); err != nil {
		return err
	}
	w.mu.Lock()
	w.attempted = true
	w.mu.Unlock()
	if err := w.store.create(ctx, in(w.ref, manifestName), data); err != nil {
		return fmt.Errorf("put %s: %w", manifestName, err)
	}
	stored, err := storage.ReadAll(ctx, w.store.remote, in(w.ref, manifestName), int64(len(data)))
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if !bytes.Equal(stored, data) {
		return corrupt("%s read back differs from what was written", manifestName)
	}
	return w.unburied(ctx)
}

// barrier proves, before the manifest, that each segment is stored whole and
// that nobody has declared this writer dead.
func (w *Writer) barrier(ctx context.Context, m *Manifest) error {
	if err := w.beat.alive(); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for _, s := range m.Segments {
		g.Go(func() error {
			o, err := w.store.remote.Stat(gctx, in(w.ref, s.Name))
			if err != nil {
				return fmt.Errorf("segment %s: %w", s.Name, err)
			}
			if o.Size != s.Bytes {
				return corrupt("segment %s has %d bytes, %d were written", s.Name, o.Size, s.Bytes)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := w.confirmOpen(ctx); err != nil {
		return err
	}
	data, err := storage.ReadAll(ctx, w.store.remote, in(w.ref, leaseName), maxSmallBytes)
	if err != nil {
		return err
	}
	l, err := parseLease(data)
	if err != nil {
		return err
	}
	if l.Nonce != w.record.Nonce || l.SnapshotID != w.ref.ID {
		return fmt.Errorf("%s belongs to another writer: %w", leaseName, ErrFenced)
	}
	if err := w.unburied(ctx); err != nil {
		return err
	}
	return w.beat.alive()
}

// manifest collects what was written so far.
func (w *Writer) manifest(status storage.SnapshotState, reason string, extra Sealing) (*Manifest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := &Manifest{
		SnapshotID: w.ref.ID, GateID: w.ref.Gate, Origin: w.record.Origin, Status: status, Reason: reason,
		Parts: slices.Clone(w.parts), Variables: extra.Variables, Sources: extra.Sources, Effects: extra.Effects,
		Started: w.record.Started, Ended: w.store.o.Now(), OpenDigest: sum(w.opened),
	}
	sealing := status == storage.SnapshotSealed
	switch {
	case !sealing:
	case w.closed:
		return nil, ErrClosed
	case w.failed != nil:
		return nil, w.failed
	case slices.Contains(w.ended, false):
		return nil, fmt.Errorf("part %d has not ended", slices.Index(w.ended, false))
	}
	for key, s := range w.segments {
		if s.Name == "" {
			if sealing {
				return nil, fmt.Errorf("segment %d of part %d is still being put", key[1], key[0])
			}
			continue
		}
		m.Segments = append(m.Segments, s)
		m.RowCount += s.Rows
		m.Bytes += s.Bytes
	}
	slices.SortFunc(m.Segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Index, b.Index))
	})
	return m, nil
}

// Interrupt declares the snapshot INTERRUPTED and stops the heartbeat. It does
// nothing when a verdict was given. When it fails, the snapshot has none, and
// an observer will declare it dead.
func (w *Writer) Interrupt(ctx context.Context, reason string) error {
	w.mu.Lock()
	closed, attempted := w.closed, w.attempted
	w.mu.Unlock()
	if closed {
		return nil
	}
	defer w.close()
	if attempted {
		// The SEALED manifest may have arrived, or may still arrive. Nothing is
		// overwritten; a tombstone wins over it.
		_, _, err := w.store.bury(ctx, w.ref, Tombstone{Status: storage.SnapshotInterrupted, Reason: reason})
		return err
	}
	m, err := w.manifest(storage.SnapshotInterrupted, reason, Sealing{})
	if err != nil {
		return err
	}
	data, err := m.seal(w.store.signer())
	if err != nil {
		return err
	}
	err = w.store.create(ctx, in(w.ref, manifestName), data)
	if errors.Is(err, storage.ErrExists) {
		return nil // an observer was faster, with the same verdict
	}
	return err
}

// Close interrupts a snapshot that has no verdict. It is idempotent.
func (w *Writer) Close(ctx context.Context) error {
	return w.Interrupt(ctx, "its writer was closed before the end of the rows")
}
