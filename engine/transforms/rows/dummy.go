package rows

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Dummy passes its rows on as they are. It marks a place: the end of a branch,
// the target of a hop, the rows a unit test looks at.
var Dummy = transform.Define[DummySettings](transform.About{
	ID:       "Dummy",
	Name:     "Dummy (do nothing)",
	Category: transform.CategoryFlow,
	Summary:  "Pass rows on unchanged.",
})

// DummySettings has no settings.
type DummySettings struct{}

// Ports implements transform.Porter.
func (s *DummySettings) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	p.Inputs[0].AnyLayout = true
	return p
}

// Output implements transform.Settings.
func (s *DummySettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *DummySettings) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return passProcessor{}, nil
}

// passProcessor hands its batches on.
type passProcessor struct {
	transform.Stateless
	transform.TakesRaw
}

// Apply implements transform.RowWise.
func (passProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	return emit(transform.Main, b.Retain())
}

// Needs implements transform.FieldUser.
func (s *DummySettings) Needs(l transform.Links, out []bool) []bool {
	return transform.PassingNeeds(l, out)
}
