package relation

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"sluice/engine/transform"
)

// rowMerger gives the stored rows of several runs in the order of their keys; of
// equal rows those of an earlier run come first. It owns what it opens, not the
// runs.
type rowMerger struct {
	tournament
	runs   []*rowCursor
	long   bool
	unique bool
	most   int             // rows given at once
	ctx    context.Context // of the merge, which ends before the function that made it
	cancel context.CancelFunc

	rows    []storedRow
	keys    []head   // of rows
	retired [][]byte // blocks read to their end whose rows are still in rows
	spare   chan []byte
	last    lastRow
}

// rowCursor is the next row of one run.
type rowCursor struct {
	run *rowRun
	pos int // of an entry, or of the row in the block

	blocks chan rowBlock // of a run on disk
	block  []byte
}

// rowBlock is what was read from a run on disk.
type rowBlock struct {
	bytes []byte
	err   error
}

// lastRow is the key of the last row that was passed on.
type lastRow struct {
	some bool
	head head
	rest []byte
}

// newRowMerger merges runs and gives at most so many rows at once.
func newRowMerger(ctx context.Context, s *sorter, runs []*rowRun, most int) (*rowMerger, error) {
	m := &rowMerger{unique: s.unique, most: most, rows: make([]storedRow, 0, most), keys: make([]head, 0, most)}
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.heads = make([]head, len(runs))
	m.spare = make(chan []byte, 2*len(runs))
	for i, r := range runs {
		m.long = m.long || r.long
		m.runs = append(m.runs, &rowCursor{run: r, pos: -1})
		if err := m.open(i); err != nil {
			m.close()
			return nil, err
		}
	}
	if m.long {
		m.rest = func(x, y int32) int { return bytes.Compare(m.runs[x].row().rest(), m.runs[y].row().rest()) }
	}
	m.start()
	return m, nil
}

func (m *rowMerger) open(i int) error {
	c := m.runs[i]
	if c.run.file != nil {
		c.blocks = make(chan rowBlock, 1)
		go m.read(c.run.file.Reader(), c.blocks)
	}
	return m.advance(i)
}

// read reads a run ahead.
func (m *rowMerger) read(in transform.BlockReader, out chan<- rowBlock) {
	defer close(out)
	for {
		var b rowBlock
		b.err = guard(func() (err error) {
			var room []byte
			select {
			case room = <-m.spare:
			default:
			}
			b.bytes, err = in.Next(room)
			return err
		})
		if errors.Is(b.err, io.EOF) {
			return
		}
		select {
		case out <- b:
		case <-m.ctx.Done():
			return
		}
		if b.err != nil {
			return
		}
	}
}

// row is where a cursor is.
func (c *rowCursor) row() storedRow {
	if c.blocks == nil {
		return c.run.row(&c.run.entries[c.pos])
	}
	return storedRow(c.block[c.pos:])
}

// advance puts a cursor on its next row.
func (m *rowMerger) advance(i int) error {
	c, h := m.runs[i], &m.heads[i]
	if c.blocks == nil {
		c.pos++
		if c.pos >= len(c.run.entries) {
			h.done = true
			return nil
		}
		e := &c.run.entries[c.pos]
		h.hi, h.lo = e.hi, e.lo
		return nil
	}
	at := 0
	if c.block != nil {
		at = c.pos + c.row().end()
	}
	if at >= len(c.block) {
		if err := m.nextBlock(c); err != nil || c.block == nil {
			h.done = true
			return err
		}
		at = 0
	}
	h.hi, h.lo = binary.LittleEndian.Uint64(c.block[at:]), binary.LittleEndian.Uint64(c.block[at+8:])
	c.pos = at + prefixBytes
	return nil
}

// nextBlock gives a cursor the next block of its run, nil at the end.
func (m *rowMerger) nextBlock(c *rowCursor) error {
	if c.block != nil {
		m.retired = append(m.retired, c.block)
		c.block = nil
	}
	b, ok := <-c.blocks
	if !ok {
		return context.Cause(m.ctx)
	}
	c.block = b.bytes
	return b.err
}

// each gives all rows; they are valid until use returns.
func (m *rowMerger) each(use func([]storedRow, []head) error) error {
	if len(m.runs) == 0 {
		return nil
	}
	for {
		i := m.tree[0]
		h := m.heads[i]
		if h.done {
			return m.flush(use)
		}
		row := m.runs[i].row()
		if !m.unique || !m.repeats(h, row) {
			m.rows, m.keys = append(m.rows, row), append(m.keys, h)
		}
		if err := m.advance(int(i)); err != nil {
			return err
		}
		m.replay(i)
		if len(m.rows) >= m.most || len(m.retired) > maxRetired {
			if err := m.flush(use); err != nil {
				return err
			}
		}
	}
}

// repeats says whether a row has the key of the last one that was passed on.
func (m *rowMerger) repeats(h head, row storedRow) bool {
	l := &m.last
	same := l.some && l.head == h
	if m.long {
		rest := row.rest()
		same = same && bytes.Equal(rest, l.rest)
		l.rest = append(l.rest[:0], rest...)
	}
	l.some, l.head = true, h
	return same
}

// flush gives the collected rows and lets go of frames that are not needed any
// more.
func (m *rowMerger) flush(use func([]storedRow, []head) error) error {
	if err := context.Cause(m.ctx); err != nil {
		return err
	}
	if len(m.rows) > 0 {
		if err := use(m.rows, m.keys); err != nil {
			return err
		}
		m.rows, m.keys = m.rows[:0], m.keys[:0]
	}
	for _, b := range m.retired {
		select {
		case m.spare <- b:
		default:
		}
	}
	m.retired = m.retired[:0]
	return nil
}

// close ends the readers.
func (m *rowMerger) close() {
	m.cancel()
	for _, c := range m.runs {
		if c.blocks == nil {
			continue
		}
		for range c.blocks {
		}
	}
}
