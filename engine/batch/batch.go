package batch

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// Batch is a run of rows: a schema, one column per field and, when Sel is not
// nil, the row numbers that count.
type Batch struct {
	Schema *Schema
	Cols   []*Column
	// Sel lists the selected rows in ascending order; nil selects all. It is
	// immutable and may be shared.
	Sel []int32

	n     int
	refs  atomic.Int32
	alloc *Allocator

	mu    sync.Mutex // guards extra
	extra []*Column  // converted for some rows only, released with the batch
}

// Allocator gives the allocator the batch came from.
func (b *Batch) Allocator() *Allocator { return b.alloc }

// Physical is the number of rows in the columns, selected or not.
func (b *Batch) Physical() int {
	if len(b.Cols) > 0 {
		return b.Cols[0].n
	}
	return b.n
}

// Rows is the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Physical()
}

// SetRows states the row count of a batch that has no columns.
func (b *Batch) SetRows(n int) { b.n = n }

// All gives the selected rows' indexes into the columns, in order.
func (b *Batch) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		if b.Sel != nil {
			for _, i := range b.Sel {
				if !yield(int(i)) {
					return
				}
			}
			return
		}
		for i := range b.Physical() {
			if !yield(i) {
				return
			}
		}
	}
}

// Row gives the index into the columns of the i-th selected row.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Retain adds a holder and returns the batch.
func (b *Batch) Retain() *Batch {
	b.refs.Add(1)
	return b
}

// Release gives up one hold; the last one releases the columns.
func (b *Batch) Release() {
	switch n := b.refs.Add(-1); {
	case n == 0:
		for i, c := range b.Cols {
			c.Release()
			b.Cols[i] = nil
		}
		for i, c := range b.extra {
			c.Release()
			b.extra[i] = nil
		}
		b.extra = b.extra[:0]
		a := b.alloc
		b.Schema, b.Cols, b.Sel, b.n, b.alloc = nil, b.Cols[:0], nil, 0, nil
		a.live.Add(-1)
		a.batches.Put(b)
	case n < 0:
		panic("batch: batch released more often than retained")
	}
}

// Select gives a batch (one hold) that shares the columns and counts only the
// rows of sel, which are indexes into the columns in ascending order. sel is
// kept; it must not be changed afterwards.
func (b *Batch) Select(sel []int32) *Batch {
	out := b.share(b.Schema)
	out.Sel = sel
	if sel == nil {
		out.Sel = []int32{}
	}
	return out
}

// share gives a batch of the same columns without a selection.
func (b *Batch) share(s *Schema) *Batch {
	out := b.alloc.shell(s)
	for _, c := range b.Cols {
		out.Cols = append(out.Cols, c.Retain())
	}
	out.n = b.Physical()
	return out
}

// As gives a batch (one hold) of the same columns and selection under another
// schema, which must have as many fields of the same types.
func (b *Batch) As(s *Schema) *Batch {
	out := b.share(s)
	out.Sel = b.Sel
	return out
}

// With gives a batch (one hold) of b's columns followed by cols, whose holds it
// takes over; each has as many rows as b has physically. s is the schema of both.
func (b *Batch) With(s *Schema, cols ...*Column) *Batch {
	out := b.share(s)
	out.Cols = append(out.Cols, cols...)
	out.Sel = b.Sel
	return out
}

// Pick gives a batch (one hold) of the columns at the given positions under a
// schema of as many fields; the selection is kept.
func (b *Batch) Pick(s *Schema, cols []int) *Batch {
	out := b.alloc.shell(s)
	for _, i := range cols {
		out.Cols = append(out.Cols, b.Cols[i].Retain())
	}
	out.n, out.Sel = b.Physical(), b.Sel
	return out
}

// Slice gives a batch (one hold) of the selected rows from (included) to end
// (excluded), counted among the selected ones.
func (b *Batch) Slice(from, end int) *Batch {
	if from == 0 && end == b.Rows() {
		return b.Retain()
	}
	sel := make([]int32, 0, end-from)
	for i := from; i < end; i++ {
		sel = append(sel, int32(b.Row(i)))
	}
	return b.Select(sel)
}

// Dense gives a batch (one hold) without a selection: b itself when it has none,
// else a copy of the selected rows.
func (b *Batch) Dense() *Batch {
	if b.Sel == nil {
		return b.Retain()
	}
	return b.Gather(b.Sel)
}

// Gather gives a batch (one hold) of copies of the rows that sel lists, which are
// indexes into the columns in any order.
func (b *Batch) Gather(sel []int32) *Batch {
	out := b.alloc.shell(b.Schema)
	for _, c := range b.Cols {
		out.Cols = append(out.Cols, c.Gather(b.alloc, sel))
	}
	out.n = len(sel)
	return out
}

// AppendRow adds row i of src, whose columns have the same types in order. A raw
// column is appended to a typed one by its typed form; the caller has made sure
// with src.Typed that there is one.
func (b *Batch) AppendRow(src *Batch, i int) {
	for k, c := range b.Cols {
		s := src.Cols[k]
		if s.Raw && !c.Raw {
			s = s.typed.Load()
		}
		c.AppendFrom(s, i)
	}
	b.n++
}

// Bytesize is the memory that the columns take, in bytes.
func (b *Batch) Bytesize() int {
	n := 0
	for _, c := range b.Cols {
		n += c.Bytesize()
	}
	return n
}

// Full says whether the batch should be handed on.
func (b *Batch) Full() bool { return b.Physical() >= MaxRows || b.Bytesize() >= SoftBytes }

// Col gives column i with its values converted when they were raw text. The
// result belongs to the batch. It is safe for many goroutines. codec is for the
// field of the column; the error is a *RowError of the first selected row that
// cannot be converted. Rows that are not selected may be null in the result.
func (b *Batch) Col(i int, codec *Codec) (*Column, error) { return b.ColAt(i, codec, b.Sel) }

// ColAt is Col for the rows of sel only, which are among the selected ones; nil
// stands for all rows.
func (b *Batch) ColAt(i int, codec *Codec, sel []int32) (*Column, error) {
	c := b.Cols[i]
	if !c.Raw {
		return c, nil
	}
	if t := c.typed.Load(); t != nil || sel == nil || len(sel)*2 > c.n {
		if t == nil {
			t = c.typedBy(codec)
		}
		for _, bad := range t.bad {
			if isSelected(sel, bad.Row) {
				return nil, bad
			}
		}
		return t, nil
	}
	t, err := c.typedAt(codec, sel)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.extra = append(b.extra, t)
	b.mu.Unlock()
	return t, nil
}

// typedAt converts the rows of sel only; the others are null.
func (c *Column) typedAt(codec *Codec, sel []int32) (*Column, error) {
	out := c.alloc.Column(c.Type)
	next := 0
	for _, i := range sel {
		out.AppendNulls(int(i) - next)
		next = int(i) + 1
		if c.IsNull(int(i)) {
			out.AppendNull()
			continue
		}
		if err := codec.ParseInto(out, c.Bytes(int(i))); err != nil {
			out.Release()
			return nil, &RowError{Row: int(i), Err: err}
		}
	}
	out.AppendNulls(c.n - next)
	return out, nil
}

func isSelected(sel []int32, row int) bool {
	if sel == nil {
		return true
	}
	_, ok := slices.BinarySearch(sel, int32(row))
	return ok
}

// RowError is an error of one row of a batch; Row is its index into the columns.
type RowError struct {
	Row int
	Err error
}

// Error gives the cause; the row is for the caller to place.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RowError) Unwrap() error { return e.Err }

// Typed gives a batch (one hold) whose raw columns are replaced by typed ones; b
// itself when it has none. codecs has one codec per field.
func (b *Batch) Typed(codecs []*Codec) (*Batch, error) {
	raw := false
	for _, c := range b.Cols {
		raw = raw || c.Raw
	}
	if !raw {
		return b.Retain(), nil
	}
	out := b.alloc.shell(b.Schema)
	for i := range b.Cols {
		c, err := b.Col(i, codecs[i])
		if err != nil {
			out.n = b.Physical()
			out.Release()
			return nil, err
		}
		out.Cols = append(out.Cols, c.Retain())
	}
	out.n, out.Sel = b.Physical(), b.Sel
	return out, nil
}

// Codecs compiles a codec for every field of a schema.
func (s *Semantics) Codecs(schema *Schema) ([]*Codec, error) {
	list := make([]*Codec, schema.Len())
	for i := range list {
		c, err := s.Codec(&schema.Fields[i])
		if err != nil {
			return nil, err
		}
		list[i] = c
	}
	return list, nil
}
