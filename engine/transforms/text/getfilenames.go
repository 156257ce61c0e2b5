package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// GetFileNames lists files and folders, one row each, sorted by path. With a field
// that names them it does so for every input row.
var GetFileNames = transform.Define[GetFileNamesSettings](transform.About{
	ID:            "GetFileNames",
	Name:          "Get file names",
	Category:      transform.CategoryInput,
	Summary:       "List files and what is known of them.",
	HandlesErrors: true,
	RowNeutral:    []string{"isaddresult"},
})

// errNoFile is Hop's code for rows that name no file.
const errNoFile = "GetFilenames001"

// GetFileNamesSettings lists the settings in the order the form shows them.
type GetFileNamesSettings struct {
	Files            []FileItem            `hop:"file,inline"`
	Kind             FileFilter            `hop:"filter>filterfiletype" default:"all_files" label:"Get"`
	FromField        bool                  `hop:"filefield" label:"Names from a field"`
	NameField        string                `hop:"filename_Field" form:"field"`
	MaskField        string                `hop:"wildcard_Field" form:"field"`
	ExcludeField     string                `hop:"exclude_wildcard_Field" form:"field"`
	FieldSubfolders  bool                  `hop:"dynamic_include_subfolders" label:"Include subfolders"`
	IncludeRowNumber bool                  `hop:"rownum"`
	RowNumberField   string                `hop:"rownum_field"`
	Limit            transform.Expr[int64] `hop:"limit" default:"0" unit:"rows" help:"0: all"`
	AddToResult      bool                  `hop:"isaddresult" label:"Add file names to result"`
	DoNotFailIfNone  bool                  `hop:"doNotFailIfNoFile" label:"Say nothing when there is no file"`
	RaiseErrorIfNone bool                  `hop:"raiseAnExceptionIfNoFile" label:"Fail when there is no file"`
}

// FileFilter says whether files or folders are listed.
type FileFilter string

// Choices implements transform.Choices.
func (FileFilter) Choices() []transform.Choice {
	return []transform.Choice{{Code: "all_files", Label: "files and folders"}, {Code: "only_files", Label: "files"}, {Code: "only_folders", Label: "folders"}}
}

func (f FileFilter) kind() fileKind {
	switch f {
	case "only_files":
		return filesOnly
	case "only_folders":
		return foldersOnly
	}
	return filesAndFolders
}

// fileColumns are what is known of a file, in Hop's order.
var fileColumns = []struct {
	name string
	typ  batch.Type
	put  func(*batch.Column, *files.Info)
}{
	{"filename", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(i.Path) }},
	{"short_filename", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(i.Name) }},
	{"path", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(folderOf(i.Path)) }},
	{"type", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(fileType(i)) }},
	{"exists", batch.Boolean, func(c *batch.Column, _ *files.Info) { c.AppendBool(true) }},
	{"ishidden", batch.Boolean, func(c *batch.Column, i *files.Info) { c.AppendBool(i.Hidden) }},
	{"isreadable", batch.Boolean, func(c *batch.Column, i *files.Info) { c.AppendBool(i.Readable) }},
	{"iswriteable", batch.Boolean, func(c *batch.Column, i *files.Info) { c.AppendBool(i.Writable) }},
	{"lastmodifiedtime", batch.Date, func(c *batch.Column, i *files.Info) { c.AppendInt(i.ModTime.UnixMilli()) }},
	{"size", batch.Integer, putSize},
	{"extension", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(extension(i.Name)) }},
	{"uri", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(i.URI) }},
	{"rooturi", batch.String, func(c *batch.Column, i *files.Info) { c.AppendString(rootOf(i.URI)) }},
}

func putSize(c *batch.Column, i *files.Info) {
	if i.Folder {
		c.AppendNull()
		return
	}
	c.AppendInt(i.Size)
}

func fileType(i *files.Info) string {
	if i.Folder {
		return "folder"
	}
	return "file"
}

// Output implements transform.Settings.
func (s *GetFileNamesSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

func (s *GetFileNamesSettings) schema(l transform.Links) *batch.Schema {
	var fields []batch.Field
	for _, c := range fileColumns {
		f := batch.NewField(c.name, c.typ)
		f.Origin = l.Transform
		fields = append(fields, f)
	}
	if s.numbered() {
		f := batch.NewField(s.RowNumberField, batch.Integer)
		f.Length, f.Origin = rowNumberLength, l.Transform
		fields = append(fields, f)
	}
	if s.FromField {
		return l.Main().With(fields...)
	}
	return (*batch.Schema)(nil).With(fields...)
}

func (s *GetFileNamesSettings) numbered() bool { return s.IncludeRowNumber && s.RowNumberField != "" }

// Start implements transform.Settings.
func (s *GetFileNamesSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	limit, err := s.Limit.Or(env, 0)
	if err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	p := &fileNames{env: env, settings: s, schema: s.schema(l), limit: limit}
	if !s.FromField && !l.HasMain() {
		return &fileNamesSource{fileNames: p}, nil
	}
	if s.FromField {
		if err := p.findFields(l.Main()); err != nil {
			return nil, err
		}
	}
	return &fileNamesStream{fileNames: p}, nil
}

// fileNames is what the two shapes of GetFileNames share.
type fileNames struct {
	env      *transform.Env
	settings *GetFileNamesSettings
	schema   *batch.Schema
	limit    int64
	rows     int64
	fields   [3]int // of name, mask and excluding mask; -1: none
	codecs   []*batch.Codec
}

func (p *fileNames) findFields(in *batch.Schema) error {
	if in == nil {
		return &engine.Error{Message: "there is no input", Hint: "connect the transform whose rows name the files"}
	}
	s := p.settings
	for k, name := range [3]string{s.NameField, s.MaskField, s.ExcludeField} {
		if p.fields[k] = in.Index(name); p.fields[k] < 0 && (name != "" || k == 0) {
			return fmt.Errorf("field %q not found; the input has %s", name, strings.Join(in.Names(), ", "))
		}
	}
	var err error
	p.codecs, err = p.env.Semantics.Codecs(in)
	return err
}

type fileNamesSource struct {
	transform.Producer
	*fileNames
}

// Produce implements transform.Source.
func (p *fileNamesSource) Produce(ctx context.Context, emit transform.Emit) error {
	return p.list(ctx, emit)
}

type fileNamesStream struct {
	transform.Collector
	*fileNames
}

// Run implements transform.Stream. Without a name field the input rows only set
// the pace, as in Hop: they are read and dropped.
func (p *fileNamesStream) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	for _, r := range in {
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil && p.settings.FromField {
				err = p.rowsOf(ctx, b, emit)
			}
			if b != nil {
				b.Release()
			}
			if err != nil {
				return err
			}
		}
	}
	if p.settings.FromField {
		return nil
	}
	return p.list(ctx, emit)
}

// list emits what the settings name.
func (p *fileNames) list(ctx context.Context, emit transform.Emit) error {
	all, err := findAll(ctx, p.env, p.settings.Files, p.settings.Kind.kind())
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return p.none(nil, 0, emit)
	}
	sortByPath(all)
	for len(all) > 0 && !p.full() {
		n := min(len(all), batch.MaxRows)
		cols := p.columns(ctx, p.cut(all[:n]))
		if err := emit(transform.Main, p.env.Alloc.Assemble(p.schema, cols, cols[0].Len())); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func (p *fileNames) full() bool { return p.limit > 0 && p.rows >= p.limit }

// cut shortens a list to what the limit leaves, and counts it.
func (p *fileNames) cut(list []files.Info) []files.Info {
	if p.limit > 0 {
		list = list[:min(int64(len(list)), p.limit-p.rows)]
	}
	p.rows += int64(len(list))
	return list
}

// none says that nothing was found, for row i of b or for the settings when b is
// nil: nothing, a line in the log, a rejected row or an error.
func (p *fileNames) none(b *batch.Batch, i int, emit transform.Emit) error {
	s := p.settings
	if s.DoNotFailIfNone {
		return nil
	}
	message := errors.New("no file was found")
	if !s.RaiseErrorIfNone {
		p.env.Log.Warn("No file was found", "transform", p.env.Transform)
		return nil
	}
	if b == nil {
		return &engine.Error{Message: message.Error(), Hint: "correct the names and masks, or let the transform not fail when there is no file"}
	}
	rejects := p.env.Rejects(b)
	if err := rejects.Add(i, transform.RowError{Fields: s.NameField, Code: errNoFile, Err: message}); err != nil {
		return err
	}
	return rejects.Flush(b, emit)
}

// rowsOf emits the files that the rows of a batch name.
func (p *fileNames) rowsOf(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	var rows []int32
	var found []files.Info
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		kept := p.cut(found)
		out := b.Gather(rows[:len(kept)])
		defer out.Release()
		cols := p.columns(ctx, kept)
		rows, found = rows[:0], found[:0]
		return emit(transform.Main, out.With(p.schema, cols...))
	}
	for i := range b.All() {
		if p.full() {
			break
		}
		list, err := p.ofRow(ctx, b, i)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			if err := p.none(b, i, emit); err != nil {
				return err
			}
		}
		for _, f := range list {
			rows, found = append(rows, int32(i)), append(found, f)
			if len(rows) == batch.MaxRows && !p.full() {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

func (p *fileNames) ofRow(ctx context.Context, b *batch.Batch, i int) ([]files.Info, error) {
	var texts [3]string
	for k, at := range p.fields {
		if at < 0 {
			continue
		}
		col, err := b.Col(at, p.codecs[at])
		if err != nil {
			return nil, err
		}
		texts[k] = string(p.codecs[at].AppendText(nil, col, i))
	}
	item := FileItem{Name: texts[0], Mask: texts[1], Exclude: texts[2], Subfolders: p.settings.FieldSubfolders}
	list, err := item.find(ctx, p.env, p.settings.Kind.kind(), nil)
	sortByPath(list)
	return list, err
}

// columns makes the columns of a run of files and adds these to the result.
func (p *fileNames) columns(ctx context.Context, list []files.Info) []*batch.Column {
	var cols []*batch.Column
	for _, c := range fileColumns {
		col := p.env.Alloc.Column(c.typ)
		for k := range list {
			c.put(col, &list[k])
		}
		cols = append(cols, col)
	}
	if p.settings.numbered() {
		col := p.env.Alloc.Column(batch.Integer)
		for k := range list {
			col.AppendInt(p.rows - int64(len(list)) + int64(k) + 1)
		}
		cols = append(cols, col)
	}
	if p.settings.AddToResult {
		for k := range list {
			addResultFile(ctx, p.env, list[k].Path, "File was read by a Get file names transform")
		}
	}
	return cols
}
