package text

import (
	"math/rand/v2"
	"testing"
)

// Short decimals are read at once to what reading them digit by digit gives, whatever
// follows them in the block.
func TestShortDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const letters = "00123456789..-x "
	plain := 0
	for range 200_000 {
		n := 1 + r.IntN(9)
		data := make([]byte, n+padding)
		for i := range data {
			data[i] = letters[r.IntN(len(letters))]
		}
		w := column{data: data}
		v, scale, ok := w.plainDecimal(span{0, uint32(n)})
		wantV, wantScale, wantOK := plainDecimal(data[:n])
		if ok != wantOK || ok && (v != wantV || scale != wantScale) {
			t.Fatalf("%q is read as %d, scale %d, %v; want %d, scale %d, %v", data[:n], v, scale, ok, wantV, wantScale, wantOK)
		}
		if ok {
			plain++
		}
	}
	if plain < 20_000 {
		t.Errorf("only %d of the texts are decimals", plain)
	}
}
