package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// The encodings and pages that only foreign files have.
const (
	encPlainDictionary = 2
	encBitPacked       = 4 // of levels; long deprecated
	encDeltaBytes      = 7

	pageDataV2 = 3
)

// foreignPage is a page header.
type foreignPage struct {
	kind              int32
	raw, packed, rows int64
	encoding          int32
	levels            int32 // encoding of the definition levels
	nested, defined   int64 // bytes of the levels of a version 2 page
	plain             bool  // the values are not compressed, whatever the codec
	sum               uint32
	summed            bool
}

// maxPageHeader bounds a page header, which may hold the least and the greatest
// value, in bytes.
const maxPageHeader = 16 << 20

// header reads the next page header, whose size is not known before.
func (r *ColumnReader) header() (foreignPage, error) {
	for size := 256; ; size *= 4 {
		if size > r.in.Size() {
			r.in = bufio.NewReaderSize(r.in, size)
		}
		p, err := r.in.Peek(size)
		if err != nil && !errors.Is(err, io.EOF) {
			return foreignPage{}, err
		}
		t := &thriftReader{buf: p}
		pg := readForeignPage(t)
		if !t.bad {
			_, err := r.in.Discard(len(p) - len(t.buf))
			return pg, err
		}
		if err != nil || size >= maxPageHeader {
			return foreignPage{}, fmt.Errorf("%w: a page header cannot be read", ErrCorrupt)
		}
	}
}

func readForeignPage(t *thriftReader) foreignPage {
	pg := foreignPage{levels: encRLE}
	data := func(id int16, _ byte) bool {
		switch id {
		case 1:
			pg.rows = t.varint()
		case 2:
			pg.encoding = int32(t.varint())
		case 3:
			pg.levels = int32(t.varint())
		default:
			return false
		}
		return true
	}
	dictionary := func(id int16, kind byte) bool { return id < 3 && data(id, kind) }
	version2 := func(id int16, kind byte) bool {
		switch id {
		case 1:
			pg.rows = t.varint()
		case 4:
			pg.encoding = int32(t.varint())
		case 5:
			pg.defined = t.varint()
		case 6:
			pg.nested = t.varint()
		case 7:
			pg.plain = kind == thriftFalse
		default:
			return false
		}
		return true
	}
	inner := map[int16]func(int16, byte) bool{5: data, 7: dictionary, 8: version2}
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1:
			pg.kind = int32(t.varint())
		case id == 2:
			pg.raw = t.varint()
		case id == 3:
			pg.packed = t.varint()
		case id == 4:
			pg.sum, pg.summed = uint32(t.varint()), true
		case inner[id] != nil && kind == thriftStruct:
			t.fields(inner[id])
		default:
			return false
		}
		return true
	})
	return pg
}

// nextPage reads up to the next data page and opens it.
func (r *ColumnReader) nextPage() error {
	pg, err := r.header()
	if err != nil {
		return err
	}
	if pg.packed < 0 || pg.raw < 0 || pg.raw > maxPageBytes || pg.packed > maxPageBytes || pg.rows < 0 || pg.rows > 1<<31 {
		return fmt.Errorf("%w: a page header cannot be read", ErrCorrupt)
	}
	if err := r.take(int(pg.packed)); err != nil {
		return err
	}
	if pg.summed && crc32.ChecksumIEEE(r.packed) != pg.sum {
		return fmt.Errorf("%w: a page fails its checksum", ErrCorrupt)
	}
	switch pg.kind {
	case pageDictionary:
		return r.openDictionary(&pg)
	case pageData, pageDataV2:
		if pg.rows > r.left {
			return fmt.Errorf("%w: a page has too many rows", ErrCorrupt)
		}
		r.rows = int(pg.rows)
		if pg.kind == pageData {
			return r.openPage(&pg)
		}
		return r.openPageV2(&pg)
	}
	return nil // an index
}

// takeStep bounds what is reserved for a page before its bytes are there.
const takeStep = 4 << 20

// take reads the body of a page.
func (r *ColumnReader) take(size int) error {
	r.packed = r.packed[:0]
	for len(r.packed) < size {
		at := len(r.packed)
		n := min(size-at, takeStep)
		r.packed = slices.Grow(r.packed, n)[:at+n]
		if _, err := io.ReadFull(r.in, r.packed[at:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("%w: a page is cut off", ErrCorrupt)
			}
			return err
		}
	}
	return nil
}

func (r *ColumnReader) openDictionary(pg *foreignPage) error {
	body, err := decompress(r.codec, nil, r.packed, int(pg.raw))
	if err != nil {
		return err
	}
	if r.codec == codecNone {
		body = slices.Clone(body) // its buffer is used again
	}
	if pg.encoding != encPlain && pg.encoding != encPlainDictionary {
		return fmt.Errorf("parquet: the encoding %d of a dictionary is not known", pg.encoding)
	}
	in, err := r.leaf.decoder(encPlain, body, nil)
	if err != nil {
		return err
	}
	if pg.rows > int64(len(body))*8 {
		return errPage
	}
	r.dictionary = &Values{}
	if !in.read(r.dictionary, int(pg.rows)) {
		return errPage
	}
	return nil
}

func (r *ColumnReader) openPage(pg *foreignPage) error {
	body, err := r.inflate(pg, r.packed, int(pg.raw))
	if err != nil {
		return err
	}
	if r.leaf.level > 0 {
		if body, err = r.openLevels(pg, body); err != nil {
			return err
		}
	}
	r.values, err = r.leaf.decoder(pg.encoding, body, r.dictionary)
	return err
}

// openLevels opens the definition levels of a version 1 page and gives what follows.
func (r *ColumnReader) openLevels(pg *foreignPage, p []byte) ([]byte, error) {
	width := r.levels.width
	switch pg.levels {
	case encRLE:
		if len(p) < 4 || uint64(binary.LittleEndian.Uint32(p)) > uint64(len(p)-4) {
			return nil, errPage
		}
		size := 4 + int(binary.LittleEndian.Uint32(p))
		r.levels = hybrid{p: p[4:size], width: width}
		return p[size:], nil
	case encBitPacked:
		size := (pg.rows*int64(width) + 7) / 8
		if size > int64(len(p)) {
			return nil, errPage
		}
		r.levels = hybrid{width: width, run: p[:size], left: int(pg.rows), packed: true, reversed: true}
		return p[size:], nil
	}
	return nil, fmt.Errorf("parquet: the encoding %d of definition levels is not known", pg.levels)
}

// openPageV2 opens a page whose levels are not compressed.
func (r *ColumnReader) openPageV2(pg *foreignPage) error {
	size := int64(len(r.packed))
	if pg.nested < 0 || pg.defined < 0 || pg.nested > size || pg.defined > size-pg.nested || pg.nested+pg.defined > pg.raw {
		return errPage
	}
	head := pg.nested + pg.defined
	r.levels = hybrid{p: r.packed[pg.nested:head], width: r.levels.width}
	body, err := r.inflate(pg, r.packed[head:], int(pg.raw-head))
	if err != nil {
		return err
	}
	r.values, err = r.leaf.decoder(pg.encoding, body, r.dictionary)
	return err
}

func (r *ColumnReader) inflate(pg *foreignPage, p []byte, raw int) ([]byte, error) {
	if pg.plain || r.codec == codecNone {
		return decompress(codecNone, nil, p, raw)
	}
	var err error
	r.body, err = decompress(r.codec, r.body, p, raw)
	return r.body, err
}
