package gesture

import (
	"time"

	"sluice/canvas/scene"
)

// Kind is the sort of an event.
type Kind uint8

// The events. Drag events come from a palette outside the canvas. Tick is
// wanted about every 16 ms while NeedsTick says so.
const (
	Down Kind = iota
	Up
	PointerMove
	PointerLeave
	Scroll
	KeyDown
	KeyUp
	DragOver
	DragDrop
	DragLeave
	Tick
)

// Button is a pointer button.
type Button uint8

// The buttons.
const (
	Primary Button = iota
	Secondary
	Middle
)

// Mods are the modifier keys held; Ctrl is the platform's command key.
type Mods uint8

// The modifiers.
const (
	Shift Mods = 1 << iota
	Ctrl
	Alt
)

// Key is a key that the canvas itself understands; all others belong to the
// application's table of shortcuts.
type Key uint8

// The keys.
const (
	KeyNone Key = iota
	KeyLeft
	KeyRight
	KeyUpArrow
	KeyDownArrow
	KeyTab
	KeyEnter
	KeyEscape
	KeyDelete
	KeySpace
	KeyZ
	KeyMenu
	KeyInsert
	KeyHome
	KeyPlus
	KeyMinus
)

// Event is one input. At is in logical pixels of the canvas.
type Event struct {
	Kind   Kind
	At     scene.Point
	Button Button
	Mods   Mods
	Key    Key
	Delta  scene.Point // Scroll: notches of the wheel, Y up is positive
	Item   string      // DragOver, DragDrop: the palette item
	Time   time.Duration
}

// Result is what an event led to.
type Result struct {
	Intents []Intent
	Redraw  bool // the graph's picture changed: repaint it
	Overlay bool // only hover marks changed
	Handled bool // keys: the canvas made use of it
}

// Trace is what a gesture in progress shows.
type Trace struct {
	HoverNode scene.ID // shows its connect handle
	HoverHop  scene.ID

	Connecting bool
	Source     scene.ID
	Targets    map[scene.ID]bool // nodes that a hop from Source may end at
	Wire       *Wire

	DropHop scene.ID
	Lasso   *scene.Rect // document units
	Guides  []scene.Guide
	Landing *scene.Point // where a palette item would go, document units
	Cursor  Cursor
}

// Wire is the hop being drawn, in document units.
type Wire struct{ From, To scene.Point }

// Cursor is the shape of the pointer.
type Cursor uint8

// The cursors.
const (
	CursorDefault Cursor = iota
	CursorPointer
	CursorMove
	CursorCross
	CursorResize
)
