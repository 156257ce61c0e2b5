package presenter

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// MaxPreviewRows bounds the rows of a preview.
const MaxPreviewRows = 10_000

// Cell is one value of a row.
type Cell struct {
	Text   string
	Null   bool
	Unread bool // the source left the field out, because nothing needs it
}

// Rows are the first rows that a transform emitted, as text. Its methods are safe
// for many goroutines.
type Rows struct {
	transform string
	limit     int
	full      func()
	unread    []string // fields that the source left out

	mu     sync.Mutex // guards what follows
	fields []Field
	rows   [][]Cell
	err    error
	done   bool
}

// NewRows collects up to limit rows of a transform.
func NewRows(transformName string, limit int) *Rows {
	return &Rows{transform: transformName, limit: max(1, min(limit, MaxPreviewRows)), full: func() {}}
}

// OnFull says what happens, once, when the rows are there. It is set before the run.
func (r *Rows) OnFull(do func()) { r.full = do }

// Transform names whose rows they are.
func (r *Rows) Transform() string { return r.transform }

// Take is the sampling function of a run.
func (r *Rows) Take(name string, _ int, port transform.Port, b *batch.Batch) {
	if !strings.EqualFold(name, r.transform) || port == transform.Error {
		return
	}
	r.take(b)
}

func (r *Rows) take(b *batch.Batch) {
	r.mu.Lock()
	full := r.add(b)
	r.mu.Unlock()
	if full {
		r.full()
	}
}

// mark marks the values of a row that were not read.
func (r *Rows) mark(row []Cell) {
	for k := range row {
		if k < len(r.fields) && slices.Contains(r.unread, r.fields[k].Name) {
			row[k] = Cell{Unread: true}
		}
	}
}

// add keeps the rows of a batch and tells whether it was the last one wanted.
func (r *Rows) add(b *batch.Batch) bool {
	if r.done {
		return false
	}
	if r.fields == nil {
		r.fields = fieldsOf(b.Schema)
	}
	codecs, err := batch.DefaultSemantics(nil).Codecs(b.Schema)
	for i := range b.All() {
		if err != nil || len(r.rows) >= r.limit {
			break
		}
		var row []Cell
		row, err = cells(b, i, codecs)
		r.mark(row)
		r.rows = append(r.rows, row)
	}
	if err != nil {
		r.err = err
	}
	r.done = r.err != nil || len(r.rows) >= r.limit
	return r.done
}

func cells(b *batch.Batch, i int, codecs []*batch.Codec) ([]Cell, error) {
	row := make([]Cell, len(b.Cols))
	for k := range b.Cols {
		col, err := b.Col(k, codecs[k])
		if err != nil {
			return row, err
		}
		if col.IsNull(i) {
			row[k].Null = true
			continue
		}
		row[k].Text = string(codecs[k].AppendText(nil, col, i))
	}
	return row, nil
}

// View gives the rows collected so far; they are not changed any more.
func (r *Rows) View() (fields []Field, rows [][]Cell, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fields, slices.Clip(r.rows), r.err
}

// Fields implements RowSource.
func (r *Rows) Fields() []Field {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fields
}

// Len implements RowSource.
func (r *Rows) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rows)
}

// Row implements RowSource.
func (r *Rows) Row(i int) []Cell {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < 0 || i >= len(r.rows) {
		return nil
	}
	return r.rows[i]
}

// Caption implements RowSource.
func (r *Rows) Caption() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := Plural(int64(len(r.rows)), "row") + " of " + r.transform
	if r.err != nil {
		text += ": " + r.err.Error()
	}
	return text
}

// Close implements RowSource.
func (r *Rows) Close() {}

// ExportCSV implements RowSource.
func (r *Rows) ExportCSV(_ context.Context, path string) (int64, error) {
	fields, rows, err := r.View()
	if err != nil {
		return 0, err
	}
	return int64(len(rows)), streamWhole(path, func(f io.Writer) error {
		w := csv.NewWriter(f)
		line := make([]string, len(fields))
		for i := range fields {
			line[i] = fields[i].Name
		}
		err := w.Write(line)
		for _, row := range rows {
			for i, c := range row {
				line[i] = c.Text
			}
			err = errors.Join(err, w.Write(line))
		}
		w.Flush()
		return errors.Join(err, w.Error())
	})
}

// RowSource are rows that a grid shows. Its methods are safe for many goroutines.
type RowSource interface {
	// Fields are those of every row, nil while they are not known.
	Fields() []Field
	// Len is how many rows there are by now.
	Len() int
	// Row gives a row as text, nil when there is none.
	Row(i int) []Cell
	// Caption says whose rows they are, and how many.
	Caption() string
	// ExportCSV writes all rows, also those that are not shown, to a file.
	ExportCSV(ctx context.Context, path string) (rows int64, err error)
	// Close gives the rows back; there are none any more.
	Close()
}
