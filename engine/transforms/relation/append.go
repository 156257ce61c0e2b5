package relation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Append emits all rows of one input, then all rows of another one.
var Append = transform.Define[AppendSettings](transform.About{
	ID:       "Append",
	Name:     "Append streams",
	Category: transform.CategoryFlow,
	Summary:  "Emit all rows of one input, then all rows of another.",
})

// AppendSettings lists the settings in the order the form shows them.
type AppendSettings struct {
	Head string `hop:"head_name" form:"transform" required:"true" label:"Head transform"`
	Tail string `hop:"tail_name" form:"transform" required:"true" label:"Tail transform"`
}

// Ports implements transform.Porter: the head is read to its end first.
func (s *AppendSettings) Ports(transform.Links) transform.Ports {
	p := twoInputs(s.Head, s.Tail)
	p.Inputs[0].Read = transform.First
	return p
}

// Output implements transform.Settings.
func (s *AppendSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	head, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(head)
}

func (s *AppendSettings) schema(l transform.Links) (*batch.Schema, error) {
	head, tail, err := twoSchemas(l, s.Head, s.Tail)
	if err != nil {
		return nil, err
	}
	if err := head.SameLayout(tail); err != nil {
		return nil, fmt.Errorf("the rows of %q and %q cannot follow each other: %w; make them alike with Select values", s.Head, s.Tail, err)
	}
	return head, nil
}

// Start implements transform.Settings.
func (s *AppendSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	head, err := s.schema(l)
	return &appendProcessor{env: env, schema: head}, err
}

type appendProcessor struct {
	transform.Collector
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
}

// Run implements transform.Stream.
func (p *appendProcessor) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	for _, r := range in {
		cast, err := newRecaster(p.env, r, p.schema)
		if err != nil {
			return err
		}
		for {
			b, err := cast.Next(ctx)
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
