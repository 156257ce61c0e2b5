package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine/transform"
)

// lineSource gives the lines of a text one by one.
type lineSource struct {
	r     *textReader
	cut   *cutter
	block block
	pos   int
	held  []byte // of a line that began in the block before
}

// next gives a line, io.EOF after the last one. The line is valid until the next
// call.
func (s *lineSource) next(ctx context.Context) ([]byte, error) {
	s.held = s.held[:0]
	for {
		for s.pos >= s.block.n {
			if err := s.advance(ctx); err != nil {
				if line := s.r.clean(bytes.TrimRight(s.held, "\r\n")); errors.Is(err, io.EOF) && len(line) > 0 {
					s.held = nil
					return line, nil
				}
				return nil, err
			}
		}
		line, whole, err := s.take()
		if err != nil || whole {
			return line, err
		}
	}
}

// take takes a line from the block. When an enclosure is still open at the line's
// end, more lines belong to it; if the block ends before, what there is is held.
func (s *lineSource) take() (line []byte, whole bool, err error) {
	data, start := s.block.data, s.pos
	for s.pos < s.block.n {
		end, next, err := s.r.nextLine(data, s.block.n, s.pos)
		if err != nil {
			return nil, false, err
		}
		line, added := data[start:end], data[s.pos:end]
		s.pos = next
		isOpen := len(s.held) > 0 || end-len(added) > start // from a line before
		if isOpen && !bytes.Contains(added, s.r.quote) {
			continue // what is open stays open
		}
		if len(s.held) > 0 {
			line = append(s.held, line...)
		}
		if !s.r.settings.EnclosureBreaks || !s.r.isOpen(line) {
			line = s.r.clean(line)
			if end == next && len(line) == 0 {
				break // CRs at the end of the file are no line
			}
			return line, true, nil
		}
	}
	s.held = append(s.held, data[start:s.pos]...)
	if len(s.held) > maxRecord {
		return nil, false, fmt.Errorf("one line is larger than %d MiB: an enclosure is opened but never closed", maxRecord>>20)
	}
	return nil, false, nil
}

func (s *lineSource) advance(ctx context.Context) error {
	s.free()
	b, err := s.cut.next(ctx)
	if err != nil {
		return err
	}
	s.r.repair(s.r.env, &b)
	s.block, s.pos = b, 0
	return nil
}

func (s *lineSource) free() {
	if s.block.data != nil {
		s.r.blocks.put(s.block.data)
		s.block = block{}
	}
}

// isOpen says whether a line ends inside of an enclosure.
func (r *textReader) isOpen(line []byte) bool {
	if len(r.quote) == 0 || !bytes.Contains(line, r.quote) {
		return false
	}
	_, open := r.split(nil, line)
	return open
}

// lineRows reads files line by line, for layouts in which lines depend on each
// other.
type lineRows struct {
	r       *textReader
	emit    transform.Emit
	out     *lineBatch
	number  int64 // of the last row
	lines   int64 // read from all files
	ended   bool  // by the limit
	emitted int   // rows

	source  *lineSource
	read    int  // lines of the file
	stopped bool // by a filter
	queue   [][]byte
	wrapped []byte
}

func newLineRows(r *textReader, emit transform.Emit) *lineRows {
	return &lineRows{r: r, emit: emit, out: r.newBatch()}
}

// file reads one file and emits its rows.
func (s *lineRows) file(ctx context.Context, f *textFile) error {
	if s.ended {
		return nil
	}
	text, err := s.r.open(ctx, f)
	if err != nil {
		return err
	}
	defer text.Close()
	s.source = &lineSource{r: s.r, cut: s.r.newLineCutter(text)}
	defer s.source.free()
	s.read, s.stopped, s.queue = 0, false, s.queue[:0]
	if s.r.settings.RowNumberByFile {
		s.number = 0
	}
	before := s.lines
	if s.r.settings.Paged {
		err = s.pages(ctx, f)
	} else {
		err = s.plain(ctx, f)
	}
	if _, bad := errors.AsType[badFile](err); bad { // the rows before the damage are whole
		err = errors.Join(err, s.flush(f))
	}
	s.r.env.Counters.Input.Add(s.lines - before)
	s.r.env.Counters.Updated.Add(1)
	return err
}

// flush emits the rows so far.
func (s *lineRows) flush(f *textFile) error {
	n := s.out.rows
	err := s.out.emit(f, &s.number, s.emitted, s.emit)
	s.emitted += n
	return err
}

// physical gives the next line of the file, io.EOF after the last one.
func (s *lineRows) physical(ctx context.Context) ([]byte, error) {
	select {
	case <-s.r.env.Stopping:
		return nil, io.EOF
	default:
	}
	line, err := s.source.next(ctx)
	if err == nil || errors.Is(err, io.EOF) {
		return line, err
	}
	return nil, badFile{fmt.Errorf("read: %w", err)}
}

// line gives the next line that counts. Filters leave header lines alone.
func (s *lineRows) line(ctx context.Context) ([]byte, error) {
	for !s.stopped {
		line, err := s.physical(ctx)
		if err != nil {
			return nil, err
		}
		s.read++
		isHeader := s.r.settings.Header && s.read <= s.r.settings.HeaderLines
		if s.r.settings.NoEmptyLines && len(line) == 0 {
			continue
		}
		if !isHeader {
			keep, stop := keeps(s.r.filters, line)
			s.stopped = stop
			if !keep {
				continue
			}
		}
		return line, nil
	}
	return nil, io.EOF
}

// ahead gives the next line, of which at least reserve others must follow.
func (s *lineRows) ahead(ctx context.Context, reserve int) ([]byte, error) {
	if reserve == 0 && len(s.queue) == 0 {
		line, err := s.line(ctx)
		if err == nil {
			s.lines++
		}
		return line, err
	}
	for len(s.queue) <= reserve {
		line, err := s.line(ctx)
		if err != nil {
			return nil, err
		}
		s.queue = append(s.queue, bytes.Clone(line))
	}
	line := s.queue[0]
	s.queue = s.queue[1:]
	s.lines++
	return line, nil
}

// skip drops n lines.
func (s *lineRows) skip(ctx context.Context, n int) error {
	for range n {
		if _, err := s.ahead(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// plain reads header, rows, and all but the footer.
func (s *lineRows) plain(ctx context.Context, f *textFile) error {
	if s.r.settings.Header {
		if err := s.skip(ctx, s.r.settings.HeaderLines); err != nil {
			return s.end(f, err)
		}
	}
	footer := 0
	if s.r.settings.Footer {
		footer = s.r.settings.FooterLines
	}
	for !s.ended {
		if err := s.row(ctx, f, footer); err != nil {
			return s.end(f, err)
		}
	}
	return s.flush(f)
}

// pages reads a document header once, then header, rows and footer of each page.
func (s *lineRows) pages(ctx context.Context, f *textFile) error {
	set := s.r.settings
	for range set.DocHeaderLines {
		if _, err := s.physical(ctx); err != nil {
			return s.end(f, err)
		}
	}
	for !s.ended {
		if set.Header {
			if err := s.skip(ctx, set.HeaderLines); err != nil {
				return s.end(f, err)
			}
		}
		for range max(1, set.LinesPerPage) {
			if err := s.row(ctx, f, 0); err != nil || s.ended {
				return s.end(f, err)
			}
		}
		if set.Footer {
			if err := s.skip(ctx, set.FooterLines); err != nil {
				return s.end(f, err)
			}
		}
	}
	return s.flush(f)
}

// end emits what is left when the file has ended.
func (s *lineRows) end(f *textFile, err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return s.flush(f)
}

// row reads one row, which may go over several lines.
func (s *lineRows) row(ctx context.Context, f *textFile, footer int) error {
	line, err := s.ahead(ctx, footer)
	if err != nil {
		return err
	}
	if s.r.settings.Wrapped {
		s.wrapped = append(s.wrapped[:0], line...)
		for range s.r.settings.Wraps {
			more, err := s.ahead(ctx, footer)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			s.wrapped = append(s.wrapped, more...)
		}
		line = s.wrapped
	}
	s.out.line(line)
	s.ended = s.r.settings.Limit > 0 && s.lines >= s.r.settings.Limit
	if s.out.full() {
		return s.flush(f)
	}
	return nil
}
