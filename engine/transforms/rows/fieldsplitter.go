package rows

import (
	"bytes"
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// FieldSplitter splits a text at a delimiter into new fields, by position or by
// the id each part begins with, and converts the parts.
var FieldSplitter = transform.Define[FieldSplitterSettings](transform.About{
	ID:       "FieldSplitter",
	Name:     "Split fields",
	Category: transform.Reshape,
	Summary:  "Split a text into several fields.",
})

// FieldSplitterSettings lists the settings in the order the form shows them.
type FieldSplitterSettings struct {
	Field     string                 `hop:"splitfield" form:"field" required:"true" label:"Field to split"`
	Delimiter transform.Expr[string] `hop:"delimiter" default:","`
	Enclosure transform.Expr[string] `hop:"enclosure" help:"Delimiters between two of these do not split"`
	Escape    transform.Expr[string] `hop:"escape_string" help:"A delimiter behind this does not split"`
	Keep      bool                   `hop:"keep_split_field" label:"Keep the field"`
	Fields    []SplitPart            `hop:"fields>field" required:"true"`
}

// SplitPart is one new field.
type SplitPart struct {
	Name      string     `hop:"name" required:"true"`
	ID        string     `hop:"id" help:"The part begins with this; empty in the first row: by position"`
	RemoveID  bool       `hop:"idrem"`
	Type      batch.Type `hop:"type" default:"String"`
	Format    string     `hop:"format" form:"mask"`
	Group     string     `hop:"group" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Currency  string     `hop:"currency" advanced:"true"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	NullIf    string     `hop:"nullif"`
	IfNull    string     `hop:"ifnull" label:"Default"`
	Trim      batch.Trim `hop:"trimtype" default:"none"`
}

func (f *SplitPart) field(origin string) batch.Field {
	t := f.Type
	if t == batch.None {
		t = batch.String
	}
	out := batch.NewField(f.Name, t)
	out.Length, out.Precision, out.Mask, out.Trim, out.Origin = f.Length, f.Precision, f.Format, f.Trim, origin
	out.Decimal, out.Grouping, out.Currency = f.Decimal, f.Group, f.Currency
	return out
}

// layout gives the output schema, the position of the split field and that of the
// first new one.
func (s *FieldSplitterSettings) layout(l transform.Links) (schema *batch.Schema, from, at int, err error) {
	in := inputOf(l)
	if from, err = textIndex(in, s.Field); err != nil {
		return nil, 0, 0, err
	}
	var fields []batch.Field
	for i := range s.Fields {
		fields = append(fields, s.Fields[i].field(l.Transform))
	}
	if s.Keep {
		return in.With(fields...), from, in.Len(), nil
	}
	rest, _ := withoutFields(in, map[int]bool{from: true})
	return insertFields(rest, from, fields...), from, from, nil
}

// Output implements transform.Settings.
func (s *FieldSplitterSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	schema, _, _, err := s.layout(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *FieldSplitterSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &splitProcessor{env: env, s: s}
	var err error
	if p.schema, p.from, p.at, err = s.layout(l); err != nil {
		return nil, err
	}
	for i, e := range []transform.Expr[string]{s.Delimiter, s.Enclosure, s.Escape} {
		text, err := e.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", []string{"delimiter", "enclosure", "escape"}[i], err)
		}
		*[]*[]byte{&p.cut.delimiter, &p.cut.enclosure, &p.cut.escape}[i] = []byte(text)
	}
	p.cut.bare = env.Semantics.RemoveEnclosure
	for i := range s.Fields {
		codec, err := env.Semantics.Codec(&p.schema.Fields[p.at+i])
		if err != nil {
			return nil, err
		}
		p.codecs = append(p.codecs, codec)
		p.ids = append(p.ids, []byte(s.Fields[i].ID))
	}
	return p, nil
}

type splitProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env      *transform.Env
	s        *FieldSplitterSettings
	schema   *batch.Schema
	from, at int
	cut      partCutter
	codecs   []*batch.Codec
	ids      [][]byte
}

// Apply implements transform.RowWise.
func (p *splitProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	source := b.Cols[p.from]
	cols := make([]*batch.Column, len(p.codecs))
	for i, c := range p.codecs {
		cols[i] = p.env.Alloc.Column(c.Field().Type)
	}
	var parts [][]byte
	for i := range b.All() {
		for _, c := range cols {
			for c.Len() < i {
				c.AppendNull()
			}
		}
		parts = parts[:0]
		if !source.IsNull(i) {
			parts = p.cut.split(parts, source.Bytes(i))
		}
		if err := p.row(b, i, cols, parts); err != nil {
			releaseAll(cols)
			return err
		}
	}
	for _, c := range cols {
		for c.Len() < b.Physical() {
			c.AppendNull()
		}
	}
	return emit(transform.Main, assemble(b, p.schema, p.columns(b, cols)))
}

// columns puts the new columns among those of the input.
func (p *splitProcessor) columns(b *batch.Batch, cols []*batch.Column) []*batch.Column {
	all := make([]*batch.Column, 0, p.schema.Len())
	for i, c := range b.Cols {
		if i == p.at && !p.s.Keep {
			all = append(all, cols...)
			continue
		}
		all = append(all, c.Retain())
	}
	if p.s.Keep {
		all = append(all, cols...)
	}
	return all
}

func (p *splitProcessor) row(b *batch.Batch, i int, cols []*batch.Column, parts [][]byte) error {
	byID := len(p.ids) > 0 && len(p.ids[0]) > 0
	for k, col := range cols {
		var text []byte
		switch {
		case byID:
			text = p.identified(k, parts)
		case k < len(parts):
			text = parts[k]
		}
		f := &p.s.Fields[k]
		rule := batch.TextRule{NullIf: f.NullIf, IfNull: f.IfNull, Trim: f.Trim}
		null := text == nil || len(text) == 0 && !p.env.Semantics.EmptyDiffers
		if err := p.codecs[k].ParseTextInto(col, text, null, rule); err != nil {
			return &engine.Error{Transform: p.env.Transform, Field: p.s.Field, Row: selectedNumber(b, i), Value: string(text), Err: err}
		}
	}
	return nil
}

// identified gives the first part that begins with the id of entry k, nil when
// there is none.
func (p *splitProcessor) identified(k int, parts [][]byte) []byte {
	for _, part := range parts {
		if bytes.HasPrefix(part, p.ids[k]) {
			if p.s.Fields[k].RemoveID {
				return part[len(p.ids[k]):]
			}
			return part
		}
	}
	return nil
}

// partCutter cuts text at a delimiter. It is immutable.
type partCutter struct {
	delimiter, enclosure, escape []byte
	bare                         bool // drop the enclosures of a part
}

// split appends the parts of text to parts; they share its memory where they can.
// Pieces between an odd number of enclosures belong together. A text that ends
// inside an enclosure, for which Hop promises nothing, keeps its last part.
func (c *partCutter) split(parts [][]byte, text []byte) [][]byte {
	if len(c.delimiter) == 0 {
		return append(parts, text)
	}
	start, open := 0, false
	for at := 0; ; {
		n := bytes.Index(text[at:], c.delimiter)
		end := len(text)
		if n >= 0 {
			end = at + n
		}
		if len(c.enclosure) > 0 && bytes.Count(text[at:end], c.enclosure)%2 == 1 {
			open = !open
		}
		escaped := n >= 0 && len(c.escape) > 0 && bytes.HasSuffix(text[start:end], c.escape)
		if n < 0 || (!open && !escaped) {
			parts = append(parts, c.clean(text[start:end]))
			start = end + len(c.delimiter)
		}
		if n < 0 {
			return parts
		}
		at = end + len(c.delimiter)
	}
}

func (c *partCutter) clean(part []byte) []byte {
	if len(c.escape) > 0 {
		if escaped := append(bytes.Clone(c.escape), c.delimiter...); bytes.Contains(part, escaped) {
			part = bytes.ReplaceAll(part, escaped, c.delimiter)
		}
	}
	if !c.bare || len(c.enclosure) == 0 {
		return part
	}
	first, last := bytes.Index(part, c.enclosure), bytes.LastIndex(part, c.enclosure)
	if first == last {
		return part
	}
	out := append(bytes.Clone(part[:first]), part[first+len(c.enclosure):last]...)
	return append(out, part[last+len(c.enclosure):]...)
}
