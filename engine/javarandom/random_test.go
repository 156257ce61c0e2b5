package javarandom_test

import (
	"testing"

	"sluice/engine/javarandom"
)

// The expected numbers are those that java.util.Random documents by its
// algorithm; -1170105035 and 234785527 are the well-known start for seed 42.
func TestSequences(t *testing.T) {
	r := javarandom.New(42)
	for n, want := range []int32{-1170105035, 234785527, -1360544799, 205897768} {
		if got := r.Int32(); got != want {
			t.Errorf("number %d: got %d, want %d", n+1, got, want)
		}
	}
	if got, want := javarandom.New(42).Int64(), int64(-5025562857975149833); got != want {
		t.Errorf("Int64: got %d, want %d", got, want)
	}
	if got, want := javarandom.New(42).Float64(), 0.7275636800328681; got != want {
		t.Errorf("Float64: got %v, want %v", got, want)
	}
}
