//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// gridColumn is a column of a grid.
type gridColumn struct {
	title string
	width float32
	right bool // numbers
	// grow is the share of the room that is left over which the column takes.
	grow float32
}

// grid is a table with a head. It hides widget.Table: a table whose head row is on
// before it has a size would keep an object for every row, so it says it has no rows
// until then.
type grid struct {
	d       *Desktop
	columns []gridColumn
	rows    func() int
	cell    func(row, column int) gridCell
	onRow   func(row int)
	onCell  func(row, column int) bool // before onRow; true: that was all
	table   *widget.Table
	all     *fyne.Container
	ready   bool
	fitted  float32 // the width that the columns were fitted to
}

const gridRow = 24

func newGrid(d *Desktop, columns []gridColumn, rows func() int, cell func(row, column int) gridCell) *grid {
	g := &grid{d: d, rows: rows, cell: cell}
	g.all = container.New(&gridLayout{g})
	g.setColumns(columns)
	return g
}

// setColumns shows other columns.
func (g *grid) setColumns(columns []gridColumn) {
	g.columns, g.ready = columns, false
	t := widget.NewTable(func() (int, int) {
		if !g.ready {
			return 0, len(g.columns)
		}
		return g.rows(), len(g.columns)
	}, func() fyne.CanvasObject { return newCellView(g.d) }, g.update)
	t.ShowHeaderRow = true
	t.CreateHeader = func() fyne.CanvasObject {
		w := g.d.words("", captionSize, inkSoft)
		w.style.Bold = true
		return panel(inset(sized(w, 0, gridRow-4), 0, 8, 0, 8), theme.ColorNameHeaderBackground)
	}
	t.UpdateHeader = func(id widget.TableCellID, o fyne.CanvasObject) {
		if id.Col < 0 || id.Col >= len(g.columns) {
			return
		}
		w := o.(*fyne.Container).Objects[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*words)
		w.align = alignment(g.columns[id.Col].right)
		w.Set(g.columns[id.Col].title, inkSoft)
	}
	for i, c := range columns {
		t.SetColumnWidth(i, c.width)
	}
	g.fitted = 0
	t.OnSelected = func(id widget.TableCellID) {
		t.UnselectAll()
		if g.onCell != nil && id.Row >= 0 && g.onCell(id.Row, id.Col) {
			return
		}
		if g.onRow != nil && id.Row >= 0 {
			g.onRow(id.Row)
		}
	}
	g.table = t
	g.all.Objects = []fyne.CanvasObject{t}
	g.all.Refresh()
}

func alignment(right bool) fyne.TextAlign {
	if right {
		return fyne.TextAlignTrailing
	}
	return fyne.TextAlignLeading
}

func (g *grid) update(id widget.TableCellID, o fyne.CanvasObject) {
	o.(*cellView).set(g.cell(id.Row, id.Col), g.columns[id.Col].right)
}

func (g *grid) refresh() { g.table.Refresh() }

// gridLayout lets the table show its rows once it has a size.
type gridLayout struct{ g *grid }

// MinSize implements fyne.Layout.
func (l *gridLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(80, 60) }

// Layout implements fyne.Layout.
func (l *gridLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	for _, obj := range o {
		obj.Resize(size)
	}
	l.g.fit(size.Width)
	if !l.g.ready && size.Width > 1 && size.Height > 2*gridRow {
		l.g.ready = true
		l.g.table.Refresh()
	}
}

// fit gives the columns that grow what is left of a width.
func (g *grid) fit(width float32) {
	if width == g.fitted {
		return
	}
	g.fitted = width
	rest, sum := width-scrollRoom, float32(0)
	for _, c := range g.columns {
		rest -= c.width + columnGap
		sum += c.grow
	}
	if sum == 0 {
		return
	}
	for i, c := range g.columns {
		if c.grow > 0 {
			g.table.SetColumnWidth(i, c.width+max(0, rest)*c.grow/sum)
		}
	}
}

// columnGap is what a table leaves between two columns.
const columnGap = 4

// scrollRoom keeps the last column clear of the scroll bar.
const scrollRoom = 12

// scrollTo brings a row into view.
func (g *grid) scrollTo(row int) { g.table.ScrollTo(widget.TableCellID{Row: row, Col: 0}) }
