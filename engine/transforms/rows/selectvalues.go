package rows

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SelectValues keeps, renames, reorders, removes and converts fields, in that
// order. Selecting and removing shares the columns and costs nothing per row;
// only converted fields are computed.
var SelectValues = transform.Define[SelectValuesSettings](transform.About{
	ID:            "SelectValues",
	Name:          "Select values",
	Category:      transform.Reshape,
	Summary:       "Select, rename, remove and convert fields.",
	HandlesErrors: true,
})

// SelectValuesSettings lists the settings in the order the form shows them.
type SelectValuesSettings struct {
	Fields      []SelectedField `hop:"fields>field" label:"Select and alter" help:"Empty keeps all fields"`
	Unspecified bool            `hop:"fields>select_unspecified" label:"Include unspecified fields, ordered by name"`
	Remove      []NamedField    `hop:"fields>remove"`
	Meta        []ChangedField  `hop:"fields>meta" label:"Change metadata"`
}

// SelectedField is a field to keep. A length or precision of -2 leaves it.
type SelectedField struct {
	Name      string `hop:"name" form:"field" required:"true"`
	Rename    string `hop:"rename"`
	Length    int    `hop:"length" default:"-2"`
	Precision int    `hop:"precision" default:"-2"`
}

// ChangedField gives a field another type or format. Hop's default for dates is
// strict: month 13 is an error unless DateLenient is set.
type ChangedField struct {
	Name          string       `hop:"name" form:"field" required:"true"`
	Rename        string       `hop:"rename"`
	Type          batch.Type   `hop:"type"`
	Length        int          `hop:"length" default:"-1"`
	Precision     int          `hop:"precision" default:"-1"`
	StorageType   string       `hop:"storage_type" advanced:"true" help:"normal converts text that waits to be converted"`
	Mask          string       `hop:"conversion_mask" form:"mask"`
	DateLenient   bool         `hop:"date_format_lenient" label:"Lenient dates"`
	DateLocale    string       `hop:"date_format_locale" advanced:"true"`
	DateZone      string       `hop:"date_format_timezone" advanced:"true" label:"Date time zone"`
	NumberLenient bool         `hop:"lenient_string_to_number" label:"Lenient numbers" help:"Ignore what follows the number in a text"`
	Encoding      string       `hop:"encoding" advanced:"true"`
	Decimal       string       `hop:"decimal_symbol" advanced:"true"`
	Grouping      string       `hop:"grouping_symbol" advanced:"true"`
	Currency      string       `hop:"currency_symbol" advanced:"true"`
	Rounding      RoundingType `hop:"roundingType" advanced:"true"`
}

// unchanged is Hop's mark for a length or precision that is left as it is.
const unchanged = -2

// selection is one output field: where its values come from and what they become.
type selection struct {
	index  int
	change *ChangedField
	from   batch.Field // the source field, as it is read or written in a conversion
	to     batch.Field
}

// Output implements transform.Settings.
func (s *SelectValuesSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	list, err := s.plan(inputOf(l), l.Transform)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schemaOf(list))
}

func schemaOf(list []selection) *batch.Schema {
	s := &batch.Schema{}
	for i := range list {
		s.Fields = append(s.Fields, list[i].to)
	}
	return s
}

func (s *SelectValuesSettings) plan(in *batch.Schema, origin string) ([]selection, error) {
	list, err := s.selected(in, origin)
	if err == nil {
		list, err = s.removed(list)
	}
	if err == nil {
		err = s.changed(list, origin)
	}
	return list, err
}

func (s *SelectValuesSettings) selected(in *batch.Schema, origin string) ([]selection, error) {
	var list []selection
	take := func(i int, f batch.Field) {
		list = append(list, selection{index: i, from: in.Fields[i], to: f})
	}
	if len(s.Fields) == 0 {
		for i := range in.Fields {
			take(i, in.Fields[i])
		}
		return list, nil
	}
	seen := map[string]bool{}
	for k := range s.Fields {
		f := &s.Fields[k]
		i, err := fieldIndex(in, f.Name)
		if err != nil {
			return nil, err
		}
		if seen[f.output()] {
			return nil, fmt.Errorf("field %q is selected twice; give one of them another name", f.output())
		}
		seen[f.output()] = true
		take(i, f.apply(in.Fields[i], origin))
	}
	if s.Unspecified {
		for _, i := range s.unspecified(in) {
			take(i, in.Fields[i])
		}
	}
	uniqueNames(list)
	return list, nil
}

// output is the name of the selected field.
func (f *SelectedField) output() string {
	if f.Rename != "" {
		return f.Rename
	}
	return f.Name
}

func (f *SelectedField) apply(out batch.Field, origin string) batch.Field {
	if f.Rename != "" && f.Rename != out.Name {
		out.Name, out.Origin = f.Rename, origin
	}
	if f.Length != unchanged {
		out.Length, out.Origin = f.Length, origin
	}
	if f.Precision != unchanged {
		out.Precision, out.Origin = f.Precision, origin
	}
	return out
}

// unspecified lists the fields that are not selected, ordered by name as Java
// orders strings.
func (s *SelectValuesSettings) unspecified(in *batch.Schema) []int {
	var rest []int
	for i := range in.Fields {
		chosen := false
		for k := range s.Fields {
			chosen = chosen || strings.EqualFold(s.Fields[k].Name, in.Fields[i].Name)
		}
		if !chosen {
			rest = append(rest, i)
		}
	}
	sort.SliceStable(rest, func(a, b int) bool {
		return batch.CompareText(in.Fields[rest[a]].Name, in.Fields[rest[b]].Name) < 0
	})
	return rest
}

// uniqueNames renames what a row of Hop would rename: a field whose name is taken
// when case does not matter.
func uniqueNames(list []selection) {
	s := &batch.Schema{}
	for i := range list {
		s = s.With(list[i].to)
		list[i].to.Name = s.Fields[i].Name
	}
}

func find(list []selection, name string) (int, error) { return fieldIndex(schemaOf(list), name) }

func (s *SelectValuesSettings) removed(list []selection) ([]selection, error) {
	drop := map[int]bool{}
	for _, f := range s.Remove {
		i, err := find(list, f.Name)
		if err != nil {
			return nil, fmt.Errorf("remove: %w", err)
		}
		if drop[i] {
			return nil, fmt.Errorf("remove: field %q is listed twice", f.Name)
		}
		drop[i] = true
	}
	var kept []selection
	for i := range list {
		if !drop[i] {
			kept = append(kept, list[i])
		}
	}
	return kept, nil
}

func (s *SelectValuesSettings) changed(list []selection, origin string) error {
	named := schemaOf(list)
	for k := range s.Meta {
		c := &s.Meta[k]
		i, err := fieldIndex(named, c.Name)
		if err != nil {
			return fmt.Errorf("change metadata: %w", err)
		}
		if list[i].change != nil {
			return fmt.Errorf("change metadata: field %q is listed twice", c.Name)
		}
		list[i].change = c
		list[i].from = c.override(list[i].to)
		list[i].to = c.apply(list[i].to, origin)
	}
	return nil
}

// override puts the formats on the source too: a conversion reads and writes text
// with them.
func (c *ChangedField) override(f batch.Field) batch.Field {
	for _, o := range []struct {
		to    *string
		value string
	}{{&f.Mask, c.Mask}, {&f.Decimal, c.Decimal}, {&f.Grouping, c.Grouping}, {&f.Currency, c.Currency}} {
		if o.value != "" {
			*o.to = o.value
		}
	}
	f.Strict, f.Lenient, f.Locale, f.Zone = !c.DateLenient, c.NumberLenient, c.DateLocale, c.DateZone
	return f
}

func (c *ChangedField) apply(f batch.Field, origin string) batch.Field {
	f = c.override(f)
	f.Origin = origin
	if c.Rename != "" {
		f.Name = c.Rename
	}
	if c.Type != batch.None && c.Type != f.Type {
		// As in Hop the new type keeps the mask of the old one.
		f.Type, f.Lazy = c.Type, false
	}
	if c.Length != unchanged {
		f.Length = c.Length
	}
	if c.Precision != unchanged {
		f.Precision = c.Precision
	}
	if strings.EqualFold(c.StorageType, "normal") {
		f.Lazy = false
	}
	return f
}

// Start implements transform.Settings.
func (s *SelectValuesSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	in := inputOf(l)
	list, err := s.plan(in, l.Transform)
	if err != nil {
		return nil, err
	}
	p := &selectProcessor{env: env, schema: schemaOf(list), shares: true}
	for i := range list {
		w, err := newSelectedColumn(env, in, &list[i])
		if err != nil {
			return nil, err
		}
		p.cols = append(p.cols, w)
		p.order = append(p.order, list[i].index)
		p.shares = p.shares && w.shared
	}
	return p, nil
}

// selectedColumn computes one output column.
type selectedColumn struct {
	source  column
	convert *batch.Converter
	write   *roundedText // numbers to text with another rounding than Hop's usual one
	shared  bool         // the input's column, raw or not, is the output's
}

func newSelectedColumn(env *transform.Env, in *batch.Schema, s *selection) (selectedColumn, error) {
	original := &in.Fields[s.index]
	w := selectedColumn{}
	if s.from.Type == s.to.Type {
		sameReading := original.Strict == s.to.Strict && original.Lenient == s.to.Lenient
		w.shared = !original.Lazy || (s.to.Lazy && original.SameText(&s.to) && sameReading)
	}
	if w.shared {
		w.source.index = s.index
		return w, nil
	}
	var err error
	if w.source, err = newColumn(env, in, s.index); err != nil {
		return w, err
	}
	if s.from.Type == s.to.Type {
		return w, nil
	}
	if w.convert, err = env.Semantics.Converter(&s.from, &s.to); err == nil && s.change != nil {
		w.write, err = s.change.Rounding.writer(&s.from, s.to.Type)
	}
	return w, err
}

type selectProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	cols   []selectedColumn
	order  []int
	shares bool
}

// Apply implements transform.RowWise.
func (p *selectProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	if p.shares {
		return emit(transform.Main, b.Pick(p.schema, p.order))
	}
	var bad failures
	cols := make([]*batch.Column, 0, len(p.cols))
	for i := range p.cols {
		c, err := p.cols[i].compute(b, &bad)
		if err != nil {
			releaseAll(cols)
			return err
		}
		cols = append(cols, c)
	}
	return bad.emit(p.env, b, assemble(b, p.schema, cols), emit)
}

const selectErrorCode = "SELECT001"

// compute gives the output column with one hold.
func (w *selectedColumn) compute(b *batch.Batch, bad *failures) (*batch.Column, error) {
	if w.shared {
		return b.Cols[w.source.index].Retain(), nil
	}
	failed := func(row int, text string, err error) {
		bad.add(row, transform.RowError{Fields: w.source.field.Name, Code: selectErrorCode, Value: text, Err: err})
	}
	col, err := b.Col(w.source.index, w.source.codec)
	if err != nil {
		col = w.readRaw(b, failed)
		defer col.Release()
	}
	if w.convert == nil {
		return col.Retain(), nil
	}
	if w.write != nil {
		return w.write.column(b, col, failed), nil
	}
	return w.convert.Column(b, col, func(row int, err error) error {
		failed(row, string(w.source.codec.AppendText(nil, col, row)), err)
		return nil
	})
}

// readRaw converts unread text of which some cannot be read.
func (w *selectedColumn) readRaw(b *batch.Batch, failed func(row int, text string, err error)) *batch.Column {
	raw := b.Cols[w.source.index]
	out := b.Allocator().Column(raw.Type)
	_ = forRows(b, out, func(i int) error {
		if raw.IsNull(i) {
			out.AppendNull()
			return nil
		}
		if err := w.source.codec.ParseInto(out, raw.Bytes(i)); err != nil {
			out.AppendNull()
			failed(i, raw.Str(i), err)
		}
		return nil
	})
	return out
}

// Needs implements transform.FieldUser: fields that are not selected do not
// matter.
func (s *SelectValuesSettings) Needs(l transform.Links, _ []bool) []bool {
	if len(s.Fields) == 0 || s.Unspecified {
		in := make([]bool, l.Main().Len())
		for i := range in {
			in[i] = true
		}
		return in
	}
	var used []string
	for _, f := range s.Fields {
		used = append(used, f.Name)
	}
	return transform.PassingNeeds(l, nil, used...)
}
