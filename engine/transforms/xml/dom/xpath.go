package dom

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"
)

// hiddenPrefix is what elements in a default namespace answer when they are asked
// for their prefix while names without one are to mean "no namespace".
const hiddenPrefix = "\x00"

// Expr is a compiled XPath expression. It belongs to one goroutine.
type Expr struct {
	text    string
	x       *xpath.Expr
	anyName bool
}

// Compile reads an XPath 1.0 expression. Names without a prefix match elements
// without a namespace; defaultToo makes them match those in a default namespace
// as well.
func Compile(text string, defaultToo bool) (*Expr, error) {
	x, err := xpath.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("XPath %q: %w", text, err)
	}
	return &Expr{text: text, x: x, anyName: defaultToo}, nil
}

// Match is a node that an expression found; Attr is its attribute, -1 for the
// node itself.
type Match struct {
	Node *Node
	Attr int
}

// Select gives the nodes that the expression finds from a node on, in document
// order. An expression that gives no nodes is an error.
func (e *Expr) Select(from *Node) (list []Match, err error) {
	defer recoverInto(e, &err)
	it, ok := e.x.Evaluate(e.navigator(from)).(*xpath.NodeIterator)
	if !ok {
		return nil, fmt.Errorf("XPath %q gives a value, not nodes", e.text)
	}
	for it.MoveNext() {
		n := it.Current().(*navigator)
		list = append(list, Match{n.at, n.attr})
	}
	return list, nil
}

// First gives the first node, false when there is none.
func (e *Expr) First(from *Node) (m Match, found bool, err error) {
	defer recoverInto(e, &err)
	it, ok := e.x.Evaluate(e.navigator(from)).(*xpath.NodeIterator)
	if !ok {
		return m, false, fmt.Errorf("XPath %q gives a value, not nodes", e.text)
	}
	if !it.MoveNext() {
		return m, false, nil
	}
	n := it.Current().(*navigator)
	return Match{n.at, n.attr}, true, nil
}

// ValueOf gives the string value of what the expression finds: of the first node,
// or of the number, flag or text. Nothing found is "".
func (e *Expr) ValueOf(from *Node) (text string, err error) {
	defer recoverInto(e, &err)
	switch v := e.x.Evaluate(e.navigator(from)).(type) {
	case *xpath.NodeIterator:
		if !v.MoveNext() {
			return "", nil
		}
		return v.Current().Value(), nil
	case float64:
		return numberText(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case string:
		return strings.ReplaceAll(v, hiddenPrefix+":", ""), nil
	default:
		return fmt.Sprint(v), nil
	}
}

// recoverInto turns a panic of the XPath library into an error of the expression.
func recoverInto(e *Expr, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("XPath %q: %v", e.text, r)
	}
}

func numberText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func (e *Expr) navigator(at *Node) *navigator {
	return &navigator{at: at, attr: -1, anyName: e.anyName}
}

// navigator moves over a tree for the XPath library.
type navigator struct {
	at      *Node
	attr    int
	anyName bool
}

func (n *navigator) NodeType() xpath.NodeType {
	switch {
	case n.attr >= 0:
		return xpath.AttributeNode
	case n.at.Kind == Document:
		return xpath.RootNode
	case n.at.Kind == Element:
		return xpath.ElementNode
	case n.at.Kind == Comment || n.at.Kind == Instruction:
		return xpath.CommentNode // the library knows no instructions
	}
	return xpath.TextNode
}

func (n *navigator) LocalName() string {
	if n.attr >= 0 {
		return n.at.Attrs[n.attr].Name
	}
	return n.at.Name
}

func (n *navigator) Prefix() string {
	switch {
	case n.attr >= 0:
		return n.at.Attrs[n.attr].Prefix
	case n.at.DefaultSpace && !n.anyName:
		return hiddenPrefix
	}
	return n.at.Prefix
}

// NamespaceURL serves the function namespace-uri().
func (n *navigator) NamespaceURL() string {
	if n.attr >= 0 {
		return n.at.Attrs[n.attr].URI
	}
	return n.at.URI
}

func (n *navigator) Value() string {
	if n.attr >= 0 {
		return n.at.Attrs[n.attr].Value
	}
	return n.at.StringValue()
}

func (n *navigator) Copy() xpath.NodeNavigator {
	c := *n
	return &c
}

func (n *navigator) MoveToRoot() {
	n.attr = -1
	for n.at.Parent != nil {
		n.at = n.at.Parent
	}
}

func (n *navigator) MoveToParent() bool {
	if n.attr >= 0 {
		n.attr = -1
		return true
	}
	return n.to(n.at.Parent)
}

func (n *navigator) to(next *Node) bool {
	if next == nil {
		return false
	}
	n.at = next
	return true
}

func (n *navigator) MoveToNextAttribute() bool {
	if n.attr+1 >= len(n.at.Attrs) {
		return false
	}
	n.attr++
	return true
}

func (n *navigator) MoveToChild() bool { return n.attr < 0 && n.to(n.at.First) }

func (n *navigator) MoveToFirst() bool {
	return n.attr < 0 && n.at.Prev != nil && n.to(n.at.Parent.First)
}

func (n *navigator) MoveToNext() bool { return n.attr < 0 && n.to(n.at.Next) }

func (n *navigator) MoveToPrevious() bool { return n.attr < 0 && n.to(n.at.Prev) }

func (n *navigator) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*navigator)
	if ok {
		n.at, n.attr = o.at, o.attr
	}
	return ok
}
