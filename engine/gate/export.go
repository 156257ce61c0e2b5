package gate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/storage/snapshot"
)

// Part finds a part by port and copy: "main", "error:1". An empty text is the
// only part, or the only one with rows.
func (s *Source) Part(text string) (int, error) {
	m := s.Manifest()
	if text == "" {
		only, with := -1, 0
		for i, p := range m.Parts {
			if p.Rows > 0 || len(m.Parts) == 1 {
				only, with = i, with+1
			}
		}
		switch {
		case with == 1:
			return only, nil
		case with == 0 && len(m.Parts) > 0:
			return 0, nil
		}
		return 0, fmt.Errorf("the snapshot has several parts: name one of %s", strings.Join(s.PartNames(), ", "))
	}
	for i, name := range s.PartNames() {
		if strings.EqualFold(name, text) || strings.EqualFold(name, text+":0") {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the snapshot has no part %q; it has %s", text, strings.Join(s.PartNames(), ", "))
}

// PartNames gives "port:copy" of every part.
func (s *Source) PartNames() []string {
	var names []string
	for _, p := range s.parts {
		names = append(names, fmt.Sprintf("%s:%d", p.Port, p.Copy))
	}
	return names
}

// ExportCSV writes a part as CSV (RFC 4180, UTF-8, LF): a null is empty, an empty
// text is quoted. It gives the number of rows.
func (s *Source) ExportCSV(ctx context.Context, part int, w io.Writer) (int64, error) {
	schema := s.parts[part].Schema
	codecs, err := batch.DefaultSemantics(nil).Codecs(schema)
	if err != nil {
		return 0, err
	}
	var line []byte
	for k, name := range schema.Names() {
		if k > 0 {
			line = append(line, ',')
		}
		line = appendCSV(line, []byte(name))
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return 0, err
	}
	var rows int64
	var value []byte
	for b, err := range s.Read(ctx, part) {
		if err != nil {
			return rows, err
		}
		line = line[:0]
		for i := range b.All() {
			for k, c := range b.Cols {
				if k > 0 {
					line = append(line, ',')
				}
				if !c.IsNull(i) {
					value = codecs[k].AppendText(value[:0], c, i)
					line = appendCSV(line, value)
				}
			}
			line = append(line, '\n')
		}
		rows += int64(b.Rows())
		b.Release()
		if _, err := w.Write(line); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func appendCSV(dst, value []byte) []byte {
	if len(value) > 0 && !bytes.ContainsAny(value, "\",\r\n") {
		return append(dst, value...)
	}
	dst = append(dst, '"')
	dst = append(dst, bytes.ReplaceAll(value, []byte{'"'}, []byte(`""`))...)
	return append(dst, '"')
}

// Segments gives the Parquet files of a part as they are stored, each verified.
func (s *Source) Segments(ctx context.Context, part int) iter.Seq2[snapshot.Loaded, error] {
	return s.snapshot.Segments(ctx, part, snapshot.Reading{})
}

// RowDiff is one row in which two snapshots differ. A text is nil where the
// snapshot has no such row.
type RowDiff struct {
	Part   string   `json:"part"`
	Row    int64    `json:"row"` // from 1
	Fields []string `json:"fields,omitempty"`
	Then   []string `json:"then,omitempty"`
	Now    []string `json:"now,omitempty"`
}

// Comparison is how two snapshots differ.
type Comparison struct {
	Equal   bool      `json:"equal"` // the same schemas and rows
	Schemas []string  `json:"schemas,omitempty"`
	Counts  []string  `json:"counts,omitempty"`
	Rows    []RowDiff `json:"rows,omitempty"` // the first ones
}

// Compare reads two snapshots side by side and tells at most so many rows that
// differ, by position.
func Compare(ctx context.Context, a, b *Source, most int) (*Comparison, error) {
	c := &Comparison{Equal: a.Manifest().ContentDigest == b.Manifest().ContentDigest}
	if c.Equal {
		return c, nil
	}
	names := map[string]bool{}
	for i, name := range a.PartNames() {
		names[name] = true
		j, err := b.Part(name)
		if err != nil {
			c.Schemas = append(c.Schemas, fmt.Sprintf("part %s is only in the first", name))
			continue
		}
		if err := c.part(ctx, a, b, i, j, name, most); err != nil {
			return nil, err
		}
	}
	for _, name := range b.PartNames() {
		if !names[name] {
			c.Schemas = append(c.Schemas, fmt.Sprintf("part %s is only in the second", name))
		}
	}
	return c, nil
}

func (c *Comparison) part(ctx context.Context, a, b *Source, i, j int, name string, most int) error {
	x, y := a.parts[i].Schema, b.parts[j].Schema
	changed := diffSchemas(x, y)
	for _, d := range changed {
		c.Schemas = append(c.Schemas, "part "+name+": "+d)
	}
	m, n := a.Manifest().Parts[i].Rows, b.Manifest().Parts[j].Rows
	if m != n {
		c.Counts = append(c.Counts, fmt.Sprintf("part %s: %d rows, then %d", name, m, n))
	}
	if x.Len() != y.Len() || most <= len(c.Rows) {
		return nil
	}
	return c.rows(ctx, a, b, i, j, name, most)
}

func diffSchemas(x, y *batch.Schema) []string {
	var list []string
	for k := range max(x.Len(), y.Len()) {
		switch {
		case k >= x.Len():
			list = append(list, fmt.Sprintf("field %q is new", y.Fields[k].Name))
		case k >= y.Len():
			list = append(list, fmt.Sprintf("field %q is gone", x.Fields[k].Name))
		case x.Fields[k].Name != y.Fields[k].Name || x.Fields[k].Type != y.Fields[k].Type:
			list = append(list, fmt.Sprintf("field %d was %s %s and is %s %s", k+1, x.Fields[k].Name, x.Fields[k].Type, y.Fields[k].Name, y.Fields[k].Type))
		case x.Fields[k] != y.Fields[k]:
			list = append(list, fmt.Sprintf("field %q has another length, precision, mask or origin", x.Fields[k].Name))
		}
	}
	return list
}

// rowCursor gives the rows of a part one by one.
type rowCursor struct {
	next func() (*batch.Batch, error, bool)
	stop func()
	b    *batch.Batch
	at   int
}

func newCursor(seq iter.Seq2[*batch.Batch, error]) *rowCursor {
	c := &rowCursor{}
	c.next, c.stop = iter.Pull2(seq)
	return c
}

func (c *rowCursor) row() (ok bool, err error) {
	c.at++
	for c.b == nil || c.at >= c.b.Rows() {
		if c.b != nil {
			c.b.Release()
			c.b = nil
		}
		b, err, ok := c.next()
		if !ok || err != nil {
			return false, err
		}
		c.b, c.at = b, 0
	}
	return true, nil
}

func (c *rowCursor) close() {
	if c.b != nil {
		c.b.Release()
	}
	c.stop()
}

func (c *Comparison) rows(ctx context.Context, a, b *Source, i, j int, name string, most int) error {
	p, q := newCursor(a.Read(ctx, i)), newCursor(b.Read(ctx, j))
	defer p.close()
	defer q.close()
	codecs, err := batch.DefaultSemantics(nil).Codecs(a.parts[i].Schema)
	if err != nil {
		return err
	}
	others, err := batch.DefaultSemantics(nil).Codecs(b.parts[j].Schema)
	if err != nil {
		return err
	}
	for row := int64(1); len(c.Rows) < most; row++ {
		m, err := p.row()
		if err != nil {
			return err
		}
		n, err := q.row()
		if err != nil {
			return err
		}
		if !m && !n {
			return nil
		}
		d := RowDiff{Part: name, Row: row}
		if m && n {
			d.Fields = differing(p, q)
			if len(d.Fields) == 0 {
				continue
			}
		}
		if m {
			d.Then = p.texts(codecs)
		}
		if n {
			d.Now = q.texts(others)
		}
		c.Rows = append(c.Rows, d)
	}
	return nil
}

func differing(p, q *rowCursor) []string {
	var fields []string
	for k := range p.b.Cols {
		x := appendValue(nil, p.b.Cols[k], p.b.Row(p.at))
		y := appendValue(nil, q.b.Cols[k], q.b.Row(q.at))
		if !bytes.Equal(x, y) {
			fields = append(fields, p.b.Schema.Fields[k].Name)
		}
	}
	return fields
}

func (c *rowCursor) texts(codecs []*batch.Codec) []string {
	list := make([]string, len(c.b.Cols))
	for k, col := range c.b.Cols {
		if i := c.b.Row(c.at); col.IsNull(i) {
			list[k] = "<null>"
		} else {
			list[k] = string(codecs[k].AppendText(nil, col, i))
		}
	}
	return list
}

// Total gives the rows of all ports but the error port.
func (s *Source) Total() int64 {
	var n int64
	for i, p := range s.parts {
		if p.Port != transform.Error {
			n += s.Manifest().Parts[i].Rows
		}
	}
	return n
}
