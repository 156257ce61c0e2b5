package sql

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// Delete removes the rows of a table that have the keys of the input rows, and
// passes these on. A key that is not there is no error. Abort takes back what was
// deleted since the last commit.
var Delete = transform.Define[DeleteSettings](transform.About{
	ID:            "Delete",
	Name:          "Delete",
	Category:      transform.CategoryOutput,
	Summary:       "Delete rows of a table by their keys.",
	HandlesErrors: true,
	Sink:          true,
	RowNeutral:    []string{"commit"},
})

// DeleteSettings lists the settings in the order the form shows them.
type DeleteSettings struct {
	Target
}

// Output implements transform.Settings.
func (s *DeleteSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

// Start implements transform.Settings.
func (s *DeleteSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &deleter{env: env, keys: s.Keys, in: l.Main()}
	var err error
	p.session, p.schema, p.table, err = s.start(env)
	return p, err
}

type deleter struct {
	transform.Stateful
	*session
	env           *transform.Env
	schema, table string
	keys          []Key
	in            *batch.Schema
	remove        *statement
}

func (p *deleter) start(ctx context.Context) (err error) {
	if p.remove != nil {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	p.remove, err = newDelete(p.session, p.in, database.Table(p.dialect, p.schema, p.table), p.keys)
	return err
}

func newDelete(s *session, in *batch.Schema, table string, keys []Key) (*statement, error) {
	w, err := newWhere(s.dialect, keys, in, 1)
	if err != nil {
		return nil, err
	}
	return newStatement(s, in, "DELETE FROM "+table+w.clause, w.fields)
}

// Apply implements transform.RowWise.
func (p *deleter) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	for i := range b.All() {
		err := p.remove.exec(ctx, p.session, b, i)
		if err == nil {
			p.env.Counters.Updated.Add(1)
			err = p.wrote()
		}
		if err != nil {
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: "DEL001", Err: err}); err != nil {
				return err
			}
		}
	}
	return passRows(b, rej, emit)
}
