package formula

import (
	"fmt"
	"maps"
	"math"
	"sync"
)

// function is one function of the language. build makes the node of a call.
type function struct {
	min, max int // number of arguments; max -1: any
	build    func(args []eval) eval
}

func (f *function) arity() string {
	switch {
	case f.max < 0:
		return fmt.Sprintf("at least %d arguments", f.min)
	case f.min == f.max:
		return fmt.Sprintf("%d arguments", f.min)
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

// functions by upper-case name.
var functions = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, group := range []map[string]*function{logicalFunctions(), mathFunctions(), textFunctions(), dateFunctions(), statisticFunctions()} {
		maps.Copy(all, group)
	}
	return all
})

// values makes a function that gets its arguments evaluated. An error among them
// is the result.
func values(minArgs, maxArgs int, f func(r *Row, args []Value) Value) *function {
	return &function{minArgs, maxArgs, func(args []eval) eval {
		return func(r *Row) Value {
			vals := make([]Value, len(args))
			for i, a := range args {
				if vals[i] = a(r); vals[i].Kind == Failure {
					return vals[i]
				}
			}
			return f(r, vals)
		}
	}}
}

// numbers makes a function of numbers.
func numbers(minArgs, maxArgs int, f func(x []float64) Value) *function {
	return values(minArgs, maxArgs, func(_ *Row, args []Value) Value {
		x := make([]float64, len(args))
		for i, a := range args {
			var bad Value
			if x[i], bad = a.asNumber(); bad.Kind == Failure {
				return bad
			}
		}
		return f(x)
	})
}

// one makes a function of one number.
func one(f func(float64) float64) *function {
	return numbers(1, 1, func(x []float64) Value { return number(f(x[0])) })
}

// two makes a function of two numbers.
func two(f func(x, y float64) Value) *function {
	return numbers(2, 2, func(x []float64) Value { return f(x[0], x[1]) })
}

func power(x, y float64) Value {
	if x == 0 && y == 0 {
		return errNum
	}
	if x == 0 && y < 0 {
		return errDiv
	}
	return number(math.Pow(x, y))
}

// test makes a function that looks at a value of any kind, errors included.
func test(f func(v Value) Value) *function {
	return &function{1, 1, func(args []eval) eval {
		return func(r *Row) Value { return f(args[0](r)) }
	}}
}

func logicalFunctions() map[string]*function {
	return map[string]*function{
		"TRUE":  values(0, 0, func(*Row, []Value) Value { return boolean(true) }),
		"FALSE": values(0, 0, func(*Row, []Value) Value { return boolean(false) }),
		"NA":    {0, 0, func([]eval) eval { return constant(errNA) }},
		"AND":   truths(func(yes, all int) bool { return yes == all }),
		"OR":    truths(func(yes, _ int) bool { return yes > 0 }),
		"XOR":   truths(func(yes, _ int) bool { return yes%2 == 1 }),
		"NOT": values(1, 1, func(_ *Row, a []Value) Value {
			b, bad := a[0].asBool()
			if bad.Kind == Failure {
				return bad
			}
			return boolean(!b)
		}),
		"IF":      {1, 3, buildIf},
		"IFS":     {2, -1, buildIfs},
		"SWITCH":  {3, -1, buildSwitch},
		"CHOOSE":  {2, -1, buildChoose},
		"IFERROR": {2, 2, fallback(func(v Value) bool { return v.Kind == Failure })},
		"IFNA":    {2, 2, fallback(Value.IsNA)},

		"ISNA":      test(func(v Value) Value { return boolean(v.IsNA()) }),
		"ISERROR":   test(func(v Value) Value { return boolean(v.Kind == Failure) }),
		"ISERR":     test(func(v Value) Value { return boolean(v.Kind == Failure && !v.IsNA()) }),
		"ISBLANK":   test(func(v Value) Value { return boolean(v.Kind == Blank) }),
		"ISNUMBER":  test(func(v Value) Value { return boolean(v.Kind == Number) }),
		"ISTEXT":    test(func(v Value) Value { return boolean(v.Kind == Text) }),
		"ISNONTEXT": test(func(v Value) Value { return boolean(v.Kind != Text) }),
		"ISLOGICAL": test(func(v Value) Value { return boolean(v.Kind == Bool) }),
		"ISREF":     test(func(v Value) Value { return boolean(v.cell) }),
		"ISEVEN":    parity(0),
		"ISODD":     parity(1),
		"N": test(func(v Value) Value {
			switch v.Kind {
			case Number, Bool:
				return number(v.Num)
			case Failure:
				return v
			}
			return number(0)
		}),
		"T": test(func(v Value) Value {
			if v.Kind == Text || v.Kind == Failure {
				return v
			}
			return text("")
		}),
		"TYPE": test(func(v Value) Value {
			return number([]float64{Blank: 1, Number: 1, Text: 2, Bool: 4, Failure: 16}[v.Kind])
		}),
		"ERROR.TYPE": test(func(v Value) Value {
			for i, e := range []Value{errNull, errDiv, errValue, errRef, errName, errNum, errNA} {
				if v.Kind == Failure && v.Text == e.Text {
					return number(float64(i + 1))
				}
			}
			return errNA
		}),
	}
}

func parity(rest float64) *function {
	return numbers(1, 1, func(x []float64) Value { return boolean(math.Mod(math.Floor(math.Abs(x[0])), 2) == rest) })
}

// truths makes AND, OR and XOR: blanks do not count, nor do texts of fields.
func truths(holds func(yes, all int) bool) *function {
	return values(1, -1, func(_ *Row, args []Value) Value {
		yes, all := 0, 0
		for _, a := range args {
			if a.Kind == Blank || (a.cell && a.Kind == Text) {
				continue
			}
			b, bad := a.asBool()
			if bad.Kind == Failure {
				return bad
			}
			all++
			if b {
				yes++
			}
		}
		if all == 0 {
			return errValue
		}
		return boolean(holds(yes, all))
	})
}

func buildIf(args []eval) eval {
	return func(r *Row) Value {
		b, bad := args[0](r).asBool()
		switch {
		case bad.Kind == Failure:
			return bad
		case b && len(args) > 1:
			return args[1](r)
		case !b && len(args) > 2:
			return args[2](r)
		}
		return boolean(b)
	}
}

func buildIfs(args []eval) eval {
	return func(r *Row) Value {
		for i := 0; i+1 < len(args); i += 2 {
			b, bad := args[i](r).asBool()
			if bad.Kind == Failure {
				return bad
			}
			if b {
				return args[i+1](r)
			}
		}
		return errNA
	}
}

func buildSwitch(args []eval) eval {
	return func(r *Row) Value {
		v := args[0](r)
		if v.Kind == Failure {
			return v
		}
		i := 1
		for ; i+1 < len(args); i += 2 {
			if c := args[i](r); c.Kind != Failure && compare(v, c) == 0 {
				return args[i+1](r)
			}
		}
		if i < len(args) {
			return args[i](r)
		}
		return errNA
	}
}

func buildChoose(args []eval) eval {
	return func(r *Row) Value {
		n, bad := args[0](r).asNumber()
		if bad.Kind == Failure {
			return bad
		}
		if n < 1 || int(n) >= len(args) {
			return errValue
		}
		return args[int(n)](r)
	}
}

func fallback(when func(Value) bool) func(args []eval) eval {
	return func(args []eval) eval {
		return func(r *Row) Value {
			if v := args[0](r); !when(v) {
				return v
			}
			return args[1](r)
		}
	}
}
