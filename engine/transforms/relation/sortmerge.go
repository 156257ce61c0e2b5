package relation

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// run is sorted rows that come in batches, from a file or from somewhere else.
type run struct {
	in   transform.Reader // nil for a file
	file transform.SpillFile
	long bool // some keys are longer than their prefix
}

func (r *run) close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// merger gives the rows of several runs in the order of their keys; of equal rows
// those of an earlier run come first. It owns what it opens, not the runs.
type merger struct {
	tournament
	keys   *keys
	src    *sources
	runs   []*runCursor
	rows   int             // of an output batch
	ctx    context.Context // of the merge, which ends before the function that made it
	cancel context.CancelFunc

	refs    []rowRef
	retired []*batch.Batch // frames read to their end whose rows refs still names
}

// runCursor is the next row of one run.
type runCursor struct {
	src, row uint32
	frames   chan frame
	frame    frame
}

// frame is a batch of a run with the prefixes of its keys.
type frame struct {
	batch  *batch.Batch
	cols   []*batch.Column
	hi, lo []uint64
	err    error
}

// newMerger merges runs into batches of so many rows.
func newMerger(ctx context.Context, p *sortProcessor, schema *batch.Schema, runs []*run, rows int) (*merger, error) {
	src, err := newSources(p.env.Alloc, p.env.Semantics, schema)
	if err != nil {
		return nil, err
	}
	m := &merger{keys: p.keys, src: src, rows: rows, refs: make([]rowRef, 0, rows)}
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.heads = make([]head, len(runs))
	long := false
	for i, r := range runs {
		long = long || r.long
		m.runs = append(m.runs, &runCursor{})
		if err := m.open(i, r, schema); err != nil {
			m.close()
			return nil, err
		}
	}
	if long {
		m.rest = func(x, y int32) int {
			a, b := m.runs[x], m.runs[y]
			return m.keys.compare(a.frame.cols, int(a.row), b.frame.cols, int(b.row))
		}
	}
	m.start()
	return m, nil
}

func (m *merger) open(i int, r *run, schema *batch.Schema) error {
	in := r.in
	if r.file != nil {
		var err error
		if in, err = r.file.Reader(schema); err != nil {
			return err
		}
	}
	c := m.runs[i]
	c.frames = make(chan frame, 1)
	go readFrames(m.ctx, in, m.keys, c.frames)
	return m.nextFrame(i)
}

// readFrames reads a run ahead and prepares its keys.
func readFrames(ctx context.Context, in transform.Reader, k *keys, out chan<- frame) {
	defer close(out)
	for {
		f := frame{}
		f.err = guard(func() error { return f.read(ctx, in, k) })
		if errors.Is(f.err, io.EOF) {
			return
		}
		select {
		case out <- f:
		case <-ctx.Done():
			if f.batch != nil {
				f.batch.Release()
			}
			return
		}
		if f.err != nil {
			return
		}
	}
}

func (f *frame) read(ctx context.Context, in transform.Reader, k *keys) (err error) {
	for f.batch == nil {
		b, err := in.Next(ctx)
		if err != nil {
			return err
		}
		if b.Rows() > 0 {
			f.batch = b.Dense()
		}
		b.Release()
	}
	if f.cols, _, err = k.columns(nil, f.batch); err != nil {
		return err
	}
	n := f.batch.Physical()
	words := make([]uint64, 2*n)
	f.hi, f.lo = words[:n], words[n:]
	for i := range n {
		f.hi[i], f.lo[i] = k.prefix(f.cols, i)
	}
	return nil
}

// nextFrame puts a cursor on the first row of the next frame of its run.
func (m *merger) nextFrame(i int) error {
	c := m.runs[i]
	if c.frame.batch != nil {
		m.retired = append(m.retired, c.frame.batch)
		c.frame = frame{}
	}
	f, ok := <-c.frames
	if !ok {
		m.heads[i].done = true
		return context.Cause(m.ctx)
	}
	c.frame = f
	if f.err != nil {
		return f.err
	}
	c.src, c.row = m.src.add(f.batch), 0
	m.heads[i] = head{hi: f.hi[0], lo: f.lo[0]}
	return nil
}

// advance puts a cursor on its next row.
func (m *merger) advance(i int) error {
	c := m.runs[i]
	next := c.row + 1
	if int(next) >= len(c.frame.hi) {
		return m.nextFrame(i)
	}
	c.row = next
	m.heads[i] = head{hi: c.frame.hi[next], lo: c.frame.lo[next]}
	return nil
}

// each gives all rows in batches; emit takes over one hold of each.
func (m *merger) each(emit func(*batch.Batch) error) error {
	if len(m.runs) == 0 {
		return nil
	}
	for {
		i := m.tree[0]
		c := m.runs[i]
		if m.heads[i].done {
			return m.flush(emit)
		}
		m.refs = append(m.refs, rowRef{c.src, c.row})
		if err := m.advance(int(i)); err != nil {
			return err
		}
		m.replay(i)
		if len(m.refs) >= m.rows || len(m.retired) > maxRetired {
			if err := m.flush(emit); err != nil {
				return err
			}
		}
	}
}

// maxRetired bounds the frames that wait for a batch to be filled.
const maxRetired = 64

// flush emits the collected rows and lets go of frames that are not needed any
// more.
func (m *merger) flush(emit func(*batch.Batch) error) error {
	if err := context.Cause(m.ctx); err != nil {
		return err
	}
	if len(m.refs) > 0 {
		b, err := m.src.gather(m.refs)
		if err != nil {
			return err
		}
		m.refs = m.refs[:0]
		if err := emit(b); err != nil {
			return err
		}
	}
	for _, b := range m.retired {
		b.Release()
	}
	m.retired = m.retired[:0]
	m.src.reset()
	for _, c := range m.runs {
		if c.frame.batch != nil {
			c.src = m.src.add(c.frame.batch)
		}
	}
	return nil
}

// close ends the readers and releases the frames.
func (m *merger) close() {
	m.cancel()
	for _, c := range m.runs {
		if c.frames == nil {
			continue
		}
		if c.frame.batch != nil {
			c.frame.batch.Release()
		}
		for f := range c.frames {
			if f.batch != nil {
				f.batch.Release()
			}
		}
	}
	for _, b := range m.retired {
		b.Release()
	}
}
