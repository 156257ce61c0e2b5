package sql

import (
	"context"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// Update changes the rows of a table that have the keys of the input rows, and
// passes these on. A key that is not there is an error of the row (UPD001) unless
// it is ignored. Writing the same rows twice changes nothing the second time.
// Abort takes back what was written since the last commit.
var Update = transform.Define[UpdateSettings](transform.About{
	ID:            "Update",
	Name:          "Update",
	Category:      transform.CategoryOutput,
	Summary:       "Update rows of a table by their keys.",
	HandlesErrors: true,
	Sink:          true,
	RowNeutral:    []string{"commit", "use_batch"},
})

// UpdateSettings lists the settings in the order the form shows them.
type UpdateSettings struct {
	Target
	SkipLookup bool          `hop:"skip_lookup" label:"Skip the lookup" help:"Every row is updated; keys that are not there go unnoticed"`
	Ignore     bool          `hop:"error_ignored" label:"Ignore keys that are not there"`
	FlagField  string        `hop:"ignore_flag_field" label:"Flag field" help:"New field: whether the key was there"`
	Batch      bool          `hop:"use_batch" label:"Use batch updates" advanced:"true"`
	Values     []UpdateValue `hop:"lookup>value" required:"true"`
}

// UpdateValue is one column to update.
type UpdateValue struct {
	Column string `hop:"name" label:"Table column" required:"true"`
	Field  string `hop:"rename" label:"Stream field" form:"field"`
}

// Output implements transform.Settings.
func (s *UpdateSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.output(l))
}

func (s *UpdateSettings) output(l transform.Links) *batch.Schema {
	if s.FlagField == "" {
		return l.Main()
	}
	f := batch.NewField(s.FlagField, batch.Boolean)
	f.Origin = l.Transform
	return l.Main().With(f)
}

// Start implements transform.Settings.
func (s *UpdateSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &updater{env: env, settings: s, in: l.Main(), out: s.output(l)}
	var err error
	if p.session, p.schema, p.table, err = s.start(env); err != nil {
		return nil, err
	}
	for _, v := range s.Values {
		a, err := assign(p.in, v.Column, v.Field, true)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, a)
	}
	return p, once(p.values)
}

type updater struct {
	transform.Stateful
	*session
	env           *transform.Env
	settings      *UpdateSettings
	schema, table string
	in, out       *batch.Schema
	values        []assignment

	match  *matcher // nil without lookup
	update *statement
}

func (p *updater) start(ctx context.Context) (err error) {
	if p.update != nil {
		return nil
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	table := database.Table(p.dialect, p.schema, p.table)
	if !p.settings.SkipLookup {
		if p.match, err = newMatcher(p.session, p.in, table, p.values, p.settings.Keys); err != nil {
			return err
		}
	}
	p.update, err = newUpdate(p.session, p.in, table, p.values, p.settings.Keys)
	return err
}

// Apply implements transform.RowWise.
func (p *updater) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	flags := p.env.Alloc.Column(batch.Boolean)
	flags.Extend(b.Physical())
	for i := range b.All() {
		found, why := p.row(ctx, b, i)
		if why != nil {
			if err := p.rowFailed(ctx, rej, i, *why); err != nil {
				flags.Release()
				return err
			}
			continue
		}
		flags.Bits.Set(i, found)
	}
	if p.out.Len() == p.in.Len() {
		flags.Release()
		return passRows(b, rej, emit)
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

func (p *updater) row(ctx context.Context, b *batch.Batch, i int) (bool, *transform.RowError) {
	fault := func(err error) *transform.RowError { return &transform.RowError{Code: "UPD001", Err: err} }
	differs := true
	if p.match != nil {
		found, changed, err := p.match.match(ctx, b, i)
		p.env.Counters.Input.Add(1)
		if err != nil {
			return false, fault(err)
		}
		if !found {
			return false, p.absent(b, i)
		}
		differs = changed
	}
	if !differs {
		return true, nil
	}
	if err := p.update.exec(ctx, p.session, b, i); err != nil {
		return false, fault(err)
	}
	p.env.Counters.Updated.Add(1)
	if err := p.wrote(); err != nil {
		return false, fault(err)
	}
	return true, nil
}

// absent is the error of a key that is not in the table; nil when it is ignored.
func (p *updater) absent(b *batch.Batch, i int) *transform.RowError {
	if p.settings.Ignore {
		return nil
	}
	fields, values := keyTexts(p.env, p.in, p.settings.Keys, b, i)
	return &transform.RowError{Code: "UPD001", Fields: fields, Value: values, Err: fmt.Errorf("the table has no row with this key")}
}

// keyTexts gives the names of the key fields and their values in row i.
func keyTexts(env *transform.Env, in *batch.Schema, keys []Key, b *batch.Batch, i int) (fields, values string) {
	var names, texts []string
	for _, k := range keys {
		n := in.Index(k.Field)
		if n < 0 {
			continue
		}
		names = append(names, in.Fields[n].Name)
		text := "null"
		if codec, err := env.Semantics.Codec(&in.Fields[n]); err == nil && !b.Cols[n].IsNull(i) {
			text = codec.Text(b.Cols[n].Value(i))
		}
		texts = append(texts, text)
	}
	return strings.Join(names, ", "), strings.Join(texts, ", ")
}
