package measure_test

import (
	"testing"
	"time"

	"sluice/bench/measure"
)

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		in   []float64
		want float64
	}{"odd": {[]float64{9, 1, 5}, 5}, "even": {[]float64{4, 1, 2, 9}, 3}, "one": {[]float64{7}, 7}} {
		t.Run(name, func(t *testing.T) {
			if got := measure.Median(c.in); got != c.want {
				t.Errorf("median %v, want %v", got, c.want)
			}
		})
	}
}

// Ratios are taken within a round, so a round that the machine was slow in does not decide.
func TestPairwise(t *testing.T) {
	seconds := func(list ...int) []measure.Sample {
		out := make([]measure.Sample, len(list))
		for i, n := range list {
			out[i].Wall = time.Duration(n) * time.Second
		}
		return out
	}
	got := measure.Pairwise(seconds(2, 20, 3), seconds(1, 10, 2), measure.Wall)
	if want := (measure.Spread{Median: 2, Low: 1.5, High: 2}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
