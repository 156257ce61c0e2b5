//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"sluice/canvas/scene"
)

// gridCell is one value of a grid: words, with an icon before them, as a chip of a
// state, or a bar.
type gridCell struct {
	text string
	ink  ink // nil: text
	bold bool
	icon string
	tint ink // of the icon; nil: soft
	// state shows the words as a chip.
	state scene.State
	// bar is a filled share from 0 to 1, shown where full is true.
	bar  float32
	full bool
	// soft, when not neutral, is the tone of the ground.
	soft scene.Tone
}

// cellView shows one cell. Its parts are made when a cell first needs them, since a
// grid has hundreds of cells and most are plain words.
type cellView struct {
	widget.BaseWidget
	d     *Desktop
	cell  gridCell
	right bool
	words *words
	pic   *canvas.Image
	chip  *chip
	bars  [2]*canvas.Rectangle // the whole and the filled part
	back  *canvas.Rectangle    // nil while no cell had a ground
}

const cellInset = 8

func newCellView(d *Desktop) *cellView {
	v := &cellView{d: d, words: d.text("")}
	v.ExtendBaseWidget(v)
	return v
}

func (v *cellView) set(c gridCell, right bool) {
	if c.ink == nil {
		c.ink = inkText
	}
	v.cell, v.right = c, right
	if c.icon != "" && v.pic == nil {
		v.pic = canvas.NewImageFromResource(nil)
		v.pic.FillMode = canvas.ImageFillContain
	}
	if c.state != scene.StateNone && v.chip == nil {
		v.chip = newChip(v.d)
	}
	if c.full && v.bars[0] == nil {
		for i := range v.bars {
			v.bars[i] = canvas.NewRectangle(color.Transparent)
			v.bars[i].CornerRadius = 2
		}
	}
	if c.soft != toneNeutral && v.back == nil {
		v.back = canvas.NewRectangle(color.Transparent)
	}
	v.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (v *cellView) CreateRenderer() fyne.WidgetRenderer { return &cellRenderer{v} }

type cellRenderer struct{ v *cellView }

func (r *cellRenderer) Destroy()           {}
func (r *cellRenderer) MinSize() fyne.Size { return fyne.NewSize(8, gridRow) }

func (r *cellRenderer) Objects() []fyne.CanvasObject {
	if r.v.cell.soft != toneNeutral {
		return append([]fyne.CanvasObject{r.v.back}, r.content()...)
	}
	return r.content()
}

func (r *cellRenderer) content() []fyne.CanvasObject {
	v := r.v
	switch {
	case v.cell.state != scene.StateNone:
		return []fyne.CanvasObject{v.chip}
	case v.cell.full:
		return []fyne.CanvasObject{v.bars[0], v.bars[1]}
	case v.cell.icon != "":
		return []fyne.CanvasObject{v.pic, v.words}
	}
	return []fyne.CanvasObject{v.words}
}

func (r *cellRenderer) Layout(size fyne.Size) {
	v, left := r.v, float32(cellInset)
	room := size.Width - 2*cellInset
	if v.back != nil {
		v.back.Resize(size)
	}
	switch {
	case v.cell.state != scene.StateNone:
		v.chip.Move(fyne.NewPos(left-2, (size.Height-20)/2))
		v.chip.Resize(fyne.NewSize(min(v.chip.MinSize().Width, room+4), 20))
		return
	case v.cell.full:
		const height = 8
		at := fyne.NewPos(left, (size.Height-height)/2)
		for i, share := range []float32{1, max(0, min(1, v.cell.bar))} {
			v.bars[i].Move(at)
			v.bars[i].Resize(fyne.NewSize(max(0, room*share), height))
		}
		return
	case v.cell.icon != "":
		v.pic.Move(fyne.NewPos(left, (size.Height-16)/2))
		v.pic.Resize(fyne.NewSize(16, 16))
		left, room = left+22, room-22
	}
	v.words.Move(fyne.NewPos(left, 0))
	v.words.Resize(fyne.NewSize(max(0, room), size.Height))
}

func (r *cellRenderer) Refresh() {
	v, c := r.v, &r.v.cell
	t := v.d.theme()
	if c.soft != toneNeutral {
		v.back.FillColor = t.Tone(c.soft).Soft
		v.back.Refresh()
	}
	switch {
	case c.state != scene.StateNone:
		v.chip.set(c.state, c.text)
	case c.full:
		v.bars[0].FillColor, v.bars[1].FillColor = t.Button, t.Primary
		if c.bar > crowded {
			v.bars[1].FillColor = t.WarnFill
		}
		v.bars[0].Refresh()
		v.bars[1].Refresh()
	default:
		if c.icon != "" {
			tint := c.tint
			if tint == nil {
				tint = inkSoft
			}
			v.pic.Resource = v.d.icon(c.icon, tint)
			v.pic.Refresh()
		}
		v.words.align, v.words.style.Bold = alignment(v.right), c.bold
		v.words.Set(c.text, c.ink)
	}
	r.Layout(v.Size())
}

// crowded is the fill of a buffer from which the transform that reads it is slower
// than what feeds it.
const crowded = 0.8
