package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// TableInput reads the rows of a query. The query's question marks are bound to
// all fields of all rows of the transform it takes parameters from, or, when it
// is executed for each row, to the fields of one row after the other. Rows hold
// the columns of the query only.
//
// Columns without a declared type, such as expressions, get theirs from the first
// rows when the pipeline is prepared; a later value that does not fit is an error,
// never changed silently. Specified fields decide the types by hand.
var TableInput = transform.Define[TableInputSettings](transform.About{
	ID:       "TableInput",
	Name:     "Table input",
	Category: transform.CategoryInput,
	Summary:  "Read the rows of an SQL query.",
})

// TableInputSettings lists the settings in the order the form shows them.
type TableInputSettings struct {
	Connection     transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	SQL            string                 `hop:"sql" label:"SQL" form:"sql"`
	File           string                 `hop:"sql_from_file" label:"SQL from a file" form:"file" help:"Instead of the SQL above" advanced:"true"`
	Variables      bool                   `hop:"variables_active" label:"Replace variables in the SQL"`
	Lookup         string                 `hop:"lookup" label:"Take parameters from" form:"transform" help:"Its rows are bound to the question marks; empty: those of all hops"`
	EachRow        bool                   `hop:"execute_each_row" label:"Execute for each row"`
	Named          bool                   `hop:"use_named_parameters" label:"Named parameters" help:"{field} instead of question marks"`
	Limit          transform.Expr[int]    `hop:"limit" default:"0" unit:"rows" min:"0" help:"0 reads all rows"`
	Specify        bool                   `hop:"specify_fields" label:"Specify fields" advanced:"true"`
	ValidateFields bool                   `hop:"validate_specified_fields" label:"Check the specified fields" advanced:"true"`
	Fields         []TableInputField      `hop:"fields>field" advanced:"true"`
}

// TableInputField is the type of the column of that name.
type TableInputField struct {
	Name      transform.Expr[string] `hop:"name" required:"true"`
	Type      batch.Type             `hop:"type" default:"String"`
	Format    string                 `hop:"format" form:"mask"`
	Length    int                    `hop:"length" default:"-1"`
	Precision int                    `hop:"precision" default:"-1"`
}

// Ports implements transform.Porter.
func (s *TableInputSettings) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	if s.Lookup != "" {
		p.Inputs = []transform.InputPort{{Name: s.Lookup, From: s.Lookup, Info: true, Read: transform.First, Required: true}}
	}
	return p
}

// Check implements transform.Checker.
func (s *TableInputSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		switch {
		case s.SQL == "" && s.File == "":
			yield(transform.Errorf("sql", "there is no SQL"))
		case s.EachRow && len(l.Inputs) == 0:
			yield(transform.Errorf("execute_each_row", "no transform gives the rows to execute for"))
		case s.Specify && len(s.Fields) == 0:
			yield(transform.Errorf("fields>field", "fields are to be specified, but there are none"))
		}
	}
}

// Output implements transform.Settings.
func (s *TableInputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// schema gives the fields of the rows.
func (s *TableInputSettings) schema(l transform.Links, d transform.Design) (*batch.Schema, error) {
	if s.Specify && !s.ValidateFields {
		return s.specified(l, d)
	}
	query, _, err := s.query(d)
	if err != nil {
		return nil, err
	}
	name, err := s.Connection.Eval(d)
	if err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	found, err := d.QueryLayout(name, query)
	if err != nil {
		return nil, err
	}
	if s.Specify {
		return s.validated(l, d, found)
	}
	schema := found.Clone()
	for i := range schema.Fields {
		schema.Fields[i].Origin = l.Transform
	}
	return schema, nil
}

// validated gives the specified fields when the query has them with these types.
func (s *TableInputSettings) validated(l transform.Links, r transform.Resolver, found *batch.Schema) (*batch.Schema, error) {
	schema, err := s.specified(l, r)
	if err != nil {
		return nil, err
	}
	for _, f := range schema.Fields {
		i := found.Index(f.Name)
		if i < 0 {
			return nil, fmt.Errorf("the query gives no column %q; it gives %s", f.Name, strings.Join(found.Names(), ", "))
		}
		if t := found.Fields[i].Type; t != f.Type {
			return nil, fmt.Errorf("column %q is %s in the query, but %s is specified; correct one of the two", f.Name, t, f.Type)
		}
	}
	return schema, nil
}

func (s *TableInputSettings) specified(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	schema := batch.NewSchema()
	for _, f := range s.Fields {
		name, err := f.Name.Eval(r)
		if err != nil {
			return nil, err
		}
		t := f.Type
		if t == batch.None {
			t = batch.String
		}
		field := batch.NewField(name, t)
		field.Length, field.Precision, field.Mask, field.Origin = f.Length, f.Precision, f.Format, l.Transform
		schema = schema.With(field)
	}
	return schema, nil
}

// query gives the query with question marks and the fields of named parameters.
func (s *TableInputSettings) query(r transform.Resolver) (string, []string, error) {
	query := s.SQL
	if s.File != "" {
		text, err := readScript(r, s.File)
		if err != nil {
			return "", nil, err
		}
		query = text
	}
	var err error
	if s.Variables {
		if query, err = r.Resolve(query); err != nil {
			return "", nil, fmt.Errorf("SQL: %w", err)
		}
	}
	query = strings.TrimRight(query, "; \t\r\n")
	if strings.TrimSpace(query) == "" {
		return "", nil, &engine.Error{Message: "there is no SQL", Hint: "write a query, or set the variable that holds it"}
	}
	if !s.Named {
		return query, nil, nil
	}
	return database.Named(query)
}

// readScript reads a local file whose name may hold variables.
func readScript(r transform.Resolver, name string) (string, error) {
	location, err := r.Resolve(name)
	if err != nil {
		return "", err
	}
	path, ok := project.LocalPath(location)
	if !ok {
		return "", fmt.Errorf("SQL file %s is not on this machine; copy it to a local folder", location)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("SQL file: %w", err)
	}
	return string(text), nil
}

// Start implements transform.Settings.
func (s *TableInputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	limit, err := size("limit", s.Limit, env)
	if err != nil {
		return nil, err
	}
	t := tableReader{env: env, limit: limit, byName: s.Specify}
	if t.query, t.names, err = s.query(env); err != nil {
		return nil, err
	}
	if t.schema, err = s.schema(l, env.Design); err != nil {
		return nil, err
	}
	if t.session, err = newSession(env, s.Connection); err != nil {
		return nil, err
	}
	if len(l.Inputs) == 0 {
		if n := database.Placeholders(t.query); n > 0 {
			return nil, &engine.Error{Message: fmt.Sprintf("the query has %d parameters, but no transform to take them from", n), Hint: "choose one in the settings and draw a hop from it"}
		}
		return &tableSource{tableReader: t}, nil
	}
	return &tableLookup{tableReader: t, eachRow: s.EachRow, from: l.Inputs[0].From}, nil
}

// tableReader runs the query.
type tableReader struct {
	*session
	env    *transform.Env
	query  string
	names  []string // of named parameters
	schema *batch.Schema
	limit  int
	byName bool // the fields are found in the result by their names
}

// emitRows runs the query once.
func (t *tableReader) emitRows(ctx context.Context, args []any, emit transform.Emit) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	if !t.mustEnd() {
		return t.runQuery(ctx, args, emit)
	}
	h := &hold{env: t.env, schema: t.schema}
	err := t.runQuery(ctx, args, func(_ transform.Port, b *batch.Batch) error { return h.take(b) })
	if err == nil {
		err = h.emit(ctx, emit)
	}
	return errors.Join(err, h.close())
}

// runQuery has ended the query when it returns.
func (t *tableReader) runQuery(ctx context.Context, args []any, emit transform.Emit) (err error) {
	rows, err := t.session.query(ctx, t.query, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return t.emitResult(ctx, rows, emit)
}

// mustEnd says that the query has to end before its rows move: another transform
// writes to the same database, and an open query would keep it from committing.
func (t *tableReader) mustEnd() bool {
	a, ok := t.env.Databases.(announcer)
	return ok && t.dialect.OneWriter() && a.Announced(t.name)
}

func (t *tableReader) emitResult(ctx context.Context, rows *sql.Rows, emit transform.Emit) error {
	newReader := database.NewReader
	if t.byName {
		newReader = database.NewReaderByName
	}
	reader, err := newReader(rows, t.dialect, t.schema)
	if err != nil {
		return err
	}
	left := t.limit
	for more := true; more && !t.stopping(); {
		b := t.env.Alloc.Batch(t.schema)
		if more, err = reader.Fill(b, left); err != nil {
			b.Release()
			return t.readFailure(ctx, err)
		}
		n := b.Physical()
		t.env.Counters.Input.Add(int64(n))
		if n == 0 {
			b.Release()
			return nil
		}
		if err := emit(transform.Main, b); err != nil {
			return err
		}
		if t.limit > 0 {
			if left -= n; left == 0 {
				return nil
			}
		}
	}
	return nil
}

func (t *tableReader) readFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cell, ok := errors.AsType[*database.CellError](err); ok {
		return &engine.Error{Field: cell.Field, Value: cell.Value, Err: cell.Err}
	}
	return t.failure(t.query, err)
}

func (t *tableReader) stopping() bool {
	select {
	case <-t.env.Stopping:
		return true
	default:
		return false
	}
}

// tableSource is a query without parameters.
type tableSource struct {
	transform.Producer
	tableReader
}

// Produce implements transform.Source.
func (p *tableSource) Produce(ctx context.Context, emit transform.Emit) error {
	return p.emitRows(ctx, nil, emit)
}
