package json

import (
	"io"

	"sluice/engine/transforms/json/jsonpath"
)

// document is a JSON document that holds a list of items: {"block": items}, or
// the items alone when the block has no name. One item stands for itself unless
// lists are forced.
type document struct {
	block     string
	forceList bool
	pretty    bool
	out       io.Writer // where a long document may go piece by piece; nil: it is kept

	text  []byte
	count int
	begun bool // the head is in out
}

// add puts an item at the end.
func (d *document) add(item []byte) error {
	if d.count > 0 {
		d.text = append(d.text, ',')
	}
	d.text = append(d.text, item...)
	d.count++
	if d.out == nil || d.pretty || d.count < 2 || len(d.text) < flushBytes {
		return nil
	}
	if !d.begun {
		d.begun = true
		if _, err := d.out.Write(append(d.head(nil), '[')); err != nil {
			return err
		}
	}
	_, err := d.out.Write(d.text)
	d.text = d.text[:0]
	return err
}

func (d *document) head(dst []byte) []byte {
	if d.block == "" {
		return dst
	}
	return append(jsonpath.AppendQuoted(append(dst, '{'), d.block), ':')
}

// end gives what is not in out yet and empties the document.
func (d *document) end() ([]byte, error) {
	list := d.count != 1 || d.forceList
	var doc []byte
	if !d.begun {
		doc = d.head(make([]byte, 0, len(d.text)+len(d.block)+8))
		if list {
			doc = append(doc, '[')
		}
	}
	doc = append(doc, d.text...)
	if list {
		doc = append(doc, ']')
	}
	if d.block != "" {
		doc = append(doc, '}')
	}
	d.text, d.count, d.begun = d.text[:0], 0, false
	if !d.pretty {
		return doc, nil
	}
	n, err := jsonpath.Parse(doc)
	if err != nil {
		return nil, err
	}
	return n.AppendPretty(nil, 0), nil
}
