// Package generate holds the sources that make rows themselves: grids, generators,
// variables, facts of the system, random and fake data, data sets.
//
// Transforms lists them. Those that only append values to rows (GetVariable,
// SystemInfo, RandomValue) make one row when nothing is connected in front of
// them.
package generate

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Transforms is the family.
var Transforms = []transform.Definition{
	DataGrid,
	RowGenerator,
	GetVariable,
	SystemInfo,
	RandomValue,
	Fake,
	Injector,
	DataSetInput,
}

// maker makes the columns that are appended to the rows of a batch, each with one
// hold and the batch's physical rows.
type maker func(b *batch.Batch) ([]*batch.Column, error)

// appending does the work of a row-wise processor around a maker.
type appending struct {
	transform.TakesRaw
	schema *batch.Schema
	make   maker
}

// ordered appends values that depend on the order of rows.
type ordered struct {
	transform.Stateful
	appending
}

// unordered appends values that do not.
type unordered struct {
	transform.Stateless
	appending
}

// Apply implements transform.RowWise.
func (p *appending) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	cols, err := p.make(b)
	if err != nil {
		return err
	}
	return emit(transform.Main, b.With(p.schema, cols...))
}

// oneRow is a source of one row around a maker.
type oneRow struct {
	transform.Producer
	env    *transform.Env
	schema *batch.Schema
	make   maker
}

// Produce implements transform.Source. Hop counts the row it starts from as read.
func (p *oneRow) Produce(_ context.Context, emit transform.Emit) error {
	p.env.Counters.Read.Add(1)
	b := p.env.Alloc.Batch(batch.NewSchema())
	defer b.Release()
	b.SetRows(1)
	cols, err := p.make(b)
	if err != nil {
		return err
	}
	return emit(transform.Main, b.With(p.schema, cols...))
}

// processor is a source when no main input is connected. inOrder says that m must
// see the rows in order, on one goroutine.
func processor(env *transform.Env, l transform.Links, schema *batch.Schema, m maker, inOrder bool) transform.Processor {
	switch {
	case !l.HasMain():
		return &oneRow{env: env, schema: schema, make: m}
	case inOrder:
		return &ordered{appending: appending{schema: schema, make: m}}
	}
	return &unordered{appending: appending{schema: schema, make: m}}
}

// eachRow calls row for the selected rows of b in order and makes the others null;
// row appends one value to every column.
func eachRow(b *batch.Batch, cols []*batch.Column, row func()) {
	pad := func(n int) {
		for _, c := range cols {
			for c.Len() < n {
				c.AppendNull()
			}
		}
	}
	for i := range b.All() {
		pad(i)
		row()
	}
	pad(b.Physical())
}

// columns makes an empty column for every field.
func columns(env *transform.Env, fields []batch.Field) []*batch.Column {
	cols := make([]*batch.Column, len(fields))
	for i := range fields {
		cols[i] = env.Alloc.Column(fields[i].Type)
	}
	return cols
}

// cell is how a typed text in a file's table becomes a field: shared by the grid,
// the generator and the variables.
type cell struct {
	name, format, currency, decimal, group string
	typ                                    batch.Type
	length, precision                      int
}

func (c cell) field(origin string) batch.Field {
	f := batch.NewField(c.name, c.typ)
	f.Length, f.Precision, f.Mask, f.Origin = c.length, c.precision, c.format, origin
	f.Currency, f.Decimal, f.Grouping = c.currency, c.decimal, c.group
	return f
}
