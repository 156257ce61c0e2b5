package relation

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SortedMerge merges inputs that are sorted by the same keys into one that is.
// Equal rows come in the order of the hops.
var SortedMerge = transform.Define[SortedMergeSettings](transform.About{
	ID:       "SortedMerge",
	Name:     "Sorted merge",
	Category: transform.CategoryJoin,
	Summary:  "Merge sorted inputs into one sorted output.",
})

// SortedMergeSettings lists the settings in the order the form shows them.
type SortedMergeSettings struct {
	Keys []MergeKey `hop:"fields>field" required:"true" help:"Most significant first"`
}

// MergeKey is one row of the key table.
type MergeKey struct {
	Field     string `hop:"name" form:"field" required:"true"`
	Ascending bool   `hop:"ascending" default:"true"`
}

// Ports implements transform.Porter: a reader for each hop.
func (s *SortedMergeSettings) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	p.Inputs[0].Separate = true
	return p
}

// Output implements transform.Settings.
func (s *SortedMergeSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	if err := sameLayouts(l); err != nil {
		return nil, err
	}
	return transform.OnMain(l.Main())
}

// sameLayouts checks that the rows of all main inputs may be mixed.
func sameLayouts(l transform.Links) error {
	for _, in := range l.Inputs {
		if in.Info || in.Schema == nil {
			continue
		}
		if err := l.Main().SameLayout(in.Schema); err != nil {
			return fmt.Errorf("the rows of %q differ from those of the other inputs: %w; make them alike with Select values", in.From, err)
		}
	}
	return nil
}

// Start implements transform.Settings.
func (s *SortedMergeSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if err := sameLayouts(l); err != nil {
		return nil, err
	}
	if !l.HasMain() {
		return &sortedMerge{}, nil
	}
	var fields []keyField
	for _, k := range s.Keys {
		i, err := fieldIndex(l.Main(), k.Field)
		if err != nil {
			return nil, err
		}
		fields = append(fields, keyField{index: i, desc: !k.Ascending})
	}
	order, err := newKeys(env.Semantics, l.Main(), fields)
	if err != nil {
		return nil, err
	}
	return &sortedMerge{sortProcessor: sortProcessor{env: env, keys: order}, schema: l.Main()}, nil
}

type sortedMerge struct {
	sortProcessor
	schema *batch.Schema
}

// Run implements transform.Stream.
func (p *sortedMerge) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	if len(in) == 0 {
		return nil
	}
	runs := make([]*run, len(in))
	for i, r := range in {
		cast, err := newRecaster(p.env, r, p.schema)
		if err != nil {
			return err
		}
		runs[i] = &run{in: cast, long: true}
	}
	m, err := newMerger(ctx, &p.sortProcessor, p.schema, runs, batch.MaxRows)
	if err != nil {
		return err
	}
	defer m.close()
	return m.each(func(b *batch.Batch) error { return emit(transform.Main, b) })
}

// recaster gives the batches of an input under the schema of another one with the
// same layout.
type recaster struct {
	transform.Reader
	name   string
	to     *batch.Schema
	codecs []*batch.Codec
	before int64
}

func newRecaster(env *transform.Env, in transform.Reader, to *batch.Schema) (*recaster, error) {
	codecs, err := env.Semantics.Codecs(in.Schema())
	return &recaster{Reader: in, name: env.Transform, to: to, codecs: codecs}, err
}

// Schema implements transform.Reader.
func (r *recaster) Schema() *batch.Schema { return r.to }

// Next implements transform.Reader.
func (r *recaster) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	out, err := recast(b, r.codecs, r.to)
	if err != nil {
		return nil, valueError(r.name, "", b, r.before, err)
	}
	r.before += int64(b.Rows())
	return out, nil
}
