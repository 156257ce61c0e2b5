package json

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform"
	"sluice/engine/transforms/docinput"
	"sluice/engine/transforms/json/jsonpath"
)

// JSONInput reads JSON documents from files or from a field and makes rows of
// what JSONPath expressions find in them. The values of all paths are put side by
// side by their position; paths that find different numbers of values are an
// error.
//
// When all paths run over the elements of one array ("$[*].a", "$.x[*].b") a file
// is read element by element, so memory does not grow with it. Any other set of
// paths needs the whole document in memory.
var JSONInput = transform.Define[JSONInputSettings](transform.About{
	ID:            "JsonInput",
	Name:          "JSON input",
	Category:      transform.CategoryInput,
	Summary:       "Read rows from JSON files or JSON in a field.",
	HandlesErrors: true,
	RowNeutral:    []string{"addresultfile"},
})

// JSONInputSettings lists the settings in the order the form shows them.
type JSONInputSettings struct {
	docinput.Settings
	ValueField        string           `hop:"valueField" label:"Source field" form:"field"`
	RemoveSource      bool             `hop:"removeSourceField" label:"Remove the source field"`
	IgnoreMissingPath bool             `hop:"ignoreMissingPath" help:"A path that finds nothing gives nulls instead of an error"`
	LeafToNull        bool             `hop:"defaultPathLeafToNull" default:"Y" label:"Default path leaf to null" help:"A member that is missing at the end of a path is a null"`
	Fields            []JSONInputField `hop:"fields>field" required:"true"`

	AcceptFilenames bool `hop:"accept_filenames" advanced:"true" help:"Has no effect; use the source field"`
	PassFields      bool `hop:"passing_through_fields" advanced:"true" help:"Has no effect here"`
	ErrorIgnored    bool `hop:"error_ignored" advanced:"true" help:"Has no effect here"`
	SkipBadFiles    bool `hop:"skip_bad_files" advanced:"true" help:"Has no effect here"`
	AddToResultToo  bool `hop:"add_to_result_filenames" advanced:"true" help:"Has no effect; see add files to the result"`
}

// JSONInputField is one field and where its values are.
type JSONInputField struct {
	Name      string                 `hop:"name" required:"true"`
	Path      transform.Expr[string] `hop:"path" required:"true" help:"JSONPath, such as $.orders[*].id"`
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

const jsonInputCode = "JsonInput001"

// Output implements transform.Settings.
func (s *JSONInputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	c := s.config(l.Transform)
	schema, err := s.Schema(l, d, &c)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *JSONInputSettings) config(origin string) docinput.Config {
	c := docinput.Config{
		Source: docinput.Source{Field: s.ValueField, Remove: s.RemoveSource},
		Code:   jsonInputCode, Null: "{}", Comment: "File was read by a JSON input transform",
	}
	for _, j := range s.Fields {
		f := batch.NewField(j.Name, j.Type)
		if f.Type == batch.None {
			f.Type, f.Mask = batch.String, ""
		}
		f.Mask, f.Length, f.Precision, f.Trim, f.Origin = j.Format, j.Length, j.Precision, j.Trim, origin
		f.Currency, f.Decimal, f.Grouping = j.Currency, j.Decimal, j.Group
		c.Fields, c.Repeat = append(c.Fields, f), append(c.Repeat, j.Repeat)
	}
	return c
}

// Start implements transform.Settings.
func (s *JSONInputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if len(s.Fields) == 0 {
		return nil, fmt.Errorf("no fields are given; name at least one and its path")
	}
	c := s.config(l.Transform)
	p := &jsonParser{
		options: jsonpath.Options{LeafToNull: s.LeafToNull}, ignoreMissing: s.IgnoreMissingPath,
		keepNulls: env.Semantics.JSONIncludeNulls,
	}
	for i := range s.Fields {
		text, err := resolvePath(env, s.Fields[i].Path)
		if err != nil {
			return nil, fmt.Errorf("path of field %q: %w", s.Fields[i].Name, err)
		}
		path, err := jsonpath.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", s.Fields[i].Name, err)
		}
		codec, err := env.Semantics.Codec(&c.Fields[i])
		if err != nil {
			return nil, err
		}
		p.paths, p.cells = append(p.paths, path), append(p.cells, cell{codec: codec, trim: c.Fields[i].Trim})
	}
	p.shared, _ = jsonpath.RowsOf(p.paths)
	c.Parse = p.parse
	return s.Settings.Start(env, l, c)
}

// rootMark keeps the root of a path apart from a bracket while variables are
// replaced: "$[0]" is an element here, no character code as elsewhere in Hop.
const rootMark = "$\x00["

// resolvePath replaces the variables of a path.
func resolvePath(r transform.Resolver, path transform.Expr[string]) (string, error) {
	text, err := r.Resolve(strings.ReplaceAll(path.Text, "$[", rootMark))
	return strings.ReplaceAll(text, rootMark, "$["), err
}

// jsonParser turns documents into rows.
type jsonParser struct {
	paths         []*jsonpath.Path
	cells         []cell
	shared        *jsonpath.Rows // nil when the paths do not run over one array
	options       jsonpath.Options
	ignoreMissing bool
	keepNulls     bool
}

func (p *jsonParser) parse(doc docinput.Document, rows *docinput.Rows) error {
	if p.shared != nil {
		elements := p.shared.Elements(doc.In)
		if !doc.File {
			root, err := jsonpath.Read(doc.In)
			if err != nil {
				return err
			}
			elements = p.shared.Of(root)
		}
		return p.byElement(elements, rows)
	}
	root, err := jsonpath.Read(doc.In)
	if err != nil {
		return err
	}
	return p.byPosition(root, rows)
}

// byElement makes one row of each element that any path finds something in.
func (p *jsonParser) byElement(elements iter.Seq2[*jsonpath.Node, error], rows *docinput.Rows) error {
	z := newZip(p, rows)
	values := make([]*jsonpath.Node, len(p.paths))
	for e, err := range elements {
		if err != nil {
			return err
		}
		found := false
		for k := range p.paths {
			values[k] = p.shared.Value(k, e, p.options)
			found = found || values[k] != nil
		}
		if !found {
			continue
		}
		if err := z.row(values); err != nil {
			return err
		}
	}
	return z.end()
}

// byPosition puts the values that the paths find side by side.
func (p *jsonParser) byPosition(root *jsonpath.Node, rows *docinput.Rows) error {
	z := newZip(p, rows)
	found := make([][]*jsonpath.Node, len(p.paths))
	count := 0
	for k, path := range p.paths {
		found[k] = path.Eval(nil, root, p.options)
		z.count[k] = len(found[k])
		for _, n := range found[k] {
			z.valued[k] = z.valued[k] || n.Kind != jsonpath.Null
		}
		count = max(count, len(found[k]))
	}
	if err := z.check(); err != nil {
		return err
	}
	values := make([]*jsonpath.Node, len(p.paths))
	for i := range count {
		for k := range found {
			values[k] = nil
			if i < len(found[k]) {
				values[k] = found[k][i]
			}
		}
		if err := z.put(values); err != nil {
			return err
		}
	}
	return z.last()
}

// zip writes the rows of one document and checks that the paths agree. Rows of
// nulls only are left out when the document has several rows, as in Hop, unless
// HOP_JSON_INPUT_INCLUDE_NULLS is set.
type zip struct {
	*jsonParser
	rows   *docinput.Rows
	count  []int  // values found per path
	valued []bool // per path: one of them was not null
	seen   int
	held   bool // the first row has nulls only and is not written yet
}

func newZip(p *jsonParser, rows *docinput.Rows) *zip {
	return &zip{jsonParser: p, rows: rows, count: make([]int, len(p.paths)), valued: make([]bool, len(p.paths))}
}

// row counts the values of one element and writes its row.
func (z *zip) row(values []*jsonpath.Node) error {
	for k, v := range values {
		if v != nil {
			z.count[k]++
			z.valued[k] = z.valued[k] || v.Kind != jsonpath.Null
		}
	}
	return z.put(values)
}

func (z *zip) put(values []*jsonpath.Node) error {
	z.seen++
	if !z.keepNulls && allNull(values) {
		z.held = z.seen == 1
		return nil
	}
	z.held = false
	return z.write(values)
}

func allNull(values []*jsonpath.Node) bool {
	for _, v := range values {
		if v != nil && v.Kind != jsonpath.Null {
			return false
		}
	}
	return true
}

func (z *zip) write(values []*jsonpath.Node) error {
	for k, v := range values {
		if err := z.cells[k].append(z.rows.Cols[k], v); err != nil {
			return z.rows.Reject(err)
		}
	}
	return z.rows.End()
}

func (z *zip) end() error {
	if err := z.check(); err != nil {
		return err
	}
	return z.last()
}

// last writes the row of nulls of a document in which nothing else was found.
func (z *zip) last() error {
	if z.seen > 0 && !z.held {
		return nil
	}
	return z.write(make([]*jsonpath.Node, len(z.paths)))
}

// check compares the numbers of values that the paths found.
func (z *zip) check() error {
	before := -1
	for k, n := range z.count {
		if n > 0 && before >= 0 && n != z.count[before] {
			return fmt.Errorf("the paths do not fit together: %s gives %d values, but %s gives %d; use paths over the same array, or a JSON field and a second JSON input",
				z.paths[k], n, z.paths[before], z.count[before])
		}
		if n > 0 {
			before = k
		}
		if !z.ignoreMissing && !z.valued[k] {
			return fmt.Errorf("path %s finds nothing; 'ignore missing path' gives nulls instead", z.paths[k])
		}
	}
	return nil
}

// cell converts what a path found to a field.
type cell struct {
	codec *batch.Codec
	trim  batch.Trim
}

func (c *cell) append(col *batch.Column, n *jsonpath.Node) error {
	if n == nil || n.Kind == jsonpath.Null {
		col.AppendNull()
		return nil
	}
	switch {
	case col.Type == batch.JSON:
		col.AppendString(jsonText(n))
		return nil
	case n.Kind == jsonpath.Number && col.Type.IsNumeric():
		return c.number(col, n)
	case n.Kind == jsonpath.String:
		return c.codec.ParseTextInto(col, []byte(n.Text), false, batch.TextRule{Trim: c.trim})
	}
	return c.codec.ParseTextInto(col, []byte(n.Plain()), false, batch.TextRule{Trim: c.trim})
}

// jsonText gives the JSON of a value for a JSON field: the text of a string that
// holds JSON itself, else the value.
func jsonText(n *jsonpath.Node) string {
	if n.Kind == jsonpath.String {
		if inner, err := jsonpath.Parse([]byte(n.Text)); err == nil {
			return string(inner.AppendJSON(nil))
		}
	}
	return string(n.AppendJSON(nil))
}

var errRange = errors.New("the number is too large for a 64-bit integer; use BigNumber")

// number takes a number over without its mask.
func (c *cell) number(col *batch.Column, n *jsonpath.Node) error {
	fail := func(err error) error {
		return &batch.ConvertError{Field: c.codec.Field().Name, Text: n.Text, Type: col.Type, Err: err}
	}
	if col.Type == batch.Number {
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			return fail(errors.New("it is out of range"))
		}
		col.AppendFloat(f)
		return nil
	}
	if v, err := strconv.ParseInt(n.Text, 10, 64); err == nil && col.Type == batch.Integer {
		col.AppendInt(v)
		return nil
	}
	d, err := decimal.Parse(n.Text)
	if err != nil {
		return fail(err)
	}
	if col.Type == batch.BigNumber {
		col.AppendDecimal(d)
		return nil
	}
	v, ok := d.Int64()
	if !ok {
		return fail(errRange)
	}
	col.AppendInt(v)
	return nil
}
