package scene

import (
	"math"
	"slices"
)

// Part is the piece of a thing that lies under a point.
type Part uint8

// The parts. A node has body, label, state and gate badge and the connect
// handle; a hop has body, plate, gate bars and, when selected, its two ends;
// a note has body and, when selected, a corner to resize it.
const (
	PartNone Part = iota
	PartBody
	PartLabel
	PartState
	PartGate
	PartHandle
	PartPlate
	PartBars
	PartStart
	PartEnd
	PartCorner
)

// Hit is what lies under a point; Kind is KindNone on the background.
type Hit struct {
	Ref
	Part Part
}

// Look tells the hit test what else is on the screen.
type Look struct {
	View     View
	Selected Selection // selected hops and notes show handles
	Hover    ID        // the node that shows its connect handle
}

// Tolerances of the hit test in screen pixels.
const (
	hopTolerance = 6.0
	endRadius    = 9.0
	tileSlack    = 2.0
)

// handleRadius and badgeRadius, in document units, give targets of 24 pixels
// at 100 %.
const (
	handleRadius = 10.0
	badgeRadius  = 12.0
)

// HitTest finds the topmost thing under a screen point: nodes before hops
// before notes, and small parts before the body they sit on.
func (s *Scene) HitTest(at Point, look Look) Hit {
	doc, zoom := look.View.ToDocument(at), look.View.Zoom
	near := RectAround(doc, 2*(badgeRadius+hopTolerance/zoom), 2*(badgeRadius+hopTolerance/zoom))
	nodes := s.NodesIn(nil, near)
	if h := s.hitHandle(doc, look); h.Part != PartNone {
		return h
	}
	hops := s.HopsIn(nil, near)
	for _, i := range slices.Backward(hops) {
		if part := s.hitEnd(i, doc, look); part != PartNone {
			return Hit{HopRef(s.hops[i].ID), part}
		}
	}
	for _, i := range slices.Backward(nodes) {
		if part := s.hitNode(i, doc, zoom); part != PartNone {
			return Hit{NodeRef(s.nodes[i].ID), part}
		}
	}
	for _, i := range slices.Backward(hops) {
		if part := s.hitHopDetail(i, doc, look); part != PartNone {
			return Hit{HopRef(s.hops[i].ID), part}
		}
	}
	if i := s.nearestHop(hops, doc, zoom); i >= 0 {
		return Hit{HopRef(s.hops[i].ID), PartBody}
	}
	return s.hitNote(doc, look)
}

// Handle is the middle of a node's connect handle in document units.
func (s *Scene) Handle(i int) Point {
	p := s.nodes[i].Pos
	return Point{p.X + TileSize/2, p.Y}
}

// StateCentre is the middle of the state badge in document units.
func (s *Scene) StateCentre(i int) Point {
	p := s.nodes[i].Pos
	return Point{p.X - TileSize/2 + 1, p.Y - TileSize/2 + 1}
}

// GateCentre is the middle of the gate badge in document units.
func (s *Scene) GateCentre(i int) Point {
	p := s.nodes[i].Pos
	return Point{p.X + TileSize/2 - 1, p.Y - TileSize/2 + 1}
}

func (s *Scene) hitHandle(doc Point, look Look) Hit {
	i, ok := s.nodeAt[look.Hover]
	if !ok || !DetailAt(look.View.Zoom).Badges {
		return Hit{}
	}
	// The half of the dot that lies on the tile belongs to the handle only near
	// its middle, so that a small tile can still be dragged.
	h := s.Handle(i)
	if doc.X < h.X-HandleSize/2 || doc.Sub(h).Length() > handleRadius {
		return Hit{}
	}
	return Hit{NodeRef(look.Hover), PartHandle}
}

func (s *Scene) hitNode(i int, doc Point, zoom float64) Part {
	n := &s.nodes[i]
	if DetailAt(zoom).Badges {
		if n.Gate != GateNone && doc.Sub(s.GateCentre(i)).Length() <= badgeRadius {
			return PartGate
		}
		if n.State != StateNone && doc.Sub(s.StateCentre(i)).Length() <= badgeRadius {
			return PartState
		}
	}
	if s.Tile(i).Inset(-tileSlack / zoom).Contains(doc) {
		return PartBody
	}
	l := s.LabelOf(i, zoom)
	if l.Bounds.Empty() {
		return PartNone
	}
	// The label is laid out in screen pixels under the tile.
	p := doc.Sub(Point{n.Pos.X, n.Pos.Y + TileSize/2}).Mul(zoom)
	if l.Bounds.Contains(p) {
		return PartLabel
	}
	return PartNone
}

// hitEnd finds the dots at the ends of a selected hop, which lie on the edges
// of its tiles.
func (s *Scene) hitEnd(i int, doc Point, look Look) Part {
	if !look.Selected.Has(HopRef(s.hops[i].ID)) {
		return PartNone
	}
	r := s.Route(i, look.View.Zoom)
	switch {
	case doc.Sub(r.End()).Length() <= endRadius/look.View.Zoom:
		return PartEnd
	case doc.Sub(r.Start()).Length() <= endRadius/look.View.Zoom:
		return PartStart
	}
	return PartNone
}

func (s *Scene) hitHopDetail(i int, doc Point, look Look) Part {
	h, zoom := &s.hops[i], look.View.Zoom
	r := s.Route(i, zoom)
	detail := DetailAt(zoom)
	if h.Gate != GateNone && detail.Arrows {
		if p, _ := r.Gate(); doc.Sub(p).Length() <= badgeRadius {
			return PartBars
		}
	}
	if word := h.Word(); word != "" && detail.Labels {
		size := textSize(CaptionSize, zoom)
		plate := RectAround(r.Middle(), (s.measure.Width(word, size, false)+8)/zoom, (size+6)/zoom)
		if plate.Contains(doc) {
			return PartPlate
		}
	}
	return PartNone
}

func (s *Scene) nearestHop(hops []int, doc Point, zoom float64) int {
	best, found := hopTolerance/zoom, -1
	for _, i := range hops {
		if d := s.Route(i, zoom).Distance(doc); d <= best {
			best, found = d, i
		}
	}
	return found
}

func (s *Scene) hitNote(doc Point, look Look) Hit {
	slack := endRadius / look.View.Zoom
	notes := s.NotesIn(nil, RectAround(doc, 2*slack, 2*slack))
	for _, i := range slices.Backward(notes) {
		n := &s.notes[i]
		ref := NoteRef(n.ID)
		if look.Selected.Has(ref) && doc.Sub(n.Rect.Max).Length() <= slack {
			return Hit{ref, PartCorner}
		}
		if n.Rect.Contains(doc) {
			return Hit{ref, PartBody}
		}
	}
	return Hit{}
}

// NodeAt finds the topmost node whose tile or label lies under a screen point,
// with a little slack, as a connection needs it.
func (s *Scene) NodeAt(at Point, view View) (ID, bool) {
	doc := view.ToDocument(at)
	nodes := s.NodesIn(nil, RectAround(doc, 2*badgeRadius, 2*badgeRadius))
	for _, i := range slices.Backward(nodes) {
		if s.Tile(i).Inset(-6).Contains(doc) || s.hitNode(i, doc, view.Zoom) != PartNone {
			return s.nodes[i].ID, true
		}
	}
	return "", false
}

// DropHop finds the hop that a tile with this centre (document units) would be
// inserted into: the nearest one that passes through the inner half of the
// tile and does not belong to node (which may be "").
func (s *Scene) DropHop(node ID, centre Point, zoom float64) (ID, bool) {
	best, found := TileSize/3, ID("")
	ok := false
	for _, i := range s.HopsIn(nil, RectAround(centre, TileSize, TileSize)) {
		h := &s.hops[i]
		if h.From == node || h.To == node {
			continue
		}
		r := s.Route(i, zoom)
		// Near its ends the hop lies beside the tiles it joins: dropping there
		// means "beside", not "into".
		if math.Min(centre.Sub(r.Start()).Length(), centre.Sub(r.End()).Length()) < TileSize/4 {
			continue
		}
		if d := r.Distance(centre); d < best {
			best, found, ok = d, h.ID, true
		}
	}
	return found, ok
}
