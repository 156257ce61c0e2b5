package relation

import (
	"context"
	"fmt"
	"slices"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Normaliser turns fields into rows: each input row gives one row per type, with
// the fields of that type.
var Normaliser = transform.Define[NormaliserSettings](transform.About{
	ID:       "Normaliser",
	Name:     "Row normaliser",
	Category: transform.Reshape,
	Summary:  "Turn fields into rows.",
})

// NormaliserSettings lists the settings in the order the form shows them.
type NormaliserSettings struct {
	TypeField string           `hop:"typefield" default:"typefield" required:"true"`
	Fields    []NormaliserItem `hop:"fields>field" required:"true"`
}

// NormaliserItem is one field that becomes a value of a row.
type NormaliserItem struct {
	Field string `hop:"name" form:"field" required:"true"`
	Type  string `hop:"value" required:"true" help:"Text of the type field in the row it goes to"`
	Norm  string `hop:"norm" required:"true" label:"New field"`
}

// normaliserPlan says where each output column comes from.
type normaliserPlan struct {
	out    *batch.Schema
	stay   []int    // input fields that are in no row of the table
	types  []string // in order of appearance
	source [][]int  // for each new field: the input field of each type, -1 for none
}

// Output implements transform.Settings.
func (s *NormaliserSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	p, err := s.plan(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(p.out)
}

func (s *NormaliserSettings) plan(l transform.Links) (*normaliserPlan, error) {
	if s.TypeField == "" {
		return nil, fmt.Errorf("name the type field")
	}
	in := mainSchema(l)
	p := &normaliserPlan{}
	gone := map[int]bool{}
	var norms []batch.Field
	var names []string
	longest := 0
	filled := map[string]int{} // fields of each type so far
	for _, f := range s.Fields {
		at, err := fieldIndex(in, f.Field)
		if err != nil {
			return nil, err
		}
		gone[at] = true
		if !slices.Contains(p.types, f.Type) {
			p.types = append(p.types, f.Type)
			longest = max(longest, len(f.Type))
		}
		if !slices.Contains(names, f.Norm) {
			names = append(names, f.Norm)
			norm := in.Fields[at]
			norm.Name, norm.Origin = f.Norm, l.Transform
			norms = append(norms, norm)
			p.source = append(p.source, nil)
		}
	}
	for n := range p.source {
		p.source[n] = slices.Repeat([]int{-1}, len(p.types))
	}
	// The n-th field of a type fills the n-th new field, whatever its name is.
	for _, f := range s.Fields {
		n := filled[f.Type]
		filled[f.Type]++
		if n < len(p.source) {
			p.source[n][slices.Index(p.types, f.Type)] = in.Index(f.Field)
		}
	}
	var fields []batch.Field
	for i := range in.Fields {
		if !gone[i] {
			p.stay = append(p.stay, i)
			fields = append(fields, in.Fields[i])
		}
	}
	typ := fieldOf(s.TypeField, batch.String, l.Transform)
	typ.Length = longest
	p.out = batch.NewSchema(fields...).With(typ).With(norms...)
	return p, nil
}

// Start implements transform.Settings.
func (s *NormaliserSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	plan, err := s.plan(l)
	if err != nil {
		return nil, err
	}
	p := &normaliser{normaliserPlan: plan, env: env}
	in := mainSchema(l)
	if p.codecs, err = env.Semantics.Codecs(in); err != nil {
		return nil, err
	}
	for n, source := range p.source {
		converts := make([]*batch.Converter, len(source))
		for t, at := range source {
			if at < 0 {
				continue
			}
			to := &p.out.Fields[len(p.stay)+1+n]
			if converts[t], err = env.Semantics.Converter(&in.Fields[at], to); err != nil {
				return nil, err
			}
		}
		p.converts = append(p.converts, converts)
	}
	return p, nil
}

type normaliser struct {
	*normaliserPlan
	transform.Stateless
	transform.TakesRaw
	env      *transform.Env
	codecs   []*batch.Codec
	converts [][]*batch.Converter // as source
}

// Apply implements transform.RowWise.
func (p *normaliser) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	if len(p.types) == 0 || b.Rows() == 0 {
		return nil
	}
	norms, err := p.columns(b)
	if err != nil {
		return err
	}
	defer func() {
		for _, from := range norms {
			releaseColumns(from)
		}
	}()
	step := max(1, batch.MaxRows/len(p.types))
	for from := 0; from < b.Rows(); from += step {
		if err := emit(transform.Main, p.rows(b, norms, from, min(from+step, b.Rows()))); err != nil {
			return err
		}
	}
	return nil
}

// columns gives, for each new field, a column (one hold) per type.
func (p *normaliser) columns(b *batch.Batch) ([][]*batch.Column, error) {
	norms := make([][]*batch.Column, len(p.source))
	for n, source := range p.source {
		norms[n] = make([]*batch.Column, len(source))
		for t, at := range source {
			if at < 0 {
				continue
			}
			c, err := b.Col(at, p.codecs[at])
			if err == nil {
				c, err = p.converts[n][t].Column(b, c, func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
			}
			if err != nil {
				for _, done := range norms[:n+1] {
					releaseColumns(done)
				}
				return nil, valueError(p.env.Transform, p.codecs[at].Field().Name, b, 0, err)
			}
			norms[n][t] = c
		}
	}
	return norms, nil
}

// rows gives the output (one hold) of some selected rows.
func (p *normaliser) rows(b *batch.Batch, norms [][]*batch.Column, from, end int) *batch.Batch {
	types := len(p.types)
	n := (end - from) * types
	sel := make([]int32, 0, n)
	refs := make([]rowRef, 0, n)
	typ := p.env.Alloc.Column(batch.String)
	for k := from; k < end; k++ {
		i := b.Row(k)
		for t, name := range p.types {
			sel = append(sel, int32(i))
			refs = append(refs, rowRef{uint32(t), uint32(i)})
			typ.AppendString(name)
		}
	}
	cols := make([]*batch.Column, 0, p.out.Len())
	for _, at := range p.stay {
		cols = append(cols, b.Cols[at].Gather(p.env.Alloc, sel))
	}
	cols = append(cols, typ)
	for k, columns := range norms {
		t := p.out.Fields[len(p.stay)+1+k].Type
		cols = append(cols, p.norm(t, columns, refs))
	}
	return p.env.Alloc.Assemble(p.out, cols, n)
}

func (p *normaliser) norm(t batch.Type, columns []*batch.Column, refs []rowRef) *batch.Column {
	some := columns
	if slices.Contains(columns, nil) {
		refs = slices.Clone(refs)
		some = nil
		place := make([]uint32, len(columns))
		for i, c := range columns {
			place[i] = noRow
			if c != nil {
				place[i] = uint32(len(some))
				some = append(some, c)
			}
		}
		for i := range refs {
			refs[i].src = place[refs[i].src]
		}
	}
	return gatherOr(p.env.Alloc.Column(t), some, refs, batch.Null(t))
}
