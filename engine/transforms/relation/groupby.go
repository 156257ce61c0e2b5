package relation

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// GroupBy computes aggregates over groups of consecutive rows with equal keys; the
// input is sorted by them. It emits a row per group, or every row with the
// aggregates of its group appended.
var GroupBy = transform.Define[GroupBySettings](transform.About{
	ID:         "GroupBy",
	Name:       "Group by",
	Category:   transform.CategoryAggregate,
	Summary:    "Compute sums, counts and other aggregates over groups of sorted rows.",
	RowNeutral: []string{"directory", "prefix", "ignore_aggregate", "field_ignore"},
})

// GroupBySettings lists the settings in the order the form shows them.
type GroupBySettings struct {
	AllRows         bool         `hop:"all_rows" label:"Include all rows" help:"Emit every row with the aggregates of its group"`
	Group           []NamedField `hop:"group>field" help:"Rows that follow each other with the same values form a group"`
	Aggregates      []Aggregate  `hop:"fields>field"`
	GiveBackRow     bool         `hop:"give_back_row" label:"Always give back a row" help:"Also when there were no rows"`
	AddLineNumber   bool         `hop:"add_linenr" label:"Add the row number within the group" help:"With all rows only"`
	LineNumberField string       `hop:"linenr_fieldname" label:"Row number field"`
	Directory       string       `hop:"directory" form:"folder" advanced:"true" help:"Not used: temporary files belong to the execution"`
	Prefix          string       `hop:"prefix" advanced:"true"`
	IgnoreAggregate bool         `hop:"ignore_aggregate" advanced:"true" help:"Not used"`
	IgnoreField     string       `hop:"field_ignore" advanced:"true"`
}

// Aggregate is one computed field.
type Aggregate struct {
	Name    string        `hop:"aggregate" required:"true"`
	Subject string        `hop:"subject" form:"field"`
	Type    AggregateCode `hop:"type" required:"true"`
	Value   string        `hop:"valuefield" help:"Separator of joined values, percentage, or rows of a moving average"`
	Order   string        `hop:"orderfield" form:"field" advanced:"true" help:"Not used: values are taken in the order of the rows"`
}

var sortedDialect = dialect{}

func (s *GroupBySettings) aggregates(r transform.Resolver) ([]aggregate, error) {
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
func (s *GroupBySettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	specs, err := s.aggregates(d)
	if err != nil {
		return nil, err
	}
	out, _, err := s.schema(l, specs)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

func (s *GroupBySettings) schema(l transform.Links, specs []aggregate) (*batch.Schema, []int, error) {
	out, at, err := sortedDialect.groupSchema(l, s.Group, specs)
	if err != nil || !s.AllRows {
		return out, at, err
	}
	all := mainSchema(l).With(out.Fields[len(at):]...)
	if s.AddLineNumber && s.LineNumberField != "" {
		all = all.With(fieldOf(s.LineNumberField, batch.Integer, l.Transform))
	}
	return all, at, nil
}

// Start implements transform.Settings.
func (s *GroupBySettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	specs, err := s.aggregates(env)
	if err != nil {
		return nil, err
	}
	out, at, err := s.schema(l, specs)
	if err != nil {
		return nil, err
	}
	plan := &groupPlan{env: env, dialect: sortedDialect, specs: specs, out: out}
	g, err := newConsecutive(plan, mainSchema(l), at, at)
	if err != nil {
		return nil, err
	}
	if s.AllRows {
		return newAllRows(g, s.AddLineNumber && s.LineNumberField != "")
	}
	return &groupByProcessor{consecutive: g, giveBack: s.GiveBackRow}, nil
}

// consecutive splits rows into groups of neighbours with equal keys. Group 0 is
// the one that was open when a batch came in.
type consecutive struct {
	*groupPlan
	transform.Stateful
	transform.TakesRaw
	schema *batch.Schema // of the input
	at     []int         // fields that are emitted of the last row of a group
	keys   *keys
	agg    *aggregation
	heads  *batch.Schema // of the fields at
	last   *batch.Batch  // the last row, nil before the first
	cols   []*batch.Column
	ids    []int32
	rows   int64
}

func newConsecutive(p *groupPlan, in *batch.Schema, group, at []int) (*consecutive, error) {
	c := &consecutive{groupPlan: p, schema: in, at: at}
	fields := make([]keyField, len(group))
	for i, k := range group {
		fields[i].index = k
	}
	var heads []batch.Field
	for _, k := range at {
		heads = append(heads, in.Fields[k])
	}
	c.heads = batch.NewSchema(heads...)
	var err error
	if c.keys, err = newKeys(p.env.Semantics, in, fields); err != nil {
		return nil, err
	}
	c.agg, err = p.dialect.newAggregation(p.env.Semantics, in, p.specs)
	return c, err
}

// groupColumns are the typed keys and arguments of a batch.
type groupColumns struct {
	keys []*batch.Column
	args []*batch.Column
}

// Encode implements transform.Encoder.
func (c *consecutive) Encode(_ context.Context, b *batch.Batch) (any, error) {
	h := &groupColumns{}
	var field string
	var err error
	if h.keys, field, err = c.keys.columns(nil, b); err != nil {
		return nil, valueError(c.env.Transform, field, b, 0, err)
	}
	if h.args, field, err = c.agg.columns(b); err != nil {
		return nil, valueError(c.env.Transform, field, b, 0, err)
	}
	return h, nil
}

// fold gives the selected rows of b their groups and folds them. It gives the
// number of groups, and for each but the last one its last row: -1 is c.last.
func (c *consecutive) fold(b *batch.Batch, h *groupColumns) (groups int, ends []int, err error) {
	c.ids = c.ids[:0]
	group, previous := int32(0), -1
	for i := range b.All() {
		same := true
		switch {
		case previous >= 0:
			same = c.keys.compare(h.keys, previous, h.keys, i) == 0
		case c.last != nil:
			same = c.keys.compare(c.cols, 0, h.keys, i) == 0
		}
		if !same {
			ends = append(ends, previous)
			group++
		}
		previous = i
		c.ids = append(c.ids, group)
	}
	c.rows += int64(b.Rows())
	c.agg.grow(int(group) + 1)
	if field, err := c.agg.fold(c.ids, b, h.args); err != nil {
		return 0, nil, valueError(c.env.Transform, field, b, 0, err)
	}
	return int(group) + 1, ends, nil
}

// remember keeps the last selected row of b.
func (c *consecutive) remember(b *batch.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	last := b.Gather([]int32{int32(b.Row(b.Rows() - 1))})
	c.forget()
	c.last = last
	var field string
	var err error
	if c.cols, field, err = c.keys.columns(c.cols[:0], last); err != nil {
		return valueError(c.env.Transform, field, last, 0, err)
	}
	return nil
}

func (c *consecutive) forget() {
	if c.last != nil {
		c.last.Release()
		c.last = nil
	}
}

// groupByProcessor emits a row per group.
type groupByProcessor struct {
	*consecutive
	giveBack bool
}

// Apply implements transform.RowWise.
func (p *groupByProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	h, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, h, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *groupByProcessor) ApplyEncoded(_ context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	h := encoded.(*groupColumns)
	defer releaseColumns(h.args)
	if b.Rows() == 0 {
		return nil
	}
	groups, ends, err := p.fold(b, h)
	if err != nil {
		return err
	}
	if len(ends) > 0 {
		if err := p.emitGroups(b, ends, emit); err != nil {
			return err
		}
		p.agg.keep(groups - 1)
	}
	return p.remember(b)
}

// emitGroups emits the groups that have ended. Their key values are those of
// their last row, as in Hop.
func (p *groupByProcessor) emitGroups(b *batch.Batch, ends []int, emit transform.Emit) error {
	heads, err := p.endRows(b, ends)
	if err != nil {
		return err
	}
	defer heads.Release()
	return emit(transform.Main, heads.With(p.out, p.agg.results(p.env.Alloc, 0, len(ends))...))
}

// endRows gives the emitted fields (one hold) of the last rows of groups.
func (c *consecutive) endRows(b *batch.Batch, ends []int) (*batch.Batch, error) {
	src, err := newSources(c.env.Alloc, c.env.Semantics, c.heads)
	if err != nil {
		return nil, err
	}
	var before, now uint32
	if c.last != nil {
		picked := c.last.Pick(c.heads, c.at)
		defer picked.Release()
		before = src.add(picked)
	}
	if b != nil {
		picked := b.Pick(c.heads, c.at)
		defer picked.Release()
		now = src.add(picked)
	}
	refs := make([]rowRef, len(ends))
	for i, end := range ends {
		refs[i] = rowRef{now, uint32(end)}
		if end < 0 {
			refs[i] = rowRef{src: before}
		}
	}
	heads, err := src.gather(refs)
	if err != nil {
		return nil, valueError(c.env.Transform, "", b, 0, err)
	}
	return heads, nil
}

// Finish implements transform.Finisher.
func (p *groupByProcessor) Finish(_ context.Context, emit transform.Emit) error {
	switch {
	case p.rows > 0:
		return p.emitGroups(nil, []int{-1}, emit)
	case p.giveBack:
		return emit(transform.Main, p.emptyResult())
	}
	return nil
}

// Close frees the last row.
func (p *groupByProcessor) Close() error {
	p.forget()
	return nil
}
