package parquet

import (
	"errors"
	"fmt"
	"maps"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"

	"sluice/engine/batch"
)

// RowGroupRows is the number of rows after which a row group ends.
const RowGroupRows = 131072

// Pages hold at least pageRows rows where batches allow it: smaller batches are
// collected, larger ones become pages as they are.
const pageRows = batch.MaxRows / 2

// zstdPageRows is pageRows for Zstd, which finds what repeats only within a page.
const zstdPageRows = 4 * batch.MaxRows

// usualSaving is Options.Saving where it is not set.
const usualSaving = 6

// maxPageRows bounds what a page of a file may claim to hold, and maxPageBytes
// what it may hold.
const (
	maxPageRows  = 1 << 24
	maxPageBytes = 1 << 30
)

// ErrDecimals means that a batch has decimals of another scale or of more digits
// than the file can take: finish it and go on with the Writer that Next gives.
var ErrDecimals = errors.New("parquet: decimals of another scale or size need a new file")

// Options of a file.
type Options struct {
	Codec      Codec
	Compatible bool  // PLAIN and dictionaries only, for old readers
	GroupRows  int64 // rows of a row group; 0: RowGroupRows
	// Split lets Zstd take integers as BYTE_STREAM_SPLIT where that is smaller. Only
	// readers since 2024 know it for integers.
	Split bool
	// Saving is the least part of its size, in percent, that compression must save
	// of a column chunk of plain values, or else is left out; 0: 6.
	Saving   int
	Metadata map[string]string // further key-value entries
	Buffer   []byte            // memory for the file, of any content; nil: new memory
	// Expected is the size in bytes that a file of several row groups will have
	// about. Its memory is then taken at once instead of grown; 0: not known.
	Expected int
	// Fixed settles how BigNumbers are stored before there are any, for files
	// that no other can follow: DECIMAL of a field's length and precision where
	// both are set and the length is at most 38, text elsewhere. Values of a
	// DECIMAL field must have its precision as scale.
	Fixed bool
}

// Writer makes one file in memory. It is owned by one goroutine.
type Writer struct {
	schema  *batch.Schema
	o       Options
	out     []byte
	taken   int64 // bytes of the file before out
	cols    []*columnWriter
	held    *batch.Batch // rows of small batches that wait to become a page; nil: none yet
	groups  []group      // finished row groups
	pages   []int        // rows of the pages of the current row group
	rows    int64        // in row groups and pages, without the held ones
	group   int64        // of the current row group
	zstd    *zstd.Encoder
	huffman huff0.Scratch
	packed  []byte
	body    []byte
	ints    []int64
	idx     []uint32
}

// group is a finished row group: the rows of its pages.
type group struct{ pages []int }

func (g group) rows() int64 {
	n := 0
	for _, rows := range g.pages {
		n += rows
	}
	return int64(n)
}

// NewWriter begins a file for batches of a schema.
func NewWriter(s *batch.Schema, o Options) *Writer {
	if o.GroupRows <= 0 {
		o.GroupRows = RowGroupRows
	}
	if o.Saving <= 0 {
		o.Saving = usualSaving
	}
	w := &Writer{schema: s, o: o, out: append(o.Buffer[:0], magic...)}
	for i := range s.Fields {
		c := w.newColumn(&s.Fields[i], shapeOf(s.Fields[i].Type))
		if o.Fixed && c.field.Type == batch.BigNumber {
			c.fix()
		}
		w.cols = append(w.cols, c)
	}
	return w
}

// Next gives a Writer for the following file of the same rows, after Finish. Where
// decimals did not fit in this file the next one stores them in a form that takes
// them. It takes over the memory that this Writer worked with; buffer is
// Options.Buffer for its own file.
func (w *Writer) Next(buffer []byte) *Writer {
	o := w.o
	o.Buffer = buffer
	next := NewWriter(w.schema, o)
	next.body, next.packed, next.ints, next.idx = w.body, w.packed, w.ints, w.idx
	for i, c := range w.cols {
		if c.field.Type == batch.BigNumber && !o.Fixed {
			next.cols[i] = next.newColumn(c.field, c.successor())
		}
		next.cols[i].inherit(c)
	}
	return next
}

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return w.rows + w.heldRows() }

func (w *Writer) heldRows() int64 {
	if w.held == nil {
		return 0
	}
	return int64(w.held.Physical())
}

// Size estimates the size of the file if it ended now, in bytes.
func (w *Writer) Size() int {
	n := int(w.taken) + len(w.out) + w.pending()
	if w.held != nil {
		n += w.held.Bytesize()
	}
	return n
}

// pending is the size of the current row group, dictionaries not compressed yet.
func (w *Writer) pending() int {
	n := 0
	for _, c := range w.cols {
		n += c.size()
		if c.nanos != nil {
			n += c.nanos.size()
		}
	}
	return n
}

// Fits says whether the rows of a batch can go into the same file: decimals of
// another scale or of more digits than the file can take need a new one, which
// Next begins.
func (w *Writer) Fits(b *batch.Batch) bool {
	fits := true
	for i, c := range w.cols {
		if c.field.Type != batch.BigNumber || !c.settled || c.shape == shapeDecimalText || b.Cols[i].Raw {
			continue
		}
		if n := needOf(b.Cols[i]); !c.accepts(n) {
			c.refused = n
			fits = false
		}
	}
	return fits
}

// Write adds the selected rows of b, whose columns are typed; b stays the
// caller's. The error is ErrDecimals when Fits would have said no, and then
// nothing was added.
func (w *Writer) Write(b *batch.Batch) error {
	d := b.Dense()
	defer d.Release()
	n := d.Physical()
	if n == 0 {
		return nil
	}
	if err := w.prepare(d); err != nil {
		return err
	}
	small := n < w.enough() && d.Bytesize() < batch.SoftBytes
	if small {
		return w.hold(d)
	}
	if err := w.release(); err != nil {
		return err
	}
	for from := 0; from < n; from += 2 * batch.MaxRows {
		slice := d.Slice(from, min(n, from+2*batch.MaxRows))
		part := slice.Dense()
		slice.Release()
		err := w.page(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare checks the columns and settles how decimals are stored.
func (w *Writer) prepare(d *batch.Batch) error {
	if len(d.Cols) != len(w.cols) {
		return fmt.Errorf("parquet: rows of %d columns do not belong into a file of %d", len(d.Cols), len(w.cols))
	}
	needs := make([]decimalNeed, len(w.cols))
	for i, c := range w.cols {
		col := d.Cols[i]
		if col.Raw {
			return fmt.Errorf("parquet: column %q still holds unconverted text", c.field.Name)
		}
		if col.Type != c.field.Type {
			return fmt.Errorf("parquet: column %q holds %s, its field is %s", c.field.Name, col.Type, c.field.Type)
		}
		if c.field.Type != batch.BigNumber {
			continue
		}
		if needs[i] = needOf(col); !c.accepts(needs[i]) {
			c.refused = needs[i]
			return fmt.Errorf("column %q: %w", c.field.Name, ErrDecimals)
		}
	}
	for i, c := range w.cols {
		if c.field.Type == batch.BigNumber {
			c.settle(needs[i])
		}
	}
	return nil
}

// hold collects the rows of a small batch.
func (w *Writer) hold(d *batch.Batch) error {
	if w.held == nil {
		w.held = batch.NewAllocator().Batch(w.schema)
	}
	for i, c := range w.held.Cols {
		c.AppendColumn(d.Cols[i])
	}
	w.held.SetRows(w.held.Physical() + boolInt(len(d.Cols) == 0)*d.Physical())
	if w.held.Physical() >= w.enough() || w.held.Bytesize() >= batch.SoftBytes {
		return w.release()
	}
	return nil
}

// enough is the number of rows that make a page.
func (w *Writer) enough() int {
	rows := int64(pageRows)
	if w.o.Codec == Zstd {
		rows = zstdPageRows
	}
	return int(min(rows, w.o.GroupRows))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// release makes a page of the rows that wait.
func (w *Writer) release() error {
	if w.heldRows() == 0 {
		return nil
	}
	held := w.held
	w.held = held.Allocator().Batch(w.schema)
	err := w.page(held)
	held.Release()
	return err
}

// page adds the rows of a dense batch as one page per column.
func (w *Writer) page(d *batch.Batch) error {
	for i, c := range w.cols {
		if err := c.add(d.Cols[i], w.pages); err != nil {
			return fmt.Errorf("parquet: column %q: %w", c.field.Name, err)
		}
	}
	n := d.Physical()
	w.pages = append(w.pages, n)
	w.rows += int64(n)
	if w.group += int64(n); w.group >= w.o.GroupRows {
		return w.endGroup()
	}
	return nil
}

func (w *Writer) endGroup() error {
	if w.group == 0 {
		return nil
	}
	w.reserve()
	for _, c := range w.cols {
		if err := c.flush(); err != nil {
			return err
		}
	}
	w.groups = append(w.groups, group{w.pages})
	w.pages, w.group = nil, 0
	return nil
}

// reserve makes room for the current row group, and for the whole file when it
// is the first of several.
func (w *Writer) reserve() {
	need := len(w.out) + w.pending()
	if need <= cap(w.out) {
		return
	}
	if len(w.groups) == 0 && w.group >= w.o.GroupRows {
		need = max(need, w.o.Expected)
	}
	grown := make([]byte, len(w.out), need) // unlike slices.Grow it clears nothing
	copy(grown, w.out)
	w.out = grown
}

// Take gives what is complete of the file since the last Take, for writers that do
// not keep it in memory; Finish then gives the rest. The bytes are valid until the
// next call.
func (w *Writer) Take() []byte {
	out := w.out
	w.taken += int64(len(out))
	w.out = w.out[len(out):]
	return out
}

// Finish ends the file and gives its bytes, which belong to the caller. The
// writer is of no use afterwards.
func (w *Writer) Finish() ([]byte, error) {
	if err := w.release(); err != nil {
		return nil, err
	}
	if err := w.endGroup(); err != nil {
		return nil, err
	}
	for _, c := range w.cols {
		if c.nanos == nil {
			continue
		}
		if err := c.nanos.fill(w.groups); err != nil {
			return nil, err
		}
	}
	w.footer()
	if w.zstd != nil {
		zstdEncoders.Put(w.zstd)
		w.zstd = nil
	}
	return w.out, nil
}

// metadata gives the key-value entries but the footer's checksum.
func (w *Writer) metadata() map[string]string {
	meta := map[string]string{}
	maps.Copy(meta, w.o.Metadata)
	maps.DeleteFunc(meta, func(k, _ string) bool { return ownKeys[k] })
	meta[MetadataKey] = string(EncodeSchema(w.schema))
	meta[versionKey] = formatVersion
	if list := w.companions(); list != "" {
		meta[nanosKey] = list
	}
	return meta
}
