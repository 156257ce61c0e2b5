package main

import (
	"fmt"
	"io"

	"sluice/bench/measure"
)

// console is where the report goes. A report that cannot be shown is no reason to stop.
type console struct{ w io.Writer }

func (c console) printf(format string, args ...any) { _, _ = fmt.Fprintf(c.w, format, args...) }

// report prints medians, ratios and verdicts of one workload and returns the number of missed targets.
func report(out console, w workload, results map[string][]measure.Sample) (missed int) {
	out.printf("  medians\n")
	for _, c := range w.contestants {
		out.printf("    %-16s %s\n", c.name, measure.MedianSample(results[c.name]))
	}
	mine := results[ours]
	if len(mine) == 0 {
		return 0
	}
	out.printf("  ratios, median of the rounds (lowest to highest)\n")
	for _, peer := range []string{duckExact, duckDouble} {
		if theirs := results[peer]; len(theirs) > 0 {
			out.printf("    ours / %-16s wall %s  cpu %s  memory %s\n", peer,
				measure.Pairwise(mine, theirs, measure.Wall), measure.Pairwise(mine, theirs, measure.CPU), measure.Pairwise(mine, theirs, measure.RSS))
		}
	}
	if theirs := results[millerName]; len(theirs) > 0 {
		out.printf("    miller / ours           wall %s  cpu %s  memory %s\n",
			measure.Pairwise(theirs, mine, measure.Wall), measure.Pairwise(theirs, mine, measure.CPU), measure.Pairwise(theirs, mine, measure.RSS))
	}
	out.printf("  targets\n")
	judge := func(what string, value, bar float64, met bool) {
		if !met {
			missed++
		}
		out.printf("    %-34s %6.2f  target %5.2f  %s\n", what, value, bar, measure.Verdict(met))
	}
	t := w.targets
	if theirs := results[duckExact]; len(theirs) > 0 {
		r := measure.Pairwise(mine, theirs, measure.Wall).Median
		judge("wall / DuckDB, at most", r, t.duckWall, r <= t.duckWall)
		if t.duckMemory > 0 {
			m := measure.Pairwise(mine, theirs, measure.RSS).Median
			judge("peak memory / DuckDB, at most", m, t.duckMemory, m <= t.duckMemory)
		}
	}
	if theirs := results[millerName]; len(theirs) > 0 {
		r := measure.Pairwise(theirs, mine, measure.Wall).Median
		judge("times as fast as Miller, at least", r, t.millerFaster, r >= t.millerFaster)
	}
	if t.budgetMemory > 0 {
		m := measure.MedianSample(mine).RSS / float64(t.budgetMB)
		judge(fmt.Sprintf("peak memory / %d MB budget, at most", t.budgetMB), m, t.budgetMemory, m <= t.budgetMemory)
	}
	return missed
}
