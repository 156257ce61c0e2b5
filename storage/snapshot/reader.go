package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"sluice/storage"
)

// Snapshot is a SEALED snapshot whose manifest was verified and whose
// tombstone was certainly absent. It is safe for many goroutines.
type Snapshot struct {
	Ref      storage.SnapshotRef
	Manifest *Manifest
	store    *Store
}

// Load gives the verdict of a reader, in the reverse order of writing: the
// manifest parses and verifies, it says SEALED, the second witness does not
// contradict, the tombstone is certainly absent. Any other answer is a
// *storage.SnapshotError that says why.
func (s *Store) Load(ctx context.Context, ref storage.SnapshotRef) (*Snapshot, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	data, err := storage.ReadAll(ctx, s.remote, in(ref, manifestName), maxManifestBytes)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, s.noManifest(ctx, ref)
	}
	if err != nil {
		return nil, about(ref, "", err)
	}
	m, err := ParseManifest(data, ref, s.o.Keys)
	if err != nil {
		return nil, s.refused(ctx, ref, err)
	}
	if m.Status != storage.SnapshotSealed {
		return nil, about(ref, storage.SnapshotInterrupted, fmt.Errorf("%w (%s)", ErrInterrupted, m.Reason))
	}
	if err := s.askWitness(ctx, ref, m.Digest); err != nil {
		return nil, err
	}
	t, err := s.tombstone(ctx, ref)
	if err != nil {
		return nil, about(ref, "", fmt.Errorf("cannot tell whether it was declared dead: %w", err))
	}
	if t != nil {
		return nil, tombstoneError(ref, t)
	}
	return &Snapshot{Ref: ref, Manifest: m, store: s}, nil
}

// noManifest tells why there is no manifest.
func (s *Store) noManifest(ctx context.Context, ref storage.SnapshotRef) error {
	t, err := s.tombstone(ctx, ref)
	if err != nil {
		return about(ref, "", err)
	}
	if t != nil {
		return tombstoneError(ref, t)
	}
	_, _, err = s.record(ctx, ref)
	switch {
	case err == nil:
		return about(ref, storage.SnapshotOpen, ErrOpen)
	case errors.Is(err, storage.ErrNotFound):
		return about(ref, "", fmt.Errorf("no such snapshot: %w", err))
	case errors.Is(err, storage.ErrCorrupt):
		return about(ref, storage.SnapshotDamaged, err)
	}
	return about(ref, "", err)
}

// refused explains a manifest that does not verify. A tombstone explains it
// better than its damage does.
func (s *Store) refused(ctx context.Context, ref storage.SnapshotRef, cause error) error {
	if t, err := s.tombstone(ctx, ref); err == nil && t != nil {
		return tombstoneError(ref, t)
	}
	return about(ref, storage.SnapshotDamaged, cause)
}

func (s *Store) askWitness(ctx context.Context, ref storage.SnapshotRef, digest string) error {
	if s.o.Witness == nil {
		return nil
	}
	recorded, err := s.o.Witness.SealedDigest(ctx, ref)
	if err != nil {
		return about(ref, "", fmt.Errorf("ask the second witness: %w", err))
	}
	if recorded != "" && recorded != digest {
		return about(ref, storage.SnapshotDamaged, fmt.Errorf("%w: %w", ErrWitness, storage.ErrCorrupt))
	}
	return nil
}

// Reading says how segments are fetched.
type Reading struct {
	// Ahead is how many segments are fetched before they are asked for; 0 is
	// one. Memory is (Ahead + 2) segments of at most 64 MiB.
	Ahead int
	// NoCache neither reads nor fills the local cache: for remotes whose rows
	// must not lie on this disk.
	NoCache bool
	// Memory gives memory for a segment of so many bytes, of any content, or nil
	// for new memory. It is called from another goroutine than the loop's.
	Memory func(bytes int64) []byte
}

// Loaded is a segment whose SHA-256 matched. Data belongs to the receiver.
type Loaded struct {
	Segment
	Data []byte
}

// Segments streams the segments of one part in order. Each one is handed out
// only after its hash matched; the first error ends the sequence. The
// goroutine behind it has ended when the loop has.
func (sn *Snapshot) Segments(ctx context.Context, part int, r Reading) iter.Seq2[Loaded, error] {
	return func(yield func(Loaded, error) bool) {
		type result struct {
			loaded Loaded
			err    error
		}
		ctx, cancel := context.WithCancel(ctx)
		ahead := make(chan result, max(r.Ahead, 1))
		go func() {
			defer close(ahead)
			for _, segment := range sn.Manifest.SegmentsOf(part) {
				data, err := sn.fetch(ctx, segment, r)
				select {
				case ahead <- result{Loaded{segment, data}, err}:
				case <-ctx.Done():
					return
				}
				if err != nil {
					return
				}
			}
		}()
		defer func() {
			cancel()
			for range ahead { // until the goroutine has ended
			}
		}()
		for next := range ahead {
			if !yield(next.loaded, next.err) || next.err != nil {
				return
			}
		}
		if err := context.Cause(ctx); err != nil {
			yield(Loaded{}, about(sn.Ref, "", err))
		}
	}
}

// fetch gets one segment from the cache or the remote and proves it.
func (sn *Snapshot) fetch(ctx context.Context, segment Segment, r Reading) ([]byte, error) {
	cache := sn.cacheFor(r)
	if cache != nil {
		if data, ok := cache.Get(segment.SHA256, segment.Bytes); ok {
			return data, nil
		}
	}
	data, err := sn.download(ctx, segment, r.Memory)
	if err != nil {
		return nil, about(sn.Ref, sn.stateOf(err), err)
	}
	if cache != nil {
		if err := cache.Put(segment.SHA256, data); err != nil {
			sn.store.o.Logger.Warn("Segment is not cached", "segment", segment.Name, "err", err)
		}
	}
	return data, nil
}

func (sn *Snapshot) cacheFor(r Reading) *Cache {
	if r.NoCache || sn.store.remote.Capabilities().Local {
		return nil
	}
	return sn.store.o.Cache
}

// stateOf tells damage from a remote that gave no answer.
func (sn *Snapshot) stateOf(err error) storage.SnapshotState {
	if errors.Is(err, storage.ErrCorrupt) {
		return storage.SnapshotDamaged
	}
	return ""
}

// download reads a whole segment and checks length and hash. A missing
// segment of a sealed snapshot is damage.
func (sn *Snapshot) download(ctx context.Context, segment Segment, memory func(int64) []byte) ([]byte, error) {
	var data []byte
	if memory != nil {
		data = memory(segment.Bytes + 1)
	}
	if int64(cap(data)) <= segment.Bytes {
		data = make([]byte, segment.Bytes+1)
	}
	data = data[:segment.Bytes+1]
	var n int
	err := sn.open(ctx, segment, func(in io.Reader) (err error) {
		n, err = io.ReadFull(in, data)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if int64(n) != segment.Bytes {
		return nil, sn.wrongLength(ctx, segment, int64(n))
	}
	data = data[:n]
	if err := checkHash(segment, sha256.Sum256(data)); err != nil {
		return nil, err
	}
	return data, nil
}

// hash is download without keeping the bytes.
func (sn *Snapshot) hash(ctx context.Context, segment Segment) error {
	h := sha256.New()
	var n int64
	err := sn.open(ctx, segment, func(in io.Reader) error {
		buf := hashBuffers.Get().(*[hashBytes]byte)
		defer hashBuffers.Put(buf)
		for {
			k, err := in.Read(buf[:])
			h.Write(buf[:k])
			n += int64(k)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	if n != segment.Bytes {
		return sn.wrongLength(ctx, segment, n)
	}
	return checkHash(segment, [sha256.Size]byte(h.Sum(nil)))
}

// hashBytes is how much is read at once: it stays in the processor's cache until
// it is hashed.
const hashBytes = 256 << 10

var hashBuffers = sync.Pool{New: func() any { return new([hashBytes]byte) }}

// open has read take the bytes of a segment, of which there may be one too many.
func (sn *Snapshot) open(ctx context.Context, segment Segment, read func(io.Reader) error) error {
	in, err := sn.store.remote.Open(ctx, in(sn.Ref, segment.Name), 0, segment.Bytes+1)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("segment %s is missing: %w", segment.Name, storage.ErrCorrupt)
	}
	if err == nil {
		err = read(in)
		if closeErr := in.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fmt.Errorf("segment %s: %w", segment.Name, err)
	}
	return nil
}

func checkHash(segment Segment, digest [sha256.Size]byte) error {
	if want, _ := hex.DecodeString(segment.SHA256); !bytes.Equal(want, digest[:]) {
		return corrupt("segment %s: its SHA-256 does not match", segment.Name)
	}
	return nil
}

// wrongLength tells a truncated object from a connection that broke.
func (sn *Snapshot) wrongLength(ctx context.Context, segment Segment, n int64) error {
	o, err := sn.store.remote.Stat(ctx, in(sn.Ref, segment.Name))
	if err == nil && o.Size == segment.Bytes {
		return fmt.Errorf("segment %s: read %d of %d bytes: %w", segment.Name, n, segment.Bytes, storage.ErrUnreachable)
	}
	return corrupt("segment %s does not have its %d bytes", segment.Name, segment.Bytes)
}
