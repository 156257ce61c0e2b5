package relation

import (
	"encoding/binary"
	"math/bits"
)

// index numbers distinct keys in the order of first sight. Keys are bytes; their
// text is kept in blocks that never move.
type index struct {
	slots  []uint64 // hash in the upper half, number+1 in the lower; 0 is free
	mask   uint32
	refs   []keyRef
	blocks [][]byte
	held   int64 // bytes of the blocks
}

// keyRef is where the bytes of a key are.
type keyRef struct{ block, from, len uint32 }

const (
	firstSlots = 1 << 10
	keyBlock   = 64 << 10
)

func newIndex() *index { return &index{slots: make([]uint64, firstSlots), mask: firstSlots - 1} }

func (x *index) len() int { return len(x.refs) }

// key gives the bytes of key number n; they stay the index's.
func (x *index) key(n int) []byte {
	r := x.refs[n]
	return x.blocks[r.block][r.from : r.from+r.len]
}

// bytes is the memory in use.
func (x *index) bytes() int64 { return int64(8*len(x.slots)+12*cap(x.refs)) + x.held }

// guess appends to dst, for each hash, the number of the first key with that hash,
// -1 when there is none. Looking at many slots and keys one after another without
// comparing asks memory for them at once; find and put then have them in cache.
func (x *index) guess(dst []int32, hashes []uint32) []int32 {
	from := len(dst)
	for _, hash := range hashes {
		n := int32(-1)
		for at := hash & x.mask; ; at = (at + 1) & x.mask {
			s := x.slots[at]
			if s == 0 {
				break
			}
			if uint32(s>>32) == hash {
				n = int32(uint32(s)) - 1
				break
			}
		}
		dst = append(dst, n)
	}
	seen := byte(1)
	for _, n := range dst[from:] {
		if n >= 0 && x.refs[n].len > 0 {
			seen |= x.blocks[x.refs[n].block][x.refs[n].from]
		}
	}
	if seen == 0 {
		return dst[:from] // never: it keeps the reads
	}
	return dst
}

// is says whether a guess is the key.
func (x *index) is(guess int32, key []byte) bool {
	return guess >= 0 && string(x.key(int(guess))) == string(key)
}

// find gives the number of a key, -1 when it is not there.
func (x *index) find(hash uint32, key []byte) int {
	for at := hash & x.mask; ; at = (at + 1) & x.mask {
		s := x.slots[at]
		if s == 0 {
			return -1
		}
		if uint32(s>>32) == hash {
			if n := int(uint32(s)) - 1; string(x.key(n)) == string(key) {
				return n
			}
		}
	}
}

// put gives the number of a key, a new one when it was not found.
func (x *index) put(hash uint32, key []byte) (n int, found bool) {
	at := hash & x.mask
	for ; x.slots[at] != 0; at = (at + 1) & x.mask {
		if s := x.slots[at]; uint32(s>>32) == hash {
			if n := int(uint32(s)) - 1; string(x.key(n)) == string(key) {
				return n, true
			}
		}
	}
	n = len(x.refs)
	x.slots[at] = uint64(hash)<<32 | uint64(n+1)
	x.keep(key)
	if 2*len(x.refs) > len(x.slots) {
		x.grow()
	}
	return n, false
}

func (x *index) keep(key []byte) {
	last := len(x.blocks) - 1
	if last < 0 || len(x.blocks[last])+len(key) > cap(x.blocks[last]) {
		size := max(keyBlock, len(key))
		x.blocks = append(x.blocks, make([]byte, 0, size))
		x.held += int64(size)
		last++
	}
	from := len(x.blocks[last])
	x.blocks[last] = append(x.blocks[last], key...)
	x.refs = append(x.refs, keyRef{uint32(last), uint32(from), uint32(len(key))})
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	x.mask = uint32(len(x.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := uint32(s>>32) & x.mask
		for x.slots[at] != 0 {
			at = (at + 1) & x.mask
		}
		x.slots[at] = s
	}
}

// Odd constants with evenly spread bits, for multiply-and-fold hashing.
const (
	hashA = 0x9E3779B97F4A7C15
	hashB = 0xD6E8FEB86659FD93
)

// hashOf spreads the bytes of a key over 32 bits.
func hashOf(b []byte) uint32 {
	h := uint64(len(b)) * hashB
	for len(b) >= 8 {
		h = fold(h^binary.LittleEndian.Uint64(b), hashA)
		b = b[8:]
	}
	var tail uint64
	switch {
	case len(b) >= 4:
		tail = uint64(binary.LittleEndian.Uint32(b))<<32 | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	case len(b) > 0:
		tail = uint64(b[0])<<16 | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])
	}
	h = fold(h^tail^hashA, hashB)
	return uint32(h ^ h>>32)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
