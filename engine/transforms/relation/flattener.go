package relation

import (
	"context"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Flattener turns the values of one field in n consecutive rows into n fields of
// one row. The other fields are those of the last of the n rows.
var Flattener = transform.Define[FlattenerSettings](transform.About{
	ID:       "Flattener",
	Aliases:  []string{"Flatterner"},
	Name:     "Row flattener",
	Category: transform.Reshape,
	Summary:  "Turn the values of consecutive rows into fields.",
})

// FlattenerSettings lists the settings in the order the form shows them.
type FlattenerSettings struct {
	Field   string       `hop:"field_name" form:"field" required:"true" label:"Field to flatten"`
	Targets []NamedField `hop:"fields>field" required:"true" label:"Target fields" help:"As many rows become one"`
}

// Output implements transform.Settings.
func (s *FlattenerSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	out, _, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

func (s *FlattenerSettings) schema(l transform.Links) (*batch.Schema, int, error) {
	in := mainSchema(l)
	at, err := fieldIndex(in, s.Field)
	if err != nil {
		return nil, 0, err
	}
	fields := append(append([]batch.Field(nil), in.Fields[:at]...), in.Fields[at+1:]...)
	out := batch.NewSchema(fields...)
	for _, t := range s.Targets {
		f := in.Fields[at]
		f.Name, f.Origin = t.Name, l.Transform
		out = out.With(f)
	}
	return out, at, nil
}

// Start implements transform.Settings.
func (s *FlattenerSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	out, at, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	p := &flattener{env: env, in: mainSchema(l), out: out, at: at, width: max(1, len(s.Targets)), targets: len(s.Targets)}
	p.rest, err = newSources(env.Alloc, env.Semantics, p.in)
	return p, err
}

type flattener struct {
	transform.Stateful
	transform.TakesRaw
	env     *transform.Env
	in, out *batch.Schema
	at      int
	width   int // rows that become one
	targets int
	rest    *sources
	pending *batch.Batch // rows of an unfinished output row, fewer than width
}

// Apply implements transform.RowWise.
func (p *flattener) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	refs := p.begin()
	id := p.rest.add(b)
	for i := range b.All() {
		refs = append(refs, rowRef{id, uint32(i)})
	}
	whole := len(refs) / p.width * p.width
	if err := p.emitRows(refs[:whole], emit); err != nil {
		return err
	}
	return p.keep(refs[whole:])
}

// begin makes the pending rows known and names them.
func (p *flattener) begin() []rowRef {
	p.rest.reset()
	var refs []rowRef
	if p.pending != nil {
		id := p.rest.add(p.pending)
		for i := range p.pending.Physical() {
			refs = append(refs, rowRef{id, uint32(i)})
		}
	}
	return refs
}

func (p *flattener) keep(refs []rowRef) error {
	var pending *batch.Batch
	if len(refs) > 0 {
		var err error
		if pending, err = p.rest.gather(refs); err != nil {
			return err
		}
	}
	if p.pending != nil {
		p.pending.Release()
	}
	p.pending = pending
	return nil
}

// emitRows makes rows of width values each; a last one may be short.
func (p *flattener) emitRows(refs []rowRef, emit transform.Emit) error {
	if len(refs) == 0 {
		return nil
	}
	rows := (len(refs) + p.width - 1) / p.width
	last := make([]rowRef, rows)
	for n := range last {
		last[n] = refs[min((n+1)*p.width, len(refs))-1]
	}
	var cols []*batch.Column
	take := func(k int, at []rowRef) error {
		from, err := p.rest.columns(k)
		if err != nil {
			releaseColumns(cols)
			return err
		}
		t := p.in.Fields[k].Type
		cols = append(cols, gatherOr(newColumn(p.env.Alloc, t, len(from) > 0 && from[0].Raw), from, at, batch.Null(t)))
		return nil
	}
	for k := range p.in.Fields {
		if k == p.at {
			continue
		}
		if err := take(k, last); err != nil {
			return err
		}
	}
	for t := range p.targets {
		values := make([]rowRef, rows)
		for n := range values {
			values[n].src = noRow
			if i := n*p.width + t; i < len(refs) {
				values[n] = refs[i]
			}
		}
		if err := take(p.at, values); err != nil {
			return err
		}
	}
	return emit(transform.Main, p.env.Alloc.Assemble(p.out, cols, rows))
}

// Finish implements transform.Finisher: an unfinished row has nulls.
func (p *flattener) Finish(_ context.Context, emit transform.Emit) error {
	return p.emitRows(p.begin(), emit)
}

// Close frees the pending rows.
func (p *flattener) Close() error {
	if p.pending != nil {
		p.pending.Release()
		p.pending = nil
	}
	return nil
}
