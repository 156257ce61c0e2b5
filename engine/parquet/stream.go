package parquet

import "encoding/binary"

// Readers of foreign pages decode piece by piece: a few bytes may stand for
// millions of rows.

// hybrid reads a run-length and bit-packing hybrid.
type hybrid struct {
	p     []byte // runs to come
	width uint   // bits of a value, up to 32

	left   int // values of the run
	packed bool
	value  uint32 // of a repeated run
	run    []byte // a packed run
	at     int    // value in it

	reversed bool // the most significant bits come first
}

func (h *hybrid) read(dst []uint32) bool {
	for len(dst) > 0 {
		if h.left == 0 && !h.next() {
			return false
		}
		n := min(len(dst), h.left)
		switch {
		case !h.packed:
			for i := range n {
				dst[i] = h.value
			}
		case h.reversed:
			h.unpackReversed(dst[:n])
		default:
			h.unpack(dst[:n])
		}
		h.left -= n
		dst = dst[n:]
	}
	return true
}

// maxRun bounds the values of a run.
const maxRun = 1 << 31

func (h *hybrid) next() bool {
	head, n := binary.Uvarint(h.p)
	if n <= 0 || head>>1 == 0 || head>>1 > maxRun {
		return false
	}
	h.p = h.p[n:]
	h.left, h.packed = int(head>>1), head&1 == 1
	if h.packed {
		size := h.left * int(h.width)
		if size > len(h.p) {
			return false
		}
		h.run, h.p, h.at = h.p[:size], h.p[size:], 0
		h.left *= 8
		return true
	}
	size := int(h.width+7) / 8
	if size > len(h.p) {
		return false
	}
	h.value = uint32(bitsAt(h.p[:size], 0))
	h.p = h.p[size:]
	return true
}

func (h *hybrid) unpack(dst []uint32) {
	if h.width == 0 {
		clear(dst)
		return
	}
	mask := uint32(1<<h.width - 1)
	for len(dst) > 0 && h.at&7 != 0 {
		dst[0] = uint32(bitsAt(h.run, uint(h.at)*h.width)) & mask
		h.at++
		dst = dst[1:]
	}
	unpack(dst, h.run[h.at/8*int(h.width):], h.width)
	h.at += len(dst)
}

func (h *hybrid) unpackReversed(dst []uint32) {
	for i := range dst {
		v := uint32(0)
		for b := range int(h.width) {
			bit := h.at*int(h.width) + b
			v = v<<1 | uint32(h.run[bit>>3]>>(7-bit&7)&1)
		}
		dst[i] = v
		h.at++
	}
}

// delta reads DELTA_BINARY_PACKED integers.
type delta struct {
	p      []byte
	minis  int // miniblocks of a block
	mini   int // values of a miniblock
	left   uint64
	begun  bool
	prev   int64
	lowest int64
	widths []byte   // of the miniblocks to come
	diffs  []uint64 // of the current miniblock
	at     int      // in them
}

// maxMini bounds the values of a miniblock.
const maxMini = 1 << 16

func newDelta(p []byte) (delta, bool) {
	r := thriftReader{buf: p}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	if r.bad || minis == 0 || minis > block || block%minis != 0 || block/minis%8 != 0 || block/minis > maxMini || total > maxRun {
		return delta{}, false
	}
	d := delta{minis: int(minis), mini: int(block / minis), left: total}
	if total > 0 || len(r.buf) > 0 {
		d.prev = r.varint()
	}
	d.p = r.buf
	return d, !r.bad
}

func (d *delta) read(dst []int64) bool {
	if uint64(len(dst)) > d.left {
		return false
	}
	d.left -= uint64(len(dst))
	if len(dst) > 0 && !d.begun {
		d.begun = true
		dst[0] = d.prev
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.at == len(d.diffs) && !d.next() {
			return false
		}
		n := min(len(dst), len(d.diffs)-d.at)
		for i, v := range d.diffs[d.at : d.at+n] {
			d.prev += d.lowest + int64(v)
			dst[i] = d.prev
		}
		d.at += n
		dst = dst[n:]
	}
	return true
}

// next unpacks a miniblock. The last one is as long as the others.
func (d *delta) next() bool {
	if len(d.widths) == 0 {
		r := thriftReader{buf: d.p}
		d.lowest = r.varint()
		if r.bad || len(r.buf) < d.minis {
			return false
		}
		d.widths, d.p = r.buf[:d.minis], r.buf[d.minis:]
	}
	w := uint(d.widths[0])
	size := int(w) * d.mini / 8
	if w > 64 || size > len(d.p) {
		return false
	}
	unpack(grown(&d.diffs, d.mini), d.p, w)
	d.at, d.widths, d.p = 0, d.widths[1:], d.p[size:]
	return true
}

// behind gives the bytes behind the values, which stay unread.
func (d *delta) behind() ([]byte, bool) {
	c := *d
	c.diffs = nil
	var buf [256]int64
	for c.left > 0 {
		if !c.read(buf[:min(c.left, uint64(len(buf)))]) {
			return nil, false
		}
	}
	return c.p, true
}
