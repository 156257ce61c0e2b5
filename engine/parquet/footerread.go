package parquet

import "fmt"

// footer is FileMetaData as far as File needs it.
type footer struct {
	elements []element // without the root
	groups   []groupMeta
	rows     int64
	meta     map[string]string
	sumAt    int // where the checksum's digits are
}

type element struct {
	name       string
	physical   int32 // -1 of a group
	scale      int32
	length     int32
	repetition int32
	children   int32
	converted  int32 // -1 without
	logical    logicalType
}

type groupMeta struct {
	rows   int64
	chunks []chunkMeta
}

// chunkMeta is a column chunk: where it lies and what it holds.
type chunkMeta struct {
	codec      int32
	physical   int32
	rows       int64
	size       int64
	dictOffset int64
	dataOffset int64
	headers    string // checksum of the page headers
	elsewhere  bool   // in another file
	encrypted  bool
}

func (c *chunkMeta) start() int64 {
	if c.dictOffset != 0 {
		return c.dictOffset
	}
	return c.dataOffset
}

func (c *chunkMeta) within(end int64) bool {
	start := c.start()
	return start >= int64(len(magic)) && c.size >= 0 && start <= end && c.size <= end-start
}

func readFooter(p []byte) (*footer, error) {
	f := &footer{meta: map[string]string{}}
	r := &thriftReader{buf: p}
	r.fields(func(id int16, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			r.each(func() { f.elements = append(f.elements, readElement(r)) })
		case id == 3:
			f.rows = r.varint()
		case id == 4 && kind == thriftList:
			r.each(func() { f.groups = append(f.groups, readGroup(r)) })
		case id == 5 && kind == thriftList:
			r.each(func() {
				key, value := readEntry(r)
				if key == footerKey {
					f.sumAt = len(p) - len(r.buf) - len(value) - 1 // the entry's end marker follows
				}
				f.meta[key] = value
			})
		default:
			return false
		}
		return true
	})
	if r.bad || len(f.elements) == 0 {
		return nil, fmt.Errorf("%w: its footer cannot be read", ErrCorrupt)
	}
	if f.sumAt < 0 || f.sumAt+len(noSum) > len(p) {
		f.sumAt = 0
	}
	f.elements = f.elements[1:]
	return f, nil
}

func readEntry(r *thriftReader) (key, value string) {
	r.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			key = r.text()
		case id == 2 && kind == thriftBinary:
			value = r.text()
		default:
			return false
		}
		return true
	})
	return key, value
}

func readElement(r *thriftReader) element {
	e := element{physical: -1, converted: -1}
	r.fields(func(id int16, kind byte) bool {
		switch id {
		case 1:
			e.physical = int32(r.varint())
		case 2:
			e.length = int32(r.varint())
		case 3:
			e.repetition = int32(r.varint())
		case 4:
			e.name = r.text()
		case 5:
			e.children = int32(r.varint())
		case 6:
			e.converted = int32(r.varint())
		case 7:
			e.scale = int32(r.varint())
		case 10:
			if kind != thriftStruct {
				return false
			}
			e.logical = readLogical(r)
		default:
			return false
		}
		return true
	})
	return e
}

func readGroup(r *thriftReader) groupMeta {
	var g groupMeta
	r.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			r.each(func() { g.chunks = append(g.chunks, readColumnChunk(r)) })
		case id == 3:
			g.rows = r.varint()
		default:
			return false
		}
		return true
	})
	return g
}

func readColumnChunk(r *thriftReader) chunkMeta {
	var c chunkMeta
	r.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			c.elsewhere = len(r.bytes()) > 0
		case id == 3 && kind == thriftStruct:
			readChunkMeta(r, &c)
		case id == 8:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	return c
}

func readChunkMeta(r *thriftReader, c *chunkMeta) {
	r.fields(func(id int16, kind byte) bool {
		switch id {
		case 1:
			c.physical = int32(r.varint())
		case 4:
			c.codec = int32(r.varint())
		case 5:
			c.rows = r.varint()
		case 7:
			c.size = r.varint()
		case 8:
			if kind != thriftList {
				return false
			}
			r.each(func() {
				if key, value := readEntry(r); key == headersKey {
					c.headers = value
				}
			})
		case 9:
			c.dataOffset = r.varint()
		case 11:
			c.dictOffset = r.varint()
		default:
			return false
		}
		return true
	})
}
