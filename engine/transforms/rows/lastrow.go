package rows

import (
	"context"
	"errors"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// DetectLastRow appends a flag that only the last row has. It holds one batch
// back, so that it knows.
var DetectLastRow = transform.Define[DetectLastRowSettings](transform.About{
	ID:       "DetectLastRow",
	Name:     "Identify last row in a stream",
	Category: transform.CategoryFlow,
	Summary:  "Flag the last row.",
})

// DetectLastRowSettings lists the settings in the order the form shows them.
type DetectLastRowSettings struct {
	Result string `hop:"resultfieldname" default:"result" label:"Result field" required:"true"`
}

func (s *DetectLastRowSettings) schema(l transform.Links) (*batch.Schema, error) {
	if s.Result == "" {
		return nil, errors.New("the result field has no name")
	}
	f := batch.NewField(s.Result, batch.Boolean)
	f.Origin = l.Transform
	return l.Main().With(f), nil
}

// Output implements transform.Settings.
func (s *DetectLastRowSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *DetectLastRowSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return &lastRowProcessor{env: env, schema: schema}, nil
}

type lastRowProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	held   *batch.Batch
}

// Apply implements transform.RowWise.
func (p *lastRowProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	if b.Rows() == 0 {
		return nil
	}
	err := p.pass(false, emit)
	p.held = b.Retain()
	return err
}

// Finish implements transform.Finisher.
func (p *lastRowProcessor) Finish(_ context.Context, emit transform.Emit) error {
	return p.pass(true, emit)
}

// pass hands the held batch on.
func (p *lastRowProcessor) pass(last bool, emit transform.Emit) error {
	b := p.held
	if b == nil {
		return nil
	}
	p.held = nil
	defer b.Release()
	flags := p.env.Alloc.Column(batch.Boolean)
	flags.Extend(b.Physical())
	if last {
		flags.Bits.Set(b.Row(b.Rows()-1), true)
	}
	return emit(transform.Main, b.With(p.schema, flags))
}

// Close implements io.Closer.
func (p *lastRowProcessor) Close() error {
	if p.held != nil {
		p.held.Release()
		p.held = nil
	}
	return nil
}
