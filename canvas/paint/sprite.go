package paint

import (
	"image/color"
	"math"

	"sluice/canvas/scene"
)

// spriteKey names a ready-made tile or badge. Sprites hang on nothing but
// these values, so one cache serves both themes and every zoom.
type spriteKey struct {
	kind   spriteKind
	icon   string
	px     int // edge of the tile or badge
	iconPx int
	unit   uint16 // quarter device pixels per document unit of line width
	border uint16 // line width in quarter document units
	dashed bool
	ground color.RGBA
	line   color.RGBA
	ink    color.RGBA
}

type spriteKind uint8

const (
	spriteTile spriteKind = iota
	spriteState
	spriteGateOutline
	spriteGateFilled
	spriteIcon
)

// spriteBytes bounds the cache of tiles and badges.
const spriteBytes = 16 << 20

// sprite returns a tile or badge, drawing it on first use.
func (p *Painter) sprite(key spriteKey) *sprite {
	if s, ok := p.sprites.get(key); ok {
		return s
	}
	var s *sprite
	switch key.kind {
	case spriteTile:
		s = p.drawTile(key)
	case spriteState:
		s = p.drawState(key)
	case spriteIcon:
		s = p.drawIcon(key)
	default:
		s = p.drawGate(key)
	}
	s.seal()
	p.sprites.put(key, s, len(s.pix)+16*s.h+len(key.icon)+160)
	return s
}

func newSprite(size int) *sprite {
	return &sprite{w: size, h: size, ox: size / 2, oy: size / 2, pix: make([]uint8, size*size*4)}
}

// over lays a colour through coverage on one pixel of the sprite.
func (s *sprite) over(i int, c color.RGBA, a uint32) {
	if a == 0 {
		return
	}
	d, n := s.pix[i*4:i*4+4], 255-a
	d[0] = uint8(div255(uint32(c.R)*a + uint32(d[0])*n))
	d[1] = uint8(div255(uint32(c.G)*a + uint32(d[1])*n))
	d[2] = uint8(div255(uint32(c.B)*a + uint32(d[2])*n))
	d[3] = uint8(div255(255*a + uint32(d[3])*n))
}

func (s *sprite) stencil(st *stencil, c color.RGBA) {
	for i, a := range st.cov {
		s.over(i, c, uint32(a))
	}
}

// drawing finds and parses an icon once. An unknown or broken icon is nil: the
// tile then shows without one.
func (p *Painter) drawing(name string) *drawing {
	d, ok := p.drawings[name]
	if ok || name == "" {
		return d
	}
	if data, err := p.icons(name); err == nil {
		// A broken icon must not stop the picture; the icon test finds it.
		d, _ = parseIcon(data)
	}
	if len(p.drawings) >= maxDrawings {
		clear(p.drawings)
	}
	p.drawings[name] = d
	return d
}

const maxDrawings = 512

// drawTile makes ground, border and icon of a tile.
func (p *Painter) drawTile(key spriteKey) *sprite {
	unit := float64(key.unit) / 4
	border := float64(key.border) / 4 * unit
	pad := int(math.Ceil(border)) + 1
	n := key.px + 2*pad
	s := newSprite(n)
	s.ox, s.oy = pad, pad // a tile is placed by its top left corner
	b := scene.Rect{Min: scene.Point{X: float64(pad), Y: float64(pad)}, Max: scene.Point{X: float64(pad + key.px), Y: float64(pad + key.px)}}
	radius := scene.TileRadius / scene.TileSize * float64(key.px)
	period := 6 * math.Max(unit, 0.5)
	for y := range n {
		for x := range n {
			fx, fy := float64(x)+0.5, float64(y)+0.5
			dist := roundDistance(b, radius, fx, fy)
			s.over(y*n+x, key.ground, coverage(0.5-dist))
			line := border/2 + 0.5 - math.Abs(dist)
			if key.dashed && line > 0 {
				along := fx
				if math.Abs(fx-float64(n)/2) > math.Abs(fy-float64(n)/2) {
					along = fy
				}
				line = math.Min(line, 1) * dashes{period / 2, period / 2}.at(along-float64(n)/2+period/4)
			}
			s.over(y*n+x, key.line, coverage(line))
		}
	}
	if d := p.drawing(key.icon); d != nil && key.iconPx > 0 {
		st := newStencil(n)
		st.draw(d, place{float64(key.iconPx) / d.grid, float64(n-key.iconPx) / 2})
		s.stencil(st, key.ink)
	}
	return s
}

// drawIcon makes a bare icon.
func (p *Painter) drawIcon(key spriteKey) *sprite {
	s := newSprite(key.px)
	if d := p.drawing(key.icon); d != nil {
		st := newStencil(key.px)
		st.draw(d, place{float64(key.px) / d.grid, 0})
		s.stencil(st, key.ink)
	}
	return s
}

// drawState makes a state badge: the icon on a disc in canvas colour that
// keeps it apart from the tile.
func (p *Painter) drawState(key spriteKey) *sprite {
	n := key.px + 6 | 1
	s := newSprite(n)
	radius := float64(key.px) * 0.54
	mid := float64(n) / 2
	for y := range n {
		for x := range n {
			d := math.Hypot(float64(x)+0.5-mid, float64(y)+0.5-mid)
			s.over(y*n+x, key.ground, coverage(radius+0.5-d))
		}
	}
	if d := p.drawing(key.icon); d != nil {
		st, pl := newStencil(n), place{float64(key.px) / d.grid, float64(n-key.px) / 2}
		for i := range d.shapes {
			st.stroke(&d.shapes[i], pl, d.shapes[i].stroke*stateWeight*pl.scale)
		}
		s.stencil(st, key.ink)
	}
	return s
}

// Badges are small: their lines are drawn heavier than those of other icons.
const (
	stateWeight = 1.3
	gateWeight  = 1.45
)

// drawGate makes a gate badge. Its first shape is the outline: kept apart from
// the tile by a rim in canvas colour, filled with the ink (or, for the outlined
// badge, with canvas colour). The other shapes are the glyph inside.
func (p *Painter) drawGate(key spriteKey) *sprite {
	n := key.px + 8 | 1
	s := newSprite(n)
	d := p.drawing(key.icon)
	if d == nil || len(d.shapes) == 0 {
		return s
	}
	pl := place{float64(key.px) / d.grid, float64(n-key.px) / 2}
	outline := &d.shapes[0]
	rim := newStencil(n)
	rim.fill(outline, pl)
	rim.stroke(outline, pl, (outline.stroke+3.6)*pl.scale)
	s.stencil(rim, key.ground)
	body, inside := newStencil(n), newStencil(n)
	body.stroke(outline, pl, outline.stroke*pl.scale)
	for i := range d.shapes[1:] {
		shape := &d.shapes[1+i]
		inside.stroke(shape, pl, shape.stroke*gateWeight*pl.scale)
	}
	glyph := key.ink
	if key.kind == spriteGateFilled {
		body.fill(outline, pl)
		glyph = key.ground
	}
	s.stencil(body, key.ink)
	s.stencil(inside, glyph)
	return s
}
