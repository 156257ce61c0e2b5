package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"
)

// The library reads back what was written as literals, whatever they are.
func TestLiteralsAreZstandard(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	var s huff0.Scratch
	for _, n := range []int{0, 1, 255, 256, 1023, 1024, 65_791, 65_792, literalsBlock - 1, literalsBlock, literalsBlock + 1, 5*literalsBlock + 77} {
		for name, letter := range map[string]func() byte{
			"hex digits": func() byte { return "0123456789abcdef"[r.IntN(16)] },
			"one byte":   func() byte { return 'x' },
			"random":     func() byte { return byte(r.Uint32()) },
			"skewed":     func() byte { return byte(r.ExpFloat64() * 3) },
		} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				body := make([]byte, n)
				for i := range body {
					body[i] = letter()
				}
				frame := appendLiterals([]byte("before"), body, &s)[len("before"):]
				var h zstd.Header
				if err := h.Decode(frame); err != nil || !h.HasFCS || h.FrameContentSize != uint64(n) {
					t.Fatalf("header %+v of %d bytes: %v", h, n, err)
				}
				got, err := dec.DecodeAll(frame, nil)
				if err != nil || !bytes.Equal(got, body) {
					t.Fatalf("%d bytes are read back as %d: %v", n, len(got), err)
				}
				if name == "hex digits" && n >= 4*leastLiterals && len(frame) > n*55/100 {
					t.Errorf("%d hex digits take %d bytes", n, len(frame))
				}
			})
		}
	}
}
