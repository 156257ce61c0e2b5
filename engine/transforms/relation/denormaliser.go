package relation

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Denormaliser turns key-value rows of a group into one row with a field per key.
// Groups are consecutive rows; what is left of the input fields is taken from the
// last row of the group.
var Denormaliser = transform.Define[DenormaliserSettings](transform.About{
	ID:       "Denormaliser",
	Name:     "Row denormaliser",
	Category: transform.Reshape,
	Summary:  "Turn key-value rows into fields.",
})

// DenormaliserSettings lists the settings in the order the form shows them.
type DenormaliserSettings struct {
	KeyField string             `hop:"key_field" form:"field" required:"true"`
	Group    []NamedField       `hop:"group>field" help:"Rows that follow each other with the same values become one"`
	Targets  []DenormaliserItem `hop:"fields>field" required:"true"`
}

// DenormaliserItem is one field that is made.
type DenormaliserItem struct {
	Field       string         `hop:"field_name" form:"field" required:"true" label:"Value field"`
	Key         string         `hop:"key_value" help:"Rows with this key give the value"`
	Name        string         `hop:"target_name" required:"true"`
	Type        batch.Type     `hop:"target_type" default:"String"`
	Format      string         `hop:"target_format" form:"mask"`
	Length      int            `hop:"target_length" default:"-1"`
	Precision   int            `hop:"target_precision" default:"-1"`
	Decimal     string         `hop:"target_decimal_symbol" advanced:"true"`
	Grouping    string         `hop:"target_grouping_symbol" advanced:"true"`
	Currency    string         `hop:"target_currency_symbol" advanced:"true"`
	NullString  string         `hop:"target_null_string" advanced:"true" help:"Not used"`
	Aggregation PivotAggregate `hop:"target_aggregation_type" default:"-"`
}

// PivotAggregate says what becomes of several values for one field.
type PivotAggregate string

// The aggregates.
const (
	PivotLast    PivotAggregate = "-"
	PivotSum     PivotAggregate = "SUM"
	PivotAverage PivotAggregate = "AVERAGE"
	PivotMinimum PivotAggregate = "MIN"
	PivotMaximum PivotAggregate = "MAX"
	PivotCount   PivotAggregate = "COUNT_ALL"
	PivotConcat  PivotAggregate = "CONCAT_COMMA"
)

// Choices lists the aggregates for forms.
func (PivotAggregate) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(PivotLast), Label: "Last value"},
		{Code: string(PivotSum), Label: "Sum"},
		{Code: string(PivotAverage), Label: "Average"},
		{Code: string(PivotMinimum), Label: "Minimum"},
		{Code: string(PivotMaximum), Label: "Maximum"},
		{Code: string(PivotCount), Label: "Number of rows"},
		{Code: string(PivotConcat), Label: "Values joined by a comma"},
	}
}

func (d *DenormaliserItem) field(origin string) batch.Field {
	f := fieldOf(d.Name, d.Type, origin)
	f.Length, f.Precision = d.Length, d.Precision
	if d.Format != "" {
		f.Mask = d.Format
	}
	f.Decimal, f.Grouping, f.Currency = d.Decimal, d.Grouping, d.Currency
	return f
}

// Output implements transform.Settings.
func (s *DenormaliserSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	out, _, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

// schema gives the output and the input fields that stay.
func (s *DenormaliserSettings) schema(l transform.Links) (*batch.Schema, []int, error) {
	in := mainSchema(l)
	key, err := fieldIndex(in, s.KeyField)
	if err != nil {
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	gone := map[int]bool{key: true}
	for i := range s.Targets {
		k, err := fieldIndex(in, s.Targets[i].Field)
		if err != nil {
			return nil, nil, fmt.Errorf("target %q: %w", s.Targets[i].Name, err)
		}
		if k == key {
			return nil, nil, fmt.Errorf("target %q: the value cannot come from the key field %q", s.Targets[i].Name, s.KeyField)
		}
		gone[k] = true
	}
	var stay []int
	var fields []batch.Field
	for i := range in.Fields {
		if !gone[i] {
			stay = append(stay, i)
			fields = append(fields, in.Fields[i])
		}
	}
	out := batch.NewSchema(fields...)
	for i := range s.Targets {
		out = out.With(s.Targets[i].field(l.Transform))
	}
	return out, stay, nil
}

// Start implements transform.Settings.
func (s *DenormaliserSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	out, stay, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	in := mainSchema(l)
	var group []int
	for _, g := range s.Group {
		i, err := fieldIndex(in, g.Name)
		if err != nil {
			return nil, fmt.Errorf("group: %w", err)
		}
		group = append(group, i)
	}
	c, err := newConsecutive(&groupPlan{env: env, out: out}, in, group, stay)
	if err != nil {
		return nil, err
	}
	p := &denormaliser{consecutive: c, keyAt: in.Index(s.KeyField), byKey: map[string][]int{}}
	if p.keyCodec, err = env.Semantics.Codec(&in.Fields[p.keyAt]); err != nil {
		return nil, err
	}
	for i := range s.Targets {
		if err := p.addTarget(&s.Targets[i], in, &out.Fields[len(stay)+i]); err != nil {
			return nil, fmt.Errorf("target %q: %w", s.Targets[i].Name, err)
		}
	}
	return p, nil
}

type denormaliser struct {
	*consecutive
	keyAt    int
	keyCodec *batch.Codec
	byKey    map[string][]int // targets of each key
	targets  []*pivotTarget
	key      []byte
}

func (p *denormaliser) addTarget(s *DenormaliserItem, in *batch.Schema, f *batch.Field) error {
	if s.Aggregation == PivotConcat && f.Type != batch.String {
		return fmt.Errorf("joined values are text; make it a String")
	}
	key, err := p.env.Resolve(s.Key)
	if err != nil {
		return err
	}
	t := &pivotTarget{name: s.Field, at: in.Index(s.Field), aggregate: s.Aggregation, sem: p.env.Semantics, typ: f.Type}
	source := in.Fields[t.at]
	if t.codec, err = p.env.Semantics.Codec(&source); err != nil {
		return err
	}
	if t.convert, err = p.env.Semantics.Converter(&source, f); err != nil {
		return err
	}
	counted := batch.NewField(s.Name, batch.Integer)
	if t.fromCount, err = p.env.Semantics.Converter(&counted, f); err != nil {
		return err
	}
	p.byKey[key] = append(p.byKey[key], len(p.targets))
	p.targets = append(p.targets, t)
	return nil
}

// Apply implements transform.RowWise.
func (p *denormaliser) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	h, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, h, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *denormaliser) ApplyEncoded(_ context.Context, b *batch.Batch, encoded any, emit transform.Emit) (err error) {
	if b.Rows() == 0 {
		return nil
	}
	first := p.last == nil
	_, ends, err := p.fold(b, encoded.(*groupColumns))
	if err != nil {
		return err
	}
	keys, err := b.Col(p.keyAt, p.keyCodec)
	if err != nil {
		return valueError(p.env.Transform, p.schema.Fields[p.keyAt].Name, b, 0, err)
	}
	values := make([]*batch.Column, len(p.targets))
	for i, t := range p.targets {
		if values[i], err = b.Col(t.at, t.codec); err != nil {
			return valueError(p.env.Transform, t.name, b, 0, err)
		}
	}
	if first {
		p.resetTargets()
	}
	out := p.columns()
	defer func() { releaseColumns(out) }()
	for n, g := range p.ids {
		i := b.Row(n)
		if (n == 0 && g > 0) || (n > 0 && g != p.ids[n-1]) {
			if err := p.endGroup(out); err != nil {
				return err
			}
		}
		if err := p.takeRow(b, keys, values, i); err != nil {
			return err
		}
	}
	if len(ends) > 0 {
		if err := p.emitEnded(b, ends, out, emit); err != nil {
			return err
		}
	}
	return p.remember(b)
}

func (p *denormaliser) takeRow(b *batch.Batch, keys *batch.Column, values []*batch.Column, i int) error {
	if keys.IsNull(i) {
		return nil
	}
	key := p.key[:0]
	if keys.Type == batch.String {
		key = keys.Bytes(i)
	} else {
		key = p.keyCodec.AppendCompatible(key, keys.Value(i))
		p.key = key
	}
	if len(key) == 0 {
		return nil
	}
	for _, n := range p.byKey[string(key)] {
		if err := p.targets[n].take(values[n].Value(i)); err != nil {
			return valueError(p.env.Transform, p.targets[n].name, b, 0, &batch.RowError{Row: i, Err: err})
		}
	}
	return nil
}

func (p *denormaliser) resetTargets() {
	for _, t := range p.targets {
		t.reset()
	}
}

func (p *denormaliser) columns() []*batch.Column {
	cols := make([]*batch.Column, len(p.targets))
	for i, t := range p.targets {
		cols[i] = p.env.Alloc.Column(t.typ)
	}
	return cols
}

// endGroup writes down the targets and begins a new group.
func (p *denormaliser) endGroup(out []*batch.Column) error {
	for i, t := range p.targets {
		v, err := t.result()
		if err != nil {
			return fmt.Errorf("target of %q: %w", t.name, err)
		}
		out[i].AppendValue(v)
	}
	p.resetTargets()
	return nil
}

// emitEnded emits rows of groups; out gives up its columns' holds.
func (p *denormaliser) emitEnded(b *batch.Batch, ends []int, out []*batch.Column, emit transform.Emit) error {
	rows, err := p.endRows(b, ends)
	if err != nil {
		return err
	}
	defer rows.Release()
	cols := make([]*batch.Column, len(out))
	for i, c := range out {
		cols[i] = c
		if p.env.Semantics.AllNullsAreZero {
			cols[i] = nullsToZero(p.env.Alloc, c)
		}
		out[i] = nil
	}
	return emit(transform.Main, rows.With(p.out, cols...))
}

// Finish implements transform.Finisher.
func (p *denormaliser) Finish(_ context.Context, emit transform.Emit) error {
	if p.last == nil {
		return nil
	}
	out := p.columns()
	defer func() { releaseColumns(out) }()
	if err := p.endGroup(out); err != nil {
		return err
	}
	return p.emitEnded(nil, []int{-1}, out, emit)
}

// Close frees the last row.
func (p *denormaliser) Close() error {
	p.forget()
	return nil
}
