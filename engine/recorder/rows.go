package recorder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"sluice/engine/batch"
	"sluice/engine/parquet"
	"sluice/storage"
)

// RowsFormat names the form of recorded rows: Parquet files of the engine's own
// writer, each behind its length in 8 bytes, little end first. A file holds
// batches of one schema; the order of rows is kept.
const RowsFormat = "sluice-rows/1"

// MaxRowBytes bounds the result rows of one action that are recorded; of more
// only the number is.
const MaxRowBytes = 64 << 20

// encoded are rows that were encoded last: actions often hand the same ones on.
type encoded struct {
	batches []*batch.Batch
	set     storage.RowSet
}

func (r *Recorder) encode(rows []*batch.Batch) (storage.RowSet, error) {
	if len(rows) == 0 {
		return storage.RowSet{}, nil
	}
	r.mu.Lock()
	last := r.rows
	r.mu.Unlock()
	if slices.Equal(last.batches, rows) {
		return last.set, nil
	}
	set, err := EncodeRows(rows)
	r.mu.Lock()
	for _, b := range rows {
		b.Retain() // a batch that came back from the pool would look like the same one
	}
	old := r.rows.batches
	r.rows = encoded{slices.Clone(rows), set}
	r.mu.Unlock()
	for _, b := range old {
		b.Release()
	}
	return set, err
}

// EncodeRows gives rows in RowsFormat. Batches are borrowed.
func EncodeRows(rows []*batch.Batch) (storage.RowSet, error) {
	set := storage.RowSet{Format: RowsFormat}
	size := 0
	for _, b := range rows {
		set.Count += int64(b.Rows())
		size += b.Bytesize()
	}
	if size > MaxRowBytes {
		set.Format = ""
		return set, nil
	}
	for len(rows) > 0 {
		schema := parquet.EncodeSchema(rows[0].Schema)
		w := parquet.NewWriter(rows[0].Schema, parquet.Options{})
		n := 0
		for n < len(rows) && bytes.Equal(parquet.EncodeSchema(rows[n].Schema), schema) && (n == 0 || w.Fits(rows[n])) {
			if err := w.Write(rows[n]); err != nil {
				return storage.RowSet{Count: set.Count}, fmt.Errorf("encode result rows: %w", err)
			}
			n++
		}
		file, err := w.Finish()
		if err != nil {
			return storage.RowSet{Count: set.Count}, fmt.Errorf("encode result rows: %w", err)
		}
		set.Data = binary.LittleEndian.AppendUint64(set.Data, uint64(len(file)))
		set.Data = append(set.Data, file...)
		rows = rows[n:]
	}
	return set, nil
}

// ErrRowsNotKept means that only the number of the rows was recorded.
var ErrRowsNotKept = errors.New("the result rows were too many to be recorded")

// DecodeRows gives recorded rows back; the caller releases them.
func DecodeRows(set storage.RowSet, alloc *batch.Allocator) (rows []*batch.Batch, err error) {
	if set.Count > 0 && set.Format == "" {
		return nil, ErrRowsNotKept
	}
	if set.Format != "" && set.Format != RowsFormat {
		return nil, fmt.Errorf("result rows are in the form %q, which this version does not know", set.Format)
	}
	defer func() {
		if err != nil {
			for _, b := range rows {
				b.Release()
			}
			rows = nil
		}
	}()
	n := int64(0)
	for data := set.Data; len(data) > 0; {
		if len(data) < 8 || uint64(len(data)-8) < binary.LittleEndian.Uint64(data) {
			return rows, fmt.Errorf("result rows: %w: cut off", storage.ErrCorrupt)
		}
		size := binary.LittleEndian.Uint64(data)
		f, err := parquet.Open(data[8 : 8+size])
		if err != nil {
			return rows, fmt.Errorf("result rows: %w", err)
		}
		for b, err := range f.All(alloc) {
			if err != nil {
				return rows, fmt.Errorf("result rows: %w", err)
			}
			rows = append(rows, b)
			n += int64(b.Rows())
		}
		data = data[8+size:]
	}
	if n != set.Count {
		return rows, fmt.Errorf("result rows: %w: %d of %d are there", storage.ErrCorrupt, n, set.Count)
	}
	return rows, nil
}
