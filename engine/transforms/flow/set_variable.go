package flow

import (
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SetVariable sets variables from the fields of its only row. A second row is an
// error; without a row the defaults are set.
var SetVariable = transform.Define[SetVariableSettings](transform.About{
	ID:       "SetVariable",
	Name:     "Set variables",
	Category: transform.CategoryFlow,
	Summary:  "Set variables from one row.",
})

// VariableScope says how far up a variable is set.
type VariableScope string

// Choices implements transform.Choices.
func (VariableScope) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "JVM", Label: "everywhere in this process"},
		{Code: "PARENT_WORKFLOW", Label: "in the parent workflow"},
		{Code: "GP_WORKFLOW", Label: "in the grand-parent workflow"},
		{Code: "ROOT_WORKFLOW", Label: "in the root workflow"},
	}
}

var variableScopes = map[VariableScope]transform.Scope{
	"JVM": transform.ScopeProcess, "PARENT_WORKFLOW": transform.ScopeParent,
	"GP_WORKFLOW": transform.ScopeGrandParent, "ROOT_WORKFLOW": transform.ScopeRoot,
}

// SetVariableSettings lists the settings in the order the form shows them.
type SetVariableSettings struct {
	Formatting bool            `hop:"use_formatting" label:"Apply formatting"`
	Fields     []VariableToSet `hop:"fields>field" required:"true"`
}

// VariableToSet is one variable.
type VariableToSet struct {
	Field    string                 `hop:"field_name" form:"field" required:"true"`
	Variable transform.Expr[string] `hop:"variable_name" label:"Variable name"`
	Scope    VariableScope          `hop:"variable_type" default:"JVM" label:"Scope"`
	Default  transform.Expr[string] `hop:"default_value" label:"Default value"`
}

// Output implements transform.Settings.
func (s *SetVariableSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *SetVariableSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &setVariableProcessor{env: env, formatting: s.Formatting}
	for _, f := range s.Fields {
		v, err := f.resolve(env, inputOf(l))
		if err != nil {
			return nil, err
		}
		p.list = append(p.list, v)
	}
	return p, nil
}

func (f *VariableToSet) resolve(env *transform.Env, in *batch.Schema) (variableToSet, error) {
	v := variableToSet{scope: variableScopes[f.Scope]}
	var err error
	if v.field, err = fieldIndex(in, f.Field, "Fields"); err != nil {
		return v, err
	}
	if v.name, err = f.Variable.Eval(env); err != nil {
		return v, fmt.Errorf("variable name: %w", err)
	}
	if v.name == "" {
		return v, &engine.Error{Field: f.Field, Message: "the variable name is empty", Hint: "give the variable a name"}
	}
	if v.fallback, err = f.Default.Eval(env); err != nil {
		return v, fmt.Errorf("default of variable %s: %w", v.name, err)
	}
	if v.codec, err = env.Semantics.Codec(&in.Fields[v.field]); err != nil {
		return v, err
	}
	return v, nil
}

type variableToSet struct {
	name, fallback string
	scope          transform.Scope
	field          int
	codec          *batch.Codec
}

type setVariableProcessor struct {
	transform.Stateful
	env        *transform.Env
	formatting bool
	list       []variableToSet
	rows       int
}

// Apply implements transform.RowWise.
func (p *setVariableProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	if p.rows == 0 {
		if err := p.set(b, b.Row(0)); err != nil {
			return err
		}
	}
	if p.rows += n; p.rows > 1 {
		return &engine.Error{Transform: p.env.Transform, Row: int64(max(1, 2-(p.rows-n))), Message: "only one row can set variables, and a second one arrived", Hint: "reduce the input to one row"}
	}
	return emit(transform.Main, b.Retain())
}

func (p *setVariableProcessor) set(b *batch.Batch, i int) error {
	for _, v := range p.list {
		var text []byte
		value := b.Cols[v.field].Value(i)
		if p.formatting {
			text = v.codec.AppendValue(nil, value)
		} else {
			text = v.codec.AppendCompatible(nil, value)
		}
		if err := p.env.Scopes.SetVariable(v.name, string(text), v.scope); err != nil {
			return err
		}
	}
	return nil
}

// Finish implements transform.Finisher.
func (p *setVariableProcessor) Finish(context.Context, transform.Emit) error {
	if p.rows > 0 {
		return nil
	}
	for _, v := range p.list {
		if v.fallback == "" {
			continue
		}
		if err := p.env.Scopes.SetVariable(v.name, v.fallback, v.scope); err != nil {
			return err
		}
	}
	return nil
}
