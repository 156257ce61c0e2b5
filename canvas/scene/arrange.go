package scene

import (
	"cmp"
	"math"
	"slices"
)

// Placed is a thing and its place: the centre of a node, the top left of a note.
type Placed struct {
	Ref Ref
	Pos Point
}

// Edge is what an alignment lines up.
type Edge uint8

// The alignments.
const (
	AlignLeft Edge = iota
	AlignRight
	AlignTop
	AlignBottom
	AlignCentreX
	AlignCentreY
)

// Placement lists the nodes and notes of a selection with their places.
func (s *Scene) Placement(sel Selection) []Placed {
	var list []Placed
	for _, ref := range sel.Refs() {
		if p, ok := s.Place(ref); ok {
			list = append(list, Placed{ref, p})
		}
	}
	return list
}

// Align lines the things up and returns only those that move. Fewer than two
// things do not move.
func Align(things []Placed, edge Edge) map[Ref]Point {
	if len(things) < 2 {
		return nil
	}
	low, high := things[0].Pos, things[0].Pos
	for _, t := range things[1:] {
		low = Point{math.Min(low.X, t.Pos.X), math.Min(low.Y, t.Pos.Y)}
		high = Point{math.Max(high.X, t.Pos.X), math.Max(high.Y, t.Pos.Y)}
	}
	mid := low.Lerp(high, 0.5)
	return moved(things, func(p Point) Point {
		switch edge {
		case AlignLeft:
			p.X = low.X
		case AlignRight:
			p.X = high.X
		case AlignTop:
			p.Y = low.Y
		case AlignBottom:
			p.Y = high.Y
		case AlignCentreX:
			p.X = math.Round(mid.X)
		case AlignCentreY:
			p.Y = math.Round(mid.Y)
		}
		return p
	})
}

// Distribute gives the things equal steps between the outermost two, from left
// to right or (vertical) from top to bottom. Fewer than three do not move.
func Distribute(things []Placed, vertical bool) map[Ref]Point {
	if len(things) < 3 {
		return nil
	}
	axis := func(p Point) float64 {
		if vertical {
			return p.Y
		}
		return p.X
	}
	sorted := slices.Clone(things)
	slices.SortStableFunc(sorted, func(a, b Placed) int { return cmp.Compare(axis(a.Pos), axis(b.Pos)) })
	first, last := axis(sorted[0].Pos), axis(sorted[len(sorted)-1].Pos)
	out := make(map[Ref]Point)
	for i, t := range sorted {
		v := math.Round(first + (last-first)*float64(i)/float64(len(sorted)-1))
		p := t.Pos
		if vertical {
			p.Y = v
		} else {
			p.X = v
		}
		if p != t.Pos {
			out[t.Ref] = p
		}
	}
	return out
}

// SnapToGrid moves the things to the nearest point of the grid.
func SnapToGrid(things []Placed) map[Ref]Point {
	return moved(things, func(p Point) Point {
		return Point{math.Round(p.X/GridSize) * GridSize, math.Round(p.Y/GridSize) * GridSize}
	})
}

func moved(things []Placed, to func(Point) Point) map[Ref]Point {
	out := make(map[Ref]Point)
	for _, t := range things {
		if p := to(t.Pos); p != t.Pos {
			out[t.Ref] = p
		}
	}
	return out
}

// Guide is an alignment line in document units: at X from Y to Y when
// Vertical, else at Y from X to X.
type Guide struct {
	Vertical     bool
	At, From, To float64
}

// snapReach is how near, in screen pixels, a dragged node must be to snap.
const snapReach = 6.0

// Snap adjusts the place of a dragged node so that its centre lines up with
// the nearest resting node in view, and returns the guides that show it.
// moving are the things that are dragged along.
func (s *Scene) Snap(at Point, moving Selection, view View, size Size) (Point, []Guide) {
	reach := snapReach / view.Zoom
	bestX, bestY := reach, reach
	var onX, onY *Node
	for _, i := range s.NodesIn(nil, view.Visible(size)) {
		n := &s.nodes[i]
		if moving.Has(NodeRef(n.ID)) {
			continue
		}
		if d := math.Abs(n.Pos.X - at.X); d < bestX || d == bestX && onX != nil && closer(n, onX, at) {
			bestX, onX = d, n
		}
		if d := math.Abs(n.Pos.Y - at.Y); d < bestY || d == bestY && onY != nil && closer(n, onY, at) {
			bestY, onY = d, n
		}
	}
	var guides []Guide
	if onX != nil {
		at.X = onX.Pos.X
	}
	if onY != nil {
		at.Y = onY.Pos.Y
	}
	if onX != nil {
		guides = append(guides, Guide{true, at.X, math.Min(at.Y, onX.Pos.Y), math.Max(at.Y, onX.Pos.Y)})
	}
	if onY != nil {
		guides = append(guides, Guide{false, at.Y, math.Min(at.X, onY.Pos.X), math.Max(at.X, onY.Pos.X)})
	}
	return at, guides
}

func closer(a, b *Node, to Point) bool {
	return a.Pos.Sub(to).Length() < b.Pos.Sub(to).Length()
}
