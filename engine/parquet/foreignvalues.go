package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
)

// valueReader reads the values of a page.
type valueReader interface {
	// read appends n values; false when they are not there.
	read(v *Values, n int) bool
}

// decoder opens the values of a page.
func (l *Leaf) decoder(encoding int32, p []byte, dictionary *Values) (valueReader, error) {
	whole := l.Physical == Int32 || l.Physical == Int64
	switch {
	case encoding == encPlain:
		return l.plain(p), nil
	case encoding == encPlainDictionary || encoding == encDictionary:
		return openIndexes(p, dictionary)
	case encoding == encRLE && l.Physical == Boolean:
		if len(p) < 4 {
			return nil, errPage
		}
		return &flagRuns{in: hybrid{p: p[4:], width: 1}}, nil // its length is that of the page
	case encoding == encDelta && whole:
		d, ok := newDelta(p)
		return &deltaInts{in: d, narrow: l.Physical == Int32}, orPage(ok)
	case encoding == encDeltaLength && l.Physical == ByteArray:
		return openLengths(p)
	case encoding == encDeltaBytes && (l.Physical == ByteArray || l.Physical == Fixed):
		return openPrefixes(p, l)
	case encoding == encSplit && l.width() > 0:
		return &split{leaf: l, p: p, count: len(p) / l.width()}, nil
	}
	return nil, fmt.Errorf("parquet: the encoding %d of %s values is not known", encoding, l.Physical)
}

func orPage(ok bool) error {
	if !ok {
		return errPage
	}
	return nil
}

// width is the number of bytes of every value; 0 when they differ.
func (l *Leaf) width() int {
	switch l.Physical {
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Fixed, Int96:
		return l.Length
	}
	return 0
}

func (l *Leaf) plain(p []byte) valueReader {
	switch l.Physical {
	case Boolean:
		return &plainFlags{p: p}
	case ByteArray:
		return &plainBytes{p}
	}
	return &plainFixed{leaf: l, p: p}
}

// plainFixed reads values of one width.
type plainFixed struct {
	leaf *Leaf
	p    []byte
}

func (r *plainFixed) read(v *Values, n int) bool {
	w := r.leaf.width()
	if n > len(r.p)/w {
		return false
	}
	p := r.p[:n*w]
	r.p = r.p[n*w:]
	switch r.leaf.Physical {
	case Int32:
		for ; len(p) >= 4; p = p[4:] {
			v.Ints = append(v.Ints, int64(int32(binary.LittleEndian.Uint32(p))))
		}
	case Int64:
		for ; len(p) >= 8; p = p[8:] {
			v.Ints = append(v.Ints, int64(binary.LittleEndian.Uint64(p)))
		}
	case Float:
		for ; len(p) >= 4; p = p[4:] {
			v.Floats = append(v.Floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(p))))
		}
	case Double:
		for ; len(p) >= 8; p = p[8:] {
			v.Floats = append(v.Floats, math.Float64frombits(binary.LittleEndian.Uint64(p)))
		}
	default:
		for ; len(p) >= w; p = p[w:] {
			v.Bytes = append(v.Bytes, p[:w:w])
		}
	}
	return true
}

type plainFlags struct {
	p  []byte
	at int
}

func (r *plainFlags) read(v *Values, n int) bool {
	if n > len(r.p)*8-r.at {
		return false
	}
	for range n {
		v.Flags = append(v.Flags, r.p[r.at>>3]>>(r.at&7)&1 != 0)
		r.at++
	}
	return true
}

// plainBytes reads byte arrays that follow their lengths.
type plainBytes struct{ p []byte }

func (r *plainBytes) read(v *Values, n int) bool {
	for range n {
		text, rest, ok := cutText(r.p)
		if !ok {
			return false
		}
		v.Bytes = append(v.Bytes, text)
		r.p = rest
	}
	return true
}

// flagRuns reads BOOLEANs as runs.
type flagRuns struct {
	in  hybrid
	buf []uint32
}

func (r *flagRuns) read(v *Values, n int) bool {
	buf := grown(&r.buf, n)
	if !r.in.read(buf) {
		return false
	}
	for _, b := range buf {
		v.Flags = append(v.Flags, b != 0)
	}
	return true
}

// indexes reads values of a dictionary.
type indexes struct {
	in   hybrid
	from *Values
	buf  []uint32
}

func openIndexes(p []byte, dictionary *Values) (valueReader, error) {
	switch {
	case len(p) == 0:
		return &indexes{from: &Values{}}, nil // a page of nulls
	case p[0] > 32 || dictionary == nil:
		return nil, errPage
	}
	return &indexes{in: hybrid{p: p[1:], width: uint(p[0])}, from: dictionary}, nil
}

func (r *indexes) read(v *Values, n int) bool {
	idx := grown(&r.buf, n)
	if !r.in.read(idx) {
		return false
	}
	ok := true
	switch {
	case n == 0:
	case r.from.Ints != nil:
		v.Ints, ok = look(v.Ints, r.from.Ints, idx)
	case r.from.Floats != nil:
		v.Floats, ok = look(v.Floats, r.from.Floats, idx)
	case r.from.Bytes != nil:
		v.Bytes, ok = look(v.Bytes, r.from.Bytes, idx)
	default:
		v.Flags, ok = look(v.Flags, r.from.Flags, idx)
	}
	return ok
}

func look[T any](dst, from []T, idx []uint32) ([]T, bool) {
	for _, k := range idx {
		if uint64(k) >= uint64(len(from)) {
			return dst, false
		}
		dst = append(dst, from[k])
	}
	return dst, true
}

// deltaInts reads DELTA_BINARY_PACKED integers.
type deltaInts struct {
	in     delta
	narrow bool
	buf    []int64
}

func (r *deltaInts) read(v *Values, n int) bool {
	buf := grown(&r.buf, n)
	if !r.in.read(buf) {
		return false
	}
	for _, i := range buf {
		if r.narrow {
			i = int64(int32(i))
		}
		v.Ints = append(v.Ints, i)
	}
	return true
}

// lengths reads DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type lengths struct {
	in  delta
	p   []byte
	buf []int64
}

func openLengths(p []byte) (*lengths, error) {
	d, ok := newDelta(p)
	if !ok {
		return nil, errPage
	}
	rest, ok := d.behind()
	return &lengths{in: d, p: rest}, orPage(ok)
}

func (r *lengths) read(v *Values, n int) bool {
	buf := grown(&r.buf, n)
	if !r.in.read(buf) {
		return false
	}
	for _, size := range buf {
		if size < 0 || size > int64(len(r.p)) {
			return false
		}
		v.Bytes = append(v.Bytes, r.p[:size:size])
		r.p = r.p[size:]
	}
	return true
}

// prefixes reads DELTA_BYTE_ARRAY: how much of the value before begins a value, and
// the rest of it.
type prefixes struct {
	in    delta
	rest  *lengths
	size  int // of every value; 0 when they differ
	last  []byte
	arena []byte // holds the values of one read
	buf   []int64
	tails Values
}

func openPrefixes(p []byte, l *Leaf) (*prefixes, error) {
	d, ok := newDelta(p)
	if !ok {
		return nil, errPage
	}
	rest, ok := d.behind()
	if !ok {
		return nil, errPage
	}
	tails, err := openLengths(rest)
	return &prefixes{in: d, rest: tails, size: l.width()}, err
}

func (r *prefixes) read(v *Values, n int) bool {
	buf := grown(&r.buf, n)
	r.tails.reset()
	if !r.in.read(buf) || !r.rest.read(&r.tails, n) {
		return false
	}
	last := append([]byte(nil), r.last...)
	r.arena = r.arena[:0]
	for i, tail := range r.tails.Bytes {
		size := buf[i] + int64(len(tail))
		if buf[i] < 0 || buf[i] > int64(len(last)) || int64(len(r.arena))+size > maxPageBytes || r.size > 0 && size != int64(r.size) {
			return false
		}
		at := len(r.arena)
		r.arena = append(append(r.arena, last[:buf[i]]...), tail...)
		last = r.arena[at:len(r.arena):len(r.arena)]
		v.Bytes = append(v.Bytes, last)
	}
	r.last = append(r.last[:0], last...)
	return true
}

// split reads BYTE_STREAM_SPLIT: the first bytes of all values, then the second
// ones, and so on.
type split struct {
	leaf      *Leaf
	p         []byte
	count, at int
}

func (r *split) read(v *Values, n int) bool {
	w := r.leaf.width()
	if n > r.count-r.at {
		return false
	}
	values := make([]byte, n*w)
	for b := range w {
		for i, c := range r.p[b*r.count+r.at:][:n] {
			values[i*w+b] = c
		}
	}
	r.at += n
	return (&plainFixed{leaf: r.leaf, p: values}).read(v, n)
}
