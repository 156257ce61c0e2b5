package pipeline

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
)

// turnRows is how many rows a merged input takes from one hop before the next
// hop's turn.
const turnRows = 4096

// input reads the queues of one input port as one stream. With several queues it
// takes turnRows rows, or the rest, of each live one in turn, counted in rows, so
// batch boundaries do not change the order.
type input struct {
	unit   *unit
	schema *batch.Schema
	queues []*queue
	typed  []*batch.Codec // not nil: raw columns are converted
	mixed  bool           // batches keep their own schemas
	pause  func(context.Context) error

	at   int // queue whose turn it is
	left int // rows left of the turn
	rest []*batch.Batch
}

// Schema implements transform.Reader.
func (r *input) Schema() *batch.Schema { return r.schema }

// Next implements transform.Reader.
func (r *input) Next(ctx context.Context) (*batch.Batch, error) {
	if err := r.pause(ctx); err != nil {
		return nil, err
	}
	b, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	r.unit.counters.Read.Add(int64(b.Rows()))
	r.unit.ordered += int64(b.Rows())
	if r.typed == nil {
		return b, nil
	}
	defer b.Release()
	t, err := b.Typed(r.typed)
	if err != nil {
		return nil, r.unit.fault(b, err, r.unit.ordered-int64(b.Rows()))
	}
	return t, nil
}

func (r *input) take(ctx context.Context) (*batch.Batch, error) {
	if len(r.queues) == 1 {
		b, err := r.queues[0].next(ctx)
		return r.relabel(b), err
	}
	if r.rest == nil {
		r.rest = make([]*batch.Batch, len(r.queues))
		r.left = turnRows
	}
	live := 0
	for live < len(r.queues) {
		if q := r.queues[r.at]; q != nil {
			b, err := r.turn(ctx, q)
			if b != nil || err != nil {
				return r.relabel(b), err
			}
		}
		r.advance()
		live++
	}
	return nil, io.EOF
}

func (r *input) advance() {
	r.at = (r.at + 1) % len(r.queues)
	r.left = turnRows
}

// turn gives rows of the queue whose turn it is, nil when it has ended.
func (r *input) turn(ctx context.Context, q *queue) (*batch.Batch, error) {
	b := r.rest[r.at]
	r.rest[r.at] = nil
	if b == nil {
		var err error
		if b, err = q.next(ctx); err != nil {
			if errors.Is(err, io.EOF) {
				r.queues[r.at] = nil
				return nil, nil
			}
			return nil, err
		}
	}
	if n := b.Rows(); n > r.left {
		head := b.Slice(0, r.left)
		r.rest[r.at] = b.Slice(r.left, n)
		b.Release()
		r.advance()
		return head, nil
	}
	if r.left -= b.Rows(); r.left == 0 {
		r.advance()
	}
	return b, nil
}

// relabel puts the schema of the port on rows of another hop: layouts are the
// same, details such as masks may differ and the first hop's count.
func (r *input) relabel(b *batch.Batch) *batch.Batch {
	if b == nil || b.Schema == r.schema || r.mixed {
		return b
	}
	defer b.Release()
	return b.As(r.schema)
}

func (r *input) close() {
	for _, b := range r.rest {
		if b != nil {
			b.Release()
		}
	}
	r.rest = nil
	for _, q := range r.queues {
		if q != nil {
			q.close()
		}
	}
}
