package measure

import (
	"slices"
	"testing"
)

func TestSlowest(t *testing.T) {
	const trace = `init internal/bytealg @0.004 ms, 0 ms clock, 0 bytes, 0 allocs
init a/slow @1.2 ms, 3.5 ms clock, 120 bytes, 3 allocs
some other output
init a/fast @5 ms, 0.25 ms clock, 96 bytes, 1 allocs
`
	want := []initialiser{{"a/slow", 3.5, 120}, {"a/fast", 0.25, 96}}
	if got := slowest(trace, 2); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
