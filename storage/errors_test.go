package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sluice/storage"
)

func TestIsRetryable(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nil":               {nil, false},
		"unreachable":       {fmt.Errorf("x: %w", storage.ErrUnreachable), true},
		"busy":              {storage.ErrBusy, true},
		"cut":               {io.ErrUnexpectedEOF, true},
		"refused":           {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		"time-out":          {os.ErrDeadlineExceeded, true},
		"cancelled":         {context.Canceled, false},
		"not found":         {storage.ErrNotFound, false},
		"auth":              {storage.ErrAuth, false},
		"full":              {storage.ErrNoSpace, false},
		"corrupt and cut":   {errors.Join(storage.ErrCorrupt, io.ErrUnexpectedEOF), false},
		"unsupported":       {errors.ErrUnsupported, false},
		"input/output":      {&os.PathError{Op: "read", Err: syscall.EIO}, false},
		"something unknown": {errors.New("?"), false},
	} {
		if got := storage.IsRetryable(c.err); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	for name, c := range map[string]struct {
		errs  []error
		calls int
		ok    bool
		least time.Duration
	}{
		"at once":    {[]error{nil}, 1, true, 0},
		"third time": {[]error{storage.ErrBusy, storage.ErrUnreachable, nil}, 3, true, 750 * time.Millisecond},
		"for good":   {[]error{storage.ErrAuth, nil}, 1, false, 0},
		"used up":    {[]error{storage.ErrBusy, storage.ErrBusy, storage.ErrBusy, storage.ErrBusy, storage.ErrBusy, nil}, 5, false, 3750 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0
				err := storage.DefaultBackoff.Do(t.Context(), func(attempt int) error {
					if attempt != calls {
						t.Errorf("attempt %d is numbered %d", calls, attempt)
					}
					calls++
					return c.errs[attempt]
				})
				if calls != c.calls || (err == nil) != c.ok || time.Since(start) < c.least || time.Since(start) > 2*c.least {
					t.Errorf("%d calls, %v, after %s", calls, err, time.Since(start))
				}
			})
		})
	}
}

func TestBackoffEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
		start := time.Now()
		err := storage.DefaultBackoff.Do(ctx, func(int) error { return storage.ErrBusy })
		if !errors.Is(err, stop) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestHints(t *testing.T) {
	err := fmt.Errorf("gate: %w", &storage.Error{Op: "write", Location: "r:x", Err: fmt.Errorf("%w: 507", storage.ErrNoSpace)})
	if hint := storage.Hint(err); hint == "" || storage.Hint(errors.New("?")) != "" {
		t.Errorf("hint %q", hint)
	}
	if storage.Hint(&storage.Error{Hint: "do this", Err: storage.ErrAuth}) != "do this" {
		t.Error("an error's own hint comes first")
	}
}
