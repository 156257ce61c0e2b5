package sql

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// TableOutput inserts rows into a table and passes them on. Rows are committed
// together, every Commit rows; Abort takes back those since the last commit, the
// earlier ones stay: unless the table is truncated first, a second run inserts
// them again. With one copy the truncation belongs to the first transaction.
var TableOutput = transform.Define[TableOutputSettings](transform.About{
	ID:            "TableOutput",
	Name:          "Table output",
	Category:      transform.CategoryOutput,
	Summary:       "Insert rows into a table.",
	HandlesErrors: true,
	Sink:          true,
	RowNeutral:    []string{"commit", "use_batch"},
})

// TableOutputSettings lists the settings in the order the form shows them.
type TableOutputSettings struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	Schema     transform.Expr[string] `hop:"schema"`
	Table      transform.Expr[string] `hop:"table"`
	Commit     transform.Expr[int]    `hop:"commit" default:"1000" unit:"rows" min:"0" label:"Commit size" help:"0 commits every row by itself"`
	Truncate   bool                   `hop:"truncate" label:"Truncate the table first"`
	OnlyRows   bool                   `hop:"only_when_have_rows" label:"Truncate only when there are rows"`
	Specify    bool                   `hop:"specify_fields" label:"Specify the columns"`
	Fields     []TableOutputField     `hop:"fields>field"`

	IgnoreErrors bool `hop:"ignore_errors" label:"Ignore insert errors" help:"Rows that cannot be inserted are logged and passed on" advanced:"true"`
	Batch        bool `hop:"use_batch" default:"Y" label:"Use batch inserts" advanced:"true"`

	Partition        bool                   `hop:"partitioning_enabled" label:"One table per period" advanced:"true"`
	PartitionField   transform.Expr[string] `hop:"partitioning_field" form:"field" advanced:"true"`
	PartitionDaily   bool                   `hop:"partitioning_daily" advanced:"true"`
	PartitionMonthly bool                   `hop:"partitioning_monthly" advanced:"true"`

	TableInField bool                   `hop:"tablename_in_field" label:"The table is named by a field" advanced:"true"`
	TableField   transform.Expr[string] `hop:"tablename_field" form:"field" advanced:"true"`
	StoreTable   bool                   `hop:"tablename_in_table" label:"Store the table name too" advanced:"true"`

	ReturnKeys bool                   `hop:"return_keys" label:"Return the generated key" advanced:"true"`
	KeyField   transform.Expr[string] `hop:"return_field" label:"Field for the key" advanced:"true"`

	UpdateTable   bool `hop:"auto_update_table_structure" label:"Make the table fit the rows" advanced:"true"`
	Recreate      bool `hop:"always_drop_and_recreate" label:"Always drop and create the table" advanced:"true"`
	AddColumns    bool `hop:"add_columns" label:"Add missing columns" advanced:"true"`
	DropColumns   bool `hop:"drop_columns" label:"Drop columns the rows do not have" advanced:"true"`
	ChangeColumns bool `hop:"change_column_types" label:"Change column types" advanced:"true"`

	truncated oncePerRun
}

// TableOutputField says which field goes into a column.
type TableOutputField struct {
	Column string `hop:"column_name" label:"Table column" required:"true"`
	Field  string `hop:"stream_name" label:"Stream field" form:"field" required:"true"`
}

// Check implements transform.Checker.
func (s *TableOutputSettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		switch {
		case !s.TableInField && s.Table.IsEmpty():
			yield(transform.Errorf("table", "no table is named"))
		case s.TableInField && s.TableField.IsEmpty():
			yield(transform.Errorf("tablename_field", "no field names the table"))
		case s.Specify && len(s.Fields) == 0:
			yield(transform.Errorf("fields>field", "columns are to be specified, but there are none"))
		case s.Truncate && (s.TableInField || s.Partition):
			yield(transform.Warnf("truncate", "tables that rows choose are not truncated"))
		case s.UpdateTable && (s.TableInField || s.Partition):
			yield(transform.Warnf("auto_update_table_structure", "tables that rows choose are not made or changed"))
		case s.UpdateTable && s.ChangeColumns:
			yield(transform.Warnf("change_column_types", "the types of existing columns are not changed here"))
		}
	}
}

// Output implements transform.Settings.
func (s *TableOutputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.output(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *TableOutputSettings) output(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	name, err := s.KeyField.Eval(r)
	if err != nil || !s.ReturnKeys || name == "" {
		return l.Main(), err
	}
	f := batch.NewField(name, batch.Integer)
	f.Origin = l.Transform
	return l.Main().With(f), nil
}

// Start implements transform.Settings.
func (s *TableOutputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	commit, err := size("commit size", s.Commit, env)
	if err != nil {
		return nil, err
	}
	p := &tableOutput{env: env, settings: s, in: l.Main()}
	if p.session, err = newWriter(env, s.Connection, commit); err != nil {
		return nil, err
	}
	if p.out, err = s.output(l, env); err != nil {
		return nil, err
	}
	p.keys = p.out.Len() > p.in.Len()
	if p.names, err = s.tableNames(env, p.in); err != nil {
		return nil, err
	}
	return p, p.chooseColumns()
}

// tableOutput is one copy.
type tableOutput struct {
	transform.Stateful
	*session
	env      *transform.Env
	settings *TableOutputSettings
	in, out  *batch.Schema
	names    tableNamer
	columns  []string
	fields   []int
	keys     bool // the generated key is wanted

	binder   *database.Binder
	started  bool
	inserts  map[string]string // statement by table name
	args     []any
	warnings int
}

// chooseColumns pairs columns and fields.
func (p *tableOutput) chooseColumns() error {
	if p.settings.Specify {
		for _, f := range p.settings.Fields {
			i, err := position(p.in, f.Field)
			if err != nil {
				return err
			}
			p.columns, p.fields = append(p.columns, f.Column), append(p.fields, i)
		}
		return nil
	}
	for i, f := range p.in.Fields {
		if i != p.names.field || p.settings.StoreTable || p.names.mask != "" {
			p.columns, p.fields = append(p.columns, f.Name), append(p.fields, i)
		}
	}
	if len(p.columns) == 0 {
		return fmt.Errorf("there are no fields to insert")
	}
	return nil
}

// start connects, makes the table fit and truncates it, once.
func (p *tableOutput) start(ctx context.Context, rows bool) (err error) {
	if p.started {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	p.started, p.inserts = true, map[string]string{}
	if p.binder, err = database.NewBinder(p.dialect, p.env.Semantics, p.in, p.fields); err != nil {
		return err
	}
	if p.names.fixed == "" {
		return nil
	}
	table := database.Table(p.dialect, p.names.schema, p.names.fixed)
	if p.settings.UpdateTable {
		err := p.settings.truncated.do(p.env.Pipeline.ID+" fit", func() error { return p.fit(ctx, table) })
		if err != nil {
			return err
		}
	}
	if !p.settings.Truncate || (p.settings.OnlyRows && !rows) {
		return nil
	}
	truncate := p.dialect.TruncateStatement(table)
	if p.env.Copies == 1 {
		_, err := p.exec(ctx, truncate, nil)
		return err
	}
	return p.settings.truncated.do(p.env.Pipeline.ID, func() error {
		return p.alone(ctx, truncate)
	})
}

// Apply implements transform.RowWise.
func (p *tableOutput) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx, true); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	var keys *batch.Column
	if p.keys {
		keys = p.env.Alloc.Column(batch.Integer)
		keys.Extend(b.Physical())
	}
	written := int64(0)
	defer func() { p.env.Counters.Output.Add(written) }() // after an error too: a replay asks how many may be there
	for i := range b.All() {
		ok, err := p.insert(ctx, b, i, keys, rej)
		if err != nil {
			if keys != nil {
				keys.Release()
			}
			return err
		}
		if ok {
			written++
		}
	}
	if keys == nil {
		return passRows(b, rej, emit)
	}
	out := b.With(p.out, keys)
	defer out.Release()
	if keep := rej.Keep(); rej.Len() == 0 || len(keep) > 0 {
		if err := emit(transform.Main, out.Select(selection(out, keep))); err != nil {
			return err
		}
	}
	return rej.Flush(b, emit)
}

// selection lists rows of b; nil means all.
func selection(b *batch.Batch, keep []int32) []int32 {
	if keep != nil {
		return keep
	}
	all := make([]int32, b.Physical())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// insert writes row i; false without an error when it was rejected or ignored.
func (p *tableOutput) insert(ctx context.Context, b *batch.Batch, i int, keys *batch.Column, rej *transform.Rejects) (bool, error) {
	statement, err := p.statement(b, i)
	if err != nil {
		return false, p.refuse(ctx, rej, i, err)
	}
	if p.args, err = p.binder.Append(p.args[:0], b, i); err != nil {
		return false, p.refuse(ctx, rej, i, err)
	}
	r, err := p.exec(ctx, statement, p.args)
	if err != nil {
		return false, p.refuse(ctx, rej, i, err)
	}
	if keys != nil {
		id, err := r.LastInsertId()
		if err != nil {
			return false, p.failure("generated key", err)
		}
		keys.Ints[i] = id
	}
	return true, p.wrote()
}

// statement gives the insert for the table of row i.
func (p *tableOutput) statement(b *batch.Batch, i int) (string, error) {
	name, err := p.names.of(b, i)
	if err != nil {
		return "", err
	}
	if s := p.inserts[name]; s != "" {
		return s, nil
	}
	s := database.Insert(p.dialect, database.Table(p.dialect, p.names.schema, name), p.columns)
	p.inserts[name] = s
	return s, nil
}

const mostWarnings = 20

// refuse handles a row that cannot be inserted.
func (p *tableOutput) refuse(ctx context.Context, rej *transform.Rejects, i int, err error) error {
	if p.env.Errors != nil || !p.settings.IgnoreErrors || ctx.Err() != nil {
		return p.rowFailed(ctx, rej, i, transform.RowError{Code: "TOP001", Err: err})
	}
	if p.warnings++; p.warnings <= mostWarnings {
		p.env.Log.Warn("Row could not be inserted", "err", err, "last_warning", p.warnings == mostWarnings)
	}
	return nil
}

// Finish implements transform.Finisher: a table is truncated without rows too.
func (p *tableOutput) Finish(ctx context.Context, _ transform.Emit) error { return p.start(ctx, false) }

// fit makes or changes the table so that it has the columns of the rows.
func (p *tableOutput) fit(ctx context.Context, table string) error {
	statements, err := p.changes(ctx, table)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if err := p.alone(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// alone runs a statement that is committed by itself.
func (p *tableOutput) alone(ctx context.Context, statement string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.commit(); err != nil {
		return p.failure("commit", err)
	}
	if _, err := p.conn.ExecContext(ctx, statement); err != nil {
		return p.failure(statement, err)
	}
	return nil
}

func (p *tableOutput) changes(ctx context.Context, table string) (statements []string, err error) {
	have, err := p.existing(ctx, table)
	if err != nil {
		return nil, err
	}
	if have != nil && p.settings.Recreate {
		statements = append(statements, "DROP TABLE "+table)
		have = nil
	}
	if have == nil {
		var defs []string
		for k := range p.columns {
			defs = append(defs, p.definition(k))
		}
		return append(statements, "CREATE TABLE "+table+" ("+strings.Join(defs, ", ")+")"), nil
	}
	wanted := map[string]bool{}
	for k, c := range p.columns {
		wanted[strings.ToLower(c)] = true
		if p.settings.AddColumns && !have[strings.ToLower(c)] {
			statements = append(statements, "ALTER TABLE "+table+" ADD "+p.definition(k))
		}
	}
	if p.settings.DropColumns {
		for c := range have {
			if !wanted[c] {
				statements = append(statements, "ALTER TABLE "+table+" DROP COLUMN "+p.dialect.Quote(c))
			}
		}
	}
	return statements, nil
}

func (p *tableOutput) definition(k int) string {
	return p.dialect.Quote(p.columns[k]) + " " + p.dialect.ColumnType(&p.in.Fields[p.fields[k]])
}

// existing gives the columns of a table in lower case, nil when there is no such
// table.
func (p *tableOutput) existing(ctx context.Context, table string) (map[string]bool, error) {
	query := "SELECT * FROM " + table + " WHERE 1 = 0"
	rows, err := p.conn.QueryContext(ctx, query)
	switch {
	case err != nil && p.dialect.Absent(err):
		return nil, nil
	case err != nil:
		return nil, p.failure(query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, n := range names {
		have[strings.ToLower(n)] = true
	}
	return have, rows.Err()
}

var errNoTable = &engine.Error{Message: "the row names no table", Hint: "fill the field, or send such rows elsewhere"}
