package parquet_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/parquet"
)

// in puts the files of a case into a folder.
func in(dir string) func(*transform.Env) {
	return func(env *transform.Env) { env.Files = files.Local{Dir: dir} }
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func big(text string) decimal.Decimal {
	d, err := decimal.Parse(text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestOutputThenInput(t *testing.T) {
	price := batch.NewField("price", batch.BigNumber)
	price.Length, price.Precision = 10, 2
	input := transformtest.Input{
		From: "in",
		Fields: []batch.Field{
			batch.NewField("id", batch.Integer), batch.NewField("name", batch.String), batch.NewField("amount", batch.Number),
			batch.NewField("day", batch.Date), batch.NewField("ok", batch.Boolean), batch.NewField("any", batch.BigNumber), price,
		},
		Rows: [][]any{
			{1, "Anna", 1.5, time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC), true, big("1234567890123456789012345678901234567890.5"), big("1.005")},
			{nil, nil, nil, nil, nil, nil, nil},
			{-3, "", 0.1, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), false, big("1.50"), big("7")},
			{4, "é|x", 1e300, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), true, big("0"), big("-2.5")},
		},
	}
	settings := `<filename_base>${DIR}/sub/people</filename_base><filename_create_parent_folders>Y</filename_create_parent_folders>` +
		`<compression_codec>CODEC</compression_codec><version>VERSION</version>`
	read := `<filename>${DIR}/sub/FILE</filename><fields>` +
		`<field><source_field>id</source_field><target_field>id</target_field><target_type>Integer</target_type></field>` +
		`<field><source_field>NAME</source_field><target_field/><target_type>String</target_type></field>` +
		`<field><source_field>amount</source_field><target_field>as text</target_field><target_type>String</target_type></field>` +
		`<field><source_field>day</source_field><target_field>day</target_field><target_type>Date</target_type><target_format>yyyy-MM-dd</target_format><target_length/></field>` +
		`<field><source_field>ok</source_field><target_field>ok</target_field><target_type>String</target_type></field>` +
		`<field><source_field>any</source_field><target_field>any</target_field><target_type>BigNumber</target_type></field>` +
		`<field><source_field>price</source_field><target_field>price</target_field><target_type>BigNumber</target_type><target_format>0.###</target_format></field>` +
		`<field><source_field>gone</source_field><target_field>gone</target_field><target_type>Integer</target_type></field></fields>`
	cases := map[string]struct{ codec, version, file string }{
		"none":              {"UNCOMPRESSED", "1.0", "people.parquet"},
		"snappy":            {"SNAPPY", "2.0", "people.parquet.snappy"},
		"zstd":              {"ZSTD", "2.0", "people.parquet.zstd"},
		"gzip, old readers": {"GZIP", "1.0", "people.parquet.gz"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			vars := map[string]string{"DIR": dir}
			xml := strings.NewReplacer("CODEC", c.codec, "VERSION", c.version).Replace(settings)
			out := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileOutput, XML: xml, Vars: vars, Inputs: []transformtest.Input{input}})
			if out.Err != nil || len(out.Main()) != 4 || out.Env.Counters.Output.Load() != 4 {
				t.Fatalf("%v, %d rows, output %d", out.Err, len(out.Main()), out.Env.Counters.Output.Load())
			}
			back := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileInput, XML: strings.ReplaceAll(read, "FILE", c.file), Vars: vars})
			if back.Err != nil {
				t.Fatal(back.Err)
			}
			want := []string{
				"1|Anna|1.5|2024-02-29|true|1234567890123456789012345678901234567890.5|1.01|<null>",
				"<null>|<null>|<null>|<null>|<null>|<null>|<null>|<null>",
				"-3|<null>|0.1|0001-01-03|false|1.5|7|<null>", // Java shows days before 1582 in the Julian calendar
				"4|é|x|1.0E300|9999-12-31|true|0.0|-2.5|<null>",
			}
			if got := strings.Join(back.Main(), "\n"); got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

func numbers(n int) transformtest.Input {
	in := transformtest.Input{From: "in", Fields: []batch.Field{batch.NewField("n", batch.Integer)}}
	for i := range n {
		in.Rows = append(in.Rows, []any{i})
	}
	return in
}

func TestOutputFileNames(t *testing.T) {
	cases := map[string]struct {
		xml  string
		rows int
		want string
	}{
		"split":           {"<filename_include_split>Y</filename_include_split><filename_split_size>3</filename_split_size>", 7, "f-0001.parquet f-0002.parquet f-0003.parquet"},
		"split, exactly":  {"<filename_include_split>Y</filename_include_split><filename_split_size>3</filename_split_size>", 6, "f-0001.parquet f-0002.parquet"},
		"copy and number": {"<filename_include_copy>Y</filename_include_copy><filename_include_split>Y</filename_include_split>", 1, "f-00-0001.parquet"},
		"size alone":      {"<filename_split_size>3</filename_split_size>", 7, "f.parquet"},
		"date and time":   {"<filename_include_date>Y</filename_include_date><filename_include_time>Y</filename_include_time>", 1, "f-20241231-235959.parquet"},
		"format":          {"<filename_include_datetime>Y</filename_include_datetime><filename_datetime_format>yyyy</filename_datetime_format>", 1, "f-2024.parquet"},
		"codec first":     {"<compression_codec>ZSTD</compression_codec><filename_compression_before_extension>Y</filename_compression_before_extension>", 1, "f.zstd.parquet"},
		"extension":       {"<compression_codec>SNAPPY</compression_codec><filename_ext>pq</filename_ext>", 1, "f.pq.snappy"},
		"no rows":         {"", 0, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileOutput, XML: "<filename_base>f</filename_base>" + c.xml, Inputs: []transformtest.Input{numbers(c.rows)}, Env: in(dir)})
			if out.Err != nil || len(out.Main()) != c.rows {
				t.Fatalf("%v, %d rows", out.Err, len(out.Main()))
			}
			if got := names(t, dir); got != c.want {
				t.Errorf("files %q, want %q", got, c.want)
			}
		})
	}
}

func TestOutputRefuses(t *testing.T) {
	cases := map[string]struct{ xml, want string }{
		"unknown field": {"<filename_base>f</filename_base><fields><field><source_field>x</source_field></field></fields>", `"x"`},
		"no name":       {"", "filename_base"},
		"codec":         {"<filename_base>f</filename_base><compression_codec>BROTLI</compression_codec>", "BROTLI"},
		"partitions":    {"<filename_base>f</filename_base><partition_fields><partition_field><name>n</name></partition_field></partition_fields>", "partition"},
		"column type":   {"<filename_base>f</filename_base><fields><field><source_field>n</source_field><parquet_type>Int32</parquet_type></field></fields>", "Int32"},
		"digits":        {"<filename_base>f</filename_base><fields><field><source_field>n</source_field><parquet_type>Decimal</parquet_type><precision>2</precision><scale>5</scale></field></fields>", "2 digits"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileOutput, XML: c.xml, Inputs: []transformtest.Input{numbers(2)}, Env: in(dir)})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("got %v", out.Err)
			}
			if got := names(t, dir); got != "" {
				t.Errorf("files %q were made", got)
			}
		})
	}
}

func TestInputByRows(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		out := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileOutput, XML: "<filename_base>" + name + "</filename_base>", Inputs: []transformtest.Input{numbers(2)}, Env: in(dir)})
		if out.Err != nil {
			t.Fatal(out.Err)
		}
	}
	fields := `<filename_field>file</filename_field><nulls_when_empty>Y</nulls_when_empty>` +
		`<fields><field><source_field>n</source_field><target_field>n</target_field><target_type>Number</target_type><target_format>0.0</target_format></field></fields>`
	files := func(list ...any) []transformtest.Input {
		input := transformtest.Input{From: "in", Fields: []batch.Field{batch.NewField("file", batch.String), batch.NewField("k", batch.Integer)}}
		for i, name := range list {
			input.Rows = append(input.Rows, []any{name, i})
		}
		return []transformtest.Input{input}
	}
	cases := map[string]struct {
		in   []transformtest.Input
		want string
		err  string
	}{
		"two files":    {files("b.parquet", nil, "a.parquet"), "b.parquet|0|0.0\nb.parquet|0|1.0\na.parquet|2|0.0\na.parquet|2|1.0", ""},
		"no files":     {files(), "<null>|<null>|<null>", ""},
		"only nulls":   {files(nil), "<null>|<null>|<null>", ""},
		"missing file": {files("c.parquet"), "", "c.parquet"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileInput, XML: fields, Inputs: c.in, Env: in(dir)})
			switch {
			case c.err != "" && (out.Err == nil || !strings.Contains(out.Err.Error(), c.err)), c.err == "" && out.Err != nil:
				t.Fatalf("got %v", out.Err)
			case c.err == "" && strings.Join(out.Main(), "\n") != c.want:
				t.Errorf("got\n%s", strings.Join(out.Main(), "\n"))
			}
		})
	}
}

// foreign makes a file with arrow-go: one column, with a null in the middle.
func foreign[T any, W interface {
	WriteBatch([]T, []int16, []int16) (int64, error)
}](t *testing.T, node schema.Node, values ...T) []byte {
	t.Helper()
	var out bytes.Buffer
	root, err := schema.NewGroupNode("schema", arrow.Repetitions.Required, schema.FieldList{node}, -1)
	if err != nil {
		t.Fatal(err)
	}
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(arrow.NewWriterProperties(arrow.WithAllocator(memory.DefaultAllocator))))
	g, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	levels := make([]int16, 0, len(values)+1)
	for i := range values {
		if i == 1 {
			levels = append(levels, 0)
		}
		levels = append(levels, 1)
	}
	if _, err := c.(W).WriteBatch(values, levels, nil); err != nil {
		t.Fatal(err)
	}
	for _, close := range []func() error{c.Close, g.Close, w.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func node(t *testing.T, physical arrow.Type, logical schema.LogicalType, length int) schema.Node {
	t.Helper()
	n, err := schema.NewPrimitiveNodeLogical("c", arrow.Repetitions.Optional, logical, physical, length, -1)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestForeignFiles(t *testing.T) {
	int32s := func(l schema.LogicalType, v ...int32) []byte {
		return foreign[int32, *file.Int32ColumnChunkWriter](t, node(t, arrow.Types.Int32, l, -1), v...)
	}
	int64s := func(l schema.LogicalType, v ...int64) []byte {
		return foreign[int64, *file.Int64ColumnChunkWriter](t, node(t, arrow.Types.Int64, l, -1), v...)
	}
	texts := func(l schema.LogicalType, v ...arrow.ByteArray) []byte {
		return foreign[arrow.ByteArray, *file.ByteArrayColumnChunkWriter](t, node(t, arrow.Types.ByteArray, l, -1), v...)
	}
	stamp := func(u schema.TimeUnitType) schema.LogicalType {
		return schema.NewTimestampLogicalTypeWithOpts(schema.WithTSIsAdjustedToUTC(), schema.WithTSTimeUnitType(u))
	}
	none := schema.NoLogicalType{}
	cases := map[string]struct {
		data []byte
		typ  string
		want string
	}{
		"int32":              {int32s(none, 7, -8), "Integer", "7 <null> -8"},
		"uint32":             {int32s(schema.NewIntLogicalType(32, false), 7, -1), "Integer", "7 <null> 4294967295"},
		"int64 as text":      {int64s(none, 1234567, -8), "String", "1234567 <null> -8"},
		"date":               {int32s(schema.DateLogicalType{}, 0, -719162), "Date", "1970/01/01 00:00:00.000 <null> 0001/01/03 00:00:00.000"},
		"date as number":     {int32s(schema.DateLogicalType{}, 5, 6), "Integer", "5 <null> 6"},
		"timestamp millis":   {int64s(stamp(schema.TimeUnitMillis), 1500, -1), "Date", "1970/01/01 00:00:01.500 <null> 1969/12/31 23:59:59.999"},
		"timestamp nanos":    {int64s(stamp(schema.TimeUnitNanos), 1, -1), "Timestamp", "1970/01/01 00:00:00.000000001 <null> 1969/12/31 23:59:59.999999999"},
		"decimal of 32 bits": {int32s(schema.NewDecimalLogicalType(9, 2), 1250, -5), "BigNumber", "12.5 <null> -0.05"},
		"decimal of bytes":   {texts(schema.NewDecimalLogicalType(20, 1), arrow.ByteArray{0xff, 0x85}, arrow.ByteArray{1, 0}), "BigNumber", "-12.3 <null> 25.6"},
		"decimal text":       {texts(schema.StringLogicalType{}, arrow.ByteArray("1.25"), arrow.ByteArray("7")), "BigNumber", "1.25 <null> 7"},
		"text":               {texts(schema.StringLogicalType{}, arrow.ByteArray("é"), arrow.ByteArray("")), "String", "é <null> "},
		"bytes as text":      {texts(none, arrow.ByteArray("a"), arrow.ByteArray("b")), "String", "a <null> b"},
		"json":               {texts(schema.JSONLogicalType{}, arrow.ByteArray(`{"a":1}`), arrow.ByteArray("2")), "JSON", `{"a":1} <null> 2`},
		"float": {
			foreign[float32, *file.Float32ColumnChunkWriter](t, node(t, arrow.Types.Float, none, -1), 1.5, -2), "Number", "1.5 <null> -2.0",
		},
		"double as text": {
			foreign[float64, *file.Float64ColumnChunkWriter](t, node(t, arrow.Types.Double, none, -1), 1e20, 0.1), "String", "1.0E20 <null> 0.1",
		},
		"flag as text": {
			foreign[bool, *file.BooleanColumnChunkWriter](t, node(t, arrow.Types.Boolean, none, -1), true, false), "String", "true <null> false",
		},
		"uuid": {
			foreign[arrow.FixedLenByteArray, *file.FixedLenByteArrayColumnChunkWriter](t, node(t, arrow.Types.FixedLenByteArray, schema.UUIDLogicalType{}, 16),
				arrow.FixedLenByteArray("0123456789abcdef"), arrow.FixedLenByteArray("fedcba9876543210")),
			"UUID", "30313233-3435-3637-3839-616263646566 <null> 66656463-6261-3938-3736-353433323130",
		},
		"int96": {
			foreign[arrow.Int96, *file.Int96ColumnChunkWriter](t, node(t, arrow.Types.Int96, none, -1), arrow.Int96{1, 0, 0, 0, 0, 0, 0, 0, 0x8c, 0x3d, 0x25, 0}, arrow.Int96{0, 0, 0, 0, 0, 0, 0, 0, 0x8b, 0x3d, 0x25, 0}),
			"Timestamp", "1970/01/01 00:00:00.000000001 <null> 1969/12/31 00:00:00.000000000",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f.parquet"), c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			format := map[string]string{"Number": "0.0#", "BigNumber": "0.##"}[c.typ]
			out := transformtest.Run(t, transformtest.Case{
				Definition: parquet.ParquetFileInput, Env: in(dir), XML: "<filename>f.parquet</filename><fields><field><source_field>c</source_field><target_type>" + c.typ + "</target_type><target_format>" + format + "</target_format></field></fields>",
			})
			if got := strings.Join(out.Main(), " "); out.Err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, out.Err, c.want)
			}
		})
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	own := t.TempDir()
	if out := transformtest.Run(t, transformtest.Case{Definition: parquet.ParquetFileOutput, XML: "<filename_base>f</filename_base>", Inputs: []transformtest.Input{numbers(50)}, Env: in(own)}); out.Err != nil {
		t.Fatal(out.Err)
	}
	ours, err := os.ReadFile(filepath.Join(own, "f.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := foreign[int64, *file.Int64ColumnChunkWriter](t, node(t, arrow.Types.Int64, schema.NoLogicalType{}, -1), 1, 2)
	flipped := append([]byte(nil), ours...)
	flipped[20] ^= 1
	cases := map[string][]byte{"ours, a bit": flipped, "ours, cut": ours[:len(ours)/2], "theirs, cut": theirs[:len(theirs)-20], "text": []byte("id\n1\n"), "empty": nil}
	// Any byte of a foreign file may be anything: an error or rows, no panic.
	for i := range theirs {
		bad := append([]byte(nil), theirs...)
		bad[i] ^= 0x55
		cases["theirs, byte "+string(rune('0'+i%10))+strings.Repeat("x", i)] = bad
	}
	for name, data := range cases {
		if err := os.WriteFile(filepath.Join(own, "bad"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		out := transformtest.Run(t, transformtest.Case{
			Definition: parquet.ParquetFileInput, Env: in(own), Fixed: true,
			XML: "<filename>bad</filename><fields><field><source_field>n</source_field><target_type>Integer</target_type></field><field><source_field>c</source_field><target_type>Integer</target_type></field></fields>",
		})
		if out.Err == nil && !strings.HasPrefix(name, "theirs, byte") {
			t.Errorf("%s: read without an error: %v", name, out.Main())
		}
	}
}

func TestContract(t *testing.T) {
	t.Run("input", func(t *testing.T) {
		transformtest.Contract(t, parquet.ParquetFileInput, transformtest.Subject{XML: "<filename_field>FIELD</filename_field><fields><field><source_field>a</source_field><target_type>Integer</target_type></field></fields>"})
	})
	t.Run("output", func(t *testing.T) {
		transformtest.Contract(t, parquet.ParquetFileOutput, transformtest.Subject{XML: "<filename_base>out</filename_base><fields><field><source_field>FIELD</source_field><target_field>a</target_field></field></fields>"})
	})
}

// Every use of the family in Hop's own projects can be decoded and checked.
func TestSuiteDecodes(t *testing.T) {
	dir := os.Getenv("SLUICE_HOP_SUITE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the Hop suite is needed; set SLUICE_HOP_SUITE to its folder: %v", err)
	}
	registry := transform.NewRegistry(parquet.Transforms)
	found := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hpl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(path, data)
		if err != nil {
			return err
		}
		for _, el := range doc.Root().All("transform") {
			d, ok := registry.Find(el.Child("type").Text())
			if !ok {
				continue
			}
			found[d.ID]++
			_, problems := d.Decode(el)
			for _, p := range problems {
				t.Errorf("%s: %s: %s: %s", path, d.ID, p.Setting, p.Message)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parquet.Transforms {
		if found[d.ID] == 0 {
			t.Errorf("no %s in the suite", d.ID)
		}
		if _, err := d.Settings(); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}
