//go:build !headless

package desktop

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"sluice/app/presenter"
	"sluice/storage/rclone"
)

// The wheel of the mouse over a field moves the form, as it does beside it.
func TestTheWheelMovesAFormOverItsFields(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	b, _ := rclone.FindBackend("s3")
	m.add(newRemoteTab(m, presenter.NewRemote("lake", b)))
	s.draw()
	var entry *field
	walk(m.now.scroll.Content, func(o fyne.CanvasObject) {
		if f, ok := o.(*field); ok {
			entry = f // the last one
		}
	})
	at := s.app.Driver().AbsolutePositionForObject(entry)
	m.now.scroll.ScrollToOffset(fyne.NewPos(0, at.Y-400))
	s.draw()
	before := m.now.scroll.Offset.Y
	at = s.app.Driver().AbsolutePositionForObject(entry)
	test.Scroll(s.win.Canvas(), at.AddXY(20, 10), 0, 50)
	if m.now.scroll.Offset.Y >= before {
		t.Errorf("the form stays at %g", before)
	}
	var w any = &wheel{}
	for _, takes := range []bool{is[fyne.Tappable](w), is[fyne.SecondaryTappable](w), is[fyne.Draggable](w), is[fyne.Focusable](w), is[desktop.Mouseable](w), is[desktop.Hoverable](w), is[desktop.Cursorable](w)} {
		if takes {
			t.Error("the wheel takes more than the wheel")
		}
	}
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}
