package relation

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// cursor walks over the rows of one input. It holds the batch it is on.
type cursor struct {
	name     string // of the transform, for errors
	in       transform.Reader
	keys     *keys
	converts []*keyConversion // of key columns; nil for none

	batch  *batch.Batch
	cols   []*batch.Column // typed keys of the batch
	own    []*batch.Column // converted ones among them
	n      int             // of the row among the selected ones
	row    int             // index of the row into the columns
	done   bool
	before int64
}

// next moves to the next row; done tells that there is none.
func (c *cursor) next(ctx context.Context) error {
	c.n++
	for c.batch == nil || c.n >= c.batch.Rows() {
		if err := c.load(ctx); err != nil || c.done {
			return err
		}
	}
	c.row = c.batch.Row(c.n)
	return nil
}

func (c *cursor) load(ctx context.Context) error {
	c.close()
	b, err := c.in.Next(ctx)
	if errors.Is(err, io.EOF) {
		c.done = true
		return nil
	}
	if err != nil {
		return err
	}
	c.batch, c.n = b, 0
	var field string
	if c.cols, field, err = c.keys.columns(c.cols[:0], b); err != nil {
		return valueError(c.name, field, b, c.before, err)
	}
	for i, conv := range c.converts {
		if conv == nil {
			continue
		}
		col, err := conv.column(b, c.cols[i])
		if err != nil {
			return valueError(c.name, c.keys.fields[i].name, b, c.before, err)
		}
		c.cols[i] = col
		c.own = append(c.own, col)
	}
	return nil
}

// close lets go of the batch.
func (c *cursor) close() {
	releaseColumns(c.own)
	c.own = c.own[:0]
	if c.batch != nil {
		c.before += int64(c.batch.Rows())
		c.batch.Release()
		c.batch = nil
	}
}

// side collects rows of one schema for an output batch; rows may be missing.
type side struct {
	src  *sources
	refs []rowRef
	at   uint32 // of the batch in src that was used last
}

func newSide(env *transform.Env, s *batch.Schema) (*side, error) {
	src, err := newSources(env.Alloc, env.Semantics, s)
	if err != nil {
		return nil, err
	}
	return &side{src: src}, nil
}

// add takes row i of b, which it retains until the rows are gathered; a nil b is
// a missing row.
func (s *side) add(b *batch.Batch, i int) {
	if b == nil {
		s.refs = append(s.refs, rowRef{src: noRow})
		return
	}
	if int(s.at) >= len(s.src.batches) || s.src.batches[s.at] != b {
		s.at = s.number(b)
	}
	s.refs = append(s.refs, rowRef{s.at, uint32(i)})
}

// number finds a batch or makes it known.
func (s *side) number(b *batch.Batch) uint32 {
	for n, known := range s.src.batches {
		if known == b {
			return uint32(n)
		}
	}
	return s.src.add(b.Retain())
}

// gather appends the columns (one hold each) of the collected rows to dst; missing
// rows are null.
func (s *side) gather(dst []*batch.Column) ([]*batch.Column, error) {
	for k := range s.src.cols {
		from, err := s.src.columns(k)
		if err != nil {
			return dst, err
		}
		t := s.src.schema.Fields[k].Type
		out := newColumn(s.src.alloc, t, len(from) > 0 && from[0].Raw)
		dst = append(dst, gatherOr(out, from, s.refs, batch.Null(t)))
	}
	return dst, nil
}

// reset forgets the rows.
func (s *side) reset() {
	for _, b := range s.src.batches {
		b.Release()
	}
	s.src.reset()
	s.refs, s.at = s.refs[:0], 0
}

// pairs makes rows out of a left and a right row.
type pairs struct {
	alloc       *batch.Allocator
	out         *batch.Schema
	left, right *side
	emit        func(*batch.Batch) error // takes over one hold
}

// maxHeld bounds the batches that wait for an output batch to be filled.
const maxHeld = 64

// add takes one row; a nil batch is a missing half.
func (p *pairs) add(l *batch.Batch, i int, r *batch.Batch, j int) error {
	p.left.add(l, i)
	p.right.add(r, j)
	if len(p.left.refs) < batch.MaxRows && len(p.left.src.batches)+len(p.right.src.batches) < maxHeld {
		return nil
	}
	return p.flush()
}

// flush emits what was collected.
func (p *pairs) flush() error {
	n := len(p.left.refs)
	if n == 0 {
		return nil
	}
	cols, err := p.left.gather(nil)
	if err == nil {
		cols, err = p.right.gather(cols)
	}
	p.reset()
	if err != nil {
		releaseColumns(cols)
		return err
	}
	return p.emit(p.alloc.Assemble(p.out, cols, n))
}

func (p *pairs) reset() {
	p.left.reset()
	p.right.reset()
}

// recast gives b (one hold) under a schema with the same types. Raw text that
// means something else there is converted.
func recast(b *batch.Batch, codecs []*batch.Codec, to *batch.Schema) (*batch.Batch, error) {
	from := b.Schema
	out := b.As(to)
	for k, c := range out.Cols {
		if !c.Raw || from.Fields[k].SameText(&to.Fields[k]) {
			continue
		}
		typed, err := b.Col(k, codecs[k])
		if err != nil {
			out.Release()
			return nil, err
		}
		out.Cols[k] = typed.Retain()
		c.Release()
	}
	return out, nil
}
