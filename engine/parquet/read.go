package parquet

import (
	"fmt"
	"iter"

	"sluice/engine/batch"
)

// Batches gives the rows of row group g, one batch per page, each with one hold
// that the receiver releases. After an error nothing follows.
func (f *File) Batches(g int, a *batch.Allocator) iter.Seq2[*batch.Batch, error] {
	return func(yield func(*batch.Batch, error) bool) {
		if len(f.cols) == 0 {
			f.bare(g, a, yield)
			return
		}
		r, err := f.openGroup(g)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.close()
		for left := f.groups[g]; left > 0; {
			b, err := r.next(f, a)
			if err != nil {
				yield(nil, err)
				return
			}
			left -= int64(b.Physical())
			if !yield(b, nil) {
				return
			}
		}
	}
}

// All gives the rows of the whole file.
func (f *File) All(a *batch.Allocator) iter.Seq2[*batch.Batch, error] {
	return func(yield func(*batch.Batch, error) bool) {
		for g := range f.groups {
			for b, err := range f.Batches(g, a) {
				if !yield(b, err) || err != nil {
					return
				}
			}
		}
	}
}

// bare gives the rows of a file without columns.
func (f *File) bare(g int, a *batch.Allocator, yield func(*batch.Batch, error) bool) {
	for left := f.groups[g]; left > 0; {
		n := min(left, batch.MaxRows)
		b := a.Batch(f.schema)
		b.SetRows(int(n))
		if left -= n; !yield(b, nil) {
			return
		}
	}
}

// groupReader reads the columns of a row group side by side.
type groupReader struct {
	cols  []*chunkReader // per field
	nanos []*chunkReader // per field; nil without companion
	s     *scratch
}

func (f *File) openGroup(g int) (*groupReader, error) {
	s, ok := scratches.Get().(*scratch)
	if !ok {
		s = &scratch{}
	}
	r := &groupReader{nanos: make([]*chunkReader, len(f.cols)), s: s}
	for i, c := range f.cols {
		ch, err := f.openChunk(c, g, s)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.name, err)
		}
		r.cols = append(r.cols, ch)
		if c = f.nanos[i]; c == nil {
			continue
		}
		if r.nanos[i], err = f.openChunk(c, g, s); err != nil {
			return nil, fmt.Errorf("column %q: %w", c.name, err)
		}
	}
	return r, nil
}

// close keeps the memory of the reader for the next row group.
func (r *groupReader) close() {
	for _, c := range r.cols {
		if c.data != nil {
			r.s.texts = append(r.s.texts, texts{c.offsets, c.data})
		}
	}
	scratches.Put(r.s)
}

// next gives the rows of the next page of every column.
func (r *groupReader) next(f *File, a *batch.Allocator) (*batch.Batch, error) {
	cols := make([]*batch.Column, 0, len(f.cols))
	for i, c := range f.cols {
		col := a.Column(f.schema.Fields[i].Type)
		cols = append(cols, col)
		err := r.cols[i].read(col)
		if err == nil && r.nanos[i] != nil {
			err = r.nanos[i].readNanos(col)
		}
		if err == nil && (col.Len() == 0 || col.Len() != cols[0].Len()) {
			err = errPage
		}
		if err != nil {
			for _, c := range cols {
				c.Release()
			}
			return nil, fmt.Errorf("column %q: %w", c.name, err)
		}
	}
	return a.Assemble(f.schema, cols, cols[0].Len()), nil
}
