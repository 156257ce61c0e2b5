package flow

import (
	"context"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// RowsToResult adds its rows to the result of the pipeline, for the next one in a
// workflow, and passes them on.
var RowsToResult = transform.Define[RowsToResultSettings](transform.About{
	ID:       "RowsToResult",
	Name:     "Copy rows to result",
	Category: transform.CategoryFlow,
	Summary:  "Hand rows to the next pipeline of the workflow.",
})

// RowsToResultSettings has no settings.
type RowsToResultSettings struct{}

// Output implements transform.Settings.
func (s *RowsToResultSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *RowsToResultSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	return &rowsToResultProcessor{env: env, in: inputOf(l)}, nil
}

type rowsToResultProcessor struct {
	transform.Stateful
	env   *transform.Env
	in    *batch.Schema
	added bool
}

// Finish implements transform.Finisher: without rows an empty batch says that the
// result rows were set, to none.
func (p *rowsToResultProcessor) Finish(context.Context, transform.Emit) error {
	if !p.added {
		b := p.env.Alloc.Batch(p.in)
		p.env.Results.AddRows(b)
		b.Release()
	}
	return nil
}

// Apply implements transform.RowWise.
func (p *rowsToResultProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	p.added = true
	d := b.Dense()
	p.env.Results.AddRows(d)
	d.Release()
	return emit(transform.Main, b.Retain())
}

// RowsFromResult emits the result rows of the previous pipeline.
var RowsFromResult = transform.Define[RowsFromResultSettings](transform.About{
	ID:       "RowsFromResult",
	Name:     "Get rows from result",
	Category: transform.CategoryFlow,
	Summary:  "Take the rows that the previous pipeline handed on.",
})

// RowsFromResultSettings lists the settings in the order the form shows them.
// The fields only describe the layout: the rows have their own.
type RowsFromResultSettings struct {
	Fields []ResultField `hop:"fields>field"`
}

// ResultField is one declared field.
type ResultField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
}

// field gives the declared field.
func (f *ResultField) field(origin string) batch.Field {
	out := batch.NewField(f.Name, f.Type)
	out.Length, out.Precision, out.Origin = f.Length, f.Precision, origin
	return out
}

// Ports implements transform.Porter: the transform has no input.
func (s *RowsFromResultSettings) Ports(transform.Links) transform.Ports {
	return transform.Ports{Outputs: []transform.OutputPort{{ID: transform.Main}}}
}

// Output implements transform.Settings.
func (s *RowsFromResultSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	if rows := d.PreviousRows(); rows != nil {
		return transform.OnMain(rows)
	}
	out := batch.NewSchema()
	for i := range s.Fields {
		out = out.With(s.Fields[i].field(l.Transform))
	}
	return transform.OnMain(out)
}

// Start implements transform.Settings.
func (s *RowsFromResultSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &rowsFromResultProcessor{env: env}, nil
}

type rowsFromResultProcessor struct {
	transform.Producer
	env *transform.Env
}

// Produce implements transform.Source.
func (p *rowsFromResultProcessor) Produce(ctx context.Context, emit transform.Emit) error {
	var schema *batch.Schema
	for _, b := range p.env.Results.PreviousRows() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if schema == nil {
			schema = b.Schema
		}
		if err := schema.SameLayout(b.Schema); err != nil {
			return &engine.Error{Message: "the result rows have different layouts", Err: err}
		}
		if err := emit(transform.Main, b.As(schema)); err != nil {
			return err
		}
	}
	return nil
}
