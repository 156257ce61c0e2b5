package script

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"sluice/engine/batch"
	"sluice/engine/expr/formula"
	"sluice/engine/transform"
)

// Formula computes fields with the formula language of spreadsheets. A later
// formula may use the result of an earlier one. #N/A gives null; any other error
// rejects the row.
var Formula = transform.Define[FormulaSettings](transform.About{
	ID:            "Formula",
	Name:          "Formula",
	Category:      transform.CategoryScript,
	Summary:       "Compute fields with spreadsheet formulas.",
	HandlesErrors: true,
})

// FormulaSettings lists the settings in the order the form shows them.
type FormulaSettings struct {
	Formulas []FormulaField `hop:"formulas>formula,alias=formula" required:"true" help:"Computed from top to bottom; [name] is a field"`
}

// FormulaField is one computed field.
type FormulaField struct {
	Field     string     `hop:"field_name" label:"New field" required:"true"`
	Formula   string     `hop:"formula,alias=formula_string" form:"multiline" required:"true"`
	Type      batch.Type `hop:"value_type,typeid" label:"Value type" default:"Number"`
	Length    int        `hop:"value_length" default:"-1"`
	Precision int        `hop:"value_precision" default:"-1"`
	Replace   string     `hop:"replace_field" form:"field" label:"Replace value"`
	SetNA     bool       `hop:"set_na" label:"Set N/A for nulls"`
}

const formulaErrorCode = "Formula001"

// formulaPlan places the results: the schema after all formulas, and the position
// of each one's result.
type formulaPlan struct {
	schema *batch.Schema
	at     []int
	alias  map[string]string // results that went into another field
}

func (s *FormulaSettings) plan(in *batch.Schema, origin string) (*formulaPlan, error) {
	p := &formulaPlan{schema: in.Clone(), alias: map[string]string{}}
	for i := range s.Formulas {
		f := &s.Formulas[i]
		if f.Replace != "" {
			k := p.schema.Index(f.Replace)
			if k < 0 {
				return nil, fmt.Errorf("formula %q: the field to replace, %q, was not found; there are %s", f.Field, f.Replace, strings.Join(p.schema.Names(), ", "))
			}
			old := &p.schema.Fields[k]
			old.Length, old.Precision, old.Origin = f.Length, f.Precision, origin
			p.at = append(p.at, k)
			p.alias[f.Field] = f.Replace
			continue
		}
		if f.Field == "" {
			return nil, fmt.Errorf("formula %d (%s) has no name for its field", i+1, f.Formula)
		}
		nf := batch.NewField(f.Field, f.Type)
		nf.Length, nf.Precision, nf.Origin = f.Length, f.Precision, origin
		p.schema = p.schema.With(nf)
		p.at = append(p.at, p.schema.Len()-1)
	}
	return p, nil
}

// Output implements transform.Settings.
func (s *FormulaSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	p, err := s.plan(l.Main(), l.Transform)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(p.schema)
}

// Check implements transform.Checker.
func (s *FormulaSettings) Check(l transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if l.Main() == nil {
			return
		}
		plan, err := s.plan(l.Main(), l.Transform)
		if err != nil {
			yield(transform.Errorf("formulas>formula", "%v", err))
			return
		}
		if _, err := s.compile(plan, d, d.Semantics(), formula.Options{}); err != nil {
			yield(transform.Errorf("formulas>formula", "%v", err))
		}
	}
}

// compiledFormula is a formula with what turns its value into its field's.
type compiledFormula struct {
	formula *formula.Formula
	at      int
	out     *valueOut
	name    string
}

func (s *FormulaSettings) compile(plan *formulaPlan, r transform.Resolver, sem *batch.Semantics, o formula.Options) ([]*compiledFormula, error) {
	var list []*compiledFormula
	o.Location, o.Alias = sem.Location, plan.alias
	for i := range s.Formulas {
		f := &s.Formulas[i]
		source, err := r.Resolve(f.Formula)
		if err != nil {
			return nil, err
		}
		o.NAForNull = f.SetNA
		c, err := formula.Compile(source, plan.schema, o)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Field, err)
		}
		for _, name := range c.Fields() {
			if k := plan.schema.Index(aliased(plan.alias, name)); k >= plan.at[i] && s.Formulas[i].Replace == "" {
				return nil, fmt.Errorf("field %q: the formula uses %q, which is computed later; move it up", f.Field, name)
			}
		}
		out, err := newValueOut(sem, &plan.schema.Fields[plan.at[i]])
		if err != nil {
			return nil, err
		}
		list = append(list, &compiledFormula{formula: c, at: plan.at[i], out: out, name: f.Field})
	}
	return list, nil
}

func aliased(alias map[string]string, name string) string {
	if a, ok := alias[name]; ok {
		return a
	}
	return name
}

// Start implements transform.Settings.
func (s *FormulaSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if l.Main() == nil {
		return nil, errNoInput
	}
	plan, err := s.plan(l.Main(), l.Transform)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(env.Started.UnixNano()), uint64(env.Copy)))
	list, err := s.compile(plan, env, env.Semantics, formula.Options{Now: env.Now, Random: random.Float64})
	if err != nil {
		return nil, err
	}
	core := &formulaCore{env: env, plan: plan, list: list, inputs: l.Main().Len()}
	for _, c := range list {
		if c.formula.UsesRandom() {
			return &orderedFormula{formulaCore: core}, nil
		}
	}
	return &parallelFormula{formulaCore: core}, nil
}

// orderedFormula draws random numbers, which must come in row order.
type orderedFormula struct {
	transform.Stateful
	*formulaCore
}

type parallelFormula struct {
	transform.Stateless
	*formulaCore
}

type formulaCore struct {
	env    *transform.Env
	plan   *formulaPlan
	list   []*compiledFormula
	inputs int
}

// Apply implements transform.RowWise.
func (p *formulaCore) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	rej := p.env.Rejects(b)
	cols := make([]*batch.Column, p.plan.schema.Len())
	for i, c := range b.Cols {
		cols[i] = c.Retain()
	}
	release := func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}
	why := make(map[int]transform.RowError)
	for _, f := range p.list {
		out := f.column(p.env, b, cols, why)
		if cols[f.at] != nil {
			cols[f.at].Release()
		}
		cols[f.at] = out
	}
	for i := range b.All() {
		w, bad := why[i]
		if !bad {
			continue
		}
		if err := rej.Add(i, w); err != nil {
			release()
			return err
		}
	}
	out := p.env.Alloc.Assemble(p.plan.schema, cols, b.Physical())
	out.Sel = rej.Keep()
	if err := emit(transform.Main, out); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

// column computes one formula for all selected rows that did not fail before.
func (f *compiledFormula) column(env *transform.Env, b *batch.Batch, cols []*batch.Column, why map[int]transform.RowError) *batch.Column {
	out := env.Alloc.Column(f.out.field.Type)
	next := 0
	for i := range b.All() {
		for ; next < i; next++ {
			out.AppendNull()
		}
		next = i + 1
		if _, failed := why[i]; failed {
			out.AppendNull()
			continue
		}
		v, err := f.out.formula(f.formula.Eval(cols, i))
		if err != nil {
			why[i] = transform.RowError{Fields: f.name, Code: formulaErrorCode, Err: err}
			out.AppendNull()
			continue
		}
		out.AppendValue(v)
	}
	for ; next < b.Physical(); next++ {
		out.AppendNull()
	}
	return out
}

// valueOut turns the values of a script language into those of a field.
type valueOut struct {
	field   *batch.Field
	codec   *batch.Codec
	loc     *time.Location
	numbers *batch.Converter
	flags   *batch.Converter
	dates   *batch.Converter
}

func newValueOut(sem *batch.Semantics, f *batch.Field) (*valueOut, error) {
	o := &valueOut{field: f, loc: sem.Location}
	if o.loc == nil {
		o.loc = time.UTC
	}
	var err error
	if o.codec, err = sem.Codec(f); err != nil {
		return nil, err
	}
	for t, c := range map[batch.Type]**batch.Converter{batch.Number: &o.numbers, batch.Boolean: &o.flags, batch.Date: &o.dates} {
		from := batch.NewField(f.Name, t)
		if *c, err = sem.Converter(&from, f); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// formula converts the result of a formula; the error of a Failure names it.
func (o *valueOut) formula(v formula.Value) (batch.Value, error) {
	switch v.Kind {
	case formula.Failure:
		if v.IsNA() {
			return batch.Null(o.field.Type), nil
		}
		return batch.Null(o.field.Type), fmt.Errorf("the formula gives %s", v.Text)
	case formula.Blank:
		return batch.Null(o.field.Type), nil
	case formula.Text:
		return o.text(v.Text)
	case formula.Bool:
		return o.flags.Value(batch.BooleanValue(v.Num != 0))
	}
	switch {
	case o.field.Type.IsDate():
		t, ok := formula.Time(v.Num, o.loc)
		if !ok {
			return batch.Null(o.field.Type), fmt.Errorf("%v is no date", v.Num)
		}
		return o.dates.Value(batch.DateValue(t.UnixMilli()))
	case o.field.Type == batch.String:
		return batch.StringValue(v.AsText()), nil
	}
	return o.numbers.Value(batch.NumberValue(v.Num))
}

func (o *valueOut) text(s string) (batch.Value, error) {
	if o.field.Type == batch.String {
		return batch.StringValue(s), nil
	}
	return o.codec.Parse([]byte(s))
}
