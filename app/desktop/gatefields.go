//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// gateFields is the table of fields of a gate's contract.
type gateFields struct {
	g     *gateDialog
	list  *widget.List
	count *words
	all   fyne.CanvasObject
	now   int // the row that was touched last; -1 none
}

// gateFieldShares are the widths of the columns.
var gateFieldShares = []float32{3, 2, 1.4, 1.2, 0.9}

func newGateFields(g *gateDialog) *gateFields {
	f := &gateFields{g: g, now: -1, count: g.e.d.caption("")}
	f.count.align = fyne.TextAlignTrailing
	d := g.e.d
	f.list = widget.NewList(func() int { return len(g.m.Fields) }, f.row, f.update)
	f.list.HideSeparators = true
	heads := container.New(&shares{gateFieldShares, 24})
	for _, title := range []string{"Field", "Type", "Required", "Not null", "Key"} {
		w := d.words(title, captionSize, inkSoft)
		w.style.Bold = true
		heads.Add(inset(w, 0, 0, 0, 4))
	}
	get := button("Get fields", false, func() {
		g.m.GetFields(g.e.outputs(g.m.Node))
		f.changed()
	})
	bar := container.NewBorder(nil, nil, container.NewHBox(get,
		d.tool("add", "Add a field", func() {
			g.m.Fields = append(g.m.Fields, presenter.GateField{Required: true})
			f.now = len(g.m.Fields) - 1
			f.changed()
			f.list.ScrollToBottom()
		}),
		d.tool("delete", "Remove the field that was touched last", f.remove)), sized(f.count, 160, 0))
	table := d.outlined(container.NewBorder(panel(inset(heads, 0, 12, 0, 4), theme.ColorNameHeaderBackground), nil, nil, nil, sized(f.list, 0, 176)))
	f.all = container.NewVBox(table, bar)
	f.tell()
	return f
}

// changed shows the table after a change.
func (f *gateFields) changed() {
	f.list.Refresh()
	f.tell()
	f.g.check()
}

func (f *gateFields) tell() {
	text := presenter.Plural(int64(len(f.g.m.Fields)), "field")
	if n := len(f.g.e.outputs(f.g.m.Node)); n > 0 {
		text = presenter.Grouped(int64(len(f.g.m.Fields))) + " of " + presenter.Plural(int64(n), "output field")
	}
	f.count.Set(text, nil)
}

func (f *gateFields) remove() {
	at := f.now
	if at < 0 || at >= len(f.g.m.Fields) {
		at = len(f.g.m.Fields) - 1
	}
	if at < 0 {
		return
	}
	f.g.m.Fields = append(f.g.m.Fields[:at:at], f.g.m.Fields[at+1:]...)
	f.now = -1
	f.changed()
}

func (f *gateFields) row() fyne.CanvasObject {
	d := f.g.e.d
	types := append([]string{""}, typeNames...)
	return container.New(&shares{gateFieldShares, 34}, d.field("", "name", nil), widget.NewSelect(types, nil),
		widget.NewCheck("", nil), widget.NewCheck("", nil), widget.NewCheck("", nil))
}

func (f *gateFields) update(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(f.g.m.Fields) {
		return
	}
	x := &f.g.m.Fields[id]
	parts := o.(*fyne.Container).Objects
	name, kind := parts[0].(*field), parts[1].(*widget.Select)
	name.OnChanged, kind.OnChanged = nil, nil
	if name.Text != x.Name {
		name.SetText(x.Name)
	}
	kind.PlaceHolder = "any"
	kind.Selected = x.Type
	kind.Refresh()
	name.OnChanged = func(s string) { x.Name, f.now = s, id; f.g.check() }
	kind.OnChanged = func(s string) { x.Type, f.now = s, id; f.g.check() }
	for i, flag := range []*bool{&x.Required, &x.NotNull, &x.Key} {
		c := parts[2+i].(*widget.Check)
		c.OnChanged = nil
		c.SetChecked(*flag)
		c.OnChanged = func(on bool) { *flag, f.now = on, id; f.g.check() }
	}
}
