package parquet_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/parquet"
)

// allTypes is a schema with a field of every type, some of them with masks,
// lengths and symbols.
func allTypes() *batch.Schema {
	s := batch.NewSchema(
		batch.NewField("id", batch.Integer),
		batch.NewField("number", batch.Number),
		batch.NewField("text", batch.String),
		batch.NewField("day", batch.Date),
		batch.NewField("flag", batch.Boolean),
		batch.NewField("amount", batch.BigNumber),
		batch.NewField("wide", batch.BigNumber),
		batch.NewField("odd", batch.BigNumber),
		batch.NewField("bytes", batch.Binary),
		batch.NewField("moment", batch.Timestamp),
		batch.NewField("address", batch.Inet),
		batch.NewField("document", batch.JSON),
		batch.NewField("key", batch.UUID),
		batch.NewField("country", batch.String),
		batch.NewField("rate", batch.Number),
	)
	s.Fields[0].Length, s.Fields[0].Mask = 9, "#,##0"
	s.Fields[2].Length, s.Fields[2].Trim, s.Fields[2].Comments = 40, batch.TrimBoth, "a \"comment\" <&> é"
	s.Fields[3].Mask, s.Fields[3].Zone, s.Fields[3].Locale, s.Fields[3].Strict = "yyyy-MM-dd", "Europe/Berlin", "de_DE", true
	s.Fields[5].Precision, s.Fields[5].Decimal, s.Fields[5].Grouping, s.Fields[5].Currency = 2, ",", ".", "€"
	s.Fields[5].Lenient, s.Fields[5].Origin = true, "Read orders"
	return s
}

var specialFloats = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, -1.5}

var specialTimes = []int64{0, -1, 1, -62135596800000, 253402300799999, math.MinInt64, math.MaxInt64}

// value makes a value of a field of allTypes.
func value(r *rand.Rand, field int, t batch.Type, nanos bool) batch.Value {
	v := batch.Value{Type: t, Valid: true}
	switch t {
	case batch.Integer:
		v.Int = int64(r.Uint64() >> r.IntN(64))
		if r.IntN(50) == 0 {
			v.Int = specialTimes[r.IntN(len(specialTimes))]
		}
	case batch.Number:
		v.Float = r.NormFloat64()
		if field == 14 || r.IntN(4) == 0 {
			v.Float = specialFloats[r.IntN(len(specialFloats))]
		}
	case batch.String:
		switch {
		case field == 13:
			v.Text = []string{"DE", "NL", "", "Österreich"}[r.IntN(4)]
		case r.IntN(5) > 0:
			v.Text = fmt.Sprintf("text %d é\x00%s", r.IntN(1000000), bytes.Repeat([]byte("x"), r.IntN(30)))
		}
	case batch.Date:
		v.Int = r.Int64N(1<<41) - 1<<40
		if r.IntN(20) == 0 {
			v.Int = specialTimes[r.IntN(len(specialTimes))]
		}
	case batch.Boolean:
		v.Int = r.Int64N(2)
	case batch.BigNumber:
		v.Dec = number(r, field)
	case batch.Binary, batch.JSON:
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		v.Text = string(b)
		if t == batch.JSON {
			v.Text = fmt.Sprintf(`{"a":%d}`, r.IntN(10))
		}
	case batch.Timestamp:
		v.Int = r.Int64N(1 << 60)
		if r.IntN(20) == 0 {
			v.Int = []int64{-62135596800000000, 253402300799999999, -1}[r.IntN(3)]
		}
		if nanos && r.IntN(2) == 0 {
			v.Nano = r.Int32N(1000)
		}
	case batch.Inet:
		v.Text = "\x7f\x00\x00\x01"
		if r.IntN(2) == 0 {
			v.Text = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
		}
	case batch.UUID:
		b := make([]byte, 16)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		v.Text = string(b)
	}
	return v
}

func number(r *rand.Rand, field int) decimal.Decimal {
	switch field {
	case 5:
		return decimal.FromInt128(-1, uint64(-r.Int64N(1000000)-1), 2)
	case 6:
		text := []string{"12345678901234567890123456789012345678", "-99999999999999999999999999999999999999", "1", "0", "-1"}[r.IntN(5)]
		d, _ := decimal.Parse(text)
		return d
	}
	text := []string{"1.0", "1.00", "1E+3", "-0.000000000000000000000000000000000000000000000000001", "123456789012345678901234567890123456789012345678901234567890.5", "7"}[r.IntN(6)]
	d, _ := decimal.Parse(text)
	return d
}

// options of made batches.
type made struct {
	rows  int
	nulls float64 // share of null cells
	nanos bool
}

// makeBatch fills a batch (one hold) of a schema with random values.
func makeBatch(a *batch.Allocator, r *rand.Rand, s *batch.Schema, m made) *batch.Batch {
	b := a.Batch(s)
	for i, c := range b.Cols {
		for range m.rows {
			if r.Float64() < m.nulls {
				c.AppendNull()
				continue
			}
			c.AppendValue(value(r, i, s.Fields[i].Type, m.nanos))
		}
	}
	b.SetRows(m.rows)
	return b
}

// cell is a value in a form that compares exactly: bits of floats, digits and
// scale of decimals.
func cell(c *batch.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	v := c.Value(i)
	switch {
	case c.Type == batch.Number:
		return fmt.Sprintf("%016x", math.Float64bits(v.Float))
	case c.Type == batch.BigNumber:
		return fmt.Sprintf("%s scale %d", v.Dec.Unscaled(), v.Dec.Scale())
	case c.IsText():
		return fmt.Sprintf("%q", v.Text)
	}
	return fmt.Sprintf("%d+%d", v.Int, v.Nano)
}

// cells gives the rows of batches, column by column.
func cells(list ...*batch.Batch) [][]string {
	var out [][]string
	for _, b := range list {
		if out == nil {
			out = make([][]string, len(b.Cols))
		}
		for i := range b.All() {
			for k, c := range b.Cols {
				out[k] = append(out[k], cell(c, i))
			}
		}
	}
	return out
}

// write makes files of batches, as many as decimals need.
func write(t testing.TB, s *batch.Schema, o parquet.Options, list ...*batch.Batch) [][]byte {
	t.Helper()
	var files [][]byte
	w := parquet.NewWriter(s, o)
	finish := func() {
		data, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	for _, b := range list {
		if !w.Fits(b) {
			finish()
			w = w.Next(nil)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	finish()
	return files
}

// read gives the rows of files and checks that nothing leaks.
func read(t testing.TB, files ...[]byte) [][]string {
	t.Helper()
	a := batch.NewAllocator()
	var list []*batch.Batch
	for _, data := range files {
		f, err := parquet.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for b, err := range f.All(a) {
			if err != nil {
				t.Fatal(err)
			}
			rows += int64(b.Rows())
			list = append(list, b)
		}
		if rows != f.Rows() {
			t.Fatalf("the file counts %d rows and gives %d", f.Rows(), rows)
		}
	}
	out := cells(list...)
	for _, b := range list {
		b.Release()
	}
	if err := a.CheckLeaks(); err != nil {
		t.Fatal(err)
	}
	return out
}

// same compares rows and names the first difference.
func same(t testing.TB, s *batch.Schema, want, got [][]string) {
	t.Helper()
	for k := range want {
		if len(got) == 0 && len(want[k]) == 0 {
			continue
		}
		if len(want[k]) != len(got[k]) {
			t.Fatalf("field %q: %d rows came back of %d", s.Fields[k].Name, len(got[k]), len(want[k]))
		}
		for i := range want[k] {
			if want[k][i] != got[k][i] {
				t.Fatalf("field %q, row %d: %s became %s", s.Fields[k].Name, i, want[k][i], got[k][i])
			}
		}
	}
}

// decimalCell is cell for the text of a decimal.
func decimalCell(text string) string {
	d, err := decimal.Parse(text)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s scale %d", d.Unscaled(), d.Scale())
}
