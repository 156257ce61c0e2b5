package batch

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// MaxRows is the number of rows a batch is filled up to.
const MaxRows = 4096

// SoftBytes is the amount of data after which a batch is handed on although it
// holds fewer than MaxRows rows.
const SoftBytes = 1 << 20

// Allocator makes and pools the memory of one execution's batches and counts
// what is alive. It is safe for many goroutines.
type Allocator struct {
	live    atomic.Int64
	columns [256]sync.Pool // by type; raw text under rawKind
	batches sync.Pool
}

const rawKind = 255

// NewAllocator gives an empty allocator.
func NewAllocator() *Allocator { return &Allocator{} }

// Live is the number of batches and columns not released yet: 0 after an
// execution that did not leak.
func (a *Allocator) Live() int64 { return a.live.Load() }

// CheckLeaks gives an error when something was not released.
func (a *Allocator) CheckLeaks() error {
	if n := a.Live(); n != 0 {
		return fmt.Errorf("batch: %d batches or columns were not released", n)
	}
	return nil
}

// Column gives an empty column for values of a type, with one hold.
func (a *Allocator) Column(t Type) *Column { return a.column(t, false) }

// RawColumn gives an empty column for unconverted text of a type, with one hold.
func (a *Allocator) RawColumn(t Type) *Column { return a.column(t, true) }

func (a *Allocator) column(t Type, raw bool) *Column {
	kind := t
	if raw || t.isBytes() {
		kind = rawKind
	}
	c, _ := a.columns[kind].Get().(*Column)
	if c == nil {
		c = &Column{}
	}
	c.Type, c.Raw, c.alloc = t, raw, a
	if kind == rawKind && len(c.Offsets) == 0 {
		c.Offsets = append(c.Offsets, 0)
	}
	c.refs.Store(1)
	a.live.Add(1)
	return c
}

// keepBytes is the largest buffer the pool keeps; one giant value must not pin
// its memory for the rest of an execution.
const keepBytes = 4 << 20

func (a *Allocator) reclaim(c *Column) {
	a.live.Add(-1)
	if c.Bytesize() > keepBytes || cap(c.Data) > keepBytes {
		return
	}
	kind := c.Type
	if c.IsText() {
		kind = rawKind
		c.Offsets = c.Offsets[:1]
		c.Offsets[0] = 0
	}
	c.Valid, c.Nanos, c.Big, c.bad = nil, nil, nil, nil
	c.Ints, c.Floats, c.Bits, c.Decs, c.Data = c.Ints[:0], c.Floats[:0], c.Bits[:0], c.Decs[:0], c.Data[:0]
	c.Scale, c.n, c.nulls, c.Plain = 0, 0, 0, PlainText{}
	a.columns[kind].Put(c)
}

// bytes gives a small empty buffer for a bitmap of one batch.
func (a *Allocator) bytes() []byte { return make([]byte, 0, MaxRows/8) }

// Batch gives an empty batch of the schema with an empty column per field, all
// with one hold.
func (a *Allocator) Batch(s *Schema) *Batch {
	b := a.shell(s)
	for i := range s.Fields {
		b.Cols = append(b.Cols, a.column(s.Fields[i].Type, false))
	}
	return b
}

// Assemble gives a batch that takes over one hold of each column. All columns
// have rows rows.
func (a *Allocator) Assemble(s *Schema, cols []*Column, rows int) *Batch {
	b := a.shell(s)
	b.Cols = append(b.Cols, cols...)
	b.n = rows
	return b
}

func (a *Allocator) shell(s *Schema) *Batch {
	b, _ := a.batches.Get().(*Batch)
	if b == nil {
		b = &Batch{}
	}
	b.Schema, b.alloc = s, a
	b.refs.Store(1)
	a.live.Add(1)
	return b
}
