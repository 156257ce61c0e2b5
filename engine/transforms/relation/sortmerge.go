package relation

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// merger gives the rows of several runs in the order of their keys; of equal rows
// those of an earlier run come first. It owns what it opens, not the runs.
type merger struct {
	keys   *keys
	src    *sources
	fixed  int // batches of runs in memory, which src always knows
	runs   []*runCursor
	tree   []int32 // losers; tree[0] is the winner
	long   bool
	unique bool
	rows   int             // of an output batch
	ctx    context.Context // of the merge, which ends before the function that made it
	cancel context.CancelFunc

	refs    []rowRef
	retired []*batch.Batch // frames read to their end whose rows refs still names
	last    lastKey
}

// runCursor is the next row of one run.
type runCursor struct {
	hi, lo   uint64
	src, row uint32
	cols     []*batch.Column
	done     bool

	run  *run
	base uint32 // of a run in memory: number of its first batch
	pos  int

	frames chan frame // of a run on disk
	frame  frame
}

// frame is a batch of a run on disk with the prefixes of its keys.
type frame struct {
	batch  *batch.Batch
	cols   []*batch.Column
	hi, lo []uint64
	err    error
}

// newMerger merges runs into batches of so many rows.
func newMerger(ctx context.Context, s *sorter, runs []*run, rows int) (*merger, error) {
	src, err := newSources(s.env.Alloc, s.env.Semantics, s.schema)
	if err != nil {
		return nil, err
	}
	m := &merger{keys: s.keys, src: src, unique: s.unique, rows: rows, refs: make([]rowRef, 0, rows)}
	m.ctx, m.cancel = context.WithCancel(ctx)
	for _, r := range runs {
		c := &runCursor{run: r}
		m.long = m.long || r.long
		if r.file == nil && r.in == nil {
			c.base = uint32(len(src.batches))
			for _, b := range r.batches {
				src.add(b)
			}
		}
		m.runs = append(m.runs, c)
	}
	m.fixed = len(src.batches)
	for _, c := range m.runs {
		if err := m.open(c, s); err != nil {
			m.close()
			return nil, err
		}
	}
	m.build()
	return m, nil
}

func (m *merger) open(c *runCursor, s *sorter) error {
	in := c.run.in
	if c.run.file != nil {
		var err error
		if in, err = c.run.file.Reader(s.schema); err != nil {
			return err
		}
	}
	if in != nil {
		c.frames = make(chan frame, 1)
		go readFrames(m.ctx, in, s.keys, c.frames)
		return m.nextFrame(c)
	}
	c.pos = -1
	return m.advance(c)
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
		f.hi[i], f.lo[i], _ = k.prefix(f.cols, i, 0)
	}
	return nil
}

// nextFrame puts a cursor on the first row of the next frame of its run.
func (m *merger) nextFrame(c *runCursor) error {
	if c.frame.batch != nil {
		m.retired = append(m.retired, c.frame.batch)
		c.frame = frame{}
	}
	f, ok := <-c.frames
	if !ok {
		c.done = true
		return context.Cause(m.ctx)
	}
	c.frame = f
	if f.err != nil {
		return f.err
	}
	c.src, c.cols = m.src.add(f.batch), f.cols
	c.hi, c.lo, c.row = f.hi[0], f.lo[0], 0
	return nil
}

// advance puts a cursor on its next row.
func (m *merger) advance(c *runCursor) error {
	if c.frames == nil {
		c.pos++
		if c.pos >= len(c.run.entries) {
			c.done = true
			return nil
		}
		e := &c.run.entries[c.pos]
		c.hi, c.lo, c.src, c.row, c.cols = e.hi, e.lo, c.base+e.src, e.row, c.run.cols[e.src]
		return nil
	}
	next := c.row + 1
	if int(next) >= len(c.frame.hi) {
		return m.nextFrame(c)
	}
	c.hi, c.lo, c.row = c.frame.hi[next], c.frame.lo[next], next
	return nil
}

// before says whether the row of run x comes before that of run y.
func (m *merger) before(x, y int32) bool {
	a, b := m.runs[x], m.runs[y]
	switch {
	case a.done || b.done:
		return !a.done
	case a.hi != b.hi:
		return a.hi < b.hi
	case a.lo != b.lo:
		return a.lo < b.lo
	}
	if m.long {
		if c := m.keys.compare(a.cols, int(a.row), b.cols, int(b.row)); c != 0 {
			return c < 0
		}
	}
	return x < y
}

// build plays the first tournament: node n of the tree has the children 2n and
// 2n+1, run i is leaf len(runs)+i.
func (m *merger) build() {
	n := len(m.runs)
	m.tree = make([]int32, max(n, 1))
	if n == 0 {
		return
	}
	winners := make([]int32, 2*n)
	for i := range n {
		winners[n+i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		w, l := winners[2*i], winners[2*i+1]
		if !m.before(w, l) {
			w, l = l, w
		}
		winners[i], m.tree[i] = w, l
	}
	m.tree[0] = winners[1]
}

// replay finds the next winner after run i has moved on.
func (m *merger) replay(i int32) {
	w := i
	for n := (len(m.runs) + int(i)) / 2; n > 0; n /= 2 {
		if m.before(m.tree[n], w) {
			w, m.tree[n] = m.tree[n], w
		}
	}
	m.tree[0] = w
}

// each gives all rows in batches; emit takes over one hold of each.
func (m *merger) each(emit func(*batch.Batch) error) error {
	if len(m.runs) == 0 {
		return nil
	}
	for {
		i := m.tree[0]
		c := m.runs[i]
		if c.done {
			return m.flush(emit)
		}
		if !m.unique || !m.repeats(c) {
			m.refs = append(m.refs, rowRef{c.src, c.row})
		}
		if err := m.advance(c); err != nil {
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

// lastKey is the key of the last row that was passed on.
type lastKey struct {
	some       bool
	hi, lo     uint64
	whole, new []byte // when keys are longer than prefixes
}

// repeats says whether the row has the key of the last one that was passed on.
func (m *merger) repeats(c *runCursor) bool {
	l := &m.last
	same := l.some && l.hi == c.hi && l.lo == c.lo
	if m.long {
		l.new = m.keys.append(l.new[:0], c.cols, int(c.row), 0)
		same = same && string(l.new) == string(l.whole)
		l.new, l.whole = l.whole, l.new
	}
	l.some, l.hi, l.lo = true, c.hi, c.lo
	return same
}

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
	m.src.truncate(m.fixed)
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
