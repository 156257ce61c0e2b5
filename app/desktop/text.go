//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// words is a line of text in a colour of the theme, cut with an ellipsis where there
// is no room. It is lighter than a Label.
type words struct {
	widget.BaseWidget
	d     *Desktop
	full  string
	size  float32
	style fyne.TextStyle
	align fyne.TextAlign
	ink   ink
	rich  *canvas.Text
}

func (d *Desktop) words(text string, size float32, c ink) *words {
	w := &words{d: d, full: text, size: size, ink: c, rich: canvas.NewText(text, color.Black)}
	w.ExtendBaseWidget(w)
	return w
}

func (d *Desktop) text(s string) *words    { return d.words(s, textSize, inkText) }
func (d *Desktop) soft(s string) *words    { return d.words(s, textSize, inkSoft) }
func (d *Desktop) caption(s string) *words { return d.words(s, captionSize, inkSoft) }
func (d *Desktop) bold(s string, size float32) *words {
	w := d.words(s, size, inkText)
	w.style.Bold = true
	return w
}

// Set changes text and colour.
func (w *words) Set(text string, c ink) {
	if w.full == text && c == nil {
		return
	}
	w.full = text
	if c != nil {
		w.ink = c
	}
	w.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (w *words) CreateRenderer() fyne.WidgetRenderer { return &wordsRenderer{w} }

type wordsRenderer struct{ w *words }

func (r *wordsRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.w.rich} }
func (r *wordsRenderer) Destroy()                     {}
func (r *wordsRenderer) MinSize() fyne.Size {
	h := fyne.MeasureText("Ag", r.w.size, r.w.style).Height
	return fyne.NewSize(8, h)
}

func (r *wordsRenderer) Layout(size fyne.Size) {
	w := r.w
	w.rich.TextSize, w.rich.TextStyle, w.rich.Color = w.size, w.style, w.ink(w.d.theme())
	w.rich.Alignment = w.align
	w.rich.Text = cut(w.full, size.Width, w.size, w.style)
	h := r.MinSize().Height
	w.rich.Move(fyne.NewPos(0, (size.Height-h)/2))
	w.rich.Resize(fyne.NewSize(size.Width, h))
}

func (r *wordsRenderer) Refresh() {
	r.Layout(r.w.Size())
	r.w.rich.Refresh()
}

// cut shortens a text with an ellipsis to a width.
func cut(s string, width, size float32, style fyne.TextStyle) string {
	if s == "" || fyne.MeasureText(s, size, style).Width <= width+0.5 {
		return s
	}
	runes := []rune(s)
	low, high := 0, len(runes)
	for low < high {
		mid := (low + high + 1) / 2
		if fyne.MeasureText(string(runes[:mid])+"…", size, style).Width <= width {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return string(runes[:low]) + "…"
}

// wide gives a words its natural width.
func wide(w *words) fyne.CanvasObject {
	return sized(w, fyne.MeasureText(w.full, w.size, w.style).Width+1, 0)
}

// paragraph is a text that wraps.
func paragraph(s string) *widget.Label {
	l := widget.NewLabel(s)
	l.Wrapping = fyne.TextWrapWord
	return l
}

// sizedLayout gives its only object at least a size; 0 keeps the object's own.
type sizedLayout struct{ w, h float32 }

func (l sizedLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[0].MinSize()
	if l.w > 0 {
		m.Width = l.w
	}
	if l.h > 0 {
		m.Height = l.h
	}
	return m
}

func (l sizedLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(size)
}

func sized(o fyne.CanvasObject, w, h float32) *fyne.Container {
	return container.New(sizedLayout{w, h}, o)
}

// inset puts room around an object.
func inset(o fyne.CanvasObject, top, right, bottom, left float32) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o)
}

// panel puts a ground of a colour of the theme behind an object.
func panel(o fyne.CanvasObject, name fyne.ThemeColorName) *fyne.Container {
	return container.NewStack(newGround(name), o)
}

// ground is a rectangle in a colour of the theme.
type ground struct {
	widget.BaseWidget
	name fyne.ThemeColorName
	rect *canvas.Rectangle
}

func newGround(name fyne.ThemeColorName) *ground {
	g := &ground{name: name, rect: canvas.NewRectangle(color.Transparent)}
	g.ExtendBaseWidget(g)
	return g
}

// CreateRenderer implements fyne.Widget.
func (g *ground) CreateRenderer() fyne.WidgetRenderer {
	g.rect.FillColor = theme.Color(g.name)
	return &groundRenderer{g}
}

type groundRenderer struct{ g *ground }

func (r *groundRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.g.rect} }
func (r *groundRenderer) Destroy()                     {}
func (r *groundRenderer) MinSize() fyne.Size           { return fyne.NewSize(1, 1) }
func (r *groundRenderer) Layout(size fyne.Size)        { r.g.rect.Resize(size) }
func (r *groundRenderer) Refresh() {
	r.g.rect.FillColor = theme.Color(r.g.name)
	r.g.rect.Refresh()
}
