package hopxml

import "fmt"

// Pipeline is what Hop reads from a .hpl document: a snapshot of values with
// the elements they came from. Edits go to the Document; make a new view of
// their result.
type Pipeline struct {
	Document *Document
	Info     Info

	Type               string // Normal or SingleThreaded
	CapturePerformance bool
	CaptureDelay       int    // milliseconds
	CaptureSizeLimit   string // number of samples; may hold variables
	Transforms         []Transform
	Hops               []Hop // between known transforms, in the order that rules distribution
	UnboundHops        []Hop // an end is unknown; Hop ignores them
	ErrorHandling      []ErrorHandling
	Notes              []Note
	Attributes         Attributes
}

// Transform is one transform of a pipeline. Its settings are children of
// Element.
type Transform struct {
	ID      ID
	Element *Element

	Name, Type, Description string // Type as spelled in the file; compare it with EqualName

	Distribute         bool   // round robin over the output hops, else a copy to each
	CustomDistribution string // a plug-in's code; usually ""
	Copies             string // a number or a variable
	Partitioning       Partitioning
	X, Y               int // canvas pixels
	Attributes         Attributes
}

// Partitioning of a transform. Method is none, Mirror or a partitioner's id.
type Partitioning struct {
	Method, Schema string
	Element        *Element // holds the partitioner's own settings; nil when absent
}

// Pipeline gives the typed view of a pipeline.
func (d *Document) Pipeline() (*Pipeline, error) {
	if d.Kind() != PipelineKind {
		return nil, fmt.Errorf("%s is no pipeline, its first element is <%s>: %w", d.name, d.root.name, ErrInvalid)
	}
	info := d.root.Child("info")
	p := &Pipeline{
		Document:           d,
		Info:               d.readInfo(info, "pipeline"),
		Type:               textOr(info.Child("pipeline_type"), "Normal"),
		CapturePerformance: info.Child("capture_transform_performance").Flag(),
		CaptureDelay:       info.integer("transform_performance_capturing_delay", 1000),
		CaptureSizeLimit:   textOr(info.Child("transform_performance_capturing_size_limit"), "100"),
		ErrorHandling:      d.readErrorHandling(),
		Notes:              readNotes(d.root.Child("notepads")),
		Attributes:         readAttributes(d.root.Child("attributes")),
	}
	for _, e := range d.nodes() {
		p.Transforms = append(p.Transforms, readTransform(e))
	}
	p.Hops, p.UnboundHops = d.readHops()
	for i := range p.Hops {
		h := p.HandlingOf(p.Hops[i].FromID)
		p.Hops[i].Error = h != nil && h.TargetID == p.Hops[i].ToID
	}
	return p, nil
}

// textOr is the text of an element that is present and not empty.
func textOr(e *Element, absent string) string {
	if s := e.Text(); s != "" {
		return s
	}
	return absent
}

func readTransform(e *Element) Transform {
	gui := e.Child("GUI")
	partitioning := e.Child("partitioning")
	t := Transform{
		ID: e.id, Element: e,
		Name:               e.Child("name").Text(),
		Type:               e.Child("type").Text(),
		Description:        e.Child("description").Text(),
		Distribute:         e.Child("distribute").Flag(),
		CustomDistribution: e.Child("custom_distribution").Child("code").Text(),
		Copies:             "1",
		Partitioning:       Partitioning{textOr(partitioning.Child("method"), "none"), partitioning.Child("schema_name").Text(), partitioning},
		X:                  gui.integer("xloc", 0),
		Y:                  gui.integer("yloc", 0),
		Attributes:         readAttributes(e.Child("attributes")),
	}
	if c := e.Child("copies"); c != nil {
		t.Copies = c.Text()
	}
	return t
}

// Transform finds a transform by name, without case; nil when there is none.
func (p *Pipeline) Transform(name string) *Transform {
	for i := range p.Transforms {
		if EqualName(p.Transforms[i].Name, name) {
			return &p.Transforms[i]
		}
	}
	return nil
}

// HandlingOf is the error handling of a transform, nil when it has none. Of
// several entries for one transform the last counts.
func (p *Pipeline) HandlingOf(transform ID) *ErrorHandling {
	for i := len(p.ErrorHandling) - 1; i >= 0; i-- {
		if p.ErrorHandling[i].SourceID == transform {
			return &p.ErrorHandling[i]
		}
	}
	return nil
}
