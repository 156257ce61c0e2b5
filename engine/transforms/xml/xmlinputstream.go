package xml

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	xtransform "golang.org/x/text/transform"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/docinput"
	"sluice/engine/transforms/filenames"
	"sluice/engine/transforms/xml/dom"
)

// XMLInputStream gives a row for each event of XML documents: start and end of
// the document and of elements, attributes, namespaces and texts. Memory does not
// grow with the document.
var XMLInputStream = transform.Define[XMLInputStreamSettings](transform.About{
	ID:         "XMLInputStream",
	Name:       "XML input stream (StAX)",
	Category:   transform.CategoryInput,
	Summary:    "Read XML documents of any size as a stream of events.",
	RowNeutral: []string{"addResultFile"},
})

// XMLInputStreamSettings lists the settings in the order the form shows them.
type XMLInputStreamSettings struct {
	FromInput     bool                   `hop:"sourceFromInput" label:"Source is a field of the input"`
	SourceField   string                 `hop:"sourceFieldName" form:"field"`
	Filename      transform.Expr[string] `hop:"filename" form:"file" help:"A file, or the field of the input that names the files"`
	AddToResult   bool                   `hop:"addResultFile"`
	Skip          transform.Expr[int64]  `hop:"nrRowsToSkip" default:"0" label:"Rows to skip"`
	Limit         transform.Expr[int64]  `hop:"rowLimit" default:"0" help:"0: all rows"`
	TextLength    transform.Expr[int]    `hop:"defaultStringLen" default:"1024" label:"Default string length"`
	Encoding      transform.Expr[string] `hop:"encoding" default:"UTF-8"`
	Namespaces    bool                   `hop:"enableNamespaces" label:"Add namespace information"`
	Trim          bool                   `hop:"enableTrim" label:"Trim texts" default:"Y"`
	WithFile      bool                   `hop:"includeFilenameField"`
	FileField     string                 `hop:"filenameField" default:"xml_filename"`
	WithRow       bool                   `hop:"includeRowNumberField"`
	RowField      string                 `hop:"rowNumberField" default:"xml_row_number"`
	WithType      bool                   `hop:"includeDataTypeNumericField"`
	TypeField     string                 `hop:"dataTypeNumericField" default:"xml_data_type_numeric"`
	WithTypeName  bool                   `hop:"includeDataTypeDescriptionField"`
	TypeNameField string                 `hop:"dataTypeDescriptionField" default:"xml_data_type_description"`
	WithLine      bool                   `hop:"includeXmlLocationLineField"`
	LineField     string                 `hop:"xmlLocationLineField" default:"xml_location_line"`
	WithColumn    bool                   `hop:"includeXmlLocationColumnField"`
	ColumnField   string                 `hop:"xmlLocationColumnField" default:"xml_location_column"`
	WithID        bool                   `hop:"includeXmlElementIDField"`
	IDField       string                 `hop:"xmlElementIDField" default:"xml_element_id"`
	WithParentID  bool                   `hop:"includeXmlParentElementIDField"`
	ParentIDField string                 `hop:"xmlParentElementIDField" default:"xml_parent_element_id"`
	WithLevel     bool                   `hop:"includeXmlElementLevelField"`
	LevelField    string                 `hop:"xmlElementLevelField" default:"xml_element_level"`
	WithPath      bool                   `hop:"includeXmlPathField"`
	PathField     string                 `hop:"xmlPathField" default:"xml_path"`
	WithParent    bool                   `hop:"includeXmlParentPathField"`
	ParentField   string                 `hop:"xmlParentPathField" default:"xml_parent_path"`
	WithName      bool                   `hop:"includeXmlDataNameField"`
	NameField     string                 `hop:"xmlDataNameField" default:"xml_data_name"`
	WithValue     bool                   `hop:"includeXmlDataValueField"`
	ValueField    string                 `hop:"xmlDataValueField" default:"xml_data_value"`
}

// eventType numbers events as StAX does.
type eventType int64

const (
	startElement  eventType = 1
	endElement    eventType = 2
	characters    eventType = 4
	startDocument eventType = 7
	endDocument   eventType = 8
	attribute     eventType = 10
	namespace     eventType = 13
)

var eventNames = map[eventType]string{
	startElement: "START_ELEMENT", endElement: "END_ELEMENT", characters: "CHARACTERS", startDocument: "START_DOCUMENT",
	endDocument: "END_DOCUMENT", attribute: "ATTRIBUTE", namespace: "NAMESPACE",
}

// event is one row.
type event struct {
	kind        eventType
	line, col   int
	name, value string
	noName      bool
	noValue     bool
}

// eventField is one output field and how it gets its value.
type eventField struct {
	on    bool
	name  string
	t     batch.Type
	text  bool // has the default length of texts
	value func(p *eventParser, e *event) batch.Value
}

const typeNameLength = 25

func integer(n int) batch.Value { return batch.IntegerValue(int64(n)) }

// eventFields lists the fields in the order they leave the transform.
func (s *XMLInputStreamSettings) eventFields() []eventField {
	text := func(get func(*eventParser, *event) (string, bool)) func(*eventParser, *event) batch.Value {
		return func(p *eventParser, e *event) batch.Value {
			v, ok := get(p, e)
			if !ok {
				return batch.Null(batch.String)
			}
			return batch.StringValue(v)
		}
	}
	return []eventField{
		{s.WithFile, s.FileField, batch.String, true, text(func(p *eventParser, _ *event) (string, bool) { return p.file, p.file != "" })},
		{s.WithRow, s.RowField, batch.Integer, false, func(p *eventParser, _ *event) batch.Value { return batch.IntegerValue(p.row) }},
		{s.WithType, s.TypeField, batch.Integer, false, func(_ *eventParser, e *event) batch.Value { return batch.IntegerValue(int64(e.kind)) }},
		{s.WithTypeName, s.TypeNameField, batch.String, false, text(func(_ *eventParser, e *event) (string, bool) { return eventNames[e.kind], true })},
		{s.WithLine, s.LineField, batch.Integer, false, func(_ *eventParser, e *event) batch.Value { return integer(e.line) }},
		{s.WithColumn, s.ColumnField, batch.Integer, false, func(_ *eventParser, e *event) batch.Value { return integer(e.col) }},
		{s.WithID, s.IDField, batch.Integer, false, func(p *eventParser, _ *event) batch.Value { return integer(p.top().id) }},
		{s.WithParentID, s.ParentIDField, batch.Integer, false, func(p *eventParser, _ *event) batch.Value {
			if len(p.levels) < 2 {
				return batch.Null(batch.Integer)
			}
			return integer(p.levels[len(p.levels)-2].id)
		}},
		{s.WithLevel, s.LevelField, batch.Integer, false, func(p *eventParser, _ *event) batch.Value { return integer(len(p.levels) - 1) }},
		{s.WithPath, s.PathField, batch.String, true, text(func(p *eventParser, _ *event) (string, bool) { return p.top().path, true })},
		{s.WithParent, s.ParentField, batch.String, true, text(func(p *eventParser, _ *event) (string, bool) {
			if len(p.levels) < 2 {
				return "", false
			}
			return p.levels[len(p.levels)-2].path, true
		})},
		{s.WithName, s.NameField, batch.String, true, text(func(_ *eventParser, e *event) (string, bool) { return e.name, !e.noName })},
		{s.WithValue, s.ValueField, batch.String, true, text(func(_ *eventParser, e *event) (string, bool) { return e.value, !e.noValue })},
	}
}

// Output implements transform.Settings.
func (s *XMLInputStreamSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	from, c, err := s.source(l, d)
	if err != nil {
		return nil, err
	}
	schema, err := from.Schema(l, d, c)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// source says where documents come from: a field with XML, a field with file
// names, or one file.
func (s *XMLInputStreamSettings) source(l transform.Links, r transform.Resolver) (*docinput.Settings, *docinput.Config, error) {
	from := &docinput.Settings{AddToResult: s.AddToResult}
	c := &docinput.Config{Comment: "File was read by an XML input stream transform"}
	length, err := s.TextLength.Or(r, -1)
	if err != nil {
		return nil, nil, fmt.Errorf("default string length: %w", err)
	}
	for _, f := range s.eventFields() {
		if !f.on {
			continue
		}
		field := batch.NewField(f.name, f.t)
		field.Origin = l.Transform
		switch {
		case f.text:
			field.Length = length
		case f.t == batch.String:
			field.Length = typeNameLength
		}
		c.Fields = append(c.Fields, field)
	}
	name, err := s.Filename.Eval(r)
	switch {
	case s.FromInput:
		from.InField, c.Source.Field = true, s.SourceField
	case err != nil:
		return nil, nil, fmt.Errorf("file name: %w", err)
	case l.Main().Index(name) >= 0:
		from.InField, from.IsFile, c.Source.Field = true, true, name
	default:
		from.Files = []filenames.Entry{{Name: transform.Expr[string]{Text: name}, Required: true}}
	}
	return from, c, nil
}

// Start implements transform.Settings.
func (s *XMLInputStreamSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	from, c, err := s.source(l, env)
	if err != nil {
		return nil, err
	}
	p := &eventParser{settings: s}
	for _, f := range s.eventFields() {
		if f.on {
			p.fields = append(p.fields, f)
		}
	}
	if p.skip, err = s.Skip.Or(env, 0); err != nil {
		return nil, fmt.Errorf("rows to skip: %w", err)
	}
	if p.limit, err = s.Limit.Or(env, 0); err != nil {
		return nil, fmt.Errorf("row limit: %w", err)
	}
	name, err := s.Encoding.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if p.encoding, err = filenames.Charset(name); err != nil {
		return nil, err
	}
	c.Parse = p.parse
	return from.Start(env, l, *c)
}

// level is one open element; the first level is the document.
type level struct {
	id   int
	name string
	path string
}

// eventParser turns documents into rows of events.
type eventParser struct {
	settings *XMLInputStreamSettings
	fields   []eventField
	encoding encoding.Encoding
	skip     int64
	limit    int64

	rows   *docinput.Rows
	file   string
	row    int64 // number of the event, over all documents
	ids    int
	levels []level
}

func (p *eventParser) top() *level { return &p.levels[len(p.levels)-1] }

func (p *eventParser) parse(doc docinput.Document, rows *docinput.Rows) error {
	p.rows, p.file, p.ids, p.levels = rows, "", 0, append(p.levels[:0], level{})
	codec := encoding.Nop
	if doc.File {
		p.file = doc.Name
		if p.encoding != nil {
			codec = p.encoding
		}
	}
	d := xml.NewDecoder(xtransform.NewReader(doc.In, unicode.BOMOverride(codec.NewDecoder())))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if err := p.put(&event{kind: startDocument, line: 1, col: 1, noName: true, noValue: true}); err != nil {
		return err
	}
	return p.events(d)
}

func (p *eventParser) events(d *xml.Decoder) error {
	for {
		line, col := d.InputPos()
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if len(p.levels) > 1 {
				return fmt.Errorf("invalid XML: element <%s> has no end", p.top().name)
			}
			return p.put(&event{kind: endDocument, line: line, col: col, noName: true, noValue: true})
		}
		if err == nil {
			err = p.token(tok, line, col)
		}
		if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
			return fmt.Errorf("invalid XML at line %d: %s", syntax.Line, syntax.Msg)
		}
		if err != nil {
			return err
		}
	}
}

func (p *eventParser) token(tok xml.Token, line, col int) error {
	switch t := tok.(type) {
	case xml.StartElement:
		return p.start(t, line, col)
	case xml.EndElement:
		name := dom.QName(t.Name.Space, t.Name.Local)
		if len(p.levels) < 2 || p.top().name != name {
			return fmt.Errorf("invalid XML at line %d: </%s> ends what was not begun", line, name)
		}
		if err := p.put(&event{kind: endElement, line: line, col: col, name: p.name(t.Name), noValue: true}); err != nil {
			return err
		}
		p.levels = p.levels[:len(p.levels)-1]
	case xml.CharData:
		if len(p.levels) < 2 {
			return nil
		}
		text := []byte(t)
		if p.settings.Trim {
			text = batch.TrimBoth.Apply(text)
		}
		if len(text) > 0 {
			return p.put(&event{kind: characters, line: line, col: col, name: p.shown(p.top().name), value: string(text)})
		}
	}
	return nil
}

func (p *eventParser) name(n xml.Name) string {
	if p.settings.Namespaces {
		return dom.QName(n.Space, n.Local)
	}
	return n.Local
}

// shown gives the name of an open element as rows show it.
func (p *eventParser) shown(name string) string {
	if p.settings.Namespaces {
		return name
	}
	for i := range len(name) {
		if name[i] == ':' {
			return name[i+1:]
		}
	}
	return name
}

func (p *eventParser) start(t xml.StartElement, line, col int) error {
	p.ids++
	name := p.name(t.Name)
	p.levels = append(p.levels, level{id: p.ids, name: dom.QName(t.Name.Space, t.Name.Local), path: p.top().path + "/" + name})
	events := []event{{kind: startElement, line: line, col: col, name: name, noValue: true}}
	var attributes []event
	for _, a := range t.Attr {
		switch {
		case a.Name.Space == "xmlns" && p.settings.Namespaces:
			events = append(events, event{kind: namespace, line: line, col: col, name: a.Name.Local, value: a.Value})
		case a.Name.Space == "" && a.Name.Local == "xmlns" && p.settings.Namespaces:
			events = append(events, event{kind: namespace, line: line, col: col, value: a.Value})
		case a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns"):
		default:
			attributes = append(attributes, event{kind: attribute, line: line, col: col, name: p.name(a.Name), value: a.Value})
		}
	}
	events = append(events, attributes...)
	for i := range events {
		if err := p.put(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// put makes the row of an event.
func (p *eventParser) put(e *event) error {
	p.row++
	if p.row > p.skip {
		for k := range p.fields {
			p.rows.Cols[k].AppendValue(p.fields[k].value(p, e))
		}
		if err := p.rows.End(); err != nil {
			return err
		}
	}
	if p.limit > 0 && p.row >= p.limit {
		return docinput.ErrEnough
	}
	return nil
}
