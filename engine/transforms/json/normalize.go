package json

import (
	"fmt"
	"io"
	"iter"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/docinput"
	"sluice/engine/transforms/json/jsonpath"
)

// JSONNormalize reads the records that one JSONPath finds in JSON documents and
// flattens each to a row: members of nested objects are named by their path
// ("customer.name").
//
// When the record path ends with a wildcard over one array, a file is read record
// by record; otherwise its document is held in memory.
var JSONNormalize = transform.Define[JSONNormalizeSettings](transform.About{
	ID:            "JsonNormalizeInput",
	Name:          "JSON normalize input",
	Category:      transform.CategoryInput,
	Summary:       "Read records of JSON documents as flat rows.",
	HandlesErrors: true,
	RowNeutral:    []string{"addresultfile"},
})

// JSONNormalizeSettings lists the settings in the order the form shows them.
type JSONNormalizeSettings struct {
	docinput.Settings
	ValueField    string                 `hop:"valueField" label:"Source field" form:"field"`
	RemoveSource  bool                   `hop:"removeSourceField" label:"Remove the source field"`
	RecordPath    transform.Expr[string] `hop:"recordPath" default:"$" help:"JSONPath of the records, such as $.orders[*]"`
	Separator     string                 `hop:"fieldSeparator" default:"." help:"Between the names of a path"`
	MaxDepth      int                    `hop:"maxFlattenDepth" default:"-1" help:"Levels of objects that are flattened; -1: all"`
	Arrays        ArrayHandling          `hop:"arrayHandling" default:"STRINGIFY"`
	Beyond        BeyondDepth            `hop:"beyondDepthBehavior" default:"STRINGIFY" label:"Objects below the depth"`
	IgnoreMissing bool                   `hop:"ignoreMissingField" help:"A path that a record lacks gives null instead of an error"`
	Fields        []NormalizedField      `hop:"fields>field" required:"true"`
}

// NormalizedField is one field and the path of its values within a record.
type NormalizedField struct {
	Name      string                 `hop:"name" required:"true"`
	Path      transform.Expr[string] `hop:"path" required:"true" help:"Names of members, joined by the separator"`
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

// ArrayHandling says what becomes of an array within a record.
type ArrayHandling string

// The ways.
const (
	ArrayAsText  ArrayHandling = "STRINGIFY"
	ArrayOfOne   ArrayHandling = "SINGLE_ELEMENT"
	ArrayRefused ArrayHandling = "ERROR"
)

// Choices implements transform.Choices.
func (ArrayHandling) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(ArrayAsText), Label: "JSON text"},
		{Code: string(ArrayOfOne), Label: "Its only element", Help: "More than one is an error"},
		{Code: string(ArrayRefused), Label: "Error", Help: "Unless it is empty"},
	}
}

// BeyondDepth says what becomes of an object below the depth that is flattened.
type BeyondDepth string

// The ways.
const (
	DeepAsText  BeyondDepth = "STRINGIFY"
	DeepOmitted BeyondDepth = "OMIT"
	DeepRefused BeyondDepth = "ERROR"
)

// Choices implements transform.Choices.
func (BeyondDepth) Choices() []transform.Choice {
	return []transform.Choice{{Code: string(DeepAsText), Label: "JSON text"}, {Code: string(DeepOmitted), Label: "Left out"}, {Code: string(DeepRefused), Label: "Error"}}
}

// Output implements transform.Settings.
func (s *JSONNormalizeSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	c := s.config(l.Transform)
	schema, err := s.Schema(l, d, &c)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

func (s *JSONNormalizeSettings) config(origin string) docinput.Config {
	in := JSONInputSettings{ValueField: s.ValueField, RemoveSource: s.RemoveSource}
	for _, f := range s.Fields {
		in.Fields = append(in.Fields, JSONInputField(f))
	}
	c := in.config(origin)
	c.Code, c.Comment = "JsonNormalizeInput001", "File was read by a JSON normalize input transform"
	return c
}

// Start implements transform.Settings.
func (s *JSONNormalizeSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	c := s.config(l.Transform)
	n := &normalizer{settings: s, wanted: map[string][]int{}}
	text, err := resolvePath(env, s.RecordPath)
	if err != nil {
		return nil, fmt.Errorf("record path: %w", err)
	}
	if n.path, err = jsonpath.Compile(text); err != nil {
		return nil, fmt.Errorf("record path: %w", err)
	}
	n.shared, _ = jsonpath.RowsOf([]*jsonpath.Path{n.path})
	for i := range s.Fields {
		path, err := resolvePath(env, s.Fields[i].Path)
		if err != nil {
			return nil, fmt.Errorf("path of field %q: %w", s.Fields[i].Name, err)
		}
		codec, err := env.Semantics.Codec(&c.Fields[i])
		if err != nil {
			return nil, err
		}
		n.wanted[path] = append(n.wanted[path], i)
		n.paths, n.cells = append(n.paths, path), append(n.cells, cell{codec: codec, trim: c.Fields[i].Trim})
	}
	c.Parse = n.parse
	return s.Settings.Start(env, l, c)
}

// normalizer flattens records.
type normalizer struct {
	settings *JSONNormalizeSettings
	path     *jsonpath.Path
	shared   *jsonpath.Rows // nil when records cannot be read one by one
	wanted   map[string][]int
	paths    []string
	cells    []cell
}

func (n *normalizer) parse(doc docinput.Document, rows *docinput.Rows) error {
	var held *jsonpath.Node // an array that is the only record so far
	count := 0
	for record, err := range n.records(doc.In) {
		if err != nil {
			return err
		}
		count++
		if count == 1 && record.Kind == jsonpath.Array {
			held = record
			continue
		}
		if held != nil {
			if err := n.record(held, rows); err != nil {
				return err
			}
			held = nil
		}
		if err := n.record(record, rows); err != nil {
			return err
		}
	}
	if held == nil {
		return nil
	}
	for i := range held.Items {
		if err := n.record(&held.Items[i], rows); err != nil {
			return err
		}
	}
	return nil
}

// records gives what the record path finds in a document.
func (n *normalizer) records(in io.Reader) iter.Seq2[*jsonpath.Node, error] {
	options := jsonpath.Options{LeafToNull: true}
	return func(yield func(*jsonpath.Node, error) bool) {
		if n.shared != nil {
			for e, err := range n.shared.Elements(in) {
				if err == nil {
					e = n.shared.Value(0, e, options)
				}
				if (e != nil || err != nil) && !yield(e, err) {
					return
				}
			}
			return
		}
		root, err := jsonpath.Read(in)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range n.path.Eval(nil, root, options) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// record makes the row of one record.
func (n *normalizer) record(record *jsonpath.Node, rows *docinput.Rows) error {
	f := flattening{normalizer: n, values: make([]*jsonpath.Node, len(n.cells)), found: make([]bool, len(n.cells))}
	if err := f.record(record); err != nil {
		return rows.Reject(err)
	}
	for k := range n.cells {
		if !f.found[k] && !n.settings.IgnoreMissing {
			return rows.Reject(fmt.Errorf("path %s is not in the record; 'ignore missing field' gives null instead", n.paths[k]))
		}
		if err := n.cells[k].append(rows.Cols[k], f.values[k]); err != nil {
			return rows.Reject(err)
		}
	}
	return rows.End()
}

// flattening collects the wanted values of one record.
type flattening struct {
	*normalizer
	values []*jsonpath.Node
	found  []bool
}

// scalarPath names the value of a record that is no object.
const scalarPath = "_"

func (f *flattening) record(record *jsonpath.Node) error {
	switch record.Kind {
	case jsonpath.Null:
		return nil
	case jsonpath.Object:
		return f.object(record, "", 0)
	}
	f.put(scalarPath, record)
	return nil
}

func (f *flattening) put(path string, v *jsonpath.Node) {
	for _, k := range f.wanted[path] {
		f.values[k], f.found[k] = v, true
	}
}

func (f *flattening) object(n *jsonpath.Node, prefix string, depth int) error {
	for i, name := range n.Names {
		path := name
		if prefix != "" {
			path = prefix + f.settings.Separator + name
		}
		if err := f.value(&n.Items[i], path, depth); err != nil {
			return err
		}
	}
	return nil
}

func (f *flattening) value(v *jsonpath.Node, path string, depth int) error {
	switch v.Kind {
	case jsonpath.Array:
		return f.array(v, path, depth)
	case jsonpath.Object:
		if f.settings.MaxDepth < 0 || depth < f.settings.MaxDepth {
			return f.object(v, path, depth+1)
		}
		switch f.settings.Beyond {
		case DeepOmitted:
			return nil
		case DeepRefused:
			return fmt.Errorf("the object at %s lies below the depth %d that is flattened", path, f.settings.MaxDepth)
		}
	}
	f.put(path, v)
	return nil
}

func (f *flattening) array(v *jsonpath.Node, path string, depth int) error {
	switch {
	case f.settings.Arrays == ArrayAsText:
		f.put(path, v)
	case len(v.Items) == 0:
		f.put(path, &jsonpath.Node{})
	case f.settings.Arrays == ArrayRefused:
		return fmt.Errorf("there is an array at %s, which the settings refuse", path)
	case len(v.Items) > 1:
		return fmt.Errorf("the array at %s has %d elements; the settings allow one", path, len(v.Items))
	default:
		return f.value(&v.Items[0], path, depth)
	}
	return nil
}
