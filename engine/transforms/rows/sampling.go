package rows

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/javarandom"
	"sluice/engine/transform"
)

// SampleRows passes the rows with the listed numbers on.
var SampleRows = transform.Define[SampleRowsSettings](transform.About{
	ID:       "SampleRows",
	Name:     "Sample rows",
	Category: transform.CategoryFlow,
	Summary:  "Keep rows by their number.",
})

// SampleRowsSettings lists the settings in the order the form shows them.
type SampleRowsSettings struct {
	Lines       transform.Expr[string] `hop:"linesrange" default:"1" label:"Rows" help:"Numbers and ranges from 1: 1,5..10"`
	NumberField transform.Expr[string] `hop:"linenumfield" label:"Field for the row number"`
}

func (s *SampleRowsSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	name, err := s.NumberField.Eval(r)
	if err != nil {
		return nil, fmt.Errorf("row number field: %w", err)
	}
	if name == "" {
		return inputOf(l), nil
	}
	return inputOf(l).With(integerField(name, l.Transform)), nil
}

// Output implements transform.Settings.
func (s *SampleRowsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *SampleRowsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, err := s.schema(l, env)
	if err != nil {
		return nil, err
	}
	text, err := s.Lines.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	ranges, err := parseRanges(text)
	if err != nil {
		return nil, err
	}
	return &sampleProcessor{env: env, schema: schema, ranges: ranges, numbered: schema.Len() > inputOf(l).Len()}, nil
}

// rowRange holds both of its ends.
type rowRange struct{ from, to int64 }

// parseRanges reads "1,5..10"; as in Hop other parts count for nothing.
func parseRanges(text string) ([]rowRange, error) {
	var list []rowRange
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "..")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseInt(first, 10, 64)
		if err != nil || from < 0 {
			continue
		}
		to, err := strconv.ParseInt(last, 10, 64)
		if err != nil || to < 0 {
			continue
		}
		if to < from {
			return nil, fmt.Errorf("the range %q ends before it begins", part)
		}
		list = append(list, rowRange{from, to})
	}
	sort.Slice(list, func(a, b int) bool { return list[a].from < list[b].from })
	return list, nil
}

type sampleProcessor struct {
	transform.Stateful
	transform.TakesRaw
	env      *transform.Env
	schema   *batch.Schema
	ranges   []rowRange
	numbered bool
	row      int64
}

// Apply implements transform.RowWise.
func (p *sampleProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	first := p.row
	var sel []int32
	for i := range b.All() {
		p.row++
		if p.holds(p.row) {
			sel = append(sel, int32(i))
		}
	}
	if len(sel) == 0 {
		return nil
	}
	kept := b.Select(sel)
	if !p.numbered {
		return emit(transform.Main, kept)
	}
	numbers := p.env.Alloc.Column(batch.Integer)
	_ = forRows(b, numbers, func(int) error {
		first++
		numbers.AppendInt(first)
		return nil
	})
	out := kept.With(p.schema, numbers)
	kept.Release()
	return emit(transform.Main, out)
}

func (p *sampleProcessor) holds(n int64) bool {
	for _, r := range p.ranges {
		if n < r.from {
			return false
		}
		if n <= r.to {
			return true
		}
	}
	return false
}

// ReservoirSampling keeps a random sample of fixed size (Vitter's algorithm R) and
// emits it when the input ends. A seed picks the rows that it picks in Hop. Memory
// is O(sample size).
var ReservoirSampling = transform.Define[ReservoirSamplingSettings](transform.About{
	ID:       "ReservoirSampling",
	Name:     "Reservoir sampling",
	Category: transform.CategoryFlow,
	Summary:  "Keep a random sample of fixed size.",
})

// ReservoirSamplingSettings lists the settings in the order the form shows them.
type ReservoirSamplingSettings struct {
	Size transform.Expr[int64] `hop:"reservoir_sampling>sample_size" default:"100" unit:"rows" help:"0 passes all rows, below 0 none"`
	Seed transform.Expr[int64] `hop:"reservoir_sampling>seed" default:"1"`
}

// Output implements transform.Settings.
func (s *ReservoirSamplingSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// discarded is how many numbers Hop draws before the first it uses.
const discarded = 100

// Start implements transform.Settings.
func (s *ReservoirSamplingSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	size, err := s.Size.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("sample size: %w", err)
	}
	seed, err := s.Seed.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	if size == 0 {
		return passProcessor{}, nil
	}
	p := &reservoirProcessor{env: env, schema: inputOf(l), size: size, random: javarandom.New(seed)}
	for range discarded {
		p.random.Float64()
	}
	return p, nil
}

type reservoirProcessor struct {
	transform.Stateful
	env    *transform.Env
	schema *batch.Schema
	size   int64
	random *javarandom.Random
	seen   int64
	sample [][]batch.Value
}

// Apply implements transform.RowWise.
func (p *reservoirProcessor) Apply(_ context.Context, b *batch.Batch, _ transform.Emit) error {
	for i := range b.All() {
		switch {
		case p.seen < p.size:
			p.sample = append(p.sample, rowValues(b, i))
		case p.size > 0 && p.random.Float64() < float64(p.size)/float64(p.seen):
			p.sample[int64(float64(p.size)*p.random.Float64())] = rowValues(b, i)
		}
		p.seen++
	}
	return nil
}

func rowValues(b *batch.Batch, i int) []batch.Value {
	row := make([]batch.Value, len(b.Cols))
	for k, c := range b.Cols {
		row[k] = c.Value(i)
	}
	return row
}

// Finish implements transform.Finisher.
func (p *reservoirProcessor) Finish(_ context.Context, emit transform.Emit) error {
	rows := p.sample
	p.sample = nil
	for len(rows) > 0 {
		out := p.env.Alloc.Batch(p.schema)
		n := 0
		for len(rows) > 0 && n < batch.MaxRows && out.Bytesize() < batch.SoftBytes {
			for k, v := range rows[0] {
				out.Cols[k].AppendValue(v)
			}
			rows = rows[1:]
			n++
		}
		out.SetRows(n)
		if err := emit(transform.Main, out); err != nil {
			return err
		}
	}
	return nil
}
