package rows

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// ValueMapper exchanges values of a field for others, in place or in a new field.
// Source values are read as the field's type and must match exactly.
var ValueMapper = transform.Define[ValueMapperSettings](transform.About{
	ID:       "ValueMapper",
	Name:     "Value mapper",
	Category: transform.Reshape,
	Summary:  "Exchange values of a field for others.",
})

// ValueMapperSettings lists the settings in the order the form shows them.
type ValueMapperSettings struct {
	Field      string                 `hop:"field_to_use" form:"field" required:"true"`
	Target     string                 `hop:"target_field" help:"Empty changes the field in place"`
	TargetType batch.Type             `hop:"target_type" help:"Empty is String"`
	Default    transform.Expr[string] `hop:"non_match_default" label:"Default when nothing matches"`
	Keep       bool                   `hop:"keep_original_value_on_non_match" default:"true" label:"Keep the value when nothing matches"`
	Fields     []MappedValue          `hop:"fields>field" label:"Values"`
}

// MappedValue is one exchange. An empty source stands for null.
type MappedValue struct {
	Source    string                 `hop:"source_value"`
	Target    transform.Expr[string] `hop:"target_value"`
	EmptyNull bool                   `hop:"empty_string_equals_null" default:"true" label:"An empty target is null"`
}

// AfterDecode implements transform.AfterDecoder: older files do not say whether a
// value without a match is kept.
func (s *ValueMapperSettings) AfterDecode(el *hopxml.Element) {
	if el.Child("keep_original_value_on_non_match").Text() == "" {
		s.Keep = s.Target == "" && s.Default.IsEmpty()
	}
}

// layout gives the output schema and the positions of source and target.
func (s *ValueMapperSettings) layout(l transform.Links) (schema *batch.Schema, from, to int, err error) {
	in := inputOf(l)
	if from, err = fieldIndex(in, s.Field); err != nil {
		return nil, 0, 0, err
	}
	longest := len(s.Default.Text)
	for _, v := range s.Fields {
		longest = max(longest, len(v.Target.Text))
	}
	if s.Target == "" {
		schema = in.Clone()
		if f := &schema.Fields[from]; s.TargetType == batch.None && f.Type != batch.String {
			*f = textField(f.Name, longest, l.Transform)
		}
		return schema, from, from, nil
	}
	f := batch.NewField(s.Target, batch.String)
	if s.TargetType != batch.None && s.TargetType != batch.String {
		f = batch.NewField(s.Target, s.TargetType)
	} else {
		f.Length = longest
	}
	f.Origin = l.Transform
	return in.With(f), from, in.Len(), nil
}

// Output implements transform.Settings.
func (s *ValueMapperSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	schema, _, _, err := s.layout(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *ValueMapperSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &mapProcessor{env: env, keep: s.Keep, null: -1, texts: map[string]int{}, ints: map[int64]int{}}
	var from int
	var err error
	if p.schema, from, p.to, err = s.layout(l); err != nil {
		return nil, err
	}
	if p.source, err = newColumn(env, inputOf(l), from); err != nil {
		return nil, err
	}
	target := &p.schema.Fields[p.to]
	if p.convert, err = env.Semantics.Converter(&p.source.field, target); err != nil {
		return nil, err
	}
	codec, err := env.Semantics.Codec(target)
	if err != nil {
		return nil, err
	}
	if p.otherwise, err = mapTarget(env, codec, s.Default, true); err != nil {
		return nil, fmt.Errorf("default: %w", err)
	}
	for i := range s.Fields {
		v, err := mapTarget(env, codec, s.Fields[i].Target, s.Fields[i].EmptyNull)
		if err != nil {
			return nil, fmt.Errorf("target of %q: %w", s.Fields[i].Source, err)
		}
		if err := p.enter(s.Fields[i].Source, v); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// mapTarget reads a target value; an empty one is null, unless it is to be an
// empty text.
func mapTarget(env *transform.Env, codec *batch.Codec, e transform.Expr[string], emptyNull bool) (batch.Value, error) {
	text, err := e.Eval(env)
	if err != nil {
		return batch.Value{}, err
	}
	if text == "" && emptyNull {
		return batch.Null(codec.Field().Type), nil
	}
	return codec.Parse([]byte(text))
}

type mapProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env       *transform.Env
	schema    *batch.Schema
	source    column
	to        int
	convert   *batch.Converter
	keep      bool
	otherwise batch.Value
	targets   []batch.Value
	null      int            // target of null, -1 without one
	texts     map[string]int // targets by the text of a value …
	ints      map[int64]int  // … or by the value of an Integer or Date
}

func (p *mapProcessor) byInt() bool {
	return p.source.field.Type == batch.Integer || p.source.field.Type == batch.Date
}

func (p *mapProcessor) enter(source string, target batch.Value) error {
	k := len(p.targets)
	p.targets = append(p.targets, target)
	if source == "" {
		if p.null >= 0 {
			return errors.New("two entries have an empty source value; only one can stand for null")
		}
		p.null = k
		return nil
	}
	v, err := p.source.codec.Parse([]byte(source))
	if err != nil {
		return fmt.Errorf("source value: %w", err)
	}
	if p.byInt() {
		p.ints[v.Int] = k
		return nil
	}
	p.texts[string(p.key(nil, v))] = k
	return nil
}

// key appends what identifies a value that is no integer.
func (p *mapProcessor) key(dst []byte, v batch.Value) []byte {
	if v.Type == batch.BigNumber {
		return v.Dec.Strip().Append(dst)
	}
	return p.source.codec.AppendCompatible(dst, v)
}

// Apply implements transform.RowWise.
func (p *mapProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	col, err := p.source.of(b)
	if err != nil {
		return err
	}
	out := p.env.Alloc.Column(p.schema.Fields[p.to].Type)
	var scratch []byte
	err = forRows(b, out, func(i int) error {
		k := p.null
		null := p.env.Semantics.IsNull(col, i)
		if !null {
			k, scratch = p.find(scratch, col, i)
		}
		switch {
		case k >= 0:
			out.AppendValue(p.targets[k])
		case p.keep:
			return p.original(out, b, col, i)
		case null:
			out.AppendNull()
		default:
			out.AppendValue(p.otherwise)
		}
		return nil
	})
	if err != nil {
		out.Release()
		return err
	}
	e := editOf(b, 1)
	if p.to < len(e.cols) {
		e.set(p.to, out)
	} else {
		e.add(out)
	}
	return emit(transform.Main, e.batch(p.schema))
}

// find gives the target of row i, which is not null; -1 when nothing matches.
func (p *mapProcessor) find(scratch []byte, col *batch.Column, i int) (int, []byte) {
	var k int
	var ok bool
	switch {
	case p.byInt():
		k, ok = p.ints[col.Ints[i]]
	case col.Type == batch.String:
		k, ok = p.texts[string(col.Bytes(i))]
	default:
		scratch = p.key(scratch[:0], col.Value(i))
		k, ok = p.texts[string(scratch)]
	}
	if !ok {
		return -1, scratch
	}
	return k, scratch
}

func (p *mapProcessor) original(out *batch.Column, b *batch.Batch, col *batch.Column, i int) error {
	if p.convert.Same() {
		out.AppendFrom(col, i)
		return nil
	}
	v, err := p.convert.Value(col.Value(i))
	if err != nil {
		return rowError(p.env.Transform, p.source.field.Name, b, &batch.RowError{Row: i, Err: err})
	}
	out.AppendValue(v)
	return nil
}
