package json

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
	"sluice/engine/transforms/json/jsonpath"
)

// JSONOutput writes blocks of rows as JSON documents of the form
// {"block":[{…},{…}]}, to files, to a field, or both. Members stand in the order
// of the fields. Rows that go to a file only are passed on; a field gets one row
// per block, with the values of the block's last row (nulls when the input's end
// closed the block, as in Hop).
//
// A file is written as the rows come; a field needs its block in memory.
var JSONOutput = transform.Define[JSONOutputSettings](transform.About{
	ID:         "JsonOutput",
	Name:       "JSON output",
	Category:   transform.CategoryOutput,
	Summary:    "Write rows as JSON to files or a field.",
	Sink:       true,
	RowNeutral: []string{"addToResult"},
})

// Operation says where JSON goes.
type Operation string

// The operations.
const (
	ToField Operation = "outputvalue"
	ToFile  Operation = "writetofile"
	ToBoth  Operation = "both"
)

// Choices implements transform.Choices.
func (Operation) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(ToField), Label: "Output value", Help: "JSON in a field"},
		{Code: string(ToFile), Label: "Write to file"},
		{Code: string(ToBoth), Label: "Output value and write to file"},
	}
}

func (o Operation) file() bool  { return o != ToField }
func (o Operation) field() bool { return o != ToFile }

// JSONOutputSettings lists the settings in the order the form shows them.
type JSONOutputSettings struct {
	Operation    Operation              `hop:"operation_type" default:"writetofile"`
	Block        transform.Expr[string] `hop:"jsonBloc" default:"data" label:"Block name"`
	RowsPerBlock transform.Expr[int64]  `hop:"nrRowsInBloc" default:"0" min:"0" unit:"rows" help:"0: all rows in one block"`
	OutputValue  transform.Expr[string] `hop:"outputValue" default:"outputValue" label:"Output field"`

	FileName       transform.Expr[string] `hop:"fileName" form:"file"`
	Extension      transform.Expr[string] `hop:"extension"`
	Append         bool                   `hop:"fileAppended" label:"Append to a file that exists"`
	CreateParent   bool                   `hop:"createParentFolder"`
	OpenLate       bool                   `hop:"doNotOpenNewFileInit" label:"Make no file without rows"`
	AddDate        bool                   `hop:"dateInFilename" label:"Add the date"`
	AddTime        bool                   `hop:"timeInFilename" label:"Add the time"`
	SpecifyFormat  bool                   `hop:"specifyingFormat" advanced:"true"`
	DateTimeFormat string                 `hop:"dateTimeFormat" form:"mask" advanced:"true"`
	AddCopy        bool                   `hop:"transformNrInFilename" label:"Add the copy number" advanced:"true"`
	AddPartition   bool                   `hop:"partNrInFilename" advanced:"true" help:"Has no effect here"`
	AsCommand      bool                   `hop:"fileAsCommand" advanced:"true" help:"The name is taken as it is"`
	Encoding       transform.Expr[string] `hop:"encoding" default:"UTF-8"`
	AddToResult    bool                   `hop:"addToResult" label:"Add files to the result"`
	Fields         []JSONOutputField      `hop:"fields>field"`
}

// JSONOutputField is one member of the objects.
type JSONOutputField struct {
	Name    string                 `hop:"name" required:"true" form:"field"`
	Element transform.Expr[string] `hop:"element" help:"Name in the document; empty: the field's"`
}

const jsonFileComment = "File was written by a JSON output transform"

// Output implements transform.Settings.
func (s *JSONOutputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *JSONOutputSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	if !s.Operation.field() {
		return l.Main().With(), nil
	}
	name, err := s.OutputValue.Eval(r)
	if err != nil || name == "" {
		return nil, errors.Join(fmt.Errorf("the output field has no name"), err)
	}
	f := batch.NewField(name, batch.String)
	f.Origin = l.Transform
	return l.Main().With(f), nil
}

// Start implements transform.Settings.
func (s *JSONOutputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &jsonOutput{env: env, settings: s}
	var err error
	if p.schema, err = s.schema(l, env); err != nil {
		return nil, err
	}
	if p.block, err = s.Block.Eval(env); err != nil {
		return nil, fmt.Errorf("block name: %w", err)
	}
	if p.every, err = s.RowsPerBlock.Or(env, 0); err != nil {
		return nil, fmt.Errorf("rows in a block: %w", err)
	}
	for _, f := range s.Fields {
		name, err := f.Element.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("element of field %q: %w", f.Name, err)
		}
		c, err := newColumn(env.Semantics, l.Main(), f.Name, name)
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, c)
	}
	if !s.Operation.file() {
		return p, nil
	}
	p.file, err = s.target(env, p.every > 0)
	return p, err
}

func (s *JSONOutputSettings) target(env *transform.Env, numbered bool) (*target, error) {
	t, err := newTarget(env, targetSettings{name: s.FileName, extension: s.Extension, encoding: s.Encoding})
	if err != nil {
		return nil, err
	}
	t.verbatim, t.numbered, t.copied = s.AsCommand, numbered, s.AddCopy
	t.stamp = filenames.Stamp{Date: s.AddDate, Time: s.AddTime}
	if s.SpecifyFormat {
		t.stamp.Format = s.DateTimeFormat
	}
	t.options.Append, t.options.Parents, t.options.AddToResult = s.Append, s.CreateParent, s.AddToResult
	t.options.Comment = jsonFileComment
	return t, nil
}

// jsonOutput gathers rows into blocks.
type jsonOutput struct {
	transform.Stateful
	env      *transform.Env
	settings *JSONOutputSettings
	schema   *batch.Schema
	columns  []column
	block    string
	every    int64
	file     *target // nil when no file is written

	text    []byte // of the block, as far as it is not in the file
	inBlock int64
}

// flushBytes is the amount of JSON that is kept before it goes to the file.
const flushBytes = 64 << 10

// Encode implements transform.Encoder: the objects of a batch.
func (p *jsonOutput) Encode(_ context.Context, b *batch.Batch) (any, error) {
	return encode(p.env, p.columns, b)
}

// Apply implements transform.RowWise.
func (p *jsonOutput) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	encoded, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, encoded, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *jsonOutput) ApplyEncoded(ctx context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	rows := encoded.(*objects)
	values := p.env.Alloc.Column(batch.String)
	defer values.Release()
	var sel []int32
	for k := range rows.ends {
		if err := p.add(ctx, rows.at(k)); err != nil {
			return err
		}
		if p.every <= 0 || p.inBlock < p.every {
			continue
		}
		if err := p.close(values); err != nil {
			return err
		}
		sel = append(sel, int32(b.Row(k)))
	}
	if !p.settings.Operation.field() {
		p.env.Counters.Output.Add(int64(b.Rows()))
		return emit(transform.Main, b.Retain())
	}
	if len(sel) == 0 {
		return nil
	}
	p.env.Counters.Output.Add(int64(len(sel)))
	last := b.Gather(sel)
	defer last.Release()
	return emit(transform.Main, last.With(p.schema, values.Retain()))
}

// prepare makes the file that is there from the start.
func (p *jsonOutput) prepare(ctx context.Context) error {
	if p.settings.OpenLate {
		return nil
	}
	return p.file.openFirst(ctx)
}

// add puts an object into the block.
func (p *jsonOutput) add(ctx context.Context, object []byte) error {
	if p.inBlock == 0 {
		p.text = append(jsonpath.AppendQuoted(append(p.text[:0], '{'), p.block), ":["...)
	} else {
		p.text = append(p.text, ',')
	}
	p.text = append(p.text, object...)
	p.inBlock++
	if err := p.file.open(ctx); err != nil {
		return err
	}
	if p.settings.Operation.field() || len(p.text) < flushBytes {
		return nil
	}
	_, err := p.file.Write(p.text)
	p.text = p.text[:0]
	return err
}

// close completes the block; its JSON goes to values and to the file.
func (p *jsonOutput) close(values *batch.Column) error {
	p.text = append(p.text, "]}"...)
	p.inBlock = 0
	if p.settings.Operation.field() {
		values.AppendBytes(p.text)
	}
	if p.file == nil {
		return nil
	}
	if _, err := p.file.Write(p.text); err != nil {
		return err
	}
	return p.file.complete()
}

// Finish implements transform.Finisher.
func (p *jsonOutput) Finish(ctx context.Context, emit transform.Emit) error {
	if err := p.prepare(ctx); err != nil || p.inBlock == 0 {
		return err
	}
	values := p.env.Alloc.Column(batch.String)
	defer values.Release()
	if err := p.close(values); err != nil || !p.settings.Operation.field() {
		return err
	}
	var cols []*batch.Column
	for i := range p.schema.Len() - 1 {
		t := p.schema.Fields[i].Type
		cols = append(cols, p.env.Alloc.Repeat(batch.Null(t), t, 1))
	}
	p.env.Counters.Output.Add(1)
	return emit(transform.Main, p.env.Alloc.Assemble(p.schema, append(cols, values.Retain()), 1))
}

// Commit implements transform.Sink.
func (p *jsonOutput) Commit(context.Context) error { return p.file.complete() }

// Abort implements transform.Sink. Files of complete blocks stay.
func (p *jsonOutput) Abort(context.Context) error { return p.file.abort() }

// WritesTo implements transform.Targeted.
func (s *JSONOutputSettings) WritesTo(r transform.Resolver) transform.Target {
	if s.Operation == ToField {
		return transform.Target{Idempotent: true, How: "no file", TakenBack: true}
	}
	return transform.FileTarget(transform.Resolved(r, s.FileName.Text), s.Append, s.AddDate || s.AddTime || s.SpecifyFormat)
}
