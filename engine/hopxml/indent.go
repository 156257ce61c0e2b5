package hopxml

import (
	"bytes"
	"slices"
	"strings"
)

// defaultIndent is what Hop writes.
const defaultIndent = "  "

func hasLineEnd(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// lineLead is the last line of white space: its line end and indent. White
// space without a line end is given as it is.
func lineLead(blank []byte, eol string) string {
	i := bytes.LastIndexByte(blank, '\n')
	if i < 0 {
		return string(blank)
	}
	return eol + string(blank[i+1:])
}

// indentOf is what stands behind the line end of a lead.
func indentOf(lead string) string { return lead[strings.LastIndexByte(lead, '\n')+1:] }

// rawLead is the white space that the last element of the path owns.
func (d *Document) rawLead(path []step) string {
	if len(path) < 2 {
		return ""
	}
	return string(leadOf(path[len(path)-2].elem.content, path[len(path)-1].index))
}

func leadOf(content []node, index int) []byte {
	if index > 0 && content[index-1].isBlank() {
		return content[index-1].raw
	}
	return nil
}

// ownLead is line end and indent of the last element of the path; the root
// stands on a line of its own unless the whole file is one line.
func (d *Document) ownLead(path []step) string {
	if len(path) > 1 {
		return lineLead([]byte(d.rawLead(path)), d.eol)
	}
	if !d.root.hasElements() || hasLineEnd(d.root.content[0].raw) {
		return d.eol
	}
	return ""
}

// leadAt is the white space for a new child at a position of the content of
// the last element of the path: that of the sibling before it, else of the one
// behind it, else one step deeper than the parent.
func (d *Document) leadAt(path []step, index int) string {
	content := path[len(path)-1].elem.content
	for i := index - 1; i >= 0; i-- {
		if content[i].elem != nil {
			return lineLead(leadOf(content, i), d.eol)
		}
	}
	for i := index; i < len(content); i++ {
		if content[i].elem != nil {
			return lineLead(leadOf(content, i), d.eol)
		}
	}
	return deeper(d.ownLead(path), d.indentUnit(path))
}

// deeper adds a step of indent to a lead that has a line of its own.
func deeper(lead, unit string) string {
	if !strings.Contains(lead, "\n") {
		return ""
	}
	return lead + unit
}

// indentUnit is the step from the parent to the last element of the path, else
// the step from the root to its first child on a line of its own, else Hop's.
func (d *Document) indentUnit(path []step) string {
	if len(path) > 1 {
		own, outer := d.ownLead(path), d.ownLead(path[:len(path)-1])
		if unit, ok := strings.CutPrefix(own, outer); ok && unit != "" && strings.Contains(outer, "\n") {
			return unit
		}
	}
	for i := range d.root.content {
		if d.root.content[i].elem != nil {
			lead := lineLead(leadOf(d.root.content, i), d.eol)
			if strings.Contains(lead, "\n") {
				return indentOf(lead) // none in a flat file
			}
		}
	}
	return defaultIndent
}

// indented is the element moved to another indent: white space between
// elements is changed, text is not. Line ends become those of the file.
func indented(e *Element, lead, eol string) *Element {
	old := ""
	if n := len(e.content); n > 0 && e.hasElements() && e.content[n-1].isBlank() {
		old = indentOf(string(e.content[n-1].raw))
	}
	return reindented(e, old, indentOf(lead), eol)
}

func reindented(e *Element, from, to, eol string) *Element {
	var c *Element // made on the first change
	change := func(i int, n node) {
		if c == nil {
			c = e.edited()
		}
		c.content[i] = n
	}
	layout := e.hasElements()
	for i, n := range e.content {
		if n.elem != nil {
			if child := reindented(n.elem, from, to, eol); child != n.elem {
				change(i, node{kind: elementNode, elem: child})
			}
			continue
		}
		raw := withLineEnds(n.raw, eol)
		if layout && n.isBlank() && hasLineEnd(raw) {
			at := bytes.LastIndexByte(raw, '\n') + 1
			if rest, ok := bytes.CutPrefix(raw[at:], []byte(from)); ok {
				raw = slices.Concat(raw[:at], []byte(to), rest)
			}
		}
		if !bytes.Equal(raw, n.raw) {
			change(i, node{kind: n.kind, raw: raw})
		}
	}
	if c == nil {
		return e
	}
	return c
}

func withLineEnds(raw []byte, eol string) []byte {
	if !hasLineEnd(raw) {
		return raw
	}
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	if eol == "\n" {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte("\n"), []byte(eol))
}
