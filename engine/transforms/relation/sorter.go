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
	layout *rowLayout
	row    []byte  // the row that is being packed
	key    []byte  // its normalised key
	chunk  []byte  // packed rows that belong to no run yet
	packed []entry // of the rows in chunk

	current *rowRun
	runs    []*rowRun // oldest first
	held    int64     // bytes granted to runs in memory
	target  int64     // bytes of a run
	lastRun int       // rows of the run that was cut last
	spills  bool      // memory was refused: runs go to disk as they are cut

	queue   []sortJob // not yet handed to a worker
	jobs    chan sortJob
	results chan sortJob
	pending int // jobs that workers have and have not answered

	long        bool // some keys are longer than their prefix
	rows, bytes int64

	// Of runs that were spilled, for the next ones.
	spareChunks  [][]byte
	spareEntries [][]entry
}

// sortJob is work on one run: sort it, and spill it, or merge others into it.
type sortJob struct {
	run   *rowRun
	spill bool
	merge []*rowRun
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
	// runBlockBytes is the size of what is written to and read from a run at once.
	runBlockBytes = 256 << 10
	// chunkBytes is the size of the pieces that a run's rows are in.
	chunkBytes = 256 << 10
)

func newSorter(ctx context.Context, p *sortProcessor, schema *batch.Schema) (*sorter, error) {
	layout, err := newRowLayout(p.env.Transform, p.env.Alloc, p.env.Semantics, schema)
	if err != nil {
		return nil, err
	}
	s := &sorter{
		sortProcessor: p, layout: layout, target: runBytes,
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
	return s, nil
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
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return s.cutChunk(ctx)
		}
		if err != nil {
			return err
		}
		if err := s.take(ctx, b); err != nil {
			return err
		}
	}
}

// take takes over one hold of b.
func (s *sorter) take(ctx context.Context, b *batch.Batch) error {
	defer b.Release()
	if b.Rows() == 0 {
		return nil
	}
	cols, field, err := s.keys.columns(nil, b)
	if err != nil {
		return valueError(s.env.Transform, field, b, s.rows, err)
	}
	s.layout.note(b)
	for i := range b.All() {
		s.key = s.keys.append(s.key[:0], cols, i, 0)
		s.row = s.layout.append(s.row[:0], b, i, s.key)
		if len(s.chunk)+len(s.row) > cap(s.chunk) {
			if err := s.cutChunk(ctx); err != nil {
				return err
			}
			s.newChunk(len(s.row))
		}
		hi, lo := keyPrefix(s.key)
		s.long = s.long || len(s.key) > prefixBytes
		s.packed = append(s.packed, entry{hi: hi, lo: lo, at: uint32(len(s.chunk))})
		s.chunk = append(s.chunk, s.row...)
	}
	s.rows += int64(b.Rows())
	return nil
}

// newChunk makes room for a row of a size.
func (s *sorter) newChunk(size int) {
	if n := len(s.spareChunks) - 1; n >= 0 && size <= chunkBytes {
		s.chunk, s.spareChunks = s.spareChunks[n][:0], s.spareChunks[:n]
		return
	}
	s.chunk = make([]byte, 0, max(size, chunkBytes))
}

// cutChunk gives the packed rows to the current run.
func (s *sorter) cutChunk(ctx context.Context) error {
	if len(s.packed) == 0 {
		return nil
	}
	need := int64(cap(s.chunk)) + int64(len(s.packed))*entryCost
	granted, err := s.request(ctx, need)
	if err != nil {
		return err
	}
	if s.current == nil {
		s.current = &rowRun{entries: s.newEntries()}
	}
	s.bytes += int64(len(s.chunk))
	s.current.add(s.chunk, s.packed, need, granted)
	s.current.long = s.long
	s.chunk, s.packed = nil, s.packed[:0]
	if len(s.current.entries) >= s.runRows || s.current.bytes >= s.target {
		s.cut()
	}
	return s.pump(ctx, false)
}

// newEntries gives an empty list, as long as the last run's.
func (s *sorter) newEntries() []entry {
	if n := len(s.spareEntries) - 1; n >= 0 {
		list := s.spareEntries[n]
		s.spareEntries = s.spareEntries[:n]
		return list[:0]
	}
	if len(s.runs) == 0 {
		return nil
	}
	return make([]entry, 0, s.lastRun+s.lastRun/16)
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
	s.current, s.lastRun = nil, len(r.entries)
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
		if s.spills {
			s.reuse(r)
		}
		s.held -= r.free(s.env.Memory)
		if s.spills {
			s.mergeSpilled()
		}
	}
	return nil
}

// reuse keeps the memory of a spilled run for the next one.
func (s *sorter) reuse(r *rowRun) {
	for _, c := range r.chunks {
		if cap(c) == chunkBytes {
			s.spareChunks = append(s.spareChunks, c)
		}
	}
	if r.entries != nil {
		s.spareEntries = append(s.spareEntries, r.entries)
	}
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
		parts := append([]*rowRun(nil), s.runs[i+1-n:i+1]...)
		into := &rowRun{level: r.level + 1}
		s.runs = append(append(s.runs[:i+1-n:i+1-n], into), s.runs[i+1:]...)
		s.enqueue(sortJob{run: into, merge: parts})
		return
	}
}

// settle waits until every run is sorted. What no worker has begun to spill
// may stay in memory, which it has.
func (s *sorter) settle(ctx context.Context) error {
	s.spills = false
	s.chunk, s.packed, s.spareChunks, s.spareEntries = nil, nil, nil, nil
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
