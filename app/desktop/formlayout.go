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

// sideBySide sets three objects side by side: the first so wide, the second, a line,
// as narrow as it is, the third takes the rest. In a narrow room the first and the
// third share it.
type sideBySide struct{ first float32 }

// MinSize implements fyne.Layout.
func (s *sideBySide) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(560, 120) }

// Layout implements fyne.Layout.
func (s *sideBySide) Layout(o []fyne.CanvasObject, size fyne.Size) {
	first := min(s.first, size.Width*0.48)
	line := o[1].MinSize().Width
	for i, span := range [][2]float32{{0, first}, {first, line}, {first + line, size.Width - first - line}} {
		o[i].Move(fyne.NewPos(span[0], 0))
		o[i].Resize(fyne.NewSize(span[1], size.Height))
	}
}

// shares sets objects side by side in a row: those with a share of 0 as wide as they
// are high, the others by their shares of the rest.
type shares struct {
	of     []float32
	height float32
}

// MinSize implements fyne.Layout.
func (s *shares) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, s.height) }

// Layout implements fyne.Layout.
func (s *shares) Layout(o []fyne.CanvasObject, size fyne.Size) {
	rest, sum := size.Width, float32(0)
	for _, x := range s.of {
		if x == 0 {
			rest -= size.Height
		}
		sum += x
	}
	at := float32(0)
	for i, obj := range o {
		w := size.Height
		if s.of[i] > 0 {
			w = rest * s.of[i] / sum
		}
		h := min(size.Height, obj.MinSize().Height)
		obj.Move(fyne.NewPos(at, (size.Height-h)/2))
		obj.Resize(fyne.NewSize(max(0, w-4), h))
		at += w
	}
}
