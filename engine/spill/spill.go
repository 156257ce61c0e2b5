// Package spill keeps batches that do not fit in memory in temporary files.
//
// A Dir belongs to one execution: it makes its folder when the first file is
// made and removes everything when it is closed. A File is a run of frames
// (see batch.FrameEncoder) of one schema; a BlockFile is blocks of any bytes.
package spill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Dir makes spill files below a base folder. It is safe for many goroutines.
type Dir struct {
	base  string
	alloc *batch.Allocator
	bytes atomic.Int64

	mu   sync.Mutex // guards path
	path string
}

// NewDir uses base, or the system's folder for temporary files when it is empty.
func NewDir(base string, a *batch.Allocator) *Dir { return &Dir{base: base, alloc: a} }

// Bytes is what was written so far by all files of the execution.
func (d *Dir) Bytes() int64 { return d.bytes.Load() }

// Create makes an empty file.
func (d *Dir) Create() (transform.SpillFile, error) {
	f, err := d.newFile()
	if err != nil {
		return nil, err
	}
	return &File{dir: d, f: f, w: bufio.NewWriterSize(f, bufferSize)}, nil
}

func (d *Dir) newFile() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" {
		p, err := os.MkdirTemp(d.base, "sluice-spill-")
		if err != nil {
			return nil, fmt.Errorf("make a folder for temporary files: %w", err)
		}
		d.path = p
	}
	f, err := os.CreateTemp(d.path, "rows-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return f, nil
}

// Close removes the folder and what is left in it.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" {
		return nil
	}
	err := os.RemoveAll(d.path)
	d.path = ""
	return err
}

const bufferSize = 256 << 10

// File implements transform.SpillFile.
type File struct {
	dir   *Dir
	f     *os.File
	w     *bufio.Writer
	enc   batch.FrameEncoder
	frame []byte
	bytes int64
}

// Write adds the selected rows of b.
func (f *File) Write(b *batch.Batch) error {
	f.frame = f.enc.Append(f.frame[:0], b)
	n, err := f.w.Write(f.frame)
	f.bytes += int64(n)
	f.dir.bytes.Add(int64(n))
	if err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	return nil
}

// Bytes is what was written.
func (f *File) Bytes() int64 { return f.bytes }

// Flush makes everything written visible to readers.
func (f *File) Flush() error { return f.w.Flush() }

// Reader reads from the front what has been written so far.
func (f *File) Reader(schema *batch.Schema) (transform.Reader, error) {
	if err := f.w.Flush(); err != nil {
		return nil, fmt.Errorf("write a temporary file: %w", err)
	}
	return f.Section(schema, 0, f.bytes), nil
}

// Section reads the frames between two offsets, which Bytes gave at their times.
func (f *File) Section(schema *batch.Schema, from, end int64) transform.Reader {
	return &reader{
		schema: schema,
		in:     bufio.NewReaderSize(io.NewSectionReader(f.f, from, end-from), int(min(bufferSize, end-from))),
		dec:    batch.NewFrameDecoder(f.dir.alloc, schema),
	}
}

// Close removes the file.
func (f *File) Close() error { return closeAndRemove(f.f) }

func closeAndRemove(f *os.File) error {
	err := f.Close()
	if e := os.Remove(f.Name()); err == nil && !errors.Is(e, os.ErrNotExist) {
		err = e
	}
	return err
}

type reader struct {
	schema *batch.Schema
	in     *bufio.Reader
	dec    *batch.FrameDecoder
	block  []byte
}

func (r *reader) Schema() *batch.Schema { return r.schema }

func (r *reader) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	var header [batch.FrameHeader]byte
	if _, err := io.ReadFull(r.in, header[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("read a temporary file: %w", err)
	}
	n := batch.FrameSize(header[:])
	if cap(r.block) < n {
		r.block = make([]byte, n)
	}
	r.block = r.block[:n]
	if _, err := io.ReadFull(r.in, r.block); err != nil {
		return nil, fmt.Errorf("read a temporary file: %w", err)
	}
	return r.dec.Decode(header[:], r.block)
}
