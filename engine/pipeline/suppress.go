package pipeline

import (
	"context"
	"errors"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// suppressSinks replaces every transform that writes outside of the pipeline by
// one that passes its rows on, and notes its name.
func (e *Execution) suppressSinks() {
	for _, n := range e.graph.Nodes {
		if !n.Disabled && n.Definition.Sink {
			n.Settings = &passSettings{real: n.Settings}
			e.suppress = append(e.suppress, n.Name)
		}
	}
}

// passSettings stand in for a transform that must not act: the schema is the
// real one's where that needs no writing.
type passSettings struct{ real transform.Settings }

// Output implements transform.Settings.
func (s *passSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	if l.HasMain() {
		return transform.OnMain(l.Main())
	}
	return s.real.Output(l, d)
}

// Start implements transform.Settings.
func (s *passSettings) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return passProcessor{}, nil
}

type passProcessor struct {
	transform.Stateless
	transform.TakesRaw
}

// Apply implements transform.RowWise.
func (passProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	return emit(transform.Main, b.Retain())
}

// failedIn says whether an error came from a unit.
func failedIn(u *unit, err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && strings.EqualFold(e.Transform, u.node.Name)
}
