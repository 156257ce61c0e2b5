package hopxml

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind tells the two sorts of files apart.
type Kind uint8

// The kinds of documents; UnknownKind is other XML.
const (
	UnknownKind Kind = iota
	PipelineKind
	WorkflowKind
)

// Kind is told by the name of the root element.
func (d *Document) Kind() Kind {
	switch {
	case EqualName(d.root.name, "pipeline"):
		return PipelineKind
	case EqualName(d.root.name, "workflow"):
		return WorkflowKind
	}
	return UnknownKind
}

func (d *Document) nodeWord() string {
	if d.Kind() == WorkflowKind {
		return "action"
	}
	return "transform"
}

// nodes are the elements of the transforms or actions.
func (d *Document) nodes() []*Element {
	if d.Kind() == WorkflowKind {
		return d.root.Child("actions").All("action")
	}
	return d.root.All("transform")
}

// node is the first of that name.
func (d *Document) node(name string) *Element {
	for _, e := range d.nodes() {
		if EqualName(e.Child("name").Text(), name) {
			return e
		}
	}
	return nil
}

func (d *Document) nodesByName() map[string]*Element {
	nodes := d.nodes()
	byName := make(map[string]*Element, len(nodes))
	for _, e := range nodes {
		key := foldName(e.Child("name").Text())
		if byName[key] == nil {
			byName[key] = e
		}
	}
	return byName
}

// nodeByID is the element of a transform or action.
func (d *Document) nodeByID(id ID) (*Element, error) {
	for _, e := range d.nodes() {
		if e.id == id {
			return e, nil
		}
	}
	return nil, fmt.Errorf("%w: no %s with identity %d in %s", ErrNotFound, d.nodeWord(), id, d.name)
}

// checkName refuses what cannot name a node; self is the node to be renamed.
func (d *Document) checkName(name string, self *Element) error {
	if strings.TrimSpace(clean(name)) == "" {
		return fmt.Errorf("a %s needs a name: %w", d.nodeWord(), ErrInvalid)
	}
	if other := d.node(name); other != nil && other != self {
		return fmt.Errorf("there is a %s named %q already (names differ in more than case): %w", d.nodeWord(), other.Child("name").Text(), ErrInvalid)
	}
	return nil
}

// MoveNode puts a transform, an action or a note at a place on the canvas, in
// pixels.
func MoveNode(id ID, x, y int) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		e := path[len(path)-1].elem
		if EqualName(e.name, "transform") {
			var gui *Element
			if d, gui, err = d.ensure(id, "GUI"); err != nil {
				return nil, err
			}
			e = gui
		}
		return d.Apply(setInteger(e, "xloc", x), setInteger(e, "yloc", y))
	}
}

// setInteger changes a number only when its value differs, so that a strange
// spelling stays.
func setInteger(e *Element, name string, value int) Edit {
	return func(d *Document) (*Document, error) {
		if e.Child(name) != nil && strings.TrimSpace(e.Child(name).Text()) == strconv.Itoa(value) {
			return d, nil
		}
		return SetChild(e.id, name, strconv.Itoa(value), Canonical())(d)
	}
}

// RenameNode renames a transform or an action everywhere: its own name, hops,
// error handling, and keys of root attributes that start with its name (gate
// marks, Hop's debug levels). references are the elements in settings of other
// nodes that name it; one that holds another text is an error.
func RenameNode(id ID, name string, references ...ID) Edit {
	return func(d *Document) (*Document, error) {
		e, err := d.nodeByID(id)
		if err != nil {
			return nil, err
		}
		if err := d.checkName(name, e); err != nil {
			return nil, err
		}
		old := e.Child("name").Text()
		if old == name {
			return d, nil
		}
		edits := []Edit{SetChild(id, "name", name, Canonical())}
		if d.node(old) == e { // of two nodes with one name the first is meant
			edits = append(edits, renameIn(d.root.Child(d.hopsElement()).All("hop"), old, name, "from", "to")...)
			edits = append(edits, renameIn(d.root.Child(errorHandlingElement).All("error"), old, name, "source_transform", "target_transform")...)
			edits = append(edits, renameNodeKeys(d, old, name)...)
		}
		for _, ref := range references {
			r := d.Element(ref)
			if r == nil || !EqualName(r.Text(), old) {
				return nil, fmt.Errorf("rename %q: the reference <%s> holds %q: %w", old, r.Name(), r.Text(), ErrInvalid)
			}
			edits = append(edits, SetText(ref, name))
		}
		return d.Apply(edits...)
	}
}

func renameIn(elements []*Element, old, name string, children ...string) []Edit {
	var edits []Edit
	for _, e := range elements {
		for _, c := range children {
			if leaf := e.Child(c); leaf != nil && EqualName(leaf.Text(), old) {
				edits = append(edits, SetText(leaf.id, name))
			}
		}
	}
	return edits
}

// RemoveNode removes a transform or an action with its hops, error handling
// and the root attributes whose keys start with its name.
func RemoveNode(id ID) Edit {
	return func(d *Document) (*Document, error) {
		e, err := d.nodeByID(id)
		if err != nil {
			return nil, err
		}
		name := e.Child("name").Text()
		edits := []Edit{Remove(id)}
		if d.node(name) == e {
			edits = append(edits, removeNaming(d.root.Child(d.hopsElement()).All("hop"), name, "from", "to")...)
			edits = append(edits, removeNaming(d.root.Child(errorHandlingElement).All("error"), name, "source_transform", "target_transform")...)
			edits = append(edits, removeAttributes(d.root.id, func(group, key string) bool { return isKeyOf(group, key, name) }))
		}
		return d.Apply(edits...)
	}
}

func removeNaming(elements []*Element, name string, children ...string) []Edit {
	var edits []Edit
	for _, e := range elements {
		for _, c := range children {
			if EqualName(e.Child(c).Text(), name) {
				edits = append(edits, Remove(e.id))
				break
			}
		}
	}
	return edits
}

// NewNode describes a transform or an action to add. Settings stand where Hop
// puts them.
type NewNode struct {
	Name, Type, Description string
	X, Y                    int
	Settings                []Draft
}

// AddNode adds a transform to a pipeline or an action to a workflow, with
// Hop's usual values: distribute Y, one copy, no partitioning; not parallel.
// The name must be new, compared without case.
func AddNode(n NewNode) Edit {
	return func(d *Document) (*Document, error) {
		if err := d.checkName(n.Name, nil); err != nil {
			return nil, err
		}
		if strings.TrimSpace(n.Type) == "" {
			return nil, fmt.Errorf("%s %q needs a type: %w", d.nodeWord(), n.Name, ErrInvalid)
		}
		switch d.Kind() {
		case PipelineKind:
			return Insert(d.root.id, Canonical(), n.transform())(d)
		case WorkflowKind:
			d, actions, err := d.ensure(d.root.id, "actions")
			if err != nil {
				return nil, err
			}
			return Insert(actions.id, AtEnd(), n.action())(d)
		}
		return nil, fmt.Errorf("add %q to <%s>: neither pipeline nor workflow: %w", n.Name, d.root.name, ErrInvalid)
	}
}

func (n NewNode) transform() Draft {
	children := []Draft{
		Leaf("name", n.Name), Leaf("type", n.Type), Leaf("description", n.Description),
		Leaf("distribute", flagText(true)), Leaf("custom_distribution", ""), Leaf("copies", "1"),
		Branch("partitioning", Leaf("method", "none"), Leaf("schema_name", "")),
	}
	children = append(children, n.Settings...)
	children = append(children, Leaf("attributes", ""),
		Branch("GUI", Leaf("xloc", strconv.Itoa(n.X)), Leaf("yloc", strconv.Itoa(n.Y))))
	return Branch("transform", children...)
}

func (n NewNode) action() Draft {
	children := []Draft{Leaf("name", n.Name), Leaf("description", n.Description), Leaf("type", n.Type), Leaf("attributes", "")}
	children = append(children, n.Settings...)
	children = append(children, Leaf("parallel", flagText(false)),
		Leaf("xloc", strconv.Itoa(n.X)), Leaf("yloc", strconv.Itoa(n.Y)), Leaf("attributes_hac", ""))
	return Branch("action", children...)
}

// CopyNode adds a copy of a transform or action, right behind it, under a new
// name and without its hops. Its gate is not copied: two nodes must not share
// one gate id.
func CopyNode(id ID, name string, x, y int) Edit {
	return func(d *Document) (*Document, error) {
		e, err := d.nodeByID(id)
		if err != nil {
			return nil, err
		}
		if err := d.checkName(name, nil); err != nil {
			return nil, err
		}
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		d, c, err := d.insert(path[len(path)-2].elem.id, After(id), From(e))
		if err != nil {
			return nil, err
		}
		return d.Apply(SetChild(c.id, "name", name, Canonical()), MoveNode(c.id, x, y), RemoveAttributeGroup(c.id, GateGroup))
	}
}
