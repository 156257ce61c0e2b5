//go:build !headless

package desktop

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// metaTree is the tree of types and elements.
type metaTree struct {
	m    *metadata
	list *widget.Tree
}

// metaMark separates type and name in the ids of the tree.
const metaMark = "\x00"

func newMetaTree(m *metadata) *metaTree {
	t := &metaTree{m: m}
	t.list = widget.NewTree(t.children, func(id widget.TreeNodeID) bool { return !strings.Contains(id, metaMark) }, t.row, t.update)
	t.list.HideSeparators = true
	t.list.OnSelected = func(id widget.TreeNodeID) {
		if key, name, ok := strings.Cut(id, metaMark); ok {
			m.choose(presenter.MetaRef{Type: key, Name: name})
			return
		}
		t.list.Unselect(id)
		t.list.ToggleBranch(id)
	}
	return t
}

// refresh shows the tree after a change; short groups are open at first.
func (t *metaTree) refresh() {
	const short = 12
	for _, g := range t.m.groups {
		if n := len(t.items(g)); n > 0 && (n <= short || t.m.search != "") {
			t.list.OpenBranch(g.Type.Key)
		}
	}
	t.list.Refresh()
}

// mark selects the element that is shown.
func (t *metaTree) mark() {
	if t.m.now == nil {
		t.list.UnselectAll()
		return
	}
	choose := t.list.OnSelected
	t.list.OnSelected = nil
	t.list.Select(t.m.now.item.Ref.Type + metaMark + t.m.now.item.Ref.Name)
	t.list.OnSelected = choose
	t.list.Refresh()
}

// items are those of a group that fit the search.
func (t *metaTree) items(g presenter.MetaGroup) []presenter.MetaItem {
	if t.m.search == "" || strings.Contains(strings.ToLower(g.Type.Name), t.m.search) {
		return g.Items
	}
	var out []presenter.MetaItem
	for _, i := range g.Items {
		if strings.Contains(strings.ToLower(i.Ref.Name), t.m.search) {
			out = append(out, i)
		}
	}
	return out
}

func (t *metaTree) children(id widget.TreeNodeID) []widget.TreeNodeID {
	var out []widget.TreeNodeID
	for _, g := range t.m.groups {
		items := t.items(g)
		switch {
		case id == "" && (t.m.search == "" || len(items) > 0):
			out = append(out, g.Type.Key)
		case id == g.Type.Key:
			for _, i := range items {
				out = append(out, i.Ref.Type+metaMark+i.Ref.Name)
			}
		}
	}
	return out
}

func (t *metaTree) row(bool) fyne.CanvasObject {
	d := t.m.d
	pic, state := canvas.NewImageFromResource(d.icon("folder", inkSoft)), canvas.NewImageFromResource(d.icon("check-ok", inkSoft))
	pic.FillMode, state.FillMode = canvas.ImageFillContain, canvas.ImageFillContain
	note := d.caption("")
	note.align = fyne.TextAlignTrailing
	return container.New(metaRow{}, sized(pic, 16, 20), d.text(""), note, state)
}

// metaRow sets icon, name, note and mark of a row side by side: the note is as wide
// as its text, the name takes the rest.
type metaRow struct{}

// MinSize implements fyne.Layout.
func (metaRow) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, 20) }

// Layout implements fyne.Layout.
func (metaRow) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 6
	put := func(o fyne.CanvasObject, x, w, h float32) {
		o.Move(fyne.NewPos(x, (size.Height-h)/2))
		o.Resize(fyne.NewSize(max(0, w), h))
	}
	note, end := o[2].(*words), size.Width-8
	if o[3].Visible() {
		end -= 16
		put(o[3], end, 16, 16)
		end -= gap
	}
	width := float32(0)
	if note.full != "" {
		width = fyne.MeasureText(note.full, note.size, note.style).Width + 2
	}
	put(o[0], 0, 16, 20)
	put(note, end-width, width, size.Height)
	put(o[1], 16+gap, end-width-16-2*gap, size.Height)
}

func (t *metaTree) update(id widget.TreeNodeID, branch bool, o fyne.CanvasObject) {
	c := o.(*fyne.Container)
	pic, name := c.Objects[0].(*fyne.Container).Objects[0].(*canvas.Image), c.Objects[1].(*words)
	note, state := c.Objects[2].(*words), c.Objects[3].(*canvas.Image)
	icon, text, remark, mark := t.look(id, branch)
	name.style.Bold = branch
	pic.Resource = t.m.d.icon(icon, inkSoft)
	pic.Refresh()
	name.Set(text, nil)
	name.Refresh()
	note.Set(remark, nil)
	setVisible(state, mark.icon != "")
	if mark.icon != "" {
		state.Resource = t.m.d.icon(mark.icon, mark.ink)
		state.Refresh()
	}
	c.Layout.Layout(c.Objects, c.Size())
}

// levelLook is the icon of a level in its colour.
type levelLook struct {
	icon string
	ink  ink
}

func lookOf(l presenter.Level) levelLook {
	switch l {
	case presenter.LevelGood:
		return levelLook{"check-ok", inkTone(toneOK)}
	case presenter.LevelWarn:
		return levelLook{"check-warn", inkTone(toneWarn)}
	case presenter.LevelBad:
		return levelLook{"state-failed", inkTone(toneError)}
	}
	return levelLook{"state-skipped", inkTone(toneNeutral)}
}

func (t *metaTree) look(id widget.TreeNodeID, branch bool) (icon, text, remark string, mark levelLook) {
	key, name, _ := strings.Cut(id, metaMark)
	for _, g := range t.m.groups {
		if g.Type.Key != key {
			continue
		}
		if branch {
			return g.Type.Icon, g.Type.Name, fmt.Sprint(len(g.Items)), levelLook{}
		}
		item, _ := t.m.item(presenter.MetaRef{Type: key, Name: name})
		remark = item.Note
		if g.Type.Testable() && remark == "" {
			remark = "not tested"
		}
		if item.Wrong != "" {
			remark, mark = "", levelLook{"state-failed", inkTone(toneError)}
		}
		if r, ok := t.m.results[item.Ref]; ok {
			remark, mark = "", lookOf(r.State)
		}
		for _, tab := range t.m.open {
			if tab.item.Ref == item.Ref && tab.dirty() {
				name += "  •"
			}
		}
		return g.Type.Icon, name, remark, mark
	}
	return "info", name, "", levelLook{}
}
