package sql

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// TableExists appends whether there is a table or view of the name a field holds.
var TableExists = transform.Define[TableExistsSettings](transform.About{
	ID:            "TableExists",
	Name:          "Table exists",
	Category:      transform.CategoryLookup,
	Summary:       "Check whether a table exists.",
	HandlesErrors: true,
})

// TableExistsSettings lists the settings in the order the form shows them.
type TableExistsSettings struct {
	Connection  transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	Schema      transform.Expr[string] `hop:"schemaname" label:"Schema"`
	TableField  string                 `hop:"tablenamefield" label:"Table name field" form:"field" required:"true"`
	ResultField transform.Expr[string] `hop:"resultfieldname" default:"result" label:"Result field" required:"true"`
}

// Output implements transform.Settings.
func (s *TableExistsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	out, err := withFlag(l, d, s.ResultField)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

// Start implements transform.Settings.
func (s *TableExistsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	c := existence{Connection: s.Connection, Schema: s.Schema, TableField: s.TableField, ResultField: s.ResultField, code: "TABLEEXISTS001"}
	return c.start(env, l)
}

// ColumnExists appends whether a table has the column a field names.
var ColumnExists = transform.Define[ColumnExistsSettings](transform.About{
	ID:            "ColumnExists",
	Name:          "Column exists",
	Category:      transform.CategoryLookup,
	Summary:       "Check whether a column exists in a table.",
	HandlesErrors: true,
})

// ColumnExistsSettings lists the settings in the order the form shows them.
type ColumnExistsSettings struct {
	Connection   transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	Schema       transform.Expr[string] `hop:"schemaname" label:"Schema"`
	Table        transform.Expr[string] `hop:"tablename" label:"Table"`
	TableInField bool                   `hop:"istablenameInfield" label:"The table is named by a field"`
	TableField   string                 `hop:"tablenamefield" label:"Table name field" form:"field"`
	ColumnField  string                 `hop:"columnnamefield" label:"Column name field" form:"field" required:"true"`
	ResultField  transform.Expr[string] `hop:"resultfieldname" default:"result" label:"Result field" required:"true"`
}

// Output implements transform.Settings.
func (s *ColumnExistsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	out, err := withFlag(l, d, s.ResultField)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

// Start implements transform.Settings.
func (s *ColumnExistsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	c := existence{
		Connection: s.Connection, Schema: s.Schema, Table: s.Table, ColumnField: s.ColumnField, ResultField: s.ResultField, code: "ColumnExists001",
	}
	if s.TableInField {
		c.TableField = s.TableField
	}
	return c.start(env, l)
}

func withFlag(l transform.Links, r transform.Resolver, name transform.Expr[string]) (*batch.Schema, error) {
	n, err := name.Eval(r)
	if err != nil || n == "" {
		return nil, fmt.Errorf("the result field has no name: %w", err)
	}
	f := batch.NewField(n, batch.Boolean)
	f.Origin = l.Transform
	return l.Main().With(f), nil
}

// existence is what both transforms have in common.
type existence struct {
	Connection, Schema, Table, ResultField transform.Expr[string]
	TableField, ColumnField                string
	code                                   string
}

func (c *existence) start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &existenceCheck{env: env, code: c.code, table: -1, column: -1, known: map[string]bool{}}
	var err error
	if p.out, err = withFlag(l, env, c.ResultField); err != nil {
		return nil, err
	}
	if p.schema, err = c.Schema.Eval(env); err != nil {
		return nil, err
	}
	if p.fixed, err = c.Table.Eval(env); err != nil {
		return nil, err
	}
	if c.TableField != "" {
		if p.table, err = position(l.Main(), c.TableField); err != nil {
			return nil, err
		}
	}
	if c.ColumnField != "" {
		if p.column, err = position(l.Main(), c.ColumnField); err != nil {
			return nil, err
		}
	}
	if p.codecs, err = env.Semantics.Codecs(l.Main()); err != nil {
		return nil, err
	}
	p.session, err = newSession(env, c.Connection)
	return p, err
}

type existenceCheck struct {
	transform.Stateful
	*session
	env           *transform.Env
	out           *batch.Schema
	code          string
	schema, fixed string
	table, column int
	codecs        []*batch.Codec
	known         map[string]bool
}

// Apply implements transform.RowWise.
func (p *existenceCheck) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	clear(p.known) // tables may come and go while the pipeline runs
	rej := p.env.Rejects(b)
	flags := p.env.Alloc.Column(batch.Boolean)
	flags.Extend(b.Physical())
	for i := range b.All() {
		there, err := p.check(ctx, b, i)
		if err != nil {
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: p.code, Err: err}); err != nil {
				flags.Release()
				return err
			}
		}
		flags.Bits.Set(i, there)
	}
	out := b.With(p.out, flags)
	defer out.Release()
	if keep := rej.Keep(); rej.Len() == 0 || len(keep) > 0 {
		if err := emit(transform.Main, out.Select(selection(out, keep))); err != nil {
			return err
		}
	}
	return rej.Flush(b, emit)
}

func (p *existenceCheck) check(ctx context.Context, b *batch.Batch, i int) (bool, error) {
	table, column := p.fixed, "1"
	if p.table >= 0 {
		table = string(p.codecs[p.table].AppendText(nil, b.Cols[p.table], i))
	}
	if table == "" {
		return false, errNoTable
	}
	if p.column >= 0 {
		name := string(p.codecs[p.column].AppendText(nil, b.Cols[p.column], i))
		if name == "" {
			return false, fmt.Errorf("the row names no column")
		}
		column = p.dialect.Quote(name)
	}
	query := "SELECT " + column + " FROM " + database.Table(p.dialect, p.schema, table) + " WHERE 1 = 0"
	if there, asked := p.known[query]; asked {
		return there, nil
	}
	there, err := p.answers(ctx, query)
	if err != nil {
		return false, err
	}
	p.known[query] = there
	return there, nil
}

// answers says whether a query has what it asks for: false for an absent table or
// column.
func (p *existenceCheck) answers(ctx context.Context, query string) (there bool, err error) {
	rows, err := p.conn.QueryContext(ctx, query)
	if err != nil {
		if p.dialect.Absent(err) {
			return false, nil
		}
		return false, p.failure(query, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return true, rows.Err()
}
