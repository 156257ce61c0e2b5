package gesture

import "sluice/canvas/scene"

// nudges are the arrow keys with their directions.
var nudges = map[Key]scene.Direction{
	KeyLeft: scene.Left, KeyRight: scene.Right, KeyUpArrow: scene.Up, KeyDownArrow: scene.Down,
}

func (m *Machine) keyDown(e Event) {
	m.hideTip(m.pointer)
	m.out.Handled = true
	if d, ok := nudges[e.Key]; ok {
		m.arrow(d, e.Mods)
		return
	}
	switch e.Key {
	case KeyEscape:
		m.escape()
	case KeySpace:
		if e.Mods == 0 {
			m.space = true
		}
	case KeyTab:
		m.tab(e.Mods&Shift != 0)
	case KeyEnter:
		m.enter(e.Mods)
	case KeyHome:
		m.home(e.Mods)
	case KeyPlus, KeyMinus:
		m.zoomKey(e.Key)
	case KeyDelete:
		m.delete()
	case KeyZ:
		m.open(e.Mods)
	case KeyMenu:
		m.menu()
	case KeyInsert:
		m.insert()
	default:
		m.out.Handled = false
	}
}

func (m *Machine) keyUp(e Event) {
	if e.Key != KeySpace || !m.space {
		return
	}
	m.space = false
	m.out.Handled = true
	// Space alone shows the fields; Space with a drag has panned.
	if !m.panned && m.focus != "" && m.act == nil {
		m.emit(Fields{m.focus})
	}
	m.panned = false
}

func (m *Machine) escape() {
	switch {
	case m.act != nil:
		m.Cancel()
		m.out.Redraw = true
	case len(m.selection) > 0:
		m.choose(scene.Selection{})
	default:
		m.out.Handled = false
	}
}

// arrow walks along hops; with Shift it moves the selection by one grid step.
func (m *Machine) arrow(d scene.Direction, mods Mods) {
	switch {
	case mods == Shift:
		m.nudge(d)
	case mods != 0:
		m.out.Handled = false
	default:
		m.walk(d)
	}
}

func (m *Machine) walk(d scene.Direction) {
	next, ok := m.scene.Neighbour(m.focus, d)
	if m.focus == "" {
		next, ok = m.scene.Next("", false)
	}
	if ok {
		m.focusOn(next)
	}
}

// focusOn moves the focus and shows the node. While a hop is being made by
// keyboard the selection stays: the focus only looks for the target.
func (m *Machine) focusOn(id scene.ID) {
	m.out.Redraw = true
	if n, ok := m.scene.Node(id); ok {
		const room = 24.0
		m.setView(m.view.Reveal(scene.RectAround(n.Pos, scene.LabelWidth, 2*scene.TileSize), m.size, room))
		if m.trace.Connecting {
			m.focus = id
			if m.act != nil {
				m.act.move(m, Event{Kind: PointerMove, At: m.view.ToScreen(n.Pos)})
			}
			return
		}
	}
	m.choose(scene.Select(scene.NodeRef(id)))
	m.focus = id
}

func (m *Machine) nudge(d scene.Direction) {
	if m.cfg.ReadOnly || m.act != nil {
		return
	}
	step := [...]scene.Point{{X: -1}, {X: 1}, {Y: -1}, {Y: 1}}[d].Mul(scene.GridSize)
	to := make(map[scene.Ref]scene.Point)
	for _, t := range m.scene.Placement(m.selection) {
		to[t.Ref] = t.Pos.Add(step)
	}
	if len(to) == 0 {
		return
	}
	m.scene.Move(to)
	m.out.Redraw = true
	m.emit(Move{to})
}

func (m *Machine) tab(backwards bool) {
	next, ok := m.scene.Next(m.focus, backwards)
	if !ok {
		m.emit(Leave{backwards})
		return
	}
	m.focusOn(next)
}

func (m *Machine) enter(mods Mods) {
	if c, ok := m.act.(*connect); ok {
		c.finish(m, m.focus)
		return
	}
	if mods != 0 || m.act != nil {
		m.out.Handled = false
		return
	}
	if refs := m.selection.Refs(); len(refs) == 1 {
		m.emit(Edit{refs[0]})
	} else if m.focus != "" {
		m.emit(Edit{scene.NodeRef(m.focus)})
	}
}

func (m *Machine) home(mods Mods) {
	if mods != 0 {
		m.out.Handled = false
		return
	}
	m.setView(scene.Fit(m.scene.Bounds(), m.size, FitMargin))
}

func (m *Machine) zoomKey(k Key) {
	factor := scene.ZoomStep
	if k == KeyMinus {
		factor = 1 / factor
	}
	m.setView(m.view.ZoomAt(scene.Point{X: m.size.W / 2, Y: m.size.H / 2}, factor))
}

func (m *Machine) delete() {
	if m.cfg.ReadOnly || m.act != nil || len(m.selection) == 0 {
		return
	}
	m.emit(Delete{m.selection.Refs()})
}

func (m *Machine) open(mods Mods) {
	if mods != 0 {
		m.out.Handled = false
		return
	}
	if m.focus != "" && m.act == nil {
		m.emit(Open{m.focus})
	}
}

// menu opens the right-click menu beside the focused thing.
func (m *Machine) menu() {
	if m.act != nil {
		return
	}
	hit, at := scene.Hit{}, scene.Point{X: m.size.W / 2, Y: m.size.H / 2}
	if refs := m.selection.Refs(); len(refs) > 0 {
		hit = scene.Hit{Ref: refs[0], Part: scene.PartBody}
		if p, ok := m.scene.Place(refs[0]); ok {
			at = m.view.ToScreen(p)
		} else if r, ok := m.scene.AreaOf(refs[0]); ok {
			at = m.view.ToScreen(r.Centre())
		}
	}
	m.emit(Menu{Hit: hit, At: at, Document: m.doc(at)})
}

// insert opens the context dialog at the pointer, if it is on the canvas.
func (m *Machine) insert() {
	if m.cfg.ReadOnly || m.act != nil {
		return
	}
	at := m.pointer
	if !m.onCanvas(at) {
		at = scene.Point{X: m.size.W / 2, Y: m.size.H / 2}
	}
	m.emit(Add{At: at, Document: m.doc(at)})
}
