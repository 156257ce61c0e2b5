//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// valueCell shows a value in a table as an entry would, and becomes one when it is
// clicked or reached with Tab. A long value is cut where an entry would show the
// middle of it.
type valueCell struct {
	widget.BaseWidget
	d       *Desktop
	shown   *words
	entry   *field // nil until it is edited
	stack   *fyne.Container
	changed func(string)
	done    func(string) // Enter
}

var (
	_ fyne.Tappable      = (*valueCell)(nil)
	_ fyne.Focusable     = (*valueCell)(nil)
	_ fyne.Disableable   = (*valueCell)(nil)
	_ desktop.Cursorable = (*valueCell)(nil)
)

func newValueCell(d *Desktop, value string, changed, done func(string)) *valueCell {
	c := &valueCell{d: d, shown: d.mono(value), changed: changed, done: done}
	c.stack = container.NewStack(newGround(theme.ColorNameInputBackground), newBorder(), inset(c.shown, 0, 6, 0, 7))
	c.ExtendBaseWidget(c)
	return c
}

// value is what is shown or typed.
func (c *valueCell) value() string {
	if c.entry != nil {
		return c.entry.Text
	}
	return c.shown.full
}

// set shows another value, unless somebody is typing.
func (c *valueCell) set(value string) {
	if c.entry != nil && c.d.win.Canvas().Focused() == c.entry {
		return
	}
	c.reset(value)
}

// reset shows another value.
func (c *valueCell) reset(value string) {
	c.shown.Set(value, nil)
	if c.entry != nil && c.entry.Text != value {
		c.entry.Text = value
		c.entry.Refresh()
	}
}

// edit makes it an entry.
func (c *valueCell) edit() {
	if c.entry == nil {
		c.entry = c.d.field(c.shown.full, "empty", c.changed)
		c.entry.TextStyle.Monospace = true
		c.entry.OnSubmitted = c.done
		c.stack.Objects = []fyne.CanvasObject{c.entry}
		c.stack.Refresh()
	}
	c.d.focus(c.entry)
}

// CreateRenderer implements fyne.Widget.
func (c *valueCell) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.stack) }

// MinSize implements fyne.CanvasObject.
func (c *valueCell) MinSize() fyne.Size { return fyne.NewSize(40, 30) }

// Tapped implements fyne.Tappable.
func (c *valueCell) Tapped(*fyne.PointEvent) { c.edit() }

// Cursor implements desktop.Cursorable.
func (c *valueCell) Cursor() desktop.Cursor { return desktop.TextCursor }

// FocusGained implements fyne.Focusable.
func (c *valueCell) FocusGained() { c.edit() }

// Disabled implements fyne.Disableable: the entry inside takes the focus then, in
// either direction.
func (c *valueCell) Disabled() bool { return c.entry != nil }

// Disable implements fyne.Disableable.
func (c *valueCell) Disable() {}

// Enable implements fyne.Disableable.
func (c *valueCell) Enable() {}

// FocusLost implements fyne.Focusable.
func (c *valueCell) FocusLost() {}

// TypedRune implements fyne.Focusable.
func (c *valueCell) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (c *valueCell) TypedKey(*fyne.KeyEvent) {}
