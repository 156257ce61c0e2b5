package files

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
)

// Compression is how the bytes of a file are packed, by Hop's names.
type Compression string

// The compressions. Hop's Snappy is the stream of the Java library, with its own
// header, not the framing format; the reader knows both.
const (
	Uncompressed Compression = "None"
	GZip         Compression = "GZip"
	Zip          Compression = "Zip" // an archive; the first entry counts
	Snappy       Compression = "Snappy"
)

// Compressions lists them in the order forms show them.
func Compressions() []Compression {
	return []Compression{Uncompressed, GZip, Zip, Snappy}
}

// ParseCompression reads a name without regard to case; empty is Uncompressed.
func ParseCompression(name string) (Compression, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return Uncompressed, nil
	}
	var known []string
	for _, c := range Compressions() {
		if strings.EqualFold(string(c), name) {
			return c, nil
		}
		known = append(known, string(c))
	}
	return "", fmt.Errorf("compression %q is not supported; use one of %s", name, strings.Join(known, ", "))
}

// Reader gives the unpacked bytes of r. Closing it does not close r.
func (c Compression) Reader(r io.Reader) (io.ReadCloser, error) {
	switch c {
	case GZip:
		return gzip.NewReader(r)
	case Zip:
		return newZipReader(r)
	case Snappy:
		return newSnappyReader(r)
	}
	return io.NopCloser(r), nil
}

// Writer packs what is written into w. Closing it ends the packed stream and
// does not close w. entry names the file inside of an archive.
func (c Compression) Writer(w io.Writer, entry string) (io.WriteCloser, error) {
	switch c {
	case GZip:
		return gzip.NewWriter(w), nil
	case Zip:
		z := zip.NewWriter(w)
		e, err := z.Create(entry)
		return archiveWriter{e, z}, err
	case Snappy:
		return newSnappyWriter(w)
	}
	return plainWriter{w}, nil
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

type archiveWriter struct {
	io.Writer
	archive *zip.Writer
}

func (w archiveWriter) Close() error { return w.archive.Close() }

// zipReader reads the first file of an archive. The directory of an archive is at
// its end, so the archive is copied to a temporary file first.
type zipReader struct {
	io.ReadCloser
	file *os.File
}

func newZipReader(r io.Reader) (io.ReadCloser, error) {
	f, err := os.CreateTemp("", "sluice-zip-*")
	if err != nil {
		return nil, err
	}
	entry, err := firstEntry(f, r)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &zipReader{entry, f}, nil
}

func firstEntry(f *os.File, r io.Reader) (io.ReadCloser, error) {
	n, err := io.Copy(f, r)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(f, n)
	if err != nil {
		return nil, err
	}
	for _, e := range archive.File {
		if !e.FileInfo().IsDir() {
			return e.Open()
		}
	}
	return nil, fmt.Errorf("the zip archive holds no file")
}

// Close removes the temporary file.
func (z *zipReader) Close() error {
	return errors.Join(z.ReadCloser.Close(), z.file.Close(), os.Remove(z.file.Name()))
}

// javaSnappyMagic begins the streams of the Java library: magic, version and
// lowest compatible version, then blocks of length (big endian) and raw Snappy.
var javaSnappyMagic = [16]byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

const (
	snappyBlock    = 32 << 10
	maxSnappyBlock = 64 << 20
)

type snappyWriter struct {
	to     io.Writer
	buf    []byte
	packed []byte
}

func newSnappyWriter(w io.Writer) (io.WriteCloser, error) {
	_, err := w.Write(javaSnappyMagic[:])
	return &snappyWriter{to: w, buf: make([]byte, 0, snappyBlock)}, err
}

func (s *snappyWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), snappyBlock-len(s.buf))
		s.buf = append(s.buf, p[:k]...)
		p = p[k:]
		if len(s.buf) == snappyBlock {
			if err := s.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

func (s *snappyWriter) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	s.packed = snappy.Encode(s.packed[:cap(s.packed)], s.buf)
	s.buf = s.buf[:0]
	head := binary.BigEndian.AppendUint32(nil, uint32(len(s.packed)))
	if _, err := s.to.Write(head); err != nil {
		return err
	}
	_, err := s.to.Write(s.packed)
	return err
}

func (s *snappyWriter) Close() error { return s.flush() }

type snappyReader struct {
	from   io.Reader
	packed []byte
	buf    []byte
	rest   []byte
}

// newSnappyReader tells the Java stream from the framing format by its first
// byte.
func newSnappyReader(r io.Reader) (io.ReadCloser, error) {
	head := make([]byte, len(javaSnappyMagic))
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read snappy header: %w", err)
	}
	if n > 0 && head[0] != javaSnappyMagic[0] {
		return io.NopCloser(snappy.NewReader(io.MultiReader(strings.NewReader(string(head[:n])), r))), nil
	}
	if n < len(head) || string(head[:8]) != string(javaSnappyMagic[:8]) {
		return nil, errors.New("not a snappy stream")
	}
	return &snappyReader{from: r}, nil
}

func (s *snappyReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if err := s.block(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *snappyReader) block() error {
	var head [4]byte
	if _, err := io.ReadFull(s.from, head[:]); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	if n > maxSnappyBlock {
		return fmt.Errorf("snappy block of %d bytes: the stream is damaged", n)
	}
	if cap(s.packed) < n {
		s.packed = make([]byte, n)
	}
	s.packed = s.packed[:n]
	if _, err := io.ReadFull(s.from, s.packed); err != nil {
		return fmt.Errorf("snappy stream ends early: %w", err)
	}
	size, err := snappy.DecodedLen(s.packed)
	if err != nil || size > maxSnappyBlock {
		return fmt.Errorf("snappy block: %w", errors.Join(err, snappy.ErrCorrupt))
	}
	s.buf, err = snappy.Decode(s.buf[:cap(s.buf)], s.packed)
	s.rest = s.buf
	return err
}

func (s *snappyReader) Close() error { return nil }
