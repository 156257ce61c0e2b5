package sql

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// DBJoin runs a query for each row, with fields of the row for its question
// marks, and gives the row once for every row of the result. A row without a
// result is dropped, or kept with nulls by an outer join. The result's fields are
// those of the query with nulls for its parameters.
var DBJoin = transform.Define[DBJoinSettings](transform.About{
	ID:            "DBJoin",
	Name:          "Database join",
	Category:      transform.CategoryLookup,
	Summary:       "Join rows with the result of a query for each of them.",
	HandlesErrors: true,
	RowNeutral:    []string{"cache", "cache_size"},
})

// DBJoinSettings lists the settings in the order the form shows them.
type DBJoinSettings struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	SQL        string                 `hop:"sql" label:"SQL" form:"sql" required:"true"`
	Limit      int                    `hop:"rowlimit" unit:"rows" min:"0" label:"Rows per query" help:"0 gives all"`
	Outer      bool                   `hop:"outer_join" label:"Outer join" help:"Keep rows without a result"`
	Variables  bool                   `hop:"replace_vars" label:"Replace variables"`
	Parameters []DBJoinParameter      `hop:"parameter>field" help:"Fields for the question marks, in order"`
	Cache      bool                   `hop:"cache" label:"Keep results in memory"`
	CacheSize  int                    `hop:"cache_size" unit:"queries" min:"0" help:"0 keeps all"`
}

// DBJoinParameter is the field of one question mark. Its type has no effect: the
// field's counts.
type DBJoinParameter struct {
	Field string     `hop:"name" form:"field" required:"true"`
	Type  batch.Type `hop:"type" default:"String" advanced:"true"`
}

// Check implements transform.Checker.
func (s *DBJoinSettings) Check(_ transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		query, err := s.query(d)
		if n := database.Placeholders(query); err == nil && n != len(s.Parameters) {
			yield(transform.Errorf("parameter>field", "the query has %d question marks, but %d fields are named", n, len(s.Parameters)))
		}
	}
}

func (s *DBJoinSettings) query(r transform.Resolver) (string, error) {
	query := s.SQL
	if s.Variables {
		var err error
		if query, err = r.Resolve(query); err != nil {
			return "", fmt.Errorf("SQL: %w", err)
		}
	}
	return strings.TrimRight(query, "; \t\r\n"), nil
}

// Output implements transform.Settings.
func (s *DBJoinSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	added, err := s.added(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(l.Main().With(added.Fields...))
}

func (s *DBJoinSettings) added(l transform.Links, d transform.Design) (*batch.Schema, error) {
	query, err := s.query(d)
	if err != nil {
		return nil, err
	}
	name, err := s.Connection.Eval(d)
	if err != nil {
		return nil, err
	}
	found, err := d.QueryLayout(name, query)
	if err != nil {
		return nil, err
	}
	added := found.Clone()
	for i := range added.Fields {
		added.Fields[i].Origin = l.Transform
	}
	return added, nil
}

// Start implements transform.Settings.
func (s *DBJoinSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &dbJoin{env: env, settings: s, in: l.Main()}
	var err error
	if p.query, err = s.query(env); err != nil {
		return nil, err
	}
	if p.added, err = s.added(l, env.Design); err != nil {
		return nil, err
	}
	p.out = p.in.With(p.added.Fields...)
	for _, f := range s.Parameters {
		i, err := position(p.in, f.Field)
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, i)
	}
	if n := database.Placeholders(p.query); n != len(p.fields) {
		return nil, fmt.Errorf("the query has %d question marks, but %d fields are named; name one for each", n, len(p.fields))
	}
	p.session, err = newSession(env, s.Connection)
	return p, err
}

type dbJoin struct {
	transform.Stateful
	*session
	env       *transform.Env
	settings  *DBJoinSettings
	query     string
	in, added *batch.Schema
	out       *batch.Schema
	fields    []int

	binder *database.Binder
	args   []any
	key    []byte
	cache  *answers     // rows of all kept results
	ends   map[int]int  // end of the result that starts at a row of the cache
	rows   []int32      // input rows of result
	result *batch.Batch // rows to emit next, beside rows
}

func (p *dbJoin) start(ctx context.Context) (err error) {
	if p.binder != nil {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	if p.settings.Cache {
		p.cache, p.ends = newAnswers(p.env, p.added, p.settings.CacheSize), map[int]int{}
	}
	p.binder, err = database.NewBinder(p.dialect, p.env.Semantics, p.in, p.fields)
	return err
}

// Close implements io.Closer.
func (p *dbJoin) Close() error {
	p.cache.close()
	p.cache = nil
	return p.session.Close()
}

// Apply implements transform.RowWise.
func (p *dbJoin) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	p.result, p.rows = p.env.Alloc.Batch(p.added), p.rows[:0]
	defer func() { p.result.Release() }()
	for i := range b.All() {
		before := p.result.Physical()
		if err := p.join(ctx, b, i); err != nil {
			truncate(p.result, before)
			p.rows = p.rows[:before]
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: "DBJOIN001", Err: err}); err != nil {
				return err
			}
		}
		if p.result.Full() {
			if err := p.flush(b, emit); err != nil {
				return err
			}
		}
	}
	if err := p.flush(b, emit); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

// flush emits the joined rows so far.
func (p *dbJoin) flush(b *batch.Batch, emit transform.Emit) error {
	if len(p.rows) == 0 {
		return nil
	}
	rows := b.Gather(p.rows)
	cols := make([]*batch.Column, len(p.result.Cols))
	for k, c := range p.result.Cols {
		cols[k] = c.Retain()
	}
	out := rows.With(p.out, cols...)
	rows.Release()
	p.result.Release()
	p.result, p.rows = p.env.Alloc.Batch(p.added), p.rows[:0]
	return emit(transform.Main, out)
}

// join appends the results for row i.
func (p *dbJoin) join(ctx context.Context, b *batch.Batch, i int) (err error) {
	before := p.result.Physical()
	if p.cache == nil {
		err = p.ask(ctx, b, i, p.result)
	} else {
		err = p.recall(ctx, b, i)
	}
	if err != nil {
		return err
	}
	if p.result.Physical() == before && p.settings.Outer {
		for _, c := range p.result.Cols {
			c.AppendNull()
		}
	}
	for range p.result.Physical() - before {
		p.rows = append(p.rows, int32(i))
	}
	return nil
}

// ask runs the query for row i.
func (p *dbJoin) ask(ctx context.Context, b *batch.Batch, i int, result *batch.Batch) (err error) {
	if p.args, err = p.binder.Append(p.args[:0], b, i); err != nil {
		return err
	}
	rows, err := p.session.query(ctx, p.query, p.args) //nolint:rowserrcheck // the reader checks it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r, err := database.NewReader(rows, p.dialect, p.added)
	if err != nil {
		return err
	}
	n := 0
	for ; p.settings.Limit == 0 || n < p.settings.Limit; n++ {
		more, err := r.Next(result.Cols)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	p.env.Counters.Input.Add(int64(n))
	return nil
}

// recall takes the result of earlier rows with the same parameters.
func (p *dbJoin) recall(ctx context.Context, b *batch.Batch, i int) error {
	p.key = p.key[:0]
	for _, f := range p.fields {
		p.key = appendKey(p.key, b.Cols[f].Value(i))
	}
	from, known := p.cache.find(p.key)
	if !known {
		p.cache.room()
		if p.cache.count() == 0 {
			clear(p.ends)
		}
		from = p.cache.count()
		if err := p.ask(ctx, b, i, p.cache.rows); err != nil {
			truncate(p.cache.rows, from)
			return err
		}
		if p.cache.count() == from {
			from = -1
		} else {
			p.ends[from] = p.cache.count()
		}
		p.cache.put(p.key, from)
	}
	if from >= 0 {
		for k, c := range p.result.Cols {
			c.AppendRange(p.cache.rows.Cols[k], from, p.ends[from])
		}
	}
	return nil
}
