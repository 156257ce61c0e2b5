package sql

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// SynchronizeAfterMerge inserts, updates or deletes as a field of each row says,
// usually the flag of Merge rows, and passes the rows on. A row with another flag
// is passed on untouched. Abort takes back what was written since the last
// commit; a second run inserts again.
var SynchronizeAfterMerge = transform.Define[SynchronizeSettings](transform.About{
	ID:            "SynchronizeAfterMerge",
	Name:          "Synchronize after merge",
	Category:      transform.CategoryOutput,
	Summary:       "Insert, update or delete rows of a table as a flag field says.",
	HandlesErrors: true,
	Sink:          true,
	RowNeutral:    []string{"commit", "use_batch"},
})

// SynchronizeSettings lists the settings in the order the form shows them.
type SynchronizeSettings struct {
	Target
	Values         []InsertUpdateValue    `hop:"lookup>value" help:"All are inserted; the marked ones are updated"`
	OperationField transform.Expr[string] `hop:"operation_order_field" label:"Field with the operation" form:"field" required:"true"`
	Insert         transform.Expr[string] `hop:"order_insert" label:"Insert when it is"`
	Update         transform.Expr[string] `hop:"order_update" label:"Update when it is"`
	Delete         transform.Expr[string] `hop:"order_delete" label:"Delete when it is"`
	Lookup         bool                   `hop:"perform_lookup" label:"Look up before updates and deletes"`
	Batch          bool                   `hop:"use_batch" label:"Use batches" advanced:"true"`
	TableInField   bool                   `hop:"tablename_in_field" label:"The table is named by a field" advanced:"true"`
	TableField     transform.Expr[string] `hop:"tablename_field" form:"field" advanced:"true"`
}

// Output implements transform.Settings.
func (s *SynchronizeSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

// Start implements transform.Settings.
func (s *SynchronizeSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &synchronizer{env: env, settings: s, in: l.Main(), tables: map[string]*synchronized{}}
	var err error
	if p.session, p.schema, p.names.fixed, err = s.start(env); err != nil {
		return nil, err
	}
	values := InsertUpdateSettings{Values: s.Values}
	if p.values, err = values.assignments(p.in); err != nil {
		return nil, err
	}
	p.names.field, p.names.sem = -1, env.Semantics
	if s.TableInField {
		if err := p.names.fromField(s.TableField, env, p.in); err != nil {
			return nil, err
		}
	}
	field, err := s.OperationField.Eval(env)
	if err != nil {
		return nil, err
	}
	if p.operation, err = position(p.in, field); err != nil {
		return nil, err
	}
	if p.codec, err = env.Semantics.Codec(&p.in.Fields[p.operation]); err != nil {
		return nil, err
	}
	for _, e := range []struct {
		from transform.Expr[string]
		to   *string
	}{{s.Insert, &p.insertWord}, {s.Update, &p.updateWord}, {s.Delete, &p.deleteWord}} {
		if *e.to, err = e.from.Eval(env); err != nil {
			return nil, err
		}
	}
	return p, nil
}

type synchronizer struct {
	transform.Stateful
	*session
	env       *transform.Env
	settings  *SynchronizeSettings
	schema    string
	names     tableNamer
	in        *batch.Schema
	values    []assignment
	operation int
	codec     *batch.Codec

	insertWord, updateWord, deleteWord string

	tables map[string]*synchronized
}

// synchronized are the statements for one table, made when they are needed.
type synchronized struct {
	name                   string
	match                  *matcher
	insert, update, remove *statement
}

// Apply implements transform.RowWise.
func (p *synchronizer) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	for i := range b.All() {
		if err := p.row(ctx, b, i); err != nil {
			if err := p.rowFailed(ctx, rej, i, transform.RowError{Code: "SUYNC002", Err: err}); err != nil {
				return err
			}
		}
	}
	return passRows(b, rej, emit)
}

func (p *synchronizer) row(ctx context.Context, b *batch.Batch, i int) error {
	if p.env.Semantics.IsNull(b.Cols[p.operation], i) {
		return fmt.Errorf("field %q, which says what to do with the row, is empty", p.in.Fields[p.operation].Name)
	}
	t, err := p.table(b, i)
	if err != nil {
		return err
	}
	operation := p.codec.Text(b.Cols[p.operation].Value(i))
	if operation == p.insertWord {
		return p.inserted(ctx, t, b, i)
	}
	if operation != p.updateWord && operation != p.deleteWord {
		return nil
	}
	differs := true
	if p.settings.Lookup {
		if differs, err = p.lookUp(ctx, t, b, i); err != nil {
			return err
		}
	}
	if operation == p.deleteWord {
		return p.deleted(ctx, t, b, i)
	}
	if !differs {
		return nil
	}
	return p.changed(ctx, t, b, i)
}

func (p *synchronizer) table(b *batch.Batch, i int) (*synchronized, error) {
	name, err := p.names.of(b, i)
	if err != nil {
		return nil, err
	}
	t := p.tables[name]
	if t == nil {
		t = &synchronized{name: database.Table(p.dialect, p.schema, name)}
		p.tables[name] = t
	}
	return t, nil
}

func (p *synchronizer) lookUp(ctx context.Context, t *synchronized, b *batch.Batch, i int) (bool, error) {
	if t.match == nil {
		var err error
		if t.match, err = newMatcher(p.session, p.in, t.name, p.values, p.settings.Keys); err != nil {
			return false, err
		}
	}
	found, differs, err := t.match.match(ctx, b, i)
	p.env.Counters.Input.Add(1)
	if err == nil && !found {
		_, values := keyTexts(p.env, p.in, p.settings.Keys, b, i)
		err = fmt.Errorf("the table has no row with the key %s", values)
	}
	return differs, err
}

func (p *synchronizer) inserted(ctx context.Context, t *synchronized, b *batch.Batch, i int) (err error) {
	if t.insert == nil {
		if len(p.values) == 0 {
			return errors.New("there are no columns to insert; add them to the table of values")
		}
		if t.insert, err = newStatement(p.session, p.in, database.Insert(p.dialect, t.name, columnsOf(p.values)), fieldsOf(p.values)); err != nil {
			return err
		}
	}
	if err := t.insert.exec(ctx, p.session, b, i); err != nil {
		return err
	}
	p.env.Counters.Output.Add(1)
	return p.wrote()
}

func (p *synchronizer) changed(ctx context.Context, t *synchronized, b *batch.Batch, i int) (err error) {
	if t.update == nil {
		if t.update, err = newUpdate(p.session, p.in, t.name, updated(p.values), p.settings.Keys); err != nil {
			return err
		}
	}
	return p.counted(ctx, t.update, b, i)
}

func (p *synchronizer) deleted(ctx context.Context, t *synchronized, b *batch.Batch, i int) (err error) {
	if t.remove == nil {
		if t.remove, err = newDelete(p.session, p.in, t.name, p.settings.Keys); err != nil {
			return err
		}
	}
	return p.counted(ctx, t.remove, b, i)
}

func (p *synchronizer) counted(ctx context.Context, st *statement, b *batch.Batch, i int) error {
	if err := st.exec(ctx, p.session, b, i); err != nil {
		return err
	}
	p.env.Counters.Updated.Add(1)
	return p.wrote()
}
