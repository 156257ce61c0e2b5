package xml

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"

	"golang.org/x/text/encoding"
	xtransform "golang.org/x/text/transform"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
	"sluice/engine/transforms/xml/dom"
)

// XMLOutput writes rows to XML files and passes them on. A file appears under its
// name when it is complete.
var XMLOutput = transform.Define[XMLOutputSettings](transform.About{
	ID:         "XMLOutput",
	Name:       "XML output",
	Category:   transform.CategoryOutput,
	Summary:    "Write rows to an XML file.",
	Sink:       true,
	RowNeutral: []string{"file>add_to_result_filenames"},
})

// XMLOutputSettings lists the settings in the order the form shows them.
type XMLOutputSettings struct {
	File          XMLOutputFile          `hop:"file"`
	Encoding      transform.Expr[string] `hop:"encoding" default:"UTF-8"`
	NameSpace     string                 `hop:"name_space" label:"Namespace"`
	MainElement   string                 `hop:"xml_main_element" default:"Rows" required:"true"`
	RepeatElement string                 `hop:"xml_repeat_element" default:"Row" required:"true"`
	Fields        []XMLOutputField       `hop:"fields>field" help:"None: all fields"`
}

// XMLOutputFile names the file.
type XMLOutputFile struct {
	Name           transform.Expr[string] `hop:"name" default:"file" form:"file"`
	Extension      transform.Expr[string] `hop:"extention,alias=extension" default:"xml"`
	ServletOutput  bool                   `hop:"servlet_output" advanced:"true" help:"Has no effect here"`
	OpenLate       bool                   `hop:"do_not_open_newfile_init" label:"Make no file without rows"`
	AddCopy        bool                   `hop:"split" label:"Add the copy number"`
	AddDate        bool                   `hop:"add_date" label:"Add the date"`
	AddTime        bool                   `hop:"add_time" label:"Add the time"`
	SpecifyFormat  bool                   `hop:"SpecifyFormat" label:"Add date and time by a format"`
	DateTimeFormat string                 `hop:"date_time_format" form:"mask"`
	OmitNulls      bool                   `hop:"omit_null_values" label:"Omit null values"`
	AddToResult    bool                   `hop:"add_to_result_filenames"`
	Zipped         bool                   `hop:"zipped"`
	SplitEvery     int64                  `hop:"splitevery" default:"0" unit:"rows" help:"0: one file"`
	CreateParent   bool                   `hop:"create_parent_folder"`
}

// XMLOutputField is one element or attribute of a row.
type XMLOutputField struct {
	Content   string     `hop:"content_type" default:"Element" help:"Element or Attribute"`
	Name      string     `hop:"name" required:"true" form:"field"`
	Element   string     `hop:"element" help:"Empty: the field's name"`
	Type      batch.Type `hop:"type" default:"String" help:"The type of the input counts"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
	NullIf    string     `hop:"nullif" advanced:"true" help:"Has no effect here, as in Hop"`
}

// Output implements transform.Settings: the fields that are written get the
// lengths given for them.
func (s *XMLOutputSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

func (s *XMLOutputSettings) schema(l transform.Links) *batch.Schema {
	out := l.Main().Clone()
	for _, f := range s.Fields {
		if i := out.Index(f.Name); i >= 0 {
			out.Fields[i].Length, out.Fields[i].Precision = f.Length, f.Precision
		}
	}
	return out
}

// Start implements transform.Settings.
func (s *XMLOutputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &xmlOutput{env: env, settings: s, schema: s.schema(l)}
	if err := errors.Join(checkName("the main element", s.MainElement), checkName("the row element", s.RepeatElement)); err != nil {
		return nil, err
	}
	var err error
	if p.name, err = s.File.Name.Eval(env); err == nil && p.name == "" {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("file name: %w", err)
	}
	if p.extension, err = s.File.Extension.Eval(env); err != nil {
		return nil, fmt.Errorf("extension: %w", err)
	}
	if p.charset, err = s.Encoding.Or(env, "UTF-8"); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if p.encoding, err = filenames.Charset(p.charset); err != nil {
		return nil, err
	}
	return p, s.formats(p, l.Main())
}

func (s *XMLOutputSettings) formats(p *xmlOutput, in *batch.Schema) error {
	if len(s.Fields) == 0 {
		for i := range in.Len() {
			codec, err := p.env.Semantics.Codec(&in.Fields[i])
			if err == nil {
				err = checkName("a field", in.Fields[i].Name)
			}
			if err != nil {
				return err
			}
			p.elements = append(p.elements, valueFormat{index: i, name: in.Fields[i].Name, codec: codec})
		}
		return nil
	}
	for _, f := range s.Fields {
		v, err := newFormat(p.env.Semantics, in, formatSettings{
			field: f.Name, element: f.Element, format: f.Format, currency: f.Currency, decimal: f.Decimal, group: f.Group,
			length: f.Length, precision: f.Precision,
		})
		if err == nil {
			err = checkName(fmt.Sprintf("the element of field %q", f.Name), v.name)
		}
		if err != nil {
			return err
		}
		if f.Content == "Attribute" {
			p.attributes = append(p.attributes, v)
			continue
		}
		p.elements = append(p.elements, v)
	}
	return nil
}

type xmlOutput struct {
	transform.Stateful
	env        *transform.Env
	settings   *XMLOutputSettings
	schema     *batch.Schema
	name       string
	extension  string
	charset    string
	encoding   encoding.Encoding
	attributes []valueFormat
	elements   []valueFormat

	file *xmlFile
	made int
	rows int64
}

// Encode implements transform.Encoder: the text of the rows of a batch.
func (p *xmlOutput) Encode(_ context.Context, b *batch.Batch) (any, error) {
	rows := make([][]byte, 0, b.Rows())
	for i := range b.All() {
		rows = append(rows, p.row(nil, b, i))
	}
	return rows, nil
}

// Apply implements transform.RowWise.
func (p *xmlOutput) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	rows, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, rows, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *xmlOutput) ApplyEncoded(ctx context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	for _, row := range encoded.([][]byte) {
		if err := p.next(ctx); err != nil {
			return err
		}
		if _, err := p.file.text.Write(row); err != nil {
			return err
		}
		p.rows++
	}
	p.env.Counters.Output.Add(int64(b.Rows()))
	return emit(transform.Main, b.As(p.schema))
}

// next makes sure that a file is open for the next row.
func (p *xmlOutput) next(ctx context.Context) error {
	if every := p.settings.File.SplitEvery; p.file != nil && every > 0 && p.rows > 0 && p.rows%every == 0 {
		if err := p.close(); err != nil {
			return err
		}
	}
	if p.file != nil {
		return nil
	}
	return p.open(ctx)
}

// row writes one row element and a line end, with a blank between elements.
func (p *xmlOutput) row(dst []byte, b *batch.Batch, i int) []byte {
	dst = append(append(dst, '<'), p.settings.RepeatElement...)
	for k := range p.attributes {
		v := &p.attributes[k]
		if col := b.Cols[v.index]; !col.IsNull(i) {
			dst = append(append(append(dst, ' '), v.name...), `="`...)
			dst = append(append(dst, dom.EscapeAttr(string(v.codec.AppendText(nil, col, i)))...), '"')
		}
	}
	dst = append(dst, '>')
	for k := range p.elements {
		v := &p.elements[k]
		col := b.Cols[v.index]
		if k > 0 {
			dst = append(dst, ' ')
		}
		if p.settings.File.OmitNulls && len(p.settings.Fields) > 0 && p.env.Semantics.IsNull(col, i) {
			continue
		}
		dst = append(append(dst, '<'), v.name...)
		if col.IsNull(i) {
			dst = append(dst, "/>"...)
			continue
		}
		dst = append(dst, '>')
		dst = append(dst, dom.EscapeText(string(v.codec.AppendText(nil, col, i)))...)
		dst = append(append(append(dst, "</"...), v.name...), '>')
	}
	return append(append(append(dst, "</"...), p.settings.RepeatElement...), ">\n"...)
}

// xmlFile is one file that is being written, through a zip archive if wanted.
type xmlFile struct {
	path   string
	out    files.Writer
	buffer *bufio.Writer
	zip    *zip.Writer
	text   io.WriteCloser
}

type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }

func (p *xmlOutput) open(ctx context.Context) error {
	fail := func(err error) error {
		return &engine.Error{Transform: p.env.Transform, Message: "the XML file cannot be made", Err: err}
	}
	inner, err := p.path(p.extension)
	if err != nil {
		return fail(err)
	}
	target := inner
	if p.settings.File.Zipped {
		if target, err = p.path("zip"); err != nil {
			return fail(err)
		}
	}
	out, err := p.env.Files.Create(ctx, target, files.CreateOptions{Parents: p.settings.File.CreateParent})
	if err != nil {
		return fail(err)
	}
	f := &xmlFile{path: target, out: out, buffer: bufio.NewWriterSize(out, 64<<10)}
	p.file = f
	var w io.Writer = f.buffer
	if p.settings.File.Zipped {
		f.zip = zip.NewWriter(f.buffer)
		if w, err = f.zip.Create(path.Base(inner)); err != nil {
			return fail(err)
		}
	}
	f.text = noClose{w}
	if p.encoding != nil {
		f.text = xtransform.NewWriter(w, encoding.HTMLEscapeUnsupported(p.encoding.NewEncoder()))
	}
	p.made++
	space := ""
	if p.settings.NameSpace != "" {
		space = ` xmlns="` + dom.EscapeAttr(p.settings.NameSpace) + `"`
	}
	_, err = fmt.Fprintf(f.text, "<?xml version=\"1.0\" encoding=\"%s\"?>\n<%s%s>\n", p.charset, p.settings.MainElement, space)
	return err
}

// path names the next file.
func (p *xmlOutput) path(extension string) (string, error) {
	f := &p.settings.File
	stamp := filenames.Stamp{Date: f.AddDate, Time: f.AddTime}
	if f.SpecifyFormat {
		stamp.Format = f.DateTimeFormat
	}
	name, err := stamp.Append(p.name, p.env.Now(), p.env.Semantics.Location)
	if f.AddCopy {
		name += "_" + strconv.Itoa(p.env.Copy)
	}
	if f.SplitEvery > 0 {
		name += fmt.Sprintf("_%05d", p.made+1)
	}
	if extension != "" {
		name += "." + extension
	}
	return name, err
}

// close completes the file.
func (p *xmlOutput) close() error {
	f := p.file
	if f == nil {
		return nil
	}
	_, err := fmt.Fprintf(f.text, "</%s>\n", p.settings.MainElement)
	err = errors.Join(err, f.text.Close())
	if f.zip != nil {
		err = errors.Join(err, f.zip.Close())
	}
	err = errors.Join(err, f.buffer.Flush())
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	p.file = nil
	if err := f.out.Commit(); err != nil {
		return fmt.Errorf("complete %s: %w", f.path, err)
	}
	if p.settings.File.AddToResult {
		p.env.Results.AddFile(transform.ResultFile{
			Path: f.path, Type: "GENERAL", Origin: p.env.Transform, Parent: p.env.Pipeline.Name,
			Comment: "File was written by an XML output transform", Timestamp: p.env.Now(),
		})
	}
	return nil
}

// Finish implements transform.Finisher: without rows there is a file all the
// same, unless the settings say otherwise.
func (p *xmlOutput) Finish(ctx context.Context, _ transform.Emit) error {
	if p.made > 0 || p.settings.File.OpenLate {
		return nil
	}
	return p.open(ctx)
}

// Commit implements transform.Sink.
func (p *xmlOutput) Commit(context.Context) error { return p.close() }

// Abort implements transform.Sink. Files that were split off stay.
func (p *xmlOutput) Abort(context.Context) error {
	if p.file == nil {
		return nil
	}
	return p.file.out.Abort()
}

// WritesTo implements transform.Targeted.
func (s *XMLOutputSettings) WritesTo(r transform.Resolver) transform.Target {
	f := s.File
	return transform.FileTarget(transform.Resolved(r, f.Name.Text), false, f.AddDate || f.AddTime || f.SpecifyFormat)
}
