package hopxml

import (
	"bytes"
	"strings"
)

// ID names an element in a Document and in every document edited from it: an
// edit keeps the IDs of all elements it does not create. IDs are unique in one
// lineage of edits (one Parse), mean nothing in another, and are not stored in
// files. The zero ID names nothing.
type ID uint64

type nodeKind uint8

const (
	textNode nodeKind = iota
	cdataNode
	commentNode
	instructionNode
	elementNode
)

// node is one piece of an element's content: an element, or raw bytes of the
// file (or new text) of the other kinds.
type node struct {
	kind nodeKind
	raw  []byte   // as written, with delimiters; nil for an element
	elem *Element // only for an element
}

// Element is one element of an immutable tree; it may be shared by many
// documents and read by many goroutines. All methods accept a nil Element and
// answer as an absent one, so chains of Child need no checks.
type Element struct {
	id      ID
	low     ID // all identities inside, its own too, lie in low to high
	high    ID
	name    string
	line    int
	raw     []byte // the whole element, while nothing in it was edited
	open    []byte // start tag, or the whole of <x/>
	close   []byte // end tag; empty for <x/>
	content []node
}

// cover widens the range of identities by that of a child. It never narrows:
// a range only saves a search.
func (e *Element) cover(child *Element) {
	e.low, e.high = min(e.low, child.low), max(e.high, child.high)
}

// ID is the identity to edit the element by; 0 for nil.
func (e *Element) ID() ID {
	if e == nil {
		return 0
	}
	return e.id
}

// Name is the tag name as written in the file.
func (e *Element) Name() string {
	if e == nil {
		return ""
	}
	return e.name
}

// Line is the line of the start tag in the file that was read, counted from 1.
// It is 0 for an element that an edit created.
func (e *Element) Line() int {
	if e == nil {
		return 0
	}
	return e.line
}

// Text is the first text node (or CDATA section), unescaped and with its line
// ends as LF; blanks are kept. This is what Hop reads: text behind an embedded
// comment is not part of it. Empty and absent elements give "".
func (e *Element) Text() string {
	if i := e.textIndex(); i >= 0 {
		return e.content[i].text()
	}
	return ""
}

func (e *Element) textIndex() int {
	if e == nil {
		return -1
	}
	for i := range e.content {
		if k := e.content[i].kind; k == textNode || k == cdataNode {
			return i
		}
	}
	return -1
}

func (n *node) text() string {
	if n.kind == cdataNode {
		return normalLineEnds(n.raw[len(cdataOpen) : len(n.raw)-len(cdataClose)])
	}
	return unescape(n.raw)
}

// Child is the first child element of that name, compared without case as Hop
// does; nil when there is none.
func (e *Element) Child(name string) *Element {
	if e == nil {
		return nil
	}
	for i := range e.content {
		if c := e.content[i].elem; c != nil && strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// All lists the child elements of that name, compared without case, in file
// order.
func (e *Element) All(name string) []*Element {
	if e == nil {
		return nil
	}
	var all []*Element
	for i := range e.content {
		if c := e.content[i].elem; c != nil && strings.EqualFold(c.name, name) {
			all = append(all, c)
		}
	}
	return all
}

// Elements lists the child elements in file order.
func (e *Element) Elements() []*Element {
	if e == nil {
		return nil
	}
	n := 0
	for i := range e.content {
		if e.content[i].elem != nil {
			n++
		}
	}
	all := make([]*Element, 0, n)
	for i := range e.content {
		if c := e.content[i].elem; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// Raw is the element as it stands in the document, from its start tag to its
// end tag, in UTF-8 and without the white space before it. The caller must not
// change the bytes.
func (e *Element) Raw() []byte {
	if e == nil {
		return nil
	}
	if e.raw != nil {
		return e.raw
	}
	var b bytes.Buffer
	e.write(&b)
	return b.Bytes()
}

func (e *Element) write(b *bytes.Buffer) {
	if e.raw != nil {
		b.Write(e.raw)
		return
	}
	b.Write(e.open)
	for i := range e.content {
		if c := e.content[i].elem; c != nil {
			c.write(b)
		} else {
			b.Write(e.content[i].raw)
		}
	}
	b.Write(e.close)
}

// hasElements tells whether there is a child element.
func (e *Element) hasElements() bool {
	for i := range e.content {
		if e.content[i].elem != nil {
			return true
		}
	}
	return false
}

func (n *node) isBlank() bool {
	return n.kind == textNode && isBlank(n.raw)
}
