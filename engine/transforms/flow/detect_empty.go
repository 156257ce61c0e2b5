package flow

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// DetectEmptyStream swallows its rows and emits one row of nulls when there was
// none.
var DetectEmptyStream = transform.Define[DetectEmptyStreamSettings](transform.About{
	ID:       "DetectEmptyStream",
	Name:     "Detect empty stream",
	Category: transform.CategoryFlow,
	Summary:  "Give one empty row when no row arrives.",
})

// DetectEmptyStreamSettings has no settings.
type DetectEmptyStreamSettings struct{}

// Output implements transform.Settings.
func (s *DetectEmptyStreamSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *DetectEmptyStreamSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	return &detectEmptyProcessor{env: env, schema: inputOf(l)}, nil
}

type detectEmptyProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	seen   bool
}

// Apply implements transform.RowWise.
func (p *detectEmptyProcessor) Apply(_ context.Context, b *batch.Batch, _ transform.Emit) error {
	p.seen = p.seen || b.Rows() > 0
	return nil
}

// Finish implements transform.Finisher.
func (p *detectEmptyProcessor) Finish(_ context.Context, emit transform.Emit) error {
	if p.seen {
		return nil
	}
	b := p.env.Alloc.Batch(p.schema)
	for _, c := range b.Cols {
		c.AppendNull()
	}
	b.SetRows(1)
	return emit(transform.Main, b)
}
