//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// wheel lies over a control and hands the wheel of the mouse on to what scrolls
// around it: an entry of one line swallows it, though it has nowhere to go. All else
// that a mouse does passes it by.
type wheel struct {
	widget.BaseWidget
	around func() *container.Scroll // nil while there is none
}

// withWheel puts a wheel over a control, but for a text of several lines, which
// scrolls itself.
func withWheel(control fyne.CanvasObject, around func() *container.Scroll) fyne.CanvasObject {
	if e, ok := control.(*widget.Entry); ok && e.MultiLine {
		return control
	}
	w := &wheel{around: around}
	w.ExtendBaseWidget(w)
	return container.NewStack(control, w)
}

// CreateRenderer implements fyne.Widget: nothing is seen of it.
func (w *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(&fyne.Container{})
}

// Scrolled implements fyne.Scrollable.
func (w *wheel) Scrolled(e *fyne.ScrollEvent) {
	if s := w.around(); s != nil {
		s.Scrolled(e)
	}
}
