package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"sluice/engine/parquet"
)

// foreignColumn is a column that arrow-go writes.
type foreignColumn struct {
	path   string
	typ    parquet.Physical
	level  int16 // definition level of a value
	levels []int16
	want   parquet.Values
}

const fixedLength = 5

// foreignColumns makes a required, an optional and a nested column of every type.
func foreignColumns(r *rand.Rand, rows int) []*foreignColumn {
	var list []*foreignColumn
	for level, prefix := range []string{"required.", "optional.", "nested.inner."} {
		for typ := parquet.Boolean; typ <= parquet.Fixed; typ++ {
			c := &foreignColumn{path: prefix + typ.String(), typ: typ, level: int16(level)}
			if level == 0 {
				c.path = typ.String()
			}
			for range rows {
				at := c.level
				if at > 0 && r.IntN(3) == 0 {
					at = int16(r.IntN(level))
				}
				c.levels = append(c.levels, at)
				c.want.Valid = append(c.want.Valid, at == c.level)
				if at == c.level {
					c.add(r)
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// add makes a value: mostly of few ones, so that dictionaries and runs are used.
func (c *foreignColumn) add(r *rand.Rand) {
	few := int64(r.IntN(7))
	text := []byte(strings.Repeat("prefix", int(few)) + fmt.Sprint(r.IntN(1000)))
	switch v := &c.want; c.typ {
	case parquet.Boolean:
		v.Flags = append(v.Flags, few > 2)
	case parquet.Int32:
		v.Ints = append(v.Ints, []int64{math.MinInt32, math.MaxInt32, int64(int32(r.Uint32())), few, few, few, few}[few])
	case parquet.Int64:
		v.Ints = append(v.Ints, []int64{math.MinInt64, math.MaxInt64, int64(r.Uint64()), few, few, few, few}[few])
	case parquet.Float:
		v.Floats = append(v.Floats, float64(float32(r.IntN(1000))/4))
	case parquet.Double:
		v.Floats = append(v.Floats, []float64{0, math.Inf(-1), r.NormFloat64(), 1.5, 2.5, 3.5, -4}[few])
	case parquet.Int96:
		v.Bytes = append(v.Bytes, append(text, make([]byte, 12)...)[:12])
	case parquet.Fixed:
		v.Bytes = append(v.Bytes, append(text, make([]byte, fixedLength)...)[:fixedLength])
	default:
		v.Bytes = append(v.Bytes, text)
	}
}

func (c *foreignColumn) node(t testing.TB) schema.Node {
	t.Helper()
	repetition, length := arrow.Repetitions.Optional, -1
	if c.level == 0 {
		repetition = arrow.Repetitions.Required
	}
	if c.typ == parquet.Fixed {
		length = fixedLength
	}
	n, err := schema.NewPrimitiveNode(c.typ.String(), repetition, arrow.Type(c.typ), -1, int32(length))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// write gives the column to arrow-go.
func (c *foreignColumn) write(w file.ColumnChunkWriter) (err error) {
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(c.want.Flags, c.levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(converted[int32](c.want.Ints), c.levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(c.want.Ints, c.levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(converted[float32](c.want.Floats), c.levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(c.want.Floats, c.levels, nil)
	case *file.Int96ColumnChunkWriter:
		list := make([]arrow.Int96, len(c.want.Bytes))
		for i, b := range c.want.Bytes {
			list[i] = arrow.Int96(b)
		}
		_, err = w.WriteBatch(list, c.levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		list := make([]arrow.ByteArray, len(c.want.Bytes))
		for i, b := range c.want.Bytes {
			list[i] = b
		}
		_, err = w.WriteBatch(list, c.levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		list := make([]arrow.FixedLenByteArray, len(c.want.Bytes))
		for i, b := range c.want.Bytes {
			list[i] = b
		}
		_, err = w.WriteBatch(list, c.levels, nil)
	default:
		err = fmt.Errorf("no writer for %T", w)
	}
	return errors.Join(err, w.Close())
}

func converted[T, F int32 | int64 | float32 | float64](list []F) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = T(v)
	}
	return out
}

// writeForeign makes a file of two row groups of the same rows.
func writeForeign(t testing.TB, columns []*foreignColumn, options ...arrow.WriterProperty) []byte {
	t.Helper()
	var plain, inner schema.FieldList
	optional := schema.FieldList{}
	for _, c := range columns {
		switch c.level {
		case 0:
			plain = append(plain, c.node(t))
		case 1:
			optional = append(optional, c.node(t))
		default:
			inner = append(inner, c.node(t))
		}
	}
	group := func(name string, repetition arrow.Repetition, fields schema.FieldList) schema.Node {
		g, err := schema.NewGroupNode(name, repetition, fields, -1)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	required := arrow.Repetitions.Required
	fields := append(plain, group("optional", required, optional),
		group("nested", required, schema.FieldList{group("inner", arrow.Repetitions.Optional, inner)}))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, group("schema", required, fields).(*schema.GroupNode), file.WithWriterProps(arrow.NewWriterProperties(options...)))
	for range 2 {
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			cw, err := g.NextColumn()
			if err == nil {
				err = c.write(cw)
			}
			if err != nil {
				t.Fatalf("%s: %v", c.path, err)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mostRows bounds what a test reads: few damaged bytes can state billions of rows.
const mostRows = 1 << 20

// readForeign reads a column of a row group in pieces of odd sizes.
func readForeign(f *parquet.Foreign, g, column int) (parquet.Values, error) {
	var out parquet.Values
	r, err := f.Column(g, column)
	if err != nil {
		return out, err
	}
	for n := 1; ; n = n%97*3 + 1 {
		v, err := r.Next(n)
		if errors.Is(err, io.EOF) || len(out.Valid) > mostRows {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if len(v.Valid) == 0 || len(v.Valid) > n {
			return out, fmt.Errorf("%d rows for %d", len(v.Valid), n)
		}
		out.Valid, out.Flags = append(out.Valid, v.Valid...), append(out.Flags, v.Flags...)
		out.Ints, out.Floats = append(out.Ints, v.Ints...), append(out.Floats, v.Floats...)
		for _, b := range v.Bytes {
			out.Bytes = append(out.Bytes, bytes.Clone(b))
		}
	}
}

func sameValues(a, b *parquet.Values) bool {
	return slices.Equal(a.Valid, b.Valid) && slices.Equal(a.Flags, b.Flags) && slices.Equal(a.Ints, b.Ints) &&
		slices.Equal(a.Floats, b.Floats) && slices.EqualFunc(a.Bytes, b.Bytes, bytes.Equal)
}

// encodings gives the options that ask for an encoding where a type has it.
func encodings(columns []*foreignColumn, by map[parquet.Physical]arrow.Encoding) []arrow.WriterProperty {
	options := []arrow.WriterProperty{arrow.WithDictionaryDefault(false)}
	for _, c := range columns {
		if e, ok := by[c.typ]; ok {
			options = append(options, arrow.WithEncodingFor(c.path, e))
		}
	}
	return options
}

// foreignOptions are the encodings that arrow-go writes.
func foreignOptions(columns []*foreignColumn) map[string][]arrow.WriterProperty {
	e := arrow.Encodings
	return map[string][]arrow.WriterProperty{
		"plain":                encodings(columns, nil),
		"dictionary":           {arrow.WithDictionaryDefault(true)},
		"dictionary, outgrown": {arrow.WithDictionaryDefault(true), arrow.WithDictionaryPageSizeLimit(64)},
		"dictionary of 1.0":    {arrow.WithDictionaryDefault(true), arrow.WithVersion(arrow.V1_0)},
		"delta": encodings(columns, map[parquet.Physical]arrow.Encoding{
			parquet.Boolean: e.RLE, parquet.Int32: e.DeltaBinaryPacked, parquet.Int64: e.DeltaBinaryPacked,
			parquet.ByteArray: e.DeltaLengthByteArray,
		}),
		"prefixes": encodings(columns, map[parquet.Physical]arrow.Encoding{parquet.ByteArray: e.DeltaByteArray}),
		"split": encodings(columns, map[parquet.Physical]arrow.Encoding{
			parquet.Int32: e.ByteStreamSplit, parquet.Int64: e.ByteStreamSplit, parquet.Float: e.ByteStreamSplit,
			parquet.Double: e.ByteStreamSplit, parquet.Fixed: e.ByteStreamSplit,
		}),
	}
}

// foreignCodecs are the codecs that arrow-go writes.
var foreignCodecs = map[string]compress.Compression{
	"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "gzip": compress.Codecs.Gzip,
	"brotli": compress.Codecs.Brotli, "zstd": compress.Codecs.Zstd, "lz4": compress.Codecs.Lz4Raw,
}

func TestForeignEncodings(t *testing.T) {
	const rows = 1000
	columns := foreignColumns(rand.New(rand.NewPCG(1, 2)), rows)
	versions := map[string]arrow.DataPageVersion{"v1": arrow.DataPageV1, "v2": arrow.DataPageV2}
	for encoding, options := range foreignOptions(columns) {
		for version, v := range versions {
			for codec, c := range foreignCodecs {
				if encoding != "plain" && codec != "none" && codec != "snappy" {
					continue // a codec does not know what it packs
				}
				t.Run(encoding+"/"+version+"/"+codec, func(t *testing.T) {
					data := writeForeign(t, columns, append(slices.Clone(options), arrow.WithDataPageVersion(v), arrow.WithCompression(c), arrow.WithDataPageSize(900), arrow.WithBatchSize(300))...)
					checkForeign(t, data, columns)
				})
			}
		}
	}
}

func checkForeign(t *testing.T, data []byte, columns []*foreignColumn) {
	t.Helper()
	if _, err := parquet.Open(data); !errors.Is(err, parquet.ErrForeign) {
		t.Errorf("taken for one of ours: %v", err)
	}
	f, err := parquet.OpenForeign(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Groups() != 2 || f.GroupRows(1) != int64(len(columns[0].levels)) || len(f.Leaves()) != len(columns) {
		t.Fatalf("%d groups, %d columns", f.Groups(), len(f.Leaves()))
	}
	for i, c := range columns {
		if l := f.Leaves()[i]; l.Path != c.path || l.Physical != c.typ || l.Repeated {
			t.Errorf("column %+v, want %s", l, c.path)
		}
		for g := range f.Groups() {
			got, err := readForeign(f, g, i)
			if err != nil || !sameValues(&got, &c.want) {
				t.Errorf("%s, group %d: %v, %d of %d rows", c.path, g, err, len(got.Valid), len(c.want.Valid))
			}
		}
	}
}

// One page of very many equal values is a few bytes.
func TestForeignLongRuns(t *testing.T) {
	const rows = 300_000
	c := &foreignColumn{path: "INT64", typ: parquet.Int64, levels: make([]int16, rows)}
	for range rows {
		c.want.Valid, c.want.Ints = append(c.want.Valid, true), append(c.want.Ints, 7)
	}
	one := &foreignColumn{path: "optional.INT64", typ: parquet.Int64, level: 1, levels: make([]int16, rows)}
	one.want.Valid = make([]bool, rows)
	two := &foreignColumn{path: "nested.inner.INT64", typ: parquet.Int64, level: 2, levels: make([]int16, rows), want: one.want}
	columns := []*foreignColumn{c, one, two}
	data := writeForeign(t, columns, arrow.WithDataPageSize(1<<30))
	if len(data) > 10_000 {
		t.Errorf("%d bytes; the test is about few", len(data))
	}
	checkForeign(t, data, columns)
}

// readAll reads what can be read of a damaged file and counts the rows.
func readAll(data []byte) (rows int, err error) {
	f, err := parquet.OpenForeign(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	for g := range f.Groups() {
		for i := range f.Leaves() {
			v, e := readForeign(f, g, i)
			rows += len(v.Valid)
			err = errors.Join(err, e)
		}
	}
	return rows, err
}

func TestForeignDamage(t *testing.T) {
	columns := foreignColumns(rand.New(rand.NewPCG(3, 4)), 40)
	files := map[string][]byte{}
	encoded := foreignOptions(columns)
	for name, options := range encoded {
		files[name] = writeForeign(t, columns, options...)
	}
	for name, c := range foreignCodecs {
		files[name] = writeForeign(t, columns, append(slices.Clone(encoded["plain"]), arrow.WithCompression(c))...)
	}
	seen := 0
	for name, data := range files {
		for at := 0; at < len(data); at += 257 {
			bad := bytes.Clone(data)
			bad[at] ^= 1 << (at % 8)
			if _, err := readAll(bad); err != nil {
				seen++
			}
			if _, err := readAll(data[:at]); err == nil {
				t.Fatalf("%s: %d of %d bytes were read without an error", name, at, len(data))
			}
		}
	}
	if seen == 0 {
		t.Error("no damage was seen")
	}
}

func TestForeignTypes(t *testing.T) {
	p := arrow.Types
	cases := map[string]struct {
		logical  schema.LogicalType
		physical arrow.Type
		length   int
		want     parquet.Leaf
	}{
		"text":           {schema.StringLogicalType{}, p.ByteArray, -1, parquet.Leaf{Meaning: parquet.Text}},
		"enum":           {schema.EnumLogicalType{}, p.ByteArray, -1, parquet.Leaf{Meaning: parquet.Enum}},
		"json":           {schema.JSONLogicalType{}, p.ByteArray, -1, parquet.Leaf{Meaning: parquet.JSON}},
		"bson":           {schema.BSONLogicalType{}, p.ByteArray, -1, parquet.Leaf{Meaning: parquet.Other}},
		"decimal":        {schema.NewDecimalLogicalType(30, 7), p.FixedLenByteArray, 13, parquet.Leaf{Meaning: parquet.Decimal, Scale: 7, Length: 13}},
		"day":            {schema.DateLogicalType{}, p.Int32, -1, parquet.Leaf{Meaning: parquet.Day}},
		"clock":          {schema.NewTimeLogicalType(false, schema.TimeUnitNanos), p.Int64, -1, parquet.Leaf{Meaning: parquet.Clock, Unit: parquet.Nanos}},
		"clock of UTC":   {schema.NewTimeLogicalType(true, schema.TimeUnitMillis), p.Int32, -1, parquet.Leaf{Meaning: parquet.Clock, UTC: true}},
		"moment":         {schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), p.Int64, -1, parquet.Leaf{Meaning: parquet.Moment, Unit: parquet.Micros, UTC: true}},
		"local moment":   {schema.NewTimestampLogicalType(false, schema.TimeUnitMillis), p.Int64, -1, parquet.Leaf{Meaning: parquet.Moment}},
		"small integer":  {schema.NewIntLogicalType(8, true), p.Int32, -1, parquet.Leaf{Meaning: parquet.Whole, Bits: 8, Signed: true}},
		"without a sign": {schema.NewIntLogicalType(64, false), p.Int64, -1, parquet.Leaf{Meaning: parquet.Whole, Bits: 64}},
		"uuid":           {schema.UUIDLogicalType{}, p.FixedLenByteArray, 16, parquet.Leaf{Meaning: parquet.UUID, Length: 16}},
		"half":           {schema.Float16LogicalType{}, p.FixedLenByteArray, 2, parquet.Leaf{Meaning: parquet.Float16, Length: 2}},
		"none":           {schema.NoLogicalType{}, p.Double, -1, parquet.Leaf{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			node, err := schema.NewPrimitiveNodeLogical("c", arrow.Repetitions.Optional, c.logical, c.physical, c.length, -1)
			if err != nil {
				t.Fatal(err)
			}
			list := schema.MustGroup(schema.NewGroupNode("list", arrow.Repetitions.Repeated, schema.FieldList{node}, -1))
			root := schema.MustGroup(schema.NewGroupNode("schema", arrow.Repetitions.Required, schema.FieldList{node, list}, -1))
			var out bytes.Buffer
			if err := file.NewParquetWriter(&out, root).Close(); err != nil {
				t.Fatal(err)
			}
			f, err := parquet.OpenForeign(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Name, c.want.Physical = "c", parquet.Physical(c.physical)
			for i, path := range []string{"c", "list.c"} {
				c.want.Path, c.want.Repeated = path, i == 1
				got := f.Leaves()[i]
				if fmt.Sprintf("%+v", exported(got)) != fmt.Sprintf("%+v", exported(c.want)) {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			}
		})
	}
}

// exported leaves out what only the package knows.
func exported(l parquet.Leaf) any {
	length := max(l.Length, 0)
	return []any{l.Path, l.Name, l.Physical, length, l.Repeated, l.Meaning, l.Scale, l.Unit, l.UTC, l.Bits, l.Signed}
}

func FuzzForeign(f *testing.F) {
	columns := foreignColumns(rand.New(rand.NewPCG(5, 6)), 30)
	for _, options := range foreignOptions(columns) {
		for _, v := range []arrow.DataPageVersion{arrow.DataPageV1, arrow.DataPageV2} {
			f.Add(writeForeign(f, columns[:9], append(slices.Clone(options), arrow.WithDataPageVersion(v), arrow.WithCompression(compress.Codecs.Lz4Raw))...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = readAll(data) // an error or rows
	})
}
