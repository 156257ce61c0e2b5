package xml

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
	"sluice/engine/transforms/xml/dom"
)

// AddXML makes an XML element of fields of each row and appends its text as a new
// field. Attributes stand in alphabetical order, as in Hop.
var AddXML = transform.Define[AddXMLSettings](transform.About{
	ID:       "AddXML",
	Name:     "Add XML",
	Category: transform.Reshape,
	Summary:  "Append a field with fields of the row as XML.",
})

// AddXMLSettings lists the settings in the order the form shows them.
type AddXMLSettings struct {
	ValueName string                 `hop:"valueName" default:"xmlvaluename" label:"Output field" required:"true"`
	Root      string                 `hop:"xml_repeat_element" default:"Row" label:"Root element" required:"true"`
	Encoding  transform.Expr[string] `hop:"encoding" default:"UTF-8" help:"Named in the header; characters it lacks become references"`
	File      AddXMLOptions          `hop:"file"`
	Fields    []AddXMLField          `hop:"fields>field"`
}

// AddXMLOptions are the switches that the file keeps in a group.
type AddXMLOptions struct {
	OmitHeader bool `hop:"omitXMLheader" label:"Omit the XML header"`
	OmitNulls  bool `hop:"omitNullValues" label:"Omit null values"`
}

// AddXMLField is one element or attribute.
type AddXMLField struct {
	Name      string     `hop:"name" required:"true" form:"field"`
	Element   string     `hop:"element" help:"Empty: the field's name; the root element's name: text of the root"`
	Type      batch.Type `hop:"type" default:"String" help:"The type of the input counts"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
	NullIf    string     `hop:"nullif" label:"Null as"`
	Attribute bool       `hop:"attribute"`
	Parent    string     `hop:"attributeParentName" label:"Element of the attribute" help:"Empty: the root"`
}

// javaNumberMask is the format of numbers in the JVM's default locale, which Hop
// uses here for numbers without a format.
const javaNumberMask = "#,##0.###"

// Output implements transform.Settings.
func (s *AddXMLSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

func (s *AddXMLSettings) schema(l transform.Links) *batch.Schema {
	f := batch.NewField(s.ValueName, batch.String)
	f.Origin = l.Transform
	return l.Main().With(f)
}

// Start implements transform.Settings.
func (s *AddXMLSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &addXML{env: env, settings: s, schema: s.schema(l)}
	if err := checkName("the root element", s.Root); err != nil {
		return nil, err
	}
	charset, err := s.Encoding.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if p.encoding, err = filenames.Charset(charset); err != nil {
		return nil, err
	}
	if !s.File.OmitHeader {
		p.header = `<?xml version="1.0" encoding="` + charset + `" standalone="no"?>`
	}
	for _, f := range s.Fields {
		v, err := newFormat(env.Semantics, l.Main(), formatSettings{
			field: f.Name, element: f.Element, format: f.Format, currency: f.Currency, decimal: f.Decimal, group: f.Group,
			length: -1, precision: -1, numberMask: javaNumberMask,
		})
		if err != nil {
			return nil, err
		}
		if err := checkName(fmt.Sprintf("the element of field %q", f.Name), v.name); err != nil {
			return nil, err
		}
		v.nullAs = f.NullIf
		p.values = append(p.values, v)
	}
	return p, nil
}

type addXML struct {
	transform.Stateless
	env      *transform.Env
	settings *AddXMLSettings
	schema   *batch.Schema
	header   string
	encoding encoding.Encoding
	values   []valueFormat
}

// Apply implements transform.RowWise.
func (p *addXML) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	out := p.env.Alloc.Column(batch.String)
	next := 0
	for i := range b.All() {
		for ; next < i; next++ {
			out.AppendNull()
		}
		out.AppendString(p.header + p.row(b, i))
		next = i + 1
	}
	for ; next < b.Physical(); next++ {
		out.AppendNull()
	}
	return emit(transform.Main, b.With(p.schema, out))
}

// element is one element that is being built.
type element struct {
	name  string
	attrs []dom.Attr
	text  string
}

func (e *element) set(name, value string) {
	for i := range e.attrs {
		if e.attrs[i].Name == name {
			e.attrs[i].Value = value
			return
		}
	}
	e.attrs = append(e.attrs, dom.Attr{Name: name, Value: value})
}

// row builds the element of one row: the root, and below it one element per
// field that is no attribute.
func (p *addXML) row(b *batch.Batch, i int) string {
	root := element{name: p.settings.Root}
	var children []element
	for k := range p.values {
		v, f := &p.values[k], &p.settings.Fields[k]
		col := b.Cols[v.index]
		isNull := p.env.Semantics.IsNull(col, i)
		if isNull && p.settings.File.OmitNulls {
			continue
		}
		text := v.nullAs
		if !isNull {
			text = string(v.codec.AppendText(nil, col, i))
		}
		switch {
		case f.Attribute:
			owner := &root
			if at := slices.IndexFunc(children, func(c element) bool { return c.name == f.Parent }); at >= 0 {
				owner = &children[at]
			}
			owner.set(v.name, text)
		default:
			children = append(children, element{name: v.name, text: text})
		}
	}
	var w strings.Builder
	p.open(&w, &root, len(children) > 0)
	for k := range children {
		c := &children[k]
		if c.name == p.settings.Root && len(c.attrs) == 0 {
			w.WriteString(p.escape(dom.EscapeText(c.text)))
			continue
		}
		p.open(&w, c, c.text != "")
		if c.text != "" {
			w.WriteString(p.escape(dom.EscapeText(c.text)) + "</" + c.name + ">")
		}
	}
	if len(children) > 0 {
		w.WriteString("</" + root.name + ">")
	}
	return w.String()
}

func (p *addXML) open(w *strings.Builder, e *element, content bool) {
	slices.SortStableFunc(e.attrs, func(a, b dom.Attr) int { return batch.CompareText(a.Name, b.Name) })
	w.WriteString("<" + e.name)
	for _, a := range e.attrs {
		w.WriteString(" " + a.Name + `="` + p.escape(dom.EscapeAttr(a.Value)) + `"`)
	}
	if !content {
		w.WriteByte('/')
	}
	w.WriteByte('>')
}

// escape writes characters that the encoding lacks as references.
func (p *addXML) escape(s string) string {
	if p.encoding == nil {
		return s
	}
	out, err := encoding.HTMLEscapeUnsupported(p.encoding.NewEncoder()).String(s)
	if err != nil {
		return s
	}
	back, err := p.encoding.NewDecoder().String(out)
	if err != nil {
		return s
	}
	return back
}
