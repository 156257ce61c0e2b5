package hopxml

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

func (p *parser) startTag() error {
	start := p.pos
	nameLen := nameLength(p.src[start+1:])
	if nameLen == 0 {
		return p.fail(start, "write &lt; for a less-than sign in text", "'<' starts no element")
	}
	if len(p.open) == 0 && p.root != nil {
		return p.fail(start, "a file holds one pipeline or workflow; remove the rest", "second element after the end of <%s>", p.root.name)
	}
	if len(p.open) >= maxDepth {
		return p.fail(start, "this is no Hop file", "elements are nested deeper than %d", maxDepth)
	}
	if p.lastID >= maxElements {
		return p.fail(start, "this is no Hop file", "more than %d elements", maxElements)
	}
	end, err := p.tagEnd(start)
	if err != nil {
		return err
	}
	body := p.src[start+1+nameLen : end]
	closed := bytes.HasSuffix(body, []byte("/"))
	if closed {
		body = body[:len(body)-1]
	}
	if len(body) > 0 {
		if !isSpace(body[0]) {
			return p.fail(start+1+nameLen, "use letters, digits, '_', '-', '.' in names", "unexpected %q in the name of an element", firstRune(body))
		}
		if _, err := p.attributes(start+1+nameLen, body); err != nil {
			return err
		}
	}
	e := p.newElement(p.src[start+1:start+1+nameLen], start)
	p.pos = end + 1
	e.open = p.src[start:p.pos:p.pos]
	if closed {
		p.finish(e, start)
		return nil
	}
	p.open = append(p.open, opened{elem: e, start: start, first: len(p.scratch)})
	return nil
}

// tagEnd finds the '>' of the start tag; one inside quotes does not count.
func (p *parser) tagEnd(start int) (int, error) {
	var quote byte
	for i := start + 1; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			if c == '<' {
				return 0, p.fail(i, "write &lt; in a value and end each tag with '>'", "'<' inside a tag")
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i, nil
		case c == '<':
			return 0, p.fail(i, "end each tag with '>'", "'<' inside a tag")
		}
	}
	return 0, p.fail(start, "the file may be cut off; end the tag with '>'", "tag has no end")
}

func (p *parser) newElement(name []byte, start int) *Element {
	if len(p.slab) == 0 {
		p.slab = make([]Element, 128)
	}
	e := &p.slab[0]
	p.slab = p.slab[1:]
	interned, ok := p.names[string(name)]
	if !ok {
		interned = string(name)
		p.names[interned] = interned
	}
	p.lastID++
	p.line += bytes.Count(p.src[p.lineAt:start], []byte{'\n'})
	p.lineAt = start
	e.id, e.low, e.name, e.line = p.lastID, p.lastID, interned, p.line
	return e
}

func (p *parser) endTag() error {
	start := p.pos
	end := bytes.IndexByte(p.src[start:], '>')
	if end < 0 {
		return p.fail(start, "the file may be cut off; end the tag with '>'", "tag has no end")
	}
	name := bytes.TrimRight(p.src[start+2:start+end], " \t\r\n")
	if len(p.open) == 0 {
		return p.fail(start, "remove it", "</%s> closes nothing", name)
	}
	o := p.open[len(p.open)-1]
	if string(name) != o.elem.name {
		return p.fail(start, fmt.Sprintf("write </%s> first, or correct the names", o.elem.name),
			"</%s> found where <%s> of line %d is open", name, o.elem.name, o.elem.line)
	}
	p.pos = start + end + 1
	o.elem.close = p.src[start:p.pos:p.pos]
	o.elem.content = p.contents(o.first)
	p.open = p.open[:len(p.open)-1]
	p.finish(o.elem, o.start)
	return nil
}

// contents takes the pieces from first on off the scratch stack.
func (p *parser) contents(first int) []node {
	n := len(p.scratch) - first
	if n == 0 {
		return nil
	}
	if len(p.nodes) < n {
		p.nodes = make([]node, max(n, 256))
	}
	own := p.nodes[:n:n]
	p.nodes = p.nodes[n:]
	copy(own, p.scratch[first:])
	p.scratch = p.scratch[:first]
	return own
}

func (p *parser) finish(e *Element, start int) {
	e.raw = p.src[start:p.pos:p.pos]
	e.high = p.lastID
	if len(p.open) == 0 {
		p.root = e
		return
	}
	p.scratch = append(p.scratch, node{kind: elementNode, elem: e})
}

// attributes checks name="value" pairs; the values are raw.
func (p *parser) attributes(start int, body []byte) (map[string][]byte, error) {
	attrs := map[string][]byte{}
	i := 0
	skip := func() {
		for i < len(body) && isSpace(body[i]) {
			i++
		}
	}
	const hint = `write attributes as name="value"`
	for {
		from := i
		skip()
		if i == len(body) {
			return attrs, nil
		}
		if i == from {
			return nil, p.fail(start+i, "put a space between attributes", "attribute without a space before it")
		}
		at := i
		i += nameLength(body[i:])
		name := string(body[at:i])
		skip()
		if name == "" || i == len(body) || body[i] != '=' {
			return nil, p.fail(start+at, hint, "malformed attribute")
		}
		i++
		skip()
		if i == len(body) || body[i] != '"' && body[i] != '\'' {
			return nil, p.fail(start+at, hint, "attribute %s has no quoted value", name)
		}
		end := bytes.IndexByte(body[i+1:], body[i])
		if end < 0 {
			return nil, p.fail(start+at, hint, "attribute %s has no closing quote", name)
		}
		value := body[i+1 : i+1+end]
		if err := p.references(start+i+1, value); err != nil {
			return nil, err
		}
		if _, twice := attrs[name]; twice {
			return nil, p.fail(start+at, "keep one of them", "attribute %s stands twice", name)
		}
		attrs[name] = value
		i += end + 2
	}
}

func firstRune(b []byte) rune {
	r, _ := utf8.DecodeRune(b)
	return r
}

// nameLength is the number of bytes of the XML name at the start of b. Beyond
// ASCII every character counts as a letter.
func nameLength(b []byte) int {
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':', c >= utf8.RuneSelf:
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return i
		}
	}
	return len(b)
}
