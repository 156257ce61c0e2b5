package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxNesting bounds the recursion; real files nest less than ten deep.
const maxNesting = 1000

type parser struct {
	name string
	data []byte
	pos  int
}

func (p *parser) failf(format string, args ...any) error {
	line, column := position(p.data, p.pos)
	return &SyntaxError{Name: p.name, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

func position(data []byte, pos int) (line, column int) {
	before := data[len(byteOrderMark(data)):max(pos, len(byteOrderMark(data)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

func (p *parser) found() string {
	if p.pos >= len(p.data) {
		return "end of file"
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) skipBlanks() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) (*Value, error) {
	p.skipBlanks()
	if depth > maxNesting {
		return nil, p.failf("nested more than %d deep", maxNesting)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.text()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *parser) object(depth int) (*Value, error) {
	v := &Value{kind: Object, start: p.pos}
	p.pos++
	p.skipBlanks()
	for p.peek() != '}' {
		if len(v.members) > 0 {
			if p.peek() != ',' {
				return nil, p.failf("expected , or } but found %s", p.found())
			}
			p.pos++
			p.skipBlanks()
		}
		member, err := p.member(depth)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member)
		p.skipBlanks()
	}
	p.pos++
	v.end = p.pos
	return v, nil
}

func (p *parser) member(depth int) (Member, error) {
	if p.peek() != '"' {
		return Member{}, p.failf("expected a key in quotes but found %s", p.found())
	}
	start := p.pos
	key, err := p.text()
	if err != nil {
		return Member{}, err
	}
	p.skipBlanks()
	if p.peek() != ':' {
		return Member{}, p.failf("expected : after the key %q but found %s", key.text, p.found())
	}
	p.pos++
	value, err := p.value(depth + 1)
	return Member{Key: key.text, Value: value, start: start}, err
}

func (p *parser) array(depth int) (*Value, error) {
	v := &Value{kind: Array, start: p.pos}
	p.pos++
	p.skipBlanks()
	for p.peek() != ']' {
		if len(v.items) > 0 {
			if p.peek() != ',' {
				return nil, p.failf("expected , or ] but found %s", p.found())
			}
			p.pos++
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		p.skipBlanks()
	}
	p.pos++
	v.end = p.pos
	return v, nil
}

func (p *parser) text() (*Value, error) {
	start := p.pos
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			return p.textValue(start)
		case c == '\\':
			p.pos++
		case c < ' ':
			return nil, p.failf("a line break or control character inside a string; write it as an escape such as \\n")
		}
	}
	p.pos = len(p.data)
	return nil, p.failf("the string that starts at byte %d is not closed", start)
}

func (p *parser) textValue(start int) (*Value, error) {
	v := &Value{kind: String, start: start, end: p.pos}
	if err := json.Unmarshal(p.data[start:p.pos], &v.text); err != nil {
		p.pos = start
		return nil, p.failf("the string has an escape that JSON does not know")
	}
	return v, nil
}

func (p *parser) number() (*Value, error) {
	start := p.pos
	for p.pos < len(p.data) && bytes.IndexByte([]byte("+-.0123456789eE"), p.data[p.pos]) >= 0 {
		p.pos++
	}
	raw := p.data[start:p.pos]
	if !json.Valid(raw) {
		p.pos = start
		return nil, p.failf("%q is not a number", raw)
	}
	return &Value{kind: Number, start: start, end: p.pos, text: string(raw)}, nil
}

func (p *parser) word() (*Value, error) {
	for _, w := range []struct {
		text string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if !bytes.HasPrefix(p.data[p.pos:], []byte(w.text)) {
			continue
		}
		v := &Value{kind: w.kind, start: p.pos, end: p.pos + len(w.text)}
		if w.kind == Bool {
			v.text = w.text
		}
		p.pos = v.end
		return v, nil
	}
	return nil, p.failf("expected a value but found %s", p.found())
}
