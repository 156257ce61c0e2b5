package unittest

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// capture is a Dummy that keeps the rows which arrive.
type capture struct {
	schema  *batch.Schema
	batches []*batch.Batch
}

// Output implements transform.Settings.
func (c *capture) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	s := l.Main()
	if s == nil {
		s = batch.NewSchema()
	}
	c.schema = s
	return transform.OnMain(s)
}

// Start implements transform.Settings.
func (c *capture) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return &captureProcessor{capture: c}, nil
}

func (c *capture) release() {
	for _, b := range c.batches {
		b.Release()
	}
	c.batches = nil
}

type captureProcessor struct {
	transform.Stateful
	capture *capture
}

// Apply implements transform.RowWise.
func (p *captureProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	p.capture.batches = append(p.capture.batches, b.Retain())
	return emit(transform.Main, b.Retain())
}

// passing is a transform that a test bypasses.
type passing struct{}

// Output implements transform.Settings.
func (*passing) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	s := l.Main()
	if s == nil {
		s = batch.NewSchema()
	}
	return transform.OnMain(s)
}

// Start implements transform.Settings.
func (*passing) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return passingProcessor{}, nil
}

type passingProcessor struct {
	transform.Stateless
	transform.TakesRaw
}

// Apply implements transform.RowWise.
func (passingProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	return emit(transform.Main, b.Retain())
}
