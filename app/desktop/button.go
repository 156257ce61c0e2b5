//go:build !headless

package desktop

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// flat is a flat button: icon, words or both, that lights up under the pointer.
// Tool buttons, tabs, rail items and rows of lists are made of it.
type flat struct {
	widget.BaseWidget
	d         *Desktop
	icon      string
	caption   string
	tip       string
	size      fyne.Size
	iconSize  float32
	textSize  float32
	below     bool // caption below the icon
	left      bool // content from the left
	indent    float32
	trail     string // small words at the right end
	primary   bool   // the view's main button
	raised    bool   // has the ground of a button
	selected  bool
	underline bool // how selection shows: a line below, else a ground
	bold      bool
	inkOf     ink
	disabled  bool
	onTap     func()
	onSecond  func(fyne.Position)

	ground, line *canvas.Rectangle
	pic          *canvas.Image
	label        *canvas.Text
	end          *canvas.Text
	hovered      bool
	focused      bool
}

var (
	_ fyne.Tappable      = (*flat)(nil)
	_ desktop.Hoverable  = (*flat)(nil)
	_ desktop.Cursorable = (*flat)(nil)
	_ fyne.Focusable     = (*flat)(nil)
)

func (d *Desktop) flat(icon, caption, tip string, onTap func()) *flat {
	f := &flat{}
	f.init(d, icon, caption, tip)
	f.onTap = onTap
	f.ExtendBaseWidget(f)
	return f
}

// init gives a flat its parts, for widgets that embed one.
func (f *flat) init(d *Desktop, icon, caption, tip string) {
	f.d, f.icon, f.caption, f.tip = d, icon, caption, tip
	f.size, f.iconSize, f.textSize, f.inkOf = fyne.NewSize(0, 28), 16, textSize, inkText
	f.ground, f.line = canvas.NewRectangle(color.Transparent), canvas.NewRectangle(color.Transparent)
	f.pic, f.label = canvas.NewImageFromResource(nil), canvas.NewText(caption, color.Black)
	f.end = canvas.NewText("", color.Black)
	f.end.TextSize = captionSize
	f.ground.CornerRadius = 4
	f.pic.FillMode = canvas.ImageFillContain
}

// tool is a square icon button for tool bars.
func (d *Desktop) tool(icon, tip string, onTap func()) *flat {
	f := d.flat(icon, "", tip, onTap)
	f.size = fyne.NewSize(32, 32)
	f.iconSize = 18
	return f
}

// Tapped implements fyne.Tappable.
func (f *flat) Tapped(*fyne.PointEvent) {
	f.d.tips.hide()
	if !f.disabled && f.onTap != nil {
		f.onTap()
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (f *flat) TappedSecondary(e *fyne.PointEvent) {
	f.d.tips.hide()
	if f.onSecond != nil {
		f.onSecond(e.AbsolutePosition)
	}
}

// MouseIn implements desktop.Hoverable.
func (f *flat) MouseIn(*desktop.MouseEvent) {
	f.hovered = true
	f.Refresh()
	f.d.tips.later(f, f.tip)
}

// MouseMoved implements desktop.Hoverable.
func (f *flat) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (f *flat) MouseOut() {
	f.hovered = false
	f.d.tips.hide()
	f.Refresh()
}

// FocusGained implements fyne.Focusable.
func (f *flat) FocusGained() {
	f.focused = true
	f.Refresh()
}

// FocusLost implements fyne.Focusable.
func (f *flat) FocusLost() {
	f.focused = false
	f.Refresh()
}

// TypedRune implements fyne.Focusable.
func (f *flat) TypedRune(rune) {}

// TypedKey implements fyne.Focusable: Space and Enter press the button, other keys
// go to the window.
func (f *flat) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		f.Tapped(nil)
	default:
		f.d.typedKey(e)
	}
}

// Cursor implements desktop.Cursorable.
func (f *flat) Cursor() desktop.Cursor { return desktop.DefaultCursor }

// SetDisabled greys the button out.
func (f *flat) SetDisabled(off bool) {
	if f.disabled != off {
		f.disabled = off
		f.Refresh()
	}
}

// SetSelected marks the button.
func (f *flat) SetSelected(on bool) {
	if f.selected != on {
		f.selected = on
		f.Refresh()
	}
}

// SetCaption changes the words.
func (f *flat) SetCaption(s string) {
	if f.caption != s {
		f.caption = s
		f.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (f *flat) CreateRenderer() fyne.WidgetRenderer {
	r := &flatRenderer{f}
	r.colour()
	return r
}

type flatRenderer struct{ f *flat }

func (r *flatRenderer) Destroy() {}
func (r *flatRenderer) Objects() []fyne.CanvasObject {
	list := []fyne.CanvasObject{r.f.ground, r.f.line}
	if r.f.icon != "" {
		list = append(list, r.f.pic)
	}
	if r.f.trail != "" {
		list = append(list, r.f.end)
	}
	return append(list, r.f.label)
}

func (r *flatRenderer) textWidth() float32 {
	if r.f.caption == "" {
		return 0
	}
	style := r.f.label.TextStyle
	style.Bold = style.Bold || r.f.underline // it is bold while it is chosen
	return fyne.MeasureText(r.f.caption, r.f.textSize, style).Width
}

func (r *flatRenderer) MinSize() fyne.Size {
	f := r.f
	if f.size.Width > 0 {
		return f.size
	}
	w := r.textWidth() + 16
	if f.icon != "" && !f.below {
		w += f.iconSize
		if f.caption != "" {
			w += 6
		}
	}
	return fyne.NewSize(w, f.size.Height)
}

func (r *flatRenderer) Layout(size fyne.Size) {
	f := r.f
	f.ground.Resize(size)
	f.line.Move(fyne.NewPos(4, size.Height-2))
	f.line.Resize(fyne.NewSize(size.Width-8, 2))
	textHeight := fyne.MeasureText("Ag", f.textSize, f.label.TextStyle).Height
	room := size.Width - 16 - f.indent
	if f.icon != "" && !f.below {
		room -= f.iconSize + 6
	}
	if f.trail != "" {
		end := fyne.MeasureText(f.trail, captionSize, fyne.TextStyle{})
		f.end.Move(fyne.NewPos(size.Width-end.Width-12, (size.Height-end.Height)/2))
		room -= end.Width + 12
	}
	if f.below {
		room = size.Width - 4
	}
	f.label.Text = cut(f.caption, room, f.textSize, f.label.TextStyle)
	w := fyne.MeasureText(f.label.Text, f.textSize, f.label.TextStyle).Width
	if f.below {
		top := (size.Height - f.iconSize - textHeight - 2) / 2
		f.pic.Move(fyne.NewPos((size.Width-f.iconSize)/2, top))
		f.pic.Resize(fyne.NewSize(f.iconSize, f.iconSize))
		f.label.Move(fyne.NewPos((size.Width-w)/2, top+f.iconSize+2))
		return
	}
	total := w
	if f.icon != "" {
		total += f.iconSize
		if f.caption != "" {
			total += 6
		}
	}
	x := (size.Width - total) / 2
	if f.left {
		x = 8 + f.indent
	}
	if f.icon != "" {
		f.pic.Move(fyne.NewPos(x, (size.Height-f.iconSize)/2))
		f.pic.Resize(fyne.NewSize(f.iconSize, f.iconSize))
		x += f.iconSize + 6
	}
	f.label.Move(fyne.NewPos(x, (size.Height-textHeight)/2))
}

func (r *flatRenderer) colour() {
	f, t := r.f, r.f.d.theme()
	c := f.inkOf
	if f.selected && !f.underline {
		c = inkPrimary
	}
	if f.primary {
		c = inkOnPrimary
	}
	if f.disabled {
		c = inkOff
	}
	f.label.TextStyle.Bold = f.bold || f.selected && f.underline
	f.label.TextSize, f.label.Color = f.textSize, c(t)
	f.ground.FillColor, f.line.FillColor = color.Transparent, color.Transparent
	switch {
	case f.selected && f.underline:
		f.line.FillColor = t.Primary
		f.ground.FillColor = color.Transparent
	case f.selected:
		f.ground.FillColor = t.Selection
	case f.primary && f.disabled:
		f.ground.FillColor = t.Button
	case f.primary:
		f.ground.FillColor = t.Primary
	case f.raised:
		f.ground.FillColor = t.Button
	}
	if f.hovered && !f.disabled && !f.selected && !f.primary {
		f.ground.FillColor = t.Hover
	}
	f.ground.StrokeWidth, f.ground.StrokeColor = 0, color.Transparent
	if f.focused {
		f.ground.StrokeWidth, f.ground.StrokeColor = 2, t.Primary
		if f.primary {
			f.ground.StrokeColor = t.Text
		}
	}
	f.end.Text, f.end.Color = f.trail, t.TextSoft
	if f.primary && !f.disabled {
		f.end.Color = t.OnPrimary
	}
	if f.icon != "" {
		f.pic.Resource = f.d.icon(f.icon, c)
	}
}

func (r *flatRenderer) Refresh() {
	r.colour()
	r.Layout(r.f.Size())
	r.f.ground.Refresh()
	r.f.line.Refresh()
	if r.f.icon != "" {
		r.f.pic.Refresh()
	}
	r.f.label.Refresh()
	r.f.end.Refresh()
}

// tipLayer shows the tool tip of one thing over the window's content.
type tipLayer struct {
	d     *Desktop
	box   *fyne.Container
	rect  *canvas.Rectangle
	text  *canvas.Text
	owner fyne.CanvasObject
	timer *time.Timer
	in    fyne.CanvasObject // the overlay that it lies in, nil for the window itself
}

const tipDelay = 400 * time.Millisecond

func newTipLayer(d *Desktop) *tipLayer {
	t := &tipLayer{d: d, rect: canvas.NewRectangle(color.Black), text: canvas.NewText("", color.White)}
	t.text.TextSize = 12
	t.rect.CornerRadius, t.rect.StrokeWidth = 4, 1
	t.rect.Hide()
	t.text.Hide()
	t.box = &fyne.Container{Objects: []fyne.CanvasObject{t.rect, t.text}}
	return t
}

// later shows a tip in a moment, unless hide comes before.
func (t *tipLayer) later(owner fyne.CanvasObject, text string) {
	t.hide()
	if text == "" {
		return
	}
	t.owner = owner
	t.timer = time.AfterFunc(tipDelay, func() { t.d.post(func() { t.show(owner, text) }) })
}

func (t *tipLayer) show(owner fyne.CanvasObject, text string) {
	if t.owner != owner || t.d.win.Canvas().Overlays().Top() != t.in {
		return
	}
	th := t.d.theme()
	t.rect.FillColor, t.rect.StrokeColor, t.text.Color, t.text.Text = th.Surface, th.LineStrong, th.Text, text
	size := fyne.MeasureText(text, 12, fyne.TextStyle{}).Add(fyne.NewSize(16, 10))
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(owner).Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(t.box))
	area := t.box.Size()
	x := max(4, min(at.X, area.Width-size.Width-4))
	y := at.Y + owner.Size().Height + 4
	if y+size.Height > area.Height {
		y = at.Y - size.Height - 4
	}
	t.rect.Move(fyne.NewPos(x, y))
	t.rect.Resize(size)
	t.text.Move(fyne.NewPos(x+8, y+5))
	t.rect.Show()
	t.text.Show()
	for _, o := range []fyne.CanvasObject{t.rect, t.text} {
		t.d.win.Canvas().Refresh(o) // of a hidden object Fyne does not know the canvas
	}
}

func (t *tipLayer) hide() {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.owner = nil
	if t.rect.Visible() {
		t.rect.Hide()
		t.text.Hide()
	}
}
