package database

import (
	"database/sql"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Reader appends the rows of a result to batches. Each driver value goes straight
// into its column. It is owned by one goroutine.
type Reader struct {
	rows  *sql.Rows
	cells []cell
	dest  []any
}

// cell is the scan target of one result column.
type cell struct {
	dialect Dialect
	field   *batch.Field
	col     *batch.Column
}

// Scan implements sql.Scanner.
func (c *cell) Scan(src any) error {
	if src == nil {
		c.col.AppendNull()
		return nil
	}
	return c.dialect.Append(c.col, c.field, src)
}

// discard is the scan target of a column that nobody wants.
type discard struct{}

// Scan implements sql.Scanner.
func (discard) Scan(any) error { return nil }

// NewReader makes a reader of rows, which it borrows, for columns of a schema, in
// the order of the result. The error says that the result has another number of
// columns.
func NewReader(rows *sql.Rows, d transform.Dialect, schema *batch.Schema) (*Reader, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if len(names) != schema.Len() {
		return nil, fmt.Errorf("the query gives %d columns, but %d were expected; were tables changed while the pipeline ran?", len(names), schema.Len())
	}
	targets := make([]int, len(names))
	for i := range targets {
		targets[i] = i
	}
	return newReader(rows, d, schema, targets)
}

// NewReaderByName makes a reader for the columns of the result that have the names
// of the schema's fields, without regard to case. Other columns are passed over;
// a field without a column is an error.
func NewReaderByName(rows *sql.Rows, d transform.Dialect, schema *batch.Schema) (*Reader, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	targets, found := make([]int, len(names)), make([]bool, schema.Len())
	for i, name := range names {
		k := schema.Index(name)
		if k >= 0 && found[k] {
			k = -1 // the first of several counts
		}
		if targets[i] = k; k >= 0 {
			found[k] = true
		}
	}
	for k, f := range schema.Fields {
		if !found[k] {
			return nil, fmt.Errorf("the query gives no column %q; it gives %s", f.Name, strings.Join(names, ", "))
		}
	}
	return newReader(rows, d, schema, targets)
}

func newReader(rows *sql.Rows, d transform.Dialect, schema *batch.Schema, targets []int) (*Reader, error) {
	own, ok := d.(Dialect)
	if !ok {
		return nil, fmt.Errorf("the dialect %s cannot read values", d.Name())
	}
	r := &Reader{rows: rows, cells: make([]cell, schema.Len()), dest: make([]any, len(targets))}
	for k := range r.cells {
		r.cells[k] = cell{dialect: own, field: &schema.Fields[k]}
	}
	for i, k := range targets {
		r.dest[i] = discard{}
		if k >= 0 {
			r.dest[i] = &r.cells[k]
		}
	}
	return r, nil
}

// Next appends the next row to cols, one per field of the schema; false after the
// last one. After an error the columns may differ in length.
func (r *Reader) Next(cols []*batch.Column) (bool, error) {
	if !r.rows.Next() {
		return false, r.rows.Err()
	}
	for k, c := range cols {
		r.cells[k].col = c
	}
	return true, r.scan()
}

// scan unwraps database/sql's message, which names the column by number only.
func (r *Reader) scan() error {
	err := r.rows.Scan(r.dest...)
	if err == nil {
		return nil
	}
	if c, ok := asCellError(err); ok {
		return c
	}
	return err
}

// Fill appends rows to b until it is full, limit rows are there (0: no limit), or
// there are no more, which it says with false.
func (r *Reader) Fill(b *batch.Batch, limit int) (bool, error) {
	const look = 64 // rows between two looks at the size
	for n := b.Physical(); limit == 0 || n < limit; n++ {
		if n%look == 0 && b.Full() {
			return true, nil
		}
		more, err := r.Next(b.Cols)
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
