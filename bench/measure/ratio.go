package measure

import (
	"fmt"
	"slices"
	"time"
)

// What a ratio is taken of.

// Wall is in seconds.
func Wall(s Sample) float64 { return s.Wall.Seconds() }

// CPU is in seconds.
func CPU(s Sample) float64 { return s.CPU.Seconds() }

// RSS is in MB.
func RSS(s Sample) float64 { return s.RSS }

// Spread is a median with its extremes.
type Spread struct{ Median, Low, High float64 }

// String gives the median and, in brackets, the extremes.
func (s Spread) String() string { return fmt.Sprintf("%5.2f (%.2f-%.2f)", s.Median, s.Low, s.High) }

// SpreadOf needs at least one number.
func SpreadOf(list []float64) Spread {
	return Spread{Median: Median(slices.Clone(list)), Low: slices.Min(list), High: slices.Max(list)}
}

// Pairwise gives the ratios a / b of the samples of the same round.
func Pairwise(a, b []Sample, of func(Sample) float64) Spread {
	ratios := make([]float64, min(len(a), len(b)))
	for i := range ratios {
		ratios[i] = of(a[i]) / of(b[i])
	}
	return SpreadOf(ratios)
}

// MedianSample takes each median by itself.
func MedianSample(samples []Sample) Sample {
	all := func(of func(Sample) float64) []float64 {
		list := make([]float64, len(samples))
		for i, s := range samples {
			list[i] = of(s)
		}
		return list
	}
	seconds := func(of func(Sample) float64) time.Duration {
		return time.Duration(Median(all(of)) * float64(time.Second))
	}
	return Sample{Wall: seconds(Wall), CPU: seconds(CPU), RSS: Median(all(RSS))}
}

// Median gives the middle, or the mean of the two middle ones; the list is sorted in place.
func Median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// Verdict is the word for a target.
func Verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
