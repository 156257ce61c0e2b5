package relation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// sorter collects rows into runs. The filling goroutine owns it; workers sort,
// spill and merge runs, each one at a time, in the order they are queued.
type sorter struct {
	*sortProcessor
	schema *batch.Schema
	pack   *packer

	current *run
	runs    []*run // oldest first
	held    int64  // bytes granted to runs in memory
	target  int64  // bytes of a run
	spills  bool   // memory was refused: runs go to disk as they are cut

	queue   []sortJob // not yet handed to a worker
	jobs    chan sortJob
	results chan sortJob
	pending int // jobs that workers have and have not answered

	rows, bytes int64
}

// sortJob is work on one run: sort it, and spill it, or merge others into it.
type sortJob struct {
	run   *run
	spill bool
	merge []*run
	err   error
}

const (
	// minRunBytes keeps a starved sorter from writing runs of a few rows.
	minRunBytes = 1 << 20
	// mergeWidth runs on disk are merged into one, so that neither open files nor
	// read buffers grow with the input.
	mergeWidth = 32
	// sortWorkers is how many runs are sorted and spilled at once, while another one
	// is being filled. Each holds a run in memory.
	sortWorkers = 2
	// frameBytes is the size of what is written to and read from a run at once.
	frameBytes = 256 << 10
)

func newSorter(ctx context.Context, p *sortProcessor, schema *batch.Schema) *sorter {
	s := &sorter{
		sortProcessor: p, schema: schema, target: runBytes,
		pack: &packer{env: p.env, schema: schema},
		jobs: make(chan sortJob, 1), results: make(chan sortJob, 8),
	}
	var workers sync.WaitGroup
	for range min(sortWorkers, runtime.GOMAXPROCS(0)) {
		workers.Go(func() { s.work(ctx) })
	}
	go func() {
		workers.Wait()
		close(s.results)
	}()
	return s
}

// work answers jobs until the channel is closed.
func (s *sorter) work(ctx context.Context) {
	w := runWorker{sorter: s}
	for j := range s.jobs {
		if j.err = context.Cause(ctx); j.err == nil {
			j.err = guard(func() error { return w.do(ctx, j) })
		}
		s.results <- j
	}
}

// guard turns a panic of a helper goroutine into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}

// fill reads the input into runs.
func (s *sorter) fill(ctx context.Context, in transform.Reader) error {
	defer s.pack.close()
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.take(ctx, b); err != nil {
			return err
		}
	}
	b, err := s.pack.flush()
	if err != nil || b == nil {
		return err
	}
	return s.add(ctx, b)
}

// take takes over one hold of b.
func (s *sorter) take(ctx context.Context, b *batch.Batch) error {
	packed, err := s.pack.add(b)
	for _, b := range packed {
		if err == nil {
			err = s.add(ctx, b)
			continue
		}
		b.Release()
	}
	return err
}

// add takes over one hold of a dense batch.
func (s *sorter) add(ctx context.Context, b *batch.Batch) error {
	need := footprint(b) + int64(b.Physical())*entryCost
	granted, err := s.request(ctx, need)
	if err != nil {
		b.Release()
		return err
	}
	if s.current == nil {
		s.current = &run{first: s.rows}
	}
	s.rows += int64(b.Physical())
	s.bytes += int64(b.Bytesize())
	s.current.add(b, need, granted)
	if s.current.rows >= s.runRows || s.current.bytes >= s.target {
		s.cut()
	}
	return s.pump(ctx, false)
}

// request asks for memory and makes some free when there is none. It gives what
// was granted: 0 when even an empty sorter gets none, so that a tiny budget slows
// the sort down and does not stop it.
func (s *sorter) request(ctx context.Context, need int64) (int64, error) {
	for !s.env.Memory.Request(need) {
		if !s.spills {
			s.startSpilling()
		}
		if s.pending == 0 && len(s.queue) == 0 {
			if s.current == nil || s.current.bytes < min(s.target, minRunBytes) {
				return 0, nil
			}
			s.cut()
		}
		if err := s.pump(ctx, true); err != nil {
			return 0, err
		}
	}
	s.held += need
	return need, nil
}

// startSpilling sends everything sorted so far to disk. From now on runs are
// spilled while the next one is being filled, so each has a part of what there is.
func (s *sorter) startSpilling() {
	s.spills, s.target = true, max(s.held/(sortWorkers+2), minRunBytes)
	for i := range s.queue {
		s.queue[i].spill = true
	}
	for _, r := range s.runs {
		if !r.busy {
			s.enqueue(sortJob{run: r, spill: true})
		}
	}
}

// cut ends the current run.
func (s *sorter) cut() {
	r := s.current
	s.current = nil
	s.runs = append(s.runs, r)
	s.enqueue(sortJob{run: r, spill: s.spills})
}

func (s *sorter) enqueue(j sortJob) {
	j.run.busy = true
	s.queue = append(s.queue, j)
}

// pump hands queued jobs to the workers and takes their answers; wait says to wait
// for one answer.
func (s *sorter) pump(ctx context.Context, wait bool) error {
	for {
		var jobs chan sortJob
		var next sortJob
		if len(s.queue) > 0 {
			jobs, next = s.jobs, s.queue[0]
		}
		if !wait {
			select {
			case jobs <- next:
				s.queue = s.queue[1:]
				s.pending++
			case j := <-s.results:
				if err := s.finish(j); err != nil {
					return err
				}
			default:
				return nil
			}
			continue
		}
		select {
		case jobs <- next:
			s.queue = s.queue[1:]
			s.pending++
		case j := <-s.results:
			if err := s.finish(j); err != nil {
				return err
			}
			wait = false
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// finish takes a run back from a worker.
func (s *sorter) finish(j sortJob) error {
	s.pending--
	if j.err != nil {
		return j.err
	}
	r := j.run
	r.busy = false
	for _, m := range j.merge {
		if err := m.close(s.env.Memory); err != nil {
			return err
		}
	}
	if r.file == nil && s.spills {
		s.enqueue(sortJob{run: r, spill: true})
		return nil
	}
	if r.file != nil {
		s.held -= r.free(s.env.Memory)
		if s.spills {
			s.mergeSpilled()
		}
	}
	return nil
}

// mergeSpilled queues the merge of mergeWidth neighbouring runs of one level.
func (s *sorter) mergeSpilled() {
	n := 0
	for i, r := range s.runs {
		if r.busy || r.file == nil || (n > 0 && r.level != s.runs[i-1].level) {
			n = 0
		}
		if r.busy || r.file == nil {
			continue
		}
		if n++; n < mergeWidth {
			continue
		}
		parts := append([]*run(nil), s.runs[i+1-n:i+1]...)
		into := &run{level: r.level + 1}
		s.runs = append(append(s.runs[:i+1-n:i+1-n], into), s.runs[i+1:]...)
		s.enqueue(sortJob{run: into, merge: parts})
		return
	}
}

// settle waits until every run is sorted. What no worker has begun to spill
// may stay in memory, which it has.
func (s *sorter) settle(ctx context.Context) error {
	s.spills = false
	if s.current != nil {
		s.cut()
	}
	for i := range s.queue {
		s.queue[i].spill = false
	}
	for s.pending > 0 || len(s.queue) > 0 {
		if err := s.pump(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// close waits for the workers and frees everything.
func (s *sorter) close() {
	close(s.jobs)
	all := s.runs
	if s.current != nil {
		all = append(all, s.current)
	}
	for _, j := range s.queue {
		all = append(all, j.merge...)
	}
	for j := range s.results {
		all = append(all, j.merge...)
	}
	for _, r := range all {
		if err := r.close(s.env.Memory); err != nil {
			s.env.Log.Warn("Temporary file not removed", "transform", s.env.Transform, "err", err)
		}
	}
}
