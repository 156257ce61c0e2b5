package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// errPage is a page whose checksums match and that makes no sense all the same.
var errPage = fmt.Errorf("%w: a page cannot be decoded", ErrCorrupt)

// page is a page of a column chunk, still compressed.
type page struct {
	kind, encoding int32
	rows, raw      int
	crc            uint32
	packed         []byte
}

// chunkReader reads the pages of one column chunk in order.
type chunkReader struct {
	meta  *columnMeta
	codec int32
	pages []page
	at    int // next page
	s     *scratch

	// The dictionary: texts as offsets and bytes, or numbers.
	offsets []int32
	data    []byte
	nums    []float64
}

// scratch is memory that the columns of one row group share.
type scratch struct {
	body []byte
	ints []int64
	idx  []uint32
	bits []uint64
	// texts are for the dictionaries of the next row group.
	texts []texts
}

// texts are a dictionary: offsets and bytes.
type texts struct {
	offsets []int32
	data    []byte
}

// scratches keeps memory over row groups.
var scratches sync.Pool // *scratch

// free gives memory for a dictionary of n texts in so many bytes.
func (s *scratch) free(n, size int) texts {
	if k := len(s.texts) - 1; k >= 0 {
		t := s.texts[k]
		s.texts = s.texts[:k]
		if cap(t.offsets) > n && cap(t.data) >= size {
			return texts{append(t.offsets[:0], 0), t.data[:0]}
		}
	}
	return texts{make([]int32, 1, n+n/4+1), make([]byte, 0, size+size/4)}
}

// grown gives a slice of n items, of any content, in a reused buffer.
func grown[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n, n+n/4)
	}
	*buf = (*buf)[:n]
	return *buf
}

// openChunk reads all page headers of a chunk and its dictionary.
func (f *File) openChunk(c *columnMeta, g int, s *scratch) (*chunkReader, error) {
	ch := &c.chunks[g]
	r := &chunkReader{meta: c, codec: ch.codec, s: s}
	p, err := f.bytes(ch.start(), ch.size)
	if err != nil {
		return nil, err
	}
	sum, rows := uint32(0), int64(0)
	for len(p) > 0 {
		pg, header, rest, err := readPage(p)
		if err != nil {
			return nil, err
		}
		sum = crc32.Update(sum, crc32.IEEETable, header)
		if pg.kind == pageData {
			rows += int64(pg.rows)
		}
		r.pages = append(r.pages, pg)
		p = rest
	}
	if hexSum(sum) != ch.headers || rows != ch.rows {
		return nil, fmt.Errorf("%w: its page headers fail their checksum", ErrCorrupt)
	}
	if ch.dictOffset != 0 {
		return r, r.readDictionary()
	}
	return r, nil
}

// readPage reads a page header and gives it, its bytes and what follows the page.
func readPage(p []byte) (pg page, header, rest []byte, err error) {
	t := &thriftReader{buf: p}
	var raw, packed, rows int64
	inner := func(id int16, _ byte) bool {
		switch id {
		case 1:
			rows = t.varint()
		case 2:
			pg.encoding = int32(t.varint())
		default:
			return false
		}
		return true
	}
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1:
			pg.kind = int32(t.varint())
		case id == 2:
			raw = t.varint()
		case id == 3:
			packed = t.varint()
		case id == 4:
			pg.crc = uint32(t.varint())
		case (id == 5 || id == 7) && kind == thriftStruct:
			t.fields(inner)
		default:
			return false
		}
		return true
	})
	if t.bad || packed < 0 || packed > int64(len(t.buf)) || raw < 0 || raw > maxPageBytes || rows < 0 || rows > maxPageRows {
		return pg, nil, nil, fmt.Errorf("%w: a page header cannot be read", ErrCorrupt)
	}
	header = p[:len(p)-len(t.buf)]
	pg.rows, pg.raw, pg.packed = int(rows), int(raw), t.buf[:packed]
	return pg, header, t.buf[packed:], nil
}

// body checks and decompresses a page. The bytes are valid until the next call for
// any column of the row group.
func (r *chunkReader) body(pg *page) ([]byte, error) {
	if crc32.ChecksumIEEE(pg.packed) != pg.crc {
		return nil, fmt.Errorf("%w: a page fails its checksum", ErrCorrupt)
	}
	switch r.codec {
	case codecNone:
		if len(pg.packed) != pg.raw {
			return nil, errPage
		}
		return pg.packed, nil
	case codecSnappy:
		if n, err := s2.DecodedLen(pg.packed); err != nil || n != pg.raw || n > maxSnappy*(len(pg.packed)+1) {
			return nil, errPage
		}
		body, err := s2.Decode(grown(&r.s.body, pg.raw), pg.packed)
		if err != nil || len(body) != pg.raw {
			return nil, errPage
		}
		return body, nil
	case codecZstd:
		return r.inflate(pg)
	case codecGzip:
		return r.gunzip(pg)
	}
	return nil, fmt.Errorf("%w: compression %d is not one of ours", ErrCorrupt, r.codec)
}

// maxSnappy is more than Snappy can shrink anything: three bytes copy at most 64.
const maxSnappy = 32

// zstdDecoders keeps decoders over files.
var zstdDecoders sync.Pool // *zstd.Decoder

func (r *chunkReader) inflate(pg *page) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(pg.packed); err != nil || !h.HasFCS || h.FrameContentSize != uint64(pg.raw) {
		if pg.raw != 0 || len(pg.packed) != 0 {
			return nil, errPage
		}
	}
	dec, ok := zstdDecoders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPageBytes)); err != nil {
			return nil, err
		}
	}
	defer zstdDecoders.Put(dec)
	body, err := dec.DecodeAll(pg.packed, r.s.body[:0])
	if err != nil || len(body) != pg.raw {
		return nil, errPage
	}
	r.s.body = body
	return body, nil
}

// gunzip reads no more than the page says it holds.
func (r *chunkReader) gunzip(pg *page) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(pg.packed))
	if err != nil {
		return nil, errPage
	}
	out := bytes.NewBuffer(r.s.body[:0])
	n, err := io.Copy(out, io.LimitReader(z, int64(pg.raw)+1))
	if err != nil || n != int64(pg.raw) {
		return nil, errPage
	}
	r.s.body = out.Bytes()
	return r.s.body, nil
}

func (r *chunkReader) readDictionary() error {
	if len(r.pages) == 0 || r.pages[0].kind != pageDictionary || r.pages[0].encoding != encPlain {
		return errPage
	}
	pg := &r.pages[0]
	r.at = 1
	body, err := r.body(pg)
	if err != nil {
		return err
	}
	switch r.meta.shape {
	case shapeDouble:
		if len(body) != pg.rows*8 {
			return errPage
		}
		r.nums = make([]float64, pg.rows)
		for i := range r.nums {
			r.nums[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[i*8:]))
		}
		return nil
	case shapeBytes, shapeDecimalText:
		if pg.rows*4 > len(body) {
			return errPage
		}
		t := r.s.free(pg.rows, len(body)-pg.rows*4+blind)
		if r.offsets, r.data, err = plainTexts(pg.rows, body, t.offsets, t.data); err != nil {
			return err
		}
		r.data = append(r.data, make([]byte, blind)...)
		return nil
	}
	return errPage
}

// plainTexts reads n PLAIN byte arrays to the end of p, appending them.
func plainTexts(n int, p []byte, offsets []int32, data []byte) ([]int32, []byte, error) {
	if n*4 > len(p) {
		return nil, nil, errPage
	}
	for range n {
		text, rest, ok := cutText(p)
		if !ok {
			return nil, nil, errPage
		}
		data = append(data, text...)
		offsets = append(offsets, int32(len(data)))
		p = rest
	}
	if len(p) != 0 {
		return nil, nil, errPage
	}
	return offsets, data, nil
}

func cutText(p []byte) (text, rest []byte, ok bool) {
	if len(p) < 4 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint32(p)
	if uint64(n) > uint64(len(p)-4) {
		return nil, nil, false
	}
	return p[4 : 4+n], p[4+n:], true
}
