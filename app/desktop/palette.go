//go:build !headless

package desktop

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// paletteView lists what can be placed, with a search.
type paletteView struct {
	d      *Desktop
	items  *presenter.Palette
	search *field
	rows   []paletteRow
	closed map[string]bool // categories
	list   *widget.List
	head   fyne.CanvasObject
	all    fyne.CanvasObject
}

type paletteRow struct {
	category string // head row
	count    int    // of its items
	item     presenter.PaletteItem
}

func newPaletteView(d *Desktop) *paletteView {
	p := &paletteView{d: d, closed: map[string]bool{}}
	p.search = d.field("", "Search transforms", func(string) { p.fill() })
	p.list = widget.NewList(func() int { return len(p.rows) }, func() fyne.CanvasObject { return newPaletteItem(d, p) },
		func(id widget.ListItemID, o fyne.CanvasObject) { o.(*paletteItem).set(p.rows[id]) })
	p.list.HideSeparators = true
	p.show(true)
	p.head = d.head(d.bold("Palette", textSize))
	p.all = container.NewBorder(container.NewVBox(p.head, inset(p.search, 6, 8, 4, 8)), nil, nil, nil, p.list)
	return p
}

// show lists what can be placed in a pipeline, or in a workflow.
func (p *paletteView) show(pipeline bool) {
	items := p.d.catalog.Palette(pipeline)
	if items == p.items {
		return
	}
	p.items, p.closed = items, map[string]bool{}
	for i, c := range items.Categories() {
		p.closed[c] = i > 1
	}
	p.search.SetPlaceHolder(map[bool]string{true: "Search transforms", false: "Search actions"}[pipeline])
	p.fill()
}

func (p *paletteView) fill() {
	p.rows = nil
	text := p.search.Text
	for _, c := range p.items.Categories() {
		items := p.items.Search(text, c)
		if len(items) == 0 {
			continue
		}
		p.rows = append(p.rows, paletteRow{category: c, count: len(items)})
		if text == "" && p.closed[c] {
			continue
		}
		for _, it := range items {
			p.rows = append(p.rows, paletteRow{item: it})
		}
	}
	p.list.Refresh()
}

// paletteItem is a row of the palette: dragged to the canvas, or double clicked.
type paletteItem struct {
	flat
	p   *paletteView
	row paletteRow
	at  fyne.Position
	out bool
}

var (
	_ fyne.Draggable      = (*paletteItem)(nil)
	_ fyne.DoubleTappable = (*paletteItem)(nil)
	_ desktop.Hoverable   = (*paletteItem)(nil)
)

func newPaletteItem(d *Desktop, p *paletteView) *paletteItem {
	it := &paletteItem{p: p}
	it.init(d, "more", "", "")
	it.left = true
	it.ExtendBaseWidget(it)
	return it
}

// CreateRenderer implements fyne.Widget.
func (it *paletteItem) CreateRenderer() fyne.WidgetRenderer { return it.flat.CreateRenderer() }

func (it *paletteItem) set(r paletteRow) {
	it.row = r
	if r.category != "" {
		it.icon, it.caption, it.tip, it.bold, it.inkOf = "chevron-down", r.category, "", true, inkText
		it.indent, it.trail = 0, strconv.Itoa(r.count)
		if it.p.closed[r.category] && it.p.search.Text == "" {
			it.icon = "chevron-right"
		}
	} else {
		it.icon, it.caption, it.bold, it.inkOf = r.item.Icon, r.item.Name, false, inkText
		it.indent, it.trail = 16, ""
		it.tip = r.item.Summary + " Drag it to the canvas."
	}
	it.Refresh()
}

// Tapped implements fyne.Tappable: a category opens and closes.
func (it *paletteItem) Tapped(*fyne.PointEvent) {
	it.d.tips.hide()
	if it.row.category != "" {
		it.p.closed[it.row.category] = !it.p.closed[it.row.category]
		it.p.fill()
	}
}

// TypedKey implements fyne.Focusable: Space and Enter open a category, or place the
// item.
func (it *paletteItem) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		it.Tapped(nil)
		it.DoubleTapped(nil)
	default:
		it.flat.TypedKey(e)
	}
}

// DoubleTapped implements fyne.DoubleTappable.
func (it *paletteItem) DoubleTapped(*fyne.PointEvent) {
	if e := it.d.current; e != nil && it.row.category == "" {
		e.placeAtCentre(it.row.item.ID)
	}
}

// Dragged implements fyne.Draggable.
func (it *paletteItem) Dragged(e *fyne.DragEvent) {
	ed := it.d.current
	if it.row.category != "" || ed == nil || ed.file.ReadOnly() {
		return
	}
	it.d.tips.hide()
	it.at = e.AbsolutePosition.Subtract(it.d.app.Driver().AbsolutePositionForObject(ed.graph))
	size := ed.graph.Size()
	it.out = it.at.X < 0 || it.at.Y < 0 || it.at.X > size.Width || it.at.Y > size.Height
	if it.out {
		ed.graph.PaletteLeave()
		return
	}
	ed.graph.PaletteOver(it.row.item.ID, it.at)
}

// DragEnd implements fyne.Draggable.
func (it *paletteItem) DragEnd() {
	ed := it.d.current
	if it.row.category != "" || ed == nil || ed.file.ReadOnly() {
		return
	}
	if it.out {
		ed.graph.PaletteLeave()
		return
	}
	ed.graph.PaletteDrop(it.row.item.ID, it.at)
}
