//go:build !headless

package desktop

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/gesture"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// intent answers a finished gesture of the canvas.
func (e *editor) intent(i gesture.Intent) {
	switch v := i.(type) {
	case gesture.Select:
		e.selectionChanged()
	case gesture.Move:
		e.try("move", e.file.Move(moveLabel(len(v.To)), v.To))
	case gesture.Detach:
		e.try("detach", e.file.Detach(v.Node, v.To))
	case gesture.Insert:
		e.askInsert(v)
	case gesture.Connect:
		e.connect(v.From, v.To, v.At)
	case gesture.ConnectNew:
		e.contextDialog(v.At, v.Document, v.From)
	case gesture.Rewire:
		e.try("reconnect", e.file.Rewire(v.Hop, v.From, v.To))
	case gesture.ToggleHop:
		e.try("toggle hop", e.file.ToggleHops([]scene.ID{v.Hop}))
	case gesture.Delete:
		e.try("delete", e.file.Delete(v.Refs))
	case gesture.Edit:
		e.editRef(v.Ref)
	case gesture.Open:
		e.openReferenced()
	case gesture.Fields:
		e.showFieldsOf(v.Node)
	case gesture.Add:
		e.contextDialog(v.At, v.Document, "")
	case gesture.Place:
		e.place(presenter.Placed{Type: v.Item, At: v.Document, Hop: v.Hop})
	case gesture.Menu:
		e.menu(v.Hit.Ref, v.At, v.Document)
	case gesture.Gate:
		e.clickedGate(v.Ref)
	case gesture.State:
		e.showState(v.Node)
	case gesture.ResizeNote:
		e.try("resize note", e.file.ResizeNote(v.Note, v.Rect))
	}
}

func moveLabel(n int) string {
	if n == 1 {
		return "move"
	}
	return fmt.Sprintf("move %d objects", n)
}

func (e *editor) selectionChanged() {
	e.updateTools()
}

// connect makes a hop, after a menu when there is more than one way.
func (e *editor) connect(from, to scene.ID, at scene.Point) {
	links := e.file.Links(from)
	if len(links) == 1 {
		e.try("connect", e.file.Connect(from, to, links[0]))
		return
	}
	var items []*fyne.MenuItem
	for _, l := range links {
		label := l.Label
		if l.Taken != "" {
			label += " (now " + l.Taken + ")"
		}
		items = append(items, fyne.NewMenuItem(label, func() { e.try("connect", e.file.Connect(from, to, l)) }))
	}
	e.popUp(items, at)
}

// popUp shows a menu at a place of the canvas.
func (e *editor) popUp(items []*fyne.MenuItem, at scene.Point) {
	origin := e.d.app.Driver().AbsolutePositionForObject(e.graph)
	m := widget.NewPopUpMenu(fyne.NewMenu("", items...), e.d.win.Canvas())
	m.ShowAtPosition(origin.Add(fyne.NewPos(float32(at.X), float32(at.Y))))
	e.d.event("menu")
}

func (e *editor) askInsert(v gesture.Insert) {
	n, _ := e.file.Node(presenter.ElementID(v.Node))
	e.graph.SetGraph(e.file.Scene(e.runView()))
	e.d.ask("Insert into this hop?", "The hop then leads through "+n.Name+".",
		answer{"Only move", false, func() { e.try("move", e.file.Move("move", v.To)) }},
		answer{"Insert", true, func() { e.try("insert", e.file.InsertInto(v.Node, v.Hop, v.To)) }})
}

// menu is the compact menu of a right click.
func (e *editor) menu(ref scene.Ref, at, doc scene.Point) {
	var items []*fyne.MenuItem
	add := func(ids ...presenter.ActionID) {
		if len(items) > 0 {
			items = append(items, fyne.NewMenuItemSeparator())
		}
		for _, id := range ids {
			a, _ := e.d.keys.Action(id)
			item := e.d.menuItem(a)
			item.Action = func() { e.d.do(id) }
			items = append(items, item)
		}
	}
	e.landing = doc
	if ref.Kind != scene.KindNone && !e.graph.Machine().Selection().Has(ref) {
		e.choose(ref)
	}
	switch ref.Kind {
	case scene.KindNode:
		if e.file.IsPipeline() {
			add("edit", "rename", "show-fields", "preview")
		} else {
			add("edit", "rename", "open-referenced")
		}
		e.addGateItems(add)
		add("connect", "detach")
		add("cut", "copy", "delete")
	case scene.KindHop:
		add("toggle-hop", "rewire", "delete")
		if v := e.runView(); v != nil && v.State.Active() && e.file.IsPipeline() {
			add("sniff")
		}
		if !e.file.IsPipeline() {
			add("hop-always", "hop-success", "hop-failure")
		}
	case scene.KindNote:
		add("edit", "resize-note", "copy", "delete")
	default:
		add("add", "add-note", "paste")
		add("select-all", "layout", "fit")
		add("properties")
	}
	e.popUp(items, at)
}

// addGateItems adds to the menu of a node what can be done about its gate and cache.
func (e *editor) addGateItems(add func(...presenter.ActionID)) {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	if e.file.IsGate(name) {
		add("gate-settings", "replay-here", "snapshot-rows", "snapshot-compare", "snapshot-verify", "gate-remove")
	} else {
		add("gate")
	}
	if !e.file.IsPipeline() {
		return
	}
	if _, cached := e.file.CacheOf(name); cached {
		ids := []presenter.ActionID{"cache-run", "cache-clear", "cache-remove"}
		if !e.file.IsGate(name) {
			ids = append([]presenter.ActionID{"snapshot-rows"}, ids...)
		}
		add(ids...)
	} else {
		add("cache")
	}
}

func (e *editor) menuOfSelected() {
	refs := e.selection()
	if len(refs) == 0 {
		size := e.graph.Machine().Size()
		mid := scene.Point{X: size.W / 2, Y: size.H / 2}
		e.menu(scene.Ref{}, mid, e.graph.Machine().View().ToDocument(mid))
		return
	}
	at, size, ok := e.graph.Area(refs[0])
	if ok {
		p := scene.Point{X: float64(at.X + size.Width/2), Y: float64(at.Y + size.Height/2)}
		e.menu(refs[0], p, e.graph.Machine().View().ToDocument(p))
	}
}

// toolTip describes what lies under the pointer.
func (e *editor) toolTip(hit scene.Hit) (paint.ToolTip, bool) {
	if hit.Part == scene.PartBars {
		if h, ok := e.graph.Machine().Scene().Hop(hit.ID); ok {
			n, _ := e.file.Node(presenter.ElementID(h.From))
			return e.gateTip(n.Name)
		}
	}
	if hit.Kind != scene.KindNode {
		return paint.ToolTip{}, false
	}
	n, ok := e.file.Node(presenter.ElementID(hit.ID))
	if !ok {
		return paint.ToolTip{}, false
	}
	if hit.Part == scene.PartGate {
		return e.gateTip(n.Name)
	}
	tip := paint.ToolTip{Title: n.Name, Caption: n.Type}
	if def, ok := e.file.Kind(n); ok {
		tip.Caption = def.Name
	} else {
		tip.Caption = n.Type + " cannot be run here; it is kept as it is"
	}
	if n.Description != "" {
		tip.Rows = append(tip.Rows, paint.TipRow{Value: n.Description})
	}
	for _, p := range e.problems.list {
		if p.Node == n.Name && len(tip.Rows) < 4 {
			tip.Rows, tip.Tone = append(tip.Rows, paint.TipRow{Key: p.Severity.String(), Value: p.Message}), toneError
		}
	}
	if e.file.IsGate(n.Name) {
		v, _ := e.file.Gates().Gate(n.Name)
		tip.Rows = append(tip.Rows, paint.TipRow{Key: "gate", Value: v.Title()})
	}
	if v, ok := e.file.Gates().Cache(n.Name); ok {
		tip.Rows = append(tip.Rows, paint.TipRow{Key: "cache", Value: v.Title()})
	}
	if v := e.runView(); v != nil {
		for _, m := range v.Metrics {
			if m.Name == n.Name && m.Copy == 0 {
				tip.Rows = append(tip.Rows, paint.TipRow{Key: "read", Value: presenter.Grouped(m.Read + m.Input)}, paint.TipRow{Key: "written", Value: presenter.Grouped(max(m.Written, m.Output))})
			}
		}
	}
	return tip, true
}

// showState shows what is known of a failed node.
func (e *editor) showState(id scene.ID) {
	e.choose(scene.NodeRef(id))
	e.bottom.choose(1)
}
