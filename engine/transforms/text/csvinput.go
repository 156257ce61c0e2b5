package text

import (
	"fmt"
	"iter"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// CSVInput reads delimited text files. Columns are bound by position. Blocks of a
// file are parsed on as many workers as there are; the rows keep the file's order.
// With an input it reads the files that the input's rows name, after the last of
// these rows.
var CSVInput = transform.Define[CSVInputSettings](transform.About{
	ID:            "CSVInput",
	Name:          "CSV file input",
	Category:      transform.CategoryInput,
	Summary:       "Read rows from a delimited text file.",
	HandlesErrors: true,
	RowNeutral:    []string{"buffer_size", "parallel", "add_filename_result"},
})

// CSVInputSettings lists the settings in the order the form shows them.
type CSVInputSettings struct {
	Filename         transform.Expr[string] `hop:"filename" form:"file"`
	FilenameField    transform.Expr[string] `hop:"filename_field" form:"field" help:"Field of the input that names the files; with 'include filename' the field that gets the name"`
	IncludeFilename  bool                   `hop:"include_filename"`
	RowNumberField   transform.Expr[string] `hop:"rownum_field" label:"Row number field"`
	Separator        transform.Expr[string] `hop:"separator" default:"," help:"One or more characters, or $[hex]"`
	Enclosure        transform.Expr[string] `hop:"enclosure" default:"\""`
	Header           bool                   `hop:"header" label:"Header row present"`
	LazyConversion   bool                   `hop:"lazy_conversion" help:"Keep values as text until they are needed"`
	NewlinePossible  bool                   `hop:"newline_possible" label:"Line ends in fields" help:"Line ends are data in all columns but the last one"`
	Encoding         transform.Expr[string] `hop:"encoding" help:"Empty: UTF-8"`
	SchemaDefinition string                 `hop:"schemaDefinition" form:"schema-definition" advanced:"true"`
	IgnoreFields     bool                   `hop:"ignoreFields" advanced:"true" help:"Take the fields of the schema definition"`
	AddToResult      bool                   `hop:"add_filename_result" label:"Add file name to result"`
	BufferSize       transform.Expr[string] `hop:"buffer_size" default:"50000" advanced:"true" help:"Has no effect here"`
	Parallel         bool                   `hop:"parallel" advanced:"true" help:"With several copies the file is read once, by all of them together"`
	Fields           []CSVField             `hop:"fields>field"`
}

// CSVField is one column of the file.
type CSVField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency"`
	Decimal   string     `hop:"decimal"`
	Group     string     `hop:"group"`
	Trim      batch.Trim `hop:"trim_type" default:"none"`
}

// rowNumberLength is the length Hop gives its row number fields.
const rowNumberLength = 10

// Output implements transform.Settings.
func (s *CSVInputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, _, err := s.layout(l, d)
	if err != nil {
		return nil, err
	}
	return transform.Schemas{transform.Main: schema, transform.Error: l.ErrorSchema(schema)}, nil
}

// layout gives the schema of the rows and the number of columns of the file.
func (s *CSVInputSettings) layout(l transform.Links, d transform.Design) (*batch.Schema, int, error) {
	fields, err := s.fileFields(l, d)
	if err != nil {
		return nil, 0, err
	}
	schema := (*batch.Schema)(nil).With(fields...)
	name, err := s.nameColumn(d)
	if err != nil {
		return nil, 0, err
	}
	if name != "" {
		f := batch.NewField(name, batch.String)
		f.Origin = l.Transform
		schema = schema.With(f)
	}
	number, err := s.RowNumberField.Eval(d)
	if err != nil {
		return nil, 0, fmt.Errorf("row number field: %w", err)
	}
	if number != "" {
		f := batch.NewField(number, batch.Integer)
		f.Length, f.Origin = rowNumberLength, l.Transform
		schema = schema.With(f)
	}
	return schema, len(fields), nil
}

// nameColumn names the field that gets the file name, "" when there is none.
func (s *CSVInputSettings) nameColumn(r transform.Resolver) (string, error) {
	if !s.IncludeFilename {
		return "", nil
	}
	name, err := s.FilenameField.Eval(r)
	if err != nil {
		return "", fmt.Errorf("file name field: %w", err)
	}
	return name, nil
}

func (s *CSVInputSettings) fileFields(l transform.Links, d transform.Design) ([]batch.Field, error) {
	if s.IgnoreFields && s.SchemaDefinition != "" {
		return definedFields(d, s.SchemaDefinition, l.Transform)
	}
	list := make([]batch.Field, 0, len(s.Fields))
	for _, c := range s.Fields {
		f := batch.NewField(c.Name, c.Type)
		if f.Type == batch.None {
			f.Type = batch.String
		}
		f.Mask, f.Length, f.Precision, f.Trim, f.Origin = c.Format, c.Length, c.Precision, c.Trim, l.Transform
		f.Currency, f.Decimal, f.Grouping = c.Currency, c.Decimal, c.Group
		f.Lazy = s.LazyConversion
		list = append(list, f)
	}
	return list, nil
}

// definedFields gives the fields of a schema definition of the project.
func definedFields(d transform.Design, name, origin string) ([]batch.Field, error) {
	name, err := d.Resolve(name)
	if err != nil {
		return nil, err
	}
	def, err := d.Metadata().SchemaDefinition(name)
	if err != nil {
		return nil, fmt.Errorf("schema definition: %w", err)
	}
	var list []batch.Field
	for _, c := range def.Fields {
		f := batch.NewField(c.Name, batch.ParseType(c.HopType))
		if f.Type == batch.None {
			f.Type = batch.String
		}
		f.Mask, f.Length, f.Precision, f.Trim, f.Origin = c.FormatMask, c.Length, c.Precision, batch.Trim(c.TrimType&3), origin
		f.Currency, f.Decimal, f.Grouping = c.CurrencySymbol, c.DecimalSymbol, c.GroupingSymbol
		list = append(list, f)
	}
	return list, nil
}

// Check implements transform.Checker.
func (s *CSVInputSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		switch {
		case l.HasMain() && s.FilenameField.IsEmpty():
			yield(transform.Errorf("filename_field", "name the field of the input that holds the file names"))
		case !l.HasMain() && s.Filename.IsEmpty():
			yield(transform.Errorf("filename", "no file name is set"))
		case len(s.Fields) == 0 && !s.IgnoreFields:
			yield(transform.Errorf("fields>field", "no fields are defined"))
		}
	}
}

// Start implements transform.Settings.
func (s *CSVInputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	schema, columns, err := s.layout(l, env.Design)
	if err != nil {
		return nil, err
	}
	if columns == 0 {
		return nil, &engine.Error{Message: "no fields are defined", Hint: "list the columns of the file, or choose a schema definition and 'ignore fields'"}
	}
	r := &csvReader{env: env, schema: schema, columns: columns, header: s.Header, addResult: s.AddToResult}
	if err := s.resolve(env, r); err != nil {
		return nil, err
	}
	for _, f := range schema.Fields[:columns] {
		in, err := newInputField(env.Semantics, f, s.LazyConversion)
		if err != nil {
			return nil, err
		}
		r.fields = append(r.fields, in)
	}
	name, err := s.nameColumn(env)
	if err != nil {
		return nil, err
	}
	r.named = name != ""
	r.numbered = len(schema.Fields) > columns && (len(schema.Fields) > columns+1 || !r.named)
	return s.processor(env, l, r)
}

// resolve evaluates the settings that may hold variables.
func (s *CSVInputSettings) resolve(env *transform.Env, r *csvReader) error {
	separator, err := s.Separator.Eval(env)
	if err != nil {
		return fmt.Errorf("separator: %w", err)
	}
	if separator == "" {
		return &engine.Error{Message: "the separator is empty", Hint: "for fields of fixed width use Text file input"}
	}
	enclosure, err := s.Enclosure.Eval(env)
	if err != nil {
		return fmt.Errorf("enclosure: %w", err)
	}
	encoding, err := s.Encoding.Eval(env)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	r.charset, err = findCharset(encoding)
	r.dialect = dialect{separator: []byte(separator), quote: []byte(enclosure), lineEndsInside: s.NewlinePossible}
	return err
}

func (s *CSVInputSettings) processor(env *transform.Env, l transform.Links, r *csvReader) (transform.Processor, error) {
	if l.HasMain() {
		field, err := s.FilenameField.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("file name field: %w", err)
		}
		at := l.Main().Index(field)
		if at < 0 {
			return nil, fmt.Errorf("file name field %q not found; the input has %s", field, strings.Join(l.Main().Names(), ", "))
		}
		return &csvFromRows{csvReader: r, field: at}, nil
	}
	name, err := s.Filename.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("file name: %w", err)
	}
	if name == "" {
		return nil, &engine.Error{Message: "no file name is set", Hint: "set the file, or connect an input and name its field that holds the file names"}
	}
	p := &csvSource{csvReader: r}
	if !s.Parallel || env.Copy == 0 {
		p.names = []string{name}
	}
	return p, nil
}
