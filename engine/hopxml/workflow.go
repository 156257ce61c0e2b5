package hopxml

import "fmt"

// Workflow is what Hop reads from a .hwf document: a snapshot of values with
// the elements they came from. Edits go to the Document; make a new view of
// their result.
type Workflow struct {
	Document *Document
	Info     Info

	Actions     []Action
	Hops        []Hop // between known actions, in the order they are followed
	UnboundHops []Hop // an end is unknown; Hop ignores them
	Notes       []Note
	Attributes  Attributes
}

// Action is one action of a workflow. Its settings are children of Element.
type Action struct {
	ID      ID
	Element *Element

	Name, Type, Description string // Type as spelled in the file; compare it with EqualName

	Parallel         bool // its targets start at once
	X, Y             int  // canvas pixels
	Attributes       Attributes
	CanvasAttributes Attributes // <attributes_hac>
}

// StartType is the type of the action that a workflow starts with.
const StartType = "SPECIAL"

// Workflow gives the typed view of a workflow.
func (d *Document) Workflow() (*Workflow, error) {
	if d.Kind() != WorkflowKind {
		return nil, fmt.Errorf("%s is no workflow, its first element is <%s>: %w", d.name, d.root.name, ErrInvalid)
	}
	w := &Workflow{
		Document:   d,
		Info:       d.readInfo(d.root, "workflow"),
		Notes:      readNotes(d.root.Child("notepads")),
		Attributes: readAttributes(d.root.Child("attributes")),
	}
	for _, e := range d.nodes() {
		w.Actions = append(w.Actions, readAction(e))
	}
	w.Hops, w.UnboundHops = d.readHops()
	return w, nil
}

func readAction(e *Element) Action {
	return Action{
		ID: e.id, Element: e,
		Name:             e.Child("name").Text(),
		Type:             e.Child("type").Text(),
		Description:      e.Child("description").Text(),
		Parallel:         e.Child("parallel").Flag(),
		X:                e.integer("xloc", 0),
		Y:                e.integer("yloc", 0),
		Attributes:       readAttributes(e.Child("attributes")),
		CanvasAttributes: readAttributes(e.Child("attributes_hac")),
	}
}

// Action finds an action by name, without case; nil when there is none.
func (w *Workflow) Action(name string) *Action {
	for i := range w.Actions {
		if EqualName(w.Actions[i].Name, name) {
			return &w.Actions[i]
		}
	}
	return nil
}

// Start is the action the workflow starts with, the first of its type in the
// file; nil when there is none.
func (w *Workflow) Start() *Action {
	for i := range w.Actions {
		if EqualName(w.Actions[i].Type, StartType) {
			return &w.Actions[i]
		}
	}
	return nil
}
