//go:build !headless

package desktop

import (
	"context"
	"time"

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
	swept  time.Time

	list   *widget.List
	more   *flat
	shown  *words // how many of the list
	count  *words
	empty  *fyne.Container
	detail *executionDetail
	all    fyne.CanvasObject
}

func newExecutions(d *Desktop) *executions {
	x := &executions{d: d}
	x.count, x.shown = d.caption(""), d.caption("")
	refresh := d.tool("refresh", "Read the list again", func() { x.reload() })
	var more *flat
	more = d.tool("more", "Retention, disk use", func() { d.menuBelow(more, "retention", "disk") })
	search := d.field("", "Name or execution id", func(s string) { x.filter.Text = s; x.reload() })
	choice := func(options []string, set func(string)) fyne.CanvasObject {
		c := widget.NewSelect(options, func(s string) { set(s); x.reload() })
		c.Selected = options[0]
		return bordered(c)
	}
	roots := widget.NewCheck("Root runs only", func(on bool) { x.filter.Children = !on; x.reload() })
	roots.Checked = true
	head := panel(inset(container.NewBorder(nil, nil, wide(d.bold("Executions", 14)), container.NewHBox(refresh, more), inset(x.count, 0, 8, 0, 8)), 4, 8, 4, 12), theme.ColorNameHeaderBackground)
	filters := inset(container.NewVBox(search, container.NewGridWithColumns(2,
		choice(presenter.ExecutionStates(), func(s string) { x.filter.State = s }), choice(presenter.ExecutionAges(), func(s string) { x.filter.Age = s }),
		choice(presenter.ExecutionKinds(), func(s string) { x.filter.Kind = s }), roots)), 8, 8, 8, 8)
	x.list = widget.NewList(func() int { return len(x.rows) }, x.newRow, x.showRow)
	x.list.OnSelected = func(id widget.ListItemID) {
		if id < len(x.rows) {
			x.detail.load(x.rows[id].ID)
		}
	}
	x.more = d.flat("", "Next 200", "Read older ones too", func() { x.load(x.next) })
	x.more.inkOf, x.more.bold = inkPrimary, true
	x.more.Hide()
	foot := panel(inset(container.NewBorder(nil, nil, nil, x.more, x.shown), 2, 8, 2, 12), theme.ColorNameHeaderBackground)
	x.empty = container.NewStack(emptyNote(d, "executions", "Nothing has run yet", "Runs appear here as they begin."),
		emptyNote(d, "filter-list", "No execution fits", "Take a filter back to see more."))
	body := container.NewStack(x.list, x.empty)
	left := panel(container.NewBorder(container.NewVBox(head, filters, widget.NewSeparator()), foot, nil, nil, body), theme.ColorNameOverlayBackground)
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
	took, when, state := d.caption(""), d.caption(""), d.words("", captionSize, inkSoft)
	took.align, when.align, state.style.Bold = fyne.TextAlignTrailing, fyne.TextAlignTrailing, true
	return sized(container.New(executionRow{}, pic, d.bold("", textSize), took, state, d.caption(""), when), 0, listRow)
}

// executionRow lays out the parts of a row: icon, name and duration; below state,
// reason and time. The state takes the room of its word.
type executionRow struct{}

// MinSize implements fyne.Layout.
func (executionRow) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, listRow) }

// Layout implements fyne.Layout.
func (executionRow) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const left, right, line = 40, 12, 17
	put := func(i int, x, y, w, h float32) {
		o[i].Move(fyne.NewPos(x, y))
		o[i].Resize(fyne.NewSize(max(0, w), h))
	}
	natural := func(i int) float32 {
		w := o[i].(*words)
		return fyne.MeasureText(w.full, w.size, w.style).Width + 2
	}
	top, below, end := size.Height/2-line, size.Height/2+1, size.Width-right
	put(0, 14, (size.Height-18)/2, 18, 18)
	took, when, state := natural(2), natural(5), natural(3)
	put(1, left, top, end-left-took-8, line)
	put(2, end-took, top, took, line)
	put(3, left, below, state, line)
	put(4, left+state+6, below, end-when-8-left-state-6, line)
	put(5, end-when, below, when, line)
}

func (x *executions) showRow(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(x.rows) {
		return
	}
	r := x.rows[id]
	row := o.(*fyne.Container).Objects[0].(*fyne.Container)
	tone := r.Look.Tone()
	if icon := r.Look.Icon(); icon != "" {
		pic := row.Objects[0].(*canvas.Image)
		pic.Resource = x.d.icon(icon, inkTone(tone))
		pic.Refresh()
	}
	for i, text := range []string{r.Name, r.Took, r.Look.String(), r.Why, r.When} {
		var c ink
		if i == 2 {
			c = inkTone(tone)
		}
		row.Objects[i+1].(*words).Set(text, c)
	}
	row.Layout.Layout(row.Objects, row.Size())
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
	}
	setVisible(x.more, next != "")
	n := presenter.Grouped(int64(len(rows)))
	x.count.Set(n+more, nil)
	x.shown.Set(map[bool]string{true: "", false: "1–" + n}[len(rows) == 0], nil)
	setVisible(x.empty, len(rows) == 0)
	setVisible(x.empty.Objects[0], !x.filter.Narrowed())
	setVisible(x.empty.Objects[1], x.filter.Narrowed())
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
		x.sweep()
		x.refreshRows()
	}
	if s := x.detail.shown; s != nil && !s.State.Ended() {
		x.detail.load(s.ID)
	}
}

// sweepPause is how often executions of dead processes are looked for.
const sweepPause = 15 * time.Second

// sweep ends the records of executions whose process died, so that they show as
// interrupted and can be replayed.
func (x *executions) sweep() {
	if now := x.d.now(); now.Sub(x.swept) >= sweepPause {
		x.swept = now
		x.d.spawn(func() {
			if err := x.d.history.Sweep(context.Background()); err != nil {
				x.d.post(func() { x.d.frame.note("Dead runs could not be looked for: " + err.Error()) })
			}
		})
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
			if f, ok := fresh[r.ID]; ok && f != r {
				x.rows[i] = f
				x.list.RefreshItem(i)
			}
		}
	})
}
