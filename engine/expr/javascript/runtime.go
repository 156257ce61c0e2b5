package javascript

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
	"sluice/engine/expr/javaregex"
	"sluice/engine/files"
)

// Host is what scripts may reach. Functions that are nil do nothing.
type Host struct {
	Transform   string
	Pipeline    string
	Location    *time.Location // of dates; nil is UTC
	Now         func() time.Time
	Random      func() float64
	Log         func(level, message string)
	Variable    func(name string) (string, bool)
	SetVariable func(name, value, scope string) error // scope: s, r, p or g
	Files       files.Store
	Count       func(kind string) int64 // rows by "i", "o", "r", "u", "w", "e"
}

// Runtime is one interpreter. It belongs to one goroutine at a time.
type Runtime struct {
	vm   *goja.Runtime
	host Host
	ctx  context.Context // of the Run under way, for functions that reach files

	patterns map[string]*javaregex.Regexp
	dates    goja.Value // the Date constructor, also when a script hides it
}

// maxCalls bounds the depth of calls, so that endless recursion is an error of
// the script.
const maxCalls = 2000

// New makes an interpreter with Hop's functions.
func New(host Host) *Runtime {
	if host.Location == nil {
		host.Location = time.UTC
	}
	if host.Now == nil {
		host.Now = func() time.Time { return time.Unix(0, 0) }
	}
	r := &Runtime{vm: goja.New(), host: host, patterns: map[string]*javaregex.Regexp{}}
	r.vm.SetMaxCallStackSize(maxCalls)
	r.vm.SetTimeSource(func() time.Time { return host.Now().In(host.Location) })
	if host.Random != nil {
		r.vm.SetRandSource(host.Random)
	}
	r.vm.SetFieldNameMapper(goja.UncapFieldNameMapper())
	r.dates = r.vm.Get("Date")
	r.install()
	return r
}

// Run runs a script in the global scope and gives its last value. Cancelling ctx
// ends it. The error is an *Error.
func (r *Runtime) Run(ctx context.Context, s *Script) (goja.Value, error) {
	r.ctx = ctx
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { r.vm.Interrupt(context.Cause(ctx)) })
		defer stop()
	}
	v, err := r.vm.RunProgram(s.program)
	if err != nil {
		return nil, r.failure(s, err)
	}
	return v, nil
}

func (r *Runtime) failure(s *Script, err error) error {
	if interrupted, ok := errors.AsType[*goja.InterruptedError](err); ok {
		r.vm.ClearInterrupt()
		if cause, ok := interrupted.Value().(error); ok {
			return cause
		}
	}
	e := &Error{Script: s.name, Message: err.Error(), Err: err}
	var x *goja.Exception
	if !errors.As(err, &x) {
		return e
	}
	e.Message = x.Value().String()
	for _, f := range x.Stack() {
		if f.SrcName() == s.name {
			e.Line = f.Position().Line
			break
		}
	}
	if strings.Contains(e.Message, noJava) {
		e.Hint = "use plain JavaScript or the script functions instead"
	}
	return e
}

// Set gives a global a value of a row: texts, numbers, booleans and dates become
// JavaScript's own, a BigNumber an object that stays exact, a null null.
func (r *Runtime) Set(name string, v batch.Value) error { return r.vm.Set(name, r.toJS(v)) }

// SetAny gives a global any Go value.
func (r *Runtime) SetAny(name string, v any) error { return r.vm.Set(name, v) }

// Provide gives a global any Go value, also where scripts cannot set one, such as
// java.
func (r *Runtime) Provide(name string, v any) error {
	return r.vm.GlobalObject().DefineDataProperty(name, r.vm.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Global gives a global, nil when it does not exist.
func (r *Runtime) Global(name string) goja.Value { return r.vm.GlobalObject().Get(name) }

func (r *Runtime) toJS(v batch.Value) goja.Value {
	if !v.Valid {
		return goja.Null()
	}
	switch v.Type {
	case batch.Integer:
		return r.vm.ToValue(v.Int)
	case batch.Number:
		return r.vm.ToValue(v.Float)
	case batch.Boolean:
		return r.vm.ToValue(v.Int != 0)
	case batch.Date, batch.Timestamp:
		return r.date(v.Millis())
	case batch.BigNumber:
		return r.vm.ToValue(&BigDecimal{v.Dec})
	case batch.Binary:
		return r.vm.ToValue(r.vm.NewArrayBuffer([]byte(v.Text)))
	}
	return r.vm.ToValue(v.Text)
}

func (r *Runtime) date(ms int64) goja.Value {
	d, err := r.vm.New(r.dates, r.vm.ToValue(ms))
	if err != nil {
		panic(err) // the constructor takes any number
	}
	return d
}

// BigDecimal is a BigNumber as scripts see it: Java's method names, and a number
// where one is needed.
type BigDecimal struct{ d decimal.Decimal }

// ValueOf gives the number that arithmetic uses.
func (b *BigDecimal) ValueOf() float64 { return b.d.Float64() }

// DoubleValue is ValueOf by Java's name.
func (b *BigDecimal) DoubleValue() float64 { return b.d.Float64() }

// LongValue gives the integer part.
func (b *BigDecimal) LongValue() int64 { n, _ := b.d.Int64(); return n }

// IntValue gives the integer part.
func (b *BigDecimal) IntValue() int64 { return b.LongValue() }

// ToString gives Java's text of the number.
func (b *BigDecimal) ToString() string { return b.d.String() }

// Add gives the sum.
func (b *BigDecimal) Add(o *BigDecimal) (*BigDecimal, error) { return wrap(b.d.Add(o.d)) }

// Subtract gives the difference.
func (b *BigDecimal) Subtract(o *BigDecimal) (*BigDecimal, error) { return wrap(b.d.Sub(o.d)) }

// Multiply gives the product.
func (b *BigDecimal) Multiply(o *BigDecimal) (*BigDecimal, error) { return wrap(b.d.Mul(o.d)) }

// Divide gives the quotient to 34 digits.
func (b *BigDecimal) Divide(o *BigDecimal) (*BigDecimal, error) { return wrap(b.d.QuoDecimal128(o.d)) }

// Negate gives the opposite.
func (b *BigDecimal) Negate() *BigDecimal { return &BigDecimal{b.d.Neg()} }

// CompareTo is negative, 0 or positive.
func (b *BigDecimal) CompareTo(o *BigDecimal) int { return b.d.Cmp(o.d) }

func wrap(d decimal.Decimal, err error) (*BigDecimal, error) { return &BigDecimal{d}, err }

// Value converts a script's value to a type as Hop does; undefined is null. Text
// becomes a number when it is one. The error says what the value was.
func (r *Runtime) Value(v goja.Value, t batch.Type) (batch.Value, error) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return batch.Null(t), nil
	}
	switch t {
	case batch.String, batch.JSON:
		return batch.Value{Type: t, Valid: true, Text: v.String()}, nil
	case batch.Boolean:
		return batch.BooleanValue(truth(v)), nil
	case batch.Number:
		f, err := toFloat(v)
		return batch.NumberValue(f), err
	case batch.Integer:
		return toInteger(v)
	case batch.BigNumber:
		return toDecimal(v)
	case batch.Date, batch.Timestamp:
		return toDate(v, t)
	case batch.Binary:
		if b, ok := v.Export().(goja.ArrayBuffer); ok {
			return batch.Value{Type: t, Valid: true, Text: string(b.Bytes())}, nil
		}
		if b, ok := v.Export().([]byte); ok {
			return batch.Value{Type: t, Valid: true, Text: string(b)}, nil
		}
		return batch.Value{Type: t, Valid: true, Text: v.String()}, nil
	}
	return batch.Null(t), fmt.Errorf("a script cannot give a value of type %s", t)
}

func truth(v goja.Value) bool {
	if s, ok := v.Export().(string); ok {
		switch strings.ToLower(s) {
		case "false", "n", "no", "":
			return false
		}
	}
	return v.ToBoolean()
}

func toFloat(v goja.Value) (float64, error) {
	switch x := v.Export().(type) {
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", x)
		}
		return f, nil
	case time.Time:
		return float64(x.UnixMilli()), nil
	case *BigDecimal:
		return x.d.Float64(), nil
	}
	return v.ToFloat(), nil
}

func toInteger(v goja.Value) (batch.Value, error) {
	switch x := v.Export().(type) {
	case int64:
		return batch.IntegerValue(x), nil
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(x), 10, 64); err == nil {
			return batch.IntegerValue(n), nil
		}
	}
	f, err := toFloat(v)
	switch {
	case err != nil:
		return batch.Null(batch.Integer), err
	case f != f:
		return batch.IntegerValue(0), nil
	case f >= math.MaxInt64:
		return batch.IntegerValue(math.MaxInt64), nil
	case f <= math.MinInt64:
		return batch.IntegerValue(math.MinInt64), nil
	}
	return batch.IntegerValue(int64(f)), nil
}

func toDecimal(v goja.Value) (batch.Value, error) {
	switch x := v.Export().(type) {
	case *BigDecimal:
		return batch.DecimalValue(x.d), nil
	case int64:
		return batch.DecimalValue(decimal.FromInt64(x)), nil
	case string:
		d, err := decimal.Parse(strings.TrimSpace(x))
		return batch.DecimalValue(d), err
	}
	d, ok := batch.DecimalOf(v.ToFloat())
	if !ok {
		return batch.Null(batch.BigNumber), fmt.Errorf("%s cannot become a BigNumber", v)
	}
	return batch.DecimalValue(d), nil
}

func toDate(v goja.Value, t batch.Type) (batch.Value, error) {
	var ms int64
	if x, ok := v.Export().(time.Time); ok {
		ms = x.UnixMilli()
	} else {
		f := v.ToFloat()
		if f != f {
			return batch.Null(t), fmt.Errorf("%q is not a date; use str2date(text, mask)", v.String())
		}
		ms = int64(f)
	}
	if t == batch.Timestamp {
		ms *= 1000
	}
	return batch.Value{Type: t, Valid: true, Int: ms}, nil
}

// numberText is num2str with a mask.
func numberText(f float64, pattern string) (string, error) {
	m, err := mask.CompileNumber(pattern, mask.NumberOptions{})
	if err != nil {
		return "", err
	}
	out, err := m.AppendFloat64(nil, f)
	return string(out), err
}

func (r *Runtime) dateMask(pattern, locale, zone string) (*mask.DateMask, error) {
	o := mask.DateOptions{Location: r.host.Location, Lenient: true, Locale: locale}
	if zone != "" {
		loc, ok := mask.LoadLocation(zone)
		if !ok {
			return nil, fmt.Errorf("time zone %q is not known", zone)
		}
		o.Location = loc
	}
	return mask.CompileDate(pattern, o)
}

// Script gives a value of a row as scripts see it.
func (r *Runtime) Script(v batch.Value) goja.Value { return r.toJS(v) }
