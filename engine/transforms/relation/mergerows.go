package relation

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// MergeRows compares two inputs that are sorted by their keys and flags each row
// as identical, changed, new or deleted. The values of a row are those of the
// compare input, those of the reference input when it was deleted.
var MergeRows = transform.Define[MergeRowsSettings](transform.About{
	ID:       "MergeRows",
	Name:     "Merge rows (diff)",
	Category: transform.CategoryJoin,
	Summary:  "Compare two sorted inputs and flag what is new, changed or deleted.",
})

// MergeRowsSettings lists the settings in the order the form shows them.
type MergeRowsSettings struct {
	Reference   string        `hop:"reference" form:"transform" required:"true" label:"Reference transform" help:"The old rows"`
	Compare     string        `hop:"compare" form:"transform" required:"true" label:"Compare transform" help:"The new rows"`
	FlagField   string        `hop:"flag_field" default:"flagfield" required:"true"`
	Keys        []string      `hop:"keys>key" form:"field" required:"true"`
	Values      []string      `hop:"values>value" form:"field" label:"Values to compare"`
	DiffField   string        `hop:"diff-field" label:"Difference field" help:"Gets the changes as JSON; empty: none"`
	Align       bool          `hop:"align_input_layouts" label:"Align the layouts" help:"The inputs may have different fields; missing ones are null"`
	PassThrough []PassThrough `hop:"passthrough-fields>passthrough-field" label:"Extra fields"`
}

// PassThrough is a field of one of the inputs that is appended under another name.
type PassThrough struct {
	Field     string `hop:"sourceField" form:"field" required:"true"`
	Reference bool   `hop:"referenceField" label:"Of the reference"`
	Rename    string `hop:"renameTo" label:"New name"`
}

// Ports implements transform.Porter.
func (s *MergeRowsSettings) Ports(transform.Links) transform.Ports {
	return twoInputs(s.Reference, s.Compare)
}

// mergeLayout is how rows are put together.
type mergeLayout struct {
	in    [2]*batch.Schema // reference, compare
	out   *batch.Schema
	from  [2][]int // for each field of the rows: its place in the inputs, -1 for none
	extra [][2]int // of each extra field: input and place
}

// Output implements transform.Settings.
func (s *MergeRowsSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	m, err := s.layout(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(m.out)
}

func (s *MergeRowsSettings) layout(l transform.Links) (*mergeLayout, error) {
	ref, cmp, err := twoSchemas(l, s.Reference, s.Compare)
	if err != nil {
		return nil, err
	}
	if s.FlagField == "" {
		return nil, fmt.Errorf("name the flag field")
	}
	m := &mergeLayout{in: [2]*batch.Schema{ref, cmp}}
	rows := ref
	if s.Align {
		rows = m.align()
	} else if err := ref.SameLayout(cmp); err != nil {
		return nil, fmt.Errorf("the rows of %q and %q cannot be compared: %w; switch on aligning of the layouts", s.Reference, s.Compare, err)
	}
	for i := range rows.Fields {
		for k := range m.in {
			at := i
			if s.Align {
				at = m.in[k].Index(rows.Fields[i].Name)
			}
			m.from[k] = append(m.from[k], at)
		}
	}
	m.out = rows.With(fieldOf(s.FlagField, batch.String, l.Transform))
	if s.DiffField != "" {
		m.out = m.out.With(fieldOf(s.DiffField, batch.String, l.Transform))
	}
	return m, s.addExtras(m, l.Transform)
}

// align is the reference's fields and those that only the compare input has.
func (m *mergeLayout) align() *batch.Schema {
	rows := m.in[0]
	for _, f := range m.in[1].Fields {
		if rows.Index(f.Name) < 0 {
			rows = rows.With(f)
		}
	}
	return rows
}

func (s *MergeRowsSettings) addExtras(m *mergeLayout, origin string) error {
	for _, p := range s.PassThrough {
		side := 1
		if p.Reference {
			side = 0
		}
		i, err := fieldIndex(m.in[side], p.Field)
		if err != nil {
			return fmt.Errorf("extra field: %w", err)
		}
		f := m.in[side].Fields[i]
		f.Origin = origin
		if p.Rename != "" {
			f.Name = p.Rename
		}
		m.out = m.out.With(f)
		m.extra = append(m.extra, [2]int{side, i})
	}
	return nil
}

// Start implements transform.Settings.
func (s *MergeRowsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	m, err := s.layout(l)
	if err != nil {
		return nil, err
	}
	p := &mergeRows{env: env, layout: m, hasDiff: s.DiffField != ""}
	for k, name := range []string{"reference", "compare"} {
		// Values are compared like keys, so they are loaded with them.
		all := append(append([]string(nil), s.Keys...), s.Values...)
		if p.all[k], err = namedKeys(env.Semantics, m.in[k], all...); err != nil {
			return nil, fmt.Errorf("%s rows: %w", name, err)
		}
		p.byKey[k] = &keys{sem: env.Semantics, fields: p.all[k].fields[:len(s.Keys)]}
	}
	p.converts[0], p.converts[1], err = matchTypes(env.Semantics, p.all[0], m.in[0], p.all[1], m.in[1])
	if err != nil {
		return nil, err
	}
	return p, p.planCasts()
}

type mergeRows struct {
	transform.Collector
	transform.TakesRaw
	env      *transform.Env
	layout   *mergeLayout
	hasDiff  bool
	all      [2]*keys // keys and values
	byKey    [2]*keys
	converts [2][]*keyConversion
	casts    [2][]*batch.Converter // of the fields, to the type of the output; nil for none
}

// planCasts says which fields of the compare input change their type.
func (p *mergeRows) planCasts() error {
	for k := range p.layout.in {
		p.casts[k] = make([]*batch.Converter, len(p.layout.from[k]))
		for i, at := range p.layout.from[k] {
			if at < 0 || p.layout.in[k].Fields[at].SameText(&p.layout.out.Fields[i]) {
				continue
			}
			c, err := p.env.Semantics.Converter(&p.layout.in[k].Fields[at], &p.layout.out.Fields[i])
			if err != nil {
				return err
			}
			p.casts[k][i] = c
		}
	}
	return nil
}

// mergeFlag is what became of a row.
type mergeFlag string

const (
	flagIdentical mergeFlag = "identical"
	flagChanged   mergeFlag = "changed"
	flagNew       mergeFlag = "new"
	flagDeleted   mergeFlag = "deleted"
)

// mergedRows collects output rows.
type mergedRows struct {
	*mergeRows
	sides [2]*side // the row of each input, missing where there is none
	flags []mergeFlag
	diffs *batch.Column
	emit  transform.Emit
}

// Run implements transform.Stream.
func (p *mergeRows) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) (err error) {
	var c [2]*cursor
	out := &mergedRows{mergeRows: p, emit: emit}
	for k := range c {
		c[k] = &cursor{name: p.env.Transform, in: in[k], keys: p.all[k], converts: p.converts[k]}
		if out.sides[k], err = newSide(p.env, p.layout.in[k]); err != nil {
			return err
		}
	}
	defer func() {
		c[0].close()
		c[1].close()
		out.reset()
	}()
	for k := range c {
		if err := c[k].next(ctx); err != nil {
			return err
		}
	}
	for !c[0].done || !c[1].done {
		if err := p.step(ctx, c[0], c[1], out); err != nil {
			return err
		}
	}
	return out.flush()
}

func (p *mergeRows) step(ctx context.Context, ref, cmp *cursor, out *mergedRows) error {
	order := 0
	switch {
	case ref.done:
		order = 1
	case cmp.done:
		order = -1
	default:
		order = p.byKey[0].compare(ref.cols, ref.row, cmp.cols, cmp.row)
	}
	switch {
	case order < 0:
		if err := out.add(flagDeleted, ref, nil); err != nil {
			return err
		}
		return ref.next(ctx)
	case order > 0:
		if err := out.add(flagNew, nil, cmp); err != nil {
			return err
		}
		return cmp.next(ctx)
	}
	flag := flagIdentical
	if p.all[0].compare(ref.cols, ref.row, cmp.cols, cmp.row) != 0 {
		flag = flagChanged
	}
	if err := out.add(flag, ref, cmp); err != nil {
		return err
	}
	if err := ref.next(ctx); err != nil {
		return err
	}
	return cmp.next(ctx)
}

func (o *mergedRows) add(flag mergeFlag, ref, cmp *cursor) error {
	for k, c := range []*cursor{ref, cmp} {
		if c == nil {
			o.sides[k].add(nil, 0)
			continue
		}
		o.sides[k].add(c.batch, c.row)
	}
	o.flags = append(o.flags, flag)
	if o.hasDiff {
		if o.diffs == nil {
			o.diffs = o.env.Alloc.Column(batch.String)
		}
		o.diffs.Data = o.appendDiff(o.diffs.Data, flag, ref, cmp)
		o.diffs.EndValue()
	}
	if len(o.flags) < batch.MaxRows && len(o.sides[0].src.batches)+len(o.sides[1].src.batches) < maxHeld {
		return nil
	}
	return o.flush()
}

// flush emits the collected rows.
func (o *mergedRows) flush() error {
	n := len(o.flags)
	if n == 0 {
		return nil
	}
	cols, err := o.columns()
	if err != nil {
		return err
	}
	flags := o.env.Alloc.Column(batch.String)
	for _, f := range o.flags {
		flags.AppendString(string(f))
	}
	fields := len(o.layout.from[0])
	all := append(append([]*batch.Column(nil), cols[:fields]...), flags)
	if o.hasDiff {
		all = append(all, o.diffs)
		o.diffs = nil
	}
	all = append(all, cols[fields:]...)
	o.reset()
	return o.emit(transform.Main, o.env.Alloc.Assemble(o.layout.out, all, n))
}

// columns gives the columns (one hold each) of the rows, then the extra ones.
func (o *mergedRows) columns() ([]*batch.Column, error) {
	var in [2]*batch.Batch
	for k, s := range o.sides {
		cols, err := s.gather(nil)
		if err != nil {
			releaseColumns(cols)
			if in[0] != nil {
				in[0].Release()
			}
			return nil, err
		}
		in[k] = o.env.Alloc.Assemble(o.layout.in[k], cols, len(o.flags))
		defer in[k].Release()
	}
	refs := make([]rowRef, len(o.flags)) // which input each row comes from
	for i, f := range o.flags {
		refs[i] = rowRef{1, uint32(i)}
		if f == flagDeleted {
			refs[i].src = 0
		}
	}
	var out []*batch.Column
	for i := range o.layout.from[0] {
		c, err := o.pick(in, i, refs)
		if err != nil {
			releaseColumns(out)
			return nil, err
		}
		out = append(out, c)
	}
	for _, x := range o.layout.extra {
		out = append(out, in[x[0]].Cols[x[1]].Retain())
	}
	return out, nil
}

// pick gives field i of the rows.
func (o *mergedRows) pick(in [2]*batch.Batch, i int, refs []rowRef) (*batch.Column, error) {
	t := o.layout.out.Fields[i].Type
	from := make([]*batch.Column, 2)
	defer releaseColumns(from)
	raw := o.staysRaw(in, i)
	for k := range in {
		at := o.layout.from[k][i]
		if raw {
			from[k] = in[k].Cols[at].Retain()
			continue
		}
		if at < 0 {
			from[k] = o.env.Alloc.Repeat(batch.Null(t), t, len(refs))
			continue
		}
		c, err := o.sides[k].typed(in[k], at)
		if err == nil && o.casts[k][i] != nil {
			c, err = o.casts[k][i].Column(in[k], c, func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
		} else if err == nil {
			c = c.Retain()
		}
		if err != nil {
			return nil, valueError(o.env.Transform, o.layout.in[k].Fields[at].Name, in[k], 0, err)
		}
		from[k] = c
	}
	return gatherColumn(o.env.Alloc, t, from, refs), nil
}

// staysRaw says whether field i is unconverted text in both inputs that the output
// field means the same by.
func (o *mergedRows) staysRaw(in [2]*batch.Batch, i int) bool {
	for k := range in {
		at := o.layout.from[k][i]
		if at < 0 || o.casts[k][i] != nil || !in[k].Cols[at].Raw {
			return false
		}
	}
	return true
}

// typed gives a column of a batch of the side's schema with its values converted.
func (s *side) typed(b *batch.Batch, k int) (*batch.Column, error) { return b.Col(k, s.src.codecs[k]) }

func (o *mergedRows) reset() {
	o.sides[0].reset()
	o.sides[1].reset()
	o.flags = o.flags[:0]
	if o.diffs != nil {
		o.diffs.Release()
		o.diffs = nil
	}
}
