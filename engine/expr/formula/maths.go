package formula

import (
	"math"

	"sluice/engine/batch/decimal"
)

func mathFunctions() map[string]*function {
	return map[string]*function{
		"ABS": one(math.Abs), "ACOS": one(math.Acos), "ACOSH": one(math.Acosh), "ASIN": one(math.Asin), "ASINH": one(math.Asinh),
		"ATAN": one(math.Atan), "ATANH": one(math.Atanh), "COS": one(math.Cos), "COSH": one(math.Cosh), "SIN": one(math.Sin),
		"SINH": one(math.Sinh), "TAN": one(math.Tan), "TANH": one(math.Tanh), "EXP": one(math.Exp), "SQRT": one(math.Sqrt),
		"LN": one(positive(math.Log)), "LOG10": one(positive(math.Log10)), "INT": one(math.Floor),
		"DEGREES": one(func(x float64) float64 { return x * 180 / math.Pi }),
		"RADIANS": one(func(x float64) float64 { return x * math.Pi / 180 }),
		"SIGN":    one(sign),
		"EVEN":    one(func(x float64) float64 { return awayTo(x, 2, 0) }),
		"ODD":     one(func(x float64) float64 { return awayTo(x, 2, 1) }),
		"SQRTPI":  one(func(x float64) float64 { return math.Sqrt(x * math.Pi) }),
		"FACT":    numbers(1, 1, func(x []float64) Value { return factorial(math.Floor(x[0]), 1) }),
		"FACTDOUBLE": numbers(1, 1, func(x []float64) Value {
			return factorial(math.Floor(x[0]), 2)
		}),
		"PI":   numbers(0, 0, func([]float64) Value { return number(math.Pi) }),
		"RAND": values(0, 0, func(r *Row, _ []Value) Value { return number(r.random()) }),
		"RANDBETWEEN": values(2, 2, func(r *Row, a []Value) Value {
			lo, bad := a[0].asNumber()
			if bad.Kind == Failure {
				return bad
			}
			hi, bad := a[1].asNumber()
			if bad.Kind == Failure {
				return bad
			}
			if lo, hi = math.Ceil(lo), math.Floor(hi); lo > hi {
				return errNum
			}
			return number(lo + math.Floor(r.random()*(hi-lo+1)))
		}),
		"LOG": numbers(1, 2, func(x []float64) Value {
			base := 10.0
			if len(x) > 1 {
				base = x[1]
			}
			if x[0] <= 0 || base <= 0 {
				return errNum
			}
			return divide(math.Log(x[0]), math.Log(base))
		}),
		"POWER": two(power),
		"ATAN2": two(func(x, y float64) Value {
			if x == 0 && y == 0 {
				return errDiv
			}
			return number(math.Atan2(y, x))
		}),
		"MOD": two(func(x, y float64) Value {
			if y == 0 {
				return errDiv
			}
			return number(x - y*math.Floor(x/y))
		}),
		"QUOTIENT": two(func(x, y float64) Value {
			if y == 0 {
				return errDiv
			}
			return number(math.Trunc(x / y))
		}),
		"ROUND":     two(rounding(decimal.HalfUp)),
		"ROUNDUP":   two(rounding(decimal.Up)),
		"ROUNDDOWN": two(rounding(decimal.Down)),
		"TRUNC": numbers(1, 2, func(x []float64) Value {
			return rounding(decimal.Down)(x[0], append(x[1:], 0)[0])
		}),
		"MROUND": two(func(x, y float64) Value {
			if y == 0 {
				return number(0)
			}
			if x*y < 0 {
				return errNum
			}
			return number(y * math.Floor(x/y+0.5))
		}),
		"CEILING": two(func(x, y float64) Value { return multiple(x, y, math.Ceil) }),
		"FLOOR":   two(func(x, y float64) Value { return multiple(x, y, math.Floor) }),
		"COMBIN": two(func(n, k float64) Value {
			n, k = math.Floor(n), math.Floor(k)
			if n < 0 || k < 0 || k > n {
				return errNum
			}
			out := 1.0
			k = min(k, n-k)
			for i := 1.0; i <= k && !math.IsInf(out, 0); i++ {
				out = out * (n - k + i) / i
			}
			return number(math.Round(out))
		}),
		"PERMUT": two(func(n, k float64) Value {
			n, k = math.Floor(n), math.Floor(k)
			if n < 0 || k < 0 || k > n {
				return errNum
			}
			out := 1.0
			for i := range int(min(k, 1000)) {
				out *= n - float64(i)
			}
			return number(out)
		}),
		"GCD": numbers(1, -1, func(x []float64) Value { return folded(x, gcd) }),
		"LCM": numbers(1, -1, func(x []float64) Value {
			return folded(x, func(a, b float64) float64 {
				if a == 0 || b == 0 {
					return 0
				}
				return a / gcd(a, b) * b
			})
		}),
		"DELTA": numbers(1, 2, func(x []float64) Value { return number(boolean(x[0] == append(x[1:], 0)[0]).Num) }),
	}
}

func (r *Row) random() float64 {
	if r.f.o.Random == nil {
		return 0
	}
	return r.f.o.Random()
}

func positive(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x <= 0 {
			return math.NaN()
		}
		return f(x)
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// awayTo gives the next integer away from zero that leaves a rest.
func awayTo(x, step, rest float64) float64 {
	a := math.Ceil((math.Abs(x)-rest)/step)*step + rest
	if a < rest {
		a = rest
	}
	if x < 0 {
		return -a
	}
	return a
}

func factorial(n, step float64) Value {
	if n < 0 {
		return errNum
	}
	out := 1.0
	for ; n > 1 && !math.IsInf(out, 0); n -= step {
		out *= n
	}
	return number(out)
}

const maxDigits = 300

// rounding rounds the shortest decimal text of a number, so that 2.345 rounds
// as it reads.
func rounding(mode decimal.Rounding) func(x, digits float64) Value {
	return func(x, digits float64) Value {
		d, err := decimal.FromFloat64(x)
		if err == nil {
			d, err = d.Rescale(int32(max(-maxDigits, min(maxDigits, digits))), mode)
		}
		if err != nil {
			return errNum
		}
		return number(d.Float64())
	}
}

// multiple rounds to a multiple of y, for CEILING and FLOOR.
func multiple(x, y float64, f func(float64) float64) Value {
	switch {
	case x == 0:
		return number(0)
	case x > 0 && y < 0:
		return errNum
	case y == 0:
		return errDiv
	}
	return number(y * f(x/y))
}

func gcd(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return a
}

func folded(x []float64, f func(a, b float64) float64) Value {
	out := 0.0
	for i, v := range x {
		v = math.Floor(v)
		if v < 0 {
			return errNum
		}
		if i == 0 {
			out = v
			continue
		}
		out = f(out, v)
	}
	return number(out)
}
