package xml

import (
	"fmt"
	"iter"
	"strings"

	"golang.org/x/text/encoding"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/docinput"
	"sluice/engine/transforms/filenames"
	"sluice/engine/transforms/xml/dom"
)

// GetXMLData reads XML from files or from a field and makes a row of each node
// that the loop XPath finds. Each field is an XPath from that node.
//
// A document is held in memory, unless a prune path is given: then each element
// at that path is worked off and dropped as soon as it ends.
var GetXMLData = transform.Define[GetXMLDataSettings](transform.About{
	ID:            "getXMLData",
	Name:          "Get data from XML",
	Category:      transform.CategoryInput,
	Summary:       "Read rows from XML files or XML in a field.",
	HandlesErrors: true,
	RowNeutral:    []string{"addresultfile", "prunePath"},
})

// GetXMLDataSettings lists the settings in the order the form shows them.
type GetXMLDataSettings struct {
	docinput.Settings
	XMLField       string                 `hop:"XmlField" label:"Source field" form:"field"`
	Loop           transform.Expr[string] `hop:"loopxpath" label:"Loop XPath" required:"true" help:"One row per node found"`
	Encoding       transform.Expr[string] `hop:"encoding" default:"UTF-8" help:"Of files"`
	NamespaceAware bool                   `hop:"namespaceaware" help:"Names without a prefix match elements of a default namespace too"`
	IgnoreComments bool                   `hop:"ignorecomments"`
	Validating     bool                   `hop:"validating" advanced:"true" help:"Has no effect: documents are not validated"`
	UseToken       bool                   `hop:"usetoken" label:"Use tokens" help:"@_Name- in a path stands for the value of that field in this row"`
	Prune          transform.Expr[string] `hop:"prunePath" label:"Prune path" help:"Path of the elements to drop after use, for files larger than memory"`
	Fields         []GetXMLDataField      `hop:"fields>field" required:"true"`
}

// GetXMLDataField is one field and where its values are.
type GetXMLDataField struct {
	Name      string                 `hop:"name" required:"true"`
	XPath     transform.Expr[string] `hop:"xPath,alias=xpath" required:"true"`
	Element   string                 `hop:"element_type" default:"node" label:"Element" help:"node or attribute"`
	Result    string                 `hop:"result_type" default:"valueof" label:"Result type" help:"valueof or singlenode"`
	Type      batch.Type             `hop:"type" default:"String"`
	Format    string                 `hop:"format" form:"mask"`
	Length    int                    `hop:"length" default:"-1"`
	Precision int                    `hop:"precision" default:"-1"`
	Currency  string                 `hop:"currency" advanced:"true"`
	Decimal   string                 `hop:"decimal" advanced:"true"`
	Group     string                 `hop:"group" advanced:"true"`
	Trim      batch.Trim             `hop:"trim_type" default:"none"`
	Repeat    bool                   `hop:"repeat" help:"A null takes the value of the row before"`
}

// Output implements transform.Settings.
func (s *GetXMLDataSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	c := s.config(l.Transform)
	schema, err := s.Schema(l, d, &c)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Check implements transform.Checker.
func (s *GetXMLDataSettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if s.Validating {
			yield(transform.Warnf("validating", "documents are not validated against their schema here; use an XSD validator before this transform"))
		}
	}
}

func (s *GetXMLDataSettings) config(origin string) docinput.Config {
	c := docinput.Config{
		Source: docinput.Source{Field: s.XMLField},
		Code:   "GetXMLData002", RowCode: "GetXMLData001", Comment: "File was read by a Get data from XML transform",
	}
	for _, x := range s.Fields {
		f := batch.NewField(x.Name, x.Type)
		if f.Type == batch.None {
			f.Type = batch.String
		}
		f.Mask, f.Length, f.Precision, f.Trim, f.Origin = x.Format, x.Length, x.Precision, x.Trim, origin
		f.Currency, f.Decimal, f.Grouping = x.Currency, x.Decimal, x.Group
		c.Fields, c.Repeat = append(c.Fields, f), append(c.Repeat, x.Repeat)
	}
	return c
}

// Start implements transform.Settings.
func (s *GetXMLDataSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	c := s.config(l.Transform)
	loop, err := s.Loop.Eval(env)
	if err != nil || loop == "" {
		return nil, fmt.Errorf("the loop XPath is empty; it names the nodes that become rows (%w)", errOr(err, "such as /orders/order"))
	}
	p := &xmlParser{loopText: absolute(loop), tokens: s.UseToken, anyName: s.NamespaceAware, skipComments: s.IgnoreComments, cache: map[string]*dom.Expr{}}
	if p.loop, err = dom.Compile(p.loopText, p.anyName); err != nil {
		return nil, fmt.Errorf("loop: %w", err)
	}
	prune, err := s.Prune.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("prune path: %w", err)
	}
	if prune = strings.TrimSpace(prune); prune != "" && !s.InField {
		p.prune = absolute(prune)
	}
	name, err := s.Encoding.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	if p.encoding, err = filenames.Charset(name); err != nil {
		return nil, err
	}
	for i := range s.Fields {
		f, err := s.Fields[i].compile(env, p, &c.Fields[i])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", s.Fields[i].Name, err)
		}
		p.fields = append(p.fields, f)
	}
	c.Parse = p.parse
	return s.Settings.Start(env, l, c)
}

func errOr(err error, text string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s", text)
}

func absolute(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

func (f *GetXMLDataField) compile(env *transform.Env, p *xmlParser, field *batch.Field) (xmlField, error) {
	out := xmlField{single: strings.Contains(strings.ToLower(f.Result), "single"), trim: f.Trim}
	var err error
	if out.codec, err = env.Semantics.Codec(field); err != nil {
		return out, err
	}
	if out.path, err = f.XPath.Eval(env); err != nil {
		return out, err
	}
	if strings.HasPrefix(strings.ToLower(f.Element), "attribut") {
		out.path = attributePath(out.path)
	}
	if p.tokens && strings.Contains(out.path, tokenStart) {
		return out, nil
	}
	out.expr, err = dom.Compile(out.path, p.anyName)
	return out, err
}

// attributePath puts an @ before the last name of a path that has none.
func attributePath(path string) string {
	last := strings.LastIndexByte(path, '/') + 1
	if strings.HasPrefix(path[last:], "@") {
		return path
	}
	return path[:last] + "@" + path[last:]
}

type xmlField struct {
	codec  *batch.Codec
	path   string
	expr   *dom.Expr // nil for a path with tokens
	single bool
	trim   batch.Trim
}

// xmlParser turns documents into rows.
type xmlParser struct {
	loopText     string
	loop         *dom.Expr
	prune        string
	encoding     encoding.Encoding
	tokens       bool
	anyName      bool
	skipComments bool
	fields       []xmlField
	cache        map[string]*dom.Expr // expressions whose tokens were replaced
}

func (p *xmlParser) parse(doc docinput.Document, rows *docinput.Rows) error {
	o := dom.Options{SkipComments: p.skipComments}
	if doc.File {
		o.Encoding = p.encoding
	}
	if p.prune != "" {
		o.OnElement = func(n *dom.Node) error {
			if n.Path() != p.prune {
				return nil
			}
			defer n.Detach()
			return p.pruned(n, rows)
		}
	}
	root, err := dom.Parse(doc.In, o)
	if err != nil || p.prune != "" {
		return err
	}
	return p.all(root, rows)
}

// pruned makes rows of one element of a document that is read piece by piece.
func (p *xmlParser) pruned(n *dom.Node, rows *docinput.Rows) error {
	if p.loopText == p.prune {
		return p.row(n, rows)
	}
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	return p.all(root, rows)
}

func (p *xmlParser) all(root *dom.Node, rows *docinput.Rows) error {
	found, err := p.loop.Select(root)
	if err != nil {
		return err
	}
	for _, m := range found {
		if m.Attr >= 0 {
			return fmt.Errorf("the loop XPath %s finds attributes; it must find elements", p.loopText)
		}
		if err := p.row(m.Node, rows); err != nil {
			return err
		}
	}
	return nil
}

func (p *xmlParser) row(n *dom.Node, rows *docinput.Rows) error {
	var texts []string
	if p.tokens {
		texts = make([]string, 0, len(p.fields))
	}
	for k := range p.fields {
		f := &p.fields[k]
		text, err := p.value(f, n, texts)
		if err == nil {
			if f.trim != batch.TrimNone {
				text = string(f.trim.Apply([]byte(text)))
			}
			err = f.codec.ParseInto(rows.Cols[k], []byte(text))
		}
		if err != nil {
			return rows.Reject(err)
		}
		if p.tokens {
			texts = append(texts, text)
		}
	}
	return rows.End()
}

func (p *xmlParser) value(f *xmlField, n *dom.Node, before []string) (string, error) {
	expr := f.expr
	if expr == nil {
		var err error
		if expr, err = p.withTokens(f.path, before); err != nil {
			return "", err
		}
	}
	if !f.single {
		return expr.ValueOf(n)
	}
	m, found, err := expr.First(n)
	if err != nil || !found {
		return "", err
	}
	return m.XML(), nil
}

const (
	tokenStart = "@_"
	tokenEnd   = "-"
	maxCached  = 10000
)

// withTokens replaces @_Name- by the value of a field to the left, in quotes. A
// name that is no such field stays as it is, without the token's marks.
func (p *xmlParser) withTokens(path string, before []string) (*dom.Expr, error) {
	var b strings.Builder
	rest := path
	for {
		i := strings.Index(rest, tokenStart)
		if i < 0 {
			break
		}
		j := strings.Index(rest[i+len(tokenStart):], tokenEnd)
		if j < 0 {
			break
		}
		name := rest[i+len(tokenStart):][:j]
		b.WriteString(rest[:i] + p.token(name, before))
		rest = rest[i+len(tokenStart)+j+len(tokenEnd):]
	}
	b.WriteString(rest)
	text := b.String()
	if e := p.cache[text]; e != nil {
		return e, nil
	}
	e, err := dom.Compile(text, p.anyName)
	if err == nil {
		if len(p.cache) >= maxCached {
			clear(p.cache)
		}
		p.cache[text] = e
	}
	return e, err
}

func (p *xmlParser) token(name string, before []string) string {
	for k, text := range before {
		if !strings.EqualFold(p.fields[k].codec.Field().Name, name) {
			continue
		}
		if strings.Contains(text, "'") {
			return `"` + text + `"`
		}
		return "'" + text + "'"
	}
	return name
}
