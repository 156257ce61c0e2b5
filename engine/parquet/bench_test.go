package parquet_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/parquet"
)

const benchRows = 1_000_000

// orders makes a million rows that look like orders, and the size they have as
// CSV. With distinct strings no text repeats.
func orders(distinct bool) (*batch.Schema, []*batch.Batch, int64) {
	s := batch.NewSchema(
		batch.NewField("id", batch.Integer),
		batch.NewField("ts", batch.Date),
		batch.NewField("customer", batch.String),
		batch.NewField("country", batch.String),
		batch.NewField("amount", batch.BigNumber),
		batch.NewField("price", batch.Number),
		batch.NewField("qty", batch.Integer),
		batch.NewField("note", batch.String),
	)
	r := rand.New(rand.NewPCG(7, 7))
	a := batch.NewAllocator()
	countries := []string{"DE", "NL", "FR", "AT", "CH", "PL", "IT", "ES"}
	words := []string{"call first", "gift wrap", "leave with the neighbour", "fragile", "second floor, ring twice", "invoice by mail", "no substitutes"}
	var list []*batch.Batch
	size := int64(0)
	var line []byte
	for row := 0; row < benchRows; {
		b := a.Batch(s)
		for ; row < benchRows && b.Physical() < batch.MaxRows; row++ {
			amount := r.Int64N(50000)
			customer, country := fmt.Sprintf("C%07d", r.IntN(100000)), countries[r.IntN(len(countries))]
			note := words[r.IntN(len(words))]
			if r.IntN(3) == 0 {
				note += ", " + words[r.IntN(len(words))]
			}
			if distinct {
				customer, country = fmt.Sprintf("%016x", r.Uint64()), fmt.Sprintf("%s-%08d", country, row)
				note = fmt.Sprintf("%s %x", note, r.Uint32())
			}
			b.Cols[0].AppendInt(int64(row) + 1)
			b.Cols[1].AppendInt(1704067200000 + r.Int64N(63072000000))
			b.Cols[2].AppendString(customer)
			b.Cols[3].AppendString(country)
			b.Cols[4].AppendDecimal(decimal.FromInt128(0, uint64(amount), 2))
			b.Cols[5].AppendFloat(float64(amount) / 100)
			b.Cols[6].AppendInt(1 + r.Int64N(20))
			if r.IntN(10) < 3 {
				b.Cols[7].AppendNull()
				note = ""
			} else {
				b.Cols[7].AppendString(note)
			}
			line = fmt.Appendf(line[:0], "%d,2024-03-15 00:02:11.423,%s,%s,%d.%02d,%d.%02d,%d,%s\n",
				row+1, customer, country, amount/100, amount%100, amount/100, amount%100, b.Cols[6].Int(b.Physical()-1), note)
			size += int64(len(line))
		}
		list = append(list, b)
	}
	return s, list, size
}

var benchOptions = []struct {
	name string
	o    parquet.Options
}{{"snappy", parquet.Options{}}, {"zstd", parquet.Options{Codec: parquet.Zstd}}}

// BenchmarkWrite encodes a million orders and hashes the file. MB/s counts the
// rows as CSV.
func BenchmarkWrite(b *testing.B) {
	for _, distinct := range []bool{false, true} {
		s, list, csv := orders(distinct)
		for _, c := range benchOptions {
			b.Run(fmt.Sprintf("%s/distinct=%v", c.name, distinct), func(b *testing.B) {
				b.SetBytes(csv)
				b.ReportAllocs()
				size := 0
				w := parquet.NewWriter(s, c.o)
				var buffer []byte // a gate writes one segment after the other, too
				for b.Loop() {
					w = w.Next(buffer)
					for _, batch := range list {
						if err := w.Write(batch); err != nil {
							b.Fatal(err)
						}
					}
					data, err := w.Finish()
					if err != nil {
						b.Fatal(err)
					}
					sha256.Sum256(data)
					size, buffer = len(data), data
				}
				b.ReportMetric(float64(size)/1e6, "file-MB")
				b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// BenchmarkRead reads them back into batches.
func BenchmarkRead(b *testing.B) {
	for _, distinct := range []bool{false, true} {
		s, list, csv := orders(distinct)
		for _, c := range benchOptions {
			b.Run(fmt.Sprintf("%s/distinct=%v", c.name, distinct), func(b *testing.B) {
				data := write(b, s, c.o, list...)[0]
				a := batch.NewAllocator()
				b.SetBytes(csv)
				b.ReportAllocs()
				for b.Loop() {
					f, err := parquet.Open(data)
					if err != nil {
						b.Fatal(err)
					}
					for batch, err := range f.All(a) {
						if err != nil {
							b.Fatal(err)
						}
						batch.Release()
					}
				}
				b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// BenchmarkColumn encodes one column of a million rows, to find the slow ones.
func BenchmarkColumn(b *testing.B) {
	s, list, _ := orders(false)
	for k := range s.Fields {
		b.Run(s.Fields[k].Name, func(b *testing.B) {
			one := batch.NewSchema(s.Fields[k])
			size := 0
			for b.Loop() {
				w := parquet.NewWriter(one, parquet.Options{})
				for _, batch := range list {
					p := batch.Pick(one, []int{k})
					if err := w.Write(p); err != nil {
						b.Fatal(err)
					}
					p.Release()
				}
				data, err := w.Finish()
				if err != nil {
					b.Fatal(err)
				}
				size = len(data)
			}
			b.ReportMetric(float64(size)/1e6, "file-MB")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}
