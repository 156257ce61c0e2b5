//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// picker asks for one of several named things, by keyboard or mouse: what is typed
// narrows the list, arrows choose, Enter takes.
type picker struct {
	d     *Desktop
	names []string
	found []int // of names
	now   int   // of found
	list  *widget.List
	dl    *dialog
	do    func(int)
}

// pick opens the question; do gets the place of the chosen name.
func (d *Desktop) pick(title, hint string, names []string, do func(int)) {
	p := &picker{d: d, names: names, do: do}
	p.list = widget.NewList(func() int { return len(p.found) }, func() fyne.CanvasObject {
		return container.NewStack(newGround(theme.ColorNameSelection), inset(sized(d.text(""), 0, 20), 2, 8, 2, 8))
	}, p.update)
	p.list.HideSeparators = true
	p.list.OnSelected = func(id widget.ListItemID) { p.now = id; p.accept() }
	search := d.field("", "Type to narrow the list", p.narrow)
	search.onKey = p.key
	p.narrow("")
	body := container.NewBorder(inset(search, 0, 0, 8, 0), nil, nil, nil, d.outlined(p.list))
	p.dl = d.dialog(title, hint, body, fyne.NewSize(480, 420), d.caption("↑ ↓ choose    Enter takes"), button("Cancel", false, func() { p.dl.close() }))
	p.dl.onEnter = p.accept
	d.focus(search)
}

func (p *picker) narrow(text string) {
	p.found, p.now = presenter.Matching(p.names, text), 0
	p.list.Refresh()
	p.list.ScrollToTop()
}

func (p *picker) update(id widget.ListItemID, o fyne.CanvasObject) {
	stack := o.(*fyne.Container)
	setVisible(stack.Objects[0], id == p.now)
	stack.Objects[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*words).Set(p.names[p.found[id]], nil)
}

func (p *picker) key(k fyne.KeyName) bool {
	switch k {
	case fyne.KeyDown:
		p.step(1)
	case fyne.KeyUp:
		p.step(-1)
	case fyne.KeyReturn, fyne.KeyEnter:
		p.accept()
	default:
		return false
	}
	return true
}

func (p *picker) step(by int) {
	if len(p.found) > 0 {
		p.now = max(0, min(len(p.found)-1, p.now+by))
		p.list.Refresh()
		p.list.ScrollTo(p.now)
	}
}

func (p *picker) accept() {
	if p.now >= len(p.found) {
		return
	}
	chosen := p.found[p.now]
	p.dl.close()
	p.do(chosen)
}
