package parquet

import (
	"encoding/binary"
	"math/bits"

	"sluice/engine/batch"
)

// The RLE / bit-packing hybrid of dictionary indexes and definition levels.

// appendIndexes appends indexes as one run: repeated when all are the same, else
// bit-packed.
func appendIndexes(dst []byte, indexes []uint32, width uint) []byte {
	var or uint32
	for _, v := range indexes {
		or |= v ^ indexes[0]
	}
	if or == 0 {
		dst = binary.AppendUvarint(dst, uint64(len(indexes))<<1)
		for b := uint(0); b < width; b += 8 {
			dst = append(dst, byte(indexes[0]>>b))
		}
		return dst
	}
	groups := (len(indexes) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	whole := len(indexes) &^ 7
	dst = appendPacked(dst, indexes[:whole], width)
	if whole < len(indexes) {
		var last [8]uint32
		copy(last[:], indexes[whole:])
		dst = appendPacked(dst, last[:], width)
	}
	return dst
}

// readIndexes fills dst with values of a bit width.
func readIndexes(dst []uint32, p []byte, width uint) bool {
	r := thriftReader{buf: p}
	for len(dst) > 0 {
		head := r.uvarint()
		if r.bad || head>>1 == 0 || head>>1 > maxPageRows {
			return false
		}
		count := int(head >> 1)
		if head&1 == 1 {
			size := count * int(width)
			if size > len(r.buf) {
				return false
			}
			n := min(len(dst), count*8)
			unpack(dst[:n], r.buf, width)
			dst, r.buf = dst[n:], r.buf[size:]
			continue
		}
		size := int(width+7) / 8
		if size > len(r.buf) {
			return false
		}
		var v uint32
		for i := size - 1; i >= 0; i-- {
			v = v<<8 | uint32(r.buf[i])
		}
		r.buf = r.buf[size:]
		n := min(len(dst), count)
		for i := range n {
			dst[i] = v
		}
		dst = dst[n:]
	}
	return len(r.buf) == 0
}

// appendLevels appends the definition levels of n rows: one level for all of
// them, or the bits of a validity bitmap.
func appendLevels(dst []byte, valid batch.Bitmap, nulls, n int) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if nulls == 0 || nulls == n {
		level := byte(1)
		if nulls == n {
			level = 0
		}
		dst = binary.AppendUvarint(dst, uint64(n)<<1)
		dst = append(dst, level)
	} else {
		groups := (n + 7) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		dst = append(dst, valid[:groups]...)
		if r := n & 7; r != 0 {
			dst[len(dst)-1] &= 1<<r - 1
		}
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// levels are the definition levels of a page: which rows hold a value.
type levels struct {
	valid   batch.Bitmap // of all rows; of use only when some are null and some are not
	rows    int
	present int
}

// readLevels reads the levels of n rows and gives the bytes behind them.
func readLevels(p []byte, n int) (l levels, rest []byte, ok bool) {
	if len(p) < 4 {
		return l, nil, false
	}
	size := binary.LittleEndian.Uint32(p)
	if uint64(size) > uint64(len(p)-4) {
		return l, nil, false
	}
	body, rest := p[4:4+size], p[4+size:]
	l.rows = n
	head, k := binary.Uvarint(body)
	switch {
	case k <= 0:
		return l, nil, false
	case head&1 == 0:
		if head>>1 != uint64(n) || len(body) != k+1 || body[k] > 1 {
			return l, nil, false
		}
		l.present = n * int(body[k])
		return l, rest, true
	}
	if groups := (n + 7) / 8; head>>1 != uint64(groups) || len(body) != k+groups {
		return l, nil, false
	}
	l.valid = batch.Bitmap(body[k:])
	i := 0
	for ; i+8 <= len(l.valid) && (i+8)*8 <= n; i += 8 {
		l.present += bits.OnesCount64(binary.LittleEndian.Uint64(l.valid[i:]))
	}
	for row := i * 8; row < n; row++ {
		if l.valid.Get(row) {
			l.present++
		}
	}
	return l, rest, true
}
