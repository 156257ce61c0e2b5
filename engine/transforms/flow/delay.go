package flow

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Delay waits for each row before it passes it on.
var Delay = transform.Define[DelaySettings](transform.About{
	ID:       "Delay",
	Name:     "Delay row",
	Category: transform.CategoryFlow,
	Summary:  "Wait before each row.",
})

// DelayUnit is the unit of the time.
type DelayUnit string

// Choices implements transform.Choices.
func (DelayUnit) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "milliseconds", Label: "milliseconds"},
		{Code: "seconds", Label: "seconds"},
		{Code: "minutes", Label: "minutes"},
		{Code: "hours", Label: "hours"},
	}
}

var delayUnits = map[string]time.Duration{
	"milliseconds": time.Millisecond, "seconds": time.Second, "minutes": time.Minute, "hours": time.Hour,
}

// DelaySettings lists the settings in the order the form shows them.
type DelaySettings struct {
	Timeout       transform.Expr[string] `hop:"timeout" label:"Delay"`
	Unit          DelayUnit              `hop:"scaletime" default:"seconds" label:"Unit"`
	TimeoutField  string                 `hop:"timeout_field" form:"field" label:"Delay from field"`
	UnitFromField bool                   `hop:"scaletime_from_field" label:"Unit from field"`
	UnitField     string                 `hop:"scaletime_field" form:"field" label:"Unit field"`
}

// Output implements transform.Settings.
func (s *DelaySettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *DelaySettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &delayProcessor{env: env, field: -1, unitField: -1}
	unit, ok := delayUnits[string(s.Unit)]
	if !ok {
		return nil, fmt.Errorf("unit %q is not known; choose milliseconds, seconds, minutes or hours", s.Unit)
	}
	p.unit = unit
	var err error
	if s.TimeoutField != "" {
		if p.field, err = fieldIndex(inputOf(l), s.TimeoutField, "Delay from field"); err != nil {
			return nil, err
		}
	} else if p.fixed, err = s.fixed(env); err != nil {
		return nil, err
	}
	if s.UnitFromField {
		if p.unitField, err = fieldIndex(inputOf(l), s.UnitField, "Unit field"); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (s *DelaySettings) fixed(env *transform.Env) (float64, error) {
	text, err := s.Timeout.Eval(env)
	if err != nil || strings.TrimSpace(text) == "" {
		return 0, err
	}
	return parseDelay(text)
}

func parseDelay(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("delay %q is not a number of 0 or more", text)
	}
	return n, nil
}

type delayProcessor struct {
	transform.Stateful
	env              *transform.Env
	fixed            float64
	unit             time.Duration
	field, unitField int
}

// MaxRows implements transform.Pacer.
func (p *delayProcessor) MaxRows() int { return 1 }

// Apply implements transform.RowWise.
func (p *delayProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	for i := range b.All() {
		d, err := p.wait(b, i)
		if err != nil {
			return err
		}
		select {
		case <-time.After(d):
		case <-p.env.Stopping:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return emit(transform.Main, b.Retain())
}

func (p *delayProcessor) wait(b *batch.Batch, i int) (time.Duration, error) {
	n, unit := p.fixed, p.unit
	if p.field >= 0 {
		text, err := compatible(p.env, b, p.field, i)
		if err != nil {
			return 0, err
		}
		if n = 0; text != "" {
			if n, err = parseDelay(text); err != nil {
				return 0, err
			}
		}
	}
	if p.unitField >= 0 {
		text, err := compatible(p.env, b, p.unitField, i)
		if err != nil {
			return 0, err
		}
		u, ok := delayUnits[strings.ToLower(text)]
		if !ok {
			return 0, fmt.Errorf("unit %q is not known; use milliseconds, seconds, minutes or hours", text)
		}
		unit = u
	}
	return time.Duration(n * float64(unit)), nil
}

// compatible gives a value as Hop's compatible string, empty for null.
func compatible(env *transform.Env, b *batch.Batch, k, i int) (string, error) {
	codec, err := env.Semantics.Codec(&b.Schema.Fields[k])
	if err != nil {
		return "", err
	}
	return string(codec.AppendCompatible(nil, b.Cols[k].Value(i))), nil
}
