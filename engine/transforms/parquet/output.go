package parquet

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/batch/mask"
	segment "sluice/engine/parquet"
	"sluice/engine/transform"
)

// ParquetFileOutput writes rows to Parquet files and passes them on. A file appears
// under its name when it is complete; without rows there is none. As in Hop an
// empty text is written as null, unless empty texts and nulls are different.
var ParquetFileOutput = transform.Define[OutputSettings](transform.About{
	ID:       "ParquetFileOutput",
	Name:     "Parquet file output",
	Category: transform.CategoryOutput,
	Summary:  "Write rows to Parquet files.",
	Sink:     true,
	RowNeutral: []string{
		"filename_base", "filename_ext", "filename_include_date", "filename_include_time", "filename_include_datetime",
		"filename_datetime_format", "filename_include_copy", "filename_include_split", "filename_split_size",
		"filename_create_parent_folders", "filename_compression_before_extension", "compression_codec", "version",
		"row_group_size", "data_page_size", "dictionary_page_size", "write_mode", "max_open_partitions",
	},
})

// OutputSettings lists the settings in the order the form shows them.
type OutputSettings struct {
	Base             transform.Expr[string] `hop:"filename_base" form:"file" required:"true" label:"File name" help:"Without extension"`
	Extension        transform.Expr[string] `hop:"filename_ext" default:"parquet"`
	IncludeDate      bool                   `hop:"filename_include_date" label:"Add the date"`
	IncludeTime      bool                   `hop:"filename_include_time" label:"Add the time"`
	IncludeDateTime  bool                   `hop:"filename_include_datetime" label:"Add date and time by a format"`
	DateTimeFormat   transform.Expr[string] `hop:"filename_datetime_format" default:"yyyyMMdd-HHmmss" form:"mask"`
	IncludeCopy      bool                   `hop:"filename_include_copy" label:"Add the copy number"`
	IncludeSplit     bool                   `hop:"filename_include_split" label:"Several files" help:"Adds the number of the file, and starts a new one after so many rows"`
	SplitSize        transform.Expr[int64]  `hop:"filename_split_size" default:"1000000" unit:"rows"`
	CreateFolders    bool                   `hop:"filename_create_parent_folders" label:"Create missing folders"`
	CompressionFirst bool                   `hop:"filename_compression_before_extension" advanced:"true" help:"name.snappy.parquet instead of name.parquet.snappy"`
	Codec            CodecName              `hop:"compression_codec" default:"UNCOMPRESSED" label:"Compression"`
	Version          Version                `hop:"version" default:"2.0"`
	RowGroupSize     transform.Expr[string] `hop:"row_group_size" default:"268435456" advanced:"true" help:"Has no effect here: row groups have 131,072 rows"`
	DataPageSize     transform.Expr[string] `hop:"data_page_size" default:"8192" advanced:"true" help:"Has no effect here: pages have about 4,096 rows"`
	DictionarySize   transform.Expr[string] `hop:"dictionary_page_size" default:"1048576" advanced:"true" help:"Has no effect here"`
	Fields           []OutputField          `hop:"fields>field" help:"None: all fields"`
	Partitions       []PartitionField       `hop:"partition_fields>partition_field" advanced:"true" help:"Folders by value; not supported yet"`
	WriteMode        string                 `hop:"write_mode" default:"append" advanced:"true" help:"Only for partitions"`
	MaxOpen          transform.Expr[string] `hop:"max_open_partitions" default:"10" advanced:"true" help:"Only for partitions"`
}

// OutputField is one column of the file.
type OutputField struct {
	Source    string                 `hop:"source_field" form:"field" required:"true" label:"Field"`
	Target    string                 `hop:"target_field" label:"Column"`
	Type      ColumnType             `hop:"parquet_type" label:"Column type" help:"Empty: by the type of the field"`
	Precision transform.Expr[string] `hop:"precision" help:"Digits of a Decimal; empty: the length of the field"`
	Scale     transform.Expr[string] `hop:"scale" help:"Digits after the point of a Decimal; empty: the precision of the field"`
}

// PartitionField is a field whose values become folders.
type PartitionField struct {
	Name string `hop:"name" form:"field"`
}

// CodecName is a compression as Hop's files name it.
type CodecName string

// Choices implements transform.Choices.
func (CodecName) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "UNCOMPRESSED", Label: "none"},
		{Code: "SNAPPY"},
		{Code: "GZIP"},
		{Code: "ZSTD"},
		{Code: "LZO", Help: "not supported here"},
		{Code: "BROTLI", Help: "not supported here"},
		{Code: "LZ4", Help: "not supported here"},
		{Code: "LZ4_RAW", Help: "not supported here"},
	}
}

// codec gives the compression and what file names get from it.
func (c CodecName) codec() (segment.Codec, string, error) {
	switch c {
	case "UNCOMPRESSED", "":
		return segment.Uncompressed, "", nil
	case "SNAPPY":
		return segment.Snappy, ".snappy", nil
	case "GZIP":
		return segment.Gzip, ".gz", nil
	case "ZSTD":
		return segment.Zstd, ".zstd", nil
	}
	return 0, "", &engine.Error{Field: "compression_codec", Message: fmt.Sprintf("compression %s is not supported", c), Hint: "choose SNAPPY, ZSTD, GZIP or UNCOMPRESSED"}
}

// Version is the age of programs that are to read the files.
type Version string

// Choices implements transform.Choices.
func (Version) Choices() []transform.Choice {
	return []transform.Choice{{Code: "1.0", Label: "1.0", Help: "encodings that every program reads"}, {Code: "2.0", Label: "2.0", Help: "smaller files"}}
}

// ColumnType is the type of a column as Hop's files name it.
type ColumnType string

var columnTypes = map[ColumnType]batch.Type{
	"UTF8": batch.String, "Boolean": batch.Boolean, "Int64": batch.Integer, "Double": batch.Number, "Binary": batch.Binary,
	"TimestampMillis": batch.Date, "TimestampMicros": batch.Timestamp, "Decimal": batch.BigNumber, "JSON": batch.JSON, "UUID": batch.UUID,
}

// Choices implements transform.Choices.
func (ColumnType) Choices() []transform.Choice {
	list := []transform.Choice{{Code: "", Label: "by the field"}}
	for _, code := range []string{"UTF8", "Boolean", "Int32", "Int64", "Float", "Double", "Binary", "Date", "TimeMillis", "TimeMicros", "TimestampMillis", "TimestampMicros", "Decimal", "JSON", "UUID"} {
		c := transform.Choice{Code: code}
		if _, ok := columnTypes[ColumnType(code)]; !ok {
			c.Help = "not supported here"
		}
		list = append(list, c)
	}
	return list
}

// field gives the field of a column that is made of a field of the rows.
func (f *OutputField) field(in batch.Field) (batch.Field, error) {
	out := in
	if f.Target != "" {
		out.Name = f.Target
	}
	if f.Type == "" {
		return out, nil
	}
	t, ok := columnTypes[f.Type]
	if !ok {
		return out, &engine.Error{
			Field: in.Name, Message: fmt.Sprintf("the column type %s is not supported", f.Type),
			Hint: "choose Int64 instead of Int32, Double instead of Float, TimestampMillis instead of dates and times, or no type",
		}
	}
	if t != in.Type {
		out.Type = t
		out.Mask = ""
	}
	if t != batch.BigNumber {
		return out, nil
	}
	if n := number(f.Precision.Text); n >= 0 {
		out.Length = n
	}
	if n := number(f.Scale.Text); n >= 0 {
		out.Precision = n
	}
	out.Precision = max(out.Precision, 0)
	if out.Length < 1 || out.Length > 38 || out.Precision >= out.Length {
		return out, &engine.Error{
			Field: in.Name, Message: fmt.Sprintf("a Decimal of %d digits, %d of them after the point, cannot be written", out.Length, out.Precision),
			Hint: "set a precision from 1 to 38 and a smaller scale",
		}
	}
	return out, nil
}

// Output implements transform.Settings.
func (s *OutputSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

// Check implements transform.Checker.
func (s *OutputSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if _, _, err := s.Codec.codec(); err != nil && !yield(transform.Errorf("compression_codec", "%v", err)) {
			return
		}
		if s.partitioned() && !yield(transform.Errorf("partition_fields>partition_field", "folders by value are not supported yet")) {
			return
		}
		if l.Main() == nil {
			return
		}
		if _, _, err := s.columns(l); err != nil {
			yield(transform.Errorf("fields>field", "%v", err))
		}
	}
}

func (s *OutputSettings) partitioned() bool {
	for _, p := range s.Partitions {
		if strings.TrimSpace(p.Name) != "" {
			return true
		}
	}
	return false
}

// columns gives the positions of the fields in the rows, and the schema of the file.
func (s *OutputSettings) columns(l transform.Links) ([]int, *batch.Schema, error) {
	in := l.Main()
	fields := s.Fields
	if len(fields) == 0 {
		for _, name := range in.Names() {
			fields = append(fields, OutputField{Source: name})
		}
	}
	var from []int
	out := batch.NewSchema()
	for i := range fields {
		at := in.Index(fields[i].Source)
		if at < 0 {
			return nil, nil, &engine.Error{Field: fields[i].Source, Message: "the field was not found", Hint: "the input has " + strings.Join(in.Names(), ", ")}
		}
		f, err := fields[i].field(in.Fields[at])
		if err != nil {
			return nil, nil, err
		}
		f.Lazy = false
		from = append(from, at)
		out.Fields = append(out.Fields, f)
	}
	return from, out, nil
}

// Start implements transform.Settings.
func (s *OutputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if !l.HasMain() {
		return nil, &engine.Error{Message: "no input is connected", Hint: "draw a hop from the transform whose rows are to be written"}
	}
	if s.partitioned() {
		return nil, &engine.Error{Field: "partition_fields", Message: "folders by value are not supported yet", Hint: "remove the partition fields"}
	}
	codec, codecExtension, err := s.Codec.codec()
	if err != nil {
		return nil, err
	}
	p := &output{env: env, parents: s.CreateFolders, options: segment.Options{Codec: codec, Compatible: s.Version != "2.0", Fixed: true}}
	if p.from, p.schema, err = s.columns(l); err != nil {
		return nil, err
	}
	if s.IncludeSplit {
		if p.every, err = s.SplitSize.Or(env, 0); err != nil {
			return nil, fmt.Errorf("split size: %w", err)
		}
		p.numbered = true
	}
	if p.base, err = s.name(env); err != nil {
		return nil, err
	}
	if p.extension, err = s.extension(env, codecExtension); err != nil {
		return nil, err
	}
	for i, at := range p.from {
		in, f := l.Main().Fields[at], &p.schema.Fields[i]
		c, err := env.Semantics.Converter(&in, f)
		if err != nil {
			return nil, err
		}
		p.change = append(p.change, c)
	}
	return p, nil
}

// name gives the file name without number and extension.
func (s *OutputSettings) name(env *transform.Env) (string, error) {
	name, err := s.Base.Eval(env)
	if err != nil {
		return "", fmt.Errorf("file name: %w", err)
	}
	if name == "" {
		return "", &engine.Error{Field: "filename_base", Message: "no file name is set", Hint: "set the name of the file, without its extension"}
	}
	var formats []string
	if s.IncludeDate {
		formats = append(formats, "yyyyMMdd")
	}
	if s.IncludeTime {
		formats = append(formats, "HHmmss")
	}
	if s.IncludeDateTime {
		format, err := s.DateTimeFormat.Eval(env)
		if err != nil {
			return "", fmt.Errorf("date and time format: %w", err)
		}
		formats = append(formats, format)
	}
	zone := env.Semantics.Location
	if zone == nil {
		zone = time.UTC
	}
	for _, format := range formats {
		m, err := mask.CompileDate(format, mask.DateOptions{Location: zone})
		if err != nil {
			return "", fmt.Errorf("date and time format: %w", err)
		}
		name = string(m.AppendMillis([]byte(name+"-"), env.Started.UnixMilli()))
	}
	if s.IncludeCopy {
		name += fmt.Sprintf("-%02d", env.Copy)
	}
	return name, nil
}

func (s *OutputSettings) extension(env *transform.Env, codec string) (string, error) {
	extension, err := s.Extension.Eval(env)
	if err != nil {
		return "", fmt.Errorf("extension: %w", err)
	}
	if extension == "" {
		extension = "parquet"
	}
	if s.CompressionFirst {
		return codec + "." + extension, nil
	}
	return "." + extension + codec, nil
}

// WritesTo implements transform.Targeted.
func (s *OutputSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.FileTarget(transform.Resolved(r, s.Base.Text), false, s.IncludeDate || s.IncludeTime || s.IncludeDateTime)
}
