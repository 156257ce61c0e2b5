package parquet

import "encoding/binary"

// Thrift's compact protocol, as far as Parquet's footer and page headers need it.

const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thriftWriter appends structs. The field number before the current one is kept
// per nesting level.
type thriftWriter struct {
	buf  []byte
	last []int16
}

func (w *thriftWriter) begin() { w.last = append(w.last, 0) }

func (w *thriftWriter) end() {
	w.buf = append(w.buf, 0)
	w.last = w.last[:len(w.last)-1]
}

func (w *thriftWriter) field(id int16, kind byte) {
	top := len(w.last) - 1
	if delta := id - w.last[top]; delta > 0 && delta <= 15 {
		w.buf = append(w.buf, byte(delta)<<4|kind)
	} else {
		w.buf = append(w.buf, kind)
		w.buf = binary.AppendVarint(w.buf, int64(id))
	}
	w.last[top] = id
}

func (w *thriftWriter) i32(id int16, v int32) {
	w.field(id, thriftI32)
	w.buf = binary.AppendVarint(w.buf, int64(v))
}

func (w *thriftWriter) i64(id int16, v int64) {
	w.field(id, thriftI64)
	w.buf = binary.AppendVarint(w.buf, v)
}

func (w *thriftWriter) flag(id int16, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	w.field(id, kind)
}

func (w *thriftWriter) text(id int16, v string) {
	w.field(id, thriftBinary)
	w.bareText(v)
}

func (w *thriftWriter) bareText(v string) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(v)))
	w.buf = append(w.buf, v...)
}

func (w *thriftWriter) list(id int16, kind byte, n int) {
	w.field(id, thriftList)
	if n < 15 {
		w.buf = append(w.buf, byte(n)<<4|kind)
		return
	}
	w.buf = append(w.buf, 0xf0|kind)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
}

// structField opens a struct as a field; end closes it.
func (w *thriftWriter) structField(id int16) {
	w.field(id, thriftStruct)
	w.begin()
}

// thriftReader reads structs field by field. After an error every value is zero.
type thriftReader struct {
	buf   []byte
	bad   bool
	depth int
}

func (r *thriftReader) byte() byte {
	if len(r.buf) == 0 {
		r.bad = true
		return 0
	}
	b := r.buf[0]
	r.buf = r.buf[1:]
	return b
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.bad, r.buf = true, nil
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *thriftReader) varint() int64 {
	v, n := binary.Varint(r.buf)
	if n <= 0 {
		r.bad, r.buf = true, nil
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *thriftReader) text() string { return string(r.bytes()) }

func (r *thriftReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.buf)) {
		r.bad, r.buf = true, nil
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

// fields reads a struct: visit reads the fields it knows and answers true; the
// others are skipped.
func (r *thriftReader) fields(visit func(id int16, kind byte) bool) {
	if r.depth++; r.depth > 32 {
		r.bad = true
	}
	defer func() { r.depth-- }()
	id := int16(0)
	for !r.bad {
		head := r.byte()
		if head == 0 {
			return
		}
		if delta := int16(head >> 4); delta != 0 {
			id += delta
		} else {
			id = int16(r.varint())
		}
		if kind := head & 15; !visit(id, kind) {
			r.skip(kind)
		}
	}
}

// each reads a list of n items.
func (r *thriftReader) each(item func()) {
	if r.depth++; r.depth > 32 {
		r.bad = true
	}
	defer func() { r.depth-- }()
	head := r.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	if n > uint64(len(r.buf)) {
		r.bad = true
	}
	for i := uint64(0); i < n && !r.bad; i++ {
		item()
	}
}

func (r *thriftReader) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		r.byte()
	case 4, thriftI32, thriftI64:
		r.varint()
	case thriftDouble:
		for range 8 {
			r.byte()
		}
	case thriftBinary:
		r.bytes()
	case thriftList, 10:
		r.skipList()
	case thriftStruct:
		r.fields(func(int16, byte) bool { return false })
	default:
		r.bad = true
	}
}

func (r *thriftReader) skipList() {
	if len(r.buf) == 0 {
		r.bad = true
		return
	}
	kind := r.buf[0] & 15
	r.each(func() {
		if kind == thriftTrue || kind == thriftFalse {
			r.byte()
			return
		}
		r.skip(kind)
	})
}
