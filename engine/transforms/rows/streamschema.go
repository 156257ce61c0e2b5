package rows

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// StreamSchema merges inputs of different layouts: its rows have the fields of all
// of them, null where an input lacks one. A field whose types differ becomes a
// String. Rows come from the inputs in turns of 4,096.
var StreamSchema = transform.Define[StreamSchemaSettings](transform.About{
	ID:       "StreamSchema",
	Name:     "Stream schema merge",
	Category: transform.CategoryJoin,
	Summary:  "Merge inputs of different layouts.",
})

// StreamSchemaSettings lists the settings in the order the form shows them.
type StreamSchemaSettings struct {
	Transforms []NamedTransform `hop:"transforms>transform" required:"true" help:"The first ones decide the order of the fields"`
}

// NamedTransform is a row of a table that names a transform.
type NamedTransform struct {
	Name string `hop:"name" form:"transform" required:"true"`
}

// Ports implements transform.Porter.
func (s *StreamSchemaSettings) Ports(transform.Links) transform.Ports {
	p := transform.Ports{Outputs: []transform.OutputPort{{ID: transform.Main}}}
	for _, t := range s.Transforms {
		p.Inputs = append(p.Inputs, transform.InputPort{Name: t.Name, From: t.Name, Required: true})
	}
	return p
}

// merge gives the union of the inputs, in the order of the settings.
func (s *StreamSchemaSettings) merge(l transform.Links) (*batch.Schema, []*batch.Schema, error) {
	if len(s.Transforms) == 0 {
		return nil, nil, errors.New("no transforms are named")
	}
	union := &batch.Schema{}
	var inputs []*batch.Schema
	for _, t := range s.Transforms {
		in := l.From(t.Name)
		if in == nil {
			return nil, nil, fmt.Errorf("no hop comes from transform %q", t.Name)
		}
		inputs = append(inputs, in)
		for i := range in.Fields {
			f := in.Fields[i]
			f.Lazy = false
			at := union.Index(f.Name)
			switch {
			case at < 0:
				union.Fields = append(union.Fields, f)
			case union.Fields[at].Type != f.Type:
				union.Fields[at].Type = batch.String
			}
		}
	}
	return union, inputs, nil
}

// Output implements transform.Settings.
func (s *StreamSchemaSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	union, _, err := s.merge(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(union)
}

// Start implements transform.Settings.
func (s *StreamSchemaSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	union, inputs, err := s.merge(l)
	if err != nil {
		return nil, err
	}
	p := &mergeProcessor{env: env, schema: union}
	for _, in := range inputs {
		m := mergeInput{from: make([]int, union.Len()), convert: make([]*batch.Converter, union.Len())}
		for k := range m.from {
			m.from[k] = in.Index(union.Fields[k].Name)
			if m.from[k] < 0 {
				continue
			}
			if m.convert[k], err = env.Semantics.Converter(&in.Fields[m.from[k]], &union.Fields[k]); err != nil {
				return nil, err
			}
		}
		p.inputs = append(p.inputs, m)
	}
	return p, nil
}

// mergeInput says where the output columns come from; -1: nowhere.
type mergeInput struct {
	from    []int
	convert []*batch.Converter
}

type mergeProcessor struct {
	transform.Collector
	env    *transform.Env
	schema *batch.Schema
	inputs []mergeInput
}

// Run implements transform.Stream.
func (p *mergeProcessor) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	turns := make([]turn, len(in))
	for k, r := range in {
		turns[k] = turn{reader: r}
		defer turns[k].close()
	}
	for live := len(turns); live > 0; {
		live = 0
		for k := range turns {
			err := turns[k].take(ctx, batch.MaxRows, func(b *batch.Batch) error { return p.pass(k, b, emit) })
			if err != nil {
				return err
			}
			if !turns[k].ended {
				live++
			}
		}
	}
	return nil
}

// turn reads an input some rows at a time, whatever its batches are.
type turn struct {
	reader transform.Reader
	rest   *batch.Batch
	ended  bool
}

// take hands rows on, count of them or what is left. What handed gets is borrowed.
func (t *turn) take(ctx context.Context, count int, hand func(*batch.Batch) error) error {
	for count > 0 && !t.ended {
		b := t.rest
		t.rest = nil
		if b == nil {
			var err error
			if b, err = t.reader.Next(ctx); errors.Is(err, io.EOF) {
				t.ended = true
				return nil
			} else if err != nil {
				return err
			}
		}
		n := min(count, b.Rows())
		part := b.Slice(0, n)
		if n < b.Rows() {
			t.rest = b.Slice(n, b.Rows())
		}
		b.Release()
		count -= n
		err := hand(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) close() {
	if t.rest != nil {
		t.rest.Release()
		t.rest = nil
	}
}

func (p *mergeProcessor) pass(input int, b *batch.Batch, emit transform.Emit) error {
	if b.Rows() == 0 {
		return nil
	}
	m := &p.inputs[input]
	cols := make([]*batch.Column, 0, p.schema.Len())
	for k := range p.schema.Fields {
		if m.from[k] < 0 {
			t := p.schema.Fields[k].Type
			cols = append(cols, p.env.Alloc.Repeat(batch.Null(t), t, b.Physical()))
			continue
		}
		c, err := m.convert[k].Column(b, b.Cols[m.from[k]], func(row int, err error) error {
			return rowError(p.env.Transform, p.schema.Fields[k].Name, b, &batch.RowError{Row: row, Err: err})
		})
		if err != nil {
			releaseAll(cols)
			return err
		}
		cols = append(cols, c)
	}
	return emit(transform.Main, assemble(b, p.schema, cols))
}
