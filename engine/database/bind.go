package database

import (
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Binder turns fields of rows into the arguments of a statement. It is immutable
// and safe for many goroutines.
type Binder struct {
	dialect Dialect
	sem     *batch.Semantics
	schema  *batch.Schema
	fields  []int
}

// NewBinder makes a binder for the fields at these positions of a schema, in the
// order of the placeholders. The error says that the dialect is not one of this
// package.
func NewBinder(d transform.Dialect, sem *batch.Semantics, schema *batch.Schema, fields []int) (*Binder, error) {
	own, ok := d.(Dialect)
	if !ok {
		return nil, fmt.Errorf("the dialect %s cannot bind values", d.Name())
	}
	return &Binder{dialect: own, sem: sem, schema: schema, fields: fields}, nil
}

// Append adds the arguments of row i of a batch of typed columns. What Hop calls
// null, an empty string included, becomes NULL. The error names the field.
func (b *Binder) Append(args []any, rows *batch.Batch, i int) ([]any, error) {
	for _, k := range b.fields {
		col := rows.Cols[k]
		if b.sem.IsNull(col, i) {
			args = append(args, nil)
			continue
		}
		v, err := b.dialect.Bind(&b.schema.Fields[k], col, i)
		if err != nil {
			return args, fmt.Errorf("field %q: %w", b.schema.Fields[k].Name, err)
		}
		args = append(args, v)
	}
	return args, nil
}
