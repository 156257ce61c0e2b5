// Package jsonpath reads JSON documents and evaluates JSONPath expressions on
// them as Hop does (Jayway's dialect with the options ALWAYS_RETURN_LIST and
// SUPPRESS_EXCEPTIONS).
//
// A Node is one value of a document. It keeps the order of members and the text
// of numbers, so nothing is lost to floats or hash order. A Path is a compiled
// expression. A Stream cuts the elements of one array out of a document that is
// too large for memory.
package jsonpath

import (
	"strconv"
	"unicode/utf8"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// Node is one JSON value. Nodes of a parsed document are immutable.
type Node struct {
	Kind  Kind
	Text  string   // of a Number as it was written, of a String without quotes and escapes
	Names []string // of an Object's members, in order
	Items []Node   // of an Array's elements or an Object's members
}

// Member gives the member of an object by its exact name, nil when there is none.
func (n *Node) Member(name string) *Node {
	if n.Kind != Object {
		return nil
	}
	for i := range n.Names {
		if n.Names[i] == name {
			return &n.Items[i]
		}
	}
	return nil
}

// Put sets the member of an object that is being built; a name that is there
// keeps its place.
func (n *Node) Put(name string, v Node) {
	for i := range n.Names {
		if n.Names[i] == name {
			n.Items[i] = v
			return
		}
	}
	n.Names = append(n.Names, name)
	n.Items = append(n.Items, v)
}

// Plain gives a scalar as Hop's text of it: strings as they are, numbers as
// NumberText, words, and objects and arrays as JSON. A null is "null".
func (n *Node) Plain() string {
	switch n.Kind {
	case String:
		return n.Text
	case Number:
		return n.NumberText()
	}
	return string(n.AppendJSON(nil))
}

// NumberText gives a number as Java prints the value it stands for (1.50 is 1.5,
// 1e3 is 1000.0) when a double holds it exactly, else as it was written.
func (n *Node) NumberText() string {
	whole := true
	for i := range len(n.Text) {
		if c := n.Text[i]; c == '.' || c == 'e' || c == 'E' {
			whole = false
			break
		}
	}
	if whole {
		return n.Text
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return n.Text
	}
	text := string(mask.AppendJavaDouble(nil, f))
	exact, err := decimal.Parse(n.Text)
	if err != nil {
		return n.Text
	}
	if back, ok := batch.DecimalOf(f); ok && back.Cmp(exact) == 0 {
		return text
	}
	return n.Text
}

// AppendJSON appends the value as JSON without blanks.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case False:
		return append(dst, "false"...)
	case True:
		return append(dst, "true"...)
	case Number:
		return append(dst, n.NumberText()...)
	case String:
		return AppendQuoted(dst, n.Text)
	case Array:
		dst = append(dst, '[')
		for i := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.Items[i].AppendJSON(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range n.Items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendQuoted(dst, n.Names[i]), ':')
		dst = n.Items[i].AppendJSON(dst)
	}
	return append(dst, '}')
}

const hexDigits = "0123456789ABCDEF"

// AppendQuoted appends a text as a JSON string: quotes, backslashes and control
// characters are escaped, everything else stays; bytes that are not UTF-8 become
// U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	}
	if c >= utf8.RuneSelf {
		return append(dst, "\uFFFD"...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
