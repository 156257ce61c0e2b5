package transform

import (
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
)

// RowError says why one row could not be processed.
type RowError struct {
	Fields string // names of the fields at fault, comma separated
	Code   string // Hop's error code, such as SELECT001
	Value  string
	Err    error
}

// Rejects collects the rows of one batch that could not be processed. With an
// error hop they become an error batch; without one the first of them is the
// error of the transform. The zero value is not usable; Env.Rejects makes one.
type Rejects struct {
	env   *Env
	rows  []int32
	whys  []RowError
	batch *batch.Batch
}

// Rejects starts the collection for one batch, which it borrows until Flush.
func (e *Env) Rejects(b *batch.Batch) *Rejects { return &Rejects{env: e, batch: b} }

// Add records row i (an index into the columns). The error, not nil when no error
// hop is drawn, ends the execution; return it.
func (r *Rejects) Add(i int, why RowError) error {
	if r.env.Errors == nil {
		return r.env.rowError(r.batch, i, why)
	}
	r.rows = append(r.rows, int32(i))
	r.whys = append(r.whys, why)
	return nil
}

// Len is the number of rows recorded.
func (r *Rejects) Len() int { return len(r.rows) }

// Keep gives the selected rows of the batch that were not recorded; nil when none
// was, which selects all as before.
func (r *Rejects) Keep() []int32 {
	if len(r.rows) == 0 {
		return r.batch.Sel
	}
	keep := make([]int32, 0, r.batch.Rows()-len(r.rows))
	k := 0
	for i := range r.batch.All() {
		for k < len(r.rows) && int(r.rows[k]) < i {
			k++
		}
		if k < len(r.rows) && int(r.rows[k]) == i {
			continue
		}
		keep = append(keep, int32(i))
	}
	return keep
}

// Flush emits the recorded rows, with the error fields appended, to the error
// port. The rows are those of from, which has the physical rows of the batch
// given to Env.Rejects (usually that batch itself).
func (r *Rejects) Flush(from *batch.Batch, emit Emit) error {
	if len(r.rows) == 0 {
		return nil
	}
	r.env.Counters.Rejected.Add(int64(len(r.rows)))
	links := Links{Transform: r.env.Transform, Error: r.env.Errors}
	schema := links.ErrorSchema(from.Schema)
	rows := from.Gather(r.rows)
	defer rows.Release()
	var extra []*batch.Column
	add := func(name string, c *batch.Column, value func(*RowError)) {
		if name == "" {
			c.Release()
			return
		}
		for i := range r.whys {
			value(&r.whys[i])
		}
		extra = append(extra, c)
	}
	text := func(get func(*RowError) string) (*batch.Column, func(*RowError)) {
		c := r.env.Alloc.Column(batch.String)
		return c, func(w *RowError) { c.AppendString(get(w)) }
	}
	count := r.env.Alloc.Column(batch.Integer)
	add(r.env.Errors.CountField, count, func(*RowError) { count.AppendInt(1) })
	c, put := text(func(w *RowError) string { return w.Err.Error() })
	add(r.env.Errors.DescriptionField, c, put)
	c, put = text(func(w *RowError) string { return w.Fields })
	add(r.env.Errors.FieldField, c, put)
	c, put = text(func(w *RowError) string { return w.Code })
	add(r.env.Errors.CodeField, c, put)
	return emit(Error, rows.With(schema, extra...))
}

// rowError makes the error of row i; the row number counts the selected rows of
// the batch from 1, and the engine adds the rows that came before.
func (e *Env) rowError(b *batch.Batch, i int, why RowError) error {
	n := int64(0)
	for k := range b.All() {
		n++
		if k == i {
			break
		}
	}
	field, _, _ := strings.Cut(why.Fields, ",")
	return &engine.Error{Transform: e.Transform, Field: field, Row: n, Value: why.Value, Err: why.Err}
}
