package text

import (
	"bytes"
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// textBlock is one morsel: a block of whole lines.
type textBlock struct {
	reader *textReader
	file   *textFile
	block  block
	from   int
	before *turn
	after  *turn // nil without row numbers
}

// parse implements transform.Morsel.
func (w *textBlock) parse(ctx context.Context, emit transform.Emit) error {
	r := w.reader
	defer func() { r.blocks.put(w.block.data) }()
	list, err := w.batches()
	defer func() {
		for _, b := range list {
			b.release()
		}
	}()
	if err != nil {
		return fmt.Errorf("read %s: %w", w.file.info.Path, err)
	}
	rows, good := 0, int64(0)
	for _, b := range list {
		rows += b.rows
		good += b.good()
	}
	number := int64(0)
	if w.after != nil {
		if number, err = w.before.wait(ctx); err != nil {
			return err
		}
		w.after.rows <- number + good
	}
	r.env.Counters.Input.Add(int64(rows))
	before := 0
	for _, b := range list {
		n := b.rows
		if err := b.emit(w.file, &number, before, emit); err != nil {
			return err
		}
		before += n
	}
	return nil
}

// batches parses the block: with the scanner when its text needs none of the
// rules that only the line splitter knows.
func (w *textBlock) batches() ([]*lineBatch, error) {
	if s := w.scanner(); s != nil {
		return w.scanned(s), nil
	}
	r := w.reader
	b := r.newBatch()
	list := []*lineBatch{b}
	for pos := w.from; pos < w.block.n; {
		end, next, err := r.nextLine(w.block.data, w.block.n, pos)
		if err != nil {
			return list, err
		}
		line := r.clean(w.block.data[pos:end])
		pos = next
		if len(line) == 0 && (r.settings.NoEmptyLines || end == next) {
			continue // CRs at the end of the file are no line either
		}
		if b.full() {
			b = r.newBatch()
			list = append(list, b)
		}
		b.line(line)
	}
	return list, nil
}

// scanner gives a scanner for the block, nil when it does not fit: fixed widths,
// enclosures, escapes, odd line ends or empty lines.
func (w *textBlock) scanner() *scanner {
	r := w.reader
	d := dialect{separator: r.separator}
	if r.settings.Layout == "Fixed" || !d.simple() || r.settings.ErrorIgnored {
		return nil
	}
	if r.settings.Format == "mixed" {
		w.dropCR()
	}
	data := w.block.data[w.from:w.block.n]
	if len(data) == 0 || data[0] == '\n' || bytes.Contains(data, []byte("\n\n")) || bytes.IndexByte(data, '\r') >= 0 || r.settings.Format == "DOS" {
		return nil
	}
	for _, special := range [2][]byte{r.quote, r.escape} {
		if len(special) > 0 && bytes.Contains(data, special) {
			return nil
		}
	}
	s := newScanner(d, len(r.fields))
	s.pos = w.from
	return s
}

// dropCR removes every CR, as the mixed format wants.
func (w *textBlock) dropCR() {
	data := w.block.data
	at := bytes.IndexByte(data[:w.block.n], '\r')
	if at < 0 {
		return
	}
	out := at
	from := w.from
	for pos := at; pos < w.block.n; {
		k := bytes.IndexByte(data[pos:w.block.n], '\r')
		if k < 0 {
			k = w.block.n - pos
		} else if pos+k < w.from {
			from--
		}
		out += copy(data[out:], data[pos:pos+k])
		pos += k + 1
	}
	copy(data[out:out+padding], data[w.block.n:w.block.n+padding])
	w.from, w.block.n = from, out
}

func (w *textBlock) scanned(s *scanner) []*lineBatch {
	r := w.reader
	var list []*lineBatch
	for s.pos < w.block.n {
		b := r.newBatch()
		list = append(list, b)
		for !b.full() && s.pos < w.block.n {
			from := s.pos
			n := s.scan(w.block.data, w.block.n, min(chunkRows, batch.MaxRows-b.rows))
			for c := range r.fields {
				work := column{inputField: &r.fields[c], to: b.cols[c], data: w.block.data, spans: s.spans[c:], stride: len(r.fields), rows: n, index: r.passed + c}
				work.append(nil, false)
				b.bad = append(b.bad, work.bad...)
			}
			b.rows += n
			b.size += s.pos - from
		}
		d := dialect{separator: r.separator, quote: r.quote}
		for c := range r.fields {
			b.cols[c].Plain = plainText(b.cols[c], &d, false)
		}
		sortByRow(b.bad)
	}
	return list
}
