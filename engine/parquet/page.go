package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// pageHeader is what a page of the writer says about itself.
type pageHeader struct {
	kind     int32
	rows     int
	encoding int32
	codec    Codec
	literals bool // for Zstd: repetitions are not looked for
}

// zstdEncoders keeps encoders over files: making one takes megabytes.
var zstdEncoders sync.Pool // *zstd.Encoder

// compress gives the body as it is stored; the bytes are valid until the next call.
func (w *Writer) compress(h pageHeader, body []byte) ([]byte, error) {
	switch h.codec {
	case Uncompressed:
		return body, nil
	case Zstd:
		if h.literals {
			w.packed = appendLiterals(w.packed[:0], body, &w.huffman)
			return w.packed, nil
		}
		if err := w.openZstd(); err != nil {
			return nil, err
		}
		w.packed = w.zstd.EncodeAll(body, w.packed[:0])
		return w.packed, nil
	}
	if h.codec == Gzip {
		return w.gzip(body)
	}
	if n := s2.MaxEncodedLen(len(body)); cap(w.packed) < n {
		w.packed = make([]byte, n)
	}
	return s2.EncodeSnappy(w.packed[:cap(w.packed)], body), nil
}

func (w *Writer) gzip(body []byte) ([]byte, error) {
	out := bytes.NewBuffer(w.packed[:0])
	z := gzip.NewWriter(out)
	_, err := z.Write(body)
	err = errors.Join(err, z.Close())
	w.packed = out.Bytes()
	return w.packed, err
}

func (w *Writer) openZstd() error {
	if w.zstd != nil {
		return nil
	}
	if enc, ok := zstdEncoders.Get().(*zstd.Encoder); ok {
		w.zstd = enc
		return nil
	}
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithAllLitEntropyCompression(true), // random digits repeat nothing and shrink all the same
		zstd.WithSingleSegment(true),            // the reader wants the size
		zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1))
	w.zstd = enc
	return err
}

// appended tells what appendPage has added.
type appended struct {
	header []byte // part of the result; valid until the next page
	raw    int64  // size of header and body before compression
	packed int    // size of the body
}

// appendPage appends a page to dst.
func (w *Writer) appendPage(dst []byte, h pageHeader, body []byte) ([]byte, appended, error) {
	if len(body) > maxPageBytes {
		return dst, appended{}, fmt.Errorf("%d rows take more than 1 GiB; a Parquet page cannot hold them", h.rows)
	}
	packed, err := w.compress(h, body)
	if err != nil {
		return dst, appended{}, err
	}
	t := thriftWriter{buf: dst}
	t.begin()
	t.i32(1, h.kind)
	t.i32(2, int32(len(body)))
	t.i32(3, int32(len(packed)))
	t.i32(4, int32(crc32.ChecksumIEEE(packed)))
	if h.kind == pageData {
		t.structField(5)
		t.i32(1, int32(h.rows))
		t.i32(2, h.encoding)
		t.i32(3, encRLE)
		t.i32(4, encRLE)
	} else {
		t.structField(7)
		t.i32(1, int32(h.rows))
		t.i32(2, h.encoding)
	}
	t.end()
	t.end()
	header := t.buf[len(dst):]
	a := appended{header: header, raw: int64(len(header) + len(body)), packed: len(packed)}
	return append(t.buf, packed...), a, nil
}
