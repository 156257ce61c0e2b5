package jsonpath

import (
	"strings"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/expr/javaregex"
)

// condition is a filter expression on the current value (@).
type condition interface {
	holds(root, at *Node, o Options) bool
}

type (
	anyOf  []condition
	allOf  []condition
	negate struct{ condition }
	exists struct{ path operand }
	// compare relates two operands by an operator of Jayway's language.
	compare struct {
		left, right operand
		op          string
		pattern     *javaregex.Regexp
	}
)

func (c anyOf) holds(root, at *Node, o Options) bool {
	for _, x := range c {
		if x.holds(root, at, o) {
			return true
		}
	}
	return false
}

func (c allOf) holds(root, at *Node, o Options) bool {
	for _, x := range c {
		if !x.holds(root, at, o) {
			return false
		}
	}
	return true
}

func (c negate) holds(root, at *Node, o Options) bool { return !c.condition.holds(root, at, o) }

func (c exists) holds(root, at *Node, _ Options) bool {
	return c.path.value(root, at, Options{}) != nil
}

// operand is a literal or a path, optionally its length.
type operand struct {
	literal  *Node
	path     *Path
	fromRoot bool
	length   bool
}

// value gives nil for a path that leads nowhere.
func (x *operand) value(root, at *Node, o Options) *Node {
	if x.literal != nil {
		return x.literal
	}
	start := at
	if x.fromRoot {
		start = root
	}
	found := x.path.evalFrom(nil, root, start, o, 0)
	var n *Node
	switch {
	case !x.path.Definite():
		n = &Node{Kind: Array}
		for _, f := range found {
			n.Items = append(n.Items, *f)
		}
		if len(n.Items) == 0 {
			return nil
		}
	case len(found) > 0:
		n = found[0]
	}
	if x.length {
		return lengthOf(n)
	}
	return n
}

func lengthOf(n *Node) *Node {
	if n == nil {
		return nil
	}
	size := len(n.Items)
	switch n.Kind {
	case String:
		size = len([]rune(n.Text))
	case Array, Object:
	default:
		return nil
	}
	return integer(size)
}

func integer(n int) *Node { return &Node{Kind: Number, Text: decimal.FromInt64(int64(n)).String()} }

func (c *compare) holds(root, at *Node, o Options) bool {
	l, r := c.left.value(root, at, o), c.right.value(root, at, o)
	switch c.op {
	case "==":
		return same(l, r)
	case "!=":
		return !same(l, r)
	case "=~":
		return l != nil && l.Kind == String && c.pattern.MatchWholeString(l.Text)
	}
	if l == nil || r == nil {
		return false
	}
	switch c.op {
	case "<", "<=", ">", ">=":
		sign, ok := order(l, r)
		return ok && ((sign < 0 && c.op[0] == '<') || (sign > 0 && c.op[0] == '>') || (sign == 0 && len(c.op) == 2))
	case "in":
		return r.Kind == Array && holdsItem(r, l)
	case "nin":
		return r.Kind == Array && !holdsItem(r, l)
	case "contains":
		return (l.Kind == Array && holdsItem(l, r)) || (l.Kind == String && r.Kind == String && strings.Contains(l.Text, r.Text))
	case "anyof", "noneof", "subsetof", "all":
		return c.sets(l, r)
	case "size":
		n := lengthOf(l)
		return n != nil && same(n, r)
	case "empty":
		n := lengthOf(l)
		return n != nil && (n.Text == "0") == (r.Kind == True)
	}
	return false
}

func (c *compare) sets(l, r *Node) bool {
	if l.Kind != Array || r.Kind != Array {
		return false
	}
	common := 0
	for i := range l.Items {
		if holdsItem(r, &l.Items[i]) {
			common++
		}
	}
	switch c.op {
	case "anyof":
		return common > 0
	case "noneof":
		return common == 0
	case "subsetof":
		return common == len(l.Items)
	}
	for i := range r.Items { // all: every value of r is in l
		if !holdsItem(l, &r.Items[i]) {
			return false
		}
	}
	return true
}

func holdsItem(list, n *Node) bool {
	for i := range list.Items {
		if same(&list.Items[i], n) {
			return true
		}
	}
	return false
}

// same compares by value: numbers by size, a number with a text that is one, and
// objects without regard to the order of members.
func same(a, b *Node) bool {
	if a == nil || b == nil {
		return false
	}
	if a.Kind == Number && (b.Kind == Number || b.Kind == String) || b.Kind == Number && a.Kind == String {
		x, errX := decimal.Parse(strings.TrimSpace(a.Text))
		y, errY := decimal.Parse(strings.TrimSpace(b.Text))
		return errX == nil && errY == nil && x.Cmp(y) == 0
	}
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		other := &b.Items[i]
		if a.Kind == Object {
			other = b.Member(a.Names[i])
		}
		if !same(&a.Items[i], other) {
			return false
		}
	}
	return true
}

func order(a, b *Node) (int, bool) {
	switch {
	case a.Kind == Number && b.Kind == Number:
		x, errX := decimal.Parse(a.Text)
		y, errY := decimal.Parse(b.Text)
		return x.Cmp(y), errX == nil && errY == nil
	case a.Kind == String && b.Kind == String:
		return batch.CompareText(a.Text, b.Text), true
	}
	return 0, false
}
