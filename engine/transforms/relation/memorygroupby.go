package relation

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// MemoryGroupBy computes aggregates over groups of rows that need not be sorted.
// The groups come out in the order in which they were first seen. Groups beyond
// the memory budget go through temporary files, in the same order.
var MemoryGroupBy = transform.Define[MemoryGroupBySettings](transform.About{
	ID:       "MemoryGroupBy",
	Name:     "Memory group by",
	Category: transform.CategoryAggregate,
	Summary:  "Compute sums, counts and other aggregates over groups of unsorted rows.",
})

// MemoryGroupBySettings lists the settings in the order the form shows them.
type MemoryGroupBySettings struct {
	Group       []NamedField      `hop:"group>field" help:"Rows with the same values form a group; none: all rows are one"`
	Aggregates  []MemoryAggregate `hop:"fields>field"`
	GiveBackRow bool              `hop:"give_back_row" label:"Always give back a row" help:"Also when there were no rows: counts are 0, the rest is null"`
}

// MemoryAggregate is one computed field.
type MemoryAggregate struct {
	Name    string        `hop:"aggregate" required:"true"`
	Subject string        `hop:"subject" form:"field"`
	Type    AggregateCode `hop:"type" required:"true"`
	Value   string        `hop:"valuefield" help:"Separator of joined values, or percentage"`
}

var memoryDialect = dialect{memory: true}

func (s *MemoryGroupBySettings) aggregates(r transform.Resolver) ([]aggregate, error) {
	list := make([]aggregate, len(s.Aggregates))
	for i, a := range s.Aggregates {
		value, err := r.Resolve(a.Value)
		if err != nil {
			return nil, fmt.Errorf("aggregate %q: %w", a.Name, err)
		}
		list[i] = aggregate{name: a.Name, subject: a.Subject, code: a.Type, value: value}
	}
	return list, nil
}

// Output implements transform.Settings.
func (s *MemoryGroupBySettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	specs, err := s.aggregates(d)
	if err != nil {
		return nil, err
	}
	out, _, err := memoryDialect.groupSchema(l, s.Group, specs)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

// groupSchema gives the group fields followed by the aggregates, and the
// positions of the group fields.
func (d dialect) groupSchema(l transform.Links, group []NamedField, specs []aggregate) (*batch.Schema, []int, error) {
	in := mainSchema(l)
	var head []batch.Field
	var at []int
	for _, g := range group {
		i, err := fieldIndex(in, g.Name)
		if err != nil {
			return nil, nil, fmt.Errorf("group: %w", err)
		}
		at = append(at, i)
		head = append(head, in.Fields[i])
	}
	out := batch.NewSchema(head...)
	for _, a := range specs {
		f, err := d.resultField(in, a, l.Transform)
		if err != nil {
			return nil, nil, err
		}
		out = out.With(f)
	}
	return out, at, nil
}

// Start implements transform.Settings.
func (s *MemoryGroupBySettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	specs, err := s.aggregates(env)
	if err != nil {
		return nil, err
	}
	out, at, err := memoryDialect.groupSchema(l, s.Group, specs)
	if err != nil {
		return nil, err
	}
	plan := &groupPlan{env: env, dialect: memoryDialect, specs: specs, out: out}
	table, err := plan.table(mainSchema(l), at, 0)
	if err != nil {
		return nil, err
	}
	return &memoryGroupProcessor{groupPlan: plan, table: table, giveBack: s.GiveBackRow}, nil
}

type memoryGroupProcessor struct {
	transform.Stateful
	transform.TakesRaw
	*groupPlan
	table    *groupTable
	giveBack bool
	rows     int64
}

// Encode implements transform.Encoder: the keys and arguments of a batch.
func (p *memoryGroupProcessor) Encode(_ context.Context, b *batch.Batch) (any, error) {
	return p.table.prepare(b)
}

// ApplyEncoded implements transform.Encoder.
func (p *memoryGroupProcessor) ApplyEncoded(_ context.Context, b *batch.Batch, encoded any, _ transform.Emit) error {
	half := encoded.(*groupHalf)
	defer half.release()
	err := p.table.add(b, half, p.rows)
	p.rows += int64(b.Rows())
	return err
}

// Apply implements transform.RowWise.
func (p *memoryGroupProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	half, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, half, emit)
}

// Finish implements transform.Finisher.
func (p *memoryGroupProcessor) Finish(ctx context.Context, emit transform.Emit) error {
	if p.rows == 0 && p.giveBack {
		return emit(transform.Main, p.emptyResult())
	}
	return p.table.finish(ctx, func(b *batch.Batch) error {
		defer b.Release()
		keep := make([]int, p.out.Len())
		for i := range keep {
			keep[i] = i
		}
		return emit(transform.Main, b.Pick(p.out, keep)) // without the row number
	})
}

// Close frees what an execution that failed left behind.
func (p *memoryGroupProcessor) Close() error { return p.table.close() }

// emptyResult is the row that is given back when there were none: counts are 0,
// the rest is null.
func (p *groupPlan) emptyResult() *batch.Batch {
	b := p.env.Alloc.Batch(p.out)
	keys := p.out.Len() - len(p.specs)
	for i, c := range b.Cols {
		if i >= keys && p.specs[i-keys].code.isCount() && (p.dialect.memory || p.specs[i-keys].code != CountDistinct) {
			c.AppendInt(0)
			continue
		}
		c.AppendNull()
	}
	b.SetRows(1)
	if !p.dialect.memory && p.env.Semantics.AllNullsAreZero {
		for i := keys; i < len(b.Cols); i++ {
			b.Cols[i] = nullsToZero(p.env.Alloc, b.Cols[i])
		}
	}
	return b
}

// Needs implements transform.FieldUser: only keys and subjects matter.
func (s *MemoryGroupBySettings) Needs(l transform.Links, _ []bool) []bool {
	var used []string
	for _, g := range s.Group {
		used = append(used, g.Name)
	}
	for _, a := range s.Aggregates {
		used = append(used, a.Subject)
	}
	return transform.PassingNeeds(l, nil, used...)
}
