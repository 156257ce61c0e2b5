//go:build !headless

package desktop

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// runTree lists the executions and actions of a run as they called each other.
type runTree struct {
	t      *executionDetail
	lines  []presenter.TreeLine // all of them
	shown  []int                // numbers of those that are not folded away
	folded map[string]bool      // executions whose lines below are folded away
	list   *widget.List
	all    fyne.CanvasObject
}

func newRunTree(t *executionDetail) *runTree {
	r := &runTree{t: t, folded: map[string]bool{}}
	r.list = widget.NewList(func() int { return len(r.shown) }, r.row, r.update)
	r.list.HideSeparators = true
	r.list.OnSelected = func(id widget.ListItemID) {
		r.list.UnselectAll()
		if id < len(r.shown) {
			r.choose(r.lines[r.shown[id]])
		}
	}
	r.all = panel(container.NewBorder(panel(inset(t.d.bold("Run tree", textSize), 6, 8, 6, 12), theme.ColorNameHeaderBackground), nil, nil, nil, r.list), theme.ColorNameOverlayBackground)
	return r
}

// choose goes to what a line stands for.
func (r *runTree) choose(l presenter.TreeLine) {
	switch {
	case l.Execution != r.t.shown.ID:
		r.t.then = l.Node
		r.t.load(l.Execution)
	default:
		r.t.focus(l.Node)
	}
}

func (r *runTree) show(x *presenter.ExecutionDetail) {
	r.lines = x.RunTree(r.t.d.now())
	r.arrange()
}

// arrange leaves out what is folded away.
func (r *runTree) arrange() {
	r.shown = r.shown[:0]
	hidden := -1 // depth below which lines are folded away
	for i, l := range r.lines {
		if hidden >= 0 && l.Depth > hidden {
			continue
		}
		hidden = -1
		r.shown = append(r.shown, i)
		if l.Branch && r.folded[key(l)] {
			hidden = l.Depth
		}
	}
	r.list.Refresh()
}

// key tells lines apart.
func key(l presenter.TreeLine) string { return l.Execution + "\x00" + l.Name }

func (r *runTree) row() fyne.CanvasObject {
	d := r.t.d
	fold := d.flat("chevron-down", "", "", nil)
	fold.size = fyne.NewSize(24, 24)
	pic := canvas.NewImageFromResource(nil)
	pic.FillMode = canvas.ImageFillContain
	took := d.caption("")
	took.align = fyne.TextAlignTrailing
	return container.New(&treeRow{}, newFill(d, nil), fold, pic, d.text(""), took)
}

// treeRow lays out a line of the tree at its depth.
type treeRow struct{ depth int }

// MinSize implements fyne.Layout.
func (*treeRow) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, 26) }

// Layout implements fyne.Layout.
func (t *treeRow) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(size)
	x := 4 + float32(min(t.depth, 10))*16
	put := func(i int, at, w, h float32) {
		o[i].Move(fyne.NewPos(at, (size.Height-h)/2))
		o[i].Resize(fyne.NewSize(max(0, w), h))
	}
	took := float32(76)
	put(1, x, 24, 24)
	put(2, x+26, 16, 16)
	put(3, x+48, size.Width-x-48-took-12, 20)
	put(4, size.Width-took-10, took, 20)
}

func (r *runTree) update(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(r.shown) {
		return
	}
	l, row := r.lines[r.shown[id]], o.(*fyne.Container)
	row.Layout.(*treeRow).depth = l.Depth
	fold := row.Objects[1].(*flat)
	setVisible(fold, l.Branch)
	icon := "chevron-down"
	if r.folded[key(l)] {
		icon = "chevron-right"
	}
	fold.icon = icon
	fold.onTap = func() {
		r.folded[key(l)] = !r.folded[key(l)]
		r.arrange()
	}
	fold.Refresh()
	pic := row.Objects[2].(*canvas.Image)
	pic.Resource = r.t.d.icon(l.Look.Icon(), inkTone(l.Look.Tone()))
	pic.Refresh()
	name := row.Objects[3].(*words)
	here := r.t.shown != nil && l.Execution == r.t.shown.ID
	name.style.Bold = here && l.Node == ""
	name.Set(l.Name, inkText)
	name.Refresh()
	row.Objects[4].(*words).Set(l.Took, nil)
	var ground ink
	if here && strings.EqualFold(l.Node, r.t.node) {
		ground = inkSelection
	}
	row.Objects[0].(*fill).set(ground)
	row.Layout.Layout(row.Objects, row.Size())
}
