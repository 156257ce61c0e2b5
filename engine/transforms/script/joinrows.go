package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/expr"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// JoinRows combines every row of its main input with every row of all others and
// keeps the combinations that satisfy a condition. The main input is the outer
// loop and streams; the others are held in memory, or on disk beyond the memory
// budget.
var JoinRows = transform.Define[JoinRowsSettings](transform.About{
	ID:         "JoinRows",
	Name:       "Join rows (Cartesian product)",
	Category:   transform.CategoryJoin,
	Summary:    "Combine every row of one input with every row of the others.",
	RowNeutral: []string{"directory", "prefix", "cache_size"},
})

// JoinRowsSettings lists the settings in the order the form shows them.
type JoinRowsSettings struct {
	Main      string `hop:"main" label:"Main transform to read from" form:"transform"`
	Directory string `hop:"directory" advanced:"true" form:"folder"`
	Prefix    string `hop:"prefix" default:"out" advanced:"true"`
	CacheSize int    `hop:"cache_size" default:"500" unit:"rows" advanced:"true"`
	// Condition is the tree below <compare>; nil keeps every combination.
	Condition *expr.Condition
	badTree   error
}

// AfterDecode implements transform.AfterDecoder.
func (s *JoinRowsSettings) AfterDecode(el *hopxml.Element) {
	s.Condition, s.badTree = expr.DecodeCondition(el.Child("compare").Child("condition"))
}

// order lists the inputs with the main one first.
func (s *JoinRowsSettings) order(l transform.Links) []transform.Input {
	list := make([]transform.Input, 0, len(l.Inputs))
	for _, in := range l.Inputs {
		if s.Main != "" && strings.EqualFold(in.From, s.Main) {
			list = append(list, in)
		}
	}
	for _, in := range l.Inputs {
		if s.Main == "" || !strings.EqualFold(in.From, s.Main) {
			list = append(list, in)
		}
	}
	return list
}

// Ports implements transform.Porter.
func (s *JoinRowsSettings) Ports(l transform.Links) transform.Ports {
	p := transform.Ports{Outputs: []transform.OutputPort{{ID: transform.Main}}}
	for i, in := range s.order(l) {
		port := transform.InputPort{Name: in.From, From: in.From, Required: true}
		if i > 0 {
			port.Read = transform.First
		}
		p.Inputs = append(p.Inputs, port)
	}
	if len(p.Inputs) == 0 {
		p.Inputs = []transform.InputPort{{Name: string(transform.Main)}}
	}
	return p
}

func (s *JoinRowsSettings) schema(l transform.Links) *batch.Schema {
	out := &batch.Schema{}
	for _, in := range s.order(l) {
		if in.Schema != nil {
			out = out.With(in.Schema.Fields...)
		}
	}
	return out
}

// Output implements transform.Settings.
func (s *JoinRowsSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

// Check implements transform.Checker.
func (s *JoinRowsSettings) Check(l transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if s.badTree != nil {
			yield(transform.Errorf("compare", "%v", s.badTree))
			return
		}
		if len(l.Inputs) < 2 && !yield(transform.Warnf("", "only %d input is connected; there is nothing to combine", len(l.Inputs))) {
			return
		}
		if s.Main != "" && l.From(s.Main) == nil && !yield(transform.Errorf("main", "no hop comes from %q", s.Main)) {
			return
		}
		if s.Condition.IsEmpty() {
			return
		}
		// Hop takes a missing field for false at run time; a person wants to know
		if _, err := s.Condition.Compile(s.schema(l), expr.Options{Semantics: d.Semantics(), Vars: d}); err != nil {
			yield(transform.Warnf("compare", "%v", err))
		}
	}
}

// Start implements transform.Settings.
func (s *JoinRowsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if s.badTree != nil {
		return nil, fmt.Errorf("condition: %w", s.badTree)
	}
	if s.Main != "" && l.From(s.Main) == nil {
		return nil, fmt.Errorf("the main transform %q has no hop to this one; draw it or choose another", s.Main)
	}
	schema := s.schema(l)
	p := &joinRows{env: env, schema: schema}
	if !s.Condition.IsEmpty() {
		var err error
		p.predicate, err = s.Condition.Compile(schema, expr.Options{Semantics: env.Semantics, Vars: env, Lax: true})
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

type joinRows struct {
	transform.Collector
	env       *transform.Env
	schema    *batch.Schema
	predicate *expr.Predicate
}

// Run implements transform.Stream: the inner inputs are read to their ends, then
// the main one streams.
func (p *joinRows) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) (err error) {
	if len(in) == 0 {
		return errNoInput
	}
	inner := make([]*heldRows, 0, len(in)-1)
	defer func() {
		for _, h := range inner {
			err = errors.Join(err, h.close())
		}
	}()
	empty := false
	for _, r := range in[1:] {
		h, err := hold(ctx, p.env, r)
		if err != nil {
			return err
		}
		inner = append(inner, h)
		empty = empty || h.rows == 0
	}
	for {
		b, err := in[0].Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !empty {
			err = p.outer(ctx, b, inner, emit)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
}

// outer combines the rows of one batch of the main input.
func (p *joinRows) outer(ctx context.Context, b *batch.Batch, inner []*heldRows, emit transform.Emit) error {
	c := &combiner{p: p, emit: emit, batches: make([]*batch.Batch, len(inner)+1), rows: make([][]int32, len(inner)+1), at: make([]int32, len(inner)+1)}
	c.batches[0] = b
	for i := range b.All() {
		c.at[0] = int32(i)
		if err := c.level(ctx, 1, inner); err != nil {
			return err
		}
	}
	return c.flush()
}

// combiner gathers combinations whose rows lie in the same batches.
type combiner struct {
	p       *joinRows
	emit    transform.Emit
	batches []*batch.Batch
	at      []int32   // current row of each input
	rows    [][]int32 // rows of the combinations gathered, per input
}

func (c *combiner) level(ctx context.Context, k int, inner []*heldRows) error {
	if k > len(inner) {
		return c.add(ctx)
	}
	return inner[k-1].each(ctx, func(b *batch.Batch) error {
		if c.batches[k] != b {
			if err := c.flush(); err != nil {
				return err
			}
			c.batches[k] = b
		}
		for i := range int32(b.Physical()) {
			c.at[k] = i
			if err := c.level(ctx, k+1, inner); err != nil {
				return err
			}
		}
		if inner[k-1].file != nil { // the batch goes away with the call
			err := c.flush()
			c.batches[k] = nil
			return err
		}
		return nil
	})
}

func (c *combiner) add(ctx context.Context) error {
	for k, i := range c.at {
		c.rows[k] = append(c.rows[k], i)
	}
	if len(c.rows[0]) < batch.MaxRows {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.flush()
}

// flush emits the combinations gathered that satisfy the condition.
func (c *combiner) flush() error {
	n := len(c.rows[0])
	if n == 0 {
		return nil
	}
	var cols []*batch.Column
	for k, b := range c.batches {
		for _, col := range b.Cols {
			cols = append(cols, col.Gather(c.p.env.Alloc, c.rows[k]))
		}
		c.rows[k] = c.rows[k][:0]
	}
	out := c.p.env.Alloc.Assemble(c.p.schema, cols, n)
	if c.p.predicate == nil {
		return c.emit(transform.Main, out)
	}
	defer out.Release()
	sel, err := c.p.predicate.Select(out)
	if err != nil {
		return rowFailure(c.p.env, out, "", err)
	}
	return emitSelected(transform.Main, out, sel, c.emit)
}

// heldRows are all rows of one inner input, in memory or in a spill file.
type heldRows struct {
	env     *transform.Env
	schema  *batch.Schema
	batches []*batch.Batch
	bytes   int64
	rows    int64
	file    transform.SpillFile
}

// hold reads an input to its end, into batches that are as full as they may be.
func hold(ctx context.Context, env *transform.Env, r transform.Reader) (*heldRows, error) {
	h := &heldRows{env: env, schema: r.Schema()}
	fill := env.Alloc.Batch(h.schema)
	done := func(err error) (*heldRows, error) {
		fill.Release()
		if err != nil {
			return nil, errors.Join(err, h.close())
		}
		return h, nil
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			if fill.Physical() > 0 {
				err := h.keep(fill.Retain())
				return done(err)
			}
			return done(nil)
		}
		if err != nil {
			return done(err)
		}
		for i := range b.All() {
			fill.AppendRow(b, i)
			if fill.Full() {
				if err := h.keep(fill); err != nil {
					fill = env.Alloc.Batch(h.schema)
					b.Release()
					return done(err)
				}
				fill = env.Alloc.Batch(h.schema)
			}
		}
		b.Release()
	}
}

// keep takes over a batch: into memory while the budget lasts, else to disk.
func (h *heldRows) keep(b *batch.Batch) error {
	h.rows += int64(b.Physical())
	size := int64(b.Bytesize())
	if h.file == nil && h.env.Memory.Request(size) {
		h.bytes += size
		h.batches = append(h.batches, b)
		return nil
	}
	defer b.Release()
	if h.file == nil {
		if err := h.spill(); err != nil {
			return err
		}
	}
	return h.file.Write(b)
}

func (h *heldRows) spill() (err error) {
	if h.file, err = h.env.Spill.Create(); err != nil {
		return err
	}
	for _, b := range h.batches {
		if err := h.file.Write(b); err != nil {
			return err
		}
	}
	h.free()
	return nil
}

func (h *heldRows) free() {
	for _, b := range h.batches {
		b.Release()
	}
	h.batches = nil
	h.env.Memory.Release(h.bytes)
	h.bytes = 0
}

// each passes the batches in order; a batch read from disk is released after the
// call.
func (h *heldRows) each(ctx context.Context, visit func(b *batch.Batch) error) error {
	if h.file == nil {
		for _, b := range h.batches {
			if err := visit(b); err != nil {
				return err
			}
		}
		return nil
	}
	r, err := h.file.Reader(h.schema)
	if err != nil {
		return err
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = visit(b)
		b.Release()
		if err != nil {
			return errors.Join(err, closeReader(r))
		}
	}
}

func closeReader(r transform.Reader) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (h *heldRows) close() error {
	h.free()
	if h.file != nil {
		return h.file.Close()
	}
	return nil
}
