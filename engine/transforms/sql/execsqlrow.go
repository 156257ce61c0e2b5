package sql

import (
	"context"
	"errors"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// ExecSQLRow runs the script that each row holds, or names as a file, and appends
// the row counts. Rows are committed together; Abort takes back those since the
// last commit.
var ExecSQLRow = transform.Define[ExecSQLRowSettings](transform.About{
	ID:            "ExecSqlRow",
	Name:          "Execute row SQL script",
	Category:      transform.CategoryDatabase,
	Summary:       "Run the SQL statements that each row holds.",
	HandlesErrors: true,
	Sink:          true,
	RowNeutral:    []string{"commit"},
})

// ExecSQLRowSettings lists the settings in the order the form shows them.
type ExecSQLRowSettings struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	Field      string                 `hop:"sql_field" label:"SQL field" form:"field" required:"true"`
	FromFile   bool                   `hop:"sqlFromfile" label:"The field names a file"`
	Single     bool                   `hop:"sendOneStatement" label:"Send as one statement"`
	Commit     int                    `hop:"commit" default:"1" unit:"rows" min:"0" label:"Commit size" help:"0 commits every statement by itself"`
	CounterFields
}

// Output implements transform.Settings.
func (s *ExecSQLRowSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main().With(s.fields(l.Transform)...))
}

// Start implements transform.Settings.
func (s *ExecSQLRowSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &execRow{env: env, settings: s, out: l.Main().With(s.fields(l.Transform)...)}
	var err error
	if p.field, err = position(l.Main(), s.Field); err != nil {
		return nil, err
	}
	if p.codec, err = env.Semantics.Codec(&l.Main().Fields[p.field]); err != nil {
		return nil, err
	}
	p.session, err = newWriter(env, s.Connection, s.Commit)
	return p, err
}

type execRow struct {
	transform.Stateful
	*session
	env      *transform.Env
	settings *ExecSQLRowSettings
	out      *batch.Schema
	field    int
	codec    *batch.Codec
}

// Apply implements transform.RowWise.
func (p *execRow) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	counts := make([]rowCounts, b.Physical())
	for i := range b.All() {
		n, err := p.row(ctx, string(p.codec.AppendText(nil, b.Cols[p.field], i)))
		if counts[i] = n; err != nil {
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: "ExecSqlRow001", Fields: p.settings.Field, Err: err}); err != nil {
				return err
			}
		}
	}
	return emitCounts(p.env, b, p.out, &p.settings.CounterFields, counts, rej, emit)
}

func (p *execRow) row(ctx context.Context, script string) (rowCounts, error) {
	if p.settings.FromFile {
		if script == "" {
			return rowCounts{}, errors.New("the row names no file")
		}
		text, err := files.ReadAll(ctx, p.env.Files, script)
		if err != nil {
			return rowCounts{}, err
		}
		script = string(text)
	}
	n, err := p.run(ctx, statements(script, p.settings.Single), nil)
	if err != nil {
		return n, err
	}
	return n, p.wrote()
}
