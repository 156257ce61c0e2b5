package gesture

import (
	"math"
	"time"

	"sluice/canvas/scene"
)

func (m *Machine) down(e Event) {
	m.hideTip(e.At)
	if m.act != nil {
		// A second button ends a gesture; the click that ends a hop made by
		// menu is seen when the button goes up.
		if c, ok := m.act.(*connect); ok && c.sticky && e.Button == Primary {
			return
		}
		m.Cancel()
		m.out.Redraw = true
		return
	}
	if mini, ok := m.overMiniMap(e.At); ok && e.Button != Secondary {
		a := &miniPan{grab: e.At.Sub(mini.View.Centre()), mini: mini}
		if !mini.View.Contains(e.At) {
			a.grab = scene.Point{}
		}
		m.begin(a)
		a.move(m, e)
		return
	}
	hit := m.hit(e.At)
	switch e.Button {
	case Primary:
		m.primaryDown(e, hit)
	case Middle:
		m.middleDown(e, hit)
	case Secondary:
		m.secondaryDown(e, hit)
	}
}

func (m *Machine) primaryDown(e Event, hit scene.Hit) {
	if m.space {
		m.panned = true
		m.begin(&pan{last: e.At})
		return
	}
	double := m.click.ok && e.Time-m.click.time <= DoubleClick && hit == m.click.hit &&
		e.At.Sub(m.click.at).Length() <= DragThreshold
	m.click.at, m.click.time, m.click.hit = e.At, e.Time, hit
	m.click.ok = !double && e.Mods == 0 && opensOnDouble(hit)
	if double && e.Mods == 0 {
		m.begin(doubled{hit.Ref})
		return
	}
	m.begin(&press{start: e.At, mods: e.Mods, hit: hit, was: m.selection})
	if hit.Kind == scene.KindNone || hit.Part == scene.PartHandle || m.selection.Has(hit.Ref) || e.Mods != 0 {
		return
	}
	m.choose(scene.Select(hit.Ref))
}

// opensOnDouble tells whether a double click edits: badges and bars answer the
// first click already.
func opensOnDouble(hit scene.Hit) bool {
	switch hit.Part {
	case scene.PartBody, scene.PartLabel, scene.PartPlate:
		return hit.Kind != scene.KindNone
	}
	return false
}

func (m *Machine) middleDown(e Event, hit scene.Hit) {
	switch {
	case hit.Kind == scene.KindNode && !m.cfg.ReadOnly:
		m.begin(&press{start: e.At, mods: Shift, hit: scene.Hit{Ref: hit.Ref, Part: scene.PartHandle}, was: m.selection})
	case hit.Kind == scene.KindHop && !m.cfg.ReadOnly:
		m.begin(&press{start: e.At, mods: Ctrl, hit: hit, was: m.selection, middle: true})
	default:
		m.begin(&pan{last: e.At})
	}
}

func (m *Machine) secondaryDown(e Event, hit scene.Hit) {
	if hit.Kind == scene.KindNone {
		m.choose(scene.Selection{})
	} else if !m.selection.Has(hit.Ref) {
		m.choose(scene.Select(hit.Ref))
	}
	m.emit(Menu{Hit: hit, At: e.At, Document: m.doc(e.At)})
}

func (m *Machine) up(e Event) {
	if m.act != nil {
		m.act.up(m, e)
	}
}

func (m *Machine) pointerMove(e Event) {
	if m.act != nil {
		m.act.move(m, e)
		return
	}
	m.setHover(m.hit(e.At), e)
}

// setHover follows the pointer over the graph.
func (m *Machine) setHover(hit scene.Hit, e Event) {
	if _, on := m.overMiniMap(e.At); on {
		hit = scene.Hit{}
	}
	if hit == m.hover {
		return
	}
	m.hideTip(e.At)
	m.hover, m.hoverAt, m.tip = hit, e.Time, tipDue
	t := &m.trace
	node, hop := scene.ID(""), scene.ID("")
	switch hit.Kind {
	case scene.KindNode:
		node = hit.ID
	case scene.KindHop:
		hop = hit.ID
	}
	if m.cfg.ReadOnly {
		node = ""
	}
	m.out.Overlay = m.out.Overlay || t.HoverNode != node || t.HoverHop != hop
	t.HoverNode, t.HoverHop = node, hop
	t.Cursor = cursorFor(hit, m.cfg.ReadOnly)
}

func cursorFor(hit scene.Hit, readOnly bool) Cursor {
	switch {
	case hit.Kind == scene.KindNone || readOnly && hit.Kind == scene.KindNote:
		return CursorDefault
	case hit.Part == scene.PartHandle:
		return CursorCross
	case hit.Part == scene.PartCorner:
		return CursorResize
	}
	return CursorPointer
}

func (m *Machine) hideTip(at scene.Point) {
	if m.tip == tipShown {
		m.emit(Tip{At: at})
	}
	m.tip = tipDone
}

func (m *Machine) scroll(e Event) {
	m.hideTip(e.At)
	switch {
	case e.Mods&Shift != 0:
		m.setView(m.view.PanBy(scene.Point{X: (e.Delta.X + e.Delta.Y) * wheelPan}))
	case e.Mods&Alt != 0:
		m.setView(m.view.PanBy(scene.Point{X: e.Delta.X * wheelPan, Y: e.Delta.Y * wheelPan}))
	default:
		if e.Delta.X != 0 && math.Abs(e.Delta.X) > math.Abs(e.Delta.Y) {
			m.setView(m.view.PanBy(scene.Point{X: e.Delta.X * wheelPan}))
			return
		}
		m.setView(m.view.ZoomAt(e.At, math.Pow(wheelZoom, e.Delta.Y)))
	}
	if m.act != nil {
		m.act.move(m, Event{Kind: PointerMove, At: e.At, Mods: e.Mods, Time: e.Time})
	}
}

// tick shows a due tool tip and pans while something is dragged to the edge.
func (m *Machine) tick(e Event) {
	step := min(max(0, e.Time-m.lastTick), 50*time.Millisecond)
	m.lastTick = e.Time
	if m.act == nil {
		if m.hover.Kind != scene.KindNone && m.tip == tipDue && e.Time-m.hoverAt >= TipDelay {
			m.tip = tipShown
			m.emit(Tip{Hit: m.hover, At: m.pointer})
		}
		return
	}
	if !pansAtEdge(m.act) {
		return
	}
	speed := scene.EdgePan(m.pointer, m.size)
	if speed == (scene.Point{}) {
		return
	}
	// No bound here: the edge of the content moves with what is dragged.
	m.view = m.view.PanBy(speed.Mul(step.Seconds()))
	m.emit(View{m.view})
	m.out.Redraw = true
	m.act.move(m, Event{Kind: PointerMove, At: m.pointer, Mods: m.mods, Time: e.Time})
}

func pansAtEdge(a activity) bool {
	switch c := a.(type) {
	case *drag, *lasso, *rewire, *resize:
		return true
	case *connect:
		return !c.sticky
	}
	return false
}

// palette follows an item dragged in from outside.
func (m *Machine) palette(e Event) {
	if m.cfg.ReadOnly || m.act != nil {
		return
	}
	doc := m.doc(e.At)
	hop, _ := m.scene.DropHop("", doc, m.view.Zoom)
	switch e.Kind {
	case DragOver:
		m.trace.Landing, m.trace.DropHop = &doc, hop
	case DragDrop:
		m.trace.Landing, m.trace.DropHop = nil, ""
		m.emit(Place{Item: e.Item, At: e.At, Document: doc, Hop: hop})
	default:
		m.trace.Landing, m.trace.DropHop = nil, ""
	}
	m.out.Redraw = true
}
