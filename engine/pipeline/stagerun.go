package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// run executes a stage to its end: prepare, rows, finish.
func (s *stage) run(ctx context.Context) (err error) {
	defer s.closeQueues()
	now := s.exec.opts.Now
	for _, u := range s.members {
		u.setState(Running, now())
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if s.workers > 1 {
		err = s.runParallel(ctx)
	} else {
		err = s.produce(ctx, nil)
	}
	if err != nil {
		return err
	}
	return s.finish(ctx)
}

// contain turns a panic into an error of the stage, with the stack.
func (s *stage) contain(f func() error) (err error) { return s.exec.contain(s.head.node.Name, f) }

func (e *Execution) contain(name string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &engine.Error{
				Transform: name, Message: fmt.Sprintf("internal error: %v", r),
				Hint: "this is a fault of Sluice; please report it with the details", Err: fmt.Errorf("%s", debug.Stack()),
			}
		}
	}()
	return f()
}

// prepare lets the members read their info inputs, all at the same time.
func (s *stage) prepare(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, u := range s.members {
		p, ok := u.proc.(transform.Preparer)
		if !ok {
			continue
		}
		var readers []transform.Reader
		for _, in := range s.info[u] {
			readers = append(readers, in)
		}
		g.Go(func() error {
			return s.contain(func() error {
				err := p.Prepare(ctx, readers)
				for _, in := range s.info[u] {
					in.close()
				}
				if err != nil {
					return atTransform(u.node.Name, err)
				}
				return nil
			})
		})
	}
	return g.Wait()
}

// produce runs the head and gives its batches to deliver, or when deliver is nil
// straight to the ordered part.
func (s *stage) produce(ctx context.Context, deliver func(work) error) error {
	u := s.head
	emit := func(port transform.Port, b *batch.Batch) error {
		if err := s.exec.pausePoint(ctx); err != nil {
			b.Release()
			return err
		}
		if deliver == nil {
			u.emitted += int64(b.Rows())
			return s.emit(ctx, nil, u, port, b)
		}
		return deliver(work{port: port, batch: b})
	}
	switch p := u.proc.(type) {
	case transform.Stream:
		readers := make([]transform.Reader, len(s.in))
		for i, in := range s.in {
			readers[i] = in
		}
		return u.named(p.Run(ctx, readers, emit))
	case transform.Source:
		if sp, ok := p.(transform.Splitter); ok {
			return s.split(ctx, sp, deliver)
		}
		return u.named(p.Produce(ctx, emit))
	}
	return s.pull(ctx, deliver)
}

// named puts the transform's name on an error of a source or stream.
func (u *unit) named(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		if e.Transform == "" {
			e.Transform = u.node.Name
		}
		return err
	}
	return &engine.Error{Transform: u.node.Name, Err: err}
}

func (s *stage) split(ctx context.Context, sp transform.Splitter, deliver func(work) error) error {
	return s.head.named(sp.Split(ctx, func(m transform.Morsel) error {
		if err := s.exec.pausePoint(ctx); err != nil {
			return err
		}
		if deliver != nil {
			return deliver(work{morsel: m})
		}
		var sl slot
		err := s.morsel(ctx, &sl, m)
		return errors.Join(s.drain(ctx, &sl), ignored(err))
	}))
}

// ignored drops an error that the slot carries anyway.
func ignored(error) error { return nil }

// pull reads the queues of a row-wise head.
func (s *stage) pull(ctx context.Context, deliver func(work) error) error {
	for _, in := range s.in {
		for {
			if err := s.exec.pausePoint(ctx); err != nil {
				return err
			}
			b, err := in.take(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if deliver == nil {
				err = s.enter(ctx, nil, s.head, b)
			} else {
				err = deliver(work{batch: b})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// work is what the head gives to a worker: a morsel, a batch that the head
// emitted, or a batch for a row-wise head.
type work struct {
	port   transform.Port
	batch  *batch.Batch
	morsel transform.Morsel
}

type job struct {
	work
	slot *slot
}

// runParallel spreads the stage over workers. A slot is taken for every piece of
// work in the head's order; its ordered part is done when all slots before it are
// done, by whichever worker gets there.
func (s *stage) runParallel(ctx context.Context) error {
	r := &ring{stage: s, free: make(chan struct{}, 2*s.workers+2)}
	jobs := make(chan job, s.workers)
	g, ctx := errgroup.WithContext(ctx)
	for range s.workers {
		g.Go(func() error {
			return s.contain(func() error {
				for j := range jobs {
					if err := s.work(ctx, j); err != nil && j.slot.err == nil {
						j.slot.err = &flowError{unit: s.head, err: err}
					}
					if err := r.complete(ctx, j.slot); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	g.Go(func() error {
		defer close(jobs)
		return s.contain(func() error {
			return s.produce(ctx, func(w work) error {
				sl, err := r.take(ctx)
				if err != nil {
					w.drop()
					return err
				}
				select {
				case jobs <- job{w, sl}:
					return nil
				case <-ctx.Done():
					w.drop()
					return context.Cause(ctx)
				}
			})
		})
	})
	err := g.Wait()
	for j := range jobs {
		j.drop()
	}
	r.release()
	return err
}

func (w work) drop() {
	if w.batch != nil {
		w.batch.Release()
	}
}

func (s *stage) work(ctx context.Context, j job) error {
	switch {
	case j.morsel != nil:
		return s.morsel(ctx, j.slot, j.morsel)
	case j.port != "":
		return s.emit(ctx, j.slot, s.head, j.port, j.batch)
	}
	return s.enter(ctx, j.slot, s.head, j.batch)
}

func (s *stage) morsel(ctx context.Context, sl *slot, m transform.Morsel) error {
	err := m(ctx, s.emitter(ctx, sl, s.head))
	if err != nil && sl.err == nil {
		return sl.fail(s.head, s.head.named(err))
	}
	return err
}

// ring keeps the slots under way, oldest first.
type ring struct {
	stage *stage
	free  chan struct{} // one token per slot in use

	mu       sync.Mutex // guards what follows
	slots    []*slot
	spare    []*slot
	draining bool // also after an error: nothing is drained any more
}

func (r *ring) take(ctx context.Context) (*slot, error) {
	select {
	case r.free <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var sl *slot
	if n := len(r.spare); n > 0 {
		sl, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		sl = &slot{}
	}
	r.slots = append(r.slots, sl)
	return sl, nil
}

// complete marks a slot done and does the ordered part of all slots whose turn
// has come, unless another worker is at it.
func (r *ring) complete(ctx context.Context, sl *slot) error {
	r.mu.Lock()
	sl.done = true
	if r.draining {
		r.mu.Unlock()
		return nil
	}
	r.draining = true
	for len(r.slots) > 0 && r.slots[0].done {
		first := r.slots[0]
		r.mu.Unlock()
		err := r.stage.drain(ctx, first)
		r.mu.Lock()
		if err != nil {
			r.mu.Unlock()
			return err
		}
		first.release()
		r.slots = append(r.slots[:0], r.slots[1:]...)
		r.spare = append(r.spare, first)
		<-r.free
	}
	r.draining = false
	r.mu.Unlock()
	return nil
}

func (r *ring) release() {
	for _, sl := range r.slots {
		sl.release()
	}
}

// finish ends the members, parents first: Finish, Commit, outputs close.
func (s *stage) finish(ctx context.Context) error {
	for _, u := range s.members {
		if f, ok := u.proc.(transform.Finisher); ok {
			if err := u.named(f.Finish(ctx, s.emitter(ctx, nil, u))); err != nil {
				return err
			}
		}
		if sink, ok := u.proc.(transform.Sink); ok {
			u.settled = true
			if err := u.named(sink.Commit(ctx)); err != nil {
				return err
			}
		}
		// Before the outputs close: a gate that has seen the end of its rows asks for it.
		u.setState(Finished, s.exec.opts.Now())
		u.closeOutputs()
		close(u.finished)
	}
	return nil
}

func (u *unit) closeOutputs() {
	for _, r := range u.routes {
		if r.tap != nil {
			r.tap.queue.done()
		}
		for _, e := range r.edges {
			if e.queue != nil {
				e.queue.done()
			}
		}
	}
}
