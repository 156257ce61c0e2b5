package rows

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Constant appends fields with the same value in every row. A value is read once,
// with the field's mask; it is not searched for variables, as in Hop.
var Constant = transform.Define[ConstantSettings](transform.About{
	ID:       "Constant",
	Name:     "Add constants",
	Category: transform.Reshape,
	Summary:  "Append fields with constant values.",
})

// ConstantSettings lists the settings in the order the form shows them.
type ConstantSettings struct {
	Fields []ConstantField `hop:"fields>field" required:"true"`
}

// ConstantField is one appended field.
type ConstantField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String" required:"true"`
	Value     string     `hop:"nullif" label:"Value"`
	Empty     bool       `hop:"set_empty_string" label:"Set empty string"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
}

// Output implements transform.Settings.
func (s *ConstantSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main().With(s.fields(l.Transform)...))
}

func (s *ConstantSettings) fields(origin string) []batch.Field {
	var list []batch.Field
	for _, c := range s.Fields {
		f := batch.NewField(c.Name, c.Type)
		f.Length, f.Precision, f.Mask, f.Origin = c.Length, c.Precision, c.Format, origin
		f.Currency, f.Decimal, f.Grouping = c.Currency, c.Decimal, c.Group
		list = append(list, f)
	}
	return list
}

// Start implements transform.Settings.
func (s *ConstantSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &constantProcessor{env: env, schema: l.Main().With(s.fields(l.Transform)...)}
	for i, f := range s.fields(l.Transform) {
		v, err := s.Fields[i].value(env.Semantics, &f)
		if err != nil {
			return nil, fmt.Errorf("constant %q: %w", f.Name, err)
		}
		p.values = append(p.values, v)
	}
	return p, nil
}

func (c *ConstantField) value(sem *batch.Semantics, f *batch.Field) (batch.Value, error) {
	if c.Empty {
		return batch.Value{Type: f.Type, Valid: f.Type == batch.String}, nil
	}
	if c.Value == "" {
		return batch.Null(f.Type), nil
	}
	codec, err := sem.Codec(f)
	if err != nil {
		return batch.Value{}, err
	}
	return codec.Parse([]byte(c.Value))
}

type constantProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	values []batch.Value
}

// Apply implements transform.RowWise.
func (p *constantProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	cols := make([]*batch.Column, len(p.values))
	for i, v := range p.values {
		cols[i] = p.env.Alloc.Repeat(v, v.Type, b.Physical())
	}
	return emit(transform.Main, b.With(p.schema, cols...))
}

// Needs implements transform.FieldUser.
func (s *ConstantSettings) Needs(l transform.Links, out []bool) []bool {
	return transform.PassingNeeds(l, out)
}
