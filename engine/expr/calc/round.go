package calc

import (
	"fmt"
	"math"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// How a rounding finds its mode and its decimals among the arguments.
type (
	modeOf   func(b, c *batch.Column, i int) (decimal.Rounding, error)
	placesOf func(b *batch.Column, i int) int64
)

func halfCeiling(_, _ *batch.Column, _ int) (decimal.Rounding, error) {
	return decimal.HalfCeiling, nil
}
func halfUp(_, _ *batch.Column, _ int) (decimal.Rounding, error) { return decimal.HalfUp, nil }
func modeB(b, _ *batch.Column, i int) (decimal.Rounding, error)  { return javaMode(b.Ints[i]) }
func modeC(_, c *batch.Column, i int) (decimal.Rounding, error)  { return javaMode(c.Ints[i]) }
func noPlaces(*batch.Column, int) int64                          { return 0 }
func placesB(b *batch.Column, i int) int64                       { return b.Ints[i] }

// javaMode reads the numbers of java.math.BigDecimal; -1 is half toward +∞.
func javaMode(n int64) (decimal.Rounding, error) {
	modes := map[int64]decimal.Rounding{
		-1: decimal.HalfCeiling, 0: decimal.Up, 1: decimal.Down, 2: decimal.Ceiling, 3: decimal.Floor,
		4: decimal.HalfUp, 5: decimal.HalfDown, 6: decimal.HalfEven, 7: decimal.Unnecessary,
	}
	m, ok := modes[n]
	if !ok {
		return 0, fmt.Errorf("the rounding mode %d is not one of -1 to 7", n)
	}
	return m, nil
}

// maxPlaces bounds the decimals that a rounding may ask for.
const maxPlaces = 400

// rounded compiles the roundings; the result has A's type.
func rounded(mode modeOf, places placesOf) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		t := s.fields[0].Type
		if !t.IsNumeric() {
			return nil, 0, needNumeric(s, "ROUND")
		}
		k := kernel(func(r *run, a, b, c *batch.Column) (*batch.Column, error) {
			return r.build(t, func(out *batch.Column, i int) error {
				m, err := mode(b, c, i)
				if err != nil {
					return err
				}
				return appendRounded(out, a, i, max(-maxPlaces, min(maxPlaces, places(b, i))), m)
			}, a, b, c)
		})
		var err error
		for i := 1; i < 3 && err == nil; i++ {
			if s.fields[i] != nil {
				k, err = p.as(s, i, batch.Integer, k)
			}
		}
		return k, t, err
	}
}

func appendRounded(out, a *batch.Column, i int, places int64, m decimal.Rounding) error {
	switch a.Type {
	case batch.Number:
		v, err := RoundFloat(a.Floats[i], int32(places), m)
		out.AppendFloat(v)
		return err
	case batch.Integer:
		if places >= 0 {
			out.AppendInt(a.Ints[i])
			return nil
		}
		d, err := decimal.FromInt64(a.Ints[i]).Rescale(int32(places), m)
		n, _ := d.Int64()
		out.AppendInt(n)
		return err
	}
	d, err := a.Decimal(i).Rescale(int32(places), m)
	out.AppendDecimal(d)
	return err
}

// RoundFloat rounds the shortest decimal text of v, as Hop's Const.round does.
func RoundFloat(v float64, places int32, m decimal.Rounding) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v, nil
	}
	if places == 0 && m == decimal.HalfCeiling && math.Abs(v) < 1<<52 {
		return math.Floor(v) + float64(bit(v-math.Floor(v) >= 0.5)), nil
	}
	d, err := decimal.FromFloat64(v)
	if err != nil {
		return v, err
	}
	if d, err = d.Rescale(places, m); err != nil {
		return v, err
	}
	return d.Float64(), nil
}

func bit(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

type wholeOp struct {
	float    func(float64) float64
	integer  func(int64) int64
	decimals func(decimal.Decimal) (decimal.Decimal, error)
}

func same(n int64) int64 { return n }

var (
	ceilOp  = wholeOp{math.Ceil, same, func(d decimal.Decimal) (decimal.Decimal, error) { return d.Rescale(0, decimal.Ceiling) }}
	floorOp = wholeOp{math.Floor, same, func(d decimal.Decimal) (decimal.Decimal, error) { return d.Rescale(0, decimal.Floor) }}
	absOp   = wholeOp{math.Abs, func(n int64) int64 { return max(n, -n) }, func(d decimal.Decimal) (decimal.Decimal, error) { return d.Abs(), nil }}
)

// whole compiles CEIL, FLOOR and ABS.
func whole(o wholeOp) func(*Program, *step) (kernel, batch.Type, error) {
	return func(_ *Program, s *step) (kernel, batch.Type, error) {
		t := s.fields[0].Type
		if !t.IsNumeric() {
			return nil, 0, needNumeric(s, string(s.calc.Code))
		}
		return func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
			return r.build(t, func(out *batch.Column, i int) error {
				switch t {
				case batch.Number:
					out.AppendFloat(o.float(a.Floats[i]))
				case batch.Integer:
					out.AppendInt(o.integer(a.Ints[i]))
				default:
					d, err := o.decimals(a.Decimal(i))
					out.AppendDecimal(d)
					return err
				}
				return nil
			}, a)
		}, t, nil
	}
}
