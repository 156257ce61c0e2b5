package sheet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

// ExcelWriter writes rows to sheets of .xlsx workbooks, or to new .ods workbooks,
// and passes them on. It makes
// workbooks or changes those that are there: templates, lines appended below or
// pushed in between, styles taken from cells, formulas, links, comments. Files
// appear under their names at the end of the input, split files when they are
// full.
//
// A new sheet without links, comments, pushed rows and fitted columns is written
// piece by piece; otherwise the workbook is held in memory.
var ExcelWriter = transform.Define[ExcelWriterSettings](transform.About{
	ID:         "TypeExitExcelWriterTransform",
	Name:       "Microsoft Excel writer",
	Category:   transform.CategoryOutput,
	Summary:    "Write rows to an Excel workbook.",
	Sink:       true,
	RowNeutral: []string{"add_to_result_filenames"},
})

// ExcelWriterSettings lists the settings in the order the form shows them.
type ExcelWriterSettings struct {
	File         ExcelFile              `hop:"file"`
	Template     ExcelTemplate          `hop:"template"`
	Header       bool                   `hop:"header" default:"Y"`
	Footer       bool                   `hop:"footer" help:"The header once more, at the end"`
	StartingCell transform.Expr[string] `hop:"startingCell" default:"A1"`
	RowWriting   RowWriting             `hop:"rowWritingMethod" default:"overwrite" label:"When rows are there"`
	AppendLines  bool                   `hop:"appendLines" label:"Start at the end of the sheet"`
	OmitHeader   bool                   `hop:"appendOmitHeader" label:"No header when appending"`
	AppendOffset int                    `hop:"appendOffset" default:"0" label:"Offset by" unit:"rows"`
	AppendEmpty  int                    `hop:"appendEmpty" default:"0" label:"Begin by writing" unit:"empty rows"`
	MakeActive   bool                   `hop:"makeSheetActive" default:"Y"`
	Recalculate  bool                   `hop:"forceFormulaRecalculation" label:"Recalculate formulas when opened"`
	KeepStyles   bool                   `hop:"leaveExistingStylesUnchanged" label:"Leave styles of existing cells"`
	AddToResult  bool                   `hop:"add_to_result_filenames"`
	Schema       string                 `hop:"schemaDefinition,alias=schema_definition" advanced:"true" form:"schema-definition"`
	IgnoreFields bool                   `hop:"ignoreFields" advanced:"true" help:"Has no effect here"`
	Fields       []ExcelOutputField     `hop:"fields>field" help:"None: all fields"`
}

// RowWriting says what happens to rows that are where new ones go.
type RowWriting string

// The ways.
const (
	Overwrite RowWriting = "overwrite"
	Push      RowWriting = "push"
)

// Choices implements transform.Choices.
func (RowWriting) Choices() []transform.Choice {
	return []transform.Choice{{Code: string(Overwrite), Label: "Overwrite existing cells"}, {Code: string(Push), Label: "Shift existing cells down"}}
}

// WhenThere says what happens to a file or sheet that exists.
type WhenThere string

// The ways.
const (
	MakeNew WhenThere = "new"
	Reuse   WhenThere = "reuse"
)

// Choices implements transform.Choices.
func (WhenThere) Choices() []transform.Choice {
	return []transform.Choice{{Code: string(MakeNew), Label: "Create new"}, {Code: string(Reuse), Label: "Use existing for writing"}}
}

// ExcelFile names the file and the sheet.
type ExcelFile struct {
	Name           transform.Expr[string] `hop:"name" default:"file" form:"file"`
	Extension      string                 `hop:"extension,alias=extention" default:"xls" help:"xlsx or ods"`
	SheetName      transform.Expr[string] `hop:"sheetname" default:"Sheet1"`
	IfFileExists   WhenThere              `hop:"if_file_exists" default:"new"`
	IfSheetExists  WhenThere              `hop:"if_sheet_exists" default:"new"`
	OpenLate       bool                   `hop:"do_not_open_newfile_init" label:"Make no file without rows"`
	NameInField    bool                   `hop:"filename_in_field" label:"File name in a field"`
	NameField      string                 `hop:"filename_field" form:"field"`
	CreateParent   bool                   `hop:"createParentFolder"`
	AddCopy        bool                   `hop:"split" label:"Add the copy number"`
	SplitEvery     int64                  `hop:"splitevery" default:"0" unit:"rows" help:"0: one file"`
	AddDate        bool                   `hop:"add_date" label:"Add the date"`
	AddTime        bool                   `hop:"add_time" label:"Add the time"`
	SpecifyFormat  bool                   `hop:"SpecifyFormat" label:"Add date and time by a format"`
	DateTimeFormat string                 `hop:"date_time_format" form:"mask"`
	Stream         bool                   `hop:"stream_data" advanced:"true" help:"Has no effect: sheets are streamed where they can be"`
	AutoSize       bool                   `hop:"autosizecolums" label:"Fit columns to their texts"`
	Protect        bool                   `hop:"protect_sheet"`
	Password       transform.Secret       `hop:"password"`
	ProtectedBy    transform.Expr[string] `hop:"protected_by" advanced:"true"`
}

// ExcelTemplate is a workbook or sheet that new ones start from.
type ExcelTemplate struct {
	Enabled      bool                   `hop:"enabled" label:"Use a template file"`
	FileName     transform.Expr[string] `hop:"filename" default:"template.xls" form:"file"`
	SheetEnabled bool                   `hop:"sheet_enabled" label:"Use a template sheet"`
	SheetName    transform.Expr[string] `hop:"sheetname"`
	Hidden       bool                   `hop:"hidden" label:"Hide the template sheet"`
}

// ExcelOutputField is one column.
type ExcelOutputField struct {
	Name          string     `hop:"name" required:"true" form:"field"`
	Type          batch.Type `hop:"type" default:"String" help:"The type of the input counts"`
	Format        string     `hop:"format" help:"Number format of Excel"`
	Title         string     `hop:"title" help:"Empty: the field's name"`
	TitleStyle    string     `hop:"titleStyleCell" label:"Header style from cell"`
	Style         string     `hop:"styleCell" label:"Style from cell"`
	Comment       string     `hop:"commentField" form:"field"`
	CommentAuthor string     `hop:"commentAuthorField" form:"field"`
	Formula       bool       `hop:"formula" label:"The value is a formula"`
	Hyperlink     string     `hop:"hyperlinkField" form:"field"`
}

const odsExtension = "ods"

// maxSheetName is the longest name Excel allows.
const maxSheetName = 31

// Output implements transform.Settings.
func (s *ExcelWriterSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main().With())
}

// Start implements transform.Settings.
func (s *ExcelWriterSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	switch strings.ToLower(s.File.Extension) {
	case "xlsx":
	case odsExtension:
		if err := s.odsOnly(); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("files of type %q cannot be written; set the extension to xlsx", s.File.Extension)
	}
	p := &excelWriter{env: env, settings: s, in: l.Main(), nameIndex: -1, open: map[string]*book{}}
	for _, x := range []struct {
		what string
		from transform.Expr[string]
		to   *string
	}{
		{"file name", s.File.Name, &p.name},
		{"sheet name", s.File.SheetName, &p.sheet},
		{"starting cell", s.StartingCell, &p.start},
		{"template file", s.Template.FileName, &p.template},
		{"template sheet", s.Template.SheetName, &p.templateSheet},
	} {
		var err error
		if *x.to, err = x.from.Eval(env); err != nil {
			return nil, fmt.Errorf("%s: %w", x.what, err)
		}
	}
	switch {
	case len([]rune(p.sheet)) > maxSheetName:
		return nil, fmt.Errorf("sheet name %q is longer than the %d characters that Excel allows", p.sheet, maxSheetName)
	case p.sheet == "":
		return nil, fmt.Errorf("the sheet name is empty")
	case s.Template.Enabled && !strings.EqualFold(path.Ext(p.template), "."+s.File.Extension):
		return nil, fmt.Errorf("template %s and file must have the same extension %s", p.template, s.File.Extension)
	}
	secret, err := s.File.Password.Reveal(env.Vars)
	if err != nil {
		return nil, fmt.Errorf("password: %w", err)
	}
	p.password = secret
	if s.File.NameInField {
		if p.nameIndex = l.Main().Index(s.File.NameField); p.nameIndex < 0 {
			return nil, missing("file name field", s.File.NameField, l.Main())
		}
	}
	return p, s.columns(p)
}

func missing(what, name string, in *batch.Schema) error {
	return fmt.Errorf("%s %q not found; the input has %s", what, name, strings.Join(in.Names(), ", "))
}

func (s *ExcelWriterSettings) columns(p *excelWriter) error {
	list := s.Fields
	if len(list) == 0 {
		for _, f := range p.in.Fields {
			list = append(list, ExcelOutputField{Name: f.Name})
		}
	}
	for _, f := range list {
		c := outColumn{ExcelOutputField: f, index: p.in.Index(f.Name), comment: -1, author: -1, link: -1}
		if c.index < 0 {
			return missing("field", f.Name, p.in)
		}
		for _, x := range []struct {
			what, name string
			to         *int
		}{{"comment field", f.Comment, &c.comment}, {"comment author field", f.CommentAuthor, &c.author}, {"link field", f.Hyperlink, &c.link}} {
			if x.name == "" {
				continue
			}
			if *x.to = p.in.Index(x.name); *x.to < 0 {
				return missing(x.what, x.name, p.in)
			}
		}
		if c.Title == "" {
			c.Title = f.Name
		}
		p.columns = append(p.columns, c)
	}
	var err error
	p.codecs, err = p.env.Semantics.Codecs(p.in)
	return err
}

// outColumn is a column with the input fields it needs.
type outColumn struct {
	ExcelOutputField
	index, comment, author, link int
}

// excelWriter writes rows to one workbook after another, or to several that a
// field names.
type excelWriter struct {
	transform.Stateful
	env           *transform.Env
	settings      *ExcelWriterSettings
	in            *batch.Schema
	columns       []outColumn
	codecs        []*batch.Codec
	name          string
	sheet         string
	start         string
	template      string
	templateSheet string
	password      interface{ Reveal() string }
	nameIndex     int

	open    map[string]*book
	order   []*book
	current *book
	split   int
	begun   bool
}

// Apply implements transform.RowWise.
func (p *excelWriter) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	n := 0
	for i := range b.All() {
		if err := p.choose(ctx, b, i); err != nil {
			return p.fail(err)
		}
		if err := p.current.writeRow(b, i); err != nil {
			return p.env.Rejects(b).Add(i, transform.RowError{Err: err})
		}
		n++
	}
	p.env.Counters.Output.Add(int64(n))
	return emit(transform.Main, b.Retain())
}

func (p *excelWriter) fail(err error) error {
	if _, known := errors.AsType[*engine.Error](err); known {
		return err
	}
	return &engine.Error{Transform: p.env.Transform, Message: "the workbook cannot be written", Err: err}
}

// prepare makes the file that is there from the start.
func (p *excelWriter) prepare(ctx context.Context) error {
	if p.begun || p.settings.File.OpenLate || p.nameIndex >= 0 {
		return nil
	}
	return p.next(ctx)
}

// choose makes the workbook of a row the current one.
func (p *excelWriter) choose(ctx context.Context, b *batch.Batch, i int) error {
	if p.nameIndex >= 0 {
		name, err := p.env.Resolve(string(p.codecs[p.nameIndex].AppendText(nil, b.Cols[p.nameIndex], i)))
		if err != nil {
			return err
		}
		if name == "" {
			return fmt.Errorf("field %q names no file", p.settings.File.NameField)
		}
		return p.switchTo(ctx, filenames.Slashes(name)+"."+p.settings.File.Extension)
	}
	if every := p.settings.File.SplitEvery; p.current != nil && !p.settings.AppendLines && every > 0 && p.current.rows > 0 && p.current.rows%every == 0 {
		if err := p.close(ctx, p.current); err != nil {
			return err
		}
		p.order, p.current = nil, nil
	}
	if p.current != nil {
		return nil
	}
	return p.next(ctx)
}

// next opens the next file that the settings name.
func (p *excelWriter) next(ctx context.Context) error {
	p.begun = true
	f := &p.settings.File
	stamp := filenames.Stamp{Date: f.AddDate, Time: f.AddTime}
	if f.SpecifyFormat {
		stamp.Format = f.DateTimeFormat
	}
	name, err := stamp.Append(filenames.Slashes(p.name), p.env.Now(), p.env.Semantics.Location)
	if err != nil {
		return p.fail(err)
	}
	if f.AddCopy {
		name += "_" + strconv.Itoa(p.env.Copy)
	}
	if f.SplitEvery > 0 {
		name += "_" + strconv.Itoa(p.split)
	}
	p.split++
	if err := p.switchTo(ctx, name+"."+f.Extension); err != nil {
		return p.fail(err)
	}
	return nil
}

func (p *excelWriter) switchTo(ctx context.Context, file string) error {
	if p.current = p.open[file]; p.current != nil {
		return nil
	}
	b, err := p.openBook(ctx, file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p.open[file], p.current = b, b
	p.order = append(p.order, b)
	return nil
}

// close saves a workbook and forgets it.
func (p *excelWriter) close(ctx context.Context, b *book) error {
	delete(p.open, b.path)
	if err := b.save(ctx); err != nil {
		return fmt.Errorf("%s: %w", b.path, err)
	}
	if p.settings.AddToResult {
		p.env.Results.AddFile(transform.ResultFile{
			Path: b.path, Type: "GENERAL", Origin: p.env.Transform, Parent: p.env.Pipeline.Name,
			Comment: "File was written by a Microsoft Excel writer transform", Timestamp: p.env.Now(),
		})
	}
	return nil
}

// Finish implements transform.Finisher.
func (p *excelWriter) Finish(ctx context.Context, _ transform.Emit) error { return p.prepare(ctx) }

// Commit implements transform.Sink.
func (p *excelWriter) Commit(ctx context.Context) error {
	for len(p.order) > 0 {
		b := p.order[0]
		p.order = p.order[1:]
		if err := p.close(ctx, b); err != nil {
			return p.fail(err)
		}
	}
	return nil
}

// Abort implements transform.Sink. Files that were split off stay.
func (p *excelWriter) Abort(context.Context) error {
	var err error
	for _, b := range p.order {
		if b.file != nil {
			err = errors.Join(err, b.file.Close())
		}
	}
	p.order = nil
	return err
}

// WritesTo implements transform.Targeted: rows of a workbook that is kept are
// written behind, or into, those that are there.
func (s *ExcelWriterSettings) WritesTo(r transform.Resolver) transform.Target {
	f := s.File
	if f.NameInField {
		return transform.Target{How: transform.HowUnknown}
	}
	return transform.FileTarget(transform.Resolved(r, f.Name.Text), f.IfFileExists != MakeNew, f.AddDate || f.AddTime)
}
