//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"sluice/canvas/scene"
)

// chip is an icon and a word on the soft ground of a state.
type chip struct {
	widget.BaseWidget
	d      *Desktop
	state  scene.State
	word   string
	ground *canvas.Rectangle
	pic    *canvas.Image
	label  *canvas.Text
}

func newChip(d *Desktop) *chip {
	c := &chip{d: d, ground: canvas.NewRectangle(color.Transparent), pic: canvas.NewImageFromResource(nil), label: canvas.NewText("", color.Black)}
	c.ground.CornerRadius = 4
	c.pic.FillMode = canvas.ImageFillContain
	c.label.TextSize = 12
	c.ExtendBaseWidget(c)
	c.Hide()
	return c
}

func (c *chip) set(s scene.State, word string) {
	if c.state == s && c.word == word {
		return
	}
	c.state, c.word = s, word
	if s == scene.StateNone {
		c.Hide()
		return
	}
	c.Show()
	c.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (c *chip) CreateRenderer() fyne.WidgetRenderer { return &chipRenderer{c} }

type chipRenderer struct{ c *chip }

func (r *chipRenderer) Destroy() {}
func (r *chipRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.c.ground, r.c.pic, r.c.label}
}

func (r *chipRenderer) MinSize() fyne.Size {
	return fyne.NewSize(fyne.MeasureText(r.c.word, 12, fyne.TextStyle{}).Width+34, 20)
}

func (r *chipRenderer) Layout(size fyne.Size) {
	r.c.ground.Resize(size)
	r.c.pic.Move(fyne.NewPos(6, (size.Height-14)/2))
	r.c.pic.Resize(fyne.NewSize(14, 14))
	h := fyne.MeasureText("Ag", 12, fyne.TextStyle{}).Height
	r.c.label.Move(fyne.NewPos(24, (size.Height-h)/2))
}

func (r *chipRenderer) Refresh() {
	c, tone := r.c, r.c.state.Tone()
	pair := c.d.theme().Tone(tone)
	c.ground.FillColor, c.label.Color, c.label.Text = pair.Soft, pair.Ink, c.word
	if icon := c.state.Icon(); icon != "" {
		c.pic.Resource = c.d.icon(icon, inkTone(tone))
	}
	r.Layout(c.Size())
	c.ground.Refresh()
	c.pic.Refresh()
	c.label.Refresh()
}
