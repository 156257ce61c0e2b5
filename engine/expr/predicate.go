package expr

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
)

// Resolver replaces variables in constants.
type Resolver interface {
	Resolve(text string) (string, error)
}

// Options are what a compilation depends on besides the schema.
type Options struct {
	Semantics *batch.Semantics
	// Vars resolves the variables of constants; nil leaves them as they are.
	Vars Resolver
	// Lax makes an atom whose left field is missing false, as JoinRows and the
	// debugger do; otherwise a missing field is an error.
	Lax bool
}

// Predicate is a condition bound to a schema. It is safe for many goroutines.
type Predicate struct{ root node }

// node selects the rows of in that satisfy it; in nil stands for all rows. The
// result ascends, comes from s and is the caller's to give back.
type node interface {
	eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error)
}

// Compile binds the condition to a schema. An empty condition is false, as in Hop.
// The error names the field that is missing and those there are, or the constant
// that cannot be read.
func (c *Condition) Compile(schema *batch.Schema, o Options) (*Predicate, error) {
	if c.IsEmpty() {
		return &Predicate{root: constant(false)}, nil
	}
	n, err := (&compiler{schema: schema, o: o}).node(c)
	if err != nil {
		return nil, err
	}
	return &Predicate{root: n}, nil
}

// Select gives the selected rows of b that satisfy the condition, as a new list
// of indexes into the columns. A row that cannot be judged is a *batch.RowError.
func (p *Predicate) Select(b *batch.Batch) ([]int32, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	sel, err := p.root.eval(s, b, b.Sel)
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(sel))
	copy(out, sel)
	s.give(sel)
	return out, nil
}

// Split is Select that gives the rows that do not satisfy the condition too.
func (p *Predicate) Split(b *batch.Batch) (yes, no []int32, err error) {
	if yes, err = p.Select(b); err != nil {
		return nil, nil, err
	}
	no = without(make([]int32, 0, b.Rows()-len(yes)), b.Sel, yes, b.Physical())
	return yes, no, nil
}

type compiler struct {
	schema *batch.Schema
	o      Options
}

func (c *compiler) node(cond *Condition) (node, error) {
	if len(cond.Children) == 0 {
		n, err := c.atom(cond)
		if err != nil {
			return nil, fmt.Errorf("condition %s: %w", cond, err)
		}
		return n, nil
	}
	out := &composite{negated: cond.Negated}
	for _, k := range cond.Children {
		n, err := c.node(k)
		if err != nil {
			return nil, err
		}
		out.children = append(out.children, link{k.Operator, n})
	}
	return out, nil
}

// missing tells which fields there are.
func (c *compiler) missing(name string) error {
	return fmt.Errorf("field %q not found; the input has %s", name, strings.Join(c.schema.Names(), ", "))
}

type link struct {
	op   Operator
	node node
}

// composite evaluates its children from left to right without precedence and
// skips, row by row, what cannot change the answer.
type composite struct {
	negated  bool
	children []link
}

func (c *composite) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	sel, err := c.children[0].node.eval(s, b, in)
	if err != nil {
		return nil, err
	}
	for _, k := range c.children[1:] {
		if sel, err = k.apply(s, b, in, sel); err != nil {
			return nil, err
		}
	}
	if c.negated {
		return invert(s, b, in, sel), nil
	}
	return sel, nil
}

// apply combines the rows selected so far with the answer of one more child.
func (k *link) apply(s *scratch, b *batch.Batch, in, sel []int32) ([]int32, error) {
	switch k.op {
	case OpAnd:
		out, err := k.node.eval(s, b, sel)
		s.give(sel)
		return out, err
	case OpAndNot:
		drop, err := k.node.eval(s, b, sel)
		if err != nil {
			return nil, err
		}
		out := without(s.take(len(sel)), sel, drop, 0)
		s.give(drop)
		s.give(sel)
		return out, nil
	case OpOr, OpOrNot:
		return k.or(s, b, in, sel)
	case OpXor:
		other, err := k.node.eval(s, b, in)
		if err != nil {
			return nil, err
		}
		out := differ(s.take(count(in, b.Physical())), sel, other)
		s.give(other)
		s.give(sel)
		return out, nil
	}
	return sel, nil // NOT and - behind the first child do nothing, as in Hop
}

func (k *link) or(s *scratch, b *batch.Batch, in, sel []int32) ([]int32, error) {
	rest := invert(s, b, in, append(s.take(len(sel)), sel...))
	more, err := k.node.eval(s, b, rest)
	if err != nil {
		return nil, err
	}
	if k.op == OpOrNot {
		more = invert(s, b, rest, more)
	}
	out := merge(s.take(len(sel)+len(more)), sel, more)
	s.give(rest)
	s.give(more)
	s.give(sel)
	return out, nil
}

// invert gives the rows of in that are not in sel, which it gives back.
func invert(s *scratch, b *batch.Batch, in, sel []int32) []int32 {
	n := b.Physical()
	out := without(s.take(count(in, n)), in, sel, n)
	s.give(sel)
	return out
}

// constant answers the same for every row.
type constant bool

func (c constant) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	out := s.take(count(in, b.Physical()))
	if c {
		return all(out, in, b.Physical()), nil
	}
	return out, nil
}

// failing is an atom that cannot be evaluated; it fails at the first row that
// gets as far.
type failing struct{ err error }

func (f failing) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	n := count(in, b.Physical())
	if n == 0 {
		return s.take(0), nil
	}
	row := 0
	if in != nil {
		row = int(in[0])
	}
	return nil, &batch.RowError{Row: row, Err: f.err}
}

// not is a negated atom.
type not struct{ atom node }

func (n not) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	sel, err := n.atom.eval(s, b, in)
	if err != nil {
		return nil, err
	}
	return invert(s, b, in, sel), nil
}
