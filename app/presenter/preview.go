package presenter

import (
	"slices"
	"strings"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// MaxPreviewRows bounds the rows of a preview.
const MaxPreviewRows = 10_000

// Cell is one value of a preview.
type Cell struct {
	Text string
	Null bool
}

// Rows are the first rows that a transform emitted, as text. Its methods are safe
// for many goroutines.
type Rows struct {
	transform string
	limit     int
	full      func()

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
	r.mu.Lock()
	full := r.add(b)
	r.mu.Unlock()
	if full {
		r.full()
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
