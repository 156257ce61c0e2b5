package formula

import (
	"math"
	"slices"
	"sort"
)

// sample makes a function of the numbers among its arguments: texts and booleans
// of fields do not count, literal ones are converted.
func sample(f func(x []float64) Value) *function {
	return values(1, -1, func(_ *Row, args []Value) Value {
		x, bad := sampled(args)
		if bad.Kind == Failure {
			return bad
		}
		return f(x)
	})
}

func sampled(args []Value) ([]float64, Value) {
	x := make([]float64, 0, len(args))
	for _, a := range args {
		if a.Kind == Blank || (a.cell && a.Kind != Number) {
			continue
		}
		n, bad := a.asNumber()
		if bad.Kind == Failure {
			return nil, bad
		}
		x = append(x, n)
	}
	return x, Value{}
}

// ranked makes a function of a sample and a last argument.
func ranked(f func(x []float64, k float64) Value) *function {
	return values(2, -1, func(_ *Row, args []Value) Value {
		k, bad := args[len(args)-1].asNumber()
		if bad.Kind == Failure {
			return bad
		}
		x, bad := sampled(args[:len(args)-1])
		if bad.Kind == Failure {
			return bad
		}
		sort.Float64s(x)
		if len(x) == 0 {
			return errNum
		}
		return f(x, k)
	})
}

func total(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// squares is the sum of the squared deviations from the mean.
func squares(x []float64) float64 {
	mean := total(x) / float64(len(x))
	s := 0.0
	for _, v := range x {
		s += (v - mean) * (v - mean)
	}
	return s
}

// spread makes variances and deviations; less is what the number of values is
// lowered by.
func spread(less int, finish func(float64) float64) *function {
	return sample(func(x []float64) Value {
		if len(x) <= less {
			return errDiv
		}
		return number(finish(squares(x) / float64(len(x)-less)))
	})
}

func identity(x float64) float64 { return x }

func orZero(f func([]float64) float64) *function {
	return sample(func(x []float64) Value {
		if len(x) == 0 {
			return number(0)
		}
		return number(f(x))
	})
}

func orDiv(f func([]float64) float64) *function {
	return sample(func(x []float64) Value {
		if len(x) == 0 {
			return errDiv
		}
		return number(f(x))
	})
}

func statisticFunctions() map[string]*function {
	return map[string]*function{
		"SUM": sample(func(x []float64) Value { return number(total(x)) }),
		"SUMSQ": sample(func(x []float64) Value {
			s := 0.0
			for _, v := range x {
				s += v * v
			}
			return number(s)
		}),
		"PRODUCT": sample(func(x []float64) Value {
			p := 1.0
			for _, v := range x {
				p *= v
			}
			if len(x) == 0 {
				p = 0
			}
			return number(p)
		}),
		"MIN":     orZero(slices.Min[[]float64]),
		"MAX":     orZero(slices.Max[[]float64]),
		"AVERAGE": orDiv(func(x []float64) float64 { return total(x) / float64(len(x)) }),
		"AVEDEV": orDiv(func(x []float64) float64 {
			mean, s := total(x)/float64(len(x)), 0.0
			for _, v := range x {
				s += math.Abs(v - mean)
			}
			return s / float64(len(x))
		}),
		"DEVSQ": orZero(squares),
		"GEOMEAN": sample(func(x []float64) Value {
			s := 0.0
			for _, v := range x {
				if v <= 0 {
					return errNum
				}
				s += math.Log(v)
			}
			return number(math.Exp(s / float64(len(x))))
		}),
		"MEDIAN": sample(func(x []float64) Value {
			if len(x) == 0 {
				return errNum
			}
			sort.Float64s(x)
			return number((x[(len(x)-1)/2] + x[len(x)/2]) / 2)
		}),
		"MODE": sample(mode),
		"VAR":  spread(1, identity), "VAR.S": spread(1, identity), "VARP": spread(0, identity), "VAR.P": spread(0, identity),
		"STDEV": spread(1, math.Sqrt), "STDEV.S": spread(1, math.Sqrt), "STDEVP": spread(0, math.Sqrt), "STDEV.P": spread(0, math.Sqrt),
		"LARGE": ranked(func(x []float64, k float64) Value { return nth(x, len(x)-int(k)) }),
		"SMALL": ranked(func(x []float64, k float64) Value { return nth(x, int(math.Ceil(k))-1) }),
		"PERCENTILE": ranked(func(x []float64, k float64) Value {
			if k < 0 || k > 1 {
				return errNum
			}
			at := k * float64(len(x)-1)
			i := int(at)
			return number(x[i] + (at-float64(i))*(x[min(i+1, len(x)-1)]-x[i]))
		}),
		"COUNT": {1, -1, counter(func(v Value) bool {
			if v.Kind == Text && !v.cell {
				_, ok := parseNumber(v.Text)
				return ok
			}
			return v.Kind == Number || (v.Kind == Bool && !v.cell)
		})},
		"COUNTA":     {1, -1, counter(func(v Value) bool { return v.Kind != Blank })},
		"COUNTBLANK": {1, -1, counter(func(v Value) bool { return v.Kind == Blank || (v.Kind == Text && v.Text == "") })},
	}
}

func nth(x []float64, i int) Value {
	if i < 0 || i >= len(x) {
		return errNum
	}
	return number(x[i])
}

// mode gives the number that comes most often, the first among equals.
func mode(x []float64) Value {
	counts := map[float64]int{}
	best := 1
	for _, v := range x {
		counts[v]++
		best = max(best, counts[v])
	}
	for _, v := range x {
		if best > 1 && counts[v] == best {
			return number(v)
		}
	}
	return errNA
}

// counter makes a function that counts arguments, errors included.
func counter(counts func(Value) bool) func(args []eval) eval {
	return func(args []eval) eval {
		return func(r *Row) Value {
			n := 0.0
			for _, a := range args {
				if counts(a(r)) {
					n++
				}
			}
			return number(n)
		}
	}
}
