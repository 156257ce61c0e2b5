package parquet

import (
	"hash/crc32"
	"testing"

	"sluice/engine/batch"
)

// Checksums stop almost everything that fuzzing changes in a file, so the decoders
// behind them get their own targets.

// FuzzPage decodes a page body as every shape and encoding.
func FuzzPage(f *testing.F) {
	delta := appendDelta(nil, []int64{5, 7, 3, 1 << 40, -9})
	levels := appendLevels(nil, nil, 0, 5)
	some := appendLevels(nil, batch.Bitmap{0b10101}, 2, 5)
	f.Add(uint8(shapeInt64), uint8(encDelta), uint16(5), append(levels, delta...))
	f.Add(uint8(shapeBytes), uint8(encDictionary), uint16(5), append(levels, 2, 3, 0b11100100, 0))
	f.Add(uint8(shapeBytes), uint8(encDeltaLength), uint16(5), append(some, appendDelta(nil, []int64{1, 2, 0})...))
	f.Add(uint8(shapeInt64), uint8(encSplit), uint16(5), append(levels, make([]byte, 40)...))
	f.Add(uint8(shapeDouble), uint8(encSplit), uint16(5), append(some, make([]byte, 24)...))
	f.Add(uint8(shapeNanos), uint8(encPlain), uint16(5), append(some, make([]byte, 12)...))
	types := map[shape]batch.Type{
		shapeInt64: batch.Integer, shapeDouble: batch.Number, shapeBoolean: batch.Boolean, shapeBytes: batch.String, shapeUUID: batch.UUID,
		shapeDecimal64: batch.BigNumber, shapeDecimal128: batch.BigNumber, shapeDecimalText: batch.BigNumber, shapeNanos: batch.Timestamp,
	}
	f.Fuzz(func(t *testing.T, kind, encoding uint8, rows uint16, body []byte) {
		s := shape(kind % 9)
		r := &chunkReader{
			meta: &columnMeta{shape: s, scale: 2}, codec: codecNone, s: &scratch{},
			pages:   []page{{kind: pageData, encoding: int32(encoding), rows: int(rows), raw: len(body), crc: crc32.ChecksumIEEE(body), packed: body}},
			offsets: []int32{0, 1, 3, 3, 40}, data: make([]byte, 40+blind), nums: []float64{1, 2, 3},
		}
		a := batch.NewAllocator()
		col := a.Column(types[s])
		defer col.Release()
		if s == shapeNanos {
			col.Extend(int(rows))
			_ = r.readNanos(col)
			return
		}
		if err := r.read(col); err != nil {
			return
		}
		if col.Len() != int(rows) {
			t.Fatalf("%d rows came out of a page of %d", col.Len(), rows)
		}
		for i := range col.Len() {
			_ = col.Value(i)
		}
	})
}

// FuzzFooter reads a footer whose checksum is right.
func FuzzFooter(f *testing.F) {
	s := batch.NewSchema(batch.NewField("d", batch.BigNumber), batch.NewField("t", batch.Timestamp))
	b := batch.NewAllocator().Batch(s)
	b.Cols[0].AppendNull()
	b.Cols[1].AppendTimestamp(1, 5)
	w := NewWriter(s, Options{})
	if err := w.Write(b); err != nil {
		f.Fatal(err)
	}
	data, err := w.Finish()
	if err != nil {
		f.Fatal(err)
	}
	foot := len(data) - 8 - int(uint32(data[len(data)-8])|uint32(data[len(data)-7])<<8)
	f.Add(append([]byte(nil), data[foot:len(data)-8]...))
	f.Fuzz(func(_ *testing.T, p []byte) {
		p = append([]byte(nil), p...)
		ft, err := readFooter(p)
		if err != nil {
			return
		}
		copy(p[ft.sumAt:ft.sumAt+len(noSum)], noSum)
		copy(p[ft.sumAt:], hexSum(crc32.ChecksumIEEE(p)))
		file := append(append([]byte(nil), data[:foot]...), p...)
		file = append(file, byte(len(p)), byte(len(p)>>8), byte(len(p)>>16), 0)
		opened, err := Open(append(file, magic...))
		if err != nil {
			return
		}
		for b, err := range opened.All(batch.NewAllocator()) {
			if err != nil {
				return
			}
			b.Release()
		}
	})
}
