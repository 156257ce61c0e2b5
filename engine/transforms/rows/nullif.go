package rows

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// NullIf makes values null that equal a constant. The constant is read with the
// field's mask.
var NullIf = transform.Define[NullIfSettings](transform.About{
	ID:       "NullIf",
	Name:     "Null if",
	Category: transform.Reshape,
	Summary:  "Make values null that equal a constant.",
})

// NullIfSettings lists the settings in the order the form shows them.
type NullIfSettings struct {
	Fields []NullIfField `hop:"fields>field" required:"true"`
}

// NullIfField is a field and the value to turn into null.
type NullIfField struct {
	Name  string `hop:"name" form:"field" required:"true"`
	Value string `hop:"value"`
}

// Output implements transform.Settings.
func (s *NullIfSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	for _, f := range s.Fields {
		if _, err := fieldIndex(inputOf(l), f.Name); err != nil {
			return nil, err
		}
	}
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *NullIfSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &nullIfProcessor{env: env, schema: inputOf(l)}
	for _, f := range s.Fields {
		source, err := namedColumn(env, p.schema, f.Name)
		if err != nil {
			return nil, err
		}
		v, bad, err := readConstant(env, source.field, f.Value, "")
		if err == nil {
			err = bad
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		p.rules = append(p.rules, nullIfRule{source, v})
	}
	return p, nil
}

type nullIfRule struct {
	source column
	value  batch.Value
}

type nullIfProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	rules  []nullIfRule
}

// Apply implements transform.RowWise.
func (p *nullIfProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	e := editOf(b, 0)
	for k := range p.rules {
		r := &p.rules[k]
		col := e.cols[r.source.index]
		if col.Raw {
			var err error
			if col, err = r.source.of(b); err != nil {
				e.release()
				return err
			}
		}
		out := p.env.Alloc.Column(col.Type)
		_ = forRows(b, out, func(i int) error {
			if r.matches(p.env.Semantics, col, i) {
				out.AppendNull()
			} else {
				out.AppendFrom(col, i)
			}
			return nil
		})
		e.set(r.source.index, out)
	}
	return emit(transform.Main, e.batch(p.schema))
}

func (r *nullIfRule) matches(sem *batch.Semantics, col *batch.Column, i int) bool {
	if col.IsNull(i) {
		return false
	}
	switch {
	case !r.value.Valid:
	case col.Type == batch.String:
		return string(col.Bytes(i)) == r.value.Text
	case col.Type == batch.Integer || col.Type == batch.Date:
		return col.Ints[i] == r.value.Int
	}
	return sem.CompareValues(col.Value(i), r.value, false) == 0
}
