package relation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform"
)

// allRows emits every row with the aggregates of its group. The rows of the group
// that is open wait, on disk when memory is refused.
type allRows struct {
	*consecutive
	lineNumber bool
	running    []running // by aggregate; nil for those that are the same in all rows

	waiting []*batch.Batch // rows of the open group
	granted int64
	file    transform.SpillFile // rows of the open group that came before waiting

	line  int64 // of the last emitted row in its group
	fresh bool  // the next emitted row begins a group
}

func newAllRows(c *consecutive, lineNumber bool) (*allRows, error) {
	p := &allRows{consecutive: c, lineNumber: lineNumber, running: make([]running, len(c.specs)), fresh: true}
	for i, s := range c.specs {
		if !s.code.isRunning() {
			continue
		}
		arg := &c.agg.args[i]
		subject := c.schema.Fields[arg.index]
		if s.code == MovingAverage || !subject.Type.IsNumeric() {
			if subject.Type != batch.Number {
				var err error
				if arg.convert, err = c.env.Semantics.Converter(&subject, number(s.name)); err != nil {
					return nil, err
				}
			}
			subject.Type = batch.Number
		}
		var err error
		if p.running[i], err = newRunning(s, subject.Type); err != nil {
			return nil, fmt.Errorf("aggregate %q: %w", s.name, err)
		}
	}
	return p, nil
}

// Apply implements transform.RowWise.
func (p *allRows) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	h, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, h, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *allRows) ApplyEncoded(ctx context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	h := encoded.(*groupColumns)
	defer releaseColumns(h.args)
	if b.Rows() == 0 {
		return nil
	}
	groups, ends, err := p.fold(b, h)
	if err != nil {
		return err
	}
	closed := 0 // rows whose group has ended
	if len(ends) > 0 {
		for closed = len(p.ids); closed > 0 && int(p.ids[closed-1]) == groups-1; closed-- {
		}
		if err := p.emitClosed(ctx, b, closed, groups-1, emit); err != nil {
			return err
		}
		p.agg.keep(groups - 1)
		p.fresh = true
	}
	if err := p.wait(b.Slice(closed, b.Rows())); err != nil {
		return err
	}
	return p.remember(b)
}

// emitClosed emits the waiting rows and the first rows of b, all of the groups
// from 0 to groups.
func (p *allRows) emitClosed(ctx context.Context, b *batch.Batch, rows, groups int, emit transform.Emit) error {
	results := p.agg.results(p.env.Alloc, 0, groups)
	defer releaseColumns(results)
	if err := p.emitWaiting(ctx, results, emit); err != nil {
		return err
	}
	if rows == 0 {
		return nil
	}
	part := b.Slice(0, rows)
	defer part.Release()
	// Group 0 has rows here only when it was open or b begins with it.
	return p.emitRows(part, p.ids[:rows], results, emit)
}

// emitWaiting emits the rows of group 0 that came with earlier batches.
func (p *allRows) emitWaiting(ctx context.Context, results []*batch.Column, emit transform.Emit) error {
	if p.file != nil {
		in, err := p.file.Reader(p.schema)
		if err != nil {
			return err
		}
		for {
			b, err := in.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			err = p.emitRows(b, nil, results, emit)
			b.Release()
			if err != nil {
				return err
			}
		}
	}
	for _, b := range p.waiting {
		if err := p.emitRows(b, nil, results, emit); err != nil {
			return err
		}
	}
	return p.drop()
}

// emitRows emits the selected rows of b, which it borrows, with the results of
// their groups; nil groups are all 0.
func (p *allRows) emitRows(b *batch.Batch, groups []int32, results []*batch.Column, emit transform.Emit) error {
	d := b.Dense()
	defer d.Release()
	if groups == nil {
		groups = make([]int32, d.Physical())
	}
	starts := make([]bool, len(groups))
	for i, g := range groups {
		// What was emitted before ended with group 0's rows, if it had any.
		starts[i] = (i == 0 && p.fresh) || (i == 0 && g > 0) || (i > 0 && g != groups[i-1])
	}
	p.fresh = false
	refs := make([]rowRef, len(groups))
	for i, g := range groups {
		refs[i].row = uint32(g)
	}
	cols := make([]*batch.Column, 0, len(results)+1)
	for k, r := range results {
		if p.running[k] == nil {
			cols = append(cols, gatherColumn(p.env.Alloc, r.Type, []*batch.Column{r}, refs))
			continue
		}
		c, err := p.runColumn(k, d, starts)
		if err != nil {
			releaseColumns(cols)
			return err
		}
		cols = append(cols, c)
	}
	if p.lineNumber {
		lines := p.env.Alloc.Column(batch.Integer)
		for _, start := range starts {
			if start {
				p.line = 0
			}
			p.line++
			lines.AppendInt(p.line)
		}
		cols = append(cols, lines)
	}
	return emit(transform.Main, d.With(p.out, cols...))
}

func (p *allRows) runColumn(k int, b *batch.Batch, starts []bool) (*batch.Column, error) {
	arg, err := p.agg.args[k].column(b)
	if err != nil {
		return nil, valueError(p.env.Transform, p.specs[k].subject, b, 0, err)
	}
	defer arg.Release()
	out := p.env.Alloc.Column(p.out.Fields[p.schema.Len()+k].Type)
	for i, start := range starts {
		if start {
			p.running[k].reset()
		}
		if err := p.running[k].next(out, arg, i); err != nil {
			out.Release()
			return nil, valueError(p.env.Transform, p.specs[k].subject, b, 0, &batch.RowError{Row: i, Err: err})
		}
	}
	return out, nil
}

// wait takes over one hold of rows of the open group.
func (p *allRows) wait(b *batch.Batch) error {
	if b.Rows() == 0 {
		b.Release()
		return nil
	}
	d := b.Dense()
	b.Release()
	p.waiting = append(p.waiting, d)
	need := footprint(d)
	if p.env.Memory.Request(need) {
		p.granted += need
		return nil
	}
	if p.file == nil {
		var err error
		if p.file, err = p.env.Spill.Create(); err != nil {
			return err
		}
	}
	for _, w := range p.waiting {
		if err := p.file.Write(w); err != nil {
			return err
		}
	}
	p.release()
	return nil
}

func (p *allRows) release() {
	for _, b := range p.waiting {
		b.Release()
	}
	p.waiting = nil
	p.env.Memory.Release(p.granted)
	p.granted = 0
}

// drop forgets the waiting rows; what comes next begins a group.
func (p *allRows) drop() error {
	p.release()
	if p.file == nil {
		return nil
	}
	f := p.file
	p.file = nil
	return f.Close()
}

// Finish implements transform.Finisher.
func (p *allRows) Finish(ctx context.Context, emit transform.Emit) error {
	if p.rows == 0 {
		return nil
	}
	results := p.agg.results(p.env.Alloc, 0, 1)
	defer releaseColumns(results)
	return p.emitWaiting(ctx, results, emit)
}

// Close frees what an execution that failed left behind.
func (p *allRows) Close() error {
	p.forget()
	return p.drop()
}

// running is an aggregate that differs from row to row of a group.
type running interface {
	reset()
	next(out, arg *batch.Column, i int) error
}

func newRunning(s aggregate, t batch.Type) (running, error) {
	switch s.code {
	case MovingAverage:
		n, err := strconv.Atoi(strings.TrimSpace(s.value))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("the window %q must be a number of rows from 1 on", s.value)
		}
		return &movingAverage{window: make([]float64, 0, n)}, nil
	case CumulativeAverage:
		return &runningSum{average: true, typ: t}, nil
	}
	return &runningSum{typ: t}, nil
}

// runningSum is CUM_SUM and CUM_AVG: nulls change nothing, and before the first
// value there is none.
type runningSum struct {
	average bool
	typ     batch.Type
	n       int64
	i       int64
	f       float64
	d       decimal.Decimal
}

func (r *runningSum) reset() { *r = runningSum{average: r.average, typ: r.typ} }

func (r *runningSum) next(out, arg *batch.Column, i int) (err error) {
	if !arg.IsNull(i) {
		r.n++
		switch r.typ {
		case batch.Integer:
			r.i += arg.Ints[i]
		case batch.BigNumber:
			if r.d, err = r.d.Add(arg.Decimal(i)); err != nil {
				return err
			}
		default:
			r.f += arg.Floats[i]
		}
	}
	return r.put(out)
}

func (r *runningSum) put(out *batch.Column) error {
	switch {
	case r.n == 0:
		out.AppendNull()
	case r.typ == batch.Integer && r.average:
		out.AppendFloat(float64(r.i) / float64(r.n))
	case r.typ == batch.Integer:
		out.AppendInt(r.i)
	case r.typ == batch.BigNumber && r.average:
		v, err := r.d.QuoDecimal128(decimal.FromInt64(r.n))
		if err != nil {
			return err
		}
		out.AppendDecimal(v)
	case r.typ == batch.BigNumber:
		out.AppendDecimal(r.d)
	case r.average:
		out.AppendFloat(r.f / float64(r.n))
	default:
		out.AppendFloat(r.f)
	}
	return nil
}

// movingAverage is the mean of the last values, null until there are enough and
// where the value is null.
type movingAverage struct {
	window []float64
	at     int
}

func (r *movingAverage) reset() { r.window, r.at = r.window[:0], 0 }

func (r *movingAverage) next(out, arg *batch.Column, i int) error {
	if arg.IsNull(i) {
		out.AppendNull()
		return nil
	}
	if len(r.window) < cap(r.window) {
		r.window = append(r.window, arg.Floats[i])
	} else {
		r.window[r.at] = arg.Floats[i]
		r.at = (r.at + 1) % len(r.window)
	}
	if len(r.window) < cap(r.window) {
		out.AppendNull()
		return nil
	}
	// Summed anew, oldest first: a running difference would drift.
	sum := 0.0
	for k := range r.window {
		sum += r.window[(r.at+k)%len(r.window)]
	}
	out.AppendFloat(sum / float64(len(r.window)))
	return nil
}
