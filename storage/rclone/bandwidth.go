package rclone

import (
	"context"
	"io"

	"golang.org/x/time/rate"
)

// burst is the largest piece that passes a limiter at once, in bytes.
const burst = 64 << 10

// newLimiter gives nil for no limit.
func newLimiter(bytesPerSecond int) *rate.Limiter {
	if bytesPerSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bytesPerSecond), burst)
}

func limiters(all ...*rate.Limiter) []*rate.Limiter {
	var set []*rate.Limiter
	for _, l := range all {
		if l != nil {
			set = append(set, l)
		}
	}
	return set
}

// bodyReader reads a body for a backend: it ends with the context's cause,
// waits for the bandwidth limits, and fails when the body is shorter than
// declared, which several backends would not notice.
type bodyReader struct {
	ctx    context.Context
	r      io.Reader
	limits []*rate.Limiter
	left   int64 // of the declared size; negative when it is unknown
	short  error // what it means when the source ends before that
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if err := context.Cause(b.ctx); err != nil {
		return 0, err
	}
	if len(b.limits) > 0 && len(p) > burst {
		p = p[:burst]
	}
	n, err := b.r.Read(p)
	for _, l := range b.limits {
		if waitErr := l.WaitN(b.ctx, n); waitErr != nil {
			return n, waitErr
		}
	}
	if b.left < 0 {
		return n, err
	}
	b.left -= int64(n)
	if err == io.EOF && b.left > 0 {
		err = b.short
	}
	return n, err
}
