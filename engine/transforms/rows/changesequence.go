package rows

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// FieldsChangeSequence appends a number that counts up while some fields keep
// their values and starts over when one of them changes.
var FieldsChangeSequence = transform.Define[FieldsChangeSequenceSettings](transform.About{
	ID:            "FieldsChangeSequence",
	Name:          "Add value fields changing sequence",
	Category:      transform.Reshape,
	Summary:       "Append a number that starts over when fields change.",
	HandlesErrors: true,
})

// FieldsChangeSequenceSettings lists the settings in the order the form shows them.
type FieldsChangeSequenceSettings struct {
	Result    string                 `hop:"resultfieldName" label:"Result field" required:"true"`
	StartAt   transform.Expr[string] `hop:"start" default:"1"`
	Increment transform.Expr[string] `hop:"increment" default:"1"`
	Fields    []NamedField           `hop:"fields>field" help:"Empty takes all fields"`
}

func (s *FieldsChangeSequenceSettings) schema(l transform.Links) *batch.Schema {
	return l.Main().With(integerField(s.Result, l.Transform))
}

// Output implements transform.Settings.
func (s *FieldsChangeSequenceSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	for _, f := range s.Fields {
		if _, err := fieldIndex(inputOf(l), f.Name); err != nil {
			return nil, err
		}
	}
	return transform.OnMain(s.schema(l))
}

// Start implements transform.Settings.
func (s *FieldsChangeSequenceSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &changeProcessor{env: env, schema: s.schema(l)}
	in := inputOf(l)
	keys := make([]int, 0, in.Len())
	for _, f := range s.Fields {
		i, err := fieldIndex(in, f.Name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, i)
	}
	if len(s.Fields) == 0 {
		for i := range in.Fields {
			keys = append(keys, i)
		}
	}
	var err error
	if p.group, err = newGroup(env, in, keys); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		to   *int64
		expr transform.Expr[string]
		name string
	}{{&p.start, s.StartAt, "start"}, {&p.step, s.Increment, "increment"}} {
		text, err := n.expr.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		*n.to = wholeNumber(text, 1)
	}
	return p, nil
}

type changeProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env         *transform.Env
	schema      *batch.Schema
	group       *group
	start, step int64
	next        int64
}

// Apply implements transform.RowWise.
func (p *changeProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.group.enter(b); err != nil {
		return err
	}
	out := p.env.Alloc.Column(batch.Integer)
	_ = forRows(b, out, func(i int) error {
		if p.group.begins(i) {
			p.next = p.start
		}
		out.AppendInt(p.next)
		p.next += p.step
		return nil
	})
	p.group.leave()
	return emit(transform.Main, b.With(p.schema, out))
}

// Close implements io.Closer.
func (p *changeProcessor) Close() error { return p.group.Close() }

// group tells where consecutive rows differ in some fields. It remembers the last
// row across batches. It is owned by one goroutine.
type group struct {
	sem     *batch.Semantics
	alloc   *batch.Allocator
	sources []column
	cols    []*batch.Column // of the current batch, typed; borrowed
	last    int             // row of cols that was seen last, -1: the row is in kept
	kept    []*batch.Column // one row each, of an earlier batch; nil before the first row
}

func newGroup(env *transform.Env, in *batch.Schema, keys []int) (*group, error) {
	g := &group{sem: env.Semantics, alloc: env.Alloc, last: -1}
	for _, i := range keys {
		c, err := newColumn(env, in, i)
		if err != nil {
			return nil, err
		}
		g.sources = append(g.sources, c)
	}
	g.cols = make([]*batch.Column, len(keys))
	return g, nil
}

// enter starts with a batch, which stays borrowed until leave.
func (g *group) enter(b *batch.Batch) error {
	g.last = -1
	for k := range g.sources {
		c, err := g.sources[k].of(b)
		if err != nil {
			return err
		}
		g.cols[k] = c
	}
	return nil
}

// begins says whether row i differs from the row before, or is the first one.
func (g *group) begins(i int) bool {
	before, at := g.cols, g.last
	if at < 0 {
		before, at = g.kept, 0
	}
	g.last = i
	if before == nil {
		return true
	}
	for k := range g.cols {
		if g.sem.Compare(before[k], at, g.cols[k], i, false) != 0 {
			return true
		}
	}
	return false
}

// leave keeps the last row of the batch.
func (g *group) leave() {
	if g.last < 0 {
		return
	}
	kept := make([]*batch.Column, len(g.cols))
	for k, c := range g.cols {
		kept[k] = c.Gather(g.alloc, []int32{int32(g.last)})
	}
	releaseAll(g.kept)
	g.kept, g.last = kept, -1
	clear(g.cols)
}

// Close drops the kept row.
func (g *group) Close() error {
	releaseAll(g.kept)
	g.kept = nil
	return nil
}
