package rows

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Coalesce gives a field the first value that is not null among several fields.
var Coalesce = transform.Define[CoalesceSettings](transform.About{
	ID:       "Coalesce",
	Name:     "Coalesce fields",
	Category: transform.Reshape,
	Summary:  "Take the first value that is not null among several fields.",
})

// CoalesceSettings lists the settings in the order the form shows them.
type CoalesceSettings struct {
	EmptyIsNull bool            `hop:"empty_is_null" label:"Empty texts are null"`
	Fields      []CoalesceField `hop:"fields>field" required:"true"`
}

// CoalesceField is one result. Without a type it has the common type of its
// inputs, or String. A field of its name is replaced.
type CoalesceField struct {
	Name   transform.Expr[string] `hop:"name" required:"true"`
	Type   batch.Type             `hop:"type"`
	Remove bool                   `hop:"remove" label:"Remove the inputs"`
	Input  string                 `hop:"input" required:"true" label:"Inputs" help:"Names separated by commas, first come first"`
}

func (f *CoalesceField) inputs() []string {
	var names []string
	for n := range strings.SplitSeq(f.Input, ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// coalesced is one output field: kept from the input, or the result of an entry.
type coalesced struct {
	field batch.Field
	index int // in the input, -1 for a new one
	entry int // in the settings, -1 for a kept one
}

func (s *CoalesceSettings) plan(l transform.Links, r transform.Resolver) ([]coalesced, error) {
	in := inputOf(l)
	names := make([]string, len(s.Fields))
	removed := map[int]bool{}
	for k := range s.Fields {
		f := &s.Fields[k]
		var err error
		if names[k], err = f.Name.Eval(r); err != nil {
			return nil, err
		}
		if names[k] == "" {
			return nil, errors.New("a result has no name")
		}
		for _, input := range f.inputs() {
			i, err := fieldIndex(in, input)
			if err != nil {
				return nil, err
			}
			if f.Remove && names[k] != input {
				removed[i] = true
			}
		}
	}
	var list []coalesced
	for i := range in.Fields {
		if !removed[i] {
			list = append(list, coalesced{in.Fields[i], i, -1})
		}
	}
	for k := range s.Fields {
		f := batch.NewField(names[k], s.Fields[k].outputType(in))
		f.Origin = l.Transform
		out := coalesced{f, -1, k}
		if at := outputSchema(list).Index(names[k]); at >= 0 {
			list[at] = out
			continue
		}
		list = append(list, out)
	}
	return list, nil
}

func outputSchema(list []coalesced) *batch.Schema {
	s := &batch.Schema{}
	for i := range list {
		s.Fields = append(s.Fields, list[i].field)
	}
	return s
}

// outputType is the declared type, or what holds the values of all inputs.
func (f *CoalesceField) outputType(in *batch.Schema) batch.Type {
	if f.Type != batch.None {
		return f.Type
	}
	t := batch.None
	for n, name := range f.inputs() {
		other := in.Fields[in.Index(name)].Type
		switch {
		case n == 0:
			t = other
		case t != other:
			t = commonType(t, other)
		}
	}
	if t == batch.None {
		return batch.String
	}
	return t
}

// commonType is Hop's rule for two different types.
func commonType(a, b batch.Type) batch.Type {
	pair := func(x, y batch.Type) bool { return (a == x && b == y) || (a == y && b == x) }
	switch {
	case pair(batch.Integer, batch.Number):
		return batch.Number
	case pair(batch.Integer, batch.BigNumber), pair(batch.Number, batch.BigNumber):
		return batch.BigNumber
	case pair(batch.Date, batch.Timestamp):
		return batch.Timestamp
	}
	return batch.String
}

// Output implements transform.Settings.
func (s *CoalesceSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	list, err := s.plan(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(outputSchema(list))
}

// Start implements transform.Settings.
func (s *CoalesceSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	list, err := s.plan(l, env)
	if err != nil {
		return nil, err
	}
	p := &coalesceProcessor{env: env, schema: outputSchema(list), list: list, emptyIsNull: s.EmptyIsNull}
	in := inputOf(l)
	for k := range s.Fields {
		target := &batch.Field{}
		for i := range list {
			if list[i].entry == k {
				target = &list[i].field
			}
		}
		var inputs []coalesceInput
		for _, name := range s.Fields[k].inputs() {
			c := coalesceInput{}
			if c.source, err = namedColumn(env, in, name); err != nil {
				return nil, err
			}
			if c.convert, err = env.Semantics.Converter(&c.source.field, target); err != nil {
				return nil, fmt.Errorf("field %q: %w", name, err)
			}
			inputs = append(inputs, c)
		}
		p.inputs = append(p.inputs, inputs)
	}
	return p, nil
}

type coalesceInput struct {
	source  column
	convert *batch.Converter
}

type coalesceProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env         *transform.Env
	schema      *batch.Schema
	list        []coalesced
	inputs      [][]coalesceInput // per entry
	emptyIsNull bool
}

// Apply implements transform.RowWise.
func (p *coalesceProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	cols := make([]*batch.Column, 0, len(p.list))
	for i := range p.list {
		out := &p.list[i]
		if out.entry < 0 {
			cols = append(cols, b.Cols[out.index].Retain())
			continue
		}
		c, err := p.result(b, out)
		if err != nil {
			releaseAll(cols)
			return err
		}
		cols = append(cols, c)
	}
	return emit(transform.Main, assemble(b, p.schema, cols))
}

func (p *coalesceProcessor) result(b *batch.Batch, out *coalesced) (*batch.Column, error) {
	inputs := p.inputs[out.entry]
	sources := make([]*batch.Column, len(inputs))
	for k := range inputs {
		c, err := inputs[k].source.of(b)
		if err != nil {
			return nil, err
		}
		sources[k] = c
	}
	col := p.env.Alloc.Column(out.field.Type)
	err := forRows(b, col, func(i int) error {
		for k, c := range sources {
			if c.IsNull(i) || (p.emptyIsNull && c.IsText() && len(c.Bytes(i)) == 0) {
				continue
			}
			return p.appendInput(col, b, &inputs[k], c, i)
		}
		col.AppendNull()
		return nil
	})
	if err != nil {
		col.Release()
		return nil, err
	}
	return col, nil
}

func (p *coalesceProcessor) appendInput(col *batch.Column, b *batch.Batch, in *coalesceInput, c *batch.Column, i int) error {
	if in.convert.Same() {
		col.AppendFrom(c, i)
		return nil
	}
	v, err := in.convert.Value(c.Value(i))
	if err != nil {
		return rowError(p.env.Transform, in.source.field.Name, b, &batch.RowError{Row: i, Err: err})
	}
	col.AppendValue(v)
	return nil
}
