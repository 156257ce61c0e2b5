package parquet

import (
	"encoding/binary"
	"math/bits"
)

// DELTA_BINARY_PACKED: blocks of 128 values in four miniblocks of 32.

const (
	deltaBlock = 128
	deltaMini  = 32
	deltaMinis = deltaBlock / deltaMini
)

// appendDelta appends values. Differences wrap around, as the format says.
func appendDelta(dst []byte, values []int64) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(dst, 0)
	}
	dst = binary.AppendVarint(dst, values[0])
	var d [deltaBlock]uint64
	for rest := values; len(rest) > 1; {
		n := min(deltaBlock, len(rest)-1)
		lowest := int64(1<<63 - 1)
		prev := rest[0]
		for i, v := range rest[1 : n+1] {
			diff := v - prev
			prev = v
			d[i] = uint64(diff)
			lowest = min(lowest, diff)
		}
		rest = rest[n:]
		for i := n; i < deltaBlock; i++ {
			d[i] = uint64(lowest)
		}
		dst = binary.AppendVarint(dst, lowest)
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		for m := 0; m*deltaMini < n; m++ {
			mini := d[m*deltaMini : (m+1)*deltaMini]
			var or uint64
			for i := range mini {
				mini[i] -= uint64(lowest)
				or |= mini[i]
			}
			w := uint(bits.Len64(or))
			dst[at+m] = byte(w)
			dst = appendPacked(dst, mini, w)
		}
	}
	return dst
}

// readDelta fills dst, whose length the page must state, and gives the bytes
// behind the values.
func readDelta(dst []int64, p []byte) ([]byte, bool) {
	r := thriftReader{buf: p}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	prev := r.varint()
	if r.bad || block != deltaBlock || minis != deltaMinis || total != uint64(len(dst)) {
		return nil, false
	}
	if len(dst) == 0 {
		return r.buf, true
	}
	dst[0] = prev
	dst = dst[1:]
	var d [deltaMini]uint64
	for len(dst) > 0 {
		lowest := r.varint()
		if r.bad || len(r.buf) < deltaMinis {
			return nil, false
		}
		widths := r.buf[:deltaMinis]
		r.buf = r.buf[deltaMinis:]
		for m := 0; m < deltaMinis && len(dst) > 0; m++ {
			w := uint(widths[m])
			size := int(w) * deltaMini / 8
			if w > 64 || len(r.buf) < size {
				return nil, false
			}
			n := min(len(dst), deltaMini)
			unpack(d[:n], r.buf, w)
			for i, v := range d[:n] {
				prev += lowest + int64(v)
				dst[i] = prev
			}
			dst = dst[n:]
			r.buf = r.buf[size:]
		}
	}
	return r.buf, true
}
