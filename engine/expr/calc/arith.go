package calc

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

type op int

const (
	opAdd op = iota
	opSubtract
	opMultiply
	opDivide
	opRemainder
)

var errDivideByZero = errors.New("division by zero")

func nothing(_ *Program, s *step) (kernel, batch.Type, error) {
	return func(r *run, _, _, _ *batch.Column) (*batch.Column, error) {
		return r.p.o.Alloc.Repeat(batch.Null(s.calc.Target.Type), s.calc.Target.Type, r.n), nil
	}, s.calc.Target.Type, nil
}

// constantKernel reads the text once when the target's type allows it.
func constantKernel(p *Program, s *step) (kernel, batch.Type, error) {
	t := &s.calc.Target
	codec, err := p.o.Semantics.Codec(t)
	if err != nil {
		return nil, 0, err
	}
	v, err := codec.Parse([]byte(s.calc.A))
	if err != nil {
		return nil, 0, err
	}
	return func(r *run, _, _, _ *batch.Column) (*batch.Column, error) {
		return r.p.o.Alloc.Repeat(v, t.Type, r.n), nil
	}, t.Type, nil
}

func copyKernel(_ *Program, s *step) (kernel, batch.Type, error) {
	return func(_ *run, a, _, _ *batch.Column) (*batch.Column, error) { return a.Retain(), nil }, s.fields[0].Type, nil
}

// as gives a kernel that has argument k converted to a type first.
func (p *Program) as(s *step, k int, t batch.Type, next kernel) (kernel, error) {
	f := s.fields[k]
	if f.Type == t {
		return next, nil
	}
	to := batch.NewField(f.Name, t)
	if f.Type == batch.String {
		to.Mask, to.Decimal, to.Grouping, to.Currency = f.Mask, f.Decimal, f.Grouping, f.Currency
	}
	conv, err := p.o.Semantics.Converter(f, &to)
	if err != nil {
		return nil, err
	}
	return func(r *run, a, b, c *batch.Column) (*batch.Column, error) {
		args := [3]*batch.Column{a, b, c}
		col, err := conv.Column(r.b, args[k], func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
		if err != nil {
			return nil, err
		}
		defer col.Release()
		args[k] = col
		return next(r, args[0], args[1], args[2])
	}, nil
}

// all converts the first n arguments to one type each.
func (p *Program) all(s *step, next kernel, types ...batch.Type) (kernel, error) {
	for k, t := range types {
		var err error
		if next, err = p.as(s, k, t, next); err != nil {
			return nil, err
		}
	}
	return next, nil
}

func needNumeric(s *step, what string) error {
	return fmt.Errorf("%s works on numbers only; field %q is %s", what, s.fields[0].Name, s.fields[0].Type)
}

// arithmetic compiles the four operations and the remainder.
func arithmetic(o op) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		a, b := s.fields[0].Type, s.fields[1].Type
		switch {
		case o == opAdd && a == batch.String:
			k, err := p.all(s, concat, batch.String, batch.String)
			return k, batch.String, err
		case o == opAdd && a == batch.Boolean:
			k, err := p.all(s, anyTrue, batch.Boolean, batch.Boolean)
			return k, batch.Boolean, err
		case o == opMultiply && a == batch.String && b.IsNumeric():
			k, err := p.all(s, repeatText, batch.String, batch.Integer)
			return k, batch.String, err
		case o == opMultiply && b == batch.String && a.IsNumeric():
			swapped := func(r *run, a, b, _ *batch.Column) (*batch.Column, error) { return repeatText(r, b, a, nil) }
			k, err := p.all(s, swapped, batch.Integer, batch.String)
			return k, batch.String, err
		case o == opSubtract && !a.IsNumeric():
			k, err := p.all(s, intKernel(o), batch.Integer, batch.Integer)
			return k, batch.Integer, err
		}
		return numeric(p, s, o)
	}
}

func numeric(p *Program, s *step, o op) (kernel, batch.Type, error) {
	switch a := s.fields[0].Type; a {
	case batch.Number:
		k := floatKernel(o)
		if s.fields[1].Type == batch.Integer {
			return k, a, nil // widened on the way
		}
		k, err := p.all(s, k, a, a)
		return k, a, err
	case batch.Integer:
		k, err := p.all(s, intKernel(o), a, a)
		return k, a, err
	case batch.BigNumber:
		k, err := p.all(s, decimalKernel(o), a, a)
		return k, a, err
	}
	return nil, 0, needNumeric(s, string(s.calc.Code))
}

// floatKernel computes with Numbers; B may be an Integer, widened on the way.
func floatKernel(o op) kernel {
	return func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		out := r.p.o.Alloc.Column(batch.Number)
		out.Extend(r.n)
		x, z := a.Floats[:r.n], out.Floats[:r.n]
		switch {
		case b.Type == batch.Number && r.b.Sel == nil:
			floatDense(o, z, x, b.Floats[:r.n])
		case b.Type == batch.Number:
			floatSelected(o, z, x, b.Floats[:r.n], r.b.Sel)
		case r.b.Sel == nil:
			floatDense(o, z, x, b.Ints[:r.n])
		default:
			floatSelected(o, z, x, b.Ints[:r.n], r.b.Sel)
		}
		nulls(out, r.n, a, b)
		return out, nil
	}
}

func floatDense[Y int64 | float64](o op, z, x []float64, y []Y) {
	y, z = y[:len(x)], z[:len(x)]
	switch o {
	case opAdd:
		for i, v := range x {
			z[i] = v + float64(y[i])
		}
	case opSubtract:
		for i, v := range x {
			z[i] = v - float64(y[i])
		}
	case opMultiply:
		for i, v := range x {
			z[i] = v * float64(y[i])
		}
	case opDivide:
		for i, v := range x {
			z[i] = v / float64(y[i])
		}
	default:
		for i, v := range x {
			z[i] = math.Mod(v, float64(y[i]))
		}
	}
}

func floatSelected[Y int64 | float64](o op, z, x []float64, y []Y, sel []int32) {
	switch o {
	case opAdd:
		for _, i := range sel {
			z[i] = x[i] + float64(y[i])
		}
	case opSubtract:
		for _, i := range sel {
			z[i] = x[i] - float64(y[i])
		}
	case opMultiply:
		for _, i := range sel {
			z[i] = x[i] * float64(y[i])
		}
	case opDivide:
		for _, i := range sel {
			z[i] = x[i] / float64(y[i])
		}
	default:
		for _, i := range sel {
			z[i] = math.Mod(x[i], float64(y[i]))
		}
	}
}

func intKernel(o op) kernel {
	if o == opDivide || o == opRemainder {
		return intDivision(o)
	}
	return func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		out := r.p.o.Alloc.Column(batch.Integer)
		out.Extend(r.n)
		x, y, z := a.Ints[:r.n], b.Ints[:r.n], out.Ints[:r.n]
		switch {
		case r.b.Sel != nil:
			f := intOps[o]
			for _, i := range r.b.Sel {
				z[i] = f(x[i], y[i])
			}
		case o == opAdd:
			for i, v := range x {
				z[i] = v + y[i]
			}
		case o == opSubtract:
			for i, v := range x {
				z[i] = v - y[i]
			}
		default:
			for i, v := range x {
				z[i] = v * y[i]
			}
		}
		nulls(out, r.n, a, b)
		return out, nil
	}
}

var intOps = [...]func(x, y int64) int64{
	opAdd:      func(x, y int64) int64 { return x + y },
	opSubtract: func(x, y int64) int64 { return x - y },
	opMultiply: func(x, y int64) int64 { return x * y },
}

// divideInts is Java's: it truncates, and the smallest value over -1 stays.
func divideInts(x, y int64) (int64, error) {
	switch y {
	case 0:
		return 0, errDivideByZero
	case -1:
		return -x, nil
	}
	return x / y, nil
}

func intDivision(o op) kernel {
	return func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Integer, func(out *batch.Column, i int) error {
			q, err := divideInts(a.Ints[i], b.Ints[i])
			if o == opRemainder && err == nil {
				q = a.Ints[i] - q*b.Ints[i]
			}
			out.AppendInt(q)
			return err
		}, a, b)
	}
}

func decimalKernel(o op) kernel {
	f := decimalOps[o]
	return func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.BigNumber, func(out *batch.Column, i int) error {
			v, err := f(a.Decimal(i), b.Decimal(i))
			out.AppendDecimal(v)
			return err
		}, a, b)
	}
}

var decimalOps = [...]func(x, y decimal.Decimal) (decimal.Decimal, error){
	opAdd:       decimal.Decimal.Add,
	opSubtract:  decimal.Decimal.Sub,
	opMultiply:  decimal.Decimal.Mul,
	opDivide:    decimal.Decimal.QuoDecimal128,
	opRemainder: decimal.Decimal.Rem,
}

func concat(r *run, a, b, c *batch.Column) (*batch.Column, error) {
	return r.build(batch.String, func(out *batch.Column, i int) error {
		out.Data = append(out.Data, a.Bytes(i)...)
		out.Data = append(out.Data, b.Bytes(i)...)
		if c != nil {
			out.Data = append(out.Data, c.Bytes(i)...)
		}
		out.EndValue()
		return nil
	}, a, b, c)
}

func anyTrue(r *run, a, b, c *batch.Column) (*batch.Column, error) {
	return r.build(batch.Boolean, func(out *batch.Column, i int) error {
		out.AppendBool(a.Bool(i) || b.Bool(i) || (c != nil && c.Bool(i)))
		return nil
	}, a, b, c)
}

// maxRepeat bounds what MULTIPLY makes of a text, in bytes.
const maxRepeat = 64 << 20

// repeatText is Java's: 0 gives nothing, a negative count gives the text once.
func repeatText(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
	return r.build(batch.String, func(out *batch.Column, i int) error {
		n := b.Ints[i]
		if n < 0 {
			n = 1
		}
		if text := a.Str(i); n > 0 && int64(len(text)) > maxRepeat/n {
			return fmt.Errorf("a text of %d bytes repeated %d times is too long", len(text), n)
		} else if n <= math.MaxInt32 {
			out.AppendString(strings.Repeat(text, int(n)))
			return nil
		}
		out.AppendString("")
		return nil
	}, a, b)
}

func squareKernel(p *Program, s *step) (kernel, batch.Type, error) {
	s.fields[1] = s.fields[0]
	k, t, err := numeric(p, s, opMultiply)
	if err != nil {
		return nil, 0, err
	}
	return func(r *run, a, _, _ *batch.Column) (*batch.Column, error) { return k(r, a, a, nil) }, t, nil
}

func squareRoot(p *Program, s *step) (kernel, batch.Type, error) {
	if !s.fields[0].Type.IsNumeric() {
		return nil, 0, needNumeric(s, "SQRT")
	}
	k, err := p.as(s, 0, batch.Number, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Number, func(out *batch.Column, i int) error {
			out.AppendFloat(math.Sqrt(a.Floats[i]))
			return nil
		}, a)
	})
	return k, batch.Number, err
}

func add3(p *Program, s *step) (kernel, batch.Type, error) {
	switch t := s.fields[0].Type; t {
	case batch.String:
		k, err := p.all(s, concat, t, t, t)
		return k, t, err
	case batch.Boolean:
		k, err := p.all(s, anyTrue, t, t, t)
		return k, t, err
	default:
		return three(p, s,
			func(x, y, z float64) float64 { return x + y + z },
			func(x, y, z int64) int64 { return x + y + z },
			func(x, y, z decimal.Decimal) (decimal.Decimal, error) {
				yz, err := y.Add(z)
				if err != nil {
					return yz, err
				}
				return x.Add(yz)
			})
	}
}

func combination1(p *Program, s *step) (kernel, batch.Type, error) {
	return three(p, s,
		func(x, y, z float64) float64 { return x + float64(y*z) },
		func(x, y, z int64) int64 { return x + y*z },
		func(x, y, z decimal.Decimal) (decimal.Decimal, error) {
			yz, err := y.Mul(z)
			if err != nil {
				return yz, err
			}
			return x.Add(yz)
		})
}

// three compiles an operation on three numbers of A's type.
func three(p *Program, s *step, f func(x, y, z float64) float64, n func(x, y, z int64) int64, d func(x, y, z decimal.Decimal) (decimal.Decimal, error)) (kernel, batch.Type, error) {
	t := s.fields[0].Type
	if !t.IsNumeric() {
		return nil, 0, needNumeric(s, string(s.calc.Code))
	}
	k, err := p.all(s, func(r *run, a, b, c *batch.Column) (*batch.Column, error) {
		return r.build(t, func(out *batch.Column, i int) error {
			switch t {
			case batch.Number:
				out.AppendFloat(f(a.Floats[i], b.Floats[i], c.Floats[i]))
			case batch.Integer:
				out.AppendInt(n(a.Ints[i], b.Ints[i], c.Ints[i]))
			default:
				v, err := d(a.Decimal(i), b.Decimal(i), c.Decimal(i))
				out.AppendDecimal(v)
				return err
			}
			return nil
		}, a, b, c)
	}, t, t, t)
	return k, t, err
}

func combination2(p *Program, s *step) (kernel, batch.Type, error) {
	if !s.fields[0].Type.IsNumeric() {
		return nil, 0, needNumeric(s, "COMBINATION_2")
	}
	k, err := p.all(s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Number, func(out *batch.Column, i int) error {
			x, y := a.Floats[i], b.Floats[i]
			out.AppendFloat(math.Sqrt(float64(x*x) + float64(y*y)))
			return nil
		}, a, b)
	}, batch.Number, batch.Number)
	return k, batch.Number, err
}

const (
	opPercent1 op = iota
	opPercent2
	opPercent3
)

var hundred = decimal.FromInt64(100)

// percent compiles 100·A/B, A-A·B/100 and A+A·B/100.
func percent(o op) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		t := s.fields[0].Type
		if !t.IsNumeric() {
			return nil, 0, needNumeric(s, "a percentage")
		}
		k, err := p.all(s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
			return r.build(t, func(out *batch.Column, i int) error {
				switch t {
				case batch.Number:
					out.AppendFloat(percentFloat(o, a.Floats[i], b.Floats[i]))
					return nil
				case batch.Integer:
					v, err := percentInt(o, a.Ints[i], b.Ints[i])
					out.AppendInt(v)
					return err
				}
				v, err := percentDecimal(o, a.Decimal(i), b.Decimal(i))
				out.AppendDecimal(v)
				return err
			}, a, b)
		}, t, t)
		return k, t, err
	}
}

func percentFloat(o op, a, b float64) float64 {
	switch o {
	case opPercent1:
		return float64(100*a) / b
	case opPercent2:
		return a - float64(a*b)/100
	}
	return a + float64(a*b)/100
}

func percentInt(o op, a, b int64) (int64, error) {
	switch o {
	case opPercent1:
		return divideInts(100*a, b)
	case opPercent2:
		return a - a*b/100, nil
	}
	return a + a*b/100, nil
}

func percentDecimal(o op, a, b decimal.Decimal) (decimal.Decimal, error) {
	if o == opPercent1 {
		n, err := a.Mul(hundred)
		if err != nil {
			return n, err
		}
		return n.QuoDecimal128(b)
	}
	part, err := a.Mul(b)
	if err == nil {
		part, err = part.QuoDecimal128(hundred)
	}
	if err != nil {
		return part, err
	}
	if o == opPercent2 {
		return a.Sub(part)
	}
	return a.Add(part)
}

// nvl gives A, or B as A's type where A is null.
func nvl(p *Program, s *step) (kernel, batch.Type, error) {
	t := s.fields[0].Type
	k, err := p.as(s, 1, t, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		if a.Nulls() == 0 {
			return a.Retain(), nil
		}
		return r.build(t, func(out *batch.Column, i int) error {
			if a.IsNull(i) {
				out.AppendFrom(b, i)
			} else {
				out.AppendFrom(a, i)
			}
			return nil
		})
	})
	return k, t, err
}
