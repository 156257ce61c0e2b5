package rows

import (
	"unicode/utf8"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
	"sluice/engine/transform"
)

// RoundingType says how a number is rounded when its mask shows fewer digits.
type RoundingType string

var roundings = []struct {
	code, label string
	mode        decimal.Rounding
}{
	{"half_even", "Half to even", decimal.HalfEven},
	{"half_up", "Half up", decimal.HalfUp},
	{"half_down", "Half down", decimal.HalfDown},
	{"up", "Away from zero", decimal.Up},
	{"down", "Towards zero", decimal.Down},
	{"ceiling", "Ceiling", decimal.Ceiling},
	{"floor", "Floor", decimal.Floor},
	{"unnecessary", "Not allowed", decimal.Unnecessary},
}

// Choices implements transform.Choices.
func (RoundingType) Choices() []transform.Choice {
	list := []transform.Choice{{Code: "", Label: "Not set"}}
	for _, r := range roundings {
		list = append(list, transform.Choice{Code: r.code, Label: r.label})
	}
	return list
}

func (t RoundingType) mode() decimal.Rounding {
	for _, r := range roundings {
		if r.code == string(t) {
			return r.mode
		}
	}
	return decimal.HalfEven
}

// writer gives what writes numbers of a field as text with this rounding; nil when
// the usual conversion does.
func (t RoundingType) writer(from *batch.Field, to batch.Type) (*roundedText, error) {
	if to != batch.String || !from.Type.IsNumeric() || t.mode() == decimal.HalfEven {
		return nil, nil
	}
	o := mask.NumberOptions{Rounding: t.mode(), Symbols: mask.Symbols{Currency: from.Currency}}
	if from.Decimal != "" {
		o.Symbols.Decimal, _ = utf8.DecodeRuneInString(from.Decimal)
	}
	if from.Grouping != "" {
		o.Symbols.Grouping, _ = utf8.DecodeRuneInString(from.Grouping)
	}
	pattern := from.Mask
	if pattern == "" {
		kind := map[batch.Type]mask.Kind{batch.Integer: mask.Integer, batch.Number: mask.Number, batch.BigNumber: mask.BigNumber}[from.Type]
		pattern = mask.DefaultFormat(kind, from.Length, from.Precision)
	}
	m, err := mask.CompileNumber(pattern, o)
	if err != nil {
		return nil, err
	}
	return &roundedText{mask: m}, nil
}

// roundedText writes numbers with a rounding of its own.
type roundedText struct{ mask *mask.NumberMask }

func (w *roundedText) column(b *batch.Batch, col *batch.Column, failed func(row int, text string, err error)) *batch.Column {
	out := b.Allocator().Column(batch.String)
	_ = forRows(b, out, func(i int) error {
		if col.IsNull(i) {
			out.AppendNull()
			return nil
		}
		text, err := w.append(out.Data, col, i)
		if err != nil {
			out.AppendNull()
			failed(i, "", err)
			return nil
		}
		out.Data = text
		out.EndValue()
		return nil
	})
	return out
}

func (w *roundedText) append(dst []byte, col *batch.Column, i int) ([]byte, error) {
	switch col.Type {
	case batch.Integer:
		return w.mask.AppendInt64(dst, col.Ints[i])
	case batch.Number:
		return w.mask.AppendFloat64(dst, col.Floats[i])
	}
	return w.mask.AppendDecimal(dst, col.Decimal(i))
}
