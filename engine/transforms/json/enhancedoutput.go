package json

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
	"sluice/engine/transforms/json/jsonpath"
)

// EnhancedJSONOutput makes one JSON document of each group of rows that have the
// same key and follow each other. What leaves it is one row per group: the key
// fields, the document, and its length when a field is named for it.
//
// With files: without key fields the file holds the document; with key fields it
// holds a list of objects, each with the key and, under the output field's name,
// the group's document; with "split output after" each file holds that many
// objects, and groups do not matter.
var EnhancedJSONOutput = transform.Define[EnhancedJSONOutputSettings](transform.About{
	ID:         "EnhancedJsonOutput",
	Name:       "Enhanced JSON output",
	Category:   transform.CategoryOutput,
	Summary:    "Write groups of rows as JSON to files or a field.",
	Sink:       true,
	RowNeutral: []string{"addToResult"},
})

// EnhancedJSONOutputSettings lists the settings in the order the form shows them.
type EnhancedJSONOutputSettings struct {
	Operation    Operation              `hop:"operation_type" default:"writetofile"`
	Block        string                 `hop:"jsonBloc" label:"Block name" help:"Empty: no outer object"`
	OutputValue  transform.Expr[string] `hop:"outputValue" default:"outputValue" label:"Output field"`
	ForceList    bool                   `hop:"use_arrays_with_single_instance" label:"Use a list for a single object too"`
	SingleItem   bool                   `hop:"use_single_item_per_group" label:"One object per group" help:"The values of a group become lists"`
	Pretty       bool                   `hop:"json_prittified" label:"Indent"`
	File         EnhancedJSONFile       `hop:"file"`
	Encoding     transform.Expr[string] `hop:"encoding" default:"UTF-8"`
	AddToResult  bool                   `hop:"addToResult,alias=addtoresult" label:"Add files to the result"`
	SizeField    transform.Expr[string] `hop:"json_size_field,alias=additional_fields>json_size_field" label:"Length field" help:"Gets the length of the document in characters"`
	Keys         []JSONKeyField         `hop:"key_fields>key_field"`
	OutputFields []EnhancedJSONField    `hop:"fields>field"`
}

// EnhancedJSONFile names the file.
type EnhancedJSONFile struct {
	Name         transform.Expr[string] `hop:"name" form:"file"`
	Extension    transform.Expr[string] `hop:"extension,alias=extention"`
	SplitAfter   int64                  `hop:"split_output_after" default:"0" min:"0" unit:"objects" help:"0: one file"`
	Append       bool                   `hop:"append" label:"Append to a file that exists"`
	AddCopy      bool                   `hop:"split" label:"Add the copy number" advanced:"true"`
	AddPartition bool                   `hop:"haspartno" advanced:"true" help:"Has no effect here"`
	AddDate      bool                   `hop:"add_date" label:"Add the date"`
	AddTime      bool                   `hop:"add_time" label:"Add the time"`
	CreateParent bool                   `hop:"create_parent_folder"`
	OpenLate     bool                   `hop:"doNotOpenNewFileInit" label:"Make no file without rows"`
}

// JSONKeyField is one field of the key.
type JSONKeyField struct {
	Name    string                 `hop:"key_field_name" required:"true" form:"field"`
	Element transform.Expr[string] `hop:"key_field_element" help:"Name in files; empty: the field's"`
}

// EnhancedJSONField is one member of the objects.
type EnhancedJSONField struct {
	Name          string                 `hop:"name" required:"true" form:"field"`
	Element       transform.Expr[string] `hop:"element" help:"Name in the document; empty: the field's"`
	Fragment      bool                   `hop:"json_fragment" label:"JSON fragment" help:"The text is JSON already"`
	Open          bool                   `hop:"is_without_enclosing" label:"Without enclosing" help:"A fragment's members go into the object itself"`
	RemoveIfBlank bool                   `hop:"remove_if_blank" help:"A null is left out"`
}

// Output implements transform.Settings.
func (s *EnhancedJSONOutputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *EnhancedJSONOutputSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, error) {
	out := &batch.Schema{}
	for _, k := range s.Keys {
		c, err := newColumn(batch.DefaultSemantics(nil), l.Main(), k.Name, "")
		if err != nil {
			return nil, fmt.Errorf("key: %w", err)
		}
		out = out.With(l.Main().Fields[c.index])
	}
	name, err := s.OutputValue.Eval(r)
	if err != nil || name == "" {
		return nil, errors.Join(fmt.Errorf("the output field has no name"), err)
	}
	f := batch.NewField(name, batch.String)
	f.Origin = l.Transform
	out = out.With(f)
	size, err := s.SizeField.Eval(r)
	if err != nil || size == "" {
		return out, err
	}
	f = batch.NewField(size, batch.Integer)
	f.Origin = l.Transform
	return out.With(f), nil
}

// Start implements transform.Settings.
func (s *EnhancedJSONOutputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &enhancedOutput{env: env, settings: s, emitRows: s.Operation.field() || (len(l.Outputs) > 0 && s.File.SplitAfter <= 0)}
	var err error
	if p.schema, err = s.schema(l, env); err != nil {
		return nil, err
	}
	if p.value, err = s.OutputValue.Eval(env); err != nil {
		return nil, err
	}
	p.sized = p.schema.Len() > len(s.Keys)+1
	if err := s.columns(p, l); err != nil {
		return nil, err
	}
	if s.Operation.file() {
		if p.file, err = s.target(env); err != nil {
			return nil, err
		}
	}
	p.group = document{block: s.Block, forceList: s.ForceList, pretty: s.Pretty}
	p.whole = p.group
	if p.file != nil {
		p.whole.out = p.file
		if !p.emitRows {
			p.group.out = p.whole.out
		}
	}
	if len(s.Keys) > 0 || s.File.SplitAfter > 0 {
		p.group.out = nil
	}
	return p, nil
}

func (s *EnhancedJSONOutputSettings) columns(p *enhancedOutput, l transform.Links) error {
	for _, k := range s.Keys {
		name, err := k.Element.Eval(p.env)
		if err != nil {
			return fmt.Errorf("element of key %q: %w", k.Name, err)
		}
		c, err := newColumn(p.env.Semantics, l.Main(), k.Name, name)
		if err != nil {
			return fmt.Errorf("key: %w", err)
		}
		p.keys = append(p.keys, c)
	}
	for _, f := range s.OutputFields {
		name, err := f.Element.Eval(p.env)
		if err != nil {
			return fmt.Errorf("element of field %q: %w", f.Name, err)
		}
		c, err := newColumn(p.env.Semantics, l.Main(), f.Name, name)
		if err != nil {
			return err
		}
		c.fragment, c.open, c.skipNull = f.Fragment, f.Open, f.RemoveIfBlank
		for _, k := range p.keys {
			c.key = c.key || k.index == c.index
		}
		p.fields = append(p.fields, c)
	}
	return nil
}

func (s *EnhancedJSONOutputSettings) target(env *transform.Env) (*target, error) {
	f := &s.File
	t, err := newTarget(env, targetSettings{name: f.Name, extension: f.Extension, encoding: s.Encoding})
	if err != nil {
		return nil, err
	}
	t.numbered, t.numberFirst, t.copied = f.SplitAfter > 0, true, f.AddCopy
	t.stamp = filenames.Stamp{Date: f.AddDate, Time: f.AddTime}
	t.options.Append, t.options.Parents, t.options.AddToResult = f.Append, f.CreateParent, s.AddToResult
	t.options.Comment = jsonFileComment
	return t, nil
}

// enhancedOutput makes documents of groups.
type enhancedOutput struct {
	transform.Stateful
	env      *transform.Env
	settings *EnhancedJSONOutputSettings
	schema   *batch.Schema
	keys     []column
	fields   []column
	value    string // name of the output field
	sized    bool
	emitRows bool
	file     *target

	group  document // of the rows with the same key
	whole  document // of the file, where it is not the group's
	item   *jsonpath.Node
	key    []batch.Value // of the group
	keyDoc []byte        // the members of the key, for files
	rows   *batch.Batch
	seen   bool
}

// Encode implements transform.Encoder: the objects of a batch, unless a group
// makes one object.
func (p *enhancedOutput) Encode(_ context.Context, b *batch.Batch) (any, error) {
	if p.settings.SingleItem {
		return nil, nil
	}
	return encode(p.env, p.fields, b)
}

// Apply implements transform.RowWise.
func (p *enhancedOutput) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	encoded, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, encoded, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *enhancedOutput) ApplyEncoded(ctx context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	p.rows = p.env.Alloc.Batch(p.schema)
	defer p.rows.Release()
	for k := range b.Rows() {
		i := b.Row(k)
		if !p.sameGroup(b, i) {
			if err := p.closeGroup(ctx); err != nil {
				return err
			}
			p.openGroup(b, i)
		}
		if p.item != nil {
			if err := p.collect(b, i); err != nil {
				return p.env.Rejects(b).Add(i, transform.RowError{Err: err})
			}
			continue
		}
		if err := p.add(ctx, encoded.(*objects).at(k)); err != nil {
			return err
		}
	}
	return p.emit(emit)
}

// emit sends the rows made so far.
func (p *enhancedOutput) emit(emit transform.Emit) error {
	n := p.rows.Physical()
	if n == 0 {
		return nil
	}
	p.env.Counters.Output.Add(int64(n))
	return emit(transform.Main, p.rows.Retain())
}

func (p *enhancedOutput) prepare(ctx context.Context) error {
	if p.settings.File.OpenLate {
		return nil
	}
	return p.file.openFirst(ctx)
}

func (p *enhancedOutput) sameGroup(b *batch.Batch, i int) bool {
	if !p.seen {
		return false
	}
	for k := range p.keys {
		if p.env.Semantics.CompareValues(p.key[k], b.Cols[p.keys[k].index].Value(i), false) != 0 {
			return false
		}
	}
	return true
}

func (p *enhancedOutput) openGroup(b *batch.Batch, i int) {
	p.seen = true
	p.key = p.key[:0]
	p.keyDoc = p.keyDoc[:0]
	for k := range p.keys {
		c := &p.keys[k]
		col := b.Cols[c.index]
		p.key = append(p.key, col.Value(i))
		p.keyDoc = append(c.appendScalar(append(p.keyDoc, c.appendedLabel...), col, i), ',')
	}
	if p.settings.SingleItem {
		p.item = &jsonpath.Node{Kind: jsonpath.Object}
	}
}

// collect puts the values of a row into the lists of the group's object.
func (p *enhancedOutput) collect(b *batch.Batch, i int) error {
	for k := range p.fields {
		c := &p.fields[k]
		col := b.Cols[c.index]
		if !c.key && p.item.Member(c.name) == nil {
			p.item.Put(c.name, jsonpath.Node{Kind: jsonpath.Array})
		}
		isNull := col.IsNull(i)
		if isNull && (!c.key || c.skipNull || c.fragment) {
			continue
		}
		v, err := c.node(col, i)
		if err != nil {
			return err
		}
		switch list := p.item.Member(c.name); {
		case c.fragment && c.open && v.Kind == jsonpath.Object:
			for m := range v.Items {
				p.item.Put(v.Names[m], v.Items[m])
			}
		case c.key:
			p.item.Put(c.name, v)
		case list.Kind == jsonpath.Array:
			list.Items = append(list.Items, v)
		}
	}
	return nil
}

// add puts an object into the group's document, or into the file when files are
// split by the number of objects.
func (p *enhancedOutput) add(ctx context.Context, object []byte) error {
	if p.file != nil {
		if err := p.file.open(ctx); err != nil {
			return err
		}
	}
	if limit := p.settings.File.SplitAfter; limit > 0 && p.file != nil {
		if err := p.whole.add(object); err != nil {
			return err
		}
		if int64(p.whole.count) >= limit {
			if err := p.closeFile(); err != nil {
				return err
			}
		}
		if !p.emitRows {
			return nil
		}
	}
	return p.group.add(object)
}

// closeFile completes the file with what it is to hold.
func (p *enhancedOutput) closeFile() error {
	doc, err := p.whole.end()
	if err != nil {
		return err
	}
	if _, err := p.file.Write(doc); err != nil {
		return err
	}
	return p.file.complete()
}

// closeGroup makes the row of a group, and its part of the file.
func (p *enhancedOutput) closeGroup(ctx context.Context) error {
	if p.item != nil {
		object := p.item.AppendJSON(nil)
		p.item = nil
		if err := p.add(ctx, object); err != nil {
			return err
		}
	}
	if p.group.count == 0 {
		return nil
	}
	doc, err := p.group.end()
	if err != nil {
		return err
	}
	if p.emitRows {
		p.row(doc)
	}
	switch {
	case p.file == nil || p.settings.File.SplitAfter > 0:
		return nil
	case len(p.keys) == 0:
		if _, err := p.file.Write(doc); err != nil {
			return err
		}
		return p.file.complete()
	}
	object := append([]byte{'{'}, p.keyDoc...)
	object = append(jsonpath.AppendQuoted(object, p.value), ':')
	return p.whole.add(append(append(object, doc...), '}'))
}

func (p *enhancedOutput) row(doc []byte) {
	for k, v := range p.key {
		p.rows.Cols[k].AppendValue(v)
	}
	p.rows.Cols[len(p.key)].AppendBytes(doc)
	if p.sized {
		p.rows.Cols[len(p.key)+1].AppendInt(utf16Length(doc))
	}
}

// utf16Length counts characters as Java does.
func utf16Length(text []byte) int64 {
	n := int64(0)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Finish implements transform.Finisher.
func (p *enhancedOutput) Finish(ctx context.Context, emit transform.Emit) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	p.rows = p.env.Alloc.Batch(p.schema)
	defer p.rows.Release()
	if err := p.closeGroup(ctx); err != nil {
		return err
	}
	if p.whole.count > 0 {
		if err := p.closeFile(); err != nil {
			return err
		}
	}
	return p.emit(emit)
}

// Commit implements transform.Sink.
func (p *enhancedOutput) Commit(context.Context) error { return p.file.complete() }

// Abort implements transform.Sink. Files that are complete stay.
func (p *enhancedOutput) Abort(context.Context) error { return p.file.abort() }

// WritesTo implements transform.Targeted.
func (s *EnhancedJSONOutputSettings) WritesTo(r transform.Resolver) transform.Target {
	if s.Operation == ToField {
		return transform.Target{Idempotent: true, How: "no file", TakenBack: true}
	}
	return transform.FileTarget(transform.Resolved(r, s.File.Name.Text), s.File.Append, s.File.AddDate || s.File.AddTime)
}
