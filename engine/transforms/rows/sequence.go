package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Sequence appends a number from a counter. All copies of the transform, and all
// transforms that name the same counter, draw from one counter per execution.
// With a database the numbers come from a sequence there, one query per row.
var Sequence = transform.Define[SequenceSettings](transform.About{
	ID:       "Sequence",
	Name:     "Add sequence",
	Category: transform.Reshape,
	Summary:  "Append a number that counts up.",
})

// SequenceSettings lists the settings in the order the form shows them.
type SequenceSettings struct {
	Name         string                 `hop:"valuename" default:"valuename" label:"Name of value" required:"true"`
	UseCounter   bool                   `hop:"use_counter" label:"Use a counter"`
	CounterName  transform.Expr[string] `hop:"counter_name" help:"Transforms that share a name share the counter; empty takes the field name"`
	StartAt      transform.Expr[int64]  `hop:"start_at" default:"1"`
	IncrementBy  transform.Expr[int64]  `hop:"increment_by" default:"1"`
	MaxValue     transform.Expr[int64]  `hop:"max_value" default:"999999999" help:"After it the counter starts over"`
	UseDatabase  bool                   `hop:"use_database" label:"Use a database sequence" advanced:"true"`
	Connection   string                 `hop:"connection" form:"connection" advanced:"true"`
	Schema       transform.Expr[string] `hop:"schema" advanced:"true"`
	SequenceName transform.Expr[string] `hop:"seqname" default:"SEQ_" advanced:"true"`
}

func (s *SequenceSettings) schema(l transform.Links) *batch.Schema {
	f := batch.NewField(s.Name, batch.Integer)
	f.Origin = l.Transform
	return l.Main().With(f)
}

// Output implements transform.Settings.
func (s *SequenceSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

// Start implements transform.Settings.
func (s *SequenceSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	switch {
	case s.UseDatabase:
		return s.database(env, l)
	case s.UseCounter:
		counter, err := s.counter(env)
		if err != nil {
			return nil, err
		}
		return &sequenceProcessor{env: env, schema: s.schema(l), counter: counter}, nil
	}
	return nil, errors.New("no kind of sequence is chosen; switch on \"Use a counter\" or \"Use a database sequence\"")
}

func (s *SequenceSettings) counter(env *transform.Env) (transform.Counter, error) {
	name, err := s.CounterName.Or(env, s.Name)
	if err != nil {
		return nil, fmt.Errorf("counter name: %w", err)
	}
	numbers := [3]int64{}
	for i, n := range []struct {
		label string
		expr  transform.Expr[int64]
	}{{"start", s.StartAt}, {"increment", s.IncrementBy}, {"maximum", s.MaxValue}} {
		if n.expr.IsEmpty() {
			return nil, fmt.Errorf("%s of the counter is missing", n.label)
		}
		if numbers[i], err = n.expr.Eval(env); err != nil {
			return nil, fmt.Errorf("%s of the counter: %w", n.label, err)
		}
	}
	return env.Shared.Counter(name, numbers[0], numbers[1], numbers[2]), nil
}

type sequenceProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env     *transform.Env
	schema  *batch.Schema
	counter transform.Counter
	scratch []int64
}

// Apply implements transform.RowWise.
func (p *sequenceProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	c := p.env.Alloc.Column(batch.Integer)
	c.Extend(b.Physical())
	if b.Sel == nil {
		p.counter.Take(c.Ints[:0], b.Physical())
	} else {
		clear(c.Ints)
		p.scratch = p.counter.Take(p.scratch[:0], len(b.Sel))
		for k, i := range b.Sel {
			c.Ints[i] = p.scratch[k]
		}
	}
	return emit(transform.Main, b.With(p.schema, c))
}

func (s *SequenceSettings) database(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, err := s.Schema.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	name, err := s.SequenceName.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("sequence name: %w", err)
	}
	if s.Connection == "" || name == "" {
		return nil, errors.New("a database sequence needs a connection and the name of the sequence")
	}
	return &databaseSequence{env: env, schema: s.schema(l), connection: s.Connection, space: schema, name: name}, nil
}

type databaseSequence struct {
	transform.Stateful
	transform.TakesRaw
	env                     *transform.Env
	schema                  *batch.Schema
	connection, space, name string
	db                      *sql.DB
	query                   string
}

// Apply implements transform.RowWise.
func (p *databaseSequence) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	c := p.env.Alloc.Column(batch.Integer)
	err := forRows(b, c, func(int) error {
		var n int64
		if err := p.db.QueryRowContext(ctx, p.query).Scan(&n); err != nil {
			return fmt.Errorf("next value of sequence %q on %q: %w", p.name, p.connection, err)
		}
		c.AppendInt(n)
		return nil
	})
	if err != nil {
		c.Release()
		return err
	}
	return emit(transform.Main, b.With(p.schema, c))
}

func (p *databaseSequence) connect(ctx context.Context) error {
	if p.db != nil {
		return nil
	}
	db, dialect, err := p.env.Databases.DB(ctx, p.connection)
	if err != nil {
		return err
	}
	name := dialect.Quote(p.name)
	if p.space != "" {
		name = dialect.Quote(p.space) + "." + name
	}
	if p.query, err = nextValueQuery(dialect.Name(), name); err != nil {
		return err
	}
	p.db = db
	return nil
}

// nextValueQuery is the statement that draws a number; name is quoted.
func nextValueQuery(dialect, name string) (string, error) {
	switch d := strings.ToUpper(dialect); {
	case strings.HasPrefix(d, "POSTGRES"), d == "DUCKDB", d == "CRATEDB":
		return "SELECT nextval('" + strings.ReplaceAll(name, "'", "''") + "')", nil
	case strings.HasPrefix(d, "ORACLE"):
		return "SELECT " + name + ".NEXTVAL FROM DUAL", nil
	case strings.HasPrefix(d, "MSSQL"), strings.HasPrefix(d, "MARIADB"), d == "H2":
		return "SELECT NEXT VALUE FOR " + name, nil
	}
	return "", fmt.Errorf("%s has no sequences that can be used here; use a counter instead", dialect)
}
