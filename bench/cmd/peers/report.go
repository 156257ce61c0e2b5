package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// console is where the report goes. A report that cannot be shown is no reason to stop.
type console struct{ w io.Writer }

func (c console) printf(format string, args ...any) { _, _ = fmt.Fprintf(c.w, format, args...) }

// report prints medians, ratios and verdicts of one workload and returns the number of missed targets.
func report(out console, w workload, results map[string][]sample) (missed int) {
	out.printf("  medians\n")
	for _, c := range w.contestants {
		out.printf("    %-16s %s\n", c.name, medianSample(results[c.name]))
	}
	mine := results[ours]
	if len(mine) == 0 {
		return 0
	}
	out.printf("  ratios, median of the rounds (lowest to highest)\n")
	for _, peer := range []string{duckExact, duckDouble} {
		if theirs := results[peer]; len(theirs) > 0 {
			out.printf("    ours / %-16s wall %s  cpu %s  memory %s\n", peer,
				pairwise(mine, theirs, wall), pairwise(mine, theirs, cpu), pairwise(mine, theirs, rss))
		}
	}
	if theirs := results[millerName]; len(theirs) > 0 {
		out.printf("    miller / ours           wall %s  cpu %s  memory %s\n",
			pairwise(theirs, mine, wall), pairwise(theirs, mine, cpu), pairwise(theirs, mine, rss))
	}
	out.printf("  targets\n")
	judge := func(what string, value, bar float64, met bool) {
		if !met {
			missed++
		}
		out.printf("    %-34s %6.2f  target %5.2f  %s\n", what, value, bar, verdict(met))
	}
	t := w.targets
	if theirs := results[duckExact]; len(theirs) > 0 {
		r := pairwise(mine, theirs, wall).median
		judge("wall / DuckDB, at most", r, t.duckWall, r <= t.duckWall)
		if t.duckMemory > 0 {
			m := pairwise(mine, theirs, rss).median
			judge("peak memory / DuckDB, at most", m, t.duckMemory, m <= t.duckMemory)
		}
	}
	if theirs := results[millerName]; len(theirs) > 0 {
		r := pairwise(theirs, mine, wall).median
		judge("times as fast as Miller, at least", r, t.millerFaster, r >= t.millerFaster)
	}
	if t.budgetMemory > 0 {
		m := medianSample(mine).rss / float64(t.budgetMB)
		judge(fmt.Sprintf("peak memory / %d MB budget, at most", t.budgetMB), m, t.budgetMemory, m <= t.budgetMemory)
	}
	return missed
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// What a ratio is taken of.
func wall(s sample) float64 { return s.wall.Seconds() }
func cpu(s sample) float64  { return s.cpu.Seconds() }
func rss(s sample) float64  { return s.rss }

// spread is a median with its extremes.
type spread struct{ median, low, high float64 }

// String gives the median and, in brackets, the extremes.
func (s spread) String() string { return fmt.Sprintf("%5.2f (%.2f-%.2f)", s.median, s.low, s.high) }

// pairwise gives the ratios a / b of the samples of the same round.
func pairwise(a, b []sample, of func(sample) float64) spread {
	ratios := make([]float64, min(len(a), len(b)))
	for i := range ratios {
		ratios[i] = of(a[i]) / of(b[i])
	}
	return spread{median: median(ratios), low: slices.Min(ratios), high: slices.Max(ratios)}
}

func medianSample(samples []sample) sample {
	all := func(of func(sample) float64) []float64 {
		list := make([]float64, len(samples))
		for i, s := range samples {
			list[i] = of(s)
		}
		return list
	}
	seconds := func(of func(sample) float64) time.Duration {
		return time.Duration(median(all(of)) * float64(time.Second))
	}
	return sample{wall: seconds(wall), cpu: seconds(cpu), rss: median(all(rss))}
}

// median gives the middle, or the mean of the two middle ones; the list is sorted in place.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
