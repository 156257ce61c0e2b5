package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/spill"
	"sluice/engine/transform"
)

// queueBatches is how many batches a queue between stages holds.
const queueBatches = 4

// spillAfterBytes is what a spilling queue keeps in memory.
const spillAfterBytes = 16 << 20

// queue carries batches from one edge to the stage at its end: many senders, one
// receiver. A bounded queue blocks its senders; a spilling one never does.
type queue struct {
	schema *batch.Schema
	spills bool
	dir    *spill.Dir

	mu      sync.Mutex // guards all below
	list    []*batch.Batch
	bytes   int
	senders int
	closed  bool // the receiver has gone; what is sent is dropped
	changed chan struct{}

	file      *spill.File // rows that came after those of list
	readAt    int64       // offset in file up to which rows were taken
	section   transform.Reader
	sectionAt int64 // end of section
}

func newQueue(schema *batch.Schema, spills bool, dir *spill.Dir) *queue {
	return &queue{schema: schema, spills: spills, dir: dir, changed: make(chan struct{})}
}

// wake tells waiters that something changed; the lock is held.
func (q *queue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// put hands a batch over and takes its hold, also on errors.
func (q *queue) put(ctx context.Context, b *batch.Batch) error {
	for {
		q.mu.Lock()
		switch {
		case q.closed:
			q.mu.Unlock()
			b.Release()
			return nil
		case q.spills && (q.file != nil || q.bytes >= spillAfterBytes):
			err := q.overflow(b)
			q.wake()
			q.mu.Unlock()
			b.Release()
			return err
		case q.spills || len(q.list) < queueBatches:
			q.list = append(q.list, b)
			q.bytes += b.Bytesize()
			q.wake()
			q.mu.Unlock()
			return nil
		}
		wait := q.changed
		q.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			b.Release()
			return context.Cause(ctx)
		}
	}
}

// overflow writes a batch to the file; the lock is held.
func (q *queue) overflow(b *batch.Batch) error {
	if q.file == nil {
		f, err := q.dir.Create()
		if err != nil {
			return err
		}
		q.file, q.readAt, q.sectionAt = f.(*spill.File), 0, 0
	}
	return q.file.Write(b)
}

// done is called once by each sender after its last batch.
func (q *queue) done() {
	q.mu.Lock()
	q.senders--
	q.wake()
	q.mu.Unlock()
}

// next gives the oldest batch, io.EOF after the last one of the last sender.
func (q *queue) next(ctx context.Context) (*batch.Batch, error) {
	for {
		q.mu.Lock()
		if len(q.list) > 0 {
			b := q.list[0]
			q.list[0] = nil
			q.list = q.list[1:]
			q.bytes -= b.Bytesize()
			q.wake()
			q.mu.Unlock()
			return b, nil
		}
		if q.file != nil {
			b, err := q.fromFile(ctx)
			q.mu.Unlock()
			if b != nil || err != nil {
				return b, err
			}
			continue
		}
		if q.senders == 0 {
			q.mu.Unlock()
			return nil, io.EOF
		}
		wait := q.changed
		q.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// fromFile takes the next batch from the file; when all was read the file is
// removed and both are nil. The lock is held.
func (q *queue) fromFile(ctx context.Context) (*batch.Batch, error) {
	if q.section == nil {
		if q.readAt == q.file.Bytes() {
			err := q.file.Close()
			q.file = nil
			return nil, err
		}
		if err := q.file.Flush(); err != nil {
			return nil, err
		}
		q.sectionAt = q.file.Bytes()
		q.section = q.file.Section(q.schema, q.readAt, q.sectionAt)
	}
	b, err := q.section.Next(ctx)
	if errors.Is(err, io.EOF) {
		q.section, q.readAt = nil, q.sectionAt
		return nil, nil
	}
	return b, err
}

// close is called by the receiver when it wants no more; what is left is dropped.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	for _, b := range q.list {
		b.Release()
	}
	q.list = nil
	if q.file != nil {
		_ = q.file.Close() // nobody reads it any more; the spill folder goes with the execution
		q.file = nil
	}
	q.wake()
}

func (q *queue) fill() (batches, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list), queueBatches
}
