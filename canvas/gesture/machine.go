package gesture

import (
	"time"

	"sluice/canvas/scene"
)

// Thresholds of the gestures.
const (
	DragThreshold = 4.0 // pixels before a press becomes a drag
	DoubleClick   = 400 * time.Millisecond
	TipDelay      = 400 * time.Millisecond
	FitMargin     = 32.0
	wheelZoom     = 1.12 // factor per notch
	wheelPan      = 48.0 // pixels per notch
)

// Config is what the machine may do.
type Config struct {
	ReadOnly bool // look, select and ask, but change nothing
	MiniMap  bool // the mini-map is shown and takes presses
	// CanConnect tells whether a hop may go from one node to another. nil
	// allows every pair of different nodes that has no hop yet.
	CanConnect func(from, to scene.ID) bool
}

// Machine is the state of pointer and keyboard over one canvas. It owns the
// view, the selection and the focus of that canvas.
type Machine struct {
	cfg       Config
	scene     *scene.Scene
	view      scene.View
	size      scene.Size
	selection scene.Selection
	focus     scene.ID
	trace     Trace
	act       activity // what the pressed button does; nil is nothing

	pointer  scene.Point
	mods     Mods
	space    bool
	panned   bool // while Space was held
	hover    scene.Hit
	hoverAt  time.Duration
	tip      tipState
	lastTick time.Duration

	click struct { // last primary press, for double clicks
		at   scene.Point
		time time.Duration
		hit  scene.Hit
		ok   bool
	}
	out Result
}

// tipState is how far the tool tip of the hovered thing is.
type tipState uint8

const (
	tipDue tipState = iota
	tipShown
	tipDone // hidden by a press or a key: comes back with the next thing
)

// activity is a gesture that began with a press (or a command).
type activity interface {
	move(m *Machine, e Event)
	up(m *Machine, e Event)
	cancel(m *Machine)
}

// New builds a machine over an empty scene at 100 %.
func New(cfg Config) *Machine {
	return &Machine{cfg: cfg, view: scene.Home(), selection: scene.Selection{}}
}

// SetConfig changes what the machine may do; a gesture in progress ends.
func (m *Machine) SetConfig(cfg Config) {
	m.Cancel()
	m.cfg = cfg
}

// SetScene shows another graph. A gesture in progress is dropped, the selection
// and the focus keep what still exists.
func (m *Machine) SetScene(s *scene.Scene) {
	m.act, m.trace = nil, Trace{}
	m.scene = s
	m.hover, m.tip, m.click.ok = scene.Hit{}, tipDue, false
	m.selection = s.Existing(m.selection)
	if _, ok := s.Node(m.focus); !ok {
		m.focus = ""
	}
}

// Scene is the graph shown, nil before SetScene.
func (m *Machine) Scene() *scene.Scene { return m.scene }

// View is the current pan and zoom.
func (m *Machine) View() scene.View { return m.view }

// SetView pans and zooms; the view is bounded to the content.
func (m *Machine) SetView(v scene.View) {
	if m.scene != nil {
		v = v.Bounded(m.scene.Extent(), m.size)
	}
	m.view = v
}

// SetSize tells the size of the canvas in logical pixels.
func (m *Machine) SetSize(size scene.Size) { m.size = size }

// Size is the size of the canvas in logical pixels.
func (m *Machine) Size() scene.Size { return m.size }

// Selection is the current selection; it must not be written to.
func (m *Machine) Selection() scene.Selection { return m.selection }

// SetSelection selects what exists of sel.
func (m *Machine) SetSelection(sel scene.Selection) {
	if m.scene == nil {
		return
	}
	m.selection = m.scene.Existing(sel)
	if nodes := m.selection.IDs(scene.KindNode); len(nodes) == 1 {
		m.focus = nodes[0]
	}
}

// Focus is the node that keys act on, or "".
func (m *Machine) Focus() scene.ID { return m.focus }

// Trace is what the gesture in progress shows. It is valid until the next event.
func (m *Machine) Trace() *Trace { return &m.trace }

// Busy tells whether a gesture is in progress.
func (m *Machine) Busy() bool { return m.act != nil }

// NeedsTick tells whether Tick events are wanted: something is being dragged,
// or a tool tip is due.
func (m *Machine) NeedsTick() bool {
	return m.act != nil || m.hover.Kind != scene.KindNone && m.tip == tipDue
}

// Cancel ends a gesture in progress without an intention, as Escape does.
func (m *Machine) Cancel() {
	if m.act != nil {
		m.act.cancel(m)
		m.act = nil
	}
	m.trace = Trace{HoverNode: m.trace.HoverNode, HoverHop: m.trace.HoverHop}
}

// FitAll shows the whole graph.
func (m *Machine) FitAll() {
	if m.scene != nil {
		m.view = scene.Fit(m.scene.Bounds(), m.size, FitMargin)
	}
}

// StartConnect begins a hop from a node as the menu item "Create hop" does:
// the next click on a node, or Enter on the focused one, ends it.
func (m *Machine) StartConnect(from scene.ID) Result {
	m.out = Result{}
	if m.scene != nil && !m.cfg.ReadOnly {
		if _, ok := m.scene.Node(from); ok {
			m.Cancel()
			m.begin(newConnect(m, from, true))
		}
	}
	return m.take()
}

// Handle feeds one event.
func (m *Machine) Handle(e Event) Result {
	m.out = Result{}
	if m.scene == nil {
		return m.out
	}
	if e.Kind != KeyDown && e.Kind != KeyUp && e.Kind != Tick && e.Kind != PointerLeave {
		m.pointer = e.At
	}
	if e.Kind != Tick && e.Kind != PointerLeave && e.Kind != DragLeave {
		m.mods = e.Mods
	}
	switch e.Kind {
	case Down:
		m.down(e)
	case Up:
		m.up(e)
	case PointerMove:
		m.pointerMove(e)
	case PointerLeave:
		m.setHover(scene.Hit{}, e)
	case Scroll:
		m.scroll(e)
	case KeyDown:
		m.keyDown(e)
	case KeyUp:
		m.keyUp(e)
	case DragOver, DragDrop, DragLeave:
		m.palette(e)
	case Tick:
		m.tick(e)
	}
	return m.take()
}

func (m *Machine) take() Result {
	out := m.out
	m.out = Result{}
	return out
}

func (m *Machine) emit(i Intent) { m.out.Intents = append(m.out.Intents, i) }

func (m *Machine) begin(a activity) {
	m.act = a
	m.out.Redraw = true
}

// end drops the gesture in progress and its trace.
func (m *Machine) end() {
	m.act = nil
	m.trace = Trace{HoverNode: m.trace.HoverNode, HoverHop: m.trace.HoverHop}
	m.out.Redraw = true
}

func (m *Machine) doc(at scene.Point) scene.Point { return m.view.ToDocument(at) }

func (m *Machine) look() scene.Look {
	l := scene.Look{View: m.view, Hover: m.trace.HoverNode}
	if !m.cfg.ReadOnly {
		l.Selected = m.selection
	} else {
		l.Hover = ""
	}
	return l
}

func (m *Machine) hit(at scene.Point) scene.Hit { return m.scene.HitTest(at, m.look()) }

// onCanvas tells whether a point lies on the canvas: a drag may end beside it.
func (m *Machine) onCanvas(at scene.Point) bool {
	return scene.Rect{Max: scene.Point{X: m.size.W, Y: m.size.H}}.Contains(at)
}

// choose changes the selection and tells it, if it differs.
func (m *Machine) choose(sel scene.Selection) {
	if nodes := sel.IDs(scene.KindNode); len(nodes) == 1 {
		m.focus = nodes[0]
	} else if len(nodes) == 0 {
		m.focus = ""
	}
	if sel.Equal(m.selection) {
		return
	}
	m.selection = sel
	m.out.Redraw = true
	m.emit(Select{sel})
}

// setView changes the view and tells it, if it differs.
func (m *Machine) setView(v scene.View) {
	v = v.Bounded(m.scene.Extent(), m.size)
	if v == m.view {
		return
	}
	m.view = v
	m.out.Redraw = true
	m.emit(View{v})
}

// overMiniMap returns the mini-map if the point lies on it.
func (m *Machine) overMiniMap(at scene.Point) (scene.MiniMap, bool) {
	if !m.cfg.MiniMap {
		return scene.MiniMap{}, false
	}
	mini := scene.NewMiniMap(m.scene.Extent(), m.view, m.size)
	return mini, mini.Visible() && mini.Frame.Contains(at)
}

func (m *Machine) canConnect(from, to scene.ID) bool {
	if from == to {
		return false
	}
	if m.cfg.CanConnect != nil {
		return m.cfg.CanConnect(from, to)
	}
	_, exists := m.scene.HopBetween(from, to)
	return !exists
}

// targets lists the nodes that a hop from a node may end at.
func (m *Machine) targets(from scene.ID) map[scene.ID]bool {
	ok := make(map[scene.ID]bool)
	for i := range m.scene.NodeCount() {
		if id := m.scene.NodeNumber(i).ID; m.canConnect(from, id) {
			ok[id] = true
		}
	}
	return ok
}
