package rows

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// NumberRange names the ranges a number lies in. A range includes its lower bound
// and excludes its upper one; the names of several ranges are joined by commas.
var NumberRange = transform.Define[NumberRangeSettings](transform.About{
	ID:            "NumberRange",
	Name:          "Number range",
	Category:      transform.Reshape,
	Summary:       "Name the range a number lies in.",
	HandlesErrors: true,
})

// NumberRangeSettings lists the settings in the order the form shows them.
type NumberRangeSettings struct {
	Field    string      `hop:"inputField" form:"field" required:"true"`
	Range    string      `hop:"outputField" default:"range" label:"Output field"`
	Fallback string      `hop:"fallBackValue" label:"Default value" help:"For null and for numbers in no range"`
	Rules    []RangeRule `hop:"rules>rule"`
}

// RangeRule is one range; an empty bound is infinite.
type RangeRule struct {
	Lower string `hop:"lower_bound" label:"From (included)"`
	Upper string `hop:"upper_bound" label:"To (excluded)"`
	Value string `hop:"value"`
}

func (s *NumberRangeSettings) schema(l transform.Links) *batch.Schema {
	return l.Main().With(textField(s.Range, -1, l.Transform))
}

// Output implements transform.Settings.
func (s *NumberRangeSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	if _, err := fieldIndex(inputOf(l), s.Field); err != nil {
		return nil, err
	}
	return transform.OnMain(s.schema(l))
}

// Start implements transform.Settings.
func (s *NumberRangeSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &rangeProcessor{env: env, schema: s.schema(l), fallback: s.Fallback}
	var err error
	if p.source, err = namedColumn(env, inputOf(l), s.Field); err != nil {
		return nil, err
	}
	number := batch.NewField(s.Field, batch.Number)
	number.Mask, number.Decimal, number.Grouping = p.source.field.Mask, p.source.field.Decimal, p.source.field.Grouping
	if p.convert, err = env.Semantics.Converter(&p.source.field, &number); err != nil {
		return nil, err
	}
	for i, r := range s.Rules {
		c := compiledRange{value: r.Value}
		if c.lower, err = bound(r.Lower, math.Inf(-1)); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if c.upper, err = bound(r.Upper, math.Inf(1)); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		c.open = strings.TrimSpace(r.Upper) == ""
		p.rules = append(p.rules, c)
	}
	return p, nil
}

func bound(text string, empty float64) (float64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return empty, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("bound %q is not a number", text)
	}
	return v, nil
}

type compiledRange struct {
	lower, upper float64
	open         bool // no upper bound: infinity belongs to it
	value        string
}

func (r *compiledRange) holds(v float64) bool {
	return v >= r.lower && (v < r.upper || r.open)
}

type rangeProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env      *transform.Env
	schema   *batch.Schema
	source   column
	convert  *batch.Converter
	rules    []compiledRange
	fallback string
}

// Apply implements transform.RowWise.
func (p *rangeProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	col, err := p.source.of(b)
	if err != nil {
		return err
	}
	var bad failures
	numbers, err := p.convert.Column(b, col, func(row int, err error) error {
		bad.add(row, transform.RowError{Fields: p.source.field.Name, Code: "NumberRange001", Value: p.source.codec.Text(col.Value(row)), Err: err})
		return nil
	})
	if err != nil {
		return err
	}
	defer numbers.Release()
	out := p.env.Alloc.Column(batch.String)
	_ = forRows(b, out, func(i int) error {
		if numbers.IsNull(i) || !p.matched(out, numbers.Floats[i]) {
			p.missed(out)
		}
		return nil
	})
	return bad.emit(p.env, b, b.With(p.schema, out), emit)
}

func (p *rangeProcessor) missed(out *batch.Column) {
	if p.fallback == "" {
		out.AppendNull()
		return
	}
	out.AppendString(p.fallback)
}

// matched appends the names of the ranges that hold v, when there are any.
func (p *rangeProcessor) matched(out *batch.Column, v float64) bool {
	start := len(out.Data)
	for i := range p.rules {
		if !p.rules[i].holds(v) || p.rules[i].value == "" {
			continue
		}
		if len(out.Data) > start {
			out.Data = append(out.Data, ',')
		}
		out.Data = append(out.Data, p.rules[i].value...)
	}
	if len(out.Data) == start {
		return false
	}
	out.EndValue()
	return true
}
