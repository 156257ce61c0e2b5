package gesture

import (
	"math"

	"sluice/canvas/scene"
)

// press is a button held down before it is clear what it will be.
type press struct {
	start  scene.Point
	mods   Mods
	hit    scene.Hit
	was    scene.Selection
	middle bool
	moved  bool // too far for a click, on something that cannot be dragged
}

func (p *press) move(m *Machine, e Event) {
	if e.At.Sub(p.start).Length() < DragThreshold {
		return
	}
	m.click.ok = false
	next := p.becomes(m)
	if next == nil {
		p.moved = true
		return
	}
	m.begin(next)
	next.move(m, e)
}

// becomes is the gesture that a drag from here starts; nil is none.
func (p *press) becomes(m *Machine) activity {
	switch {
	case p.middle:
		return &pan{last: p.start}
	case p.hit.Kind == scene.KindNone:
		return &lasso{from: m.doc(p.start), keep: p.keep()}
	case m.cfg.ReadOnly:
		return nil
	case p.hit.Kind == scene.KindNode && (p.hit.Part == scene.PartHandle || p.mods&Shift != 0):
		return newConnect(m, p.hit.ID, false)
	case p.hit.Kind == scene.KindHop && (p.hit.Part == scene.PartStart || p.hit.Part == scene.PartEnd):
		return newRewire(m, p.hit)
	case p.hit.Kind == scene.KindNote && p.hit.Part == scene.PartCorner:
		return newResize(m, p.hit.ID)
	case p.hit.Kind == scene.KindHop:
		return nil
	}
	return newDrag(m, p)
}

// keep is the selection that a lasso adds to.
func (p *press) keep() scene.Selection {
	if p.mods&(Shift|Ctrl) != 0 {
		return p.was
	}
	return nil
}

// up is a click.
func (p *press) up(m *Machine, e Event) {
	m.end()
	if p.moved {
		return
	}
	switch p.hit.Kind {
	case scene.KindNone:
		p.clickEmpty(m, e)
	case scene.KindHop:
		p.clickHop(m)
	case scene.KindNode, scene.KindNote:
		p.clickThing(m)
	}
	if p.mods != 0 {
		return
	}
	switch p.hit.Part {
	case scene.PartGate, scene.PartBars:
		m.emit(Gate{p.hit.Ref, e.At})
	case scene.PartState:
		m.emit(State{p.hit.ID, e.At})
	}
}

// clickEmpty clears a selection; where nothing is selected it opens the
// context dialog, as in Hop.
func (p *press) clickEmpty(m *Machine, e Event) {
	switch {
	case p.mods != 0:
	case len(m.selection) > 0:
		m.choose(scene.Selection{})
	case !m.cfg.ReadOnly:
		m.emit(Add{At: e.At, Document: m.doc(e.At)})
	}
}

func (p *press) clickHop(m *Machine) {
	switch {
	case m.cfg.ReadOnly || p.mods&Ctrl == 0:
		p.clickThing(m)
	case p.mods&Shift != 0:
		m.emit(Delete{[]scene.Ref{p.hit.Ref}})
	default:
		m.emit(ToggleHop{p.hit.ID})
	}
}

func (p *press) clickThing(m *Machine) {
	switch {
	case p.hit.Part == scene.PartHandle:
		m.choose(scene.Select(p.hit.Ref))
	case p.mods&Ctrl != 0 && p.mods&Shift != 0 && p.hit.Kind == scene.KindNode:
		m.emit(Open{p.hit.ID})
	case p.mods&(Ctrl|Shift) != 0:
		m.choose(m.selection.Toggled(p.hit.Ref))
	default:
		m.choose(scene.Select(p.hit.Ref))
	}
}

func (p *press) cancel(*Machine) {}

// pan moves the picture with the pointer.
type pan struct{ last scene.Point }

func (p *pan) move(m *Machine, e Event) {
	m.trace.Cursor = CursorMove
	m.setView(m.view.PanBy(e.At.Sub(p.last)))
	p.last = e.At
}

func (p *pan) up(m *Machine, _ Event) { m.end() }
func (p *pan) cancel(*Machine)        {}

// doubled is the second press of a double click. It edits when the button is let go:
// what opens would lose the keyboard to a button that is let go later.
type doubled struct{ ref scene.Ref }

func (d doubled) move(*Machine, Event) {}
func (d doubled) up(m *Machine, _ Event) {
	m.end()
	m.emit(Edit{d.ref})
}
func (d doubled) cancel(*Machine) {}

// miniPan moves the view by its box in the mini-map. The map is kept as it was
// at the press: its scale would change under the pointer otherwise.
type miniPan struct {
	mini scene.MiniMap
	grab scene.Point // from the middle of the box to the pointer
}

func (p *miniPan) move(m *Machine, e Event) {
	m.setView(m.view.CentreOn(p.mini.ToDocument(e.At.Sub(p.grab)), m.size))
}

func (p *miniPan) up(m *Machine, _ Event) { m.end() }
func (p *miniPan) cancel(*Machine)        {}

// lasso selects by a rubber band.
type lasso struct {
	from scene.Point // document units
	keep scene.Selection
}

func (l *lasso) move(m *Machine, e Event) {
	r := scene.RectBetween(l.from, m.doc(e.At))
	m.trace.Lasso = &r
	m.out.Redraw = true
}

func (l *lasso) up(m *Machine, e Event) {
	caught := m.scene.Lasso(scene.RectBetween(l.from, m.doc(e.At)))
	m.end()
	m.choose(l.keep.With(caught))
}

func (l *lasso) cancel(*Machine) {}

// drag moves nodes and notes.
type drag struct {
	from   scene.Point // pointer in the document at the press
	lead   scene.Ref   // the thing under the pointer
	places map[scene.Ref]scene.Point
	moving scene.Selection
	detach bool
}

func newDrag(m *Machine, p *press) activity {
	moving := scene.Selection{}
	if m.selection.Has(p.hit.Ref) {
		moving = m.selection
	}
	if len(moving) == 0 {
		moving = scene.Select(p.hit.Ref)
		if p.mods == 0 || p.mods == Alt {
			m.choose(moving)
		}
	}
	d := &drag{from: m.doc(p.start), lead: p.hit.Ref, moving: moving, places: make(map[scene.Ref]scene.Point)}
	for _, t := range m.scene.Placement(moving) {
		d.places[t.Ref] = t.Pos
	}
	d.detach = p.mods == Alt && p.hit.Kind == scene.KindNode && len(d.places) == 1
	return d
}

func (d *drag) move(m *Machine, e Event) {
	m.trace.Cursor = CursorMove
	shift := m.doc(e.At).Sub(d.from)
	lead := d.places[d.lead].Add(shift)
	m.trace.Guides = nil
	if d.lead.Kind == scene.KindNode && e.Mods&Shift == 0 {
		lead, m.trace.Guides = m.scene.Snap(lead, d.moving, m.view, m.size)
	}
	lead = scene.Point{X: math.Round(lead.X), Y: math.Round(lead.Y)}
	shift = lead.Sub(d.places[d.lead])
	to := make(map[scene.Ref]scene.Point, len(d.places))
	for ref, p := range d.places {
		to[ref] = p.Add(shift)
	}
	m.scene.Move(to)
	m.trace.DropHop = ""
	if d.lead.Kind == scene.KindNode && len(d.places) == 1 && !d.detach {
		m.trace.DropHop, _ = m.scene.DropHop(d.lead.ID, lead, m.view.Zoom)
	}
	m.out.Redraw = true
}

func (d *drag) up(m *Machine, e Event) {
	d.move(m, e)
	hop := m.trace.DropHop
	m.end()
	to := make(map[scene.Ref]scene.Point)
	for ref, old := range d.places {
		if p, ok := m.scene.Place(ref); ok && p != old {
			to[ref] = p
		}
	}
	switch {
	case len(to) == 0:
	case d.detach:
		m.emit(Detach{d.lead.ID, to[d.lead]})
	case hop != "":
		m.emit(Insert{d.lead.ID, hop, to})
	default:
		m.emit(Move{to})
	}
}

func (d *drag) cancel(m *Machine) {
	m.scene.Move(d.places)
	m.out.Redraw = true
}

// resize drags the lower right corner of a note.
type resize struct {
	note scene.ID
	old  scene.Rect
}

// minNote is the smallest edge of a note, in document units.
const minNote = 32.0

func newResize(m *Machine, id scene.ID) activity {
	n, _ := m.scene.Note(id)
	return &resize{id, n.Rect}
}

func (r *resize) rect(m *Machine, e Event) scene.Rect {
	p := m.doc(e.At)
	return scene.Rect{Min: r.old.Min, Max: scene.Point{
		X: math.Max(r.old.Min.X+minNote, math.Round(p.X)),
		Y: math.Max(r.old.Min.Y+minNote, math.Round(p.Y)),
	}}
}

func (r *resize) move(m *Machine, e Event) {
	m.trace.Cursor = CursorResize
	m.scene.SetNoteRect(r.note, r.rect(m, e))
	m.out.Redraw = true
}

func (r *resize) up(m *Machine, e Event) {
	to := r.rect(m, e)
	m.scene.SetNoteRect(r.note, to)
	m.end()
	if to != r.old {
		m.emit(ResizeNote{r.note, to})
	}
}

func (r *resize) cancel(m *Machine) {
	m.scene.SetNoteRect(r.note, r.old)
	m.out.Redraw = true
}
