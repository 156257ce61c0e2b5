package batch

import "math/bits"

// Bitmap holds one bit per row, least significant bit first, as Arrow's validity
// buffers do. A nil Bitmap stands for all ones.
type Bitmap []byte

// Get reads bit i; a nil Bitmap answers true.
func (m Bitmap) Get(i int) bool { return m == nil || m[i>>3]&(1<<(i&7)) != 0 }

// Set writes bit i, which must be within the bitmap.
func (m Bitmap) Set(i int, v bool) {
	if v {
		m[i>>3] |= 1 << (i & 7)
	} else {
		m[i>>3] &^= 1 << (i & 7)
	}
}

// grow returns the bitmap with room for n bits; new bits are fill.
func (m Bitmap) grow(from, n int, fill bool) Bitmap {
	need := (n + 7) >> 3
	for len(m) < need {
		m = append(m, 0)
	}
	for i := from; i < n; i++ {
		if i&7 == 0 && i+8 <= n {
			if fill {
				m[i>>3] = 0xff
			} else {
				m[i>>3] = 0
			}
			i += 7
			continue
		}
		m.Set(i, fill)
	}
	return m
}

// Count gives the number of ones among the first n bits.
func (m Bitmap) Count(n int) int {
	if m == nil {
		return n
	}
	c := 0
	for i := range n >> 3 {
		c += bits.OnesCount8(m[i])
	}
	if r := n & 7; r != 0 {
		c += bits.OnesCount8(m[n>>3] & (1<<r - 1))
	}
	return c
}
