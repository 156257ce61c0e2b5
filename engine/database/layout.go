package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/project"
)

// layoutTimeout bounds the question for a layout, which has no context: the
// designer and the preparation of an execution ask it.
const layoutTimeout = time.Minute

// probeRows is the number of rows looked at to find the type of a column that has
// no declared one.
const probeRows = 100

// QueryLayout gives the fields of a query; its placeholders count as null.
// Columns without a declared type, such as expressions, get theirs from the
// values of the first rows: Integer or Number, else String, also when all are
// null. The answer is kept until the database changes.
func (p *Pool) QueryLayout(scope *project.Variables, name, query string) (*batch.Schema, error) {
	return p.layout(scope, name, query)
}

// TableLayout gives the fields of a table or view.
func (p *Pool) TableLayout(scope *project.Variables, name, schema, table string) (*batch.Schema, error) {
	c, err := p.connection(scope, name)
	if err != nil {
		return nil, err
	}
	return p.layout(scope, name, "SELECT * FROM "+Table(c.dialect, schema, table))
}

func (p *Pool) layout(scope *project.Variables, name, query string) (*batch.Schema, error) {
	c, err := p.connection(scope, name)
	if err != nil {
		return nil, err
	}
	if c.exists != nil {
		if err := c.exists(); err != nil {
			return nil, &engine.Error{Message: fmt.Sprintf("connection %q", c.settings.Name), Hint: "check the database of the connection, or create it first", Err: err}
		}
	}
	stamp, keep := c.stamp()
	key := fmt.Sprintf("%q %s %s", c.settings.identity(), stamp, query)
	if s := p.kept(key); keep && s != nil {
		return s, nil
	}
	s, err := c.ask(query)
	if err != nil {
		return nil, c.failure(query, err)
	}
	if keep {
		p.mu.Lock()
		p.layouts[key] = s
		p.mu.Unlock()
	}
	return s, nil
}

func (p *Pool) kept(key string) *batch.Schema {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.layouts[key]
}

func (c *connection) failure(query string, err error) error {
	return &engine.Error{
		Message: fmt.Sprintf("connection %q cannot run %q", c.settings.Name, clip(query)), Hint: c.dialect.Hint(err), Err: err,
	}
}

// ask runs the query as far as its fields demand, in a transaction that is rolled
// back: a statement that writes leaves nothing behind.
func (c *connection) ask(query string) (*batch.Schema, error) {
	ctx, cancel := context.WithTimeout(context.Background(), layoutTimeout)
	defer cancel()
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was meant to last
	rows, err := tx.QueryContext(ctx, query, make([]any, Placeholders(query))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	s, err := Fields(rows, c.dialect)
	if err != nil {
		return nil, err
	}
	if s.Len() == 0 {
		return nil, errors.New("it gives no columns; a query is needed")
	}
	if err := c.probe(rows, s); err != nil {
		return nil, err
	}
	return s, rows.Close()
}

// Fields gives the fields of a result as its columns are declared; a column
// without a declared type has type None.
func Fields(rows *sql.Rows, d Dialect) (*batch.Schema, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	s := batch.NewSchema()
	for _, t := range types {
		length, hasLength := t.Length()
		if !hasLength {
			length = -1
		}
		digits, scale, hasScale := t.DecimalSize()
		if hasScale {
			length = digits
		} else {
			scale = -1
		}
		s = s.With(d.FieldOf(t.Name(), t.DatabaseTypeName(), length, scale))
	}
	return s, nil
}

// probe finds the types of the columns that have none.
func (c *connection) probe(rows *sql.Rows, s *batch.Schema) error {
	guesses := make([]guess, s.Len())
	dest := make([]any, s.Len())
	open := 0
	for i := range guesses {
		dest[i] = &guesses[i]
		if s.Fields[i].Type == batch.None {
			open++
		}
	}
	if open == 0 {
		return nil
	}
	for n := 0; n < probeRows && rows.Next(); n++ {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range guesses {
		if s.Fields[i].Type == batch.None {
			s.Fields[i] = batch.NewField(s.Fields[i].Name, guesses[i].fieldType())
		}
	}
	return nil
}

// guess is the widest kind of value seen in one column.
type guess struct{ integers, numbers, others bool }

// Scan implements sql.Scanner.
func (g *guess) Scan(src any) error {
	switch src.(type) {
	case nil:
	case int64:
		g.integers = true
	case float64:
		g.numbers = true
	default:
		g.others = true
	}
	return nil
}

func (g *guess) fieldType() batch.Type {
	switch {
	case g.others:
		return batch.String
	case g.numbers:
		return batch.Number
	case g.integers:
		return batch.Integer
	}
	return batch.String
}
