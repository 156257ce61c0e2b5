package hopxml

import "fmt"

// Draft describes an element to be made: a leaf with text, a branch with
// children, or a copy of an element.
type Draft struct {
	Name     string
	Text     string // only without Children
	Children []Draft
	copied   *Element
}

// Leaf is an element with text; no text gives <name/>.
func Leaf(name, text string) Draft { return Draft{Name: name, Text: text} }

// Branch is an element with children; none gives <name/>.
func Branch(name string, children ...Draft) Draft { return Draft{Name: name, Children: children} }

// From is a copy of an element of any document, indented for its new place.
// Its inside is kept, unknown elements and comments included.
func From(e *Element) Draft { return Draft{Name: e.Name(), copied: e} }

func (t Draft) check() error {
	if t.copied != nil {
		return nil
	}
	if t.Name == "" || nameLength([]byte(t.Name)) != len(t.Name) || clean(t.Name) != t.Name {
		return fmt.Errorf("%q is no name of an element: %w", t.Name, ErrInvalid)
	}
	if t.Text != "" && len(t.Children) > 0 {
		return fmt.Errorf("<%s> with both text and elements: %w", t.Name, ErrInvalid)
	}
	for _, c := range t.Children {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

func (t Draft) depth() int {
	if t.copied != nil {
		return t.copied.depth()
	}
	deepest := 0
	for _, c := range t.Children {
		deepest = max(deepest, c.depth())
	}
	return deepest + 1
}

func (e *Element) depth() int {
	deepest := 0
	for i := range e.content {
		if c := e.content[i].elem; c != nil {
			deepest = max(deepest, c.depth())
		}
	}
	return deepest + 1
}

// build makes the element for a place with the given white space before it.
func (d *Document) build(t Draft, lead string) *Element {
	if t.copied != nil {
		return d.renewed(indented(t.copied, lead, d.eol))
	}
	id := d.newID()
	e := &Element{id: id, low: id, high: id, name: t.Name, open: []byte("<" + t.Name + "/>")}
	switch {
	case t.Text != "":
		e.content = []node{{kind: textNode, raw: escape(t.Text, d.eol)}}
	case len(t.Children) > 0:
		inner := deeper(lead, d.indentUnit([]step{{elem: d.root}}))
		for _, c := range t.Children {
			child := d.build(c, inner)
			e.cover(child)
			e.content = append(e.content, leadNodes(inner, child)...)
		}
		if inner != "" {
			e.content = append(e.content, node{kind: textNode, raw: []byte(lead)})
		}
	default:
		return e
	}
	e.unshut()
	return e
}

func (d *Document) newID() ID { return ID(d.origin.ids.Add(1)) }

// renewed is a deep copy with new identities over the same bytes.
func (d *Document) renewed(e *Element) *Element {
	c := *e
	c.id, c.line = d.newID(), 0
	c.low, c.high = c.id, c.id
	c.content = make([]node, len(e.content))
	copy(c.content, e.content)
	for i := range c.content {
		if child := c.content[i].elem; child != nil {
			c.content[i].elem = d.renewed(child)
			c.cover(c.content[i].elem)
		}
	}
	return &c
}
