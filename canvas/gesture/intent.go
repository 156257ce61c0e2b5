package gesture

import "sluice/canvas/scene"

// Name is the fixed name of a sort of intention, for tables of actions.
type Name string

// The names of all intentions.
const (
	NameSelect     Name = "select"
	NameMove       Name = "move"
	NameDetach     Name = "detach"
	NameInsert     Name = "insert-into-hop"
	NameConnect    Name = "connect"
	NameConnectNew Name = "connect-to-new"
	NameRewire     Name = "rewire"
	NameToggleHop  Name = "toggle-hop"
	NameDelete     Name = "delete"
	NameEdit       Name = "edit"
	NameOpen       Name = "open-referenced"
	NameFields     Name = "show-fields"
	NameAdd        Name = "add"
	NamePlace      Name = "place"
	NameMenu       Name = "menu"
	NameGate       Name = "gate"
	NameState      Name = "state"
	NameResizeNote Name = "resize-note"
	NameView       Name = "view"
	NameTip        Name = "tip"
	NameLeave      Name = "leave"
)

// Names lists every intention a machine can give, for the test that each has a
// menu item or a key.
func Names() []Name {
	return []Name{
		NameSelect, NameMove, NameDetach, NameInsert, NameConnect, NameConnectNew, NameRewire, NameToggleHop,
		NameDelete, NameEdit, NameOpen, NameFields, NameAdd, NamePlace, NameMenu, NameGate, NameState,
		NameResizeNote, NameView, NameTip, NameLeave,
	}
}

// Changes tells whether an intention edits the document: it becomes one step
// of undo. The others only look, select or ask.
func (n Name) Changes() bool {
	switch n {
	case NameMove, NameDetach, NameInsert, NameConnect, NameConnectNew, NameRewire, NameToggleHop, NameDelete, NamePlace, NameResizeNote:
		return true
	}
	return false
}

// Intent is what the user wants. Its dynamic type is one of the structs below.
type Intent interface{ Name() Name }

// Select tells the new selection; the machine has it already.
type Select struct{ Selection scene.Selection }

// Move tells the new places of nodes and notes after a drag or a nudge.
type Move struct{ To map[scene.Ref]scene.Point }

// Detach moves a node and joins its neighbours behind it.
type Detach struct {
	Node scene.ID
	To   scene.Point
}

// Insert moves a node onto a hop: the caller asks "Insert into this hop?" and
// moves it only, if the answer is no.
type Insert struct {
	Node, Hop scene.ID
	To        map[scene.Ref]scene.Point
}

// Connect makes a hop. At is where to show the menu of outputs, on the screen.
type Connect struct {
	From, To scene.ID
	At       scene.Point
}

// ConnectNew wants a new node at a place of the document, fed by From.
type ConnectNew struct {
	From         scene.ID
	At, Document scene.Point
}

// Rewire gives a hop another source or target.
type Rewire struct{ Hop, From, To scene.ID }

// ToggleHop enables or disables a hop.
type ToggleHop struct{ Hop scene.ID }

// Delete removes things.
type Delete struct{ Refs []scene.Ref }

// Edit opens the settings of a node, a hop or a note.
type Edit struct{ Ref scene.Ref }

// Open opens the file that a node refers to.
type Open struct{ Node scene.ID }

// Fields shows the output fields of a node.
type Fields struct{ Node scene.ID }

// Add opens the context dialog for a new node at a place.
type Add struct{ At, Document scene.Point }

// Place puts a palette item down; Hop is the hop it was dropped on, or "".
type Place struct {
	Item         string
	At, Document scene.Point
	Hop          scene.ID
}

// Menu opens the right-click menu for a thing, or for the background.
type Menu struct {
	Hit          scene.Hit
	At, Document scene.Point
}

// Gate was clicked on: the badge of a node or the bars of a hop.
type Gate struct {
	Ref scene.Ref
	At  scene.Point
}

// State is a click on a state badge.
type State struct {
	Node scene.ID
	At   scene.Point
}

// ResizeNote gives a note a new rectangle.
type ResizeNote struct {
	Note scene.ID
	Rect scene.Rect
}

// View tells that pan or zoom changed; the machine has it already.
type View struct{ View scene.View }

// Tip shows the tool tip of a thing, or hides it when Hit is on the background.
type Tip struct {
	Hit scene.Hit
	At  scene.Point
}

// Leave gives the keyboard focus to what follows (or precedes) the canvas.
type Leave struct{ Backwards bool }

// Name implements Intent.
func (Select) Name() Name { return NameSelect }

// Name implements Intent.
func (Move) Name() Name { return NameMove }

// Name implements Intent.
func (Detach) Name() Name { return NameDetach }

// Name implements Intent.
func (Insert) Name() Name { return NameInsert }

// Name implements Intent.
func (Connect) Name() Name { return NameConnect }

// Name implements Intent.
func (ConnectNew) Name() Name { return NameConnectNew }

// Name implements Intent.
func (Rewire) Name() Name { return NameRewire }

// Name implements Intent.
func (ToggleHop) Name() Name { return NameToggleHop }

// Name implements Intent.
func (Delete) Name() Name { return NameDelete }

// Name implements Intent.
func (Edit) Name() Name { return NameEdit }

// Name implements Intent.
func (Open) Name() Name { return NameOpen }

// Name implements Intent.
func (Fields) Name() Name { return NameFields }

// Name implements Intent.
func (Add) Name() Name { return NameAdd }

// Name implements Intent.
func (Place) Name() Name { return NamePlace }

// Name implements Intent.
func (Menu) Name() Name { return NameMenu }

// Name implements Intent.
func (Gate) Name() Name { return NameGate }

// Name implements Intent.
func (State) Name() Name { return NameState }

// Name implements Intent.
func (ResizeNote) Name() Name { return NameResizeNote }

// Name implements Intent.
func (View) Name() Name { return NameView }

// Name implements Intent.
func (Tip) Name() Name { return NameTip }

// Name implements Intent.
func (Leave) Name() Name { return NameLeave }
