package sql

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// tableLookup is a query with parameters from another transform.
type tableLookup struct {
	transform.Collector
	tableReader
	eachRow bool
	from    string
}

// Run implements transform.Stream.
func (p *tableLookup) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	schema := in[0].Schema()
	fields, err := p.parameters(schema)
	if err != nil {
		return err
	}
	binder, err := database.NewBinder(p.dialect, p.env.Semantics, schema, fields)
	if err != nil {
		return err
	}
	var args []any
	some := false
	err = eachRow(ctx, in[0], func(b *batch.Batch, i int) error {
		some = true
		if p.eachRow {
			args = args[:0]
		} else if len(p.names) > 0 && len(args) > 0 {
			return nil // named parameters mean the first row
		}
		if args, err = binder.Append(args, b, i); err != nil || !p.eachRow {
			return err
		}
		return p.run(ctx, args, emit)
	})
	if err != nil || p.eachRow {
		return err
	}
	if !some && database.Placeholders(p.query) > 0 {
		return &engine.Error{Message: fmt.Sprintf("%q gave no row to take parameters from", p.from), Hint: "make it give one row"}
	}
	return p.run(ctx, args, emit)
}

func (p *tableLookup) run(ctx context.Context, args []any, emit transform.Emit) error {
	want := database.Placeholders(p.query)
	if want != len(args) {
		return &engine.Error{Message: fmt.Sprintf("the query has %d parameters, but %q gives %d values", want, p.from, len(args)), Hint: "select the fields with Select values, in the order of the question marks"}
	}
	return p.emitRows(ctx, args, emit)
}

// parameters gives the positions of the fields to bind; none when the query has
// no parameters.
func (p *tableLookup) parameters(s *batch.Schema) ([]int, error) {
	if database.Placeholders(p.query) == 0 {
		return nil, nil
	}
	if len(p.names) == 0 {
		return everyField(s), nil
	}
	var fields []int
	for _, name := range p.names {
		i, err := position(s, name)
		if err != nil {
			return nil, err
		}
		fields = append(fields, i)
	}
	return fields, nil
}

// eachRow calls do for every row of a reader, to its end.
func eachRow(ctx context.Context, r transform.Reader, do func(b *batch.Batch, i int) error) error {
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = rowsOf(b, do)
		b.Release()
		if err != nil {
			return err
		}
	}
}

func rowsOf(b *batch.Batch, do func(b *batch.Batch, i int) error) error {
	for i := range b.All() {
		if err := do(b, i); err != nil {
			return err
		}
	}
	return nil
}
