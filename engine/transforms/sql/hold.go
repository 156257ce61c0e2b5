package sql

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// hold keeps the batches of a result until the query has ended: in memory within
// the budget of the execution, the rest on disk.
type hold struct {
	env     *transform.Env
	schema  *batch.Schema
	batches []*batch.Batch
	bytes   int64
	spilled transform.SpillFile
}

// take keeps a batch, whose hold it takes over.
func (h *hold) take(b *batch.Batch) error {
	if n := int64(b.Bytesize()); h.spilled == nil && h.env.Memory.Request(n) {
		h.bytes += n
		h.batches = append(h.batches, b)
		return nil
	}
	defer b.Release()
	if h.spilled == nil {
		f, err := h.env.Spill.Create()
		if err != nil {
			return err
		}
		h.spilled = f
	}
	return h.spilled.Write(b)
}

// emit hands everything on, in order.
func (h *hold) emit(ctx context.Context, emit transform.Emit) error {
	for len(h.batches) > 0 {
		b := h.batches[0]
		h.batches = h.batches[1:]
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	if h.spilled == nil {
		return nil
	}
	r, err := h.spilled.Reader(h.schema)
	if err != nil {
		return err
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
}

// close gives back what is held.
func (h *hold) close() error {
	for _, b := range h.batches {
		b.Release()
	}
	h.batches = nil
	h.env.Memory.Release(h.bytes)
	h.bytes = 0
	if h.spilled == nil {
		return nil
	}
	err := h.spilled.Close()
	h.spilled = nil
	return err
}
