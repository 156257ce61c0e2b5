package generate

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Injector marks where rows come in from outside: a unit test puts those of a data
// set in its place. Run by itself it passes on what its input gives.
var Injector = transform.Define[InjectorSettings](transform.About{
	ID:       "Injector",
	Name:     "Injector",
	Category: transform.CategoryInput,
	Summary:  "Rows from outside of the pipeline.",
})

// InjectorSettings lists the settings in the order the form shows them.
type InjectorSettings struct {
	Fields []InjectedField `hop:"fields>field"`
}

// InjectedField is one field that the rows from outside have.
type InjectedField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
}

func (s *InjectorSettings) schema(l transform.Links) *batch.Schema {
	if in := l.Main(); in != nil {
		return in
	}
	var fields []batch.Field
	for _, f := range s.Fields {
		out := batch.NewField(f.Name, f.Type)
		if f.Type == batch.None {
			out = batch.NewField(f.Name, batch.String)
		}
		out.Length, out.Precision, out.Origin = f.Length, f.Precision, l.Transform
		fields = append(fields, out)
	}
	return batch.NewSchema().With(fields...)
}

// Output implements transform.Settings.
func (s *InjectorSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

// Start implements transform.Settings.
func (s *InjectorSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	return newInjected(env, l, func(*transform.Env) ([]*batch.Batch, error) { return nil, nil }), nil
}

// Rows gives the rows of an injector for one copy, in order; each batch has one
// hold, which the caller of Rows takes over.
type Rows func(env *transform.Env) ([]*batch.Batch, error)

// NewInjected gives settings that emit given rows, whatever the node they are put
// in the place of was. Rows that arrive over hops come behind them and must have
// the same layout. rows is called once per copy, when it starts to produce.
func NewInjected(schema *batch.Schema, rows Rows) transform.Settings {
	return &injected{schema: schema, rows: rows}
}

type injected struct {
	schema *batch.Schema
	rows   Rows
}

// Output implements transform.Settings.
func (s *injected) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	if in := l.Main(); in != nil {
		if err := s.schema.SameLayout(in); err != nil {
			return nil, err
		}
	}
	return transform.OnMain(s.schema)
}

// Start implements transform.Settings.
func (s *injected) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	return newInjected(env, l, s.rows), nil
}

func newInjected(env *transform.Env, l transform.Links, rows Rows) transform.Processor {
	if l.HasMain() {
		return &injectedBefore{rows: injectedRows{env, rows}}
	}
	return &injectedSource{rows: injectedRows{env, rows}}
}

type injectedRows struct {
	env  *transform.Env
	rows Rows
}

// emit hands all rows on.
func (r *injectedRows) emit(ctx context.Context, emit transform.Emit) error {
	list, err := r.rows(r.env)
	if err != nil {
		return err
	}
	for i, b := range list {
		err := context.Cause(ctx)
		if err == nil && stopping(r.env) {
			releaseBatches(list[i:])
			return nil
		}
		if err == nil {
			err = emit(transform.Main, b)
			i++
		}
		if err != nil {
			releaseBatches(list[i:])
			return err
		}
	}
	return nil
}

func releaseBatches(list []*batch.Batch) {
	for _, b := range list {
		b.Release()
	}
}

// injectedSource emits the rows.
type injectedSource struct {
	transform.Producer
	rows injectedRows
}

// Produce implements transform.Source.
func (p *injectedSource) Produce(ctx context.Context, emit transform.Emit) error {
	return p.rows.emit(ctx, emit)
}

// injectedBefore emits the rows before those of its input.
type injectedBefore struct {
	transform.Collector
	transform.TakesRaw
	rows injectedRows
}

// Run implements transform.Stream.
func (p *injectedBefore) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	if err := p.rows.emit(ctx, emit); err != nil {
		return err
	}
	for _, r := range in {
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if err := emit(transform.Main, b); err != nil {
				return err
			}
		}
	}
	return nil
}
