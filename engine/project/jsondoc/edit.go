package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Quote returns the JSON spelling of a text. Unlike encoding/json it leaves
// <, > and & as they are, which is how Hop writes them.
func Quote(text string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(fmt.Sprintf("encode a string: %v", err)) // a string always encodes
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// Set returns a document in which the value at the path is the given JSON
// text. The path holds keys, and positions from 0 for lists. An absent last
// key is added at the end of its object, indented like the keys before it; the
// objects above it must exist. A value that already has exactly this spelling
// gives the same document.
func (d *Document) Set(value []byte, path ...string) (*Document, error) {
	if !json.Valid(value) {
		return nil, fmt.Errorf("set %v in %s: the new value is not valid JSON", path, d.name)
	}
	if len(path) == 0 {
		return d.splice(d.root.start, d.root.end, value)
	}
	parent, err := d.walk(path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	last := path[len(path)-1]
	if old := parent.child(last); old != nil {
		return d.splice(old.start, old.end, value)
	}
	if parent.kind != Object {
		return nil, fmt.Errorf("set %v in %s: %s has no element %q", path, d.name, parent.kind, last)
	}
	return d.insert(parent, last, value)
}

// Delete returns a document without the value at the path, or the same one
// when there is no such value. Of a key that occurs more than once only the
// one that counts goes.
func (d *Document) Delete(path ...string) (*Document, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("delete in %s: the outermost value cannot be deleted", d.name)
	}
	parent, err := d.walk(path[:len(path)-1])
	if err != nil {
		return d, nil //nolint:nilerr // what is not there needs no deleting
	}
	spans := parent.childSpans()
	at := parent.childIndex(path[len(path)-1])
	switch {
	case at < 0:
		return d, nil
	case at > 0:
		return d.splice(spans[at-1].end, spans[at].end, nil)
	case len(spans) > 1:
		return d.splice(spans[0].start, spans[1].start, nil)
	}
	return d.splice(parent.start+1, parent.end-1, nil)
}

func (d *Document) walk(path []string) (*Value, error) {
	v := d.root
	for i, step := range path {
		if v = v.child(step); v == nil {
			return nil, fmt.Errorf("edit %s: there is no %v", d.name, path[:i+1])
		}
	}
	return v, nil
}

type span struct{ start, end int }

// childSpans gives the bytes of each member (from its key) or item.
func (v *Value) childSpans() []span {
	var spans []span
	for _, m := range v.members {
		spans = append(spans, span{m.start, m.Value.end})
	}
	for _, item := range v.items {
		spans = append(spans, span{item.start, item.end})
	}
	return spans
}

func (v *Value) childIndex(step string) int {
	if v.kind == Array {
		if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < len(v.items) {
			return n
		}
		return -1
	}
	for i, v0 := range slices.Backward(v.members) {
		if v0.Key == step {
			return i
		}
	}
	return -1
}

func (v *Value) child(step string) *Value {
	at := v.childIndex(step)
	switch {
	case at < 0:
		return nil
	case v.kind == Array:
		return v.items[at]
	}
	return v.members[at].Value
}

func (d *Document) insert(parent *Value, key string, value []byte) (*Document, error) {
	var text bytes.Buffer
	if len(parent.members) == 0 {
		text.Write(Quote(key))
		text.WriteString(": ")
		text.Write(value)
		return d.splice(parent.start+1, parent.end-1, text.Bytes())
	}
	first, last := parent.members[0], parent.members[len(parent.members)-1]
	text.WriteByte(',')
	text.Write(d.data[parent.start+1 : first.start])
	text.Write(Quote(key))
	text.Write(d.keySeparator(first))
	text.Write(value)
	return d.splice(last.Value.end, last.Value.end, text.Bytes())
}

// keySeparator returns the colon of a member with the blanks around it.
func (d *Document) keySeparator(m Member) []byte {
	between := d.data[m.start:m.Value.start]
	return between[bytes.LastIndexByte(between, '"')+1:]
}

func (d *Document) splice(start, end int, text []byte) (*Document, error) {
	if bytes.Equal(d.data[start:end], text) {
		return d, nil
	}
	data := make([]byte, 0, len(d.data)+len(text))
	data = append(data, d.data[:start]...)
	data = append(data, text...)
	data = append(data, d.data[end:]...)
	return Parse(d.name, data)
}
