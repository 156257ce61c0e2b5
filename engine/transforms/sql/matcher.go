package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// Target is the table that rows are written to by their keys.
type Target struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	Schema     transform.Expr[string] `hop:"lookup>schema"`
	Table      transform.Expr[string] `hop:"lookup>table"`
	Commit     transform.Expr[int]    `hop:"commit" default:"100" unit:"rows" min:"0" label:"Commit size" help:"0 commits every row by itself"`
	Keys       []Key                  `hop:"lookup>key" required:"true"`
}

// start makes the session and gives the schema and table names.
func (t *Target) start(env *transform.Env) (s *session, schema, table string, err error) {
	commit, err := size("commit size", t.Commit, env)
	if err != nil {
		return nil, "", "", err
	}
	if schema, err = t.Schema.Eval(env); err != nil {
		return nil, "", "", fmt.Errorf("schema: %w", err)
	}
	if table, err = t.Table.Eval(env); err != nil {
		return nil, "", "", fmt.Errorf("table: %w", err)
	}
	s, err = newWriter(env, t.Connection, commit)
	return s, schema, table, err
}

// assignment is a column that a field is written to.
type assignment struct {
	column string
	field  int
	update bool
}

// assign finds the field of a column; an empty field name is the column's.
func assign(in *batch.Schema, column, field string, update bool) (assignment, error) {
	if field == "" {
		field = column
	}
	i, err := position(in, field)
	return assignment{column: column, field: i, update: update}, err
}

// once refuses a column that occurs twice.
func once(list []assignment) error {
	seen := map[string]bool{}
	for _, a := range list {
		if key := strings.ToLower(a.column); seen[key] {
			return fmt.Errorf("column %q is written twice; remove one of the two", a.column)
		} else {
			seen[key] = true
		}
	}
	return nil
}

// columnsOf and fieldsOf list both sides of assignments.
func columnsOf(list []assignment) (names []string) {
	for _, a := range list {
		names = append(names, a.column)
	}
	return names
}

func fieldsOf(list []assignment) (fields []int) {
	for _, a := range list {
		fields = append(fields, a.field)
	}
	return fields
}

// updated lists the assignments that take part in updates.
func updated(list []assignment) (some []assignment) {
	for _, a := range list {
		if a.update {
			some = append(some, a)
		}
	}
	return some
}

// statement is a text with the fields of its placeholders.
type statement struct {
	text   string
	binder *database.Binder
	args   []any
}

func newStatement(s *session, in *batch.Schema, text string, fields []int) (*statement, error) {
	b, err := database.NewBinder(s.dialect, s.env.Semantics, in, fields)
	return &statement{text: text, binder: b}, err
}

// exec runs the statement for row i, and counts it for the commit.
func (st *statement) exec(ctx context.Context, s *session, b *batch.Batch, i int) (err error) {
	if st.args, err = st.binder.Append(st.args[:0], b, i); err != nil {
		return err
	}
	_, err = s.exec(ctx, st.text, st.args)
	return err
}

// update makes the UPDATE of assignments for keys.
func newUpdate(s *session, in *batch.Schema, table string, list []assignment, keys []Key) (*statement, error) {
	if len(list) == 0 {
		return nil, errors.New("no column is updated; add one to the table of values")
	}
	w, err := newWhere(s.dialect, keys, in, len(list)+1)
	if err != nil {
		return nil, err
	}
	sets := make([]string, len(list))
	for i, a := range list {
		sets[i] = s.dialect.Quote(a.column) + " = " + s.dialect.Placeholder(i+1)
	}
	return newStatement(s, in, "UPDATE "+table+" SET "+strings.Join(sets, ", ")+w.clause, append(fieldsOf(list), w.fields...))
}

// matcher looks a row up in the table by its keys and compares values.
type matcher struct {
	session *session
	in      *batch.Schema
	query   *statement
	values  []assignment
	found   *batch.Schema // of the looked-up columns, known after the first query
	convert []*batch.Converter
}

func newMatcher(s *session, in *batch.Schema, table string, values []assignment, keys []Key) (*matcher, error) {
	w, err := newWhere(s.dialect, keys, in, 1)
	if err != nil {
		return nil, err
	}
	columns := []string{"1"}
	if len(values) > 0 {
		columns = nil
	}
	for _, a := range values {
		columns = append(columns, s.dialect.Quote(a.column))
	}
	q, err := newStatement(s, in, "SELECT "+strings.Join(columns, ", ")+" FROM "+table+w.clause, w.fields)
	return &matcher{session: s, in: in, query: q, values: values}, err
}

// match looks row i up. differs says that a value marked for update is another
// one in the table; types are compared as the table has them.
func (m *matcher) match(ctx context.Context, b *batch.Batch, i int) (found, differs bool, err error) {
	if m.query.args, err = m.query.binder.Append(m.query.args[:0], b, i); err != nil {
		return false, false, err
	}
	rows, err := m.session.query(ctx, m.query.text, m.query.args)
	if err != nil {
		return false, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return m.compare(rows, b, i)
}

func (m *matcher) compare(rows *sql.Rows, b *batch.Batch, i int) (found, differs bool, err error) {
	if len(m.values) == 0 {
		return rows.Next(), false, rows.Err()
	}
	if m.found == nil {
		if err := m.learn(rows); err != nil {
			return false, false, err
		}
	}
	r, err := database.NewReader(rows, m.session.dialect, m.found)
	if err != nil {
		return false, false, err
	}
	row := m.session.env.Alloc.Batch(m.found)
	defer row.Release()
	if found, err = r.Next(row.Cols); err != nil || !found {
		return false, false, err
	}
	for k, a := range m.values {
		if !a.update {
			continue
		}
		v, err := m.convert[k].Value(b.Cols[a.field].Value(i))
		if err != nil {
			return true, false, err
		}
		if m.session.env.Semantics.CompareValues(row.Cols[k].Value(0), v, false) != 0 {
			return true, true, nil
		}
	}
	return true, false, nil
}

// learn takes the types of the looked-up columns from the first result.
func (m *matcher) learn(rows *sql.Rows) error {
	s, err := database.Fields(rows, m.session.dialect)
	if err != nil {
		return err
	}
	for k := range s.Fields {
		from := &m.in.Fields[m.values[k].field]
		if s.Fields[k].Type == batch.None {
			s.Fields[k].Type = from.Type
		}
		c, err := m.session.env.Semantics.Converter(from, &s.Fields[k])
		if err != nil {
			return err
		}
		m.convert = append(m.convert, c)
	}
	m.found = s
	return nil
}
