package flow

import (
	"context"
	"errors"
	"io"

	"sluice/engine"
	"sluice/engine/transform"
)

// BlockUntilTransformsFinish holds its rows back until other transforms have
// ended. What arrives meanwhile waits in its input queue, on disk when it is much.
var BlockUntilTransformsFinish = transform.Define[BlockUntilSettings](transform.About{
	ID:       "BlockUntilTransformsFinish",
	Name:     "Blocking until transforms finish",
	Category: transform.CategoryFlow,
	Summary:  "Hold rows until other transforms have ended.",
})

// BlockUntilSettings lists the settings in the order the form shows them.
type BlockUntilSettings struct {
	Transforms []BlockUntilTransform `hop:"transforms>transform,alias=steps>step" required:"true"`
}

// BlockUntilTransform names one transform copy to wait for.
type BlockUntilTransform struct {
	Name string `hop:"name" form:"transform" required:"true"`
	Copy int    `hop:"CopyNr" default:"0" label:"Copy number"`
}

// Ports implements transform.Porter.
func (s *BlockUntilSettings) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	for _, t := range s.Transforms {
		p.WaitsFor = append(p.WaitsFor, t.Name)
	}
	return p
}

// Output implements transform.Settings.
func (s *BlockUntilSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *BlockUntilSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &blockUntilProcessor{env: env, list: s.Transforms}, nil
}

type blockUntilProcessor struct {
	transform.Collector
	transform.TakesRaw
	env  *transform.Env
	list []BlockUntilTransform
}

// Run implements transform.Stream.
func (p *blockUntilProcessor) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	for _, t := range p.list {
		done := p.env.Finished(t.Name, t.Copy)
		if done == nil {
			return &engine.Error{Transform: p.env.Transform, Message: "there is no running copy of transform " + t.Name + " to wait for", Hint: "correct the name or the copy number, or enable its hops"}
		}
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if len(in) == 0 {
		return nil // no hop leads here
	}
	for {
		b, err := in[0].Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = emit(transform.Main, b)
		}
		if err != nil {
			return err
		}
	}
}
