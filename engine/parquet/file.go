package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"sluice/engine/batch"
)

var (
	// ErrCorrupt means that the bytes were changed or cut off since a Writer made
	// them. No row of the damaged part has been given out.
	ErrCorrupt = errors.New("parquet: the file is damaged")
	// ErrForeign means that the bytes are, or seem to be, a Parquet file of another
	// program.
	ErrForeign = errors.New("parquet: another program wrote the file")
	// ErrVersion means that a newer version of this program wrote the file.
	ErrVersion = errors.New("parquet: a newer version wrote the file")
)

// File reads a file that a Writer made. The bytes must not change meanwhile. It is
// safe for many goroutines.
type File struct {
	data   []byte      // the file, or
	in     io.ReaderAt // where it is
	schema *batch.Schema
	cols   []*columnMeta // per field
	nanos  []*columnMeta // per field; nil without companion
	rows   int64
	groups []int64 // rows of the row groups
	meta   map[string]string
}

// columnMeta is a column of the file.
type columnMeta struct {
	name   string
	shape  shape
	scale  int32
	chunks []chunkMeta
}

// Open reads the footer of a file in memory, which it keeps. The error is
// ErrForeign, ErrVersion or ErrCorrupt.
func Open(data []byte) (*File, error) {
	f := &File{data: data}
	return f, f.open(int64(len(data)))
}

// OpenAt is Open for a file of size bytes that is read piece by piece: one column
// chunk after the other. The caller closes in after the last batch.
func OpenAt(in io.ReaderAt, size int64) (*File, error) {
	f := &File{in: in}
	return f, f.open(size)
}

// bytes gives a part of the file, which is not changed.
func (f *File) bytes(at, size int64) ([]byte, error) {
	if f.in == nil {
		return f.data[at : at+size : at+size], nil
	}
	p := make([]byte, size)
	if _, err := f.in.ReadAt(p, at); err != nil {
		return nil, fmt.Errorf("parquet: read %d bytes at %d: %w", size, at, err)
	}
	return p, nil
}

func (f *File) open(size int64) error {
	foot, err := f.footerBytes(size)
	if err != nil {
		return err
	}
	ft, err := readFooter(foot)
	if err != nil {
		return err
	}
	f.meta, f.rows = ft.meta, ft.rows
	text, ok := f.meta[MetadataKey]
	if !ok {
		return fmt.Errorf("%w: the schema of the rows is missing", ErrForeign)
	}
	if v := f.meta[versionKey]; v != formatVersion {
		return fmt.Errorf("%w (layout %q, this one reads %s)", ErrVersion, v, formatVersion)
	}
	if !ft.intact(foot) {
		return fmt.Errorf("%w: its footer fails its checksum", ErrCorrupt)
	}
	if f.schema, err = DecodeSchema([]byte(text)); err != nil {
		return fmt.Errorf("%w: %w", ErrVersion, err)
	}
	return f.bind(ft, size-8-int64(len(foot)))
}

// footerBytes checks both ends of the file and gives what the footer holds.
func (f *File) footerBytes(size int64) ([]byte, error) {
	broken := fmt.Errorf("%w: it does not begin and end as a Parquet file", ErrCorrupt)
	if size < 12 {
		return nil, broken
	}
	head, err := f.bytes(0, 4)
	if err != nil {
		return nil, err
	}
	tail, err := f.bytes(size-8, 8)
	if err != nil {
		return nil, err
	}
	if string(tail[4:]) == encryptedMagic {
		return nil, fmt.Errorf("%w and encrypted it; encrypted files cannot be read", ErrForeign)
	}
	if string(head) != magic || string(tail[4:]) != magic {
		return nil, broken
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-12 {
		return nil, fmt.Errorf("%w: its footer is longer than the file", ErrCorrupt)
	}
	return f.bytes(size-8-n, n)
}

// Pick gives a File of the same rows with only the fields at these positions, in
// this order; the others are not read.
func (f *File) Pick(fields []int) *File {
	out := *f
	out.schema, out.cols, out.nanos = batch.NewSchema(), nil, nil
	for _, i := range fields {
		out.schema.Fields = append(out.schema.Fields, f.schema.Fields[i])
		out.cols = append(out.cols, f.cols[i])
		out.nanos = append(out.nanos, f.nanos[i])
	}
	return &out
}

// Schema is the schema of the rows, as it was written.
func (f *File) Schema() *batch.Schema { return f.schema }

// Rows is the number of rows.
func (f *File) Rows() int64 { return f.rows }

// Groups is the number of row groups.
func (f *File) Groups() int { return len(f.groups) }

// GroupRows is the number of rows of row group g.
func (f *File) GroupRows(g int) int64 { return f.groups[g] }

// Metadata gives a key-value entry; empty when there is none.
func (f *File) Metadata(key string) string { return f.meta[key] }

// intact compares the checksum, computed with zeros in its own place.
func (ft *footer) intact(p []byte) bool {
	want := ft.meta[footerKey]
	if len(want) != len(noSum) {
		return false
	}
	sum := crc32.ChecksumIEEE(p[:ft.sumAt])
	sum = crc32.Update(sum, crc32.IEEETable, []byte(noSum))
	sum = crc32.Update(sum, crc32.IEEETable, p[ft.sumAt+len(noSum):])
	return hexSum(sum) == want
}

// bind ties the columns of the file to the fields of the schema. Pages end at end.
func (f *File) bind(ft *footer, end int64) error {
	owners, err := f.owners(ft)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, g := range ft.groups {
		if g.rows <= 0 || len(g.chunks) != len(ft.elements) {
			return fmt.Errorf("%w: a row group is not complete", ErrCorrupt)
		}
		total += g.rows
		f.groups = append(f.groups, g.rows)
	}
	if total != f.rows {
		return fmt.Errorf("%w: it counts %d rows and has %d", ErrCorrupt, f.rows, total)
	}
	n := f.schema.Len()
	f.nanos = make([]*columnMeta, n)
	for i, e := range ft.elements {
		c := &columnMeta{name: e.name, scale: e.scale, shape: shapeNanos}
		if i < n {
			c.shape = e.shapeFor(f.schema.Fields[i].Type)
			f.cols = append(f.cols, c)
		} else {
			f.nanos[owners[i-n]] = c
		}
		if e.physical != c.shape.physical() || e.scale < 0 || e.scale > 38 {
			return fmt.Errorf("%w: column %q is not what the schema says", ErrCorrupt, e.name)
		}
		for _, g := range ft.groups {
			ch := g.chunks[i]
			if ch.physical != e.physical || ch.rows != g.rows || !ch.within(end) {
				return fmt.Errorf("%w: column %q lies outside of the file", ErrCorrupt, e.name)
			}
			c.chunks = append(c.chunks, ch)
		}
	}
	return nil
}

// owners gives the fields of the companion columns, which follow the fields'.
func (f *File) owners(ft *footer) ([]int, error) {
	n := f.schema.Len()
	var owners []int
	if list := f.meta[nanosKey]; list != "" {
		for text := range strings.SplitSeq(list, ",") {
			i, err := strconv.Atoi(text)
			if err != nil || i < 0 || i >= n || f.schema.Fields[i].Type != batch.Timestamp {
				return nil, fmt.Errorf("%w: a companion column belongs to no field", ErrCorrupt)
			}
			owners = append(owners, i)
		}
	}
	if len(ft.elements) != n+len(owners) {
		return nil, fmt.Errorf("%w: %d columns for %d fields", ErrCorrupt, len(ft.elements), n)
	}
	return owners, nil
}

func (e *element) shapeFor(t batch.Type) shape {
	if t != batch.BigNumber {
		return shapeOf(t)
	}
	switch e.physical {
	case physInt64:
		return shapeDecimal64
	case physFixed:
		return shapeDecimal128
	}
	return shapeDecimalText
}
