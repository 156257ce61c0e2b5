package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/parquet"
)

var everyOption = map[string]parquet.Options{
	"snappy":              {},
	"zstd":                {Codec: parquet.Zstd},
	"none":                {Codec: parquet.Uncompressed},
	"snappy, old readers": {Compatible: true},
	"zstd, old readers":   {Codec: parquet.Zstd, Compatible: true},
	"small groups":        {GroupRows: 3000},
	"gzip":                {Codec: parquet.Gzip},
	"split":               {Codec: parquet.Zstd, Split: true, GroupRows: 3000},
}

// batchesOf makes batches of all types whose nanoseconds begin late.
func batchesOf(a *batch.Allocator, s *batch.Schema, sizes []int, nulls float64) []*batch.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	var list []*batch.Batch
	for i, n := range sizes {
		list = append(list, makeBatch(a, r, s, made{rows: n, nulls: nulls, nanos: i >= len(sizes)/2}))
	}
	return list
}

func TestRowsComeBackExactly(t *testing.T) {
	shapes := map[string]struct {
		sizes []int
		nulls float64
	}{
		"no rows":             {nil, 0},
		"one row":             {[]int{1}, 0},
		"one row of nulls":    {[]int{1}, 1},
		"seven rows":          {[]int{7}, 0.5},
		"pages":               {[]int{2100, 2100}, 0},
		"pages with nulls":    {[]int{2100, 100, 2500}, 0.3},
		"nulls only":          {[]int{3000, 3000}, 1},
		"small batches":       {[]int{1, 2, 3, 500, 64, 1000, 900, 63, 2100, 5}, 0.1},
		"one very long batch": {[]int{8300}, 0.05},
		"many batches":        {[]int{4000, 4000, 4000, 4000, 4000}, 0.1},
	}
	for name, shape := range shapes {
		for option, o := range everyOption {
			t.Run(name+"/"+option, func(t *testing.T) {
				a := batch.NewAllocator()
				s := allTypes()
				list := batchesOf(a, s, shape.sizes, shape.nulls)
				files := write(t, s, o, list...)
				same(t, s, cells(list...), read(t, files...))
				oracle(t, s, cells(list...), files)
			})
		}
	}
}

func TestSchemaComesBack(t *testing.T) {
	s := allTypes()
	data := write(t, s, parquet.Options{Metadata: map[string]string{"sluice.schema": "not this", "gate": "0123"}})[0]
	f, err := parquet.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f.Schema(), s) {
		t.Errorf("the schema became\n%+v\nfrom\n%+v", f.Schema(), s)
	}
	if f.Metadata("gate") != "0123" || f.Rows() != 0 || f.Groups() != 0 {
		t.Errorf("metadata %q, %d rows, %d groups", f.Metadata("gate"), f.Rows(), f.Groups())
	}
}

func TestSelectedRowsOnly(t *testing.T) {
	a := batch.NewAllocator()
	s := allTypes()
	b := makeBatch(a, rand.New(rand.NewPCG(3, 4)), s, made{rows: 5000, nulls: 0.2, nanos: true})
	var sel []int32
	for i := int32(3); i < 5000; i += 7 {
		sel = append(sel, i)
	}
	part := b.Select(sel)
	same(t, s, cells(part, part), read(t, write(t, s, parquet.Options{}, part, part)...))
}

func TestManyRowGroups(t *testing.T) {
	a := batch.NewAllocator()
	s := batch.NewSchema(batch.NewField("id", batch.Integer), batch.NewField("moment", batch.Timestamp), batch.NewField("moment__nanos", batch.String))
	var list []*batch.Batch
	for i := range 100 {
		b := a.Batch(s)
		for k := range 4096 {
			b.Cols[0].AppendInt(int64(i*4096 + k))
			nano := int32(0)
			if i == 70 && k == 4095 {
				nano = 999
			}
			b.Cols[1].AppendTimestamp(int64(k), nano)
			b.Cols[2].AppendString("x")
		}
		list = append(list, b)
	}
	data := write(t, s, parquet.Options{}, list...)[0]
	f, err := parquet.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if f.Groups() != 4 || f.GroupRows(0) != parquet.RowGroupRows {
		t.Errorf("%d row groups, the first of %d rows", f.Groups(), f.GroupRows(0))
	}
	same(t, s, cells(list...), read(t, data))
	oracle(t, s, cells(list...), [][]byte{data})
}

func TestRowsWithoutFields(t *testing.T) {
	a := batch.NewAllocator()
	s := batch.NewSchema()
	b := a.Batch(s)
	b.SetRows(4000)
	w := parquet.NewWriter(s, parquet.Options{})
	for range 3 {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	one := a.Batch(s)
	one.SetRows(1)
	if err := w.Write(one); err != nil {
		t.Fatal(err)
	}
	data, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for b, err := range f.All(a) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.Rows()
		b.Release()
	}
	if rows != 12001 || f.Rows() != 12001 {
		t.Errorf("%d rows came back, the file counts %d", rows, f.Rows())
	}
}

func decimals(a *batch.Allocator, s *batch.Schema, n int, texts ...string) *batch.Batch {
	b := a.Batch(s)
	for i := range n {
		text := texts[i%len(texts)]
		if text == "" {
			b.Cols[0].AppendNull()
			continue
		}
		d, err := decimal.Parse(text)
		if err != nil {
			panic(err)
		}
		b.Cols[0].AppendDecimal(d)
	}
	return b
}

func TestDecimals(t *testing.T) {
	s := batch.NewSchema(batch.NewField("d", batch.BigNumber))
	cases := map[string]struct {
		batches [][]string
		files   int
	}{
		"one scale":                  {[][]string{{"1.50", "-2.25"}, {"0.00"}, {"", "9.99"}}, 1},
		"nulls first":                {[][]string{{""}, {""}, {"-12345678901234567890.5"}, {""}}, 1},
		"18 digits":                  {[][]string{{"999999999999999999", "-999999999999999999"}}, 1},
		"19 digits":                  {[][]string{{"1000000000000000000", "-1000000000000000000"}}, 1},
		"38 digits":                  {[][]string{{"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"}}, 1},
		"39 digits":                  {[][]string{{"100000000000000000000000000000000000000", "-100000000000000000000000000000000000000"}}, 1},
		"the smallest of 128 bits":   {[][]string{{"-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"}}, 1},
		"100 digits":                 {[][]string{{"1e-100", "123456789012345678901234567890123456789012345678901234567890"}}, 1},
		"scales in one batch":        {[][]string{{"1.5", "1.50", "1"}}, 1},
		"wide then narrow":           {[][]string{{"12345678901234567890.5"}, {"1.5"}}, 1},
		"narrow then wide":           {[][]string{{"1.5"}, {"12345678901234567890.5"}, {"2.5"}}, 2},
		"another scale":              {[][]string{{"1.5"}, {"1.50"}, {"2.5"}, {"1.25"}}, 2},
		"scales that change forever": {[][]string{{"1.5"}, {"1.50"}, {"1"}, {"1.500"}, {"2"}, {"2.0"}, {"2.00"}}, 2},
		"negative scale":             {[][]string{{"1E+3", "2E+3"}}, 1},
		"scale 37":                   {[][]string{{"0.0000000000000000000000000000000000001"}}, 1},
		"scale 38":                   {[][]string{{"0.00000000000000000000000000000000000001"}}, 1},
		"text then anything":         {[][]string{{"1", "1.0"}, {"5.25"}, {"1e50"}}, 1},
	}
	for name, c := range cases {
		for _, rows := range []int{20, 2100} { // collected, and as pages of their own
			for option, o := range everyOption {
				t.Run(name+"/"+option, func(t *testing.T) {
					a := batch.NewAllocator()
					var list []*batch.Batch
					for _, texts := range c.batches {
						list = append(list, decimals(a, s, rows, texts...))
					}
					files := write(t, s, o, list...)
					if len(files) != c.files {
						t.Errorf("%d files instead of %d", len(files), c.files)
					}
					same(t, s, cells(list...), read(t, files...))
					oracle(t, s, cells(list...), files)
				})
			}
		}
	}
}

func TestDecimalsThatDoNotFitAreRefused(t *testing.T) {
	a := batch.NewAllocator()
	s := batch.NewSchema(batch.NewField("d", batch.BigNumber))
	w := parquet.NewWriter(s, parquet.Options{})
	first, second := decimals(a, s, 10, "1.5"), decimals(a, s, 10, "1.25")
	if err := w.Write(first); err != nil {
		t.Fatal(err)
	}
	if w.Fits(second) {
		t.Error("decimals of another scale fit")
	}
	if err := w.Write(second); !errors.Is(err, parquet.ErrDecimals) {
		t.Errorf("writing them gives %v", err)
	}
	data, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	same(t, s, cells(first), read(t, data))
}

// Columns may hold anything where a row is null.
func TestJunkBehindNulls(t *testing.T) {
	a := batch.NewAllocator()
	s := allTypes()
	r := rand.New(rand.NewPCG(5, 6))
	for option, o := range everyOption {
		t.Run(option, func(t *testing.T) {
			b := makeBatch(a, r, s, made{rows: 3000, nanos: true})
			valid := make(batch.Bitmap, 375)
			for i := range valid {
				valid[i] = byte(r.Uint32())
			}
			for _, c := range b.Cols {
				c.SetValid(valid)
			}
			same(t, s, cells(b), read(t, write(t, s, o, b)...))
			small := b.Slice(0, 200)
			same(t, s, cells(small, small, small), read(t, write(t, s, o, small, small, small)...))
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	a := batch.NewAllocator()
	cases := map[string]func() (*batch.Schema, *batch.Batch){
		"unconverted text": func() (*batch.Schema, *batch.Batch) {
			s := batch.NewSchema(batch.NewField("n", batch.Integer))
			c := a.RawColumn(batch.Integer)
			c.AppendString("12")
			return s, a.Assemble(s, []*batch.Column{c}, 1)
		},
		"a UUID of three bytes": func() (*batch.Schema, *batch.Batch) {
			s := batch.NewSchema(batch.NewField("u", batch.UUID))
			b := a.Batch(s)
			for range 3000 {
				b.Cols[0].AppendString("abc")
			}
			return s, b
		},
		"a column of another type": func() (*batch.Schema, *batch.Batch) {
			b := a.Batch(batch.NewSchema(batch.NewField("u", batch.String)))
			b.Cols[0].AppendString("abc")
			return batch.NewSchema(batch.NewField("u", batch.Integer)), b
		},
		"too few columns": func() (*batch.Schema, *batch.Batch) {
			b := a.Batch(batch.NewSchema())
			b.SetRows(1)
			return batch.NewSchema(batch.NewField("u", batch.Integer)), b
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, b := c()
			if err := parquet.NewWriter(s, parquet.Options{}).Write(b); err == nil {
				t.Error("it was written")
			}
		})
	}
}

func TestSizeFollowsTheFile(t *testing.T) {
	a := batch.NewAllocator()
	s := allTypes()
	w := parquet.NewWriter(s, parquet.Options{})
	for _, b := range batchesOf(a, s, []int{4096, 4096, 4096, 4096, 10}, 0.1) {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	before := w.Size()
	data, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > before*11/10+20000 || len(data) < before*8/10 {
		t.Errorf("a file of %d bytes was estimated at %d", len(data), before)
	}
}

// The bytes of a file depend on its rows and batches alone.
func TestSameRowsGiveSameBytes(t *testing.T) {
	a := batch.NewAllocator()
	s := allTypes()
	list := batchesOf(a, s, []int{4096, 300, 4096}, 0.1)
	for option, o := range everyOption {
		t.Run(option, func(t *testing.T) {
			if !reflect.DeepEqual(write(t, s, o, list...), write(t, s, o, list...)) {
				t.Error("two files of the same rows differ")
			}
		})
	}
}

// A file that is written and read piece by piece is the same file.
func TestPieces(t *testing.T) {
	a := batch.NewAllocator()
	s := allTypes()
	list := batchesOf(a, s, []int{4096, 4096, 100}, 0.1)
	o := parquet.Options{GroupRows: 3000, Fixed: true}
	var pieces []byte
	w := parquet.NewWriter(s, o)
	for i, b := range list {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if part := w.Take(); i == 0 && len(part) < 1000 {
			t.Errorf("after a row group there are %d bytes to take", len(part))
		} else {
			pieces = append(pieces, part...)
		}
	}
	rest, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	pieces = append(pieces, rest...)
	if !bytes.Equal(pieces, write(t, s, o, list...)[0]) {
		t.Error("the pieces are another file")
	}
	f, err := parquet.OpenAt(bytes.NewReader(pieces), int64(len(pieces)))
	if err != nil {
		t.Fatal(err)
	}
	var back []*batch.Batch
	for b, err := range f.Pick([]int{9, 0}).All(a) {
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, b)
	}
	want := cells(list...)
	same(t, f.Pick([]int{9, 0}).Schema(), [][]string{want[9], want[0]}, cells(back...))
}

// Fixed files take decimals of any scale; those of a field with a length are
// DECIMAL.
func TestFixedDecimals(t *testing.T) {
	a := batch.NewAllocator()
	text := batch.NewSchema(batch.NewField("d", batch.BigNumber))
	list := []*batch.Batch{decimals(a, text, 3000, "1.5"), decimals(a, text, 3000, "1.25", "1e40"), decimals(a, text, 3000, "")}
	files := write(t, text, parquet.Options{Fixed: true}, list...)
	if len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
	same(t, text, cells(list...), read(t, files...))

	exact := text.Clone()
	exact.Fields[0].Length, exact.Fields[0].Precision = 20, 2
	list = []*batch.Batch{decimals(a, exact, 3000, "1.50", "-123456789012345678.25")}
	files = write(t, exact, parquet.Options{Fixed: true}, list...)
	same(t, exact, cells(list...), read(t, files...))
	oracle(t, exact, cells(list...), files)
	w := parquet.NewWriter(exact, parquet.Options{Fixed: true})
	if err := w.Write(decimals(a, exact, 10, "1.5")); !errors.Is(err, parquet.ErrDecimals) {
		t.Errorf("another scale gives %v", err)
	}
}

// A size that is known before changes where the bytes lie, not what they are.
func TestExpectedSize(t *testing.T) {
	const expected = 4 << 20
	a := batch.NewAllocator()
	s := allTypes()
	list := batchesOf(a, s, []int{4000, 4000, 4000}, 0.1)
	want := write(t, s, parquet.Options{GroupRows: 4000}, list...)[0]
	got := write(t, s, parquet.Options{GroupRows: 4000, Expected: expected}, list...)[0]
	if !bytes.Equal(got, want) {
		t.Error("the file is another one")
	}
	if cap(got) < expected {
		t.Errorf("memory of %d bytes was taken, want %d at once", cap(got), expected)
	}
	small := write(t, s, parquet.Options{Expected: expected}, list[0])[0]
	if cap(small) >= expected {
		t.Errorf("a file of one row group took memory of %d bytes", cap(small))
	}
}

// Keys shrink by about a quarter: whether that is worth it is the caller's to say.
func TestCompressionThatSavesLittle(t *testing.T) {
	s := batch.NewSchema(batch.NewField("key", batch.String))
	b := batch.NewAllocator().Batch(s)
	r := rand.New(rand.NewPCG(7, 7))
	for range batch.MaxRows {
		b.Cols[0].AppendString(fmt.Sprintf("C%07d", r.IntN(100_000)))
	}
	size := func(saving int) int {
		files := write(t, s, parquet.Options{Saving: saving}, b)
		same(t, s, cells(b), read(t, files...))
		return len(files[0])
	}
	usual, quarter, third := size(0), size(20), size(33)
	if usual != quarter || third < usual*5/4 {
		t.Errorf("the file has %d bytes, %d when a fifth must be saved, %d when a third must be", usual, quarter, third)
	}
}
