package rows

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// IfNull replaces nulls: in all fields, in fields of some types, or in the listed
// fields. An empty text counts as null. A replacement that the field's type cannot
// hold is an error of the rows that need it.
var IfNull = transform.Define[IfNullSettings](transform.About{
	ID:            "IfNull",
	Name:          "If field value is null",
	Category:      transform.Reshape,
	Summary:       "Replace nulls by a constant.",
	HandlesErrors: true,
})

// IfNullSettings lists the settings in the order the form shows them.
type IfNullSettings struct {
	SelectFields bool                   `hop:"selectFields" label:"Only the listed fields"`
	SelectTypes  bool                   `hop:"selectValuesType" label:"Only fields of the listed types"`
	AllValue     transform.Expr[string] `hop:"replaceAllByValue" label:"Replace all nulls by"`
	AllMask      transform.Expr[string] `hop:"replaceAllMask" form:"mask" label:"Date mask"`
	AllEmpty     bool                   `hop:"setEmptyStringAll" label:"Set empty string"`
	Fields       []NullField            `hop:"fields>field"`
	Types        []NullType             `hop:"valuetypes>valuetype" label:"Value types"`
}

// NullField is a field and what replaces its nulls.
type NullField struct {
	Name  string                 `hop:"name" form:"field" required:"true"`
	Value transform.Expr[string] `hop:"value"`
	Mask  transform.Expr[string] `hop:"mask" form:"mask"`
	Empty bool                   `hop:"set_empty_string" label:"Set empty string"`
}

// NullType is a type and what replaces the nulls of its fields.
type NullType struct {
	Name  string                 `hop:"name" required:"true"`
	Value transform.Expr[string] `hop:"value"`
	Mask  transform.Expr[string] `hop:"mask" form:"mask"`
	Empty bool                   `hop:"set_type_empty_string" label:"Set empty string"`
}

// Output implements transform.Settings.
func (s *IfNullSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	if _, err := s.plan(inputOf(l)); err != nil {
		return nil, err
	}
	return transform.OnMain(inputOf(l))
}

// nullRule is what happens to the nulls of one field.
type nullRule struct {
	index       int
	value, mask transform.Expr[string]
	empty       bool
}

func (s *IfNullSettings) plan(in *batch.Schema) ([]nullRule, error) {
	switch {
	case s.SelectFields:
		return s.listed(in)
	case s.SelectTypes:
		return s.typed(in)
	}
	var list []nullRule
	for i := range in.Fields {
		r := nullRule{index: i, value: s.AllValue, empty: s.AllEmpty}
		if in.Fields[i].Type.IsDate() {
			r.mask, r.empty = s.AllMask, false
		}
		list = append(list, r)
	}
	return list, nil
}

func (s *IfNullSettings) listed(in *batch.Schema) ([]nullRule, error) {
	if len(s.Fields) == 0 {
		return nil, errors.New("no fields are listed; add one or switch off \"Only the listed fields\"")
	}
	var list []nullRule
	for _, f := range s.Fields {
		i, err := fieldIndex(in, f.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, nullRule{i, f.Value, f.Mask, f.Empty})
	}
	return list, nil
}

func (s *IfNullSettings) typed(in *batch.Schema) ([]nullRule, error) {
	if len(s.Types) == 0 {
		return nil, errors.New("no types are listed; add one or switch off \"Only fields of the listed types\"")
	}
	for _, t := range s.Types {
		if batch.ParseType(t.Name) == batch.None {
			return nil, fmt.Errorf("there is no type %q", t.Name)
		}
	}
	var list []nullRule
	for i := range in.Fields {
		for _, t := range s.Types {
			if strings.EqualFold(t.Name, in.Fields[i].Type.String()) {
				list = append(list, nullRule{i, t.Value, t.Mask, t.Empty})
				break
			}
		}
	}
	return list, nil
}

// Start implements transform.Settings.
func (s *IfNullSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	list, err := s.plan(inputOf(l))
	if err != nil {
		return nil, err
	}
	p := &ifNullProcessor{env: env, schema: inputOf(l)}
	for i := range list {
		source, err := newColumn(env, p.schema, list[i].index)
		if err != nil {
			return nil, err
		}
		f := nullFiller{source: source}
		if f.value, f.err, err = list[i].read(env, source.field); err != nil {
			return nil, fmt.Errorf("field %q: %w", source.field.Name, err)
		}
		p.fillers = append(p.fillers, f)
	}
	return p, nil
}

// read gives the replacement for a field; bad says why the field cannot hold it.
func (r *nullRule) read(env *transform.Env, f batch.Field) (v batch.Value, bad, err error) {
	if r.empty {
		return batch.Value{Type: f.Type, Valid: f.Type == batch.String}, nil, nil
	}
	text, err := r.value.Eval(env)
	if err != nil {
		return v, nil, err
	}
	mask, err := r.mask.Eval(env)
	if err != nil {
		return v, nil, err
	}
	return readConstant(env, f, text, mask)
}

// readConstant reads a text as a field would, with a mask of its own when there is
// one. bad says why the field cannot hold it.
func readConstant(env *transform.Env, f batch.Field, text, mask string) (v batch.Value, bad, err error) {
	if mask != "" {
		f.Mask = mask
	}
	codec, err := env.Semantics.Codec(&f)
	if err != nil {
		return v, nil, err
	}
	v, bad = codec.Parse([]byte(text))
	return v, bad, nil
}

type nullFiller struct {
	source column
	value  batch.Value
	err    error
}

type ifNullProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env     *transform.Env
	schema  *batch.Schema
	fillers []nullFiller
}

// Apply implements transform.RowWise.
func (p *ifNullProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	var bad failures
	e := editOf(b, 0)
	for k := range p.fillers {
		if err := p.fillers[k].apply(p.env, b, e, &bad); err != nil {
			e.release()
			return err
		}
	}
	return bad.emit(p.env, b, e.batch(p.schema), emit)
}

func (f *nullFiller) apply(env *transform.Env, b *batch.Batch, e *edit, bad *failures) error {
	i := f.source.index
	if raw := b.Cols[i]; raw.Nulls() == 0 && raw.Type != batch.String && !raw.Raw {
		return nil
	}
	col, err := f.source.of(b)
	if err != nil {
		return err
	}
	if !hasNull(env.Semantics, b, col) {
		return nil
	}
	out := env.Alloc.Column(col.Type)
	_ = forRows(b, out, func(i int) error {
		switch {
		case !env.Semantics.IsNull(col, i):
			out.AppendFrom(col, i)
		case f.err != nil:
			out.AppendNull()
			bad.add(i, transform.RowError{Fields: f.source.field.Name, Code: "IFNULL001", Err: f.err})
		default:
			out.AppendValue(f.value)
		}
		return nil
	})
	e.set(i, out)
	return nil
}

func hasNull(sem *batch.Semantics, b *batch.Batch, col *batch.Column) bool {
	for i := range b.All() {
		if sem.IsNull(col, i) {
			return true
		}
	}
	return false
}
