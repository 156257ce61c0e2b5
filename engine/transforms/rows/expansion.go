package rows

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// expansion makes several rows out of one: rows of the input repeated, with
// columns behind them. It hands them on in batches of the usual size.
type expansion struct {
	env    *transform.Env
	schema *batch.Schema
	from   *batch.Batch
	emit   transform.Emit
	rows   []int32
	bytes  int // per row of the input, to keep batches near the soft cap
	extra  []*batch.Column
}

// newExpansion borrows b; schema is its schema and the columns behind it.
func newExpansion(env *transform.Env, schema *batch.Schema, b *batch.Batch, emit transform.Emit) *expansion {
	x := &expansion{env: env, schema: schema, from: b, emit: emit, rows: make([]int32, 0, batch.MaxRows)}
	x.bytes = b.Bytesize() / max(b.Physical(), 1)
	x.columns()
	return x
}

func (x *expansion) columns() {
	x.extra = x.extra[:0]
	for _, f := range x.schema.Fields[x.from.Schema.Len():] {
		x.extra = append(x.extra, x.env.Alloc.Column(f.Type))
	}
}

// add repeats row i of the input; the caller has appended to each extra column.
func (x *expansion) add(ctx context.Context, i int) error {
	x.rows = append(x.rows, int32(i))
	if len(x.rows) < batch.MaxRows && !x.large() {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := x.flush(); err != nil {
		return err
	}
	x.columns()
	return nil
}

func (x *expansion) large() bool {
	size := x.bytes * len(x.rows)
	for _, c := range x.extra {
		size += len(c.Data)
	}
	return size >= batch.SoftBytes
}

// flush hands the rows on. More may follow only after add did it.
func (x *expansion) flush() error {
	cols := x.extra
	x.extra = nil
	if len(x.rows) == 0 {
		releaseAll(cols)
		return nil
	}
	rows := x.from.Gather(x.rows)
	x.rows = x.rows[:0]
	out := rows.With(x.schema, cols...)
	rows.Release()
	return x.emit(transform.Main, out)
}

// release drops what was not handed on.
func (x *expansion) release() {
	releaseAll(x.extra)
	x.extra = nil
}

// wholeNumber reads a count ("10", "1k") as Hop does: what is none is the default.
func wholeNumber(text string, otherwise int64) int64 {
	n, err := project.ParseLong(text)
	if err != nil {
		return otherwise
	}
	return n
}
