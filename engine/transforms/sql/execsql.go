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

// ExecSQL runs a script: once, giving one row of row counts, or for each input
// row, appending the counts to it. Every statement is committed by itself: Abort
// can take back none.
var ExecSQL = transform.Define[ExecSQLSettings](transform.About{
	ID:            "ExecSql",
	Name:          "Execute SQL script",
	Category:      transform.CategoryDatabase,
	Summary:       "Run SQL statements, once or for each row.",
	HandlesErrors: true,
	Sink:          true,
})

// ExecSQLSettings lists the settings in the order the form shows them.
type ExecSQLSettings struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	SQL        string                 `hop:"sql" label:"SQL" form:"sql" required:"true" help:"Statements end with a semicolon"`
	EachRow    bool                   `hop:"execute_each_row" label:"Execute for each row"`
	Single     bool                   `hop:"single_statement" label:"Send as one statement"`
	Variables  bool                   `hop:"replace_variables" label:"Replace variables"`
	Bind       bool                   `hop:"set_params" label:"Bind parameters" help:"Off: question marks are replaced by the text of the values"`
	QuoteText  bool                   `hop:"quoteString" label:"Quote strings" help:"When question marks are replaced by text"`
	Arguments  []ExecSQLArgument      `hop:"arguments>argument" help:"Fields for the question marks"`
	CounterFields
}

// ExecSQLArgument is the field of one question mark.
type ExecSQLArgument struct {
	Field string `hop:"name" form:"field" required:"true"`
}

// Check implements transform.Checker.
func (s *ExecSQLSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		switch {
		case s.EachRow && !l.HasMain():
			yield(transform.Errorf("execute_each_row", "no rows come in to execute for"))
		case !s.EachRow && len(s.Arguments) > 0:
			yield(transform.Warnf("arguments>argument", "the fields have no effect when the script is executed once"))
		}
	}
}

// Output implements transform.Settings.
func (s *ExecSQLSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.output(l))
}

func (s *ExecSQLSettings) output(l transform.Links) *batch.Schema {
	var base *batch.Schema
	if s.EachRow {
		base = l.Main()
	}
	return base.With(s.fields(l.Transform)...)
}

// Start implements transform.Settings.
func (s *ExecSQLSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	e := scriptRunner{env: env, settings: s, script: s.SQL, out: s.output(l)}
	var err error
	if s.Variables {
		if e.script, err = env.Resolve(s.SQL); err != nil {
			return nil, fmt.Errorf("SQL: %w", err)
		}
	}
	if e.session, err = newWriter(env, s.Connection, 0); err != nil {
		return nil, err
	}
	if !s.EachRow {
		e.once = statements(e.script, s.Single)
		if l.HasMain() {
			return &execOnceDraining{scriptRunner: e}, nil
		}
		return &execOnce{scriptRunner: e}, nil
	}
	p := &execEach{scriptRunner: e, in: l.Main()}
	return p, p.chooseFields()
}

type scriptRunner struct {
	*session
	env      *transform.Env
	settings *ExecSQLSettings
	script   string
	once     []string
	out      *batch.Schema
}

// emitOnce runs the script and gives the row of counts.
func (e *scriptRunner) emitOnce(ctx context.Context, emit transform.Emit) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	n, err := e.run(ctx, e.once, nil)
	if err != nil {
		return err
	}
	b := e.env.Alloc.Batch(e.out)
	n.appendTo(&e.settings.CounterFields, b.Cols)
	b.SetRows(1)
	return emit(transform.Main, b)
}

// execOnce is the script as a source.
type execOnce struct {
	transform.Producer
	scriptRunner
}

// Produce implements transform.Source.
func (p *execOnce) Produce(ctx context.Context, emit transform.Emit) error {
	return p.emitOnce(ctx, emit)
}

// execOnceDraining is the script run once although rows come in; they end here.
type execOnceDraining struct {
	transform.Collector
	scriptRunner
}

// Run implements transform.Stream.
func (p *execOnceDraining) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	if err := p.emitOnce(ctx, emit); err != nil {
		return err
	}
	for _, r := range in {
		if err := eachRow(ctx, r, func(*batch.Batch, int) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// execEach runs the script for each row.
type execEach struct {
	transform.Stateful
	scriptRunner
	in     *batch.Schema
	fields []int
	codecs []*batch.Codec
	marks  []int // positions of the question marks in the script, when values replace them

	binder *database.Binder
	args   []any
}

// chooseFields finds the fields of the question marks.
func (p *execEach) chooseFields() error {
	for _, a := range p.settings.Arguments {
		i, err := position(p.in, a.Field)
		if err != nil {
			return err
		}
		codec, err := p.env.Semantics.Codec(&p.in.Fields[i])
		if err != nil {
			return err
		}
		p.fields, p.codecs = append(p.fields, i), append(p.codecs, codec)
	}
	if p.settings.Bind {
		return nil
	}
	for i := range len(p.script) { // also within quotes, as in Hop
		if p.script[i] == '?' {
			p.marks = append(p.marks, i)
		}
	}
	if len(p.marks) > len(p.fields) {
		return &engine.Error{
			Message: fmt.Sprintf("the script has %d question marks, but %d fields are named", len(p.marks), len(p.fields)),
			Hint:    "name one field for each",
		}
	}
	return nil
}

// Apply implements transform.RowWise.
func (p *execEach) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	counts := make([]rowCounts, b.Physical())
	for i := range b.All() {
		n, err := p.row(ctx, b, i)
		if counts[i] = n; err != nil {
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: "ExecSql001", Err: err}); err != nil {
				return err
			}
		}
	}
	return emitCounts(p.env, b, p.out, &p.settings.CounterFields, counts, rej, emit)
}

// emitCounts appends the counters to the rows that were not rejected.
func emitCounts(env *transform.Env, b *batch.Batch, out *batch.Schema, fields *CounterFields, counts []rowCounts, rej *transform.Rejects, emit transform.Emit) error {
	cols := counterColumns(env, out.Fields[b.Schema.Len():])
	for i := range counts {
		counts[i].appendTo(fields, cols)
	}
	whole := b.With(out, cols...)
	defer whole.Release()
	if keep := rej.Keep(); rej.Len() == 0 || len(keep) > 0 {
		if err := emit(transform.Main, whole.Select(selection(whole, keep))); err != nil {
			return err
		}
	}
	return rej.Flush(b, emit)
}

func (p *execEach) start(ctx context.Context) (err error) {
	if p.binder != nil {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	if p.settings.Bind {
		p.once = statements(p.script, p.settings.Single)
	}
	p.binder, err = database.NewBinder(p.dialect, p.env.Semantics, p.in, p.fields)
	return err
}

func (p *execEach) row(ctx context.Context, b *batch.Batch, i int) (rowCounts, error) {
	if !p.settings.Bind {
		return p.run(ctx, statements(p.filled(b, i), p.settings.Single), nil)
	}
	var err error
	if p.args, err = p.binder.Append(p.args[:0], b, i); err != nil {
		return rowCounts{}, err
	}
	return p.run(ctx, p.once, p.args)
}

// filled is the script with the question marks replaced by the texts of row i.
func (p *execEach) filled(b *batch.Batch, i int) string {
	var s strings.Builder
	from := 0
	for k, at := range p.marks {
		s.WriteString(p.script[from:at])
		from = at + 1
		col := b.Cols[p.fields[k]]
		text := string(p.codecs[k].AppendText(nil, col, i))
		if p.settings.QuoteText && col.Type == batch.String {
			text = p.dialect.QuoteText(text)
		}
		s.WriteString(text)
	}
	s.WriteString(p.script[from:])
	return s.String()
}
