package rows

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// CloneRow passes each row on and, behind it, a number of copies.
var CloneRow = transform.Define[CloneRowSettings](transform.About{
	ID:       "CloneRow",
	Name:     "Clone row",
	Category: transform.Reshape,
	Summary:  "Repeat rows, with a flag and a number for the copies.",
})

// CloneRowSettings lists the settings in the order the form shows them.
type CloneRowSettings struct {
	Clones     transform.Expr[string] `hop:"nrclones" default:"0" label:"Number of clones"`
	InField    bool                   `hop:"nrcloneinfield" label:"Number of clones in a field"`
	CountField string                 `hop:"nrclonefield" form:"field" label:"Field with the number of clones"`
	AddFlag    bool                   `hop:"addcloneflag" label:"Add a clone flag"`
	FlagField  transform.Expr[string] `hop:"cloneflagfield" label:"Clone flag field"`
	AddNumber  bool                   `hop:"addclonenum" label:"Add a clone number"`
	NumField   transform.Expr[string] `hop:"clonenumfield" label:"Clone number field"`
}

func (s *CloneRowSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	var extra []batch.Field
	if s.AddFlag {
		name, err := s.FlagField.Eval(r)
		if err != nil || name == "" {
			return nil, missingName("the clone flag field", err)
		}
		f := batch.NewField(name, batch.Boolean)
		f.Origin = l.Transform
		extra = append(extra, f)
	}
	if s.AddNumber {
		name, err := s.NumField.Eval(r)
		if err != nil || name == "" {
			return nil, missingName("the clone number field", err)
		}
		f := batch.NewField(name, batch.Integer)
		f.Origin = l.Transform
		extra = append(extra, f)
	}
	return l.Main().With(extra...), nil
}

func missingName(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s has no name", what)
}

// Output implements transform.Settings.
func (s *CloneRowSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *CloneRowSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, err := s.schema(l, env)
	if err != nil {
		return nil, err
	}
	p := &cloneProcessor{env: env, schema: schema, s: s}
	if !s.InField {
		text, err := s.Clones.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("number of clones: %w", err)
		}
		p.clones = wholeNumber(text, 0)
		return p, nil
	}
	if s.CountField == "" {
		return nil, errors.New("the field with the number of clones is not named")
	}
	if p.count, err = namedColumn(env, inputOf(l), s.CountField); err != nil {
		return nil, err
	}
	integer := batch.NewField(s.CountField, batch.Integer)
	p.convert, err = env.Semantics.Converter(&p.count.field, &integer)
	return p, err
}

type cloneProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env     *transform.Env
	schema  *batch.Schema
	s       *CloneRowSettings
	clones  int64
	count   column
	convert *batch.Converter
}

// Apply implements transform.RowWise.
func (p *cloneProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	counts, err := p.counts(b)
	if err != nil {
		return err
	}
	if counts != nil {
		defer counts.Release()
	}
	x := newExpansion(p.env, p.schema, b, emit)
	defer x.release()
	for i := range b.All() {
		clones := p.clones
		if counts != nil {
			if counts.IsNull(i) {
				return rowError(p.env.Transform, p.count.field.Name, b, &batch.RowError{Row: i, Err: errors.New("the number of clones is null")})
			}
			clones = counts.Ints[i]
		}
		for n := int64(0); n <= max(clones, 0); n++ {
			if err := p.row(ctx, x, i, n); err != nil {
				return err
			}
		}
	}
	return x.flush()
}

// row adds the original (n is 0) or the n-th clone of row i.
func (p *cloneProcessor) row(ctx context.Context, x *expansion, i int, n int64) error {
	k := 0
	if p.s.AddFlag {
		x.extra[k].AppendBool(n > 0)
		k++
	}
	if p.s.AddNumber {
		x.extra[k].AppendInt(n)
	}
	return x.add(ctx, i)
}

// counts gives the number of clones per row with one hold, nil when it is fixed.
func (p *cloneProcessor) counts(b *batch.Batch) (*batch.Column, error) {
	if p.convert == nil {
		return nil, nil
	}
	col, err := p.count.of(b)
	if err != nil {
		return nil, err
	}
	return p.convert.Column(b, col, func(row int, err error) error {
		return rowError(p.env.Transform, p.count.field.Name, b, &batch.RowError{Row: row, Err: err})
	})
}
