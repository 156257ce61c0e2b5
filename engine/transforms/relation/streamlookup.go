package relation

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform"
)

// StreamLookup appends fields of the rows of another transform, found by key. That
// transform is read to its end first; of rows with equal keys the last one counts.
// Rows without a match get the default values.
//
// The keys of the lookup rows stay in memory. Their values go to a temporary file
// when the memory budget refuses them, which makes each lookup slower.
var StreamLookup = transform.Define[StreamLookupSettings](transform.About{
	ID:         "StreamLookup",
	Name:       "Stream lookup",
	Category:   transform.CategoryLookup,
	Summary:    "Append fields from the rows of another transform.",
	RowNeutral: []string{"input_sorted", "preserve_memory", "sorted_list"},
})

// StreamLookupSettings lists the settings in the order the form shows them.
type StreamLookupSettings struct {
	From           string        `hop:"from" form:"transform" required:"true" label:"Lookup transform"`
	Keys           []LookupKey   `hop:"lookup>key" required:"true"`
	Values         []LookupValue `hop:"lookup>value"`
	InputSorted    bool          `hop:"input_sorted" advanced:"true" help:"Not used"`
	PreserveMemory bool          `hop:"preserve_memory" advanced:"true" help:"Not used: memory is budgeted"`
	SortedList     bool          `hop:"sorted_list" advanced:"true" help:"Not used"`
	IntegerPair    bool          `hop:"integer_pair" advanced:"true" label:"Key and value are exactly one integer field"`
}

// LookupKey is one row of the key table.
type LookupKey struct {
	Field  string `hop:"name" form:"field" required:"true" label:"Field"`
	Lookup string `hop:"field" required:"true" label:"Lookup field"`
}

// LookupValue is one appended field.
type LookupValue struct {
	Field   string     `hop:"name" required:"true" label:"Lookup field"`
	Rename  string     `hop:"rename" label:"New name"`
	Default string     `hop:"default" help:"Value of rows without a match"`
	Type    batch.Type `hop:"type" default:"String" help:"Type of the default value"`
}

func (v *LookupValue) name() string {
	if v.Rename != "" {
		return v.Rename
	}
	return v.Field
}

// Ports implements transform.Porter.
func (s *StreamLookupSettings) Ports(transform.Links) transform.Ports {
	return transform.InfoPorts(s.From)
}

// Check implements transform.Checker.
func (s *StreamLookupSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if s.From != "" && l.From(s.From) == nil {
			yield(transform.Errorf("from", "the lookup transform %q is not connected; draw a hop from it", s.From))
		}
	}
}

// Output implements transform.Settings.
func (s *StreamLookupSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	out, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

func (s *StreamLookupSettings) schema(l transform.Links) (*batch.Schema, error) {
	values, _, err := s.values(l)
	if err != nil {
		return nil, err
	}
	return l.Main().With(values...), nil
}

// values gives the appended fields and where they are in the lookup rows.
func (s *StreamLookupSettings) values(l transform.Links) ([]batch.Field, []int, error) {
	info := l.From(s.From)
	var list []batch.Field
	var at []int
	for i := range s.Values {
		v := &s.Values[i]
		if info == nil {
			list = append(list, fieldOf(v.name(), v.Type, l.Transform))
			continue
		}
		k, err := fieldIndex(info, v.Field)
		if err != nil {
			return nil, nil, fmt.Errorf("lookup transform %q: %w", s.From, err)
		}
		f := info.Fields[k]
		f.Name, f.Origin = v.name(), l.Transform
		list = append(list, f)
		at = append(at, k)
	}
	return list, at, nil
}

// Start implements transform.Settings.
func (s *StreamLookupSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	info := l.From(s.From)
	if info == nil {
		return nil, fmt.Errorf("the lookup transform %q is not connected; draw a hop from it", s.From)
	}
	if len(s.Keys) == 0 {
		return nil, fmt.Errorf("there is no key; add the fields to look up by")
	}
	fields, at, err := s.values(l)
	if err != nil {
		return nil, err
	}
	p := &lookupProcessor{env: env, out: l.Main().With(fields...)}
	defaults := make([]batch.Value, len(fields))
	for i := range fields {
		if defaults[i], err = s.Values[i].parse(env.Semantics, &fields[i]); err != nil {
			return nil, err
		}
	}
	if err := p.planKeys(s.Keys, l.Main(), info); err != nil {
		return nil, err
	}
	if s.IntegerPair && (len(s.Keys) != 1 || len(fields) != 1 || p.buildKeys.fields[0].typ != batch.Integer || fields[0].Type != batch.Integer) {
		return nil, fmt.Errorf("key and value must be exactly one Integer field each, or turn that option off")
	}
	picked := make([]batch.Field, len(at))
	for i, k := range at {
		picked[i] = info.Fields[k]
	}
	p.side, err = newLookupSide(env, at, picked, defaults)
	return p, err
}

// parse reads the default as Hop does: plain numbers, TRUE or Y; what cannot be
// read is null.
func (v *LookupValue) parse(sem *batch.Semantics, f *batch.Field) (batch.Value, error) {
	if v.Default == "" {
		return batch.Null(f.Type), nil
	}
	value, err := v.plain(sem)
	if err != nil || !value.Valid {
		return batch.Null(f.Type), err
	}
	from := batch.NewField(v.name(), value.Type)
	c, err := sem.Converter(&from, f)
	if err != nil {
		return value, err
	}
	if value, err = c.Value(value); err != nil {
		return value, fmt.Errorf("default of %q: %w", v.name(), err)
	}
	return value, nil
}

func (v *LookupValue) plain(sem *batch.Semantics) (batch.Value, error) {
	switch v.Type {
	case batch.String:
		return batch.StringValue(v.Default), nil
	case batch.Number:
		n, err := strconv.ParseFloat(strings.TrimSpace(v.Default), 64)
		return orNull(batch.NumberValue(n), err), nil
	case batch.Integer:
		n, err := strconv.ParseInt(v.Default, 10, 64)
		return orNull(batch.IntegerValue(n), err), nil
	case batch.BigNumber:
		n, err := decimal.Parse(v.Default)
		return orNull(batch.DecimalValue(n), err), nil
	case batch.Boolean:
		return batch.BooleanValue(strings.EqualFold(v.Default, "TRUE") || strings.EqualFold(v.Default, "Y")), nil
	case batch.Date:
		f := batch.NewField(v.name(), batch.Date)
		codec, err := sem.Codec(&f)
		if err != nil {
			return batch.Value{}, err
		}
		d, err := codec.Parse([]byte(v.Default))
		return orNull(d, err), nil
	}
	if strings.TrimSpace(v.Default) == "" {
		return batch.Null(v.Type), nil
	}
	return batch.Value{}, fmt.Errorf("default of %q: a default cannot be of type %s; use String and convert it", v.name(), v.Type)
}

func orNull(v batch.Value, err error) batch.Value {
	if err != nil {
		return batch.Null(v.Type)
	}
	return v
}

// lookupProcessor is safe for many goroutines after Prepare.
type lookupProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env *transform.Env
	out *batch.Schema

	buildKeys *keys // of the lookup rows
	probeKeys *keys // of the main rows
	converts  []*keyConversion
	text      bool // keys are the text of one column

	side    *lookupSide
	scratch sync.Pool // *lookupScratch
}

// keyConversion turns a main key into the type of the lookup key.
type keyConversion struct {
	converter *batch.Converter
	codec     *batch.Codec // when the lookup key is text: by compatible strings
}

func (p *lookupProcessor) planKeys(list []LookupKey, in, info *batch.Schema) (err error) {
	var build, probe []string
	for _, k := range list {
		build, probe = append(build, k.Lookup), append(probe, k.Field)
	}
	if p.buildKeys, err = namedKeys(p.env.Semantics, info, build...); err != nil {
		return fmt.Errorf("key of the lookup rows: %w", err)
	}
	if p.probeKeys, err = namedKeys(p.env.Semantics, in, probe...); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	p.converts = make([]*keyConversion, len(list))
	for i := range list {
		from, to := &p.probeKeys.fields[i], &p.buildKeys.fields[i]
		if from.typ == to.typ {
			continue
		}
		c := &keyConversion{}
		if to.typ == batch.String {
			c.codec = from.codec
		}
		if c.converter, err = p.env.Semantics.Converter(&in.Fields[from.index], &info.Fields[to.index]); err != nil {
			return err
		}
		p.converts[i] = c
	}
	p.text = p.buildKeys.isText()
	return nil
}

// column converts a main key column (one hold).
func (c *keyConversion) column(b *batch.Batch, src *batch.Column) (*batch.Column, error) {
	if c.codec == nil {
		return c.converter.Column(b, src, func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
	}
	out := b.Allocator().Column(batch.String)
	next := 0
	for i := range b.All() {
		for ; next < i; next++ {
			out.AppendNull()
		}
		next++
		if src.IsNull(i) {
			out.AppendNull()
			continue
		}
		out.Data = c.codec.AppendCompatible(out.Data, src.Value(i))
		out.EndValue()
	}
	for ; next < b.Physical(); next++ {
		out.AppendNull()
	}
	return out, nil
}

// Prepare implements transform.Preparer: it reads the lookup rows.
func (p *lookupProcessor) Prepare(ctx context.Context, info []transform.Reader) error {
	if len(info) == 0 {
		return fmt.Errorf("there are no lookup rows; draw a hop from the lookup transform")
	}
	return p.side.read(ctx, info[0], p.buildKeys, p.text)
}

type lookupScratch struct {
	refs []rowRef
	cols []*batch.Column
	own  []*batch.Column
	key  []byte
	hash []uint32
	best []int32
}

// Apply implements transform.RowWise.
func (p *lookupProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	s, _ := p.scratch.Get().(*lookupScratch)
	if s == nil {
		s = &lookupScratch{}
	}
	defer p.scratch.Put(s)
	if err := p.find(b, s); err != nil {
		return err
	}
	cols, err := p.side.gather(ctx, s.refs)
	if err != nil {
		return err
	}
	return emit(transform.Main, b.With(p.out, cols...))
}

// find puts the lookup row of each physical row of b into s.refs.
func (p *lookupProcessor) find(b *batch.Batch, s *lookupScratch) error {
	defer func() {
		releaseColumns(s.own)
		s.cols, s.own = s.cols[:0], s.own[:0]
	}()
	var field string
	var err error
	if s.cols, field, err = p.probeKeys.columns(s.cols[:0], b); err != nil {
		return valueError(p.env.Transform, field, b, 0, err)
	}
	for i, c := range p.converts {
		if c == nil {
			continue
		}
		col, err := c.column(b, s.cols[i])
		if err != nil {
			return valueError(p.env.Transform, p.probeKeys.fields[i].name, b, 0, err)
		}
		s.cols[i] = col
		s.own = append(s.own, col)
	}
	n := b.Physical()
	if cap(s.refs) < n {
		s.refs = make([]rowRef, n)
	}
	s.refs = s.refs[:n]
	if b.Sel != nil {
		for i := range s.refs {
			s.refs[i] = rowRef{src: noRow}
		}
	}
	if p.text {
		p.findTexts(b, s)
		return nil
	}
	for i := range b.All() {
		s.key = p.buildKeys.append(s.key[:0], s.cols, i, 0)
		s.refs[i] = p.side.find(-1, hashOf(s.key), s.key)
	}
	return nil
}

// findTexts hashes all keys first, so that the index can look at all of them.
func (p *lookupProcessor) findTexts(b *batch.Batch, s *lookupScratch) {
	c := s.cols[0]
	s.hash = s.hash[:0]
	for i := range b.All() {
		s.hash = append(s.hash, hashOf(c.Bytes(i)))
	}
	s.best = p.side.index.guess(s.best[:0], s.hash)
	for n, hash := range s.hash {
		i := rowAt(b.Sel, n)
		s.refs[i] = p.side.find(s.best[n], hash, c.Bytes(i))
	}
}

// Close frees the lookup rows.
func (p *lookupProcessor) Close() error { return p.side.close() }

// Needs implements transform.FieldUser: looked-up fields follow those of the input.
func (s *StreamLookupSettings) Needs(l transform.Links, out []bool) []bool {
	var used []string
	for _, k := range s.Keys {
		used = append(used, k.Field)
	}
	return transform.PassingNeeds(l, out, used...)
}
