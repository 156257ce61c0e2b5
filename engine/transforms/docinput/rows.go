package docinput

import (
	"errors"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// Rows collects the rows read from documents and emits them in batches. Parse
// appends one value to each column and calls End. It belongs to one goroutine.
type Rows struct {
	Cols []*batch.Column // one per field of Config; valid until End

	r        *reader
	extra    []*batch.Column
	previous []batch.Value
	sel      []int32 // source row of each row
	from     *batch.Batch
	row      int
	file     files.Info
	emit     transform.Emit
	rejected func(err error, code string) error
	n        int
	total    int64
	live     bool
}

func newRows(r *reader) *Rows {
	return &Rows{r: r, previous: make([]batch.Value, len(r.config.Fields))}
}

// begin says to which input row the next rows belong; b is borrowed until flush.
func (o *Rows) begin(b *batch.Batch, row int, emit transform.Emit) {
	o.from, o.row, o.emit = b, row, emit
	o.file = files.Info{}
	o.open()
}

func (o *Rows) open() {
	if o.live {
		return
	}
	o.live, o.n, o.sel = true, 0, o.sel[:0]
	o.Cols, o.extra = o.Cols[:0], o.extra[:0]
	for i := range o.r.config.Fields {
		o.Cols = append(o.Cols, o.r.env.Alloc.Column(o.r.config.Fields[i].Type))
	}
	for i := len(o.r.layout.keep) + len(o.r.config.Fields); i < o.r.layout.schema.Len(); i++ {
		o.extra = append(o.extra, o.r.env.Alloc.Column(o.r.layout.schema.Fields[i].Type))
	}
}

// Count is the number of rows so far, of all documents.
func (o *Rows) Count() int64 { return o.total }

// End completes a row. ErrEnough says that no more rows are wanted.
func (o *Rows) End() error {
	o.repeat()
	k := 0
	add := func(v batch.Value) {
		o.extra[k].AppendValue(v)
		k++
	}
	o.total++
	if o.r.layout.name {
		if o.file.Path == "" {
			add(batch.Null(batch.String))
		} else {
			add(batch.StringValue(o.file.Path))
		}
	}
	if o.r.layout.number {
		add(batch.IntegerValue(o.total))
	}
	for _, f := range o.r.layout.facts {
		if o.file.Path == "" {
			add(batch.Null(f.Field.Type))
		} else {
			add(f.Value(o.file))
		}
	}
	o.sel = append(o.sel, int32(o.row))
	o.n++
	if limit := o.r.settings.Limit; limit > 0 && o.total >= limit {
		return ErrEnough
	}
	if o.n >= batch.MaxRows || (o.n%64 == 0 && o.bytes() >= batch.SoftBytes) {
		if err := o.flush(); err != nil {
			return failed{err}
		}
		o.open()
	}
	return nil
}

func (o *Rows) repeat() {
	for i, c := range o.Cols {
		if i >= len(o.r.config.Repeat) || !o.r.config.Repeat[i] {
			continue
		}
		last := c.Len() - 1
		if o.r.env.Semantics.IsNull(c, last) && o.previous[i].Valid {
			c.Truncate(last)
			c.AppendValue(o.previous[i])
			continue
		}
		o.previous[i] = c.Value(last)
	}
}

func (o *Rows) bytes() int {
	n := 0
	for _, c := range o.Cols {
		n += c.Bytesize()
	}
	return n
}

// Reject drops the row that was begun and records why. The error, when not nil,
// ends the execution: return it.
func (o *Rows) Reject(err error) error {
	o.drop()
	code := o.r.config.RowCode
	if code == "" {
		code = o.r.config.Code
	}
	if err := o.rejected(err, code); err != nil {
		return failed{err}
	}
	return nil
}

// drop removes the values of a row that was not ended.
func (o *Rows) drop() {
	for _, c := range o.Cols {
		c.Truncate(o.n)
	}
}

// refuse rejects a document, unless the error ends the execution.
func (o *Rows) refuse(err error) error {
	if f, ok := errors.AsType[failed](err); ok {
		return f.error
	}
	return o.rejected(err, o.r.config.Code)
}

// flush emits the rows so far.
func (o *Rows) flush() error {
	if !o.live || o.n == 0 {
		return nil
	}
	layout, env := o.r.layout, o.r.env
	cols := append(append([]*batch.Column(nil), o.Cols...), o.extra...)
	o.live = false
	env.Counters.Input.Add(int64(o.n))
	if o.from == nil {
		return o.emit(transform.Main, env.Alloc.Assemble(layout.schema, cols, o.n))
	}
	kept := o.from.Pick(keptSchema(o.from.Schema, layout.keep), layout.keep)
	defer kept.Release()
	rows := kept.Gather(o.sel[:o.n])
	defer rows.Release()
	return o.emit(transform.Main, rows.With(layout.schema, cols...))
}

func keptSchema(s *batch.Schema, keep []int) *batch.Schema {
	out := &batch.Schema{Fields: make([]batch.Field, len(keep))}
	for i, k := range keep {
		out.Fields[i] = s.Fields[k]
	}
	return out
}

// release gives up columns that were not emitted.
func (o *Rows) release() {
	if !o.live {
		return
	}
	o.live = false
	for _, c := range append(append([]*batch.Column(nil), o.Cols...), o.extra...) {
		c.Release()
	}
}
