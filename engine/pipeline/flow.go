package pipeline

import (
	"context"
	"errors"
	"io"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// slot keeps what the parallel part made of one batch or morsel of the head, for
// the ordered part.
type slot struct {
	items []item
	reads []readCount
	err   *flowError
	done  bool
	rows  int64 // emitted by the head
}

// item is one batch on its way into the ordered part: to a unit, over an edge, or
// to be dealt out by a route.
type item struct {
	unit    *unit
	edge    *edge
	route   *route
	batch   *batch.Batch
	encoded any
}

// readCount says that a unit read rows in the parallel part.
type readCount struct {
	unit *unit
	rows int64
}

// flowError is an error in the parallel part; its row number is completed when
// the slot's turn comes.
type flowError struct {
	unit   *unit
	err    error
	before int64 // rows of the slot that the unit had read before
}

func (s *slot) fail(u *unit, err error) error {
	if s.err == nil {
		s.err = &flowError{unit: u, err: err}
		for _, r := range s.reads {
			if r.unit == u {
				s.err.before += r.rows
			}
		}
	}
	return err
}

func (s *slot) release() {
	for _, it := range s.items {
		it.batch.Release()
	}
	clear(s.items)
	s.items, s.reads, s.err, s.done, s.rows = s.items[:0], s.reads[:0], nil, false, 0
}

// enter gives a batch, whose hold it takes, to a unit. sl is nil in the ordered
// part.
func (s *stage) enter(ctx context.Context, sl *slot, u *unit, b *batch.Batch) error {
	if sl == nil {
		defer b.Release()
		return s.ordered(ctx, u, b, nil)
	}
	if !u.spreads() {
		sl.items = append(sl.items, item{unit: u, batch: b})
		return nil
	}
	if enc, ok := u.proc.(transform.Encoder); ok {
		return s.encode(ctx, sl, u, enc, b)
	}
	defer b.Release()
	if b.Rows() == 0 {
		return nil
	}
	t, err := u.typed(b)
	if err == nil {
		err = u.proc.(transform.RowWise).Apply(ctx, t, s.emitter(ctx, sl, u))
		t.Release()
	}
	u.counters.Read.Add(int64(b.Rows()))
	if err != nil {
		return sl.fail(u, u.fault(b, err, 0))
	}
	sl.reads = append(sl.reads, readCount{u, int64(b.Rows())})
	return nil
}

func (s *stage) encode(ctx context.Context, sl *slot, u *unit, enc transform.Encoder, b *batch.Batch) error {
	defer b.Release()
	t, err := u.typed(b)
	if err != nil {
		return sl.fail(u, u.fault(b, err, 0))
	}
	encoded, err := enc.Encode(ctx, t)
	if err != nil {
		t.Release()
		return sl.fail(u, u.fault(b, err, 0))
	}
	sl.items = append(sl.items, item{unit: u, batch: t, encoded: encoded})
	return nil
}

// ordered runs a unit on a batch (borrowed) in row order. encoded is what Encode
// gave, nil when it has not run.
func (s *stage) ordered(ctx context.Context, u *unit, b *batch.Batch, encoded any) error {
	rows := b.Rows()
	if rows == 0 {
		return nil
	}
	step := rows
	if u.limits != nil {
		step = 1
	}
	if p, ok := u.proc.(transform.Pacer); ok {
		step = min(step, max(1, p.MaxRows()))
	}
	if step == rows {
		return s.orderedPart(ctx, u, b, encoded)
	}
	for from := 0; from < rows; from += step {
		part := b.Slice(from, min(from+step, rows))
		err := s.orderedPart(ctx, u, part, nil)
		part.Release()
		if err != nil {
			return err
		}
		if u.limits != nil {
			if err := u.limits.check(u); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stage) orderedPart(ctx context.Context, u *unit, b *batch.Batch, encoded any) error {
	if err := s.exec.pausePoint(ctx); err != nil {
		return err
	}
	before := u.ordered
	t, err := u.typed(b)
	if err != nil {
		return u.fault(b, err, before)
	}
	defer t.Release()
	u.ordered += int64(b.Rows())
	u.counters.Read.Add(int64(b.Rows()))
	emit := s.emitter(ctx, nil, u)
	if enc, ok := u.proc.(transform.Encoder); ok {
		if encoded == nil {
			if encoded, err = enc.Encode(ctx, t); err != nil {
				return u.fault(b, err, before)
			}
		}
		return u.fault(b, enc.ApplyEncoded(ctx, t, encoded, emit), before)
	}
	return u.fault(b, u.proc.(transform.RowWise).Apply(ctx, t, emit), before)
}

// typed gives the batch (one hold) as the unit wants it: without raw columns
// unless it copes with them.
func (u *unit) typed(b *batch.Batch) (*batch.Batch, error) {
	if _, ok := u.proc.(transform.RawAware); ok {
		return b.Retain(), nil
	}
	raw := false
	for _, c := range b.Cols {
		raw = raw || c.Raw
	}
	if !raw {
		return b.Retain(), nil
	}
	codecs, err := u.codecsOf(b.Schema)
	if err != nil {
		return nil, err
	}
	return b.Typed(codecs)
}

// codecsOf compiles the codecs of a schema once; the rows of one input share it.
func (u *unit) codecsOf(s *batch.Schema) ([]*batch.Codec, error) {
	if c := u.codecs.Load(); c != nil && c.schema == s {
		return c.list, nil
	}
	list, err := u.env.Semantics.Codecs(s)
	if err == nil {
		u.codecs.Store(&schemaCodecs{s, list})
	}
	return list, err
}

type schemaCodecs struct {
	schema *batch.Schema
	list   []*batch.Codec
}

func (s *stage) emitter(ctx context.Context, sl *slot, u *unit) transform.Emit {
	return func(port transform.Port, b *batch.Batch) error { return s.emit(ctx, sl, u, port, b) }
}

// emit carries a batch, whose hold it takes, over the route of a port.
func (s *stage) emit(ctx context.Context, sl *slot, u *unit, port transform.Port, b *batch.Batch) error {
	rows := int64(b.Rows())
	if rows == 0 {
		b.Release()
		return nil
	}
	if u == s.head && sl != nil {
		sl.rows += rows
	}
	if s.exec.opts.Sample != nil {
		s.exec.opts.Sample(u.node.Name, u.copy, port, b)
	}
	s.exec.sniff(u, port, b)
	r := u.routes[port]
	if r != nil && r.tap != nil {
		if sl != nil {
			sl.items = append(sl.items, item{route: r, batch: b})
			return nil
		}
		return s.spooled(ctx, u, r, b)
	}
	switch {
	case r == nil || len(r.edges) == 0:
		b.Release()
		u.wrote(port, rows)
		return nil
	case r.distribute && len(r.edges) > 1:
		u.wrote(port, rows)
		if sl != nil {
			sl.items = append(sl.items, item{route: r, batch: b})
			return nil
		}
		return s.deal(ctx, r, b)
	}
	u.wrote(port, rows*int64(len(r.edges)))
	return s.toAll(ctx, sl, r, b)
}

// toAll sends a batch, whose hold it takes, over every edge of a route.
func (s *stage) toAll(ctx context.Context, sl *slot, r *route, b *batch.Batch) error {
	for _, e := range r.edges[1:] {
		if err := s.send(ctx, sl, e, b.Retain()); err != nil {
			b.Release()
			return err
		}
	}
	return s.send(ctx, sl, r.edges[0], b)
}

// spooled gives a batch, whose hold it takes, to the spool of a route and, when
// the rows flow on at once, to its edges.
func (s *stage) spooled(ctx context.Context, u *unit, r *route, b *batch.Batch) error {
	rows := int64(b.Rows())
	if len(r.edges) == 0 {
		u.wrote(r.port, rows)
		return r.tap.queue.put(ctx, b)
	}
	if err := r.tap.queue.put(ctx, b.Retain()); err != nil {
		b.Release()
		return err
	}
	if r.distribute && len(r.edges) > 1 {
		u.wrote(r.port, rows)
		return s.deal(ctx, r, b)
	}
	u.wrote(r.port, rows*int64(len(r.edges)))
	return s.toAll(ctx, nil, r, b)
}

// wrote counts rows given to other transforms; rejected rows are counted where
// they are rejected.
func (u *unit) wrote(port transform.Port, rows int64) {
	if port != transform.Error {
		u.counters.Written.Add(rows)
	}
}

func (s *stage) deal(ctx context.Context, r *route, b *batch.Batch) error {
	var failed error
	for k, part := range r.deal(b) {
		switch {
		case part == nil:
		case failed != nil:
			part.Release()
		default:
			failed = s.send(ctx, nil, r.edges[k], part)
		}
	}
	return failed
}

func (s *stage) send(ctx context.Context, sl *slot, e *edge, b *batch.Batch) error {
	switch {
	case e.queue == nil:
		return s.enter(ctx, sl, e.to, b)
	case sl != nil:
		sl.items = append(sl.items, item{edge: e, batch: b})
		return nil
	}
	return e.queue.put(ctx, b)
}

// drain does the ordered part of a slot.
func (s *stage) drain(ctx context.Context, sl *slot) error {
	var err error
	for i := range sl.items {
		it := &sl.items[i]
		switch {
		case err != nil:
			it.batch.Release()
		case it.edge != nil:
			err = it.edge.queue.put(ctx, it.batch)
		case it.route != nil && it.route.tap != nil:
			err = s.spooled(ctx, it.route.tap.unit, it.route, it.batch)
		case it.route != nil:
			err = s.deal(ctx, it.route, it.batch)
		default:
			err = s.ordered(ctx, it.unit, it.batch, it.encoded)
			it.batch.Release()
		}
	}
	clear(sl.items)
	sl.items = sl.items[:0]
	if err == nil && sl.err != nil {
		err = sl.err.complete(s)
	}
	for _, r := range sl.reads {
		r.unit.ordered += r.rows
	}
	s.head.emitted += sl.rows
	return err
}

// complete gives the error with the row number counted from the first row.
func (f *flowError) complete(s *stage) error {
	base := f.unit.ordered + f.before
	if _, ok := f.unit.proc.(transform.Source); ok && f.unit == s.head {
		base = f.unit.emitted
	}
	var e *engine.Error
	if errors.As(f.err, &e) && e.Row > 0 {
		e.Row += base
	}
	return f.err
}

// fault makes an error of a unit out of what its processor returned for a batch:
// with the transform's name and the row number, counted after the rows before.
func (u *unit) fault(b *batch.Batch, err error, before int64) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		if e.Transform == "" {
			e.Transform = u.node.Name
		}
		if e.Row > 0 && e.Transform == u.node.Name {
			e.Row += before
		}
		return err
	}
	out := &engine.Error{Transform: u.node.Name, Err: err}
	if row, ok := errors.AsType[*batch.RowError](err); ok {
		n := int64(0)
		for i := range b.All() {
			n++
			if i == row.Row {
				break
			}
		}
		out.Row = before + n
	}
	return out
}
