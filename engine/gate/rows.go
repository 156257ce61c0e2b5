package gate

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/parquet"
	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

const (
	segmentsAhead = 1 // fetched while one is decoded
	groupsAhead   = 2 // row groups decoded before they are asked for
	batchesAhead  = 8 // of one row group
)

// sealedRows gives the rows of a sealed snapshot. It is safe for many goroutines.
type sealedRows struct {
	snapshot *snapshot.Snapshot
	parts    []pipeline.PartSpec // in the order of the manifest
	alloc    *batch.Allocator
	memory   *segmentMemory // nil: each part has its own while it is read
}

// Parts implements pipeline.Rows.
func (r *sealedRows) Parts() []pipeline.PartSpec { return r.parts }

type decoded struct {
	batch *batch.Batch
	err   error
}

// Read implements pipeline.Rows. No row of a segment is given before its hash
// matched. Row groups are decoded side by side, and given in order.
func (r *sealedRows) Read(ctx context.Context, part int) iter.Seq2[*batch.Batch, error] {
	return func(yield func(*batch.Batch, error) bool) {
		inner, cancel := context.WithCancel(ctx)
		groups := make(chan chan decoded, groupsAhead)
		var work sync.WaitGroup
		work.Go(func() {
			defer close(groups)
			if err := r.decode(inner, part, groups, &work); err != nil {
				failed := make(chan decoded, 1)
				failed <- decoded{err: err}
				close(failed)
				select {
				case groups <- failed:
				case <-inner.Done():
				}
			}
		})
		defer work.Wait()
		defer discard(groups)
		defer cancel()
		for g := range groups {
			for d := range g {
				if d.err != nil {
					cancel()
					discardGroup(g)
					yield(nil, d.err)
					return
				}
				if !yield(d.batch, nil) {
					cancel()
					discardGroup(g)
					return
				}
			}
		}
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
		}
	}
}

func discard(groups chan chan decoded) {
	for g := range groups {
		discardGroup(g)
	}
}

func discardGroup(g chan decoded) {
	for d := range g {
		if d.batch != nil {
			d.batch.Release()
		}
	}
}

func (r *sealedRows) decode(ctx context.Context, part int, groups chan<- chan decoded, work *sync.WaitGroup) error {
	spec := r.snapshot.Manifest.Parts[part]
	memory := r.memory
	if memory == nil {
		memory = &segmentMemory{}
	}
	for loaded, err := range r.snapshot.Segments(ctx, part, snapshot.Reading{Ahead: segmentsAhead, Memory: memory.take}) {
		if err != nil {
			return err
		}
		f, err := r.open(loaded, spec)
		if err != nil {
			return fmt.Errorf("snapshot %s, segment %s: %w", r.snapshot.Ref, loaded.Name, err)
		}
		var decoding sync.WaitGroup
		for g := range f.Groups() {
			out := make(chan decoded, batchesAhead)
			select {
			case groups <- out:
			case <-ctx.Done():
				return nil
			}
			decoding.Add(1)
			work.Go(func() {
				defer decoding.Done()
				defer close(out)
				r.decodeGroup(ctx, f, g, r.parts[part].Schema, out)
			})
		}
		work.Go(func() {
			decoding.Wait()
			memory.give(loaded.Data)
		})
	}
	return nil
}

// segmentMemory is the memory of segments that are decoded, for the next ones.
type segmentMemory struct {
	mu   sync.Mutex
	free [][]byte
}

// memoryStep is what sizes are rounded up to, so that segments of about the same
// size share their memory.
const memoryStep = 8 << 20

func (m *segmentMemory) take(size int64) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.free) > 0 {
		last := m.free[len(m.free)-1]
		m.free = m.free[:len(m.free)-1]
		if int64(cap(last)) >= size {
			return last
		}
	}
	if size < memoryStep {
		return nil
	}
	return make([]byte, (size+memoryStep-1)/memoryStep*memoryStep)
}

func (m *segmentMemory) give(data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = append(m.free, data[:0])
}

// open checks that the file is what the manifest says. Its hash has matched, so
// a difference means that another program wrote the manifest.
func (r *sealedRows) open(loaded snapshot.Loaded, part snapshot.Part) (*parquet.File, error) {
	f, err := parquet.Open(loaded.Data)
	if err != nil {
		return nil, err
	}
	if f.Rows() != loaded.Rows {
		return nil, fmt.Errorf("%d rows, the manifest says %d: %w", f.Rows(), loaded.Rows, storage.ErrCorrupt)
	}
	if !bytes.Equal(parquet.EncodeSchema(f.Schema()), part.Schema) {
		return nil, fmt.Errorf("another schema than the manifest says: %w", storage.ErrCorrupt)
	}
	return f, nil
}

func (r *sealedRows) decodeGroup(ctx context.Context, f *parquet.File, g int, s *batch.Schema, out chan<- decoded) {
	for b, err := range f.Batches(g, r.alloc) {
		d := decoded{err: err}
		if err == nil {
			d.batch = b.As(s)
			b.Release()
		}
		select {
		case out <- d:
		case <-ctx.Done():
			if d.batch != nil {
				d.batch.Release()
			}
			return
		}
		if err != nil {
			return
		}
	}
}

// partsOf reads the parts of a manifest.
func partsOf(m *snapshot.Manifest) ([]pipeline.PartSpec, error) {
	parts := make([]pipeline.PartSpec, len(m.Parts))
	for i, p := range m.Parts {
		s, err := parquet.DecodeSchema(p.Schema)
		if err != nil {
			return nil, fmt.Errorf("snapshot %s/%s, part %d: %w", m.GateID, m.SnapshotID, i, err)
		}
		parts[i] = pipeline.PartSpec{Port: portOf(p.Port), Copy: p.Copy, Schema: s}
	}
	return parts, nil
}
