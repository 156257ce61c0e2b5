//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// fill is a rectangle in a colour that the theme has no name for.
type fill struct {
	widget.BaseWidget
	d    *Desktop
	ink  ink // nil: none
	rect *canvas.Rectangle
}

func newFill(d *Desktop, c ink) *fill {
	f := &fill{d: d, ink: c, rect: canvas.NewRectangle(color.Transparent)}
	f.ExtendBaseWidget(f)
	return f
}

// inkOfGround is the soft ground of a tone.
func inkOfGround(tone scene.Tone) ink {
	return func(t *paint.Theme) color.RGBA { return t.Tone(tone).Soft }
}

// inkSelection is the ground of what is selected.
func inkSelection(t *paint.Theme) color.RGBA { return t.Selection }

// set changes the colour; nil shows none.
func (f *fill) set(c ink) {
	f.ink = c
	f.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (f *fill) CreateRenderer() fyne.WidgetRenderer {
	r := &fillRenderer{f}
	r.Refresh()
	return r
}

type fillRenderer struct{ f *fill }

func (r *fillRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.f.rect} }
func (r *fillRenderer) Destroy()                     {}
func (r *fillRenderer) MinSize() fyne.Size           { return fyne.NewSize(1, 1) }
func (r *fillRenderer) Layout(size fyne.Size)        { r.f.rect.Resize(size) }
func (r *fillRenderer) Refresh() {
	r.f.rect.FillColor = color.Transparent
	if r.f.ink != nil {
		r.f.rect.FillColor = r.f.ink(r.f.d.theme())
	}
	r.f.rect.Refresh()
}
