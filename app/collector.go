package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How far the heap may grow between two collections, in percent of what is live:
// the usual doubling while little is, less when a doubling would cost much. What
// is live then are tables and buffers that stay; rows lie in pooled memory.
const (
	usualPercent = 100
	largePercent = 40
	largeHeap    = 26 << 20
)

const liveMetric = "/gc/heap/live:bytes"

// cycle is garbage at once, so that its end tells of a collection.
type cycle struct{ pacer *pacer }

// pacer looks at the live heap after each collection. Only the goroutine of
// finalizers touches it.
type pacer struct {
	sample  [1]metrics.Sample
	percent int
}

// paceCollector starts that, unless GOGC says how it is to be.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := &pacer{percent: usualPercent}
	p.sample[0].Name = liveMetric
	p.arm()
}

func (p *pacer) arm() { runtime.SetFinalizer(&cycle{p}, func(*cycle) { p.collected() }) }

func (p *pacer) collected() {
	metrics.Read(p.sample[:])
	percent := usualPercent
	if v := p.sample[0].Value; v.Kind() == metrics.KindUint64 && v.Uint64() > largeHeap {
		percent = largePercent
	}
	if percent != p.percent {
		p.percent = percent
		debug.SetGCPercent(percent)
	}
	p.arm()
}
