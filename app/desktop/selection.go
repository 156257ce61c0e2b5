//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// selection is the ground of a row that may be the selected one.
type selection struct {
	widget.BaseWidget
	d    *Desktop
	on   bool
	rect *canvas.Rectangle
}

func newSelection(d *Desktop) *selection {
	s := &selection{d: d, rect: canvas.NewRectangle(color.Transparent)}
	s.ExtendBaseWidget(s)
	return s
}

func (s *selection) set(on bool) {
	if s.on != on {
		s.on = on
		s.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (s *selection) CreateRenderer() fyne.WidgetRenderer {
	r := &selectionRenderer{s}
	r.Refresh()
	return r
}

type selectionRenderer struct{ s *selection }

func (r *selectionRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.s.rect} }
func (r *selectionRenderer) Destroy()                     {}
func (r *selectionRenderer) MinSize() fyne.Size           { return fyne.NewSize(1, 1) }
func (r *selectionRenderer) Layout(size fyne.Size)        { r.s.rect.Resize(size) }
func (r *selectionRenderer) Refresh() {
	r.s.rect.FillColor = color.Transparent
	if r.s.on {
		r.s.rect.FillColor = r.s.d.theme().Selection
	}
	r.s.rect.Refresh()
}
