package relation

import (
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// pivotTarget is the value of a field in the open group.
type pivotTarget struct {
	name      string
	at        int // of the source field
	codec     *batch.Codec
	convert   *batch.Converter
	fromCount *batch.Converter
	aggregate PivotAggregate
	sem       *batch.Semantics
	typ       batch.Type

	value batch.Value
	count int64
}

func (t *pivotTarget) reset() { t.value, t.count = batch.Null(t.typ), 0 }

// take adds the value of a matching row.
func (t *pivotTarget) take(source batch.Value) error {
	if t.aggregate == PivotCount {
		t.count++
		return nil
	}
	v, err := t.convert.Value(source)
	if err != nil {
		return err
	}
	switch t.aggregate {
	case PivotSum, PivotAverage:
		return t.add(v)
	case PivotMinimum:
		if !source.Valid && !t.sem.MinNullIsValued {
			return nil
		}
		if (!t.value.Valid && !t.sem.MinNullIsValued) || t.sem.CompareValues(v, t.value, false) < 0 {
			t.value = v
		}
	case PivotMaximum:
		if t.sem.CompareValues(v, t.value, false) > 0 {
			t.value = v
		}
	case PivotConcat:
		if t.value.Valid {
			if !v.Valid {
				v.Text = "null" // as Java joins it
			}
			v = batch.StringValue(t.value.Text + "," + v.Text)
		}
		t.value = v
	default:
		t.value = v
	}
	return nil
}

func (t *pivotTarget) add(v batch.Value) (err error) {
	if !v.Valid {
		return nil
	}
	t.count++
	if !t.value.Valid {
		t.value = v
		return nil
	}
	switch t.typ {
	case batch.Integer:
		t.value.Int += v.Int
	case batch.Number:
		t.value.Float += v.Float
	case batch.BigNumber:
		t.value.Dec, err = t.value.Dec.Add(v.Dec)
	default:
		return fmt.Errorf("values of type %s cannot be added; choose a number type for %q", t.typ, t.name)
	}
	return err
}

// result gives the value at the end of a group.
func (t *pivotTarget) result() (v batch.Value, err error) {
	v = t.value
	switch {
	case t.aggregate == PivotCount:
		return t.fromCount.Value(batch.IntegerValue(t.count))
	case t.aggregate == PivotAverage && t.count > 0:
		switch t.typ {
		case batch.Integer:
			v.Int /= t.count
		case batch.Number:
			v.Float /= float64(t.count)
		case batch.BigNumber:
			v.Dec, err = v.Dec.QuoDecimal128(decimal.FromInt64(t.count))
		}
	}
	return v, err
}
