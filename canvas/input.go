//go:build !headless

package canvas

import (
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"sluice/canvas/gesture"
	"sluice/canvas/scene"
)

// The widget takes part in these protocols. It does not implement
// DoubleTappable, which would delay every click.
var (
	_ desktop.Mouseable  = (*Graph)(nil)
	_ desktop.Hoverable  = (*Graph)(nil)
	_ desktop.Keyable    = (*Graph)(nil)
	_ desktop.Cursorable = (*Graph)(nil)
	_ fyne.Draggable     = (*Graph)(nil)
	_ fyne.Scrollable    = (*Graph)(nil)
	_ fyne.Focusable     = (*Graph)(nil)
	_ fyne.Shortcutable  = (*Graph)(nil)
	_ fyne.Tabbable      = (*Graph)(nil)
)

// feed gives one event to the machine and carries out what follows.
func (g *Graph) feed(e gesture.Event) gesture.Result {
	e.Time = time.Since(g.start)
	r := g.machine.Handle(e)
	g.apply(r)
	return r
}

// apply repaints and tells intentions. The picture is asked for first: an
// intention may replace the scene.
func (g *Graph) apply(r gesture.Result) {
	switch {
	case r.Redraw:
		g.Repaint()
	case r.Overlay && g.view != nil:
		g.view.overlay()
	}
	for _, i := range r.Intents {
		g.tell(i)
	}
	g.runTicker()
}

func (g *Graph) tell(i gesture.Intent) {
	switch v := i.(type) {
	case gesture.Tip:
		g.showTip(v.Hit, v.At)
	case gesture.Leave:
		g.leave(v.Backwards)
	case gesture.Menu:
		g.hideTip()
	}
	if g.OnIntent != nil {
		g.OnIntent(i)
	}
}

func (g *Graph) leave(backwards bool) {
	c := fyne.CurrentApp().Driver().CanvasForObject(g)
	switch {
	case c == nil:
	case backwards:
		c.FocusPrevious()
	default:
		c.FocusNext()
	}
}

// runTicker runs or stops the clock of tool tips and edge panning.
func (g *Graph) runTicker() {
	if !g.machine.NeedsTick() {
		g.stopTicker()
		return
	}
	if g.ticker != nil {
		return
	}
	g.ticker = fyne.NewAnimation(time.Second, func(float32) {
		if g.ticker != nil {
			g.feed(gesture.Event{Kind: gesture.Tick})
		}
	})
	g.ticker.RepeatCount = fyne.AnimationRepeatForever
	g.ticker.Start()
}

func (g *Graph) stopTicker() {
	if g.ticker != nil {
		t := g.ticker
		g.ticker = nil
		t.Stop()
	}
}

// mods are the modifier keys held now; events of drags and keys do not carry them.
func mods() gesture.Mods {
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return modsOf(d.CurrentKeyModifiers())
	}
	return 0
}

func modsOf(m fyne.KeyModifier) gesture.Mods {
	var out gesture.Mods
	if m&fyne.KeyModifierShift != 0 {
		out |= gesture.Shift
	}
	if m&fyne.KeyModifierShortcutDefault != 0 {
		out |= gesture.Ctrl
	}
	if m&fyne.KeyModifierAlt != 0 {
		out |= gesture.Alt
	}
	return out
}

func buttonOf(b desktop.MouseButton) gesture.Button {
	switch b {
	case desktop.MouseButtonSecondary:
		return gesture.Secondary
	case desktop.MouseButtonTertiary:
		return gesture.Middle
	}
	return gesture.Primary
}

// MouseDown implements desktop.Mouseable.
func (g *Graph) MouseDown(e *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(g); c != nil {
		c.Focus(g)
	}
	g.pressed, g.holding = buttonOf(e.Button), true
	g.feed(gesture.Event{Kind: gesture.Down, At: point(e.Position), Button: g.pressed, Mods: modsOf(e.Modifier)})
}

// MouseUp implements desktop.Mouseable.
func (g *Graph) MouseUp(e *desktop.MouseEvent) {
	g.holding = false
	g.feed(gesture.Event{Kind: gesture.Up, At: point(e.Position), Button: buttonOf(e.Button), Mods: modsOf(e.Modifier)})
}

// MouseIn implements desktop.Hoverable.
func (g *Graph) MouseIn(e *desktop.MouseEvent) { g.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable.
func (g *Graph) MouseMoved(e *desktop.MouseEvent) {
	g.feed(gesture.Event{Kind: gesture.PointerMove, At: point(e.Position), Mods: modsOf(e.Modifier) | mods()})
}

// MouseOut implements desktop.Hoverable.
func (g *Graph) MouseOut() { g.feed(gesture.Event{Kind: gesture.PointerLeave}) }

// Dragged implements fyne.Draggable.
func (g *Graph) Dragged(e *fyne.DragEvent) {
	g.last = point(e.Position)
	g.feed(gesture.Event{Kind: gesture.PointerMove, At: g.last, Mods: mods()})
}

// DragEnd implements fyne.Draggable. The button's own event has come before,
// except when it was let go outside of the canvas.
func (g *Graph) DragEnd() {
	if g.holding {
		g.holding = false
		g.feed(gesture.Event{Kind: gesture.Up, At: g.last, Button: g.pressed, Mods: mods()})
	}
}

// wheelNotch is what Fyne reports for one notch of a wheel.
const wheelNotch = 25.0

// Scrolled implements fyne.Scrollable.
func (g *Graph) Scrolled(e *fyne.ScrollEvent) {
	const most = 4.0
	notches := func(v float32) float64 { return math.Max(-most, math.Min(most, float64(v)/wheelNotch)) }
	g.feed(gesture.Event{
		Kind: gesture.Scroll, At: point(e.Position), Mods: mods(),
		Delta: scene.Point{X: notches(e.Scrolled.DX), Y: notches(e.Scrolled.DY)},
	})
}

// FocusGained implements fyne.Focusable.
func (g *Graph) FocusGained() { g.setFocused(true) }

// FocusLost implements fyne.Focusable.
func (g *Graph) FocusLost() { g.setFocused(false) }

func (g *Graph) setFocused(on bool) {
	if g.focused == on {
		return
	}
	g.focused = on
	if !on {
		g.hideTip()
	}
	if g.machine.Focus() != "" {
		g.Repaint()
	} else if g.view != nil {
		g.view.overlay()
	}
}

// AcceptsTab implements fyne.Tabbable: Tab goes from node to node, and leaves
// the canvas behind the last one.
func (g *Graph) AcceptsTab() bool { return true }

// TypedRune implements fyne.Focusable.
func (g *Graph) TypedRune(rune) {}

// keys are the keys that the canvas may use; the machine says whether it did.
var keys = map[fyne.KeyName]gesture.Key{
	fyne.KeyLeft: gesture.KeyLeft, fyne.KeyRight: gesture.KeyRight, fyne.KeyUp: gesture.KeyUpArrow, fyne.KeyDown: gesture.KeyDownArrow,
	fyne.KeyTab: gesture.KeyTab, fyne.KeyReturn: gesture.KeyEnter, fyne.KeyEnter: gesture.KeyEnter,
	fyne.KeyEscape: gesture.KeyEscape, fyne.KeyDelete: gesture.KeyDelete, fyne.KeyBackspace: gesture.KeyDelete,
	fyne.KeyZ: gesture.KeyZ, desktop.KeyMenu: gesture.KeyMenu, fyne.KeyInsert: gesture.KeyInsert, fyne.KeyHome: gesture.KeyHome,
	fyne.KeyPlus: gesture.KeyPlus, fyne.KeyEqual: gesture.KeyPlus, fyne.KeyMinus: gesture.KeyMinus,
}

// TypedKey implements fyne.Focusable.
func (g *Graph) TypedKey(e *fyne.KeyEvent) {
	if k, ok := keys[e.Name]; ok {
		if g.feed(gesture.Event{Kind: gesture.KeyDown, Key: k, Mods: mods()}).Handled {
			return
		}
	}
	if g.OnKey != nil && !isModifier(e.Name) && e.Name != fyne.KeySpace {
		g.OnKey(e)
	}
}

// isModifier tells whether a key only changes the meaning of others; Fyne
// reports these as typed keys too.
func isModifier(k fyne.KeyName) bool {
	switch k {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight,
		desktop.KeyAltLeft, desktop.KeyAltRight, desktop.KeySuperLeft, desktop.KeySuperRight, desktop.KeyCapsLock:
		return true
	}
	return false
}

// KeyDown implements desktop.Keyable. Only Space is used while it is held; all
// other keys come, with repetition, through TypedKey.
func (g *Graph) KeyDown(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		g.feed(gesture.Event{Kind: gesture.KeyDown, Key: gesture.KeySpace, Mods: mods()})
	}
}

// KeyUp implements desktop.Keyable.
func (g *Graph) KeyUp(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		g.feed(gesture.Event{Kind: gesture.KeyUp, Key: gesture.KeySpace, Mods: mods()})
	}
}

// TypedShortcut implements fyne.Shortcutable.
func (g *Graph) TypedShortcut(s fyne.Shortcut) {
	if g.OnShortcut != nil {
		g.OnShortcut(s)
	}
}

// Cursor implements desktop.Cursorable.
func (g *Graph) Cursor() desktop.Cursor {
	switch g.machine.Trace().Cursor {
	case gesture.CursorPointer, gesture.CursorMove:
		return desktop.PointerCursor
	case gesture.CursorCross:
		return desktop.CrosshairCursor
	case gesture.CursorResize:
		return desktop.HResizeCursor
	}
	return desktop.DefaultCursor
}
