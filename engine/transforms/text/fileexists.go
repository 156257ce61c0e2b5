package text

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// FileExists tells for every row whether the file that a field names exists.
var FileExists = transform.Define[FileExistsSettings](transform.About{
	ID:            "FileExists",
	Name:          "File exists",
	Category:      transform.CategoryLookup,
	Summary:       "Tell whether the file named in a field exists.",
	HandlesErrors: true,
})

// errFileExists is Hop's code, which holds the letter O.
const errFileExists = "FileExistsO01"

// FileExistsSettings lists the settings in the order the form shows them.
type FileExistsSettings struct {
	NameField   string                 `hop:"filenamefield" form:"field" required:"true"`
	ResultField transform.Expr[string] `hop:"resultfieldname" default:"result" required:"true"`
	IncludeType bool                   `hop:"includefiletype" label:"Include file type"`
	TypeField   transform.Expr[string] `hop:"filetypefieldname"`
	AddToResult bool                   `hop:"addresultfilenames" label:"Add file name to result"`
}

// Output implements transform.Settings.
func (s *FileExistsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *FileExistsSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	result, err := s.ResultField.Eval(r)
	if err != nil {
		return nil, fmt.Errorf("result field: %w", err)
	}
	if result == "" {
		return nil, &engine.Error{Message: "the result field has no name", Hint: "name the field that is to tell whether the file exists"}
	}
	fields := []batch.Field{batch.NewField(result, batch.Boolean)}
	if s.IncludeType {
		kind, err := s.TypeField.Eval(r)
		if err != nil {
			return nil, fmt.Errorf("file type field: %w", err)
		}
		if kind != "" {
			fields = append(fields, batch.NewField(kind, batch.String))
		}
	}
	for i := range fields {
		fields[i].Origin = l.Transform
	}
	return l.Main().With(fields...), nil
}

// Start implements transform.Settings.
func (s *FileExistsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	in := l.Main()
	schema, err := s.schema(l, env)
	if err != nil {
		return nil, err
	}
	p := &fileExists{env: env, settings: s, schema: schema, field: in.Index(s.NameField), typed: schema.Len() == in.Len()+2}
	if p.field < 0 {
		return nil, fmt.Errorf("file name field %q not found; the input has %s", s.NameField, strings.Join(in.Names(), ", "))
	}
	p.codec, err = env.Semantics.Codec(&in.Fields[p.field])
	return p, err
}

type fileExists struct {
	transform.Stateless
	transform.TakesRaw
	env      *transform.Env
	settings *FileExistsSettings
	schema   *batch.Schema
	field    int
	codec    *batch.Codec
	typed    bool // the file type is told too
}

// Apply implements transform.RowWise.
func (p *fileExists) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	names, err := b.Col(p.field, p.codec)
	if err != nil {
		return err
	}
	rejects := p.env.Rejects(b)
	exists, kind := p.env.Alloc.Column(batch.Boolean), p.env.Alloc.Column(batch.String)
	next := 0
	skip := func(to int) {
		for ; next < to; next++ {
			exists.AppendNull()
			kind.AppendNull()
		}
	}
	for i := range b.All() {
		skip(i)
		if err := p.look(ctx, string(p.codec.AppendText(nil, names, i)), exists, kind); err != nil {
			why := transform.RowError{Fields: p.settings.ResultField.Text, Code: errFileExists, Err: err}
			if err := rejects.Add(i, why); err != nil {
				exists.Release()
				kind.Release()
				return err
			}
			skip(i + 1)
		}
		next = i + 1
	}
	skip(b.Physical())
	cols := []*batch.Column{exists, kind}
	if !p.typed {
		kind.Release()
		cols = cols[:1]
	}
	good := b.Select(rejects.Keep())
	if b.Sel == nil && rejects.Len() == 0 {
		good.Release()
		good = b.Retain()
	}
	defer good.Release()
	if err := emit(transform.Main, good.With(p.schema, cols...)); err != nil {
		return err
	}
	return rejects.Flush(b, emit)
}

// look appends what is found under a name. On an error nothing is appended.
func (p *fileExists) look(ctx context.Context, name string, exists, kind *batch.Column) error {
	if name == "" {
		exists.AppendBool(false)
		kind.AppendNull()
		return nil
	}
	info, err := p.env.Files.Stat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		exists.AppendBool(false)
		kind.AppendNull()
		return nil
	}
	if err != nil {
		return err
	}
	exists.AppendBool(true)
	kind.AppendString(fileType(&info))
	if p.settings.AddToResult && !info.Folder {
		addResultFile(ctx, p.env, info.Path, "File was found by a File exists transform")
	}
	return nil
}
