package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// DBLookup appends values of the first row of a table that meets the conditions.
// A row without one gets the defaults, or is dropped, or goes to the error hop
// (DBL001). Answers may be kept in memory, within the budget of the execution;
// the whole table may be read first when all conditions are "=".
var DBLookup = transform.Define[DBLookupSettings](transform.About{
	ID:            "DBLookup",
	Name:          "Database lookup",
	Category:      transform.CategoryLookup,
	Summary:       "Look up values in a table.",
	HandlesErrors: true,
	RowNeutral:    []string{"cache", "cache_load_all", "cache_size"},
})

// DBLookupSettings lists the settings in the order the form shows them.
type DBLookupSettings struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	Schema     transform.Expr[string] `hop:"lookup>schema"`
	Table      transform.Expr[string] `hop:"lookup>table" required:"true"`
	Keys       []Key                  `hop:"lookup>key" required:"true"`
	Values     []DBLookupValue        `hop:"lookup>value"`
	Drop       bool                   `hop:"lookup>eat_row_on_failure" label:"Drop rows that are not found"`
	OnlyOne    bool                   `hop:"lookup>fail_on_multiple" label:"Fail on multiple results"`
	OrderBy    string                 `hop:"lookup>orderby" label:"Order by" help:"Which of several rows comes first"`
	Cache      bool                   `hop:"cache" label:"Keep answers in memory"`
	LoadAll    bool                   `hop:"cache_load_all" label:"Load the whole table"`
	CacheSize  int                    `hop:"cache_size" unit:"rows" min:"0" help:"0 keeps all"`
}

// DBLookupValue is one value to append.
type DBLookupValue struct {
	Column  string     `hop:"name" label:"Table column" required:"true"`
	Name    string     `hop:"rename" label:"New name"`
	Default string     `hop:"default"`
	Type    batch.Type `hop:"type" default:"String"`
	Trim    batch.Trim `hop:"trim_type" default:"none" advanced:"true"`
}

// Output implements transform.Settings.
func (s *DBLookupSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	added, err := s.added(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(l.Main().With(added...))
}

// added gives the appended fields. Where the table is known and has another type,
// it wins, as in Hop.
func (s *DBLookupSettings) added(l transform.Links, d transform.Design) ([]batch.Field, error) {
	connection, err := s.Connection.Eval(d)
	if err != nil {
		return nil, err
	}
	schema, err := s.Schema.Eval(d)
	if err != nil {
		return nil, err
	}
	table, err := s.Table.Eval(d)
	if err != nil {
		return nil, err
	}
	// Without its database a pipeline can still be drawn; a run tells what is wrong.
	layout, _ := d.TableLayout(connection, schema, table)
	var list []batch.Field
	for _, v := range s.Values {
		name, t := v.Name, v.Type
		if name == "" {
			name = v.Column
		}
		if t == batch.None {
			t = batch.String
		}
		f := batch.NewField(name, t)
		if i := layout.Index(v.Column); i >= 0 && layout.Fields[i].Type != t {
			f = layout.Fields[i]
			f.Name = name
		}
		f.Origin = l.Transform
		list = append(list, f)
	}
	return list, nil
}

// Start implements transform.Settings.
func (s *DBLookupSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	added, err := s.added(l, env.Design)
	if err != nil {
		return nil, err
	}
	p := &dbLookup{env: env, settings: s, in: l.Main(), added: batch.NewSchema(added...), out: l.Main().With(added...)}
	if p.schema, err = s.Schema.Eval(env); err != nil {
		return nil, err
	}
	if p.table, err = s.Table.Eval(env); err != nil {
		return nil, err
	}
	if p.session, err = newSession(env, s.Connection); err != nil {
		return nil, err
	}
	for i, v := range s.Values {
		codec, err := env.Semantics.Codec(&added[i])
		if err != nil {
			return nil, err
		}
		d := batch.Null(added[i].Type)
		if v.Default != "" {
			if d, err = codec.Parse([]byte(v.Default)); err != nil {
				return nil, fmt.Errorf("default of %q: %w", v.Column, err)
			}
		}
		p.defaults = append(p.defaults, d)
	}
	return p, nil
}

type dbLookup struct {
	transform.Stateful
	*session
	env           *transform.Env
	settings      *DBLookupSettings
	schema, table string
	in, added     *batch.Schema
	out           *batch.Schema
	defaults      []batch.Value

	where   where
	query   string
	keys    *batch.Schema // the columns that fields are compared with
	convert []*batch.Converter
	binder  *database.Binder
	cache   *answers // nil without
	whole   bool     // the cache holds the whole table
	args    []any
	key     []byte
}

// start connects and learns the types of the key columns.
func (p *dbLookup) start(ctx context.Context) (err error) {
	if p.binder != nil {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	if p.where, err = newWhere(p.dialect, p.settings.Keys, p.in, 1); err != nil {
		return err
	}
	p.query = p.selection(p.columns()) + p.where.clause + p.order()
	if err := p.learnKeys(ctx); err != nil {
		return err
	}
	if p.binder, err = database.NewBinder(p.dialect, p.env.Semantics, p.keys, everyField(p.keys)); err != nil {
		return err
	}
	if !p.settings.Cache {
		return nil
	}
	p.cache = newAnswers(p.env, p.added, p.settings.CacheSize)
	if p.settings.LoadAll && p.onlyEquals() {
		return p.load(ctx)
	}
	return nil
}

func (p *dbLookup) columns() []string {
	var columns []string
	for _, v := range p.settings.Values {
		columns = append(columns, v.Column)
	}
	return columns
}

func (p *dbLookup) selection(columns []string) string {
	quoted := []string{"1"}
	if len(columns) > 0 {
		quoted = nil
	}
	for _, c := range columns {
		quoted = append(quoted, p.dialect.Quote(c))
	}
	return "SELECT " + strings.Join(quoted, ", ") + " FROM " + database.Table(p.dialect, p.schema, p.table)
}

func (p *dbLookup) order() string {
	if p.settings.OrderBy == "" || p.settings.OnlyOne {
		return ""
	}
	return " ORDER BY " + p.settings.OrderBy
}

func (p *dbLookup) onlyEquals() bool {
	for _, k := range p.settings.Keys {
		if k.Condition != equals && k.Condition != "" {
			return false
		}
	}
	return true
}

// learnKeys makes converters from the fields to the types of the key columns.
func (p *dbLookup) learnKeys(ctx context.Context) error {
	p.keys = batch.NewSchema()
	if len(p.where.columns) == 0 {
		return nil
	}
	query := p.selection(p.where.columns) + " WHERE 1 = 0"
	rows, err := p.conn.QueryContext(ctx, query)
	if err != nil {
		return p.failure(query, err)
	}
	defer rows.Close()
	if p.keys, err = database.Fields(rows, p.dialect); err != nil {
		return err
	}
	for k := range p.keys.Fields {
		from := &p.in.Fields[p.where.fields[k]]
		if p.keys.Fields[k].Type == batch.None {
			p.keys.Fields[k].Type = from.Type
		}
		c, err := p.env.Semantics.Converter(from, &p.keys.Fields[k])
		if err != nil {
			return err
		}
		p.convert = append(p.convert, c)
	}
	return rows.Err()
}

// Apply implements transform.RowWise.
func (p *dbLookup) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	bad := map[int]error{}
	keys, err := p.keyBatch(b, bad)
	if err != nil {
		return err
	}
	defer keys.Release()
	result := p.env.Alloc.Batch(p.added)
	defer result.Release()
	var kept []int32
	for i := range b.All() {
		before := result.Physical()
		found, err := p.look(ctx, keys, i, bad[i], result)
		switch {
		case err != nil:
			truncate(result, before)
			err = p.rowFailed(ctx, rej, i, transform.RowError{Code: "DBL001", Err: err})
		case found:
			kept = append(kept, int32(i))
		case p.settings.Drop:
		case p.env.Errors != nil:
			fields, values := keyTexts(p.env, p.in, p.settings.Keys, b, i)
			err = rej.Add(i, transform.RowError{Code: "DBL001", Fields: fields, Value: values, Err: errors.New("no row was found")})
		default:
			for k, d := range p.defaults {
				result.Cols[k].AppendValue(d)
			}
			kept = append(kept, int32(i))
		}
		if err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		if err := emit(transform.Main, p.joined(b, kept, result)); err != nil {
			return err
		}
	}
	return rej.Flush(b, emit)
}

// joined gives the kept rows with their values.
func (p *dbLookup) joined(b *batch.Batch, kept []int32, result *batch.Batch) *batch.Batch {
	rows := b.Gather(kept)
	defer rows.Release()
	cols := make([]*batch.Column, len(result.Cols))
	for k, c := range result.Cols {
		cols[k] = c.Retain()
	}
	return rows.With(p.out, cols...)
}

func truncate(b *batch.Batch, n int) {
	for _, c := range b.Cols {
		c.Truncate(n)
	}
}

// keyBatch gives the key fields converted to the types of their columns; rows
// that cannot be converted are in bad.
func (p *dbLookup) keyBatch(b *batch.Batch, bad map[int]error) (*batch.Batch, error) {
	cols := make([]*batch.Column, 0, len(p.convert))
	for k, c := range p.convert {
		col, err := c.Column(b, b.Cols[p.where.fields[k]], func(row int, err error) error {
			bad[row] = err
			return nil
		})
		if err != nil {
			releaseColumns(cols)
			return nil, err
		}
		cols = append(cols, col)
	}
	return p.env.Alloc.Assemble(p.keys, cols, b.Physical()), nil
}
