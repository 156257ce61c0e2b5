package unittest

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// dataRows are the rows of a data set under the names of the transform's fields.
// As settings they stand in for a transform whose rows they replace.
type dataRows struct {
	schema  *batch.Schema
	batches []*batch.Batch
}

func (d *dataRows) release() {
	for _, b := range d.batches {
		b.Release()
	}
	d.batches = nil
}

// Output implements transform.Settings.
func (d *dataRows) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(d.schema)
}

// Start implements transform.Settings.
func (d *dataRows) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return &dataRowsProcessor{rows: d}, nil
}

type dataRowsProcessor struct {
	transform.Producer
	rows *dataRows
}

// Produce implements transform.Source.
func (p *dataRowsProcessor) Produce(_ context.Context, emit transform.Emit) error {
	for len(p.rows.batches) > 0 {
		b := p.rows.batches[0]
		p.rows.batches = p.rows.batches[1:]
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	return nil
}
