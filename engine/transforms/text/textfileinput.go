package text

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// TextFileInput reads text files of delimited or fixed-width fields with headers,
// footers, pages, wrapped lines and filters. Layouts in which every line stands
// for itself are parsed on as many workers as there are.
var TextFileInput = transform.Define[TextFileInputSettings](transform.About{
	ID:            "TextFileInput2",
	Name:          "Text file input",
	Category:      transform.CategoryInput,
	Summary:       "Read rows from text files of many layouts.",
	HandlesErrors: true,
	RowNeutral:    []string{"add_to_result_filenames"},
})

// errTextInput is the code of rows whose text cannot be converted.
const errTextInput = "TextFileInput001"

// TextFileInputSettings lists the settings in the order the form shows them.
type TextFileInputSettings struct {
	Files             []FileItem             `hop:"files>file,alias=file,inline"`
	AcceptNames       bool                   `hop:"accept_filenames" label:"File names from a field"`
	PassFields        bool                   `hop:"passing_through_fields" label:"Pass the input's fields on"`
	AcceptTransform   string                 `hop:"accept_transform_name" form:"transform"`
	AcceptField       string                 `hop:"accept_field" form:"field"`
	Layout            TextLayout             `hop:"file_type,alias=file>type" default:"CSV"`
	Compression       string                 `hop:"compression,alias=file>compression" default:"None"`
	Separator         transform.Expr[string] `hop:"separator" default:";"`
	Enclosure         transform.Expr[string] `hop:"enclosure" default:"\""`
	EnclosureBreaks   bool                   `hop:"enclosure_breaks" label:"Line ends in enclosed fields"`
	Escape            transform.Expr[string] `hop:"escapechar" label:"Escape character"`
	Header            bool                   `hop:"header"`
	HeaderLines       int                    `hop:"nr_headerlines" default:"1" min:"0"`
	Footer            bool                   `hop:"footer"`
	FooterLines       int                    `hop:"nr_footerlines" default:"1" min:"0"`
	Wrapped           bool                   `hop:"line_wrapped" label:"Wrapped lines"`
	Wraps             int                    `hop:"nr_wraps" default:"1" min:"0" help:"How often a line is wrapped"`
	Paged             bool                   `hop:"layout_paged" label:"Paged layout"`
	LinesPerPage      int                    `hop:"nr_lines_per_page" default:"80" min:"1"`
	DocHeaderLines    int                    `hop:"nr_lines_doc_header" default:"0" min:"0"`
	NoEmptyLines      bool                   `hop:"noempty" default:"Y"`
	IncludeFilename   bool                   `hop:"include"`
	FilenameField     string                 `hop:"include_field"`
	IncludeRowNumber  bool                   `hop:"rownum"`
	RowNumberByFile   bool                   `hop:"rownumByFile"`
	RowNumberField    string                 `hop:"rownum_field"`
	Format            TextFormat             `hop:"format" default:"mixed" label:"Line end"`
	Encoding          transform.Expr[string] `hop:"encoding" help:"Empty: UTF-8"`
	LengthUnit        string                 `hop:"length" default:"Characters" help:"Of fixed widths: Characters or Bytes"`
	Limit             int64                  `hop:"limit" default:"0" unit:"lines" help:"0: all; header lines count"`
	AddToResult       bool                   `hop:"add_to_result_filenames" default:"Y"`
	Filters           []TextFilter           `hop:"filters>filter"`
	Fields            []TextInputField       `hop:"fields>field"`
	ErrorIgnored      bool                   `hop:"error_ignored" label:"Ignore errors"`
	SkipBadFiles      bool                   `hop:"skip_bad_files" help:"With 'ignore errors': go on with the next file when one cannot be read"`
	FileErrorField    string                 `hop:"file_error_field" advanced:"true"`
	FileErrorMessage  string                 `hop:"file_error_message_field" advanced:"true"`
	ErrorLineSkipped  bool                   `hop:"error_line_skipped" label:"Skip lines with errors"`
	ErrorCountField   string                 `hop:"error_count_field"`
	ErrorFieldsField  string                 `hop:"error_fields_field"`
	ErrorTextField    string                 `hop:"error_text_field"`
	BadLineFolder     string                 `hop:"bad_line_files_destination_directory" advanced:"true" help:"Has no effect here"`
	BadLineExtension  string                 `hop:"bad_line_files_extension" default:"warning" advanced:"true"`
	ErrorFolder       string                 `hop:"error_line_files_destination_directory" advanced:"true" help:"Has no effect here"`
	ErrorExtension    string                 `hop:"error_line_files_extension" default:"error" advanced:"true"`
	LineNumberFolder  string                 `hop:"line_number_files_destination_directory" advanced:"true" help:"Has no effect here"`
	LineNumberExt     string                 `hop:"line_number_files_extension" default:"line" advanced:"true"`
	DateLenient       bool                   `hop:"date_format_lenient" default:"Y" label:"Lenient dates"`
	DateLocale        string                 `hop:"date_format_locale" default:"en_US"`
	ShortNameField    string                 `hop:"shortFileFieldName"`
	ExtensionField    string                 `hop:"extensionFieldName"`
	PathField         string                 `hop:"pathFieldName"`
	SizeField         string                 `hop:"sizeFieldName"`
	HiddenField       string                 `hop:"hiddenFieldName"`
	ModifiedField     string                 `hop:"lastModificationTimeFieldName"`
	URIField          string                 `hop:"uriNameFieldName"`
	RootURIField      string                 `hop:"rootUriNameFieldName"`
	SchemaDefinition  string                 `hop:"schema_definition" form:"schema-definition" advanced:"true"`
	IgnoreFields      bool                   `hop:"ignore_fields" advanced:"true" help:"Take the fields of the schema definition"`
	NullIfNotEnclosed bool                   `hop:"null_if_not_enclosed" label:"Null if not enclosed" help:"An empty text is null, between enclosures it is an empty text"`
	PrependFileName   bool                   `hop:"prependFileName" advanced:"true" help:"Has no effect here"`
}

// TextInputField is one field of a line.
type TextInputField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Format    string     `hop:"format" form:"mask"`
	Position  int        `hop:"position" default:"-1" help:"Of fixed widths, from 0"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency"`
	Decimal   string     `hop:"decimal"`
	Group     string     `hop:"group"`
	NullIf    string     `hop:"null_string,alias=nullif" label:"Null if"`
	IfNull    string     `hop:"if_null_value,alias=ifnull" label:"Default"`
	Trim      batch.Trim `hop:"trim_type" default:"none"`
	Repeat    bool       `hop:"repeat" help:"A null takes the value of the row before"`
	Ignore    bool       `hop:"ignore" advanced:"true" help:"Has no effect here"`
}

// TextFilter keeps or drops lines that hold a text.
type TextFilter struct {
	Position int    `hop:"filter_position" default:"-1" help:"-1: anywhere"`
	Text     string `hop:"filter_string"`
	LastLine bool   `hop:"filter_is_last_line" label:"Stop there"`
	Positive bool   `hop:"filter_is_positive" label:"Keep what matches"`
}

// TextLayout tells delimited from fixed-width fields.
type TextLayout string

// Choices implements transform.Choices.
func (TextLayout) Choices() []transform.Choice {
	return []transform.Choice{{Code: "CSV", Label: "separated fields"}, {Code: "Fixed", Label: "fields of fixed width"}}
}

// TextFormat says what ends a line.
type TextFormat string

// Choices implements transform.Choices.
func (TextFormat) Choices() []transform.Choice {
	return []transform.Choice{{Code: "mixed", Label: "LF, any CR is dropped"}, {Code: "DOS", Label: "CR LF"}, {Code: "Unix", Label: "LF or CR"}}
}

const base64Prefix = "Base64: "

// decoded gives the text of a filter, which newer files hold as Base64 and older
// ones with a prefix or plain.
func (f *TextFilter) decoded() string {
	text, marked := strings.CutPrefix(f.Text, base64Prefix)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(raw) {
		return f.Text
	}
	for _, r := range string(raw) {
		if !marked && !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return f.Text
		}
	}
	return string(raw)
}

// Output implements transform.Settings.
func (s *TextFileInputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, _, err := s.layout(l, d)
	if err != nil {
		return nil, err
	}
	return transform.Schemas{transform.Main: schema, transform.Error: l.ErrorSchema(schema)}, nil
}

// layout gives the schema of the rows, and the fields of a line.
func (s *TextFileInputSettings) layout(l transform.Links, d transform.Design) (*batch.Schema, []TextInputField, error) {
	var schema *batch.Schema
	if s.AcceptNames && s.PassFields {
		schema = l.Main().With()
	}
	fields, err := s.lineFields(d)
	if err != nil {
		return nil, nil, err
	}
	for i := range fields {
		schema = schema.With(s.field(&fields[i], l.Transform))
	}
	for _, e := range s.extras() {
		f := batch.NewField(e.name, e.typ)
		f.Origin = l.Transform
		if e.what == extraRowNumber {
			f.Length = rowNumberLength
		}
		schema = schema.With(f)
	}
	return schema, fields, nil
}

func (s *TextFileInputSettings) field(c *TextInputField, origin string) batch.Field {
	f := batch.NewField(c.Name, c.Type)
	if f.Type == batch.None {
		f.Type = batch.String
	}
	f.Mask, f.Length, f.Precision, f.Trim, f.Origin = c.Format, c.Length, c.Precision, c.Trim, origin
	f.Currency, f.Decimal, f.Grouping = c.Currency, c.Decimal, c.Group
	if f.Type.IsDate() {
		f.Strict = !s.DateLenient
		if s.DateLocale != "en_US" {
			f.Locale = s.DateLocale
		}
	}
	return f
}

func (s *TextFileInputSettings) lineFields(d transform.Design) ([]TextInputField, error) {
	if !s.IgnoreFields || s.SchemaDefinition == "" {
		return s.Fields, nil
	}
	defined, err := definedFields(d, s.SchemaDefinition, "")
	if err != nil {
		return nil, err
	}
	var list []TextInputField
	for _, f := range defined {
		list = append(list, TextInputField{
			Name: f.Name, Type: f.Type, Format: f.Mask, Position: -1, Length: f.Length, Precision: f.Precision,
			Currency: f.Currency, Decimal: f.Decimal, Group: f.Grouping, Trim: f.Trim,
		})
	}
	return list, nil
}

// extraKind names what a field behind those of the line holds.
type extraKind int

const (
	extraErrorCount extraKind = iota
	extraErrorFields
	extraErrorText
	extraFilename
	extraRowNumber
	extraShortName
	extraExtension
	extraPath
	extraSize
	extraHidden
	extraModified
	extraURI
	extraRootURI
)

type extraField struct {
	what extraKind
	name string
	typ  batch.Type
}

// extras lists the fields behind those of the line, in Hop's order.
func (s *TextFileInputSettings) extras() []extraField {
	var list []extraField
	add := func(on bool, what extraKind, name string, t batch.Type) {
		if on && name != "" {
			list = append(list, extraField{what, name, t})
		}
	}
	add(s.ErrorIgnored, extraErrorCount, s.ErrorCountField, batch.Integer)
	add(s.ErrorIgnored, extraErrorFields, s.ErrorFieldsField, batch.String)
	add(s.ErrorIgnored, extraErrorText, s.ErrorTextField, batch.String)
	add(s.IncludeFilename, extraFilename, s.FilenameField, batch.String)
	add(s.IncludeRowNumber, extraRowNumber, s.RowNumberField, batch.Integer)
	add(true, extraShortName, s.ShortNameField, batch.String)
	add(true, extraExtension, s.ExtensionField, batch.String)
	add(true, extraPath, s.PathField, batch.String)
	add(true, extraSize, s.SizeField, batch.Integer)
	add(true, extraHidden, s.HiddenField, batch.Boolean)
	add(true, extraModified, s.ModifiedField, batch.Date)
	add(true, extraURI, s.URIField, batch.String)
	add(true, extraRootURI, s.RootURIField, batch.String)
	return list
}

// Start implements transform.Settings.
func (s *TextFileInputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, fields, err := s.layout(l, env.Design)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, &engine.Error{Message: "no fields are defined", Hint: "list the fields of a line"}
	}
	r := &textReader{env: env, settings: s, schema: schema, extras: s.extras()}
	if s.AcceptNames && s.PassFields {
		r.passed = l.Main().Len()
	}
	if err := s.resolve(env, r); err != nil {
		return nil, err
	}
	for i := range fields {
		f, err := newInputField(env.Semantics, schema.Fields[r.passed+i], false)
		if err != nil {
			return nil, err
		}
		if s.NullIfNotEnclosed && f.field.Type == batch.String {
			f.keepEmpty, f.keepEnclosed = false, true
		}
		r.fields = append(r.fields, f.withRule(batch.TextRule{NullIf: fields[i].NullIf, IfNull: fields[i].IfNull, Trim: fields[i].Trim}))
		r.repeats = r.repeats || fields[i].Repeat
		r.repeat = append(r.repeat, fields[i].Repeat)
		r.fixed = append(r.fixed, fixedField{max(0, fields[i].Position), fields[i].Length})
	}
	return s.processor(l, r)
}

func (s *TextFileInputSettings) resolve(env *transform.Env, r *textReader) error {
	var texts [4]string
	for i, e := range [4]transform.Expr[string]{s.Separator, s.Enclosure, s.Escape, s.Encoding} {
		v, err := e.Eval(env)
		if err != nil {
			return fmt.Errorf("%s: %w", [4]string{"separator", "enclosure", "escape character", "encoding"}[i], err)
		}
		texts[i] = v
	}
	r.separator, r.quote, r.escape = []byte(texts[0]), []byte(texts[1]), []byte(texts[2])
	if texts[0] == "" && s.Layout != "Fixed" {
		return &engine.Error{Message: "the separator is empty", Hint: "set it, or choose fields of fixed width"}
	}
	compression, err := env.Resolve(s.Compression)
	if err != nil {
		return fmt.Errorf("compression: %w", err)
	}
	if r.compression, err = files.ParseCompression(compression); err != nil {
		return err
	}
	for i := range s.Filters {
		text, err := env.Resolve(s.Filters[i].decoded())
		if err != nil {
			return fmt.Errorf("filter %d: %w", i+1, err)
		}
		r.filters = append(r.filters, lineFilter{TextFilter: &s.Filters[i], text: text})
	}
	r.charset, err = findCharset(texts[3])
	return err
}

func (s *TextFileInputSettings) processor(l transform.Links, r *textReader) (transform.Processor, error) {
	if s.AcceptNames {
		in := l.Main()
		if in == nil {
			return nil, &engine.Error{Message: "there is no input", Hint: "connect the transform whose rows name the files, or list the files here"}
		}
		at := in.Index(s.AcceptField)
		if at < 0 {
			return nil, fmt.Errorf("file name field %q not found; the input has %s", s.AcceptField, strings.Join(in.Names(), ", "))
		}
		return &textFromRows{textReader: r, field: at}, nil
	}
	switch {
	case l.HasMain():
		return &afterInput{source: &textSource{textReader: r}}, nil
	case r.splits():
		return &textSplitter{textReader: r}, nil
	}
	return &textSource{textReader: r}, nil
}
