package relation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// MergeJoin joins two inputs that are sorted by their keys, ascending. Nulls are
// equal to each other. Rows with equal keys give all pairs, the first input
// outermost.
var MergeJoin = transform.Define[MergeJoinSettings](transform.About{
	ID:       "MergeJoin",
	Name:     "Merge join",
	Category: transform.CategoryJoin,
	Summary:  "Join two inputs that are sorted by their keys.",
})

// MergeJoinSettings lists the settings in the order the form shows them.
type MergeJoinSettings struct {
	Type       JoinType `hop:"join_type" default:"INNER" label:"Join type"`
	Transform1 string   `hop:"transform1" form:"transform" required:"true" label:"First transform"`
	Transform2 string   `hop:"transform2" form:"transform" required:"true" label:"Second transform"`
	Keys1      []string `hop:"keys_1>key" form:"field" required:"true" label:"Keys of the first"`
	Keys2      []string `hop:"keys_2>key" form:"field" required:"true" label:"Keys of the second"`
}

// JoinType says what happens to rows without a partner.
type JoinType string

// The join types.
const (
	InnerJoin      JoinType = "INNER"
	LeftOuterJoin  JoinType = "LEFT OUTER"
	RightOuterJoin JoinType = "RIGHT OUTER"
	FullOuterJoin  JoinType = "FULL OUTER"
)

// Choices lists the types for forms.
func (JoinType) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(InnerJoin), Label: "Inner", Help: "Only rows with a partner"},
		{Code: string(LeftOuterJoin), Label: "Left outer", Help: "All rows of the first input"},
		{Code: string(RightOuterJoin), Label: "Right outer", Help: "All rows of the second input"},
		{Code: string(FullOuterJoin), Label: "Full outer", Help: "All rows"},
	}
}

func (t JoinType) keepsLeft() bool  { return t == LeftOuterJoin || t == FullOuterJoin }
func (t JoinType) keepsRight() bool { return t == RightOuterJoin || t == FullOuterJoin }

// twoInputs are the ports of a transform that reads two named inputs together.
func twoInputs(first, second string) transform.Ports {
	p := transform.DefaultPorts()
	p.Inputs = []transform.InputPort{
		{Name: "first", From: first, Info: true, Required: true},
		{Name: "second", From: second, Info: true, Required: true},
	}
	return p
}

// twoSchemas gives the schemas of two named inputs.
func twoSchemas(l transform.Links, first, second string) (a, b *batch.Schema, err error) {
	for _, n := range []struct {
		name string
		to   **batch.Schema
	}{{first, &a}, {second, &b}} {
		if n.name == "" {
			return nil, nil, fmt.Errorf("choose the two input transforms that give the rows")
		}
		if *n.to = l.From(n.name); *n.to == nil {
			return nil, nil, fmt.Errorf("the transform %q is not connected; draw a hop from it", n.name)
		}
	}
	return a, b, nil
}

// Ports implements transform.Porter.
func (s *MergeJoinSettings) Ports(transform.Links) transform.Ports {
	return twoInputs(s.Transform1, s.Transform2)
}

// Check implements transform.Checker.
func (s *MergeJoinSettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if len(s.Keys1) != len(s.Keys2) {
			yield(transform.Errorf("keys_2>key", "the first input has %d keys, the second %d", len(s.Keys1), len(s.Keys2)))
		}
	}
}

// Output implements transform.Settings.
func (s *MergeJoinSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	a, b, err := twoSchemas(l, s.Transform1, s.Transform2)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(a.With(b.Fields...))
}

// Start implements transform.Settings.
func (s *MergeJoinSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	a, b, err := twoSchemas(l, s.Transform1, s.Transform2)
	if err != nil {
		return nil, err
	}
	if len(s.Keys1) != len(s.Keys2) || len(s.Keys1) == 0 {
		return nil, fmt.Errorf("each input needs the same keys; the first has %d, the second %d", len(s.Keys1), len(s.Keys2))
	}
	p := &mergeJoin{env: env, join: s.Type, schemas: [2]*batch.Schema{a, b}, out: a.With(b.Fields...)}
	if p.keys[0], err = namedKeys(env.Semantics, a, s.Keys1...); err != nil {
		return nil, fmt.Errorf("first input: %w", err)
	}
	if p.keys[1], err = namedKeys(env.Semantics, b, s.Keys2...); err != nil {
		return nil, fmt.Errorf("second input: %w", err)
	}
	p.converts[0], p.converts[1], err = matchTypes(env.Semantics, p.keys[0], a, p.keys[1], b)
	return p, err
}

// matchTypes says how key columns become comparable: the second one is converted
// to the type of the first, but an Integer to the Number it is compared with.
func matchTypes(sem *batch.Semantics, k *keys, a *batch.Schema, m *keys, b *batch.Schema) (first, second []*keyConversion, err error) {
	first, second = make([]*keyConversion, len(k.fields)), make([]*keyConversion, len(k.fields))
	for i := range k.fields {
		x, y := &a.Fields[k.fields[i].index], &b.Fields[m.fields[i].index]
		switch {
		case x.Type == y.Type:
		case x.Type == batch.Integer && y.Type == batch.Number:
			first[i] = &keyConversion{}
			first[i].converter, err = sem.Converter(x, y)
		default:
			second[i] = &keyConversion{}
			second[i].converter, err = sem.Converter(y, x)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return first, second, nil
}

type mergeJoin struct {
	transform.Collector
	transform.TakesRaw
	env      *transform.Env
	join     JoinType
	schemas  [2]*batch.Schema
	keys     [2]*keys
	converts [2][]*keyConversion
	out      *batch.Schema
}

// Run implements transform.Stream.
func (p *mergeJoin) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) (err error) {
	left := &cursor{name: p.env.Transform, in: in[0], keys: p.keys[0], converts: p.converts[0]}
	right := &cursor{name: p.env.Transform, in: in[1], keys: p.keys[1], converts: p.converts[1]}
	out := &pairs{alloc: p.env.Alloc, out: p.out, emit: func(b *batch.Batch) error { return emit(transform.Main, b) }}
	if out.left, err = newSide(p.env, p.schemas[0]); err != nil {
		return err
	}
	if out.right, err = newSide(p.env, p.schemas[1]); err != nil {
		return err
	}
	same := &equalRows{env: p.env, schema: p.schemas[1]}
	defer func() {
		left.close()
		right.close()
		out.reset()
		err = errors.Join(err, same.reset())
	}()
	if err := left.next(ctx); err != nil {
		return err
	}
	if err := right.next(ctx); err != nil {
		return err
	}
	for !left.done || !right.done {
		if err := p.step(ctx, left, right, same, out); err != nil {
			return err
		}
	}
	return out.flush()
}

// step takes the rows with the least key.
func (p *mergeJoin) step(ctx context.Context, left, right *cursor, same *equalRows, out *pairs) error {
	order := 0
	switch {
	case left.done:
		order = 1
	case right.done:
		order = -1
	default:
		order = p.keys[0].compare(left.cols, left.row, right.cols, right.row)
	}
	switch {
	case order < 0:
		if p.join.keepsLeft() {
			if err := out.add(left.batch, left.row, nil, 0); err != nil {
				return err
			}
		}
		return left.next(ctx)
	case order > 0:
		if p.join.keepsRight() {
			if err := out.add(nil, 0, right.batch, right.row); err != nil {
				return err
			}
		}
		return right.next(ctx)
	}
	return p.joinEqual(ctx, left, right, same, out)
}

// joinEqual joins all rows with the key that both inputs are on.
func (p *mergeJoin) joinEqual(ctx context.Context, left, right *cursor, same *equalRows, out *pairs) error {
	// Each cursor moves on to other batches, so the key is kept by one row.
	key := left.batch.Retain()
	defer key.Release()
	cols := make([]*batch.Column, len(left.cols))
	for i, c := range left.cols {
		cols[i] = c.Retain()
	}
	defer releaseColumns(cols)
	row := left.row
	for !right.done && p.keys[0].compare(cols, row, right.cols, right.row) == 0 {
		if err := same.add(right.batch, right.row); err != nil {
			return err
		}
		if err := right.next(ctx); err != nil {
			return err
		}
	}
	for !left.done && p.keys[0].compare(left.cols, left.row, cols, row) == 0 {
		err := same.each(ctx, func(b *batch.Batch, i int) error { return out.add(left.batch, left.row, b, i) })
		if err != nil {
			return err
		}
		if err := left.next(ctx); err != nil {
			return err
		}
	}
	return same.reset()
}

// equalRows keeps rows with one key: in memory by their batches, on disk when
// memory is refused.
type equalRows struct {
	env     *transform.Env
	schema  *batch.Schema
	batches []*batch.Batch // retained
	rows    [][]int32      // of each batch
	granted int64
	file    transform.SpillFile
}

// add keeps row i of b.
func (e *equalRows) add(b *batch.Batch, i int) error {
	last := len(e.batches) - 1
	if last >= 0 && e.batches[last] == b {
		e.rows[last] = append(e.rows[last], int32(i))
		return nil
	}
	// The first batch is there anyway, as the input is on it; a further one means
	// that the one before is done with.
	if last >= 0 {
		if err := e.account(); err != nil {
			return err
		}
	}
	e.batches = append(e.batches, b.Retain())
	e.rows = append(e.rows, []int32{int32(i)})
	return nil
}

// account asks for the memory of the batches so far, or writes them to disk.
func (e *equalRows) account() error {
	need := footprint(e.batches[len(e.batches)-1])
	if e.file == nil && e.env.Memory.Request(need) {
		e.granted += need
		return nil
	}
	return e.write()
}

func (e *equalRows) write() (err error) {
	if e.file == nil {
		if e.file, err = e.env.Spill.Create(); err != nil {
			return err
		}
	}
	for i, b := range e.batches {
		part := b.Select(e.rows[i])
		err := e.file.Write(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	e.release()
	return nil
}

func (e *equalRows) release() {
	for _, b := range e.batches {
		b.Release()
	}
	e.batches, e.rows = e.batches[:0], e.rows[:0]
	e.env.Memory.Release(e.granted)
	e.granted = 0
}

// each gives all rows in order.
func (e *equalRows) each(ctx context.Context, f func(b *batch.Batch, i int) error) error {
	if e.file != nil {
		if err := e.eachOnDisk(ctx, f); err != nil {
			return err
		}
	}
	for n, b := range e.batches {
		for _, i := range e.rows[n] {
			if err := f(b, int(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *equalRows) eachOnDisk(ctx context.Context, f func(b *batch.Batch, i int) error) error {
	in, err := e.file.Reader(e.schema)
	if err != nil {
		return err
	}
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := 0; err == nil && i < b.Physical(); i++ {
			err = f(b, i)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
}

// reset forgets all rows.
func (e *equalRows) reset() error {
	e.release()
	if e.file == nil {
		return nil
	}
	f := e.file
	e.file = nil
	return f.Close()
}
