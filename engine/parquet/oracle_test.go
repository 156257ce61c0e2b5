package parquet_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"testing"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"sluice/engine/batch"
)

// oracle reads files with arrow-go and compares the rows.
func oracle(t *testing.T, s *batch.Schema, want [][]string, files [][]byte) {
	t.Helper()
	got := make([][]string, s.Len())
	for _, data := range files {
		r, err := file.NewParquetReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		companions := companionsOf(t, r, s)
		for g := range r.NumRowGroups() {
			group := r.RowGroup(g)
			for k := range s.Len() {
				list := oracleColumn(t, group, k, s.Fields[k].Type, nil)
				if c, ok := companions[k]; ok {
					nanos := oracleColumn(t, group, c, batch.Integer, nil)
					for i, n := range nanos {
						if n != "null" {
							list[i] = list[i][:len(list[i])-1] + n[:len(n)-2]
						}
					}
				}
				got[k] = append(got[k], list...)
			}
		}
		_ = r.Close()
	}
	if want == nil {
		want = make([][]string, s.Len())
	}
	same(t, s, want, got)
}

// companionsOf finds the columns behind the fields' and the field that each is of.
func companionsOf(t *testing.T, r *file.Reader, s *batch.Schema) map[int]int {
	t.Helper()
	list := map[int]int{}
	columns := r.MetaData().Schema
	for c := s.Len(); c < columns.NumColumns(); c++ {
		for k := range s.Fields {
			name := columns.Column(c).Name()
			if s.Fields[k].Type == batch.Timestamp && (name == s.Fields[k].Name+"__nanos" || name == s.Fields[k].Name+"__nanos_") {
				list[k] = c
			}
		}
	}
	if len(list) != columns.NumColumns()-s.Len() {
		t.Fatalf("%d columns for %d fields", columns.NumColumns(), s.Len())
	}
	return list
}

func oracleColumn(t *testing.T, g *file.RowGroupReader, c int, typ batch.Type, out []string) []string {
	t.Helper()
	reader, err := g.Column(c)
	if err != nil {
		t.Fatal(err)
	}
	n := g.NumRows()
	levels := make([]int16, n)
	column := g.MetaData().Schema.Column(c)
	take := func(read func(from int64) (int64, int, error), text func(k int) string) {
		for from := int64(0); from < n; {
			rows, values, err := read(from)
			if err != nil || rows == 0 {
				t.Fatalf("column %s: row %d of %d: %v", column.Name(), from, n, err)
			}
			k := 0
			for i := range rows {
				if levels[from+i] == 0 {
					out = append(out, "null")
					continue
				}
				out = append(out, text(k))
				k++
			}
			if k != values {
				t.Fatalf("%d values for %d levels", values, k)
			}
			from += rows
		}
	}
	switch r := reader.(type) {
	case *file.Int64ColumnChunkReader:
		v := make([]int64, n)
		take(func(from int64) (int64, int, error) { return r.ReadBatch(n-from, v, levels[from:], nil) }, func(k int) string {
			if d, ok := column.LogicalType().(schema.DecimalLogicalType); ok {
				return fmt.Sprintf("%d scale %d", v[k], d.Scale())
			}
			return fmt.Sprintf("%d+0", v[k])
		})
	case *file.Int32ColumnChunkReader:
		v := make([]int32, n)
		take(func(from int64) (int64, int, error) { return r.ReadBatch(n-from, v, levels[from:], nil) }, func(k int) string { return fmt.Sprintf("%d+0", v[k]) })
	case *file.Float64ColumnChunkReader:
		v := make([]float64, n)
		take(func(from int64) (int64, int, error) { return r.ReadBatch(n-from, v, levels[from:], nil) }, func(k int) string { return fmt.Sprintf("%016x", math.Float64bits(v[k])) })
	case *file.BooleanColumnChunkReader:
		v := make([]bool, n)
		take(func(from int64) (int64, int, error) { return r.ReadBatch(n-from, v, levels[from:], nil) }, func(k int) string {
			if v[k] {
				return "1+0"
			}
			return "0+0"
		})
	case *file.ByteArrayColumnChunkReader:
		v := make([]arrow.ByteArray, n)
		take(func(from int64) (int64, int, error) { return r.ReadBatch(n-from, v, levels[from:], nil) }, func(k int) string {
			if typ == batch.BigNumber {
				return decimalCell(string(v[k]))
			}
			return fmt.Sprintf("%q", v[k])
		})
	case *file.FixedLenByteArrayColumnChunkReader:
		v := make([]arrow.FixedLenByteArray, n)
		take(func(from int64) (int64, int, error) { return r.ReadBatch(n-from, v, levels[from:], nil) }, func(k int) string {
			if typ != batch.BigNumber {
				return fmt.Sprintf("%q", []byte(v[k]))
			}
			i := new(big.Int).SetBytes(v[k])
			if v[k][0]&0x80 != 0 {
				i.Sub(i, new(big.Int).Lsh(big.NewInt(1), 128))
			}
			return fmt.Sprintf("%s scale %d", i, column.LogicalType().(schema.DecimalLogicalType).Scale())
		})
	default:
		t.Fatalf("column %s has the reader %T", column.Name(), reader)
	}
	return out
}
