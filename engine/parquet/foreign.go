package parquet

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
)

// Foreign reads the flat columns of a file that any program wrote: all encodings of
// the format, all codecs but LZO. It is safe for many goroutines; the readers of
// its columns are not.
type Foreign struct {
	in     io.ReaderAt
	end    int64 // of the pages
	leaves []Leaf
	groups []groupMeta
}

// OpenForeign reads the footer of a file of size bytes. The caller closes in after
// the last value. The error is ErrCorrupt, ErrForeign for an encrypted file, or that
// of in.
func OpenForeign(in io.ReaderAt, size int64) (*Foreign, error) {
	foot, err := (&File{in: in}).footerBytes(size)
	if err != nil {
		return nil, err
	}
	ft, err := readFooter(foot)
	if err != nil {
		return nil, err
	}
	f := &Foreign{in: in, end: size - 8 - int64(len(foot)), groups: ft.groups}
	if f.leaves, err = leavesOf(ft.elements); err != nil {
		return nil, err
	}
	for _, g := range f.groups {
		if g.rows < 0 || len(g.chunks) != len(f.leaves) {
			return nil, fmt.Errorf("%w: a row group is not complete", ErrCorrupt)
		}
	}
	return f, nil
}

// Leaves gives the columns in the order of the file; they are not to be changed.
func (f *Foreign) Leaves() []Leaf { return f.leaves }

// Groups is the number of row groups.
func (f *Foreign) Groups() int { return len(f.groups) }

// GroupRows is the number of rows of row group g.
func (f *Foreign) GroupRows(g int) int64 { return f.groups[g].rows }

// readAhead is the number of bytes that are read of a column at once.
const readAhead = 256 << 10

// chunkSlack is what old writers may leave out of the size of a column chunk.
const chunkSlack = 1024

// Column reads a column of row group g. A column of lists cannot be read.
func (f *Foreign) Column(g, column int) (*ColumnReader, error) {
	l, ch := &f.leaves[column], &f.groups[g].chunks[column]
	switch start := ch.start(); {
	case l.Repeated:
		return nil, fmt.Errorf("parquet: column %q holds lists", l.Path)
	case ch.encrypted:
		return nil, fmt.Errorf("parquet: column %q is encrypted", l.Path)
	case ch.elsewhere:
		return nil, fmt.Errorf("parquet: column %q lies in another file", l.Path)
	case ch.physical != int32(l.Physical), ch.rows != f.groups[g].rows, ch.size < 0, start < int64(len(magic)), start > f.end:
		return nil, fmt.Errorf("%w: column %q is not what the schema says", ErrCorrupt, l.Path)
	}
	size := min(ch.size, f.end-ch.start()) + chunkSlack
	pages := io.NewSectionReader(f.in, ch.start(), min(size, f.end-ch.start()))
	return &ColumnReader{
		leaf: l, codec: ch.codec, left: ch.rows, levels: hybrid{width: uint(bits.Len(uint(l.level)))},
		in: bufio.NewReaderSize(pages, int(min(size, readAhead))),
	}, nil
}

// Values are rows of one column: which of them hold a value, and these values, in
// the slice that belongs to the column's physical type.
type Values struct {
	Valid  []bool    // per row
	Flags  []bool    // BOOLEAN
	Ints   []int64   // INT32 and INT64
	Floats []float64 // FLOAT and DOUBLE
	Bytes  [][]byte  // BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY and INT96
}

func (v *Values) reset() {
	v.Valid, v.Flags, v.Ints, v.Floats, v.Bytes = v.Valid[:0], v.Flags[:0], v.Ints[:0], v.Floats[:0], v.Bytes[:0]
}

// ColumnReader reads a column chunk from its first row to its last.
type ColumnReader struct {
	leaf  *Leaf
	codec int32
	in    *bufio.Reader
	left  int64 // rows that were not given yet

	rows       int         // of the current page that were not given yet
	levels     hybrid      // of the current page
	values     valueReader // of the current page
	dictionary *Values

	packed, body []byte
	idx          []uint32
	out          Values
}

// Next gives up to n rows, at least one; io.EOF after the last. They are valid until
// the next call. The error is ErrCorrupt, that of the file, or names what cannot be
// read.
func (r *ColumnReader) Next(n int) (*Values, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	for r.rows == 0 {
		if err := r.nextPage(); err != nil {
			return nil, err
		}
	}
	n = min(n, r.rows)
	r.out.reset()
	present, ok := r.validity(n)
	if !ok || !r.values.read(&r.out, present) {
		return nil, errPage
	}
	r.rows -= n
	r.left -= int64(n)
	return &r.out, nil
}

// validity reads the definition levels of n rows and counts the values.
func (r *ColumnReader) validity(n int) (present int, ok bool) {
	if r.leaf.level == 0 {
		for range n {
			r.out.Valid = append(r.out.Valid, true)
		}
		return n, true
	}
	idx := grown(&r.idx, n)
	if !r.levels.read(idx) {
		return 0, false
	}
	for _, level := range idx {
		valid := level == uint32(r.leaf.level)
		if valid {
			present++
		}
		r.out.Valid = append(r.out.Valid, valid)
	}
	return present, true
}
