package jsonpath

// Options change what a path finds.
type Options struct {
	// LeafToNull gives null for a member that is missing where a path ends
	// (Hop's "default path leaf to null"); without it nothing is found there.
	LeafToNull bool
}

var null = &Node{}

// Eval appends what the path finds in a document to dst, in document order. A
// definite path that leads nowhere finds nothing. A nil entry stands for a
// missing leaf, see Options.
func (p *Path) Eval(dst []*Node, root *Node, o Options) []*Node {
	return p.evalFrom(dst, root, root, o, 0)
}

func (p *Path) evalFrom(dst []*Node, root, at *Node, o Options, first int) []*Node {
	e := evaluation{root: root, options: o, tokens: p.tokens, found: dst}
	e.step(at, first)
	return e.found
}

type evaluation struct {
	root    *Node
	options Options
	tokens  []token
	found   []*Node
}

// step applies the tokens from number i on to a value.
func (e *evaluation) step(n *Node, i int) {
	if i == len(e.tokens) {
		e.found = append(e.found, n)
		return
	}
	if t := &e.tokens[i]; t.scan {
		e.walk(n, i)
	} else {
		e.apply(n, i)
	}
}

// walk tries a scanning token on a value and on all below it, the value first.
func (e *evaluation) walk(n *Node, i int) {
	if e.scannable(n, i) {
		e.apply(n, i)
	}
	for k := range n.Items {
		e.walk(&n.Items[k], i)
	}
}

// scannable says whether a scanning token is tried on a value. A name is only
// tried on objects that have it, unless a missing leaf counts as null.
func (e *evaluation) scannable(n *Node, i int) bool {
	t := &e.tokens[i]
	switch t.kind {
	case property:
		if n.Kind != Object {
			return false
		}
		leaf := i == len(e.tokens)-1
		if len(t.names) > 1 || (leaf && e.options.LeafToNull) {
			return true
		}
		return n.Member(t.names[0]) != nil
	case index, slice:
		return n.Kind == Array
	case filter:
		return n.Kind == Object && t.cond.holds(e.root, n, e.options)
	}
	return true
}

func (e *evaluation) apply(n *Node, i int) {
	t := &e.tokens[i]
	switch t.kind {
	case property:
		e.property(n, t, i)
	case wildcard:
		for k := range n.Items {
			e.step(&n.Items[k], i+1)
		}
	case filter:
		e.filter(n, t, i)
	default:
		e.array(n, t, i)
	}
}

func (e *evaluation) property(n *Node, t *token, i int) {
	if n.Kind != Object {
		return
	}
	leaf := i == len(e.tokens)-1
	if leaf && len(t.names) > 1 {
		merged := &Node{Kind: Object}
		for _, name := range t.names {
			if m := n.Member(name); m != nil {
				merged.Put(name, *m)
			} else if e.options.LeafToNull {
				merged.Put(name, Node{})
			}
		}
		e.found = append(e.found, merged)
		return
	}
	for _, name := range t.names {
		switch m := n.Member(name); {
		case m != nil:
			e.step(m, i+1)
		case leaf && e.options.LeafToNull:
			e.found = append(e.found, null)
		}
	}
}

func (e *evaluation) filter(n *Node, t *token, i int) {
	switch n.Kind {
	case Object:
		if t.cond.holds(e.root, n, e.options) {
			e.step(n, i+1)
		}
	case Array:
		for k := range n.Items {
			if t.cond.holds(e.root, &n.Items[k], e.options) {
				e.step(&n.Items[k], i+1)
			}
		}
	}
}

func (e *evaluation) array(n *Node, t *token, i int) {
	if n.Kind != Array {
		return
	}
	size := len(n.Items)
	if t.kind == index {
		for _, k := range t.indexes {
			if k < 0 {
				k += size
			}
			if k >= 0 && k < size {
				e.step(&n.Items[k], i+1)
			}
		}
		return
	}
	from, to := bound(t.from, 0, size), bound(t.to, size, size)
	for k := from; k < to; k += t.step {
		e.step(&n.Items[k], i+1)
	}
}

// bound gives a slice bound within 0 and size; negative ones count from the end.
func bound(b *int, empty, size int) int {
	if b == nil {
		return empty
	}
	k := *b
	if k < 0 {
		k += size
	}
	return max(0, min(k, size))
}
