package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// blockHeader is u64 length of the block, u32 CRC-32C of it.
const blockHeader = 12

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BlockFile implements transform.BlockFile. Blocks are written as they are: for
// rows that are read again soon, compressing takes longer than the disk.
type BlockFile struct {
	dir   *Dir
	f     *os.File
	bytes int64
}

// CreateBlocks makes an empty file of blocks.
func (d *Dir) CreateBlocks() (transform.BlockFile, error) {
	f, err := d.newFile()
	if err != nil {
		return nil, err
	}
	return &BlockFile{dir: d, f: f}, nil
}

// Write adds a block.
func (f *BlockFile) Write(block []byte) error {
	var header [blockHeader]byte
	binary.LittleEndian.PutUint64(header[:], uint64(len(block)))
	binary.LittleEndian.PutUint32(header[8:], crc32.Checksum(block, castagnoli))
	for _, part := range [][]byte{header[:], block} {
		n, err := f.f.Write(part)
		f.bytes += int64(n)
		f.dir.bytes.Add(int64(n))
		if err != nil {
			return fmt.Errorf("write a temporary file: %w", err)
		}
	}
	return nil
}

// Bytes is what was written.
func (f *BlockFile) Bytes() int64 { return f.bytes }

// Reader reads from the front what has been written so far.
func (f *BlockFile) Reader() transform.BlockReader {
	return &blockReader{in: io.NewSectionReader(f.f, 0, f.bytes), left: f.bytes}
}

// Close removes the file.
func (f *BlockFile) Close() error { return closeAndRemove(f.f) }

type blockReader struct {
	in   io.Reader
	left int64
}

// Next implements transform.BlockReader.
func (r *blockReader) Next(room []byte) ([]byte, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	var header [blockHeader]byte
	if err := r.fill(header[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(header[:])
	if n > uint64(r.left) {
		return nil, batch.ErrFrame
	}
	if uint64(cap(room)) < n {
		room = make([]byte, n)
	}
	room = room[:n]
	if err := r.fill(room); err != nil {
		return nil, err
	}
	if crc32.Checksum(room, castagnoli) != binary.LittleEndian.Uint32(header[8:]) {
		return nil, batch.ErrFrame
	}
	return room, nil
}

// fill reads what must be there.
func (r *blockReader) fill(p []byte) error {
	n, err := io.ReadFull(r.in, p)
	r.left -= int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return batch.ErrFrame
	}
	if err != nil {
		return fmt.Errorf("read a temporary file: %w", err)
	}
	return nil
}
