package sheet

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/expr/javaregex"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

// ExcelInput reads rows from the sheets of .xlsx, .xls and .ods workbooks. A
// file's content says what it is, not its name. Columns are taken by position.
//
// .xlsx and .ods files are read row by row; the packed file and the shared texts
// are held in memory, and of an .xls file the whole sheet.
var ExcelInput = transform.Define[ExcelInputSettings](transform.About{
	ID:         "ExcelInput",
	Name:       "Microsoft Excel input",
	Category:   transform.CategoryInput,
	Summary:    "Read rows from Excel and OpenDocument workbooks.",
	RowNeutral: []string{"add_to_result_filenames", "spreadsheet_type"},
})

// ExcelInputSettings lists the settings in the order the form shows them.
type ExcelInputSettings struct {
	Files           []filenames.Entry      `hop:"file,alias=files>file,inline"`
	Accept          bool                   `hop:"accept_filenames" label:"Accept file names from the input"`
	AcceptField     string                 `hop:"accept_field" form:"field"`
	AcceptTransform string                 `hop:"accept_transform_name" advanced:"true" form:"transform"`
	Password        transform.Secret       `hop:"password" help:"Of encrypted files"`
	Sheets          []ExcelSheet           `hop:"sheets>sheet" help:"None: all sheets"`
	Header          bool                   `hop:"header" default:"Y" label:"The first row is a header"`
	SkipEmpty       bool                   `hop:"noempty" default:"Y" label:"Skip empty rows"`
	StopOnEmpty     bool                   `hop:"stoponempty" label:"Stop at an empty row"`
	Limit           int64                  `hop:"limit" default:"0" unit:"rows" help:"0: all rows"`
	Encoding        transform.Expr[string] `hop:"encoding" advanced:"true" help:"Has no effect: workbooks name their encoding"`
	FileField       transform.Expr[string] `hop:"filefield" label:"File name field"`
	SheetField      transform.Expr[string] `hop:"sheetfield" label:"Sheet name field"`
	SheetRowField   transform.Expr[string] `hop:"sheetrownumfield" label:"Sheet row number field"`
	RowNumberField  transform.Expr[string] `hop:"rownumfield" label:"Row number field"`
	AddToResult     bool                   `hop:"add_to_result_filenames" default:"Y"`
	StrictTypes     bool                   `hop:"strict_types" help:"A cell of another type than its field is an error"`
	ErrorIgnored    bool                   `hop:"error_ignored" label:"Ignore errors" help:"A value that cannot be converted becomes null"`
	SkipErrorLines  bool                   `hop:"error_line_skipped" label:"Skip rows with errors"`
	BadFolder       transform.Expr[string] `hop:"bad_line_files_destination_directory" advanced:"true" help:"Has no effect here"`
	BadExtension    string                 `hop:"bad_line_files_extension" default:"warning" advanced:"true"`
	ErrorFolder     transform.Expr[string] `hop:"error_line_files_destination_directory" advanced:"true" help:"Has no effect here"`
	ErrorExtension  string                 `hop:"error_line_files_extension" default:"error" advanced:"true"`
	LineFolder      transform.Expr[string] `hop:"line_number_files_destination_directory" advanced:"true" help:"Has no effect here"`
	LineExtension   string                 `hop:"line_number_files_extension" default:"line" advanced:"true"`
	Type            string                 `hop:"spreadsheet_type" default:"POI" advanced:"true" help:"Has no effect: the file says what it is"`
	Schema          string                 `hop:"schema_definition" advanced:"true" form:"schema-definition"`
	filenames.Facts
	Fields []ExcelField `hop:"fields>field"`
}

// ExcelSheet is one sheet to read, or several by a regular expression.
type ExcelSheet struct {
	Name        transform.Expr[string] `hop:"name"`
	StartRow    int                    `hop:"startrow" min:"0" help:"From 0"`
	StartColumn int                    `hop:"startcol" min:"0" help:"From 0"`
	IsRegex     bool                   `hop:"is_regex" label:"The name is a regular expression"`
}

// ExcelField is one column.
type ExcelField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Trim      batch.Trim `hop:"trim_type" default:"none"`
	Repeat    bool       `hop:"repeat" help:"A null takes the value of the row before"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
}

// Output implements transform.Settings.
func (s *ExcelInputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, _, err := s.layout(l.Transform, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// extras are the fields behind the columns, with their values.
type extras struct {
	file, sheet, sheetRow, row bool
	facts                      []filenames.Fact
}

func (s *ExcelInputSettings) layout(origin string, r transform.Resolver) (*batch.Schema, *extras, error) {
	if len(s.Fields) == 0 {
		return nil, nil, fmt.Errorf("no fields are given; name the columns of the sheet")
	}
	schema := (*batch.Schema)(nil).With(s.fields(origin)...)
	e := &extras{}
	for _, x := range []struct {
		name transform.Expr[string]
		t    batch.Type
		on   *bool
	}{{s.FileField, batch.String, &e.file}, {s.SheetField, batch.String, &e.sheet}, {s.SheetRowField, batch.Integer, &e.sheetRow}, {s.RowNumberField, batch.Integer, &e.row}} {
		name, err := x.name.Eval(r)
		if err != nil {
			return nil, nil, err
		}
		if *x.on = name != ""; *x.on {
			f := batch.NewField(name, x.t)
			f.Origin = origin
			schema = schema.With(f)
		}
	}
	var err error
	if e.facts, err = s.Resolve(origin, r); err != nil {
		return nil, nil, err
	}
	for _, f := range e.facts {
		schema = schema.With(f.Field)
	}
	return schema, e, nil
}

func (s *ExcelInputSettings) fields(origin string) []batch.Field {
	var list []batch.Field
	for _, x := range s.Fields {
		f := batch.NewField(x.Name, x.Type)
		if f.Type == batch.None {
			f.Type = batch.String
		}
		f.Mask, f.Length, f.Precision, f.Trim, f.Origin = x.Format, x.Length, x.Precision, x.Trim, origin
		f.Currency, f.Decimal, f.Grouping = x.Currency, x.Decimal, x.Group
		list = append(list, f)
	}
	return list
}

// Start implements transform.Settings.
func (s *ExcelInputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	r := &excelReader{env: env, settings: s}
	var err error
	if r.schema, r.extras, err = s.layout(l.Transform, env); err != nil {
		return nil, err
	}
	for i, f := range s.fields(l.Transform) {
		c, err := newColumn(env.Semantics, &f, &s.Fields[i])
		if err != nil {
			return nil, err
		}
		r.columns = append(r.columns, c)
	}
	if r.password, err = s.Password.Reveal(env.Vars); err != nil {
		return nil, fmt.Errorf("password: %w", err)
	}
	if err := s.selection(env, r); err != nil {
		return nil, err
	}
	if !s.Accept {
		return &excelSource{excelReader: r}, nil
	}
	in := l.Main()
	if s.AcceptTransform != "" && l.From(s.AcceptTransform) != nil {
		in = l.From(s.AcceptTransform)
	}
	at := in.Index(s.AcceptField)
	if at < 0 {
		return nil, fmt.Errorf("file name field %q not found; the input has %s", s.AcceptField, strings.Join(in.Names(), ", "))
	}
	codec, err := env.Semantics.Codec(&in.Fields[at])
	return &excelRows{excelReader: r, index: at, codec: codec}, err
}

// selection compiles the names of the sheets.
func (s *ExcelInputSettings) selection(env *transform.Env, r *excelReader) error {
	for _, x := range s.Sheets {
		name, err := x.Name.Eval(env)
		if err != nil {
			return fmt.Errorf("sheet name: %w", err)
		}
		w := wantedSheet{ExcelSheet: x, name: name}
		if x.IsRegex && name != "" {
			if w.match, err = javaregex.Compile(name, 0); err != nil {
				return fmt.Errorf("sheet name: %w", err)
			}
		}
		r.wanted = append(r.wanted, w)
	}
	return nil
}
