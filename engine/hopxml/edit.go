package hopxml

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Edit makes a new document from an earlier one, which it leaves as it was. It
// shares what it does not touch, and returns the same document when there is
// nothing to change. Its errors wrap ErrNotFound, ErrInvalid or ErrReadOnly.
type Edit func(*Document) (*Document, error)

// Apply runs edits one after the other: all of them, or none when one fails.
func (d *Document) Apply(edits ...Edit) (*Document, error) {
	if d.ReadOnly() {
		return nil, fmt.Errorf("edit %s, which is written in %s: %w; save it as UTF-8 first", d.name, d.encoding, ErrReadOnly)
	}
	for _, edit := range edits {
		next, err := edit(d)
		if err != nil {
			return nil, err
		}
		d = next
	}
	return d, nil
}

// Join is several edits as one, for one entry in an undo list.
func Join(edits ...Edit) Edit {
	return func(d *Document) (*Document, error) { return d.Apply(edits...) }
}

// step is one element on the way from the root; index is its place in the
// content of the step before.
type step struct {
	elem  *Element
	index int
}

// path finds the way to an element.
func (d *Document) path(id ID) ([]step, error) {
	if id != 0 {
		if path := findPath([]step{{elem: d.root}}, id); path != nil {
			return path, nil
		}
	}
	return nil, fmt.Errorf("%w in %s (identity %d): it was removed, or belongs to another file", ErrNotFound, d.name, id)
}

func findPath(path []step, id ID) []step {
	e := path[len(path)-1].elem
	if e.id == id {
		return path
	}
	for i := range e.content {
		if c := e.content[i].elem; c != nil && c.low <= id && id <= c.high {
			if found := findPath(append(path, step{c, i}), id); found != nil {
				return found
			}
		}
	}
	return nil
}

// replaced is the document with another element at the end of the path.
func (d *Document) replaced(path []step, e *Element) *Document {
	for i := len(path) - 1; i > 0; i-- {
		parent := path[i-1].elem.edited()
		parent.content[path[i].index].elem = e
		parent.cover(e)
		e = parent
	}
	next := *d
	next.root = e
	return &next
}

// edited is a copy that no longer stands for its original bytes.
func (e *Element) edited() *Element {
	c := *e
	c.raw = nil
	c.content = slices.Clone(e.content)
	return &c
}

// SetText sets the text of an element that holds no elements, escaped as Hop
// does. The same text as before changes nothing; no text gives <x/>. Comments
// inside stay. Characters that XML cannot hold become a space.
func SetText(id ID, text string) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		e := path[len(path)-1].elem
		if e.hasElements() {
			return nil, fmt.Errorf("set text of <%s>: it holds elements: %w", e.name, ErrInvalid)
		}
		if e.Text() == clean(text) {
			return d, nil
		}
		return d.replaced(path, e.withText(text, d.eol)), nil
	}
}

func (e *Element) withText(text, eol string) *Element {
	c := e.edited()
	if text == "" {
		c.content = slices.DeleteFunc(c.content, func(n node) bool { return n.kind == textNode || n.kind == cdataNode })
		if len(c.content) == 0 {
			c.shut()
		}
		return c
	}
	n := node{kind: textNode, raw: escape(text, eol)}
	if i := c.textIndex(); i >= 0 {
		c.content[i] = n
	} else {
		c.content = slices.Insert(c.content, 0, n)
	}
	c.content = mergeText(c.content)
	c.unshut()
	return c
}

// unshut makes <x/> to <x></x>.
func (e *Element) unshut() {
	if len(e.close) > 0 {
		return
	}
	start := bytes.TrimRight(bytes.TrimSuffix(e.open, []byte("/>")), " \t\r\n")
	e.open = append(slices.Clone(start), '>')
	e.close = []byte("</" + e.name + ">")
}

// shut makes <x></x> to <x/>.
func (e *Element) shut() {
	if len(e.close) > 0 {
		e.open = append(slices.Clone(e.open[:len(e.open)-1]), "/>"...)
		e.close = nil
	}
}

// mergeText joins neighbouring text nodes, which would be read as one.
func mergeText(content []node) []node {
	for i := 1; i < len(content); {
		if content[i-1].kind != textNode || content[i].kind != textNode {
			i++
			continue
		}
		content[i-1].raw = slices.Concat(content[i-1].raw, content[i].raw)
		content = slices.Delete(content, i, i+1)
	}
	return content
}

// Insert adds a new child element, on a line and with the indent of its
// siblings.
func Insert(parent ID, at Place, draft Draft) Edit {
	return func(d *Document) (*Document, error) {
		next, _, err := d.insert(parent, at, draft)
		return next, err
	}
}

func (d *Document) insert(parent ID, at Place, draft Draft) (*Document, *Element, error) {
	path, err := d.path(parent)
	if err != nil {
		return nil, nil, err
	}
	if err := draft.check(); err != nil {
		return nil, nil, err
	}
	if len(path)+draft.depth() > maxDepth {
		return nil, nil, fmt.Errorf("insert <%s>: nested deeper than %d: %w", draft.Name, maxDepth, ErrInvalid)
	}
	e := path[len(path)-1].elem
	if !e.hasElements() && strings.TrimSpace(e.Text()) != "" {
		return nil, nil, fmt.Errorf("insert <%s> into <%s>, which holds text: %w", draft.Name, e.name, ErrInvalid)
	}
	index, err := at.index(e, draft.Name)
	if err != nil {
		return nil, nil, err
	}
	lead := d.leadAt(path, index)
	child := d.build(draft, lead)
	return d.replaced(path, d.withChild(path, index, lead, child)), child, nil
}

// withChild is the last element of the path with lead and child put into its
// content before index.
func (d *Document) withChild(path []step, index int, lead string, child *Element) *Element {
	e := path[len(path)-1].elem
	first := !e.hasElements()
	c := e.edited()
	c.cover(child)
	c.content = slices.Insert(c.content, index, leadNodes(lead, child)...)
	if first && strings.Contains(lead, "\n") && !c.content[len(c.content)-1].isBlank() {
		c.content = append(c.content, node{kind: textNode, raw: []byte(d.ownLead(path))})
	}
	c.content = mergeText(c.content)
	c.unshut()
	return c
}

func leadNodes(lead string, e *Element) []node {
	n := node{kind: elementNode, elem: e}
	if lead == "" {
		return []node{n}
	}
	return []node{{kind: textNode, raw: []byte(lead)}, n}
}

// Remove takes an element and the white space before it out of the document.
func Remove(id ID) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		if len(path) == 1 {
			return nil, fmt.Errorf("remove <%s>, the whole document: %w", d.root.name, ErrInvalid)
		}
		return d.without(path), nil
	}
}

// without is the document without the element at the end of the path.
func (d *Document) without(path []step) *Document {
	last := path[len(path)-1]
	path = path[:len(path)-1]
	parent := path[len(path)-1].elem.edited()
	from := last.index
	if from > 0 && parent.content[from-1].isBlank() {
		from--
	}
	parent.content = mergeText(slices.Delete(parent.content, from, last.index+1))
	return d.replaced(path, parent)
}

// Replace puts a new element in the place of another, which hands on its
// identity and the white space before it.
func Replace(id ID, draft Draft) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		if err := draft.check(); err != nil {
			return nil, err
		}
		if len(path) == 1 {
			return nil, fmt.Errorf("replace <%s>, the whole document: %w", d.root.name, ErrInvalid)
		}
		if len(path)-1+draft.depth() > maxDepth {
			return nil, fmt.Errorf("replace by <%s>: nested deeper than %d: %w", draft.Name, maxDepth, ErrInvalid)
		}
		e := d.build(draft, d.ownLead(path))
		e.id = id
		e.low, e.high = min(e.low, id), max(e.high, id)
		return d.replaced(path, e), nil
	}
}

// Move takes an element to another place, with its identity and those of all
// inside. Among its siblings it also keeps the white space before it.
func Move(id, parent ID, at Place) Edit {
	return func(d *Document) (*Document, error) {
		from, err := d.path(id)
		if err != nil {
			return nil, err
		}
		to, err := d.path(parent)
		if err != nil {
			return nil, err
		}
		e := from[len(from)-1].elem
		if slices.ContainsFunc(to, func(s step) bool { return s.elem.id == id }) {
			return nil, fmt.Errorf("move <%s> into itself: %w", e.name, ErrInvalid)
		}
		if at.sibling == id {
			return d, nil
		}
		lead, stays := d.rawLead(from), from[len(from)-2].elem.id == parent
		next := d.without(from)
		if to, err = next.path(parent); err != nil {
			return nil, err
		}
		holder := to[len(to)-1].elem
		if !holder.hasElements() && strings.TrimSpace(holder.Text()) != "" {
			return nil, fmt.Errorf("move <%s> into <%s>, which holds text: %w", e.name, holder.name, ErrInvalid)
		}
		if len(to)+e.depth() > maxDepth {
			return nil, fmt.Errorf("move <%s>: nested deeper than %d: %w", e.name, maxDepth, ErrInvalid)
		}
		index, err := at.index(holder, e.name)
		if err != nil {
			return nil, err
		}
		if !stays {
			lead = next.leadAt(to, index)
			e = indented(e, lead, d.eol)
		}
		return next.replaced(to, next.withChild(to, index, lead, e)), nil
	}
}

// Copy adds a copy of an element, with new identities, at another place of the
// same document. To copy from another document, Insert a draft made by From.
func Copy(id, parent ID, at Place) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		next, _, err := d.insert(parent, at, From(path[len(path)-1].elem))
		return next, err
	}
}
