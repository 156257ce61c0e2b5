package sql

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// InsertUpdate looks each row up by its keys: a row that is not there is inserted,
// one that differs is updated, all are passed on. Writing the same rows twice
// changes nothing the second time. Abort takes back what was written since the
// last commit.
var InsertUpdate = transform.Define[InsertUpdateSettings](transform.About{
	ID:            "InsertUpdate",
	Name:          "Insert / update",
	Category:      transform.CategoryOutput,
	Summary:       "Insert rows into a table, or update those that are there.",
	HandlesErrors: true,
	Sink:          true,
	RowNeutral:    []string{"commit"},
})

// InsertUpdateSettings lists the settings in the order the form shows them.
type InsertUpdateSettings struct {
	Target
	NoUpdates bool                `hop:"update_bypassed" label:"Only insert, never update"`
	Values    []InsertUpdateValue `hop:"lookup>value" required:"true" help:"All are inserted; the marked ones are compared and updated"`
}

// InsertUpdateValue is one column to write.
type InsertUpdateValue struct {
	Column string `hop:"name" label:"Table column" required:"true"`
	Field  string `hop:"rename" label:"Stream field" form:"field"`
	Update bool   `hop:"update"`
}

func (s *InsertUpdateSettings) assignments(in *batch.Schema) (list []assignment, err error) {
	for _, v := range s.Values {
		a, err := assign(in, v.Column, v.Field, v.Update)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, once(list)
}

// Output implements transform.Settings.
func (s *InsertUpdateSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

// Start implements transform.Settings.
func (s *InsertUpdateSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &insertUpdate{env: env, keys: s.Keys, in: l.Main(), noUpdates: s.NoUpdates}
	var err error
	if p.session, p.schema, p.table, err = s.start(env); err != nil {
		return nil, err
	}
	p.values, err = s.assignments(p.in)
	return p, err
}

type insertUpdate struct {
	transform.Stateful
	*session
	env           *transform.Env
	schema, table string
	keys          []Key
	in            *batch.Schema
	values        []assignment
	noUpdates     bool

	match          *matcher
	insert, update *statement
}

func (p *insertUpdate) start(ctx context.Context) (err error) {
	if p.match != nil {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	table := database.Table(p.dialect, p.schema, p.table)
	if p.insert, err = newStatement(p.session, p.in, database.Insert(p.dialect, table, columnsOf(p.values)), fieldsOf(p.values)); err != nil {
		return err
	}
	if some := updated(p.values); len(some) > 0 && !p.noUpdates {
		if p.update, err = newUpdate(p.session, p.in, table, some, p.keys); err != nil {
			return err
		}
	}
	p.match, err = newMatcher(p.session, p.in, table, p.values, p.keys)
	return err
}

// Apply implements transform.RowWise.
func (p *insertUpdate) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	for i := range b.All() {
		if err := p.row(ctx, b, i); err != nil {
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: "ISU001", Err: err}); err != nil {
				return err
			}
		}
	}
	return passRows(b, rej, emit)
}

func (p *insertUpdate) row(ctx context.Context, b *batch.Batch, i int) error {
	found, differs, err := p.match.match(ctx, b, i)
	p.env.Counters.Input.Add(1)
	switch {
	case err != nil:
		return err
	case !found:
		if err := p.insert.exec(ctx, p.session, b, i); err != nil {
			return err
		}
		p.env.Counters.Output.Add(1)
		return p.wrote()
	case differs && p.update != nil:
		if err := p.update.exec(ctx, p.session, b, i); err != nil {
			return err
		}
		p.env.Counters.Updated.Add(1)
		return p.wrote()
	}
	return nil
}
