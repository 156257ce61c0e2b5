package rows

import (
	"errors"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// inputOf is the schema of the main input; without one, a schema of no fields.
func inputOf(l transform.Links) *batch.Schema {
	if s := l.Main(); s != nil {
		return s
	}
	return batch.NewSchema()
}

// fieldIndex finds a field, or says which ones there are.
func fieldIndex(s *batch.Schema, name string) (int, error) {
	if i := s.Index(name); i >= 0 {
		return i, nil
	}
	have := strings.Join(s.Names(), ", ")
	if have == "" {
		have = "no fields"
	}
	return -1, fmt.Errorf("field %q not found; the input has %s", name, have)
}

// textIndex is fieldIndex for a field that must be a String.
func textIndex(s *batch.Schema, name string) (int, error) {
	i, err := fieldIndex(s, name)
	if err != nil {
		return -1, err
	}
	if t := s.Fields[i].Type; t != batch.String {
		return -1, fmt.Errorf("field %q is %s, but only a String can be used here; convert it with Select values before", name, t)
	}
	return i, nil
}

// column reads one field of the input, converting unread text.
type column struct {
	index int
	field batch.Field
	codec *batch.Codec
	owner string // name of the transform, for errors
}

// newColumn compiles the reader of field i.
func newColumn(env *transform.Env, s *batch.Schema, i int) (column, error) {
	codec, err := env.Semantics.Codec(&s.Fields[i])
	return column{index: i, field: s.Fields[i], codec: codec, owner: env.Transform}, err
}

// namedColumn is newColumn for a field of a name.
func namedColumn(env *transform.Env, s *batch.Schema, name string) (column, error) {
	i, err := fieldIndex(s, name)
	if err != nil {
		return column{}, err
	}
	return newColumn(env, s, i)
}

// of gives the typed column of a batch; it belongs to the batch.
func (c *column) of(b *batch.Batch) (*batch.Column, error) {
	col, err := b.Col(c.index, c.codec)
	if err != nil {
		return nil, rowError(c.owner, c.field.Name, b, err)
	}
	return col, nil
}

// rowError places an error of a row of b; the row number counts the selected rows
// of the batch.
func rowError(owner, field string, b *batch.Batch, err error) error {
	out := &engine.Error{Transform: owner, Field: field, Err: err}
	if row, ok := errors.AsType[*batch.RowError](err); ok {
		out.Row = selectedNumber(b, row.Row)
	}
	return out
}

// selectedNumber counts the selected rows up to row i, from 1.
func selectedNumber(b *batch.Batch, row int) int64 {
	n := int64(0)
	for i := range b.All() {
		n++
		if i == row {
			break
		}
	}
	return n
}

// forRows calls row for every selected row in order and makes the others null, so
// that c gets as many rows as b has physically. row appends one value.
func forRows(b *batch.Batch, c *batch.Column, row func(i int) error) error {
	if b.Sel == nil {
		for i := range b.Physical() {
			if err := row(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range b.Sel {
		for c.Len() < int(s) {
			c.AppendNull()
		}
		if err := row(int(s)); err != nil {
			return err
		}
	}
	for c.Len() < b.Physical() {
		c.AppendNull()
	}
	return nil
}

// edit is a batch whose columns are being exchanged. It holds every column of its
// list once; batch or release ends it.
type edit struct {
	from *batch.Batch
	cols []*batch.Column
}

// editOf starts with the columns of b.
func editOf(b *batch.Batch, room int) *edit {
	e := &edit{from: b, cols: make([]*batch.Column, 0, len(b.Cols)+room)}
	for _, c := range b.Cols {
		e.cols = append(e.cols, c.Retain())
	}
	return e
}

// set exchanges column i for c, whose hold it takes over.
func (e *edit) set(i int, c *batch.Column) {
	e.cols[i].Release()
	e.cols[i] = c
}

// add appends c, whose hold it takes over.
func (e *edit) add(c *batch.Column) { e.cols = append(e.cols, c) }

// batch gives the rows of the original batch with the edited columns.
func (e *edit) batch(s *batch.Schema) *batch.Batch {
	return assemble(e.from, s, e.cols)
}

// release drops the columns after an error.
func (e *edit) release() { releaseAll(e.cols) }

func releaseAll(cols []*batch.Column) {
	for _, c := range cols {
		if c != nil {
			c.Release()
		}
	}
}

// assemble gives a batch of cols, whose holds it takes over, with the rows and the
// selection of b.
func assemble(b *batch.Batch, s *batch.Schema, cols []*batch.Column) *batch.Batch {
	out := b.Allocator().Assemble(s, cols, b.Physical())
	out.Sel = b.Sel
	return out
}

// NamedField is a row of a table that only names a field.
type NamedField struct {
	Name string `hop:"name" form:"field" required:"true"`
}

// insertFields gives s with fields put in at a position. As in Hop a name that is
// taken is changed to name_1, name_2 …
func insertFields(s *batch.Schema, at int, fields ...batch.Field) *batch.Schema {
	named := s.With(fields...).Fields[s.Len():]
	out := &batch.Schema{Fields: make([]batch.Field, 0, s.Len()+len(named))}
	out.Fields = append(out.Fields, s.Fields[:at]...)
	out.Fields = append(out.Fields, named...)
	out.Fields = append(out.Fields, s.Fields[at:]...)
	return out
}

// withoutFields gives s without the fields at the given positions.
func withoutFields(s *batch.Schema, drop map[int]bool) (*batch.Schema, []int) {
	out := &batch.Schema{}
	var kept []int
	for i := range s.Fields {
		if !drop[i] {
			out.Fields = append(out.Fields, s.Fields[i])
			kept = append(kept, i)
		}
	}
	return out, kept
}

// textField is a new String field of a length.
func textField(name string, length int, origin string) batch.Field {
	f := batch.NewField(name, batch.String)
	f.Length, f.Origin = length, origin
	return f
}

// integerField is a new Integer field of Hop's default length.
func integerField(name string, origin string) batch.Field {
	f := batch.NewField(name, batch.Integer)
	f.Length, f.Precision, f.Origin = 10, 0, origin
	return f
}
