//go:build !headless

package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// listWidth and listSmall are the widths of the list of executions.
const (
	listWidth = 360
	listSmall = 280
	listRow   = 52
)

// executions is the perspective of what has run: a list at the left, one execution
// at the right.
type executions struct {
	d      *Desktop
	filter presenter.ExecutionFilter
	rows   []presenter.ExecutionRow
	next   string
	asked  int    // number of the latest question to the store
	wanted string // execution to show once its record is there

	list   *widget.List
	more   *flat
	count  *words
	empty  fyne.CanvasObject
	detail *executionDetail
	all    fyne.CanvasObject
}

func newExecutions(d *Desktop) *executions {
	x := &executions{d: d}
	x.count = d.caption("")
	refresh := d.tool("refresh", "Read the list again (F5)", func() { x.reload() })
	search := d.field("", "Name or execution id", func(s string) { x.filter.Text = s; x.reload() })
	states := widget.NewSelect(presenter.ExecutionStates(), func(s string) { x.filter.State = s; x.reload() })
	states.Selected = states.Options[0]
	children := widget.NewCheck("Children too", func(on bool) { x.filter.Always = on; x.reload() })
	head := panel(inset(container.NewBorder(nil, nil, wide(d.bold("Executions", 14)), refresh, inset(x.count, 0, 8, 0, 8)), 4, 8, 4, 12), theme.ColorNameHeaderBackground)
	filters := inset(container.NewVBox(search, container.NewGridWithColumns(2, bordered(states), children)), 8, 8, 8, 8)
	x.list = widget.NewList(func() int { return len(x.rows) }, x.newRow, x.showRow)
	x.list.OnSelected = func(id widget.ListItemID) {
		if id < len(x.rows) {
			x.detail.load(x.rows[id].ID)
		}
	}
	x.more = d.flat("", "Load older ones", "", func() { x.load(x.next) })
	x.more.Hide()
	x.empty = emptyNote(d, "executions", "Nothing has run yet", "Runs appear here as they begin.")
	body := container.NewStack(x.list, x.empty)
	left := panel(container.NewBorder(container.NewVBox(head, filters, widget.NewSeparator()), x.more, nil, nil, body), theme.ColorNameOverlayBackground)
	x.detail = newExecutionDetail(x)
	x.all = container.NewThemeOverride(container.New(&listLayout{d}, left, x.detail.all), flatLook{d})
	return x
}

// listLayout gives the list its width and the rest to the detail.
type listLayout struct{ d *Desktop }

// MinSize implements fyne.Layout.
func (l *listLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(640, 300) }

// Layout implements fyne.Layout.
func (l *listLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	width := float32(listWidth)
	if l.d.frame.small {
		width = listSmall
	}
	o[0].Resize(fyne.NewSize(width, size.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(size.Width-width-1, size.Height))
	o[1].Move(fyne.NewPos(width+1, 0))
}

func (x *executions) newRow() fyne.CanvasObject {
	d := x.d
	pic := canvas.NewImageFromResource(nil)
	pic.FillMode = canvas.ImageFillContain
	took, when := d.caption(""), d.caption("")
	took.align, when.align = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	top := container.NewBorder(nil, nil, nil, sized(took, 76, 0), d.bold("", textSize))
	state := d.words("", captionSize, inkSoft)
	state.style.Bold = true
	bottom := container.NewBorder(nil, nil, sized(state, 80, 0), sized(when, 150, 0), d.caption(""))
	return sized(inset(container.NewBorder(nil, nil, container.NewCenter(sized(pic, 18, 18)), nil, inset(container.NewVBox(top, bottom), 0, 0, 0, 10)), 6, 12, 6, 12), 0, listRow)
}

func (x *executions) showRow(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(x.rows) {
		return
	}
	r := x.rows[id]
	row := o.(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*fyne.Container)
	lines := row.Objects[0].(*fyne.Container).Objects[0].(*fyne.Container)
	pic := row.Objects[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*canvas.Image)
	tone := r.Look.Tone()
	if icon := r.Look.Icon(); icon != "" {
		pic.Resource = x.d.icon(icon, inkTone(tone))
		pic.Refresh()
	}
	top, bottom := lines.Objects[0].(*fyne.Container), lines.Objects[1].(*fyne.Container)
	top.Objects[0].(*words).Set(r.Name, nil)
	top.Objects[1].(*fyne.Container).Objects[0].(*words).Set(r.Took, nil)
	bottom.Objects[0].(*words).Set(r.Why, nil)
	bottom.Objects[1].(*fyne.Container).Objects[0].(*words).Set(r.Look.String(), inkTone(tone))
	bottom.Objects[2].(*fyne.Container).Objects[0].(*words).Set(r.When, nil)
}

// reload reads the list from its start.
func (x *executions) reload() { x.load("") }

func (x *executions) load(after string) {
	x.asked++
	asked, filter := x.asked, x.filter
	type page struct {
		rows []presenter.ExecutionRow
		next string
	}
	background(x.d, func() (page, error) {
		s, err := x.d.history.Store(context.Background())
		if err != nil {
			return page{}, err
		}
		rows, next, err := presenter.LoadExecutions(context.Background(), s, filter, after, x.d.now())
		return page{rows, next}, err
	}, func(p page, err error) {
		if asked != x.asked {
			return // an older question
		}
		if err != nil {
			x.d.fail("Read the executions", err)
			return
		}
		if after != "" {
			p.rows = append(x.rows, p.rows...)
		}
		x.show(p.rows, p.next)
	})
}

func (x *executions) show(rows []presenter.ExecutionRow, next string) {
	x.rows, x.next = rows, next
	more := ""
	if next != "" {
		more = "+"
		x.more.Show()
	} else {
		x.more.Hide()
	}
	x.count.Set(fmt.Sprintf("%s%s", presenter.Grouped(int64(len(rows))), more), nil)
	if len(rows) == 0 {
		x.empty.Show()
	} else {
		x.empty.Hide()
	}
	x.list.UnselectAll()
	x.list.Refresh()
	x.d.event("executions %d", len(rows))
	for i, r := range rows {
		if r.ID == x.wanted {
			x.wanted = ""
			x.list.Select(i)
			return
		}
	}
	if len(rows) > 0 && x.detail.shown == nil {
		x.list.Select(0)
	}
}

// choose shows one execution, whether or not it is in the list.
func (x *executions) choose(id string) {
	for i, r := range x.rows {
		if r.ID == id {
			x.list.Select(i)
			return
		}
	}
	x.detail.load(id)
}

// live reads the list and a running execution again, while the perspective shows.
func (x *executions) live() {
	if x.d.place != placeExecutions || len(x.d.dialogs) > 0 {
		return
	}
	if x.wanted != "" {
		x.reload()
		return
	}
	running := false
	for _, r := range x.rows {
		running = running || !r.State.Ended()
	}
	if running {
		x.refreshRows()
	}
	if s := x.detail.shown; s != nil && !s.State.Ended() {
		x.detail.load(s.ID)
	}
}

// refreshRows reads the first page again without moving what is selected.
func (x *executions) refreshRows() {
	filter := x.filter
	background(x.d, func() ([]presenter.ExecutionRow, error) {
		s, err := x.d.history.Store(context.Background())
		if err != nil {
			return nil, err
		}
		rows, _, err := presenter.LoadExecutions(context.Background(), s, filter, "", x.d.now())
		return rows, err
	}, func(rows []presenter.ExecutionRow, err error) {
		if err != nil || filter != x.filter {
			return
		}
		fresh := map[string]presenter.ExecutionRow{}
		for _, r := range rows {
			fresh[r.ID] = r
		}
		for i, r := range x.rows {
			if f, ok := fresh[r.ID]; ok {
				x.rows[i] = f
			}
		}
		x.list.Refresh()
	})
}
