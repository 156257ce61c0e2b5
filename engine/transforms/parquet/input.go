package parquet

import (
	"fmt"
	"iter"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// ParquetFileInput reads Parquet files. With an input it reads the file that each
// row names and appends its fields to that row; a null name is skipped. Without one
// it reads the file that the settings name. Columns are found by name; a field
// whose column is not in the file is null, as in Hop.
var ParquetFileInput = transform.Define[InputSettings](transform.About{
	ID:       "ParquetFileInput",
	Name:     "Parquet file input",
	Category: transform.CategoryInput,
	Summary:  "Read rows from Parquet files.",
})

// InputSettings lists the settings in the order the form shows them.
type InputSettings struct {
	Filename         transform.Expr[string] `hop:"filename" form:"file" help:"The file, when no input names files"`
	FilenameField    transform.Expr[string] `hop:"filename_field" form:"field" help:"Field of the input that names the files"`
	MetadataFilename transform.Expr[string] `hop:"metadata_filename" form:"file" advanced:"true" help:"A file to take the fields from when none are listed; without an input and a file name this file is read"`
	NullsWhenEmpty   bool                   `hop:"nulls_when_empty" label:"A row of nulls when there are no rows"`
	Fields           []InputField           `hop:"fields>field"`
}

// InputField is one column of the files.
type InputField struct {
	Source    string                 `hop:"source_field" required:"true" label:"Column"`
	Target    string                 `hop:"target_field" label:"Field"`
	Type      batch.Type             `hop:"target_type" default:"String"`
	Format    string                 `hop:"target_format" form:"mask"`
	Length    transform.Expr[string] `hop:"target_length"`
	Precision transform.Expr[string] `hop:"target_precision"`
}

// field gives the field of the rows.
func (f *InputField) field(origin string) batch.Field {
	name := f.Target
	if name == "" {
		name = f.Source
	}
	out := batch.NewField(name, f.Type)
	if f.Type == batch.None {
		out.Type = batch.String
	}
	out.Mask, out.Origin = f.Format, origin
	out.Length, out.Precision = number(f.Length.Text), number(f.Precision.Text)
	return out
}

// number reads a length as Hop does: what is no number is "not set".
func number(text string) int {
	n := -1
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "%d", &n); err != nil {
		return -1
	}
	return n
}

// Output implements transform.Settings.
func (s *InputSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	if len(s.Fields) == 0 {
		return nil, &engine.Error{
			Transform: l.Transform, Field: "fields", Message: "no fields are defined",
			Hint: "list the columns to read; a design cannot take them from a file that does not exist yet",
		}
	}
	return transform.OnMain(l.Main().With(s.fields(l.Transform)...))
}

func (s *InputSettings) fields(origin string) []batch.Field {
	list := make([]batch.Field, len(s.Fields))
	for i := range s.Fields {
		list[i] = s.Fields[i].field(origin)
	}
	return list
}

// Check implements transform.Checker.
func (s *InputSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		switch {
		case l.HasMain() && s.FilenameField.IsEmpty():
			yield(transform.Errorf("filename_field", "name the field of the input that holds the file names"))
		case !l.HasMain() && s.Filename.IsEmpty() && s.MetadataFilename.IsEmpty():
			yield(transform.Errorf("filename", "no file name is set, and no input names files"))
		}
	}
}

// Start implements transform.Settings.
func (s *InputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schemas, err := s.Output(l, env.Design)
	if err != nil {
		return nil, err
	}
	r := &reader{env: env, fields: s.fields(l.Transform), nulls: s.NullsWhenEmpty, schema: schemas[transform.Main]}
	for _, f := range s.Fields {
		r.columns = append(r.columns, f.Source)
	}
	if !l.HasMain() {
		return s.source(env, r)
	}
	name, err := s.FilenameField.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("file name field: %w", err)
	}
	at := l.Main().Index(name)
	if at < 0 {
		return nil, &engine.Error{
			Field: name, Message: "the file name field was not found",
			Hint: "the input has " + strings.Join(l.Main().Names(), ", "),
		}
	}
	codec, err := env.Semantics.Codec(&l.Main().Fields[at])
	if err != nil {
		return nil, err
	}
	return &inputRows{reader: r, name: at, codec: codec}, nil
}

func (s *InputSettings) source(env *transform.Env, r *reader) (transform.Processor, error) {
	setting := s.Filename
	if setting.IsEmpty() {
		setting = s.MetadataFilename
	}
	name, err := setting.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("file name: %w", err)
	}
	if name == "" {
		return nil, &engine.Error{Field: "filename", Message: "no file name is set", Hint: "set the file, or connect an input and name its field that holds the file names"}
	}
	return &inputFile{reader: r, name: name}, nil
}
