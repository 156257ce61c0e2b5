package storage

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff retries what IsRetryable allows: Attempts calls at most, waiting
// First, then twice as long each time up to Most, each wait shortened at
// random by up to a half so that many writers do not march in step.
type Backoff struct {
	Attempts int
	First    time.Duration
	Most     time.Duration
}

// DefaultBackoff makes five attempts over about seven seconds.
var DefaultBackoff = Backoff{Attempts: 5, First: 500 * time.Millisecond, Most: 5 * time.Second}

// Do calls try with the attempt's number (from 0) until it returns nil, an
// error that is not retryable, or attempts are used up. It returns the last
// error, or the cause of ctx when that ends first.
func (b Backoff) Do(ctx context.Context, try func(attempt int) error) error {
	wait := b.First
	for attempt := 0; ; attempt++ {
		err := try(attempt)
		if err == nil || attempt+1 >= b.Attempts || !IsRetryable(err) {
			return err
		}
		timer := time.NewTimer(wait - time.Duration(rand.Int64N(int64(wait)/2+1)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		wait = min(2*wait, b.Most)
	}
}
