package rows

import (
	"context"
	"errors"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// TransformMetaStructure gives one row per field of its input: what the field is,
// instead of what it holds. An input without rows gives nothing.
var TransformMetaStructure = transform.Define[TransformMetaStructureSettings](transform.About{
	ID:       "TransformMetaStructure",
	Name:     "Metadata structure of stream",
	Category: transform.Reshape,
	Summary:  "List the fields of the input, one row each.",
})

// TransformMetaStructureSettings lists the settings in the order the form shows them.
type TransformMetaStructureSettings struct {
	IncludePosition  bool   `hop:"includePositionField" default:"true"`
	Position         string `hop:"positionFieldname" default:"Position"`
	IncludeName      bool   `hop:"includeFieldnameField" default:"true"`
	Fieldname        string `hop:"fieldFieldname" default:"Fieldname"`
	IncludeComments  bool   `hop:"includeCommentsField" default:"true"`
	Comments         string `hop:"commentsFieldname" default:"Comments"`
	IncludeType      bool   `hop:"includeTypeField" default:"true"`
	Type             string `hop:"typeFieldname" default:"Type"`
	IncludeLength    bool   `hop:"includeLengthField" default:"true"`
	Length           string `hop:"lengthFieldname" default:"Length"`
	IncludePrecision bool   `hop:"includePrecisionField" default:"true"`
	Precision        string `hop:"precisionFieldname" default:"Precision"`
	IncludeMask      bool   `hop:"includeMaskField" default:"true"`
	Mask             string `hop:"maskFieldname" default:"Mask"`
	IncludeOrigin    bool   `hop:"includeOriginField" default:"true"`
	Origin           string `hop:"originFieldname" default:"Origin"`
	RowCount         bool   `hop:"outputRowcount" label:"Add the row count"`
	RowCountField    string `hop:"rowcountField"`
}

// factColumn is one output field: its name and what it tells of an input field.
type factColumn struct {
	field batch.Field
	value func(position int, f *batch.Field, rows int64) batch.Value
}

func (s *TransformMetaStructureSettings) columns(origin string) ([]factColumn, error) {
	var list []factColumn
	add := func(include bool, name string, t batch.Type, value func(int, *batch.Field, int64) batch.Value) {
		if include {
			f := batch.NewField(name, t)
			f.Origin = origin
			list = append(list, factColumn{f, value})
		}
	}
	number := func(n int) batch.Value { return batch.IntegerValue(int64(n)) }
	text := func(s string) batch.Value { return batch.Value{Type: batch.String, Valid: s != "", Text: s} }
	add(s.IncludePosition, s.Position, batch.Integer, func(at int, _ *batch.Field, _ int64) batch.Value { return number(at) })
	add(s.IncludeName, s.Fieldname, batch.String, func(_ int, f *batch.Field, _ int64) batch.Value { return text(f.Name) })
	add(s.IncludeComments, s.Comments, batch.String, func(_ int, f *batch.Field, _ int64) batch.Value { return text(f.Comments) })
	add(s.IncludeType, s.Type, batch.String, func(_ int, f *batch.Field, _ int64) batch.Value { return text(f.Type.String()) })
	add(s.IncludeLength, s.Length, batch.Integer, func(_ int, f *batch.Field, _ int64) batch.Value { return number(f.Length) })
	add(s.IncludePrecision, s.Precision, batch.Integer, func(_ int, f *batch.Field, _ int64) batch.Value { return number(shownPrecision(f)) })
	add(s.IncludeMask, s.Mask, batch.String, func(_ int, f *batch.Field, _ int64) batch.Value { return text(f.Mask) })
	add(s.IncludeOrigin, s.Origin, batch.String, func(_ int, f *batch.Field, _ int64) batch.Value { return text(f.Origin) })
	if s.RowCount && s.RowCountField == "" {
		return nil, errors.New("the row count field has no name")
	}
	add(s.RowCount, s.RowCountField, batch.Integer, func(_ int, _ *batch.Field, rows int64) batch.Value { return batch.IntegerValue(rows) })
	return list, nil
}

// shownPrecision is what Hop tells of a precision: types without a fraction have a
// fixed one, whatever the field says.
func shownPrecision(f *batch.Field) int {
	switch f.Type {
	case batch.Integer, batch.Binary:
		return 0
	case batch.String, batch.Boolean:
		return -1
	}
	return f.Precision
}

func factSchema(list []factColumn) *batch.Schema {
	var fields []batch.Field
	for _, c := range list {
		fields = append(fields, c.field)
	}
	return batch.NewSchema().With(fields...)
}

// Output implements transform.Settings.
func (s *TransformMetaStructureSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	list, err := s.columns(l.Transform)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(factSchema(list))
}

// Start implements transform.Settings.
func (s *TransformMetaStructureSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	list, err := s.columns(l.Transform)
	if err != nil {
		return nil, err
	}
	return &structureProcessor{env: env, in: inputOf(l), columns: list}, nil
}

type structureProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env     *transform.Env
	in      *batch.Schema
	columns []factColumn
	rows    int64
}

// Apply implements transform.RowWise.
func (p *structureProcessor) Apply(_ context.Context, b *batch.Batch, _ transform.Emit) error {
	p.rows += int64(b.Rows())
	return nil
}

// Finish implements transform.Finisher.
func (p *structureProcessor) Finish(_ context.Context, emit transform.Emit) error {
	if p.rows == 0 || p.in.Len() == 0 {
		return nil
	}
	out := p.env.Alloc.Batch(factSchema(p.columns))
	for i := range p.in.Fields {
		for k, c := range p.columns {
			out.Cols[k].AppendValue(c.value(i+1, &p.in.Fields[i], p.rows))
		}
	}
	out.SetRows(p.in.Len())
	return emit(transform.Main, out)
}
