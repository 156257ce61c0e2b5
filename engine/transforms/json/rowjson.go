package json

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/batch/mask"
	"sluice/engine/transform"
	"sluice/engine/transforms/json/jsonpath"
)

// column is one member of the objects that an output writes.
type column struct {
	index         int // of the input field
	name          string
	codec         *batch.Codec
	fragment      bool // the text is JSON and becomes part of the document
	open          bool // a fragment's members are put into the object itself
	skipNull      bool
	key           bool
	appendedLabel []byte // "name":
}

func newColumn(sem *batch.Semantics, in *batch.Schema, field, name string) (column, error) {
	c := column{index: in.Index(field), name: name}
	if c.index < 0 {
		return c, fmt.Errorf("field %q not found; the input has %s", field, strings.Join(in.Names(), ", "))
	}
	if c.name == "" {
		c.name = field
	}
	c.appendedLabel = append(jsonpath.AppendQuoted(nil, c.name), ':')
	var err error
	c.codec, err = sem.Codec(&in.Fields[c.index])
	return c, err
}

// appendScalar appends row i of a column as a JSON value: numbers and flags as
// such, everything else as the text its mask gives.
func (c *column) appendScalar(dst []byte, col *batch.Column, i int) []byte {
	if col.IsNull(i) {
		return append(dst, "null"...)
	}
	switch col.Type {
	case batch.Boolean:
		return strconv.AppendBool(dst, col.Bool(i))
	case batch.Integer:
		return strconv.AppendInt(dst, col.Int(i), 10)
	case batch.Number:
		if f := col.Float(i); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(dst, "null"...)
		}
		return mask.AppendJavaDouble(dst, col.Float(i))
	case batch.BigNumber:
		return append(dst, col.Decimal(i).String()...)
	}
	return jsonpath.AppendQuoted(dst, string(c.codec.AppendText(nil, col, i)))
}

// node gives row i of a column as a value of a document.
func (c *column) node(col *batch.Column, i int) (jsonpath.Node, error) {
	if col.IsNull(i) {
		return jsonpath.Node{}, nil
	}
	if c.fragment && !plain(col.Type) {
		n, err := jsonpath.Parse(c.codec.AppendText(nil, col, i))
		if err != nil {
			return jsonpath.Node{}, fmt.Errorf("field %q is marked as a JSON fragment: %w", c.codec.Field().Name, err)
		}
		if c.open && n.Kind != jsonpath.Object {
			return jsonpath.Node{}, fmt.Errorf("field %q is a JSON fragment without its own element and must hold an object", c.codec.Field().Name)
		}
		return *n, nil
	}
	text := c.appendScalar(nil, col, i)
	switch col.Type {
	case batch.Boolean:
		if col.Bool(i) {
			return jsonpath.Node{Kind: jsonpath.True}, nil
		}
		return jsonpath.Node{Kind: jsonpath.False}, nil
	case batch.Integer, batch.Number, batch.BigNumber:
		if text[0] == 'n' {
			return jsonpath.Node{}, nil
		}
		return jsonpath.Node{Kind: jsonpath.Number, Text: string(text)}, nil
	}
	return jsonpath.Node{Kind: jsonpath.String, Text: string(c.codec.AppendText(nil, col, i))}, nil
}

// plain says that values of a type are written as they are, fragment or not.
func plain(t batch.Type) bool { return t == batch.Boolean || t.IsNumeric() }

// objects are the JSON objects of the rows of one batch, one after another.
type objects struct {
	text []byte
	ends []int
}

func (o *objects) at(k int) []byte {
	start := 0
	if k > 0 {
		start = o.ends[k-1]
	}
	return o.text[start:o.ends[k]]
}

// encode writes an object for each selected row.
func encode(env *transform.Env, columns []column, b *batch.Batch) (*objects, error) {
	simple := true
	seen := map[string]bool{}
	for i := range columns {
		simple = simple && !columns[i].fragment && !seen[columns[i].name]
		seen[columns[i].name] = true
	}
	out := &objects{ends: make([]int, 0, b.Rows())}
	for i := range b.All() {
		if simple {
			out.text = appendObject(out.text, columns, b, i)
		} else {
			n, err := object(columns, b, i)
			if err != nil {
				return nil, env.Rejects(b).Add(i, transform.RowError{Err: err})
			}
			out.text = n.AppendJSON(out.text)
		}
		out.ends = append(out.ends, len(out.text))
	}
	return out, nil
}

func appendObject(dst []byte, columns []column, b *batch.Batch, i int) []byte {
	dst = append(dst, '{')
	first := true
	for k := range columns {
		c := &columns[k]
		col := b.Cols[c.index]
		if c.skipNull && col.IsNull(i) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = c.appendScalar(append(dst, c.appendedLabel...), col, i)
	}
	return append(dst, '}')
}

func object(columns []column, b *batch.Batch, i int) (*jsonpath.Node, error) {
	n := &jsonpath.Node{Kind: jsonpath.Object}
	for k := range columns {
		c := &columns[k]
		col := b.Cols[c.index]
		isNull := col.IsNull(i)
		if isNull && (c.skipNull || (c.fragment && !plain(col.Type))) {
			continue
		}
		v, err := c.node(col, i)
		if err != nil {
			return nil, err
		}
		if c.fragment && c.open && v.Kind == jsonpath.Object {
			for m := range v.Items {
				n.Put(v.Names[m], v.Items[m])
			}
			continue
		}
		n.Put(c.name, v)
	}
	return n, nil
}
