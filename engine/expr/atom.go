package expr

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
)

// atom compiles one comparison.
func (c *compiler) atom(a *Condition) (node, error) {
	if a.Function == True {
		return constant(!a.Negated), nil
	}
	left := c.schema.Index(a.Left)
	if left < 0 {
		if c.o.Lax || a.Left == "" {
			return constant(false), nil // not negated, as in Hop
		}
		return nil, c.missing(a.Left)
	}
	right := -1
	if a.Right != "" {
		if right = c.schema.Index(a.Right); right < 0 && a.Function != IsNull && a.Function != IsNotNull {
			return nil, c.missing(a.Right)
		}
	}
	n, err := c.comparison(a, newOperand(c.schema, left, c.o.Semantics), right)
	if err != nil {
		return nil, err
	}
	if !a.Negated {
		return n, nil
	}
	if r, ok := n.(inverter); ok {
		if inverted, ok := r.inverted(); ok {
			return inverted, nil
		}
	}
	return not{n}, nil
}

// inverter is an atom with a kernel for its opposite.
type inverter interface{ inverted() (node, bool) }

func (c *compiler) comparison(a *Condition, left *operand, right int) (node, error) {
	sem := c.o.Semantics
	switch a.Function {
	case IsNull:
		return &nullTest{left: left, want: true}, nil
	case IsNotNull:
		return &nullTest{left: left}, nil
	}
	if op, ok := orders[a.Function]; ok {
		if right >= 0 {
			return c.compareFields(op, left, newOperand(c.schema, right, sem)), nil
		}
		v, f, err := c.constant(a.Constant, left.field)
		if err != nil {
			return nil, err
		}
		return c.compareConstant(op, left, v, f), nil
	}
	m := &textTest{left: left, sem: sem, fn: a.Function}
	if right >= 0 {
		m.right = newOperand(c.schema, right, sem)
		return m, nil
	}
	v, f, err := c.constant(a.Constant, left.field)
	if err != nil {
		return nil, err
	}
	return m.withConstant(v, f)
}

// constant reads the constant with its own type and mask.
func (c *compiler) constant(k *Constant, left *batch.Field) (batch.Value, *batch.Field, error) {
	if k == nil {
		return batch.Null(left.Type), left, nil
	}
	f := batch.NewField(k.Name, k.Type)
	f.Length, f.Precision, f.Mask = k.Length, k.Precision, k.Mask
	if k.IsNull {
		return batch.Null(k.Type), &f, nil
	}
	if k.Type == batch.None {
		return batch.Value{}, nil, fmt.Errorf("the constant %q has no type; choose one", k.Text)
	}
	text := k.Text
	if c.o.Vars != nil {
		var err error
		if text, err = c.o.Vars.Resolve(text); err != nil {
			return batch.Value{}, nil, err
		}
	}
	if k.Type == batch.String {
		return batch.StringValue(text), &f, nil
	}
	codec, err := c.o.Semantics.Codec(&f)
	if err != nil {
		return batch.Value{}, nil, err
	}
	v, err := codec.Parse([]byte(text))
	if err != nil && k.Type.IsNumeric() {
		f.Mask = plainMask // a mask that the text does not follow, such as " #"
		if plain, e := c.o.Semantics.Codec(&f); e == nil {
			if pv, e := plain.Parse([]byte(strings.TrimSpace(text))); e == nil {
				return pv, &f, nil
			}
		}
	}
	return v, &f, err
}

const plainMask = "0.#"

// order is a comparison as what it makes of less, equal and greater.
type order struct {
	less, equal, greater bool
	op                   Function
}

var orders = map[Function]order{
	Equal:        {equal: true, op: Equal},
	NotEqual:     {less: true, greater: true, op: NotEqual},
	Smaller:      {less: true, op: Smaller},
	SmallerEqual: {less: true, equal: true, op: SmallerEqual},
	Larger:       {greater: true, op: Larger},
	LargerEqual:  {greater: true, equal: true, op: LargerEqual},
}

func (o order) of(cmp int) bool {
	switch {
	case cmp < 0:
		return o.less
	case cmp > 0:
		return o.greater
	}
	return o.equal
}

// nulls answers for a null on the left, which is less than a value and equal to a
// null; < and <= are false then whatever is on the right (reference 7.1).
func (o order) nulls(rightNull bool) bool {
	if o.op == Smaller || o.op == SmallerEqual {
		return false
	}
	if rightNull {
		return o.equal
	}
	return o.less
}

// compareConstant picks the kernel for field against constant.
func (c *compiler) compareConstant(op order, left *operand, v batch.Value, f *batch.Field) node {
	sem := c.o.Semantics
	if sem.IsNullValue(v) {
		return compareNull(op, left)
	}
	lt := left.field.Type
	if lt == batch.Integer && v.Type == batch.Number {
		return &floatOfInt{op: op, left: left, value: v.Float}
	}
	if v.Type != lt {
		conv, err := sem.Converter(f, left.field)
		if err == nil {
			v, err = conv.Value(v)
		}
		if err != nil {
			return failing{err}
		}
		if sem.IsNullValue(v) {
			return compareNull(op, left)
		}
	}
	switch lt {
	case batch.Integer, batch.Date:
		return newIntRange(op, left, v.Int)
	case batch.Number:
		return newFloatRange(op, left, v.Float)
	case batch.String:
		if v.Text != "" && (op.op == Equal || op.op == NotEqual) {
			return newTextEqual(left, v.Text, op.op == NotEqual)
		}
		return &textOrder{op: op, left: left, value: []byte(v.Text), sem: sem}
	}
	return &valueOrder{op: op, left: left, value: v, sem: sem}
}

// compareNull is a comparison with a null.
func compareNull(op order, left *operand) node {
	onNull, onValue := op.nulls(true), op.greater
	switch {
	case onNull == onValue:
		return constant(onNull)
	case onNull:
		return &nullTest{left: left, want: true}
	}
	return &nullTest{left: left}
}

func (c *compiler) compareFields(op order, left, right *operand) node {
	sem := c.o.Semantics
	lt, rt := left.field.Type, right.field.Type
	n := &fieldOrder{op: op, left: left, right: right, sem: sem}
	switch {
	case lt == rt:
	case lt == batch.Integer && rt == batch.Number:
		n.widen = true
	default:
		conv, err := sem.Converter(right.field, left.field)
		if err != nil {
			return failing{err}
		}
		n.convert = conv
	}
	return n
}
