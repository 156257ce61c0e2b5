package parquet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"sluice/engine/batch"
	"sluice/engine/parquet"
)

// encodingsOf lists the encodings of every column chunk of a field.
func encodingsOf(t *testing.T, data []byte, field int) (list [][]arrow.Encoding) {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for g := range r.NumRowGroups() {
		c, err := r.MetaData().RowGroup(g).ColumnChunk(field)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c.Encodings())
	}
	return list
}

// Amounts take less split into their bytes, a row number takes less as differences;
// what was decided is decided again when the data has become another.
func TestZstdTakesTheSmallerIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	s := batch.NewSchema(batch.NewField("id", batch.Integer), batch.NewField("amount", batch.Integer), batch.NewField("changing", batch.Integer))
	a := batch.NewAllocator()
	const groups, rows = 40, 4096
	var list []*batch.Batch
	for g := range groups {
		b := a.Batch(s)
		for i := range rows {
			at := int64(g*rows + i)
			amount := int64(r.ExpFloat64() * 3000)
			b.Cols[0].AppendInt(at)
			b.Cols[1].AppendInt(amount)
			if g < groups/2 {
				b.Cols[2].AppendInt(at)
			} else {
				b.Cols[2].AppendInt(amount)
			}
		}
		list = append(list, b)
	}
	size := map[bool]int{}
	for _, split := range []bool{false, true} {
		files := write(t, s, parquet.Options{Codec: parquet.Zstd, Split: split, GroupRows: rows}, list...)
		same(t, s, cells(list...), read(t, files...))
		oracle(t, s, cells(list...), files)
		size[split] = len(files[0])
		for field, want := range map[int][2]bool{0: {}, 1: {split, split}, 2: {false, split}} {
			chunks := encodingsOf(t, files[0], field)
			for k, at := range []int{0, len(chunks) - 1} {
				if got := slices.Contains(chunks[at], arrow.Encodings.ByteStreamSplit); got != want[k] {
					t.Errorf("split %v, field %d, row group %d has the encodings %v", split, field, at, chunks[at])
				}
			}
		}
	}
	if size[true]*100 > size[false]*97 {
		t.Errorf("split into bytes the file takes %d bytes, %d otherwise", size[true], size[false])
	}
}

// Texts that turn from distinct ones into a few are found out after a while.
func TestDictionaryIsTriedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	s := batch.NewSchema(batch.NewField("text", batch.String))
	a := batch.NewAllocator()
	const groups, rows = 40, 4096
	var list []*batch.Batch
	for g := range groups {
		b := a.Batch(s)
		for range rows {
			text := fmt.Sprintf("%x", r.Uint64())
			if g >= groups/2 {
				text = "one of few texts " + text[:1]
			}
			b.Cols[0].AppendBytes([]byte(text))
		}
		list = append(list, b)
	}
	files := write(t, s, parquet.Options{GroupRows: rows}, list...)
	same(t, s, cells(list...), read(t, files...))
	chunks := encodingsOf(t, files[0], 0)
	for at, want := range map[int]bool{0: false, len(chunks) - 1: true} {
		got := slices.ContainsFunc(chunks[at], func(e arrow.Encoding) bool { return e == arrow.Encodings.RLEDict || e == arrow.Encodings.PlainDict })
		if got != want {
			t.Errorf("row group %d has the encodings %v", at, chunks[at])
		}
	}
}
