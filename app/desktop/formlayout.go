//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// pair sets two objects side by side, 16 apart; one alone takes the left half.
type pair struct{}

// MinSize implements fyne.Layout.
func (p *pair) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := fyne.NewSize(320, 0)
	for _, obj := range o {
		m.Height = max(m.Height, obj.MinSize().Height)
	}
	return m
}

// Layout implements fyne.Layout.
func (p *pair) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 16
	w := (size.Width - gap) / 2
	for i, obj := range o {
		obj.Move(fyne.NewPos(float32(i)*(w+gap), 0))
		obj.Resize(fyne.NewSize(w, obj.MinSize().Height))
	}
}

// half marks an object that takes half a line. label is the line above the control,
// empty for a check box, which needs it only beside a control that has one.
type half struct {
	*fyne.Container
	label fyne.CanvasObject
	check bool
}

// pairs sets neighbours of half a line side by side.
func pairs(list []fyne.CanvasObject) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	var open []*half
	closeLine := func() {
		if len(open) == 0 {
			return
		}
		line := container.New(&pair{})
		for _, h := range open {
			if open[0].check && open[len(open)-1].check {
				h.label.Hide()
			}
			line.Add(h.Container)
		}
		out, open = append(out, line), nil
	}
	for _, o := range list {
		h, ok := o.(*half)
		if !ok {
			closeLine()
			out = append(out, o)
			continue
		}
		open = append(open, h)
		if len(open) == 2 {
			closeLine()
		}
	}
	closeLine()
	return out
}
