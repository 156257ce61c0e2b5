package parquet_test

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/parquet"
)

// segmentBytes is the size at which a gate begins the next file.
const segmentBytes = 32 << 20

// readOrders reads the orders of the benchmark module (bench/cmd/gen) whose path
// SLUICE_BENCH_ORDERS names.
func readOrders(b *testing.B) (*batch.Schema, []*batch.Batch, int64) {
	b.Helper()
	path := os.Getenv("SLUICE_BENCH_ORDERS")
	if path == "" {
		b.Skip("SLUICE_BENCH_ORDERS does not name the orders to write")
	}
	in, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		b.Fatal(err)
	}
	s := batch.NewSchema(
		batch.NewField("id", batch.Integer), batch.NewField("ts", batch.Date), batch.NewField("customer", batch.String),
		batch.NewField("country", batch.String), batch.NewField("amount", batch.BigNumber), batch.NewField("qty", batch.Integer),
		batch.NewField("note", batch.String),
	)
	a := batch.NewAllocator()
	r := csv.NewReader(in)
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		b.Fatal(err)
	}
	list := []*batch.Batch{a.Batch(s)}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s, list, info.Size()
		}
		if err != nil {
			b.Fatal(err)
		}
		last := list[len(list)-1]
		if last.Physical() == batch.MaxRows {
			last = a.Batch(s)
			list = append(list, last)
		}
		appendOrder(b, last.Cols, row)
	}
}

func appendOrder(b *testing.B, cols []*batch.Column, row []string) {
	id, err1 := strconv.ParseInt(row[0], 10, 64)
	ts, err2 := time.Parse("2006-01-02 15:04:05.999", row[1])
	qty, err3 := strconv.ParseInt(row[5], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		b.Fatal(err)
	}
	cols[0].AppendInt(id)
	cols[1].AppendInt(ts.UnixMilli())
	cols[2].AppendString(row[2])
	cols[3].AppendString(row[3])
	if amount, err := decimal.Parse(row[4]); err == nil {
		cols[4].AppendDecimal(amount)
	} else {
		cols[4].AppendNull()
	}
	cols[5].AppendInt(qty)
	if row[6] == "" {
		cols[6].AppendNull()
	} else {
		cols[6].AppendString(row[6])
	}
}

// BenchmarkOrdersFile is workload W4: the orders from memory into hashed segments,
// and back.
func BenchmarkOrdersFile(b *testing.B) {
	s, list, size := readOrders(b)
	for _, c := range benchOptions {
		var segments [][]byte
		b.Run("write/"+c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				segments = writeSegments(b, s, c.o, list, segments)
			}
			total := 0
			for _, data := range segments {
				total += len(data)
			}
			b.ReportMetric(float64(total)/1e6, "file-MB")
		})
		if len(segments) == 0 {
			continue
		}
		b.Run("read/"+c.name, func(b *testing.B) {
			b.SetBytes(size)
			a := batch.NewAllocator()
			for b.Loop() {
				readSegments(b, a, segments)
			}
		})
	}
}

// writeSegments writes files into the memory of the earlier ones.
func writeSegments(b *testing.B, s *batch.Schema, o parquet.Options, list []*batch.Batch, buffers [][]byte) [][]byte {
	var out [][]byte
	buffer := func() []byte {
		if len(out) < len(buffers) {
			return buffers[len(out)]
		}
		return nil
	}
	o.Buffer = buffer()
	w := parquet.NewWriter(s, o)
	finish := func() {
		data, err := w.Finish()
		if err != nil {
			b.Fatal(err)
		}
		sha256.Sum256(data)
		out = append(out, data)
	}
	for _, batch := range list {
		if !w.Fits(batch) || w.Size() >= segmentBytes {
			finish()
			w = w.Next(buffer())
		}
		if err := w.Write(batch); err != nil {
			b.Fatal(err)
		}
	}
	finish()
	return out
}

func readSegments(b *testing.B, a *batch.Allocator, segments [][]byte) {
	for _, data := range segments {
		sha256.Sum256(data)
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
}
