package main

import (
	"time"

	"sluice/bench/measure"
)

// The bounds.
const (
	writeBound  = 0.5 // processor time of a gate's write / DuckDB's COPY with the same codec
	sizeBound   = 1.0 // its bytes / DuckDB's
	readBound   = 0.6 // wall time of a replay / parsing the CSV file again
	firstBound  = 150 // milliseconds from the manifest to the first batch
	memoryBound = 64  // MB that 15,000,000 rows take beyond 5,000,000: one segment, while 600 MB of them are added
	sealedBound = 1.0 // wall time of a sealed release / plain run + gate write + snapshot read
)

// startLimits bound `sluice version`, with every backend of rclone linked.
var startLimits = measure.Limits{Wall: 80 * time.Millisecond, RSS: 90}

// streamingBounds are the wall times with a streaming gate / without one.
var streamingBounds = map[string]float64{"w1": 1.80, "w3": 1.15}

// report prints medians, verdicts and the number of missed targets.
func (b *bench) report() (missed int) {
	b.printf("\n%-62s %-22s %6s\n", "median of the rounds (lowest to highest)", "", "bound")
	judge := func(what string, list []float64, bound float64) {
		if len(list) == 0 {
			return
		}
		s := measure.SpreadOf(list)
		if s.Median > bound {
			missed++
		}
		b.printf("%-62s %-22s %6.2f  %s\n", what, s, bound, measure.Verdict(s.Median <= bound))
	}
	show := func(what string, list []float64) {
		if len(list) > 0 {
			b.printf("%-62s %s\n", what, measure.SpreadOf(list))
		}
	}
	r := b.results
	for _, data := range []string{orders, distinct} {
		for _, codec := range []string{"snappy", "zstd"} {
			name := data + " " + codec
			show(name+": gate write, CPU s", r[name+" write cpu-s"])
			show(name+": DuckDB COPY, CPU s", r[name+" copy cpu-s"])
			judge(name+": gate write / DuckDB COPY, CPU", r.per(quotient, name+" write cpu-s", name+" copy cpu-s"), writeBound)
			judge(name+": gate size / DuckDB Parquet", r.per(quotient, name+" write file-MB", name+" copy file-MB"), sizeBound)
			bound := judge
			if data == distinct { // the bounds of a replay are for the orders
				bound = func(what string, list []float64, _ float64) { show(what, list) }
			}
			bound(name+": snapshot read / CSV parsed again, wall", r.per(quotient, name+" read wall-s", name+" parse wall-s"), readBound)
			show(name+": the same, CPU", r.per(quotient, name+" read cpu-s", name+" parse cpu-s"))
			bound(name+": manifest to first batch, its segment verified, ms", r[name+" first first-ms"], firstBound)
			bound(name+": the same with all segments verified before, ms", r[name+" first verified-ms"], firstBound)
		}
	}
	for _, w := range workloads {
		plain, streaming, sealed := key(w, "plain"), key(w, "streaming"), key(w, "sealed")
		for _, name := range []string{plain, streaming, sealed} {
			show(name+": wall s", r[name+" wall-s"])
		}
		judge(w+": streaming / plain, wall", r.per(quotient, streaming+" wall-s", plain+" wall-s"), streamingBounds[w])
		show(w+": streaming / plain, CPU", r.per(quotient, streaming+" cpu-s", plain+" cpu-s"))
		judge(w+": sealed / (plain + gate write + snapshot read), wall", r.per(
			func(v []float64) float64 { return v[0] / (v[1] + v[2] + v[3]) },
			sealed+" wall-s", plain+" wall-s", "orders snappy write wall-s", "orders snappy read wall-s"), sealedBound)
		show(w+": sealed / plain, CPU", r.per(quotient, sealed+" cpu-s", plain+" cpu-s"))
	}
	for _, release := range releases[1:] {
		for _, size := range []string{"1M", "5M", "5M distinct", "15M distinct"} {
			show(release+": memory with "+size+" rows, MB", r[release+" "+size+" rss-MB"])
		}
		judge(release+": memory, 15M - 5M distinct rows, MB", r.per(
			func(v []float64) float64 { return v[0] - v[1] }, release+" 15M distinct rss-MB", release+" 5M distinct rss-MB"), memoryBound)
	}
	return missed
}

func quotient(v []float64) float64 { return v[0] / v[1] }
