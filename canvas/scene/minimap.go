package scene

import "math"

// Size and place of the mini-map on the screen.
const (
	MiniMapW      = 176.0
	MiniMapH      = 112.0
	miniMapMargin = 16.0
	miniMapInset  = 6.0
)

// MiniMap maps the document to the small overview in the lower right corner.
type MiniMap struct {
	Frame   Rect // panel on the screen
	View    Rect // the part of the document on the screen, as a box in the panel
	scale   float64
	offset  Point
	visible bool
}

// NewMiniMap computes the overview of content for a view of this size. On a
// screen too small for it, or for empty content, it is not Visible.
func NewMiniMap(content Rect, view View, size Size) MiniMap {
	m := MiniMap{Frame: Rect{
		Point{size.W - miniMapMargin - MiniMapW, size.H - miniMapMargin - MiniMapH},
		Point{size.W - miniMapMargin, size.H - miniMapMargin},
	}}
	if content.Empty() || m.Frame.Min.X < miniMapMargin || m.Frame.Min.Y < miniMapMargin {
		return m
	}
	m.visible = true
	shown := view.Visible(size)
	all := content.Inset(-TileSize / 2).Union(shown)
	inner := m.Frame.Inset(miniMapInset)
	m.scale = math.Min(inner.W()/all.W(), inner.H()/all.H())
	m.offset = inner.Centre().Sub(all.Centre().Mul(m.scale))
	m.View = Rect{m.ToMap(shown.Min), m.ToMap(shown.Max)}
	return m
}

// Visible tells whether there is a mini-map to draw and to hit.
func (m MiniMap) Visible() bool { return m.visible }

// ToMap maps a document point into the panel.
func (m MiniMap) ToMap(p Point) Point { return p.Mul(m.scale).Add(m.offset) }

// ToDocument maps a point of the panel to the document.
func (m MiniMap) ToDocument(p Point) Point { return p.Sub(m.offset).Mul(1 / m.scale) }

// Dot is the edge of the square that stands for a tile: 8 pixels, fewer when
// the graph is so large that squares would touch.
func (m MiniMap) Dot() float64 {
	return math.Max(2, math.Min(8, TileSize*1.2*m.scale))
}

// MiniTone is the colour of a node in the overview: its gate when that needs
// attention, else its state, else its gate.
func MiniTone(n *Node) Tone {
	switch {
	case n.Gate == GateStale || n.Gate == GateInterrupted || n.Gate == GateCorrupt:
		return n.Gate.Tone()
	case n.State != StateNone:
		return n.State.Tone()
	case n.Gate != GateNone:
		return n.Gate.Tone()
	}
	return ToneNeutral
}
