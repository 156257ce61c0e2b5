//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
)

// cutRow sets a fixed object and words in a row; the words are cut where there is no
// room.
type cutRow struct{ gap float32 }

func newCutRow(fixed fyne.CanvasObject, rest *words) *fyne.Container {
	return container.New(&cutRow{8}, fixed, rest)
}

// MinSize implements fyne.Layout.
func (c *cutRow) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(a.Width+c.gap+b.Width, max(a.Height, b.Height))
}

// Layout implements fyne.Layout.
func (c *cutRow) Layout(o []fyne.CanvasObject, size fyne.Size) {
	first := o[0].MinSize().Width
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(fyne.NewSize(first, size.Height))
	o[1].Move(fyne.NewPos(first+c.gap, 0))
	o[1].Resize(fyne.NewSize(max(0, size.Width-first-c.gap), size.Height))
}

// natural is the width at which no word of the row is cut.
func (c *cutRow) natural(o []fyne.CanvasObject) float32 {
	w := o[1].(*words)
	return o[0].MinSize().Width + c.gap + fyne.MeasureText(w.full, w.size, w.style).Width + 1
}

// oneLine sets cut rows side by side, each as wide as it is; when they do not all
// fit, the last ones give way.
type oneLine struct{ gap float32 }

// MinSize implements fyne.Layout.
func (l *oneLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	h := float32(0)
	for _, obj := range o {
		h = max(h, obj.MinSize().Height)
	}
	return fyne.NewSize(100, h)
}

// Layout implements fyne.Layout.
func (l *oneLine) Layout(o []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for i, obj := range o {
		c := obj.(*fyne.Container)
		rest := float32(0) // what those behind need at least
		for _, next := range o[i+1:] {
			rest += l.gap + next.MinSize().Width
		}
		w := min(c.Layout.(*cutRow).natural(c.Objects), max(c.MinSize().Width, size.Width-x-rest))
		obj.Move(fyne.NewPos(x, 0))
		obj.Resize(fyne.NewSize(w, size.Height))
		x += w + l.gap
	}
}

// figure is one part of an estimate: icon, word, and how much.
func (d *Desktop) figure(p presenter.EstimatePart) fyne.CanvasObject {
	word := d.words(p.Word, 12, inkTone(p.Tone))
	word.style.Bold = true
	return newCutRow(container.NewHBox(container.NewCenter(d.tinted(p.Icon, p.Tone, 16)), container.NewCenter(wide(word))), d.words(p.Text, 12, inkSoft))
}
