// Package dom reads XML documents into trees, evaluates XPath 1.0 on them and
// writes parts of them back as XML.
//
// It never fetches anything: document type declarations are passed over, and
// entities other than the five of the standard are an error.
package dom

import "strings"

// Kind is the type of a node.
type Kind uint8

// The kinds.
const (
	Document Kind = iota
	Element
	Text
	Comment
	Instruction
)

// Node is one node of a document.
type Node struct {
	Kind   Kind
	Prefix string // of an element's name
	Name   string // local name of an element, target of an instruction
	URI    string // namespace of an element
	Attrs  []Attr // of an element, declarations of namespaces left out
	Spaces []Space
	Data   string // of text, comments and instructions
	CData  bool   // the text was a CDATA section

	Parent      *Node
	First, Last *Node
	Prev, Next  *Node
	// DefaultSpace says that the element is in a namespace without a prefix.
	DefaultSpace bool
}

// Attr is one attribute.
type Attr struct{ Prefix, Name, URI, Value string }

// Space is a namespace that an element declares; no prefix is the default one.
type Space struct{ Prefix, URI string }

// QName gives a name with its prefix.
func QName(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + ":" + name
}

// StringValue gives the text of a node and of all elements below it.
func (n *Node) StringValue() string {
	if n.Kind != Document && n.Kind != Element {
		return n.Data
	}
	if n.First != nil && n.First == n.Last && n.First.Kind == Text {
		return n.First.Data
	}
	var b strings.Builder
	for at := n.First; at != nil; at = at.after(n) {
		if at.Kind == Text {
			b.WriteString(at.Data)
		}
	}
	return b.String()
}

// after gives the next node in document order below top.
func (n *Node) after(top *Node) *Node {
	if n.First != nil {
		return n.First
	}
	for n != top {
		if n.Next != nil {
			return n.Next
		}
		n = n.Parent
	}
	return nil
}

func (n *Node) append(child *Node) {
	child.Parent = n
	if n.Last == nil {
		n.First = child
	} else {
		child.Prev, n.Last.Next = n.Last, child
	}
	n.Last = child
}

// Detach takes a node out of its document, with everything that stands before it
// in its parent.
func (n *Node) Detach() {
	if p := n.Parent; p != nil {
		p.First = n.Next
		if n.Next == nil {
			p.Last = nil
		} else {
			n.Next.Prev = nil
		}
	}
	n.Parent, n.Prev, n.Next = nil, nil, nil
}

// Path gives the names from the root to an element: "/a/b".
func (n *Node) Path() string {
	if n == nil || n.Kind == Document {
		return ""
	}
	return n.Parent.Path() + "/" + QName(n.Prefix, n.Name)
}
