package parquet

import (
	"encoding/binary"
	"slices"
)

// packed is what bit-packing works on: dictionary indexes and deltas.
type packed interface{ ~uint32 | ~uint64 }

// appendPacked appends values of w bits, least significant first. The number of
// values is a multiple of eight, so whole bytes come out.
func appendPacked[T packed](dst []byte, values []T, w uint) []byte {
	if w == 0 {
		return dst
	}
	at, size := len(dst), len(values)*int(w)/8
	dst = slices.Grow(dst, size+8)[:at+size+8]
	out := dst[at:]
	var acc uint64
	var have uint
	o := 0
	for _, v := range values {
		acc |= uint64(v) << have
		if have += w; have >= 64 {
			binary.LittleEndian.PutUint64(out[o:], acc)
			o += 8
			have -= 64
			acc = uint64(v) >> (w - have)
		}
	}
	binary.LittleEndian.PutUint64(out[o:], acc)
	return dst[:at+size]
}

// unpack fills dst with values of w bits. p holds them whole; bytes behind them
// are harmless and make it faster.
func unpack[T packed](dst []T, p []byte, w uint) {
	if w == 0 {
		clear(dst)
		return
	}
	mask := ^uint64(0) >> (64 - w)
	bit, i := uint(0), 0
	if w <= 57 && len(p) >= 8 {
		fast := min(len(dst), int(uint(len(p)-8)*8/w))
		for i < fast {
			dst[i] = T(binary.LittleEndian.Uint64(p[bit>>3:]) >> (bit & 7) & mask)
			bit += w
			i++
		}
	}
	for ; i < len(dst); i++ {
		dst[i] = T(bitsAt(p, bit) & mask)
		bit += w
	}
}

// bitsAt reads up to 64 bits from a bit position, zeros behind the end.
func bitsAt(p []byte, bit uint) uint64 {
	at, shift := int(bit>>3), bit&7
	var v uint64
	for i := min(at+8, len(p)) - 1; i >= at; i-- {
		v = v<<8 | uint64(p[i])
	}
	v >>= shift
	if shift > 0 && at+8 < len(p) {
		v |= uint64(p[at+8]) << (64 - shift)
	}
	return v
}
