package jsonpath

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of documents, so that a hostile one cannot exhaust
// the stack.
const maxDepth = 1000

// SyntaxError says where a document is not JSON.
type SyntaxError struct {
	Offset int64 // in bytes, from 0
	Line   int   // from 1
	Column int   // in bytes, from 1
	What   string
}

// Error gives the place and what was wrong there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at line %d, column %d: %s", e.Line, e.Column, e.What)
}

// Parse reads a document. Beyond the standard it accepts what Hop accepts too:
// names without quotes and single quotes. The error is a *SyntaxError.
func Parse(doc []byte) (*Node, error) {
	var p parser
	return p.parse(doc)
}

// parse reads a document with the scratch space of the ones before.
func (p *parser) parse(doc []byte) (*Node, error) {
	p.src, p.pos = strings.TrimPrefix(string(doc), "\uFEFF"), 0
	p.items, p.names = p.items[:0], p.names[:0]
	var n Node
	if err := p.value(&n, 0); err != nil {
		return nil, err
	}
	p.blanks()
	if p.pos < len(p.src) {
		return nil, p.fail("there is more text after the end of the document")
	}
	return &n, nil
}

// parser keeps the members of open values on two stacks and copies them when a
// value ends, so each value is allocated once, in its size.
type parser struct {
	src   string
	pos   int
	items []Node
	names []string
}

func (p *parser) fail(format string, args ...any) error {
	before := p.src[:p.pos]
	line := strings.Count(before, "\n") + 1
	return &SyntaxError{
		Offset: int64(p.pos), Line: line, Column: p.pos - strings.LastIndexByte(before, '\n'),
		What: fmt.Sprintf(format, args...),
	}
}

func (p *parser) blanks() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(n *Node, depth int) error {
	p.blanks()
	if p.pos >= len(p.src) {
		return p.fail("a value is missing")
	}
	switch c := p.src[p.pos]; {
	case depth > maxDepth:
		return p.fail("values are nested more than %d deep", maxDepth)
	case c == '{':
		return p.object(n, depth)
	case c == '[':
		return p.array(n, depth)
	case c == '"' || c == '\'':
		n.Kind = String
		var err error
		n.Text, err = p.quoted()
		return err
	case c == '-' || (c >= '0' && c <= '9'):
		return p.number(n)
	}
	return p.word(n)
}

func (p *parser) word(n *Node) error {
	word, kind := "null", Null
	switch p.src[p.pos] {
	case 't':
		word, kind = "true", True
	case 'f':
		word, kind = "false", False
	}
	if strings.HasPrefix(p.src[p.pos:], word) && !p.isWordByte(p.pos+len(word)) {
		n.Kind = kind
		p.pos += len(word)
		return nil
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return p.fail("unexpected %q", r)
}

func (p *parser) isWordByte(i int) bool {
	if i >= len(p.src) {
		return false
	}
	c := p.src[i]
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= utf8.RuneSelf
}

func (p *parser) number(n *Node) error {
	start := p.pos
	digits := func() bool {
		from := p.pos
		for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			p.pos++
		}
		return p.pos > from
	}
	if p.src[p.pos] == '-' {
		p.pos++
	}
	ok := digits()
	if ok && p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		ok = digits()
	}
	if ok && p.pos < len(p.src) && p.src[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		ok = digits()
	}
	if !ok || p.isWordByte(p.pos) {
		return p.fail("%q is not a number", p.src[start:min(p.pos+1, len(p.src))])
	}
	n.Kind, n.Text = Number, p.src[start:p.pos]
	return nil
}

func (p *parser) array(n *Node, depth int) error {
	n.Kind = Array
	p.pos++
	p.blanks()
	if p.pos < len(p.src) && p.src[p.pos] == ']' {
		p.pos++
		return nil
	}
	mark := len(p.items)
	for {
		var item Node
		if err := p.value(&item, depth+1); err != nil {
			return err
		}
		p.items = append(p.items, item)
		done, err := p.separator(']')
		if err != nil {
			return err
		}
		if done {
			n.Items = slices.Clone(p.items[mark:])
			p.items = p.items[:mark]
			return nil
		}
	}
}

func (p *parser) object(n *Node, depth int) error {
	n.Kind = Object
	p.pos++
	p.blanks()
	if p.pos < len(p.src) && p.src[p.pos] == '}' {
		p.pos++
		return nil
	}
	mark, nameMark := len(p.items), len(p.names)
	for {
		p.blanks()
		name, err := p.name()
		if err != nil {
			return err
		}
		p.blanks()
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return p.fail("a colon is missing after the name %q", name)
		}
		p.pos++
		var item Node
		if err := p.value(&item, depth+1); err != nil {
			return err
		}
		p.items, p.names = append(p.items, item), append(p.names, name)
		done, err := p.separator('}')
		if err != nil {
			return err
		}
		if done {
			n.Items, n.Names = slices.Clone(p.items[mark:]), slices.Clone(p.names[nameMark:])
			p.items, p.names = p.items[:mark], p.names[:nameMark]
			n.dropRepeated()
			return nil
		}
	}
}

func (p *parser) separator(end byte) (done bool, err error) {
	p.blanks()
	if p.pos >= len(p.src) {
		return false, p.fail("the document ends before its closing %q", end)
	}
	switch p.src[p.pos] {
	case end:
		p.pos++
		return true, nil
	case ',':
		p.pos++
		return false, nil
	}
	return false, p.fail("%q or a comma is missing", end)
}

func (p *parser) name() (string, error) {
	if p.pos >= len(p.src) {
		return "", p.fail("the document ends within an object")
	}
	if c := p.src[p.pos]; c == '"' || c == '\'' {
		return p.quoted()
	}
	start := p.pos
	for p.isWordByte(p.pos) || (p.pos > start && p.pos < len(p.src) && (p.src[p.pos] == '-' || p.src[p.pos] == '.')) {
		p.pos++
	}
	if p.pos == start {
		return "", p.fail("a name is missing")
	}
	return p.src[start:p.pos], nil
}

// repeatScan is the number of members up to which names are compared with each
// other instead of hashed.
const repeatScan = 16

// dropRepeated keeps the last value of a repeated name at the place of the first,
// as Hop's reader does.
func (n *Node) dropRepeated() {
	if len(n.Names) <= repeatScan {
		for i := range n.Names {
			for k := range i {
				if n.Names[i] == n.Names[k] {
					n.rebuild()
					return
				}
			}
		}
		return
	}
	seen := make(map[string]bool, len(n.Names))
	for _, name := range n.Names {
		if seen[name] {
			n.rebuild()
			return
		}
		seen[name] = true
	}
}

func (n *Node) rebuild() {
	at := make(map[string]int, len(n.Names))
	o := 0
	for i, name := range n.Names {
		if k, ok := at[name]; ok {
			n.Items[k] = n.Items[i]
			continue
		}
		at[name] = o
		n.Names[o], n.Items[o] = name, n.Items[i]
		o++
	}
	n.Names, n.Items = n.Names[:o], n.Items[:o]
}

// quoted reads a string; the common one without escapes shares the document.
func (p *parser) quoted() (string, error) {
	quote := p.src[p.pos]
	p.pos++
	start := p.pos
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case quote:
			text := p.src[start:p.pos]
			p.pos++
			return text, nil
		case '\\':
			return p.escaped(start, quote)
		default:
			p.pos++
		}
	}
	p.pos = start - 1
	return "", p.fail("the string has no end")
}

func (p *parser) escaped(start int, quote byte) (string, error) {
	var b strings.Builder
	b.WriteString(p.src[start:p.pos])
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		p.pos++
		switch {
		case c == quote:
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
			continue
		}
		if p.pos >= len(p.src) {
			break
		}
		e := p.src[p.pos]
		p.pos++
		switch e {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, err := p.unicode()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		case '"', '\\', '/', '\'':
			b.WriteByte(e)
		default:
			p.pos -= 2
			return "", p.fail("the escape \\%c is not known", e)
		}
	}
	p.pos = start - 1
	return "", p.fail("the string has no end")
}

func (p *parser) unicode() (rune, error) {
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) || !strings.HasPrefix(p.src[p.pos:], `\u`) {
		return r, err
	}
	back := p.pos
	p.pos += 2
	low, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
		return both, nil
	}
	p.pos = back
	return r, nil
}

func (p *parser) hex4() (rune, error) {
	if p.pos+4 > len(p.src) {
		return 0, p.fail("an escape is cut off")
	}
	v, err := strconv.ParseUint(p.src[p.pos:p.pos+4], 16, 16)
	if err != nil {
		return 0, p.fail("%q are not four hexadecimal digits", p.src[p.pos:p.pos+4])
	}
	p.pos += 4
	return rune(v), nil
}
