//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/scene"
)

// contextDialog is the searchable list of what can be placed at a point.
type contextDialog struct {
	e        *editor
	pop      *widget.PopUp
	category string
	palette  *presenter.Palette
	items    []presenter.PaletteItem
	now      int
	list     *widget.List
	search   *field
	cats     []*flat
	where    presenter.Placed
}

const (
	contextW = 600
	contextH = 444
)

// contextDialog opens at a click; from is the node that feeds the new one.
func (e *editor) contextDialog(at, doc scene.Point, from scene.ID) {
	if e.file.ReadOnly() {
		return
	}
	c := &contextDialog{e: e, palette: e.file.Palette(), where: presenter.Placed{At: doc, From: from}}
	d := e.d
	example := "Search transforms: sort, csv, lookup…"
	if !e.file.IsPipeline() {
		example = "Search actions: pipeline, mail, delete…"
	}
	c.search = d.field("", example, func(string) { c.fill() })
	c.search.onKey = c.key
	c.search.onEnterWithCtrl = func() { c.accept(true) }
	c.list = widget.NewList(func() int { return len(c.items) }, c.row, c.update)
	c.list.OnSelected = func(id widget.ListItemID) {
		c.list.UnselectAll()
		c.now = id
		c.accept(false)
	}
	col := container.New(layout.NewCustomPaddedVBoxLayout(1))
	for _, name := range append([]string{""}, c.palette.Categories()...) {
		label, icon := name, presenter.CategoryIcon(name)
		if name == "" {
			label, icon = "All", "more"
		}
		b := d.flat(icon, label, "", func() { c.category = name; c.fill() })
		b.left, b.size.Height, b.selected = true, 27, name == ""
		c.cats = append(c.cats, b)
		col.Add(b)
	}
	hint := d.caption("Enter places    Ctrl+Enter places and connects    ↑ ↓ choose    Esc closes")
	left := container.NewHBox(sized(panel(inset(col, 4, 4, 4, 4), theme.ColorNameHeaderBackground), 176, 0), widget.NewSeparator())
	body := container.NewBorder(container.NewVBox(inset(c.search, 8, 8, 8, 8), widget.NewSeparator()),
		container.NewVBox(widget.NewSeparator(), inset(hint, 8, 12, 8, 12)), left, nil, c.list)
	c.pop = widget.NewPopUp(container.NewThemeOverride(body, flatLook{d}), d.win.Canvas())
	area := d.win.Canvas().Size()
	w, h := min(contextW, area.Width-16), min(contextH, area.Height-16)
	c.pop.Resize(fyne.NewSize(w, h))
	origin := d.app.Driver().AbsolutePositionForObject(e.graph).Add(fyne.NewPos(float32(at.X), float32(at.Y)))
	origin.X = max(8, min(origin.X, area.Width-w-8))
	origin.Y = max(8, min(origin.Y, area.Height-h-8))
	c.fill()
	d.tips.hide()
	c.pop.ShowAtPosition(origin)
	d.focus(c.search)
	d.event("context dialog")
}

func (c *contextDialog) fill() {
	c.items = c.palette.Search(c.search.Text, c.category)
	c.now = 0
	for i, b := range c.cats {
		name := ""
		if i > 0 {
			name = c.palette.Categories()[i-1]
		}
		b.SetSelected(name == c.category)
	}
	c.list.Refresh()
	c.list.ScrollToTop()
}

func (c *contextDialog) row() fyne.CanvasObject {
	pic := canvas.NewImageFromResource(c.e.d.icon("more", inkPrimary))
	pic.FillMode = canvas.ImageFillContain
	text := container.New(layout.NewCustomPaddedVBoxLayout(0), c.e.d.bold("", textSize), c.e.d.caption(""))
	mark := newGround(theme.ColorNameSelection)
	return container.NewStack(mark, inset(container.NewBorder(nil, nil, container.NewCenter(sized(pic, 24, 24)), nil, inset(text, 0, 0, 0, 8)), 3, 8, 3, 8))
}

func (c *contextDialog) update(id widget.ListItemID, o fyne.CanvasObject) {
	it := c.items[id]
	stack := o.(*fyne.Container)
	if id == c.now {
		stack.Objects[0].Show()
	} else {
		stack.Objects[0].Hide()
	}
	row := stack.Objects[1].(*fyne.Container).Objects[0].(*fyne.Container)
	text := row.Objects[0].(*fyne.Container).Objects[0].(*fyne.Container)
	text.Objects[0].(*words).Set(it.Name, nil)
	text.Objects[1].(*words).Set(it.Summary, nil)
	pic := row.Objects[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*canvas.Image)
	pic.Resource = c.e.d.icon(it.Icon, inkPrimary)
	pic.Refresh()
}

// key moves in the results while the search has the keyboard.
func (c *contextDialog) key(k fyne.KeyName) bool {
	switch k {
	case fyne.KeyDown:
		c.step(1)
	case fyne.KeyUp:
		c.step(-1)
	case fyne.KeyPageDown:
		c.step(6)
	case fyne.KeyPageUp:
		c.step(-6)
	case fyne.KeyReturn, fyne.KeyEnter:
		c.accept(false)
	case fyne.KeyEscape:
		c.close()
	default:
		return false
	}
	return true
}

func (c *contextDialog) step(by int) {
	if len(c.items) > 0 {
		c.now = max(0, min(len(c.items)-1, c.now+by))
		c.list.Refresh()
		c.list.ScrollTo(c.now)
	}
}

func (c *contextDialog) close() {
	c.pop.Hide()
	c.e.d.focusCanvas()
}

// accept places the chosen item.
func (c *contextDialog) accept(connect bool) {
	if c.now >= len(c.items) {
		return
	}
	c.close()
	c.where.Type = c.items[c.now].ID
	if nodes := c.e.selected(scene.KindNode); connect && len(nodes) == 1 {
		c.where.From = nodes[0]
	}
	c.e.place(c.where)
}
