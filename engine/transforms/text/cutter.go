package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"sluice/engine"
	"sluice/engine/transform"
)

// blockBytes is how much of a file is read and parsed at a time: the blocks, and
// the batches made of them, stay in a core's second-level cache.
const blockBytes = 512 << 10

// maxRecord is the size of a record at which an unclosed quote is suspected.
const maxRecord = 1 << 30

// block is a run of whole records; data[:n] is followed by padding.
type block struct {
	data []byte
	n    int
}

// blocks is a pool of buffers.
type blocks struct{ pool sync.Pool }

func (p *blocks) get(size int) []byte {
	if b, ok := p.pool.Get().(*[]byte); ok && len(*b) >= size+padding {
		return *b
	}
	return make([]byte, size+padding)
}

func (p *blocks) put(b []byte) {
	if len(b) <= 4*blockBytes {
		p.pool.Put(&b)
	}
}

// cutter reads a text in blocks that end where a record ends and where no line
// end follows, so that every block can be read without knowing the ones before.
type cutter struct {
	source  io.Reader
	pool    *blocks
	size    int  // of a block; blockBytes but in tests
	lfOnly  bool // a CR alone does not end a line
	scan    *scanner
	pad     byte
	carry   []byte // read, but behind the last cut
	regions []int  // scratch: starts and ends of text outside of quotes
	ended   bool
}

func newCutter(r io.Reader, d dialect, columns int, pool *blocks) *cutter {
	c := &cutter{source: r, pool: pool, size: blockBytes, scan: newScanner(d, columns), pad: 'x'}
	for bytes.IndexByte(d.separator, c.pad) >= 0 || bytes.IndexByte(d.quote, c.pad) >= 0 {
		c.pad++
	}
	return c
}

// next gives the next block, io.EOF after the last one. The caller puts its data
// back into the pool.
func (c *cutter) next(ctx context.Context) (block, error) {
	if ctx.Err() != nil {
		return block{}, context.Cause(ctx)
	}
	if c.ended && len(c.carry) == 0 {
		return block{}, io.EOF
	}
	size := max(c.size, 2*len(c.carry))
	buf := c.pool.get(size)
	n := copy(buf, c.carry)
	for {
		if err := c.fill(buf, &n); err != nil {
			c.pool.put(buf)
			return block{}, err
		}
		end := n
		if !c.ended {
			end = c.cut(buf, n)
		}
		if end > 0 {
			c.carry = append(c.carry[:0], buf[end:n]...)
			return c.finish(buf, end), nil
		}
		if c.ended {
			c.pool.put(buf)
			return block{}, io.EOF
		}
		if n >= maxRecord {
			return block{}, &engine.Error{
				Message: fmt.Sprintf("one record is larger than %d MiB", maxRecord>>20),
				Hint:    "an enclosure that is opened but never closed, or another separator or line end than the settings say",
			}
		}
		grown := make([]byte, 2*len(buf))
		copy(grown, buf[:n])
		buf = grown
	}
}

func (c *cutter) fill(buf []byte, n *int) error {
	if c.ended {
		return nil
	}
	k, err := io.ReadFull(c.source, buf[*n:len(buf)-padding])
	*n += k
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		c.ended = true
		return nil
	}
	return err
}

func (c *cutter) finish(buf []byte, n int) block {
	for i := range padding {
		buf[n+i] = c.pad
	}
	return block{data: buf, n: n}
}

// cut gives the largest length at which data[:n] may be cut, 0 when there is
// none.
func (c *cutter) cut(data []byte, n int) int {
	switch {
	case !c.scan.simple():
		return c.cutByRecord(data, n)
	case len(c.scan.quote) == 0 || bytes.IndexByte(data[:n], c.scan.quote[0]) < 0:
		return c.lastLineEnd(data, 0, n, n)
	}
	return c.cutOutsideQuotes(data, n)
}

// lastLineEnd gives the last position in (from, end] that follows a line end and
// holds something else than a line end, looking at most at data[n-1].
func (c *cutter) lastLineEnd(data []byte, from, end, n int) int {
	for _, mark := range [...]byte{'\n', '\r'} {
		if mark == '\r' && c.lfOnly {
			break
		}
		for hi := end; hi > from; {
			p := bytes.LastIndexByte(data[from:hi], mark)
			if p < 0 {
				break
			}
			p += from
			if p+1 < n && !isLineEnd(data[p+1]) {
				return p + 1
			}
			hi = p
		}
	}
	return 0
}

// cutOutsideQuotes walks from quote to quote, so that line ends between quotes
// are told from those that end a record.
func (c *cutter) cutOutsideQuotes(data []byte, n int) int {
	quote, sep := c.scan.quote[0], c.scan.separator[0]
	c.regions = c.regions[:0]
	from := 0 // of the text outside of quotes
	for at := 0; ; {
		k := bytes.IndexByte(data[at:n], quote)
		if k < 0 {
			c.regions = append(c.regions, from, n)
			break
		}
		q := at + k
		if q > 0 && data[q-1] != sep && !isLineEnd(data[q-1]) {
			at = q + 1 // inside of an unquoted field
			continue
		}
		c.regions = append(c.regions, from, q)
		next, _, closed := closing(data[:n], quote, q+1)
		if !closed || next >= n {
			break
		}
		from, at = next, next
	}
	for i := len(c.regions) - 2; i >= 0; i -= 2 {
		if p := c.lastLineEnd(data, c.regions[i], c.regions[i+1], n); p > 0 {
			return p
		}
	}
	return 0
}

func (c *cutter) cutByRecord(data []byte, n int) int {
	last := 0
	for pos := 0; pos < n; {
		next, complete := c.scan.record(data, n, pos, nil)
		if !complete {
			break
		}
		if !isLineEnd(data[next]) {
			last = next
		}
		pos = next
	}
	return last
}

// repairer replaces bytes that are not UTF-8, as a Java decoder does, and says so
// once.
type repairer struct{ warned sync.Once }

func (r *repairer) repair(env *transform.Env, b *block) {
	if utf8.Valid(b.data[:b.n]) {
		return
	}
	r.warned.Do(func() {
		env.Log.Warn("Bytes that are not UTF-8 were replaced by U+FFFD; set the encoding of the file", "transform", env.Transform)
	})
	fixed := bytes.ToValidUTF8(b.data[:b.n], []byte("\uFFFD"))
	b.data = append(fixed, b.data[b.n:b.n+padding]...)
	b.n = len(fixed)
}
