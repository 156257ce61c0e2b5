package generate

import (
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// GetVariable appends the values of variables to each row; without an input it
// makes one row of them. They are resolved once, at the start. A variable that is
// not set stays as the text "${NAME}".
var GetVariable = transform.Define[GetVariableSettings](transform.About{
	ID:       "GetVariable",
	Name:     "Get variables",
	Category: transform.CategoryInput,
	Summary:  "Values of variables and parameters.",
})

// GetVariableSettings lists the settings in the order the form shows them.
type GetVariableSettings struct {
	Fields []VariableField `hop:"fields>field" required:"true"`
}

// VariableField is one field. Variable is a text with variables in it.
type VariableField struct {
	Name      string                 `hop:"name" required:"true"`
	Variable  transform.Expr[string] `hop:"variable" help:"A text such as ${NAME}"`
	Type      batch.Type             `hop:"type" default:"String"`
	Format    string                 `hop:"format" form:"mask"`
	Length    int                    `hop:"length" default:"-1"`
	Precision int                    `hop:"precision" default:"-1"`
	Currency  string                 `hop:"currency" advanced:"true"`
	Decimal   string                 `hop:"decimal" advanced:"true"`
	Group     string                 `hop:"group" advanced:"true"`
	Trim      batch.Trim             `hop:"trim_type" default:"none"`
}

func (f *VariableField) field(origin string) batch.Field {
	c := cell{f.Name, f.Format, f.Currency, f.Decimal, f.Group, f.Type, f.Length, f.Precision}
	if c.typ == batch.None {
		c.typ = batch.String
	}
	out := c.field(origin)
	out.Trim = f.Trim
	return out
}

func (s *GetVariableSettings) schema(l transform.Links) *batch.Schema {
	var fields []batch.Field
	for i := range s.Fields {
		fields = append(fields, s.Fields[i].field(l.Transform))
	}
	return l.Main().With(fields...)
}

// Output implements transform.Settings.
func (s *GetVariableSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

// Start implements transform.Settings.
func (s *GetVariableSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	var values []batch.Value
	for i := range s.Fields {
		f := &s.Fields[i]
		text, err := f.Variable.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		field := f.field(l.Transform)
		codec, err := env.Semantics.Codec(&field)
		if err != nil {
			return nil, err
		}
		v, err := codec.Parse(f.Trim.Apply([]byte(text)))
		if err != nil {
			return nil, fmt.Errorf("variable text %q: %w", f.Variable.Text, err)
		}
		values = append(values, v)
	}
	return processor(env, l, s.schema(l), func(b *batch.Batch) ([]*batch.Column, error) {
		cols := make([]*batch.Column, len(values))
		for i, v := range values {
			cols[i] = env.Alloc.Repeat(v, v.Type, b.Physical())
		}
		return cols, nil
	}, false), nil
}
