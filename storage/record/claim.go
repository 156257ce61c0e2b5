package record

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

// The states of a claim.
const (
	claimWant = "WANT"
	claimHeld = "HELD"
)

// claimFile is claims/<id>.json.
type claimFile struct {
	header
	ID             string        `json:"id"` // execution id of the replay
	State          string        `json:"state"`
	Nonce          string        `json:"nonce"`
	Seq            int64         `json:"seq"`
	IntervalMillis int64         `json:"intervalMillis"`
	Locked         bool          `json:"locked,omitempty"`
	By             snapshot.Host `json:"by"`
	Who            string        `json:"who,omitempty"`
	At             time.Time     `json:"at"`
	Sum            string        `json:"sum,omitempty"`
}

func (c *claimFile) seen() storage.Lease {
	return storage.Lease{Nonce: c.Nonce, Seq: c.Seq, Interval: time.Duration(c.IntervalMillis) * time.Millisecond}
}

// A ClaimedError names who replays already. It unwraps to ErrClaimed.
type ClaimedError struct {
	Execution string // of the other replay
	Host      string
	PID       int
	Who       string
	Since     time.Time
}

func (e *ClaimedError) Error() string {
	text := fmt.Sprintf("replay %s is active: process %d on %s since %s", e.Execution, e.PID, e.Host, e.Since.Format(time.RFC3339))
	if e.Who != "" {
		text += ", started by " + e.Who
	}
	return text
}

func (e *ClaimedError) Unwrap() error { return ErrClaimed }

// Claim is the right of one replay of a chain to run. Its owner checks Alive
// before it does what cannot be undone, and releases it at the end.
type Claim struct {
	remote storage.Remote
	o      Options
	origin string
	id     string
	nonce  string
	at     time.Time
	held   atomic.Bool
	closed atomic.Bool
	beats  *beater
}

// TakeClaim claims the chain of replays of origin for the replay with the
// execution id. Of several at the same time the lowest id wins, unless another
// one holds it already. The loser gets a *ClaimedError at once. A claim whose
// owner was killed blocks, until BreakDead has seen that it stands still.
func TakeClaim(ctx context.Context, remote storage.Remote, o Options, origin, id string) (*Claim, error) {
	if err := errors.Join(storage.CheckExecutionID(origin), storage.CheckExecutionID(id)); err != nil {
		return nil, err
	}
	o = o.filled()
	c := &Claim{remote: remote, o: o, origin: origin, id: id, nonce: newNonce(), at: o.Now().UTC().Round(0)}
	c.beats = &beater{remote: remote, interval: o.Heartbeat, logger: o.Logger, encode: c.encode}
	if err := c.take(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("claim the replay of %s: %w", origin, err), c.Release(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *Claim) take(ctx context.Context) error {
	if err := c.beats.takeLock(ctx, claimName(c.origin, c.id)+lockSuffix); err != nil {
		return err
	}
	if err := c.beats.start(ctx); err != nil {
		return err
	}
	if back, err := readClaim(ctx, c.remote, c.origin, c.id); err != nil || back.Nonce != c.nonce {
		return errors.Join(fmt.Errorf("the claim was not read back: %w", storage.ErrCorrupt), err)
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	c.held.Store(true)
	if err := c.beats.beat(ctx); err != nil {
		return err
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	return c.beats.alive()
}

func (c *Claim) encode(seq int64) (string, []byte, error) {
	f := claimFile{
		header: header{claimFormat, formatVersion}, ID: c.id, State: claimWant, Nonce: c.nonce, Seq: seq, IntervalMillis: c.o.Heartbeat.Milliseconds(),
		Locked: c.beats.lockName != "", By: c.o.Host, Who: c.o.Who, At: c.at,
	}
	if c.held.Load() {
		f.State = claimHeld
	}
	data, err := encodeSummed(&f, &f.Sum)
	return claimName(c.origin, c.id) + jsonSuffix, data, err
}

// claimName is the path of a claim without its ending.
func claimName(origin, id string) string { return path.Join(folder(origin), claimFolder, id) }

// look lists the other claims and gives up for one that goes first.
func (c *Claim) look(ctx context.Context) error {
	others, err := claimIDs(ctx, c.remote, c.origin)
	if err != nil {
		return err
	}
	for _, id := range others {
		if id == c.id {
			continue
		}
		if err := c.yield(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func claimIDs(ctx context.Context, remote storage.Remote, origin string) ([]string, error) {
	list, err := remote.List(ctx, path.Join(folder(origin), claimFolder))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, o := range list {
		id, ok := strings.CutSuffix(path.Base(o.Name), jsonSuffix)
		if ok && !o.Dir && storage.CheckExecutionID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func readClaim(ctx context.Context, remote storage.Remote, origin, id string) (*claimFile, error) {
	data, err := storage.ReadAll(ctx, remote, claimName(origin, id)+jsonSuffix, maxSmallBytes)
	if err != nil {
		return nil, err
	}
	var f claimFile
	if err := decodeSummed(data, claimFormat, &f, &f.Sum); err != nil {
		return nil, fmt.Errorf("claim %s: %w", id, err)
	}
	return &f, nil
}

// yield is a *ClaimedError when the other claim goes first. It waits for a
// lower one that has not decided yet.
func (c *Claim) yield(ctx context.Context, id string) error {
	ticker := time.NewTicker(max(c.o.Heartbeat/100, time.Millisecond))
	defer ticker.Stop()
	var watch storage.LeaseWatch
	for absent := 0; ; {
		other, err := readClaim(ctx, c.remote, c.origin, id)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			// Some remotes replace an object by removing it first.
			if absent++; absent == absentReads {
				return nil
			}
			if err := next(ctx, ticker); err != nil {
				return err
			}
			continue
		case errors.Is(err, storage.ErrCorrupt):
			// Torn while it was written, or damaged: it counts until it is gone.
			return fmt.Errorf("%w: %w", &ClaimedError{Execution: id, Host: "unknown"}, err)
		case err != nil:
			return err
		}
		if dead, err := c.isDead(ctx, other); err != nil || dead {
			return err
		}
		lower := id < c.id
		switch {
		case other.State == claimHeld && (lower || !c.held.Load()):
			return &ClaimedError{Execution: id, Host: other.By.Name, PID: other.By.PID, Who: other.Who, Since: other.At}
		case other.State == claimHeld, !lower:
			return nil // it gives up when it sees this one
		case watch.Observe(other.seen(), time.Now()):
			return nil // it died before it decided
		}
		if err := next(ctx, ticker); err != nil {
			return err
		}
	}
}

// absentReads in a row make a claim absent.
const absentReads = 3

// next waits for a tick.
func next(ctx context.Context, ticker *time.Ticker) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-ticker.C:
		return nil
	}
}

// isDead looks at the lock of a claim, and removes the claim of the dead.
func (c *Claim) isDead(ctx context.Context, other *claimFile) (bool, error) {
	if !other.Locked {
		return false, nil
	}
	name := claimName(c.origin, other.ID)
	free, err := lockFree(ctx, c.remote, name+lockSuffix)
	if err != nil || !free {
		return false, err
	}
	return true, errors.Join(c.remote.Delete(ctx, name+jsonSuffix), c.remote.Delete(ctx, name+lockSuffix))
}

// Alive is ErrFenced when others may have taken over: the replay must stop.
func (c *Claim) Alive() error { return c.beats.alive() }

// Release gives the claim up. It may be called again.
func (c *Claim) Release(ctx context.Context) error {
	if c.closed.Swap(true) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if c.beats.cancel != nil {
		c.beats.cancel()
		<-c.beats.done
	}
	// The file goes before the lock, so nobody takes it for one of the dead.
	err := c.remote.Delete(ctx, claimName(c.origin, c.id)+jsonSuffix)
	return errors.Join(err, c.beats.stop(ctx))
}

// BreakDead watches all claims on origin until each has shown life, was
// released, or stood still for ten of its intervals; those are removed. It
// gives the ids of the removed ones.
func BreakDead(ctx context.Context, remote storage.Remote, o Options, origin string) ([]string, error) {
	ids, err := claimIDs(ctx, remote, origin)
	if err != nil {
		return nil, err
	}
	c := &Claim{remote: remote, o: o.filled(), origin: origin}
	var broken []string
	for _, id := range ids {
		dead, err := c.watch(ctx, id)
		if err != nil {
			return broken, fmt.Errorf("watch claim %s: %w", id, err)
		}
		if dead {
			broken = append(broken, id)
		}
	}
	return broken, nil
}

func (c *Claim) watch(ctx context.Context, id string) (dead bool, err error) {
	var first *claimFile
	var watch storage.LeaseWatch
	ticker := time.NewTicker(max(c.o.Heartbeat, 10*time.Millisecond))
	defer ticker.Stop()
	for absent := 0; ; {
		now, err := readClaim(ctx, c.remote, c.origin, id)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			if absent++; absent == absentReads {
				return false, nil
			}
			now = first
		case storage.Torn(err):
			// Nobody will ever end writing it, once it stands still for long enough.
			now = &claimFile{}
			if watch.Observe(storage.TornLease(c.o.Heartbeat), time.Now()) {
				return true, c.remote.Delete(ctx, claimName(c.origin, id)+jsonSuffix)
			}
		case err != nil:
			return false, err
		case now.Locked:
			return c.isDead(ctx, now)
		case first != nil && now.seen() != first.seen():
			return false, nil
		case watch.Observe(now.seen(), time.Now()):
			return true, c.remote.Delete(ctx, claimName(c.origin, id)+jsonSuffix)
		}
		first = now
		if err := next(ctx, ticker); err != nil {
			return false, err
		}
	}
}
