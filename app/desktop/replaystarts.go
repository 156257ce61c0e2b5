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
)

// startList lists the start points of a replay; those that cannot be used stay, with
// the reason.
type startList struct {
	x    *replayDialog
	rows []presenter.ReplayStart
	list *widget.List
	all  fyne.CanvasObject
	own  bool // the list's selection is being set by show
}

func newStartList(x *replayDialog) *startList {
	s := &startList{x: x}
	d := x.d
	s.list = widget.NewList(func() int { return len(s.rows) }, func() fyne.CanvasObject { return newStartRow(d) }, func(i int, o fyne.CanvasObject) {
		o.(*startRow).set(s.rows[i])
	})
	s.list.OnSelected = s.choose
	head := container.NewBorder(nil, nil, nil, wide(d.caption("Click a row, or a node in the plan")), d.bold("Start point", textSize))
	bar := panel(sized(inset(head, 0, 16, 0, 16), 0, 31), theme.ColorNameHeaderBackground)
	s.all = container.NewBorder(container.New(layout.NewCustomPaddedVBoxLayout(0), widget.NewSeparator(), bar, widget.NewSeparator()), nil, nil, nil, s.list)
	return s
}

// show lists the start points of the plan.
func (s *startList) show() {
	s.rows = s.x.view.Starts(s.x.d.now())
	s.own = true
	defer func() { s.own = false }()
	s.list.Refresh()
	for i, r := range s.rows {
		if r.Chosen {
			s.list.Select(i)
			return
		}
	}
	s.list.UnselectAll()
}

func (s *startList) choose(i int) {
	if s.own || i >= len(s.rows) {
		return
	}
	if r := s.rows[i]; r.Usable {
		s.x.startAt(r.Name)
		return
	}
	s.show() // the reason stands in the row
}

// startRow is one start point: radio, icon, two lines, and its age.
type startRow struct {
	widget.BaseWidget
	d             *Desktop
	radio, pic    *canvas.Image
	title, detail *words
	trail         *words
	moved         *fyne.Container
	all           *fyne.Container
}

func newStartRow(d *Desktop) *startRow {
	r := &startRow{d: d, radio: canvas.NewImageFromResource(nil), pic: canvas.NewImageFromResource(nil), title: d.text(""), detail: d.caption(""), trail: d.caption("")}
	r.radio.FillMode, r.pic.FillMode = canvas.ImageFillContain, canvas.ImageFillContain
	r.trail.align = fyne.TextAlignTrailing
	r.moved = container.NewCenter(d.tag("Changed"))
	marks := inset(container.NewHBox(container.NewCenter(sized(r.radio, 20, 20)), container.NewCenter(sized(r.pic, 16, 16))), 0, 8, 0, 12)
	lines := container.New(layout.NewCustomPaddedVBoxLayout(0), r.title, r.detail)
	r.all = container.NewBorder(nil, nil, marks, inset(container.NewHBox(r.moved, sized(r.trail, 104, 0)), 0, 12, 0, 0), lines)
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer implements fyne.Widget.
func (r *startRow) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.all) }

// MinSize implements fyne.CanvasObject: 36, and the list's 4 between rows.
func (r *startRow) MinSize() fyne.Size { return fyne.NewSize(160, 36) }

func (r *startRow) set(s presenter.ReplayStart) {
	radio, c, soft := theme.RadioButtonIcon(), inkText, inkSoft
	tint := theme.ColorNameInputBorder
	switch {
	case s.Chosen:
		radio, tint = theme.RadioButtonCheckedIcon(), theme.ColorNamePrimary
	case !s.Usable:
		tint, c = theme.ColorNameDisabled, inkSoft
	}
	r.radio.Resource = theme.NewColoredResource(radio, tint)
	r.pic.Resource = r.d.icon(s.Icon, inkTone(s.Tone))
	r.title.style.Bold = s.Chosen
	r.title.Set(s.Title, c)
	r.detail.Set(s.Detail, soft)
	trail := soft
	if s.Blocked {
		trail = inkTone(toneError)
	}
	r.trail.Set(s.Trail, trail)
	setVisible(r.moved, s.Moved)
	r.radio.Refresh()
	r.pic.Refresh()
}

// tag is a word of warning on its soft ground.
func (d *Desktop) tag(word string) fyne.CanvasObject {
	const tone = toneWarn
	w := d.words(word, captionSize, inkTone(tone))
	w.style.Bold = true
	return container.NewStack(newFill(d, inkOfGround(tone)), inset(wide(w), 2, 6, 2, 6))
}
