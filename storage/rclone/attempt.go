package rclone

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/rclone/rclone/fs"

	"sluice/storage"
)

const (
	// connectTimeout of one connection; rclone's own is a minute.
	connectTimeout = 10 * time.Second
	// defaultSilence is how long a server that is there may send and take
	// nothing.
	defaultSilence = time.Minute
	// maxHangs of one call; after them the server counts as dead.
	maxHangs = 2
	// outageFor is how long a remote that was given up gets single attempts.
	outageFor = 30 * time.Second
)

// quiet lists the backends that may be silent for long while all is well, and
// those that may stand on one. An FTP control connection says nothing while
// the data connection works.
var quiet = []string{"ftp", "alias", "cache", "chunker", "combine", "compress", "crypt", "hasher", "union"}

// quietTimes is how many times as long they may be silent.
const quietTimes = 5

// onlyOurRetries keeps the Azure client from retrying by itself. The others
// obey LowLevelRetries.
func onlyOurRetries(ctx context.Context) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1})
}

// withTimeouts is the context whose configuration a new Fs of this type keeps.
func (c *Client) withTimeouts(ctx context.Context, kind string) context.Context {
	ctx, ci := fs.AddConfig(onlyOurRetries(ctx))
	ci.ConnectTimeout = fs.Duration(min(connectTimeout, c.o.Silence))
	ci.Timeout = fs.Duration(c.o.Silence)
	if slices.Contains(quiet, kind) {
		ci.Timeout *= quietTimes
	}
	if kind == "hdfs" {
		// Its backend obeys this in one place: while it asks the namenode to close a
		// file whose blocks all datanodes have. A new file would only wait again.
		ci.LowLevelRetries = closeTries
	}
	return ctx
}

// closeTries is how often HDFS is asked to close a file: about ten seconds.
const closeTries = 10

// series makes attempts until one succeeds, fails for good, or they are used
// up. A server that hangs gets fewer, since each one takes long.
func series(ctx context.Context, b storage.Backoff, explain func(error) error, try func(attempt int) error) error {
	hangs := 0
	var last error
	err := b.Do(ctx, func(n int) error {
		failure := try(n)
		last = explain(failure)
		if isTimeout(failure) {
			hangs++
		}
		if hangs >= maxHangs {
			return nil // ends the attempts; last is the outcome
		}
		return last
	})
	if err == nil {
		err = last
	}
	return err
}

// attempt checks the name, then calls try until it succeeds, fails for good,
// or attempts are used up.
func (r *Remote) attempt(ctx context.Context, op, name string, try func(ctx context.Context, attempt int) error) error {
	if err := storage.CheckName(name); err != nil {
		return &storage.Error{Op: op, Location: r.place.where, Err: err}
	}
	return r.retry(ctx, op, name, try)
}

// retry is attempt without a check of the name, which may be empty.
func (r *Remote) retry(ctx context.Context, op, name string, try func(ctx context.Context, attempt int) error) error {
	ctx = onlyOurRetries(ctx)
	explain := func(err error) error { return r.place.explain(ctx, op, name, err) }
	err := series(ctx, r.place.outage.attempts(r.backoff), explain, func(n int) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return try(ctx, n)
	})
	r.place.outage.note(err)
	return err
}

// outage remembers that a remote was given up. A run that loses its server
// still has many calls to make (the verdict on each gate, records, claims):
// each one would wait for as long again.
type outage struct {
	mu    sync.Mutex
	since time.Time // zero while the remote answers
}

// attempts is b, or a single attempt while the remote is known to be away.
func (o *outage) attempts(b storage.Backoff) storage.Backoff {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() && time.Since(o.since) < outageFor {
		b.Attempts = 1
	}
	return b
}

// note takes the outcome of a series of attempts.
func (o *outage) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// says nothing about the remote
	case !errors.Is(err, storage.ErrUnreachable):
		o.since = time.Time{}
	case o.since.IsZero() || time.Since(o.since) >= outageFor:
		o.since = time.Now()
	}
}
