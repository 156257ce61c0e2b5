package rows

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SetValueConstant gives fields the same value in every row.
var SetValueConstant = transform.Define[SetValueConstantSettings](transform.About{
	ID:            "SetValueConstant",
	Name:          "Set field value to a constant",
	Category:      transform.Reshape,
	Summary:       "Replace all values of a field by a constant.",
	HandlesErrors: true,
})

// SetValueConstantSettings lists the settings in the order the form shows them.
type SetValueConstantSettings struct {
	UseVariables bool            `hop:"usevar" label:"Use variables in values"`
	Fields       []ConstantValue `hop:"fields>field" required:"true"`
}

// ConstantValue is a field and its value.
type ConstantValue struct {
	Name  string `hop:"name" form:"field" required:"true"`
	Value string `hop:"value"`
	Mask  string `hop:"mask" form:"mask"`
	Empty bool   `hop:"set_empty_string" label:"Set empty string"`
}

// Output implements transform.Settings.
func (s *SetValueConstantSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	if len(s.Fields) == 0 {
		return nil, errors.New("no fields are listed")
	}
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if _, err := fieldIndex(inputOf(l), f.Name); err != nil {
			return nil, err
		}
		key := strings.ToLower(f.Name)
		if seen[key] {
			return nil, fmt.Errorf("field %q is listed twice", f.Name)
		}
		seen[key] = true
	}
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *SetValueConstantSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if _, err := s.Output(l, nil); err != nil {
		return nil, err
	}
	p := &setConstantProcessor{env: env, schema: inputOf(l)}
	for _, f := range s.Fields {
		i, _ := fieldIndex(p.schema, f.Name)
		text := f.Value
		var err error
		switch {
		case f.Empty:
			text = ""
		case s.UseVariables:
			if text, err = env.Resolve(text); err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
		v, bad, err := readConstant(env, p.schema.Fields[i], text, f.Mask)
		if err == nil && env.Errors == nil {
			err = bad
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		p.at, p.values = append(p.at, i), append(p.values, v)
		if bad != nil && p.bad == nil {
			p.bad = &transform.RowError{Fields: f.Name, Code: "SVC001", Value: text, Err: bad}
		}
	}
	return p, nil
}

type setConstantProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	at     []int
	values []batch.Value
	bad    *transform.RowError // a value its field cannot hold: every row is rejected
}

// Apply implements transform.RowWise.
func (p *setConstantProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	var bad failures
	e := editOf(b, 0)
	for k, i := range p.at {
		e.set(i, p.env.Alloc.Repeat(p.values[k], p.values[k].Type, b.Physical()))
	}
	if p.bad != nil {
		for i := range b.All() {
			bad.add(i, *p.bad)
		}
	}
	return bad.emit(p.env, b, e.batch(p.schema), emit)
}

// SetValueField gives fields the values of other fields of the same type, one
// after the other: a later entry sees what an earlier one did.
var SetValueField = transform.Define[SetValueFieldSettings](transform.About{
	ID:            "SetValueField",
	Name:          "Set field value",
	Category:      transform.Reshape,
	Summary:       "Replace all values of a field by those of another one.",
	HandlesErrors: true,
})

// SetValueFieldSettings lists the settings in the order the form shows them.
type SetValueFieldSettings struct {
	Fields []FieldSource `hop:"fields>field" required:"true"`
}

// FieldSource is a field and where its values come from.
type FieldSource struct {
	Name transform.Expr[string] `hop:"name" form:"field" required:"true"`
	By   transform.Expr[string] `hop:"replaceby" form:"field" required:"true" label:"Replace by the value of"`
}

func (s *SetValueFieldSettings) plan(in *batch.Schema, r transform.Resolver) (to, from []int, err error) {
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if seen[f.Name.Text] {
			return nil, nil, fmt.Errorf("field %q is listed twice", f.Name.Text)
		}
		seen[f.Name.Text] = true
		var at [2]int
		for k, e := range []transform.Expr[string]{f.Name, f.By} {
			name, err := e.Eval(r)
			if err != nil {
				return nil, nil, err
			}
			if at[k], err = fieldIndex(in, name); err != nil {
				return nil, nil, err
			}
		}
		a, b := &in.Fields[at[0]], &in.Fields[at[1]]
		if a.Type != b.Type {
			return nil, nil, fmt.Errorf("field %q is %s and field %q is %s; convert one of them with Select values before", a.Name, a.Type, b.Name, b.Type)
		}
		to, from = append(to, at[0]), append(from, at[1])
	}
	return to, from, nil
}

// Output implements transform.Settings.
func (s *SetValueFieldSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	if _, _, err := s.plan(inputOf(l), d); err != nil {
		return nil, err
	}
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *SetValueFieldSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &setFieldProcessor{schema: inputOf(l)}
	var from []int
	var err error
	if p.to, from, err = s.plan(p.schema, env); err != nil {
		return nil, err
	}
	for _, i := range from {
		c, err := newColumn(env, p.schema, i)
		if err != nil {
			return nil, err
		}
		p.from = append(p.from, c)
	}
	return p, nil
}

type setFieldProcessor struct {
	transform.Stateless
	transform.TakesRaw
	schema *batch.Schema
	to     []int
	from   []column
}

// Apply implements transform.RowWise.
func (p *setFieldProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	e := editOf(b, 0)
	for k, to := range p.to {
		col := e.cols[p.from[k].index]
		// Unread text belongs to the mask of its own field.
		if col.Raw {
			var err error
			if col, err = p.from[k].of(b); err != nil {
				e.release()
				return err
			}
		}
		e.set(to, col.Retain())
	}
	return emit(transform.Main, e.batch(p.schema))
}
