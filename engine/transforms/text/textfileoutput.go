package text

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// TextFileOutput writes rows to text files and passes them on. Rows are formatted
// on as many workers as there are and written in order. A file appears under its
// name when it is complete; one that is appended to grows as rows come.
var TextFileOutput = transform.Define[TextFileOutputSettings](transform.About{
	ID:         "TextFileOutput",
	Name:       "Text file output",
	Category:   transform.CategoryOutput,
	Summary:    "Write rows to a text file.",
	Sink:       true,
	RowNeutral: []string{"file>name", "file>extension", "file>add_to_result_filenames", "file>do_not_open_new_file_init", "create_parent_folder"},
})

// TextFileOutputSettings lists the settings in the order the form shows them.
type TextFileOutputSettings struct {
	File               TextOutputFile         `hop:"file"`
	FileNameInField    bool                   `hop:"fileNameInField" label:"File name in a field"`
	FileNameField      string                 `hop:"fileNameField" form:"field"`
	CreateParentFolder bool                   `hop:"create_parent_folder" default:"Y"`
	Separator          transform.Expr[string] `hop:"separator" default:";"`
	Enclosure          transform.Expr[string] `hop:"enclosure" default:"\""`
	ForceEnclosure     bool                   `hop:"enclosure_forced" label:"Enclose all texts"`
	NoEnclosure        bool                   `hop:"enclosure_fix_disabled" default:"Y" label:"Never enclose by itself" help:"Otherwise texts that hold the separator or the enclosure are enclosed"`
	Header             bool                   `hop:"header"`
	Footer             bool                   `hop:"footer" help:"The field names once more, at the end of each file"`
	LineEnd            LineEnd                `hop:"format" default:"DOS" label:"Line end"`
	Compression        string                 `hop:"compression" default:"None"`
	Encoding           transform.Expr[string] `hop:"encoding" help:"Empty: UTF-8"`
	EndedLine          transform.Expr[string] `hop:"endedLine" label:"Closing line" help:"Text at the end of the file"`
	SchemaDefinition   string                 `hop:"schema_definition" form:"schema-definition" advanced:"true"`
	IgnoreFields       bool                   `hop:"ignore_fields" advanced:"true" help:"Take the fields of the schema definition"`
	Fields             []TextOutputField      `hop:"fields>field" help:"None: all fields"`
}

// TextOutputFile names the file.
type TextOutputFile struct {
	Name           transform.Expr[string] `hop:"name" default:"file" form:"file"`
	Extension      transform.Expr[string] `hop:"extension,alias=extention" default:"txt"`
	Append         bool                   `hop:"append" label:"Append to a file that exists"`
	SplitEvery     transform.Expr[int64]  `hop:"splitevery" unit:"lines" help:"0: one file"`
	AddCopy        bool                   `hop:"split" label:"Add the copy number"`
	AddPartition   bool                   `hop:"haspartno" advanced:"true"`
	AddDate        bool                   `hop:"add_date" label:"Add the date"`
	AddTime        bool                   `hop:"add_time" label:"Add the time"`
	SpecifyFormat  bool                   `hop:"SpecifyFormat" label:"Add date and time by a format"`
	DateTimeFormat string                 `hop:"date_time_format" form:"mask"`
	OpenLate       bool                   `hop:"do_not_open_new_file_init" label:"Make no file without rows"`
	AddToResult    bool                   `hop:"add_to_result_filenames" default:"Y"`
	Pad            bool                   `hop:"pad" help:"No enclosure is forced then"`
	FastDump       bool                   `hop:"fast_dump" label:"No formatting"`
	ServletOutput  bool                   `hop:"servlet_output" advanced:"true" help:"Has no effect here"`
}

// TextOutputField is one column of the file.
type TextOutputField struct {
	Name      string       `hop:"name" required:"true" form:"field"`
	Type      batch.Type   `hop:"type" default:"String" help:"The type of the input counts"`
	Format    string       `hop:"format" form:"mask"`
	Length    int          `hop:"length" default:"-1"`
	Precision int          `hop:"precision" default:"-1"`
	Currency  string       `hop:"currency"`
	Decimal   string       `hop:"decimal"`
	Group     string       `hop:"group"`
	NullIf    string       `hop:"nullif" label:"Null as"`
	Trim      batch.Trim   `hop:"trim_type" default:"none"`
	Rounding  RoundingType `hop:"roundingType" default:"half_even" advanced:"true"`
}

// LineEnd says how lines end.
type LineEnd string

// Choices implements transform.Choices.
func (LineEnd) Choices() []transform.Choice {
	return []transform.Choice{{Code: "DOS", Label: "CR LF"}, {Code: "UNIX", Label: "LF"}, {Code: "CR", Label: "CR"}, {Code: "None", Label: "no line ends"}}
}

func (e LineEnd) text() string {
	switch strings.ToLower(string(e)) {
	case "dos":
		return "\r\n"
	case "cr":
		return "\r"
	case "none":
		return ""
	}
	return "\n"
}

// RoundingType is Java's rounding mode of a number mask.
type RoundingType string

// Choices implements transform.Choices.
func (RoundingType) Choices() []transform.Choice {
	return []transform.Choice{{Code: "half_even"}, {Code: "half_up"}, {Code: "half_down"}, {Code: "up"}, {Code: "down"}, {Code: "ceiling"}, {Code: "floor"}, {Code: "unnecessary"}}
}

func (r RoundingType) rounding() decimal.Rounding {
	return map[RoundingType]decimal.Rounding{
		"half_up": decimal.HalfUp, "half_down": decimal.HalfDown, "up": decimal.Up, "down": decimal.Down,
		"ceiling": decimal.Ceiling, "floor": decimal.Floor, "unnecessary": decimal.Unnecessary,
	}[r]
}

// Output implements transform.Settings. As in Hop the fields pass on with the
// formats they are written with.
func (s *TextFileOutputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *TextFileOutputSettings) schema(l transform.Links, d transform.Design) (*batch.Schema, error) {
	in := l.Main()
	fields, err := s.fields(d)
	if err != nil || len(fields) == 0 {
		return in, err
	}
	out := in.Clone()
	for i := range fields {
		at := in.Index(fields[i].Name)
		if at < 0 || in.Fields[at].Lazy {
			continue // Start tells of the missing one; text that waits keeps the mask it is to be read with
		}
		fields[i].apply(&out.Fields[at])
	}
	return out, nil
}

func (c *TextOutputField) apply(f *batch.Field) {
	f.Mask, f.Length, f.Precision, f.Trim = c.Format, c.Length, c.Precision, c.Trim
	f.Currency, f.Decimal, f.Grouping = c.Currency, c.Decimal, c.Group
}

func (s *TextFileOutputSettings) fields(d transform.Design) ([]TextOutputField, error) {
	if !s.IgnoreFields || s.SchemaDefinition == "" {
		return s.Fields, nil
	}
	defined, err := definedFields(d, s.SchemaDefinition, "")
	if err != nil {
		return nil, err
	}
	var list []TextOutputField
	for _, f := range defined {
		list = append(list, TextOutputField{
			Name: f.Name, Type: f.Type, Format: f.Mask, Length: f.Length, Precision: f.Precision,
			Currency: f.Currency, Decimal: f.Decimal, Group: f.Grouping, Trim: f.Trim,
		})
	}
	return list, nil
}

// Check implements transform.Checker: it names the fields that do not arrive.
func (s *TextFileOutputSettings) Check(l transform.Links, _ transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		in := l.Main()
		if in == nil {
			return
		}
		for i := range s.Fields {
			if in.Index(s.Fields[i].Name) < 0 && !yield(transform.Errorf(fmt.Sprintf("fields>field[%d]>name", i+1), "field %q not found; the input has %s", s.Fields[i].Name, strings.Join(in.Names(), ", "))) {
				return
			}
		}
		if s.FileNameInField && in.Index(s.FileNameField) < 0 {
			yield(transform.Errorf("fileNameField", "field %q not found; the input has %s", s.FileNameField, strings.Join(in.Names(), ", ")))
		}
	}
}

// Start implements transform.Settings.
func (s *TextFileOutputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	in := l.Main()
	if in == nil {
		return nil, &engine.Error{Message: "there is no input", Hint: "connect the transform whose rows are to be written"}
	}
	schema, err := s.schema(l, env.Design)
	if err != nil {
		return nil, err
	}
	p := &textOutput{env: env, settings: s, in: in, schema: schema, open: map[string]*outputFile{}, nameField: -1}
	p.format = format{forced: s.ForceEnclosure && !s.File.Pad, forcedHeader: s.ForceEnclosure, checked: !s.NoEnclosure, raw: s.File.FastDump, header: s.Header, footer: s.Footer, sem: env.Semantics}
	if err := s.resolve(env, p); err != nil {
		return nil, err
	}
	if err := s.columns(env, p); err != nil {
		return nil, err
	}
	if s.FileNameInField {
		if p.nameField = in.Index(s.FileNameField); p.nameField < 0 {
			return nil, fmt.Errorf("file name field %q not found; the input has %s", s.FileNameField, strings.Join(in.Names(), ", "))
		}
		p.nameCodec, err = env.Semantics.Codec(&in.Fields[p.nameField])
	}
	return p, err
}

// resolve evaluates the settings that may hold variables.
func (s *TextFileOutputSettings) resolve(env *transform.Env, p *textOutput) error {
	var failed error
	text := func(what string, e transform.Expr[string]) string {
		v, err := e.Eval(env)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", what, err)
		}
		return v
	}
	f := &p.format
	f.separator, f.quote = []byte(text("separator", s.Separator)), []byte(text("enclosure", s.Enclosure))
	f.newline = []byte(s.LineEnd.text())
	p.name.base, p.name.extension = text("file name", s.File.Name), text("extension", s.File.Extension)
	p.ended = text("closing line", s.EndedLine)
	encoding := text("encoding", s.Encoding)
	if failed != nil {
		return failed
	}
	var err error
	if p.name.splitEvery, err = s.File.SplitEvery.Or(env, 0); err != nil {
		return fmt.Errorf("split every: %w", err)
	}
	if f.charset, err = findCharset(encoding); err != nil {
		return err
	}
	compression, err := env.Resolve(s.Compression)
	if err != nil {
		return fmt.Errorf("compression: %w", err)
	}
	if p.compression, err = files.ParseCompression(compression); err != nil {
		return err
	}
	if p.name.base == "" && !s.FileNameInField {
		return &engine.Error{Message: "no file name is set", Hint: "set the file name, or name a field that holds it"}
	}
	p.maxOpen = maxOpenFiles(env)
	return s.nameParts(env, &p.name, p.compression)
}

// nameParts sets what is added to the file name: all but the split number is
// known from the start.
func (s *TextFileOutputSettings) nameParts(env *transform.Env, n *outputName, c files.Compression) error {
	n.zip, n.gzip = c == files.Zip, c == files.GZip
	stamp := func(prefix, pattern string) error {
		text, err := dateText(env, pattern)
		n.suffix += prefix + text
		return err
	}
	var err error
	switch {
	case s.File.SpecifyFormat && s.File.DateTimeFormat != "":
		err = stamp("", s.File.DateTimeFormat)
	default:
		if s.File.AddDate {
			err = stamp("_", "yyyyMMdd")
		}
		if s.File.AddTime && err == nil {
			err = stamp("_", "HHmmss")
		}
	}
	if s.File.AddCopy {
		n.suffix += fmt.Sprintf("_%d", env.Copy)
	}
	return err
}

func dateText(env *transform.Env, pattern string) (string, error) {
	m, err := mask.CompileDate(pattern, mask.DateOptions{Location: env.Semantics.Location})
	if err != nil {
		return "", fmt.Errorf("date and time format: %w", err)
	}
	return string(m.AppendMillis(nil, env.Now().UnixMilli())), nil
}

// columns compiles the fields to write.
func (s *TextFileOutputSettings) columns(env *transform.Env, p *textOutput) error {
	fields, err := s.fields(env.Design)
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		for i := range p.in.Fields {
			c, err := newOutputColumn(env.Semantics, p.in, i, p.in.Fields[i], decimal.HalfEven)
			if err != nil {
				return err
			}
			p.format.columns = append(p.format.columns, c)
		}
		return nil
	}
	for i := range fields {
		at := p.in.Index(fields[i].Name)
		if at < 0 {
			return fmt.Errorf("field %q not found; the input has %s", fields[i].Name, strings.Join(p.in.Names(), ", "))
		}
		out := p.in.Fields[at]
		fields[i].apply(&out)
		c, err := newOutputColumn(env.Semantics, p.in, at, out, fields[i].Rounding.rounding())
		if err != nil {
			return err
		}
		c.title = fields[i].Name
		if fields[i].NullIf != "" {
			c.null = []byte(fields[i].NullIf)
		}
		p.format.columns = append(p.format.columns, c)
	}
	return nil
}

// outputName builds file names.
type outputName struct {
	base, suffix, extension string
	splitEvery              int64
	zip, gzip               bool
}

// file gives the name of the split-th file of a base name, as Hop builds it: an
// archive has no extension of its own, its entry has.
func (n *outputName) file(base string, split int) string {
	name := base + n.suffix
	if n.splitEvery > 0 {
		name += fmt.Sprintf("_%d", split)
	}
	switch {
	case n.zip:
		return name + ".zip"
	case n.extension != "":
		name += "." + n.extension
	}
	if n.gzip {
		name += ".gz"
	}
	return name
}

// entry gives the name inside of an archive.
func (n *outputName) entry(file string) string {
	file = strings.TrimSuffix(file[strings.LastIndexAny(file, `/\`)+1:], ".zip")
	if n.extension != "" {
		file += "." + n.extension
	}
	return file
}

// defaultMaxOpen is how many files are open at once when
// HOP_FILE_OUTPUT_MAX_STREAM_COUNT does not say.
const defaultMaxOpen = 512

func maxOpenFiles(env *transform.Env) int {
	v, _ := env.Vars.Get("HOP_FILE_OUTPUT_MAX_STREAM_COUNT")
	n, err := transform.Expr[int]{Text: v}.Or(env, 0)
	if err != nil || n <= 0 {
		return defaultMaxOpen
	}
	return n
}

// sortedKeys gives the open files in the order of their names, so that they are
// closed in the same order every time.
func sortedKeys(m map[string]*outputFile) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Needs implements transform.FieldUser.
func (s *TextFileOutputSettings) Needs(l transform.Links, out []bool) []bool {
	used := []string{s.FileNameField}
	for _, f := range s.Fields {
		used = append(used, f.Name)
	}
	if len(s.Fields) == 0 {
		used = append(used, l.Main().Names()...)
	}
	return transform.PassingNeeds(l, out, used...)
}

// WritesTo implements transform.Targeted.
func (s *TextFileOutputSettings) WritesTo(r transform.Resolver) transform.Target {
	f := s.File
	if s.FileNameInField {
		return transform.Target{How: transform.HowUnknown}
	}
	name := transform.Resolved(r, f.Name.Text)
	if e := transform.Resolved(r, f.Extension.Text); e != "" {
		name += "." + e
	}
	return transform.FileTarget(name, f.Append, f.AddDate || f.AddTime || f.SpecifyFormat)
}
