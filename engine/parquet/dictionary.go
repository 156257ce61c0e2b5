package parquet

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// The limits of a dictionary in one row group.
const (
	dictMaxValues = 1 << 16
	dictMaxBytes  = 2 << 20
)

// slot is an entry of a hash table: the number of a value plus one (0 is free)
// and its hash, so that most collisions cost no comparison.
type slot struct{ hash, number uint32 }

// dictionary numbers distinct texts in order of first sight. Its hash is seeded
// at random: rows of a stranger cannot make it slow.
type dictionary struct {
	seed    [2]uint64
	slots   []slot
	offsets []int32
	data    []byte
	short   [256]shortSlot
}

// shortSlot remembers a text of 1 to 7 bytes by its bytes and length: codes of a
// few characters are then found without looking at the dictionary. 0 is free.
type shortSlot struct {
	key    uint64
	number uint32
}

const maxShort = 7

// addAt is add for the text data[from:end].
func (d *dictionary) addAt(data []byte, from, end int32) (uint32, bool) {
	n := uint(end - from)
	if n-1 >= maxShort || int(from)+8 > len(data) {
		return d.add(data[from:end])
	}
	key := binary.LittleEndian.Uint64(data[from:])&(1<<(8*n)-1) | uint64(n)<<56
	s := &d.short[key*0x9e3779b97f4a7c15>>56]
	if s.key == key {
		return s.number, true
	}
	number, ok := d.add(data[from:end])
	if ok {
		*s = shortSlot{key, number}
	}
	return number, ok
}

func newDictionary() *dictionary {
	return &dictionary{
		seed:    [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1},
		slots:   make([]slot, 1<<10),
		offsets: []int32{0},
	}
}

func (d *dictionary) len() int { return len(d.offsets) - 1 }

func (d *dictionary) value(i int) []byte { return d.data[d.offsets[i]:d.offsets[i+1]] }

// truncate forgets the values from number n on.
func (d *dictionary) truncate(n int) {
	d.offsets = d.offsets[:n+1]
	d.data = d.data[:d.offsets[n]]
	clear(d.short[:])
	d.rehash(len(d.slots))
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func (d *dictionary) hash(p []byte) uint32 {
	n := len(p)
	h := d.seed[0] ^ uint64(n)
	switch {
	case n >= 8:
		for q := p; len(q) > 8; q = q[8:] {
			h = fold(h^binary.LittleEndian.Uint64(q), d.seed[1])
		}
		h = fold(h^binary.LittleEndian.Uint64(p[n-8:]), d.seed[1])
	case n >= 4:
		h = fold(h^uint64(binary.LittleEndian.Uint32(p))^uint64(binary.LittleEndian.Uint32(p[n-4:]))<<32, d.seed[1])
	case n > 0:
		h = fold(h^uint64(p[0])^uint64(p[n>>1])<<8^uint64(p[n-1])<<16, d.seed[1])
	}
	h = fold(h, d.seed[0])
	return uint32(h) ^ uint32(h>>32)
}

// add gives the number of a text, and false when the dictionary is full.
func (d *dictionary) add(text []byte) (uint32, bool) {
	mask := uint32(len(d.slots) - 1)
	h := d.hash(text)
	at := h & mask
	for ; d.slots[at].number != 0; at = (at + 1) & mask {
		if s := d.slots[at]; s.hash == h && string(d.value(int(s.number-1))) == string(text) {
			return s.number - 1, true
		}
	}
	if d.len() >= dictMaxValues || len(d.data)+len(text) > dictMaxBytes {
		return 0, false
	}
	d.data = append(d.data, text...)
	d.offsets = append(d.offsets, int32(len(d.data)))
	d.slots[at] = slot{h, uint32(d.len())}
	if d.len()*2 > len(d.slots) {
		d.rehash(len(d.slots) * 2)
	}
	return uint32(d.len() - 1), true
}

func (d *dictionary) rehash(size int) {
	d.slots = cleared(d.slots, size)
	mask := uint32(size - 1)
	for i := range d.len() {
		h := d.hash(d.value(i))
		at := h & mask
		for d.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = slot{h, uint32(i + 1)}
	}
}

func cleared(slots []slot, size int) []slot {
	if len(slots) != size {
		return make([]slot, size)
	}
	clear(slots)
	return slots
}

// numbers numbers distinct 64-bit values, for doubles by their bits.
type numbers struct {
	seed   uint64
	slots  []slot
	values []uint64
}

func newNumbers() *numbers {
	return &numbers{seed: rand.Uint64() | 1, slots: make([]slot, 1<<10)}
}

func (d *numbers) truncate(n int) {
	d.values = d.values[:n]
	d.rehash(len(d.slots))
}

func (d *numbers) hash(v uint64) uint32 { return uint32(fold(v^d.seed, d.seed) >> 8) }

func (d *numbers) add(v uint64) (uint32, bool) {
	mask := uint32(len(d.slots) - 1)
	h := d.hash(v)
	at := h & mask
	for ; d.slots[at].number != 0; at = (at + 1) & mask {
		if s := d.slots[at]; s.hash == h && d.values[s.number-1] == v {
			return s.number - 1, true
		}
	}
	if len(d.values) >= dictMaxValues {
		return 0, false
	}
	d.values = append(d.values, v)
	d.slots[at] = slot{h, uint32(len(d.values))}
	if len(d.values)*2 > len(d.slots) {
		d.rehash(len(d.slots) * 2)
	}
	return uint32(len(d.values) - 1), true
}

func (d *numbers) rehash(size int) {
	d.slots = cleared(d.slots, size)
	mask := uint32(size - 1)
	for i, v := range d.values {
		h := d.hash(v)
		at := h & mask
		for d.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = slot{h, uint32(i + 1)}
	}
}
