package presenter

import (
	"fmt"
	"strings"

	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Node is a transform of a pipeline or an action of a workflow.
type Node struct {
	ID                      hopxml.ID
	Element                 *hopxml.Element
	Name, Type, Description string
	X, Y                    int // canvas pixels, top left of Hop's icon
	Copies                  string
}

// view is the typed view of the current document.
type view struct {
	pipeline *hopxml.Pipeline
	workflow *hopxml.Workflow
	nodes    []Node
	byID     map[hopxml.ID]int
	hops     []hopxml.Hop
	notes    []hopxml.Note
	gates    map[string]bool // lower-case names of nodes with a gate mark
	caches   map[string]bool // of those with a dev cache mark
}

func newView(doc *hopxml.Document) (*view, error) {
	v := &view{byID: map[hopxml.ID]int{}, gates: map[string]bool{}, caches: map[string]bool{}}
	var attributes hopxml.Attributes
	switch doc.Kind() {
	case hopxml.PipelineKind:
		p, err := doc.Pipeline()
		if err != nil {
			return nil, err
		}
		v.pipeline, v.hops, v.notes, attributes = p, p.Hops, p.Notes, p.Attributes
		for _, t := range p.Transforms {
			v.add(Node{t.ID, t.Element, t.Name, t.Type, t.Description, t.X, t.Y, t.Copies})
		}
	case hopxml.WorkflowKind:
		w, err := doc.Workflow()
		if err != nil {
			return nil, err
		}
		v.workflow, v.hops, v.notes, attributes = w, w.Hops, w.Notes, w.Attributes
		for _, a := range w.Actions {
			v.add(Node{a.ID, a.Element, a.Name, a.Type, a.Description, a.X, a.Y, ""})
		}
	default:
		return nil, fmt.Errorf("%s is neither a pipeline nor a workflow: its root element is <%s>", doc.Name(), doc.Root().Name())
	}
	for group, marks := range map[string]map[string]bool{hopxml.GateGroup: v.gates, gate.CacheGroup: v.caches} {
		for _, a := range attributes.Group(group) {
			if node, _, ok := hopxml.SplitNodeKey(a.Key); ok {
				marks[strings.ToLower(node)] = true
			}
		}
	}
	return v, nil
}

func (v *view) add(n Node) {
	v.byID[n.ID] = len(v.nodes)
	v.nodes = append(v.nodes, n)
}

// Nodes lists the transforms or actions in file order.
func (f *File) Nodes() []Node { return f.view.nodes }

// Node finds a node by identity.
func (f *File) Node(id hopxml.ID) (Node, bool) {
	i, ok := f.view.byID[id]
	if !ok {
		return Node{}, false
	}
	return f.view.nodes[i], true
}

// NodeNamed finds a node by name, without regard to case.
func (f *File) NodeNamed(name string) (Node, bool) {
	for _, n := range f.view.nodes {
		if hopxml.EqualName(n.Name, name) {
			return n, true
		}
	}
	return Node{}, false
}

// Hops lists the hops between known nodes.
func (f *File) Hops() []hopxml.Hop { return f.view.hops }

// Notes lists the notes.
func (f *File) Notes() []hopxml.Note { return f.view.notes }

// Pipeline is the typed view, nil for a workflow.
func (f *File) Pipeline() *hopxml.Pipeline { return f.view.pipeline }

// Workflow is the typed view, nil for a pipeline.
func (f *File) Workflow() *hopxml.Workflow { return f.view.workflow }

// Parameters lists the file's named parameters.
func (f *File) Parameters() []hopxml.Parameter {
	if f.view.pipeline != nil {
		return f.view.pipeline.Info.Parameters
	}
	return f.view.workflow.Info.Parameters
}

// decoded are the settings of one element; elements are immutable, so they are
// read once.
type decoded struct {
	kind     *Kind // nil: this program does not know the type
	settings any   // a pointer to a settings struct
	problems []transform.Problem
}

// transform gives the settings of a transform, nil for those of an action.
func (d decoded) transform() transform.Settings {
	s, _ := d.settings.(transform.Settings)
	return s
}

// decode reads the settings of a node.
func (f *File) decode(n Node) decoded {
	if d, ok := f.decoded[n.Element]; ok {
		return d
	}
	if len(f.decoded) > 4*len(f.view.nodes)+64 {
		f.decoded = map[*hopxml.Element]decoded{}
	}
	var d decoded
	if k, known := f.Palette().Kind(n.Type); known {
		d.kind = k
		d.settings, d.problems = k.decode(n.Element)
	}
	f.decoded[n.Element] = d
	return d
}

// Palette lists what can be placed in the file.
func (f *File) Palette() *Palette { return f.catalog.Palette(f.IsPipeline()) }

// Noun is what a node of the file is called.
func (f *File) Noun() string {
	if f.IsPipeline() {
		return "transform"
	}
	return "action"
}

// Kind gives the type of a node; false when this program does not know it.
func (f *File) Kind(n Node) (*Kind, bool) {
	d := f.decode(n)
	return d.kind, d.kind != nil
}

// uniqueName gives a name that no node has: the name itself, else with the first
// free number behind it, as Hop does.
func (f *File) uniqueName(name string, taken map[string]bool) string {
	free := func(s string) bool {
		_, exists := f.NodeNamed(s)
		return !exists && !taken[strings.ToLower(s)]
	}
	if free(name) {
		return name
	}
	for i := 2; ; i++ {
		if s := fmt.Sprintf("%s %d", name, i); free(s) {
			return s
		}
	}
}
