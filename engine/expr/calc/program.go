// Package calc compiles the calculations of Hop's Calculator to kernels over
// columns.
//
// A Calculation is one row of the transform's table: a Code, up to three fields
// and the field it makes. Compile binds a list of them to a schema; later ones
// may use the results of earlier ones. A Program runs over batches.
package calc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"sluice/engine/batch"
	"sluice/engine/files"
)

// Calculation is one row of the table.
type Calculation struct {
	Code    Code
	A, B, C string      // field names; A is the text itself for Constant
	Target  batch.Field // name, type, length, precision, mask and symbols of the result
	Remove  bool        // the result is for later calculations only
}

// Options are what calculations depend on besides the schema.
type Options struct {
	Semantics *batch.Semantics
	Alloc     *batch.Allocator
	// Resolve replaces variables, for SUBSTITUTE_VARIABLE.
	Resolve func(string) (string, error)
	// Files opens the files that checksums and file contents are taken of.
	Files files.Store
	// FailIfNoFile makes a missing file an error.
	FailIfNoFile bool
}

// ErrNoFile means that a calculation's file does not exist.
var ErrNoFile = errors.New("the file does not exist")

// Program is a list of calculations bound to a schema. It is safe for many
// goroutines.
type Program struct {
	o       Options
	loc     *time.Location
	inputs  []*input
	steps   []*step
	results *batch.Schema // of the results that stay
}

// input is a field of the rows, with its codec made when it is first needed.
type input struct {
	field *batch.Field
	once  sync.Once
	codec *batch.Codec
	err   error
}

// step is one compiled calculation.
type step struct {
	calc    Calculation
	args    [3]int // positions among inputs and results; -1: none
	fields  [3]*batch.Field
	kernel  kernel
	result  batch.Type
	convert *batch.Converter // nil when the kernel's type is the target's
	number  int
}

// kernel makes the result column (one hold) of the rows of a run.
type kernel func(r *run, a, b, c *batch.Column) (*batch.Column, error)

// run is one batch on its way through the program.
type run struct {
	ctx  context.Context
	p    *Program
	b    *batch.Batch
	n    int // physical rows
	cols []*batch.Column
}

// Compile binds calculations to the schema of their input. The error names the
// calculation, the field that is missing and those there are.
func Compile(schema *batch.Schema, list []Calculation, o Options) (*Program, error) {
	p := &Program{o: o, loc: o.Semantics.Location, results: &batch.Schema{}}
	if p.loc == nil {
		p.loc = time.UTC
	}
	known := schema.Clone()
	for i := range schema.Fields {
		p.inputs = append(p.inputs, &input{field: &schema.Fields[i]})
	}
	for i, c := range list {
		s, err := p.compile(known, c, i+1)
		if err != nil {
			return nil, fmt.Errorf("calculation %d (%q): %w", i+1, c.Target.Name, err)
		}
		p.steps = append(p.steps, s)
		known = known.With(c.Target)
		if !c.Remove {
			p.results.Fields = append(p.results.Fields, c.Target)
		}
	}
	return p, nil
}

// Results lists the fields that the program adds, in order.
func (p *Program) Results() []batch.Field { return p.results.Fields }

func (p *Program) compile(known *batch.Schema, c Calculation, number int) (*step, error) {
	op, ok := operations()[c.Code.canonical()]
	switch {
	case !ok:
		return nil, fmt.Errorf("the calculation type %q is not known", c.Code)
	case c.Target.Name == "":
		return nil, errors.New("the new field has no name")
	case c.Target.Type == batch.None:
		return nil, errors.New("the new field has no type; choose one")
	}
	s := &step{calc: c, args: [3]int{-1, -1, -1}, number: number}
	if c.A == "" {
		return nil, errors.New("field A is not set")
	}
	if c.Code.canonical() != Constant {
		for k, name := range []string{c.A, c.B, c.C} {
			if name == "" {
				if k < op.args {
					return nil, fmt.Errorf("field %c is not set", 'A'+rune(k))
				}
				continue
			}
			if s.args[k] = known.Index(name); s.args[k] < 0 {
				return nil, fmt.Errorf("field %q not found; there are %s", name, strings.Join(known.Names(), ", "))
			}
			s.fields[k] = &known.Fields[s.args[k]]
		}
	}
	var err error
	if s.kernel, s.result, err = op.compile(p, s); err != nil {
		return nil, err
	}
	if s.result != c.Target.Type {
		from := batch.Field{Name: "result", Type: s.result, Length: -1, Precision: -1, Mask: c.Target.Mask, Decimal: c.Target.Decimal, Grouping: c.Target.Grouping, Currency: c.Target.Currency}
		if s.convert, err = p.o.Semantics.Converter(&from, &c.Target); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run computes the results that stay (one hold each), as long as the batch is
// physically; rows that are not selected hold anything. The error of a row is a
// *RowError.
func (p *Program) Run(ctx context.Context, b *batch.Batch) ([]*batch.Column, error) {
	r := &run{ctx: ctx, p: p, b: b, n: b.Physical(), cols: make([]*batch.Column, len(p.inputs), len(p.inputs)+len(p.steps))}
	defer r.release()
	for _, s := range p.steps {
		col, err := s.run(r)
		if err != nil {
			return nil, &Error{Number: s.number, Field: s.calc.Target.Name, Err: err}
		}
		r.cols = append(r.cols, col)
	}
	kept := make([]*batch.Column, 0, len(p.steps))
	for i, s := range p.steps {
		if !s.calc.Remove {
			kept = append(kept, r.cols[len(p.inputs)+i].Retain())
		}
	}
	return kept, nil
}

// Error says which calculation failed; the row, when there is one, is a
// *batch.RowError below it.
type Error struct {
	Number int
	Field  string
	Err    error
}

// Error names the calculation.
func (e *Error) Error() string {
	return fmt.Sprintf("calculation %d (%q): %v", e.Number, e.Field, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func (r *run) release() {
	for _, c := range r.cols[len(r.p.inputs):] {
		c.Release()
	}
}

// column gives the typed column of an input or result; nil for -1.
func (r *run) column(i int) (*batch.Column, error) {
	if i < 0 {
		return nil, nil
	}
	if r.cols[i] != nil {
		return r.cols[i], nil
	}
	c := r.b.Cols[i]
	if c.Raw {
		codec, err := r.p.inputs[i].text(r.p.o.Semantics)
		if err != nil {
			return nil, err
		}
		return r.b.Col(i, codec)
	}
	return c, nil
}

func (in *input) text(sem *batch.Semantics) (*batch.Codec, error) {
	in.once.Do(func() { in.codec, in.err = sem.Codec(in.field) })
	return in.codec, in.err
}

func (s *step) run(r *run) (*batch.Column, error) {
	var args [3]*batch.Column
	for k, i := range s.args {
		var err error
		if args[k], err = r.column(i); err != nil {
			return nil, err
		}
	}
	out, err := s.kernel(r, args[0], args[1], args[2])
	if err != nil || s.convert == nil {
		return out, err
	}
	defer out.Release()
	return s.convert.Column(r.b, out, func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
}

// build makes a column row by row: fn appends exactly one value for a selected
// row whose arguments are not null, or gives an error. Other rows become null.
func (r *run) build(t batch.Type, fn func(out *batch.Column, i int) error, args ...*batch.Column) (*batch.Column, error) {
	out := r.p.o.Alloc.Column(t)
	next := 0
	for i := range r.b.All() {
		for ; next < i; next++ {
			out.AppendNull()
		}
		next = i + 1
		if anyNull(args, i) {
			out.AppendNull()
			continue
		}
		if err := fn(out, i); err != nil {
			out.Release()
			return nil, &batch.RowError{Row: i, Err: err}
		}
	}
	for ; next < r.n; next++ {
		out.AppendNull()
	}
	return out, nil
}

func anyNull(args []*batch.Column, i int) bool {
	for _, a := range args {
		if a != nil && a.IsNull(i) {
			return true
		}
	}
	return false
}

// nulls makes every row null in out that is null in an argument.
func nulls(out *batch.Column, n int, args ...*batch.Column) {
	for _, a := range args {
		if a == nil || a.Valid == nil || a.Nulls() == 0 {
			continue
		}
		for i := range n {
			if !a.Valid.Get(i) {
				out.SetNull(i)
			}
		}
	}
}
