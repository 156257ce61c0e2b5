package rows

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// RepeatFields appends fields whose values carry on from the row before, within
// groups of rows with equal group fields.
var RepeatFields = transform.Define[RepeatFieldsSettings](transform.About{
	ID:       "RepeatFields",
	Name:     "Repeat fields",
	Category: transform.Reshape,
	Summary:  "Repeat values of the row before within groups.",
})

// RepeatFieldsSettings lists the settings in the order the form shows them.
type RepeatFieldsSettings struct {
	Group   []string        `hop:"group_fields>group_field" label:"Group fields"`
	Repeats []RepeatedField `hop:"repeats>field" required:"true"`
}

// RepeatedField is one new field.
type RepeatedField struct {
	Type           RepeatType             `hop:"type" default:"previous"`
	Source         transform.Expr[string] `hop:"source_field" form:"field" required:"true"`
	Target         transform.Expr[string] `hop:"target_field" required:"true"`
	IndicatorField transform.Expr[string] `hop:"indicator_field_name" form:"field"`
	IndicatorValue string                 `hop:"indicator_value"`
}

// RepeatType says when the value of the row before is taken.
type RepeatType string

// The types of repetition.
const (
	repeatPrevious  RepeatType = "previous"
	repeatWhenNull  RepeatType = "previous_when_null"
	repeatIndicated RepeatType = "current_when_indicated"
)

// Choices implements transform.Choices.
func (RepeatType) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(repeatPrevious), Label: "Previous", Help: "Always: the first value of the group stays"},
		{Code: string(repeatWhenNull), Label: "Previous when null"},
		{Code: string(repeatIndicated), Label: "Current when indicated", Help: "The current value where the indicator field has the indicator value"},
	}
}

func (s *RepeatFieldsSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, []int, error) {
	in := inputOf(l)
	var fields []batch.Field
	var sources []int
	for i := range s.Repeats {
		source, err := s.Repeats[i].Source.Eval(r)
		if err != nil {
			return nil, nil, fmt.Errorf("source field: %w", err)
		}
		at, err := fieldIndex(in, source)
		if err != nil {
			return nil, nil, err
		}
		target, err := s.Repeats[i].Target.Eval(r)
		if err != nil || target == "" {
			return nil, nil, missingName("a target field", err)
		}
		f := in.Fields[at]
		f.Name, f.Origin, f.Lazy = target, l.Transform, false
		fields, sources = append(fields, f), append(sources, at)
	}
	return in.With(fields...), sources, nil
}

// Output implements transform.Settings.
func (s *RepeatFieldsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, _, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *RepeatFieldsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, sources, err := s.schema(l, env)
	if err != nil {
		return nil, err
	}
	in := inputOf(l)
	p := &repeatProcessor{env: env, schema: schema}
	var keys []int
	for _, name := range s.Group {
		i, err := fieldIndex(in, name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, i)
	}
	if p.group, err = newGroup(env, in, keys); err != nil {
		return nil, err
	}
	for k := range s.Repeats {
		r := repeater{kind: s.Repeats[k].Type, value: s.Repeats[k].IndicatorValue}
		if r.source, err = newColumn(env, in, sources[k]); err != nil {
			return nil, err
		}
		if r.kind == repeatIndicated {
			name, err := s.Repeats[k].IndicatorField.Eval(env)
			if err != nil || name == "" {
				return nil, missingName("the indicator field", err)
			}
			if r.indicator, err = namedColumn(env, in, name); err != nil {
				return nil, err
			}
		}
		p.repeats = append(p.repeats, r)
	}
	return p, nil
}

type repeater struct {
	kind      RepeatType
	source    column
	indicator column
	value     string

	from, sign *batch.Column // of the current batch; borrowed
	kept       *batch.Column // the target's last value of an earlier batch; nil without one
}

type repeatProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env     *transform.Env
	schema  *batch.Schema
	group   *group
	repeats []repeater
}

// Apply implements transform.RowWise.
func (p *repeatProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	if b.Rows() == 0 {
		return nil
	}
	if err := p.enter(b); err != nil {
		return err
	}
	starts := make([]bool, b.Physical())
	for i := range b.All() {
		starts[i] = p.group.begins(i)
	}
	p.group.leave()
	cols := make([]*batch.Column, 0, len(p.repeats))
	for k := range p.repeats {
		c, err := p.repeats[k].column(p.env, b, starts)
		if err != nil {
			releaseAll(append(cols, c))
			return err
		}
		cols = append(cols, c)
	}
	return emit(transform.Main, b.With(p.schema, cols...))
}

func (p *repeatProcessor) enter(b *batch.Batch) error {
	if err := p.group.enter(b); err != nil {
		return err
	}
	for k := range p.repeats {
		r := &p.repeats[k]
		var err error
		if r.from, err = r.source.of(b); err != nil {
			return err
		}
		if r.kind == repeatIndicated {
			if r.sign, err = r.indicator.of(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// column gives the target's column with one hold, also with an error.
func (r *repeater) column(env *transform.Env, b *batch.Batch, starts []bool) (*batch.Column, error) {
	out := env.Alloc.Column(r.from.Type)
	before, at := r.kept, 0
	err := forRows(b, out, func(i int) error {
		repeat, err := r.repeats(env, b, i)
		if err != nil {
			return err
		}
		if repeat && !starts[i] {
			out.AppendFrom(before, at)
		} else {
			out.AppendFrom(r.from, i)
		}
		before, at = out, out.Len()-1
		return nil
	})
	if err == nil && before != r.kept {
		kept := out.Gather(env.Alloc, []int32{int32(at)})
		r.drop()
		r.kept = kept
	}
	return out, err
}

// repeats says whether row i takes the value of the row before.
func (r *repeater) repeats(env *transform.Env, b *batch.Batch, i int) (bool, error) {
	switch r.kind {
	case repeatWhenNull:
		return env.Semantics.IsNull(r.from, i), nil
	case repeatIndicated:
		text := r.indicator.codec.Text(r.sign.Value(i))
		if text == "" {
			return false, rowError(env.Transform, r.indicator.field.Name, b, &batch.RowError{Row: i, Err: errors.New("the indicator is empty")})
		}
		return text != r.value, nil
	}
	return true, nil
}

func (r *repeater) drop() {
	if r.kept != nil {
		r.kept.Release()
		r.kept = nil
	}
}

// Close implements io.Closer.
func (p *repeatProcessor) Close() error {
	for k := range p.repeats {
		p.repeats[k].drop()
	}
	return p.group.Close()
}
