//go:build !headless

package desktop

import (
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// side holds the project tree and the palette.
type side struct {
	d       *Desktop
	home    string
	tree    *widget.Tree
	folders map[string][]presenter.Entry // what is known of a folder; nil: being read
	kinds   map[string]bool              // paths that are folders
	title   *words
	palette *paletteView
	all     fyne.CanvasObject
}

func newSide(d *Desktop) *side {
	s := &side{d: d, folders: map[string][]presenter.Entry{}, kinds: map[string]bool{}, title: d.bold("Project", textSize)}
	s.tree = widget.NewTree(s.children, s.isBranch, s.row, s.update)
	s.tree.OnBranchOpened = func(id widget.TreeNodeID) { s.read(id) }
	s.tree.OnSelected = func(id widget.TreeNodeID) {
		s.tree.UnselectAll()
		if presenter.IsHopFile(id) {
			d.open(id)
		}
	}
	refresh := d.flat("refresh", "", "Read the folder again", func() { s.reload() })
	refresh.size = fyne.NewSize(28, 28)
	head := container.NewBorder(nil, nil, nil, refresh, inset(s.title, 0, 4, 0, 12))
	s.palette = newPaletteView(d)
	split := container.NewVSplit(container.NewBorder(head, nil, nil, nil, s.tree), s.palette.all)
	split.SetOffset(0.42)
	s.all = split
	return s
}

func (s *side) object() fyne.CanvasObject { return s.all }

// setHome shows another project folder.
func (s *side) setHome(home string) {
	if home == s.home {
		return
	}
	s.home = home
	s.folders, s.kinds = map[string][]presenter.Entry{}, map[string]bool{}
	s.title.Set(filepath.Base(home), nil)
	s.reload()
}

func (s *side) reload() {
	if s.home == "" {
		return
	}
	open := []string{s.home}
	for id := range s.folders {
		if id != s.home && s.tree.IsBranchOpen(id) {
			open = append(open, id)
		}
	}
	s.folders = map[string][]presenter.Entry{}
	for _, id := range open {
		s.read(id)
	}
}

func shownFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".hpl", ".hwf", ".json", ".csv", ".sql", ".txt", ".xml", ".md":
		return true
	}
	return false
}

// read lists a folder in the background.
func (s *side) read(folder string) {
	if folder == "" {
		return
	}
	background(s.d, func() ([]presenter.Entry, error) { return presenter.List(folder, shownFile) },
		func(list []presenter.Entry, err error) {
			if err != nil {
				s.d.frame.note("Cannot read " + folder + ": " + err.Error())
				return
			}
			s.folders[folder] = list
			for _, e := range list {
				s.kinds[e.Path] = e.Folder
			}
			s.tree.Refresh()
		})
}

func (s *side) children(id widget.TreeNodeID) []widget.TreeNodeID {
	if id == "" {
		id = s.home
	}
	var out []widget.TreeNodeID
	for _, e := range s.folders[id] {
		out = append(out, e.Path)
	}
	return out
}

func (s *side) isBranch(id widget.TreeNodeID) bool { return id == "" || s.kinds[id] }

func (s *side) row(bool) fyne.CanvasObject {
	pic := canvas.NewImageFromResource(s.d.icon("folder", inkSoft))
	pic.FillMode = canvas.ImageFillContain
	return container.NewBorder(nil, nil, sized(pic, 16, 22), nil, s.d.text(""))
}

func (s *side) update(id widget.TreeNodeID, branch bool, o fyne.CanvasObject) {
	c := o.(*fyne.Container)
	name, c0 := "info", inkSoft
	switch strings.ToLower(filepath.Ext(id)) {
	case ".hpl":
		name, c0 = "pipeline", inkPrimary
	case ".hwf":
		name, c0 = "workflow", inkPrimary
	case ".json":
		name = "metadata"
	case ".csv", ".txt", ".xml", ".md":
		name = "t-file"
	case ".sql":
		name = "cat-database"
	}
	if branch {
		name, c0 = "folder", inkSoft
	}
	w := c.Objects[0].(*words)
	pic := c.Objects[1].(*fyne.Container).Objects[0].(*canvas.Image)
	pic.Resource = s.d.icon(name, c0)
	pic.Refresh()
	var i ink = inkText
	if !branch && !presenter.IsHopFile(id) {
		i = inkSoft
	}
	w.Set(filepath.Base(id), i)
	w.Refresh()
}

// paletteView lists what can be placed, with a search.
type paletteView struct {
	d      *Desktop
	search *field
	rows   []paletteRow
	closed map[string]bool // categories
	list   *widget.List
	all    fyne.CanvasObject
}

type paletteRow struct {
	category string // head row
	item     presenter.PaletteItem
}

func newPaletteView(d *Desktop) *paletteView {
	p := &paletteView{d: d, closed: map[string]bool{}}
	for i, c := range d.palette.Categories() {
		p.closed[string(c)] = i > 1
	}
	p.search = d.field("", "Search transforms", func(string) { p.fill() })
	p.list = widget.NewList(func() int { return len(p.rows) }, func() fyne.CanvasObject { return newPaletteItem(d, p) },
		func(id widget.ListItemID, o fyne.CanvasObject) { o.(*paletteItem).set(p.rows[id]) })
	p.list.HideSeparators = true
	p.fill()
	p.all = container.NewBorder(inset(p.search, 6, 8, 4, 8), nil, nil, nil, p.list)
	return p
}

func (p *paletteView) fill() {
	p.rows = nil
	text := p.search.Text
	for _, c := range p.d.palette.Categories() {
		items := p.d.palette.Search(text, c)
		if len(items) == 0 {
			continue
		}
		p.rows = append(p.rows, paletteRow{category: string(c)})
		if text == "" && p.closed[string(c)] {
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
		it.icon, it.caption, it.tip, it.bold, it.inkOf = "chevron-down", r.category, "", true, inkSoft
		if it.p.closed[r.category] && it.p.search.Text == "" {
			it.icon = "chevron-right"
		}
	} else {
		it.icon, it.caption, it.bold, it.inkOf = r.item.Icon, r.item.Name, false, inkText
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

// DoubleTapped implements fyne.DoubleTappable.
func (it *paletteItem) DoubleTapped(*fyne.PointEvent) {
	if e := it.d.current; e != nil && it.row.category == "" {
		e.placeAtCentre(it.row.item.ID)
	}
}

// Dragged implements fyne.Draggable.
func (it *paletteItem) Dragged(e *fyne.DragEvent) {
	ed := it.d.current
	if it.row.category != "" || ed == nil || !ed.file.IsPipeline() {
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
	if it.row.category != "" || ed == nil || !ed.file.IsPipeline() {
		return
	}
	if it.out {
		ed.graph.PaletteLeave()
		return
	}
	ed.graph.PaletteDrop(it.row.item.ID, it.at)
}
