//go:build !headless

package desktop

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/project"
)

// field is an entry that hands on the keys it has no use for: function keys, Escape,
// and, when wanted, arrows and Enter.
type field struct {
	widget.Entry
	d     *Desktop
	onKey func(fyne.KeyName) bool // true: used up
	// onEnterWithCtrl takes Ctrl+Enter, which otherwise goes to the table of actions.
	onEnterWithCtrl func()
	// variables are offered while "${" is typed, and at Ctrl+Space; nil offers none.
	variables *project.Variables
}

func (d *Desktop) field(value, placeholder string, changed func(string)) *field {
	f := &field{d: d}
	f.ExtendBaseWidget(f)
	f.Text, f.PlaceHolder = value, placeholder
	f.OnChanged = changed
	return f
}

// TypedKey implements fyne.Focusable.
func (f *field) TypedKey(e *fyne.KeyEvent) {
	if f.onKey != nil && f.onKey(e.Name) {
		return
	}
	if e.Name == fyne.KeyEscape || isFunctionKey(e.Name) {
		f.d.typedKey(e)
		return
	}
	f.Entry.TypedKey(e)
}

// TypedRune implements fyne.Focusable.
func (f *field) TypedRune(r rune) {
	f.Entry.TypedRune(r)
	if r == '{' && f.variables != nil && strings.HasSuffix(string([]rune(f.Text)[:f.CursorColumn]), "${") {
		f.offerVariables()
	}
}

// offerVariables opens the list of the variables that fit what is typed.
func (f *field) offerVariables() {
	items := f.variableItems()
	if len(items) == 0 {
		return
	}
	at := f.d.app.Driver().AbsolutePositionForObject(f)
	menu := widget.NewPopUpMenu(fyne.NewMenu("", items...), f.d.win.Canvas())
	menu.ShowAtPosition(at.AddXY(0, f.Size().Height))
	f.d.event("variables %d", len(items))
}

func (f *field) variableItems() []*fyne.MenuItem {
	c := presenter.Complete(f.Text, f.CursorColumn, f.variables)
	var items []*fyne.MenuItem
	for _, name := range c.Names {
		items = append(items, fyne.NewMenuItem(name, func() {
			text, cursor := c.Insert(f.Text, f.CursorColumn, name)
			f.SetText(text)
			f.CursorColumn = cursor
			f.Refresh()
			f.d.focus(f)
		}))
	}
	return items
}

// TypedShortcut implements fyne.Shortcutable.
func (f *field) TypedShortcut(s fyne.Shortcut) {
	c, ok := s.(*desktop.CustomShortcut)
	if ok && f.onEnterWithCtrl != nil && c.KeyName == fyne.KeyReturn && c.Modifier == fyne.KeyModifierShortcutDefault {
		f.onEnterWithCtrl()
		return
	}
	if ok && f.variables != nil && c.KeyName == fyne.KeySpace && c.Modifier == fyne.KeyModifierShortcutDefault {
		f.offerVariables()
		return
	}
	if ok && !movesCursor(c.KeyName) && f.d.typedShortcut(c) {
		return
	}
	f.Entry.TypedShortcut(s)
}

// movesCursor tells the keys that, with a modifier too, belong to a text.
func movesCursor(k fyne.KeyName) bool {
	switch k {
	case fyne.KeyLeft, fyne.KeyRight, fyne.KeyUp, fyne.KeyDown, fyne.KeyHome, fyne.KeyEnd, fyne.KeyDelete, fyne.KeyBackspace:
		return true
	}
	return false
}

func isFunctionKey(k fyne.KeyName) bool {
	return len(k) >= 2 && k[0] == 'F' && k[1] >= '1' && k[1] <= '9'
}

// choice is a field with a list of values that may be typed too.
func (d *Desktop) choice(value string, options []string, changed func(string)) *widget.SelectEntry {
	s := widget.NewSelectEntry(options)
	s.Text = value
	s.OnChanged = changed
	return s
}

// bordered gives a list of choices the border that entries have.
func bordered(s *widget.Select) fyne.CanvasObject { return container.NewStack(s, newBorder()) }

// border is the outline of an input.
type border struct {
	widget.BaseWidget
	rect *canvas.Rectangle
}

func newBorder() *border {
	b := &border{rect: canvas.NewRectangle(color.Transparent)}
	b.rect.StrokeWidth, b.rect.CornerRadius = 1, 4
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer implements fyne.Widget.
func (b *border) CreateRenderer() fyne.WidgetRenderer {
	b.rect.StrokeColor = theme.Color(theme.ColorNameInputBorder)
	return &borderRenderer{b}
}

type borderRenderer struct{ b *border }

func (r *borderRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.b.rect} }
func (r *borderRenderer) Destroy()                     {}
func (r *borderRenderer) MinSize() fyne.Size           { return fyne.NewSize(1, 1) }
func (r *borderRenderer) Layout(size fyne.Size)        { r.b.rect.Resize(size) }
func (r *borderRenderer) Refresh() {
	r.b.rect.StrokeColor = theme.Color(theme.ColorNameInputBorder)
	r.b.rect.Refresh()
}
