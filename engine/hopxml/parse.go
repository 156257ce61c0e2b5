package hopxml

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Limits that no Hop file comes near; they keep a hostile file from taking the
// memory or the stack.
const (
	maxDepth    = 1000
	maxElements = 4_000_000
)

// Parse reads a document. It keeps data, which the caller must not change any
// more. name stands in errors, which are *SyntaxError with line and column.
//
// Accepted is XML 1.0 without a document type: any use of DOCTYPE or of
// entities beyond the five named ones is refused. One leniency: comments may
// stand before the XML declaration, as in some of Hop's own files. A file in
// another encoding than UTF-8 opens read-only.
func Parse(name string, data []byte) (*Document, error) {
	text, encoding, err := decode(name, data)
	if err != nil {
		return nil, err
	}
	p := &parser{name: name, src: text, line: 1, names: map[string]string{}}
	if err := p.checkCharacters(); err != nil {
		return nil, err
	}
	if err := p.document(); err != nil {
		return nil, err
	}
	d := &Document{
		name: name, original: data, encoding: encoding,
		before: p.before, after: p.after, root: p.root, source: p.root,
		eol: lineEnd(text), origin: new(origin),
	}
	d.origin.ids.Store(uint64(p.lastID))
	return d, nil
}

func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

type parser struct {
	name string
	src  []byte
	pos  int

	line    int // line of lineAt
	lineAt  int // offset up to which lines were counted
	lastID  ID
	names   map[string]string
	slab    []Element
	nodes   []node // slab for contents
	scratch []node // contents of the open elements, innermost last
	open    []opened

	before, after []node
	root          *Element
	declared      bool
}

// opened is an element whose end tag has not come yet.
type opened struct {
	elem  *Element
	start int // offset of its start tag
	first int // its first piece of content in scratch
}

func (p *parser) fail(at int, hint, format string, args ...any) error {
	line := 1 + bytes.Count(p.src[:at], []byte{'\n'})
	lineStart := bytes.LastIndexByte(p.src[:at], '\n') + 1
	head := bytes.TrimPrefix(p.src[lineStart:at], []byte(byteOrder))
	return &SyntaxError{
		File: p.name, Line: line, Column: 1 + utf8.RuneCount(head),
		Message: fmt.Sprintf(format, args...), Hint: hint,
	}
}

// checkCharacters refuses what XML 1.0 cannot hold, wherever it stands.
func (p *parser) checkCharacters() error {
	for i, c := range p.src {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' {
			return p.fail(i, "remove it with a text editor, or restore the file from a copy",
				"character U+%04X is not allowed in XML", c)
		}
	}
	for _, illegal := range []string{"\uFFFE", "\uFFFF"} {
		if i := bytes.Index(p.src, []byte(illegal)); i >= 0 {
			return p.fail(i, "remove it with a text editor", "character %U is not allowed in XML", []rune(illegal)[0])
		}
	}
	return nil
}

// document reads everything: prolog, root element, what follows it.
func (p *parser) document() error {
	if p.at(byteOrder) {
		p.pos = len(byteOrder)
		p.keep(textNode, 0)
	}
	for p.pos < len(p.src) {
		if err := p.piece(); err != nil {
			return err
		}
	}
	if n := len(p.open); n > 0 {
		o := p.open[n-1]
		return p.fail(len(p.src), "the file may be cut off; restore it from a copy or close the element",
			"end of file inside <%s> of line %d", o.elem.name, o.elem.line)
	}
	if p.root == nil {
		return p.fail(len(p.src), "this is no Hop file; a pipeline starts with <pipeline>, a workflow with <workflow>", "no element found")
	}
	return nil
}

func (p *parser) at(s string) bool {
	return len(p.src)-p.pos >= len(s) && string(p.src[p.pos:p.pos+len(s)]) == s
}

// keep stores the bytes from start to the present position.
func (p *parser) keep(kind nodeKind, start int) {
	n := node{kind: kind, raw: p.src[start:p.pos:p.pos]}
	switch {
	case len(p.open) > 0:
		p.scratch = append(p.scratch, n)
	case p.root == nil:
		p.before = append(p.before, n)
	default:
		p.after = append(p.after, n)
	}
}

// piece reads the next text or markup.
func (p *parser) piece() error {
	switch {
	case p.src[p.pos] != '<':
		return p.text()
	case p.at("</"):
		return p.endTag()
	case p.at(commentOpen):
		return p.comment()
	case p.at("<?"):
		return p.instruction()
	case p.at(cdataOpen):
		return p.cdata()
	case p.at("<!"):
		return p.fail(p.pos, "remove the DOCTYPE and its entities; Hop refuses them as well", "document types and entity declarations are not allowed")
	default:
		return p.startTag()
	}
}

func (p *parser) text() error {
	start := p.pos
	end := bytes.IndexByte(p.src[start:], '<')
	if end < 0 {
		end = len(p.src) - start
	}
	raw := p.src[start : start+end]
	if len(p.open) == 0 && !isBlank(raw) {
		stray := start + len(raw) - len(bytes.TrimLeft(raw, " \t\r\n"))
		where := "before the first element"
		if p.root != nil {
			where = "after the end of <" + p.root.name + ">"
		}
		return p.fail(stray, "remove it", "stray text %s", where)
	}
	if err := p.references(start, raw); err != nil {
		return err
	}
	if i := bytes.Index(raw, []byte(cdataClose)); i >= 0 {
		return p.fail(start+i, "write ]]&gt; instead", "]]> is not allowed in text")
	}
	p.pos = start + end
	p.keep(textNode, start)
	return nil
}

func (p *parser) references(start int, raw []byte) error {
	for i := 0; ; {
		amp := bytes.IndexByte(raw[i:], '&')
		if amp < 0 {
			return nil
		}
		i += amp
		_, size, problem := reference(raw[i:])
		if problem != "" {
			return p.fail(start+i, "write &amp; for an ampersand; &lt; &gt; &quot; &apos; and numbers such as &#10; are known", "%s", problem)
		}
		i += size
	}
}

func (p *parser) comment() error {
	start := p.pos
	body := p.src[start+len(commentOpen):]
	end := bytes.Index(body, []byte("--"))
	if end < 0 {
		return p.fail(start, "end it with -->", "comment has no end")
	}
	if !bytes.HasPrefix(body[end:], []byte(commentClose)) {
		return p.fail(start+len(commentOpen)+end, "write one hyphen, or end the comment with -->", "-- is not allowed in a comment")
	}
	p.pos = start + len(commentOpen) + end + len(commentClose)
	p.keep(commentNode, start)
	return nil
}

func (p *parser) cdata() error {
	start := p.pos
	if len(p.open) == 0 {
		return p.fail(start, "remove it", "CDATA section outside the document element")
	}
	end := bytes.Index(p.src[start:], []byte(cdataClose))
	if end < 0 {
		return p.fail(start, "end it with ]]>", "CDATA section has no end")
	}
	p.pos = start + end + len(cdataClose)
	p.keep(cdataNode, start)
	return nil
}

func (p *parser) instruction() error {
	start := p.pos
	body := p.src[start+len("<?"):]
	end := bytes.Index(body, []byte("?>"))
	if end < 0 {
		return p.fail(start, "end it with ?>", "processing instruction has no end")
	}
	body = body[:end]
	target := body[:nameLength(body)]
	if len(target) == 0 || len(target) < len(body) && !isSpace(body[len(target)]) {
		return p.fail(start, "remove it", "processing instruction has no valid name")
	}
	if bytes.EqualFold(target, []byte("xml")) {
		if err := p.declaration(start, body, target); err != nil {
			return err
		}
	}
	p.pos = start + len("<?") + end + len("?>")
	p.keep(instructionNode, start)
	return nil
}

// declaration checks <?xml …?>: once, and before the root element.
func (p *parser) declaration(start int, body, target []byte) error {
	if p.declared || p.root != nil || len(p.open) > 0 || string(target) != "xml" {
		return p.fail(start, "keep one, on the first line", "XML declaration in a wrong place")
	}
	p.declared = true
	attrs, err := p.attributes(start+2+len(target), body[len(target):])
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(attrs["version"], []byte("1.")) {
		return p.fail(start, `write <?xml version="1.0" encoding="UTF-8"?>`, "XML declaration without version 1.0")
	}
	return nil
}
