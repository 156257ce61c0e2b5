package pipeline

import (
	"sync/atomic"
	"time"

	"sluice/engine/transform"
)

// State of an execution or of a transform copy.
type State int32

// The states.
const (
	Waiting State = iota
	Running
	Finished
	Stopped
	Failed
)

// String gives the state in lower case.
func (s State) String() string {
	return [...]string{"waiting", "running", "finished", "stopped", "failed"}[s]
}

// Metrics are the counters of one transform copy at one moment.
type Metrics struct {
	Name                                                    string
	Copy                                                    int
	State                                                   State
	Read, Written, Input, Output, Updated, Rejected, Errors int64
	Started, Ended                                          time.Time // zero while not yet
	Buffered                                                int       // batches waiting in its input queues
	BufferSize                                              int
}

// Rate gives rows per second since the start: those read, or those written or
// read from files by a source.
func (m Metrics) Rate(now time.Time) float64 {
	end := m.Ended
	if end.IsZero() {
		end = now
	}
	seconds := end.Sub(m.Started).Seconds()
	if m.Started.IsZero() || seconds <= 0 {
		return 0
	}
	return float64(max(m.Read, m.Written, m.Input)) / seconds
}

// unit is one running copy of a transform.
type unit struct {
	node     *Node
	copy     int
	copies   int // as shown; collapsed units count for several
	hidden   bool
	mixed    bool
	links    transform.Links
	ports    transform.Ports
	schemas  transform.Schemas
	env      *transform.Env
	proc     transform.Processor
	counters transform.Counters

	state    atomic.Int32
	started  atomic.Int64 // unix nanoseconds
	ended    atomic.Int64
	finished chan struct{}
	ordered  int64 // rows read so far, in order; owned by the stage's ordered part
	emitted  int64 // rows emitted so far by a source, in order

	in      []*edge // in hop order, error hops included
	routes  map[transform.Port]*route
	fused   *unit // the unit whose stage it runs in, through its only input
	stage   *stage
	limits  *limits
	settled bool // committed or aborted
	codecs  atomic.Pointer[schemaCodecs]
}

func (u *unit) setState(s State, now time.Time) {
	u.state.Store(int32(s))
	switch s {
	case Running:
		u.started.CompareAndSwap(0, now.UnixNano())
	case Finished, Stopped, Failed:
		u.started.CompareAndSwap(0, now.UnixNano())
		u.ended.CompareAndSwap(0, now.UnixNano())
	}
}

func (u *unit) metrics() Metrics {
	c := &u.counters
	m := Metrics{
		Name: u.node.Name, Copy: u.copy, State: State(u.state.Load()),
		Read: c.Read.Load(), Written: c.Written.Load(), Input: c.Input.Load(), Output: c.Output.Load(),
		Updated: c.Updated.Load(), Rejected: c.Rejected.Load(), Errors: c.Errors.Load(),
		Started: clockOf(u.started.Load()), Ended: clockOf(u.ended.Load()),
	}
	for _, e := range u.in {
		if e.queue != nil {
			n, size := e.queue.fill()
			m.Buffered += n
			m.BufferSize += size
		}
	}
	return m
}

func clockOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
