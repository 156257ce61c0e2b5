package relation

import (
	"errors"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// packer makes dense batches of a fair size out of small or sparse ones, so that
// the rows held cost what they weigh.
type packer struct {
	env     *transform.Env
	schema  *batch.Schema
	waiting []*batch.Batch
	rows    int
	bytes   int
	before  int64 // rows given already
}

const smallBatch = 1024

// add takes over one hold of b and gives the batches that are ready.
func (p *packer) add(b *batch.Batch) ([]*batch.Batch, error) {
	if b.Rows() == 0 {
		b.Release()
		return nil, nil
	}
	if b.Rows() < smallBatch && b.Bytesize() < batch.SoftBytes {
		p.waiting = append(p.waiting, b)
		p.rows += b.Rows()
		p.bytes += b.Bytesize()
		if p.rows < batch.MaxRows && p.bytes < batch.SoftBytes {
			return nil, nil
		}
		out, err := p.flush()
		if err != nil {
			return nil, err
		}
		return []*batch.Batch{out}, nil
	}
	dense := b.Dense()
	b.Release()
	if len(p.waiting) == 0 {
		p.before += int64(dense.Physical())
		return []*batch.Batch{dense}, nil
	}
	first, err := p.flush()
	if err != nil {
		dense.Release()
		return nil, err
	}
	p.before += int64(dense.Physical())
	return []*batch.Batch{first, dense}, nil
}

// flush gives the waiting rows as one batch, nil when there are none.
func (p *packer) flush() (*batch.Batch, error) {
	defer p.close()
	if len(p.waiting) == 0 {
		return nil, nil
	}
	src, err := newSources(p.env.Alloc, p.env.Semantics, p.schema)
	if err != nil {
		return nil, err
	}
	refs := make([]rowRef, 0, p.rows)
	for _, b := range p.waiting {
		id := src.add(b)
		for i := range b.All() {
			refs = append(refs, rowRef{id, uint32(i)})
		}
	}
	out, err := src.gather(refs)
	if err != nil {
		return nil, p.place(err)
	}
	p.before += int64(len(refs))
	return out, nil
}

// place says which row of the input an error is about.
func (p *packer) place(err error) error {
	var at *sourceError
	if !errors.As(err, &at) {
		return err
	}
	before := p.before
	for _, b := range p.waiting[:at.batch] {
		before += int64(b.Rows())
	}
	return valueError(p.env.Transform, at.field, p.waiting[at.batch], before, at.err)
}

func (p *packer) close() {
	for _, b := range p.waiting {
		b.Release()
	}
	p.waiting, p.rows, p.bytes = p.waiting[:0], 0, 0
}
