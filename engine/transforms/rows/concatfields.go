package rows

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// ConcatFields joins the texts of several fields in a new one. Each value is
// written by its own field's mask; the formats of this transform's table have no
// effect, as in Hop.
var ConcatFields = transform.Define[ConcatFieldsSettings](transform.About{
	ID:       "ConcatFields",
	Name:     "Concat fields",
	Category: transform.Reshape,
	Summary:  "Join the texts of several fields in one.",
})

// ConcatFieldsSettings lists the settings in the order the form shows them.
type ConcatFieldsSettings struct {
	Target    string                 `hop:"ConcatFields>targetFieldName" label:"Target field" required:"true"`
	Length    int                    `hop:"ConcatFields>targetFieldLength" label:"Length of the target field"`
	Separator transform.Expr[string] `hop:"separator" default:";"`
	Enclosure string                 `hop:"enclosure" default:"\""`
	Force     bool                   `hop:"force_enclosure" label:"Enclose every value"`
	SkipEmpty bool                   `hop:"skip_value_empty" label:"Leave out empty values"`
	Remove    bool                   `hop:"ConcatFields>removeSelectedFields" label:"Remove the joined fields"`
	Fields    []ConcatField          `hop:"fields>field" help:"Empty joins all fields"`
}

// ConcatField is one part.
type ConcatField struct {
	Name      string     `hop:"name" form:"field" required:"true"`
	NullIf    string     `hop:"nullif" label:"Text for null"`
	Trim      batch.Trim `hop:"trim_type" default:"none"`
	Type      batch.Type `hop:"type" advanced:"true"`
	Format    string     `hop:"format" advanced:"true"`
	Length    int        `hop:"length" default:"-1" advanced:"true"`
	Precision int        `hop:"precision" default:"-1" advanced:"true"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
}

// layout gives the output schema, the positions of the kept and the joined fields.
func (s *ConcatFieldsSettings) layout(l transform.Links) (schema *batch.Schema, kept, joined []int, err error) {
	if s.Target == "" {
		return nil, nil, nil, errors.New("the target field has no name")
	}
	in := inputOf(l)
	drop := map[int]bool{}
	for _, f := range s.Fields {
		i, err := fieldIndex(in, f.Name)
		if err != nil {
			return nil, nil, nil, err
		}
		joined = append(joined, i)
	}
	if len(s.Fields) == 0 {
		for i := range in.Fields {
			joined = append(joined, i)
		}
	}
	if s.Remove {
		for _, i := range joined {
			drop[i] = true
		}
	}
	rest, kept := withoutFields(in, drop)
	f := textField(s.Target, s.Length, l.Transform)
	f.Precision = 0
	return rest.With(f), kept, joined, nil
}

// Output implements transform.Settings.
func (s *ConcatFieldsSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	schema, _, _, err := s.layout(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *ConcatFieldsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &concatProcessor{env: env, skipEmpty: s.SkipEmpty}
	var joined []int
	var err error
	if p.schema, p.kept, joined, err = s.layout(l); err != nil {
		return nil, err
	}
	separator, err := s.Separator.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("separator: %w", err)
	}
	p.separator = []byte(separator)
	if s.Force {
		p.enclosure = []byte(s.Enclosure)
	}
	for k, i := range joined {
		part := concatPart{}
		if len(s.Fields) > 0 {
			part.null, part.trim = []byte(s.Fields[k].NullIf), s.Fields[k].Trim
		}
		if part.source, err = newColumn(env, inputOf(l), i); err != nil {
			return nil, err
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

type concatPart struct {
	source column
	null   []byte
	trim   batch.Trim
}

type concatProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env                  *transform.Env
	schema               *batch.Schema
	kept                 []int
	parts                []concatPart
	separator, enclosure []byte
	skipEmpty            bool
}

// Apply implements transform.RowWise.
func (p *concatProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	cols := make([]*batch.Column, len(p.parts))
	for k := range p.parts {
		c, err := p.parts[k].source.of(b)
		if err != nil {
			return err
		}
		cols[k] = c
	}
	out := p.env.Alloc.Column(batch.String)
	_ = forRows(b, out, func(i int) error {
		out.Data = p.append(out.Data, cols, i)
		out.EndValue()
		return nil
	})
	all := make([]*batch.Column, 0, len(p.kept)+1)
	for _, i := range p.kept {
		all = append(all, b.Cols[i].Retain())
	}
	return emit(transform.Main, assemble(b, p.schema, append(all, out)))
}

// append writes the joined text of row i.
func (p *concatProcessor) append(dst []byte, cols []*batch.Column, i int) []byte {
	first := true
	for k := range p.parts {
		before := len(dst)
		if !first {
			dst = append(dst, p.separator...)
		}
		dst = append(dst, p.enclosure...)
		start := len(dst)
		dst = p.parts[k].append(dst, cols[k], i, p.env.Semantics)
		if len(dst) == start && p.skipEmpty {
			dst = dst[:before]
			continue
		}
		dst = append(dst, p.enclosure...)
		first = false
	}
	return dst
}

func (c *concatPart) append(dst []byte, col *batch.Column, i int, sem *batch.Semantics) []byte {
	if sem.IsNull(col, i) {
		return append(dst, c.null...)
	}
	start := len(dst)
	dst = c.source.codec.AppendText(dst, col, i)
	if c.trim == batch.TrimNone {
		return dst
	}
	return append(dst[:start], c.trim.Apply(dst[start:])...)
}
