package snapshot

import (
	"context"
	"crypto/md5" // the hash that remotes compute, not a protection
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sluice/storage"
)

// Writer writes one snapshot. PutSegment may be called by many goroutines;
// everything else by one. A Writer must end by Seal, Interrupt or Close.
type Writer struct {
	store   *Store
	ref     storage.SnapshotRef
	record  *Record
	opened  []byte // the bytes of open.json
	beat    *heartbeat
	release func() error // the lock on open.json
	pin     *CachePin

	mu        sync.Mutex
	parts     []Part
	ended     []bool
	segments  map[[2]int]Segment // part, index; Name is "" while the Put runs
	failed    error
	closed    bool
	attempted bool // a SEALED manifest may be at the remote
}

// Ref names the snapshot.
func (w *Writer) Ref() storage.SnapshotRef { return w.ref }

// Fenced is closed when the heartbeat was lost for too long. Stop the
// extraction then: the snapshot cannot be sealed any more.
func (w *Writer) Fenced() <-chan struct{} { return w.beat.fenced }

// AddPart declares the next part and gives its id. The schema is compact
// JSON.
func (w *Writer) AddPart(port string, copyNumber int, schema json.RawMessage) (int, error) {
	if len(schema) == 0 {
		return 0, errors.New("part without schema")
	}
	if err := checkCanonical("schema", schema); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, ErrClosed
	}
	if len(w.parts) == maxParts {
		return 0, fmt.Errorf("more than %d parts", maxParts)
	}
	w.parts = append(w.parts, Part{ID: len(w.parts), Port: port, Copy: copyNumber, Schema: slices.Clone(schema)})
	w.ended = append(w.ended, false)
	return len(w.parts) - 1, nil
}

// NewSegment is an encoded segment on its way to the remote.
type NewSegment struct {
	Part      int
	Index     int // from 0 in its part; segments may be put in any order
	Rows      int64
	Extension string // "parquet"
	Data      []byte // at most MaxSegmentBytes; not changed until PutSegment returns
}

// PutSegment stores one segment. After an error the snapshot cannot be sealed
// any more.
func (w *Writer) PutSegment(ctx context.Context, n NewSegment) (Segment, error) {
	digest := sha256.Sum256(n.Data)
	entry := Segment{Part: n.Part, Index: n.Index, Bytes: int64(len(n.Data)), Rows: n.Rows, SHA256: hex.EncodeToString(digest[:])}
	content := storage.Bytes(n.Data)
	if c := w.store.remote.Capabilities(); c.Hash == "md5" && !c.Local {
		m := md5.Sum(n.Data)
		content.MD5, entry.MD5 = m[:], hex.EncodeToString(m[:])
	}
	if err := w.reserve(n); err != nil {
		return Segment{}, err
	}
	entry.Name = segmentName(n.Part, n.Index, entry.SHA256, n.Extension)
	err := w.beat.alive()
	if err == nil {
		err = w.store.remote.Put(ctx, in(w.ref, entry.Name), content)
	}
	if err == nil && w.store.o.Cache != nil && !w.store.remote.Capabilities().Local {
		w.cache(entry, n.Data)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		err = about(w.ref, storage.SnapshotOpen, fmt.Errorf("put segment %s: %w", entry.Name, err))
		if w.failed == nil {
			w.failed = err
		}
		delete(w.segments, [2]int{n.Part, n.Index})
		return Segment{}, err
	}
	w.segments[[2]int{n.Part, n.Index}] = entry
	return entry, nil
}

// cache writes a segment through to the local cache, so that a release or a
// replay on this machine downloads nothing. A full cache is no error.
func (w *Writer) cache(entry Segment, data []byte) {
	var err error
	if w.pin != nil {
		err = w.pin.Add(entry.SHA256)
	}
	if err == nil {
		err = w.store.o.Cache.Put(entry.SHA256, data)
	}
	if err != nil {
		w.store.o.Logger.Warn("Segment is not cached", "segment", entry.Name, "err", err)
	}
}

func (w *Writer) reserve(n NewSegment) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := [2]int{n.Part, n.Index}
	_, taken := w.segments[key]
	switch {
	case w.closed:
		return ErrClosed
	case w.failed != nil:
		return w.failed
	case n.Part < 0 || n.Part >= len(w.parts) || n.Index < 0 || n.Index >= maxSegments:
		return fmt.Errorf("segment %d of part %d: no such part or number", n.Index, n.Part)
	case w.ended[n.Part]:
		return fmt.Errorf("segment %d of part %d: the part has ended", n.Index, n.Part)
	case taken:
		return fmt.Errorf("segment %d of part %d: %w", n.Index, n.Part, storage.ErrExists)
	case len(n.Data) > MaxSegmentBytes:
		return fmt.Errorf("segment %d of part %d has %d bytes, at most %d are allowed", n.Index, n.Part, len(n.Data), MaxSegmentBytes)
	case n.Rows < 0 || !extensionPattern().MatchString(n.Extension):
		return fmt.Errorf("segment %d of part %d: rows %d, extension %q", n.Index, n.Part, n.Rows, n.Extension)
	}
	w.segments[key] = Segment{}
	return nil
}

// EndPart states that a part is complete: how many rows it has, and the
// encoder's digest over them (see Part.ContentDigest). All its segments must
// have been put.
func (w *Writer) EndPart(part int, rows int64, content [sha256.Size]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return ErrClosed
	case part < 0 || part >= len(w.parts) || w.ended[part]:
		return fmt.Errorf("end of part %d: no such part, or ended twice", part)
	}
	w.parts[part].Rows = rows
	w.parts[part].ContentDigest = hex.EncodeToString(content[:])
	w.ended[part] = true
	return nil
}

func (w *Writer) close() {
	w.mu.Lock()
	done := w.closed
	w.closed = true
	w.mu.Unlock()
	if done {
		return
	}
	if w.beat != nil {
		w.beat.stop()
	}
	if w.release != nil {
		if err := w.release(); err != nil {
			w.store.o.Logger.Warn("Lock of snapshot is not released", "snapshot", w.ref.String(), "err", err)
		}
	}
}
