package hopxml

import (
	"bytes"
	"errors"
)

// Errors of documents and edits; test with errors.Is.
var (
	// ErrReadOnly: the file is not UTF-8. It can be read and run; to edit it,
	// save it as UTF-8 first.
	ErrReadOnly = errors.New("document is read-only")
	// ErrNotFound: the element to edit is not in this document.
	ErrNotFound = errors.New("element not found")
	// ErrInvalid: the edit asked for would make a document that Hop cannot
	// read or save. Nothing was changed.
	ErrInvalid = errors.New("not allowed in a Hop file")
)

// Document is one .hpl or .hwf file: an immutable tree over the bytes that
// were read. Edits return a new document that shares what they did not touch,
// so earlier documents stay valid. Safe for use by many goroutines.
type Document struct {
	name     string
	original []byte // as read, whatever its encoding
	source   *Element
	before   []node // what stands before the root element, byte order mark included
	after    []node
	root     *Element
	eol      string
	encoding string // "" for UTF-8, else the encoding that makes it read-only
	origin   *origin
}

// Name is the name given to Parse, or the path given to Open.
func (d *Document) Name() string { return d.name }

// Named is the document under another name, as after saving it elsewhere: the
// effective name of a pipeline may come from it.
func (d *Document) Named(name string) *Document {
	next := *d
	next.name = name
	return &next
}

// Root is the document element, never nil.
func (d *Document) Root() *Element { return d.root }

// ReadOnly tells whether edits and Save are refused because the file is in
// another encoding than UTF-8; Encoding names it.
func (d *Document) ReadOnly() bool { return d.encoding != "" }

// Encoding is the encoding of the file that was read.
func (d *Document) Encoding() string {
	if d.encoding == "" {
		return "UTF-8"
	}
	return d.encoding
}

// LineEnd is the line end of the file, "\n" or "\r\n": the one of its first
// line.
func (d *Document) LineEnd() string { return d.eol }

// Bytes is the document as a file: exactly the bytes read when nothing was
// edited. The caller owns the slice.
func (d *Document) Bytes() []byte {
	if d.root == d.source {
		return bytes.Clone(d.original)
	}
	var b bytes.Buffer
	b.Grow(len(d.original) + len(d.original)/8)
	for i := range d.before {
		b.Write(d.before[i].raw)
	}
	d.root.write(&b)
	for i := range d.after {
		b.Write(d.after[i].raw)
	}
	return b.Bytes()
}

// Edited tells whether the document differs from what was read.
func (d *Document) Edited() bool {
	return d.root != d.source && !bytes.Equal(d.Bytes(), d.original)
}

// Element finds an element by identity; nil when this document does not hold
// it.
func (d *Document) Element(id ID) *Element {
	path, err := d.path(id)
	if err != nil {
		return nil
	}
	return path[len(path)-1].elem
}
