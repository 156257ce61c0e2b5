package storage

import (
	"errors"
	"io"
	"time"
)

// LeaseTTLBeats is after how many missed heartbeats a lease has lapsed for
// its owner. An observer waits twice as long.
const LeaseTTLBeats = 5

// Lease is the heartbeat of one owner, as an observer reads it. Only a change
// of Seq means life: clocks of two machines are never compared.
type Lease struct {
	Nonce    string        // of the owner
	Seq      int64         // grows with each beat
	Interval time.Duration // between two beats
}

// TTL is how long after its last beat the owner must stop by itself.
func (l Lease) TTL() time.Duration { return LeaseTTLBeats * l.Interval }

// Torn says that a lease is there and could not be read whole: its bytes make no sense,
// or the remote gave fewer than it promised, while its other objects can be read. Its
// writer was cut off, or is at it. That is an observation: it shows no life unless it
// changes.
func Torn(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// TornLease is what is observed of a torn lease of such an interval.
func TornLease(interval time.Duration) Lease {
	return Lease{Nonce: "torn", Seq: -1, Interval: interval}
}

// A LeaseWatch tells whether an owner is dead, from successful reads of its
// lease alone. The zero value is ready; it is owned by one goroutine.
type LeaseWatch struct {
	last    Lease
	since   time.Time
	reads   int
	started bool
}

// Observe takes one successful read at now (of this machine's monotonic
// clock) and tells whether the lease stood still for twice its TTL. A lease
// that is certainly absent is observed with Seq -1; since some remotes
// replace an object by removing it first, absence counts from the third read
// in a row only.
func (w *LeaseWatch) Observe(l Lease, now time.Time) (dead bool) {
	if !w.started || l != w.last {
		w.last, w.since, w.reads, w.started = l, now, 1, true
		return false
	}
	w.reads++
	if l.Seq < 0 && w.reads < 3 {
		return false
	}
	return now.Sub(w.since) >= 2*l.TTL()
}
