// Package jsondoc reads JSON files without losing anything: a [Document] keeps
// the bytes it was made from, and an edit is a new document that differs only
// in the bytes of that edit. Key order, blanks, number spellings and unknown
// keys stay.
//
// A [Value] is one node of a document. What the values mean is left to others.
package jsondoc

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Document is one JSON text and its tree. It is immutable.
type Document struct {
	name string
	data []byte
	root *Value
}

// Kind is the sort of a value.
type Kind int

// The kinds; Absent is that of a nil value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"nothing", "null", "a boolean", "a number", "a string", "a list", "an object"}

// String names the kind for a message.
func (k Kind) String() string { return kindNames[k] }

// Value is one node. All methods work on a nil value, which is what looking up
// an absent key gives, so lookups chain without checks.
type Value struct {
	kind       Kind
	start, end int // bytes of the value in its document
	text       string
	members    []Member
	items      []*Value
}

// Member is one key of an object and its value.
type Member struct {
	Key   string
	Value *Value

	start int // first byte of the key's quote
}

// SyntaxError tells where a text stops being JSON.
type SyntaxError struct {
	Name         string // as given to Parse
	Line, Column int    // from 1; columns count characters
	Message      string
}

// Error says file, line and column.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: not valid JSON: %s", e.Name, e.Line, e.Column, e.Message)
}

// Parse reads one JSON text; name appears in errors, which are *SyntaxError.
// A byte order mark is kept and skipped. The data belongs to the document from
// now on.
func Parse(name string, data []byte) (*Document, error) {
	p := parser{name: name, data: data, pos: len(byteOrderMark(data))}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.skipBlanks()
	if p.pos < len(data) {
		return nil, p.failf("unexpected %s after the end of the value", p.found())
	}
	return &Document{name: name, data: data, root: root}, nil
}

func byteOrderMark(data []byte) []byte {
	mark := []byte("\xef\xbb\xbf")
	if bytes.HasPrefix(data, mark) {
		return mark
	}
	return nil
}

// Name returns the name given to Parse.
func (d *Document) Name() string { return d.name }

// Bytes returns the text. The caller must not change it.
func (d *Document) Bytes() []byte { return d.data }

// Root returns the outermost value.
func (d *Document) Root() *Value { return d.root }

// Position returns the line and column of a value, both from 1.
func (d *Document) Position(v *Value) (line, column int) {
	if v == nil {
		return 0, 0
	}
	return position(d.data, v.start)
}

// Raw returns the bytes of a value as written. The caller must not change
// them.
func (d *Document) Raw(v *Value) []byte {
	if v == nil {
		return nil
	}
	return d.data[v.start:v.end]
}

// Kind returns the sort of the value.
func (v *Value) Kind() Kind {
	if v == nil {
		return Absent
	}
	return v.kind
}

// Get returns the value of a key, nil when absent. When a key occurs more than
// once the last one counts, as for the parser that Hop uses.
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	for _, v0 := range slices.Backward(v.members) {
		if v0.Key == key {
			return v0.Value
		}
	}
	return nil
}

// Members returns the keys and values of an object in file order. The slice
// belongs to the document.
func (v *Value) Members() []Member {
	if v == nil {
		return nil
	}
	return v.members
}

// Items returns the elements of a list. The slice belongs to the document.
func (v *Value) Items() []*Value {
	if v == nil {
		return nil
	}
	return v.items
}

// Text returns a string's text, and a number or a boolean as it is written;
// empty for everything else. Hop writes many numbers as strings and some
// booleans too, so readers ask for the text and interpret it.
func (v *Value) Text() string {
	if v == nil {
		return ""
	}
	return v.text
}

// Bool reads a boolean, also one that is written as text (Y, Yes, true, 1 and
// their counterparts, in any case); otherwise it returns the given default.
func (v *Value) Bool(absent bool) bool {
	switch strings.ToLower(v.Text()) {
	case "true", "y", "yes", "1":
		return true
	case "false", "n", "no", "0":
		return false
	}
	return absent
}

// Int reads a whole number, also one that is written as text; otherwise it
// returns the given default.
func (v *Value) Int(absent int) int {
	n, err := strconv.Atoi(strings.TrimSpace(v.Text()))
	if err != nil {
		return absent
	}
	return n
}

// Strings returns the texts of a list.
func (v *Value) Strings() []string {
	items := v.Items()
	if len(items) == 0 {
		return nil
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.Text()
	}
	return texts
}
