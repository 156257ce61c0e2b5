package parquet

import (
	"encoding/binary"
	"hash/crc32"

	"sluice/engine/batch"
)

// columnWriter encodes one column of the file, one row group at a time.
type columnWriter struct {
	file    *Writer
	field   *batch.Field
	shape   shape
	scale   int32       // of decimals
	settled bool        // decimals: a value has fixed shape and scale
	refused decimalNeed // decimals that did not fit

	chunks []chunk // finished row groups

	// The current row group.
	pages    []byte // encoded data pages
	heads    []byte // their headers again, for the checksum
	rows     int64
	raw      int64 // size of the pages with their headers before compression
	encs     encodings
	codec    Codec
	chosen   bool   // how to compress is decided
	literals bool   // Zstandard does not look for repetitions
	split    bool   // integers are split into their bytes
	known    choice // of a row group before
	indexed  bool   // there are pages with dictionary indexes
	plain    bool   // no dictionary any more

	texts *dictionary
	nums  *numbers
	nanos *columnWriter // companion of a Timestamp, once nanoseconds occur
}

// chunk is a finished column chunk: where it lies and what it holds.
type chunk struct {
	offset, dictOffset int64 // dictOffset 0: none
	rows               int64
	packed, raw        int64
	codec              Codec
	encs               encodings
	headers            uint32 // CRC-32 of the page headers
}

func (c chunk) start() int64 {
	if c.dictOffset != 0 {
		return c.dictOffset
	}
	return c.offset
}

// encodings is a set of encoding numbers.
type encodings uint32

func (e *encodings) add(encoding int32) { *e |= 1 << encoding }

func (e encodings) list() []int32 {
	var list []int32
	for n := range int32(32) {
		if e&(1<<n) != 0 {
			list = append(list, n)
		}
	}
	return list
}

func (w *Writer) newColumn(f *batch.Field, s shape) *columnWriter {
	c := &columnWriter{file: w, field: f, shape: s, codec: w.o.Codec}
	switch s {
	case shapeBytes:
		c.texts = newDictionary()
	case shapeDouble:
		c.nums = newNumbers()
	}
	return c
}

func (c *columnWriter) size() int {
	n := len(c.pages)
	if c.texts != nil {
		n += len(c.texts.data)
	}
	if c.nums != nil {
		n += len(c.nums.values) * 8
	}
	return n
}

// add encodes the rows of a dense, typed column as one page. before has the rows
// of the pages that the current row group has already.
func (c *columnWriter) add(col *batch.Column, before []int) error {
	body := appendLevels(c.file.body[:0], col.Valid, col.Nulls(), col.Len())
	encoding := int32(encPlain)
	if col.Nulls() < col.Len() {
		var err error
		if body, encoding, err = c.values(body, col); err != nil {
			return err
		}
	}
	c.file.body = body
	if err := c.append(body, col.Len(), encoding); err != nil {
		return err
	}
	if c.field.Type != batch.Timestamp || (c.nanos == nil && col.Nanos == nil) {
		return nil
	}
	if c.nanos == nil {
		c.nanos = c.file.newColumn(c.field, shapeNanos)
		c.nanos.chunks = make([]chunk, len(c.chunks)) // fill makes them at the end
		if err := c.nanos.absent(before); err != nil {
			return err
		}
	}
	return c.nanos.addNanos(col)
}

// addNanos adds a page of the companion; a row without nanoseconds is null there.
func (c *columnWriter) addNanos(col *batch.Column) error {
	if col.Nanos == nil {
		return c.absent([]int{col.Len()})
	}
	n := col.Len()
	valid := make(batch.Bitmap, (n+7)/8)
	var values []byte
	for i, v := range col.Nanos {
		if v == 0 || col.IsNull(i) {
			continue
		}
		valid.Set(i, true)
		values = binary.LittleEndian.AppendUint32(values, uint32(v))
	}
	body := appendLevels(c.file.body[:0], valid, n-len(values)/4, n)
	body = append(body, values...)
	c.file.body = body
	return c.append(body, n, encPlain)
}

// absent adds pages of nulls.
func (c *columnWriter) absent(pageRows []int) error {
	for _, n := range pageRows {
		body := appendLevels(c.file.body[:0], nil, n, n)
		c.file.body = body
		if err := c.append(body, n, encPlain); err != nil {
			return err
		}
	}
	return nil
}

// append compresses a page and keeps it until the row group ends.
func (c *columnWriter) append(body []byte, rows int, encoding int32) error {
	if !c.chosen {
		c.chosen = true
		if err := c.choose(body, encoding); err != nil {
			return err
		}
	}
	h := pageHeader{kind: pageData, rows: rows, encoding: encoding, codec: c.codec, literals: c.literals}
	out, a, err := c.file.appendPage(c.pages, h, body)
	if err != nil {
		return err
	}
	c.pages = out
	c.heads = append(c.heads, a.header...)
	c.raw += a.raw
	c.rows += int64(rows)
	c.encs.add(encoding)
	c.encs.add(encRLE)
	return nil
}

// choice is what the first page of a row group has decided, and for how many row
// groups more.
type choice struct {
	encoding        int32
	codec           Codec
	literals, split bool
	left            int
}

// choiceGroups is how many row groups one choice is for: trying takes the time of two
// pages.
const choiceGroups = 16

// choose decides by the first page of a row group how its pages are compressed.
// Bit-packed numbers of random values do not shrink: writing and reading is faster
// without. A chunk has one codec, so it can only be left out from the start. Keys
// and digits hardly repeat: looking for repetitions is left out then.
func (c *columnWriter) choose(body []byte, encoding int32) error {
	if c.codec == Uncompressed || encoding == encDictionary || len(body) < leastLiterals {
		return nil
	}
	if c.known.left > 0 && c.known.encoding == encoding {
		c.known.left--
		c.codec, c.literals = c.known.codec, c.known.literals
		return nil
	}
	packed, err := c.file.compress(pageHeader{codec: c.codec}, body)
	if err != nil {
		return err
	}
	size := len(packed)
	if c.codec == Zstd {
		if packed, err = c.file.compress(pageHeader{codec: Zstd, literals: true}, body); err != nil {
			return err
		}
		if c.literals = len(packed)*100 <= size*(100+literalsLoss); c.literals {
			size = len(packed)
		}
	}
	if (len(body)-size)*100 < len(body)*c.file.o.Saving {
		c.codec = Uncompressed
	}
	c.known = choice{encoding, c.codec, c.literals, c.split, choiceGroups - 1}
	return nil
}

// inherit takes over the memory of the column of a finished file.
func (c *columnWriter) inherit(old *columnWriter) {
	c.pages, c.heads = old.pages[:0], old.heads[:0]
	c.known = old.known
	c.plain = c.keepsPlain()
	if c.texts != nil && old.texts != nil {
		c.texts = old.texts
	}
	if c.nums != nil && old.nums != nil {
		c.nums = old.nums
	}
}

// keepsPlain says whether a dictionary of texts is not even tried in this row group.
func (c *columnWriter) keepsPlain() bool {
	return c.texts != nil && c.known.left > 0 && c.known.encoding != encDictionary
}

// flush writes the column chunk of the row group to the file.
func (c *columnWriter) flush() error {
	w := c.file
	ch := chunk{rows: c.rows, raw: c.raw, codec: c.codec}
	start := w.taken + int64(len(w.out))
	if c.indexed {
		body, n := c.dictionaryBody()
		out, a, err := w.appendPage(w.out, pageHeader{kind: pageDictionary, rows: n, encoding: encPlain, codec: c.codec}, body)
		if err != nil {
			return err
		}
		w.out, ch.dictOffset = out, start
		ch.raw += a.raw
		ch.headers = crc32.ChecksumIEEE(a.header)
		c.encs.add(encPlain)
	}
	ch.offset = w.taken + int64(len(w.out))
	ch.headers = crc32.Update(ch.headers, crc32.IEEETable, c.heads)
	w.out = append(w.out, c.pages...)
	ch.packed = w.taken + int64(len(w.out)) - start
	ch.encs = c.encs
	c.chunks = append(c.chunks, ch)
	c.begin()
	if c.nanos != nil {
		return c.nanos.flush()
	}
	return nil
}

// begin starts the next row group.
func (c *columnWriter) begin() {
	c.pages, c.heads, c.rows, c.raw, c.encs = c.pages[:0], c.heads[:0], 0, 0, 0
	c.codec, c.chosen, c.literals, c.split, c.indexed = c.file.o.Codec, false, false, false, false
	c.plain = c.keepsPlain()
	if c.texts != nil && c.texts.len() > 0 {
		c.texts.truncate(0)
	}
	if c.nums != nil && len(c.nums.values) > 0 {
		c.nums.truncate(0)
	}
}

// fill makes the chunks of the row groups that ended before the companion began.
func (c *columnWriter) fill(groups []group) error {
	for g := range c.chunks {
		if c.chunks[g].rows != 0 {
			continue
		}
		late := c.file.newColumn(c.field, shapeNanos)
		if err := late.absent(groups[g].pages); err != nil {
			return err
		}
		if err := late.flush(); err != nil {
			return err
		}
		c.chunks[g] = late.chunks[0]
	}
	return nil
}

func (c *columnWriter) dictionaryBody() ([]byte, int) {
	body := c.file.body[:0]
	defer func() { c.file.body = body }()
	if c.nums != nil {
		for _, v := range c.nums.values {
			body = binary.LittleEndian.AppendUint64(body, v)
		}
		return body, len(c.nums.values)
	}
	for i := range c.texts.len() {
		v := c.texts.value(i)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(v)))
		body = append(body, v...)
	}
	return body, c.texts.len()
}
