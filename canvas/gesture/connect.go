package gesture

import "sluice/canvas/scene"

// connect draws a new hop. A sticky one was begun by a command: it follows the
// pointer without a button and ends at the next click.
type connect struct {
	from   scene.ID
	sticky bool
}

func newConnect(m *Machine, from scene.ID, sticky bool) *connect {
	m.trace.Connecting, m.trace.Source, m.trace.Targets = true, from, m.targets(from)
	m.trace.Cursor = CursorCross
	return &connect{from, sticky}
}

func (c *connect) move(m *Machine, e Event) {
	n, ok := m.scene.Node(c.from)
	if !ok {
		m.Cancel()
		return
	}
	to := m.doc(e.At)
	if id, over := m.scene.NodeAt(e.At, m.view); over && m.trace.Targets[id] {
		target, _ := m.scene.Node(id)
		to = target.Pos.Sub(scene.Point{X: scene.TileSize / 2})
		if target.Pos.X < n.Pos.X {
			to = target.Pos.Add(scene.Point{X: scene.TileSize / 2})
		}
	}
	start := n.Pos.Add(scene.Point{X: scene.TileSize / 2})
	if to.X < n.Pos.X {
		start.X = n.Pos.X - scene.TileSize/2
	}
	m.trace.Wire = &Wire{start, to}
	m.trace.Cursor = CursorCross
	m.out.Redraw = true
}

func (c *connect) up(m *Machine, e Event) {
	targets := m.trace.Targets
	m.end()
	if !m.onCanvas(e.At) {
		return
	}
	id, over := m.scene.NodeAt(e.At, m.view)
	switch {
	case over && targets[id]:
		m.emit(Connect{From: c.from, To: id, At: e.At})
	case !over && m.hit(e.At).Kind != scene.KindNode:
		m.emit(ConnectNew{From: c.from, At: e.At, Document: m.doc(e.At)})
	}
}

func (c *connect) cancel(*Machine) {}

// finish ends a sticky hop at a node chosen by keyboard.
func (c *connect) finish(m *Machine, to scene.ID) {
	ok := m.trace.Targets[to]
	m.end()
	if n, known := m.scene.Node(to); ok && known {
		m.emit(Connect{From: c.from, To: to, At: m.view.ToScreen(n.Pos)})
	}
}

// rewire drags one end of a selected hop to another node.
type rewire struct {
	hop   scene.Hop
	start bool // the source's end is dragged
}

func newRewire(m *Machine, hit scene.Hit) activity {
	h, _ := m.scene.Hop(hit.ID)
	r := &rewire{h, hit.Part == scene.PartStart}
	m.trace.Connecting, m.trace.Targets = true, make(map[scene.ID]bool)
	m.trace.Source = h.From
	if r.start {
		m.trace.Source = h.To
	}
	for i := range m.scene.NodeCount() {
		id := m.scene.NodeNumber(i).ID
		from, to := h.From, id
		if r.start {
			from, to = id, h.To
		}
		if m.canConnect(from, to) {
			m.trace.Targets[id] = true
		}
	}
	return r
}

func (r *rewire) move(m *Machine, e Event) {
	from, _ := m.scene.Node(r.hop.From)
	to, _ := m.scene.Node(r.hop.To)
	w := &Wire{from.Pos, m.doc(e.At)}
	if r.start {
		w = &Wire{m.doc(e.At), to.Pos}
	}
	m.trace.Wire = w
	m.trace.Cursor = CursorCross
	m.out.Redraw = true
}

func (r *rewire) up(m *Machine, e Event) {
	targets := m.trace.Targets
	m.end()
	id, over := m.scene.NodeAt(e.At, m.view)
	if !over || !targets[id] || !m.onCanvas(e.At) {
		return
	}
	w := Rewire{Hop: r.hop.ID, From: r.hop.From, To: id}
	if r.start {
		w.From, w.To = id, r.hop.To
	}
	m.emit(w)
}

func (r *rewire) cancel(*Machine) {}
