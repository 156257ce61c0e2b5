package paint

import (
	"image/color"
	"math"

	"sluice/canvas/scene"
)

// Opacity of disabled things (55 %) and of nodes that a connection cannot end at.
const (
	disabledAlpha = 140
	dimmedAlpha   = 90
)

// tileLook is the colours of a tile.
type tileLook struct {
	ground, line, ink color.RGBA
	border            float64
	dashed            bool
}

func (t *Theme) tileLook(n *scene.Node) tileLook {
	l := tileLook{ground: t.Tile, line: t.TileLine, ink: t.Text, border: scene.HopWidth}
	if n.Outside {
		l = tileLook{ground: t.Outside, line: t.OutsideLine, ink: t.OutsideLine, border: scene.HopWidth}
	}
	planned := func(tone scene.Tone) {
		c := t.Tone(tone)
		l = tileLook{ground: c.Soft, line: c.Ink, ink: c.Ink, border: 2}
	}
	switch n.Plan {
	case scene.PlanReuse:
		planned(scene.ToneReuse)
	case scene.PlanRun:
		planned(scene.ToneRun)
	case scene.PlanBlocked:
		planned(scene.ToneError)
	case scene.PlanNotReached:
		l = tileLook{ground: t.Tile, line: t.TileLine, ink: t.TileLine, border: scene.HopWidth, dashed: true}
	case scene.PlanNone:
		switch n.State {
		case scene.StateRunning:
			l.line, l.border = t.Tone(scene.ToneRun).Ink, 2
		case scene.StateFailed:
			l.line, l.border = t.Tone(scene.ToneError).Ink, 2
		}
	}
	return l
}

// alpha is the opacity of a node and its label.
func (p *Painter) alpha(n *scene.Node) uint32 {
	m := &p.f.Marks
	if m.Connecting && n.ID != m.Source && !m.Targets[n.ID] {
		return dimmedAlpha
	}
	return 255
}

// corner is the top left device pixel of a node's tile and its edge in pixels.
func (p *Painter) corner(pos scene.Point) (x, y, px int) {
	px = max(2, int(math.Round(scene.TileSize*p.k)))
	c := p.at(pos)
	return int(math.Round(c.X - float64(px)/2)), int(math.Round(c.Y - float64(px)/2)), px
}

func (p *Painter) tile(i int) {
	n, t := p.f.Scene.NodeNumber(i), p.f.Theme
	x, y, px := p.corner(n.Pos)
	p.ground(n, x, y, px)
	look := t.tileLook(n)
	key := spriteKey{
		kind: spriteTile, px: px, dashed: look.dashed,
		unit:   quarter(p.unit(1)),
		border: quarter(look.border),
		ground: look.ground, line: look.line, ink: look.ink,
	}
	if p.d.Icons {
		key.icon, key.iconPx = n.Icon, int(math.Round(scene.IconSize*p.k))
		// Icon and tile share their middle only when both are odd or even.
		key.iconPx += (key.px - key.iconPx) & 1
	}
	alpha := p.alpha(n)
	if n.Disabled {
		alpha = div255(alpha * disabledAlpha)
	}
	if alpha < 255 {
		// Hops must not shine through a faded tile.
		p.r.box(scene.Rect{
			Min: scene.Point{X: float64(x + 1), Y: float64(y + 1)},
			Max: scene.Point{X: float64(x + px - 1), Y: float64(y + px - 1)},
		}, t.Canvas, 255)
	}
	p.r.blit(p.sprite(key), x, y, alpha)
	if n.Copies != "" && p.d.Labels {
		size := math.Max(8, 10*p.f.View.Zoom)
		w := p.px(p.fonts.WidthOf(n.Copies, Regular, size))
		p.text(n.Copies, Regular, size, float64(x+px)-w-4*p.k, float64(y+px)-4*p.k, look.ink, false, alpha)
	}
	p.badges(n, x, y, px, p.alpha(n))
}

// ground fills the space between a selected tile and its ring.
func (p *Painter) ground(n *scene.Node, x, y, px int) {
	if p.f.Marks.Selected.Has(scene.NodeRef(n.ID)) {
		b, radius := p.ringBox(x, y, px)
		p.r.card(b, radius, p.f.Theme.Selection, 0, p.f.Theme.Primary)
	}
}

func (p *Painter) ringBox(x, y, px int) (b scene.Rect, radius float64) {
	gap := p.unit(5)
	return scene.Rect{
		Min: scene.Point{X: float64(x) - gap, Y: float64(y) - gap},
		Max: scene.Point{X: float64(x+px) + gap, Y: float64(y+px) + gap},
	}, scene.TileRadius*p.k + gap
}

// ring draws selection, focus or target around a tile, over the labels.
func (p *Painter) ring(i int) {
	n, m, t := p.f.Scene.NodeNumber(i), &p.f.Marks, p.f.Theme
	x, y, px := p.corner(n.Pos)
	b, radius := p.ringBox(x, y, px)
	switch {
	case m.Selected.Has(scene.NodeRef(n.ID)) || m.Focus != "" && m.Focus == n.ID:
		p.r.ring(b, radius, p.px(2), t.Primary)
	case m.Connecting && m.Targets[n.ID]:
		p.r.ring(b.Inset(p.px(1)), radius, p.px(1.5), t.Primary)
	default:
		return
	}
	p.badges(n, x, y, px, p.alpha(n))
}

// badgePixels is the edge of a badge: it follows the zoom down to a size that
// can still be told apart.
func (p *Painter) badgePixels(size float64) int {
	return int(math.Round(size * p.f.Scale * math.Max(0.45, p.f.View.Zoom)))
}

func (p *Painter) badges(n *scene.Node, x, y, px int, alpha uint32) {
	if !p.d.Badges {
		return
	}
	t := p.f.Theme
	shift := int(math.Round(p.k))
	if n.State != scene.StateNone {
		p.r.blit(p.sprite(spriteKey{
			kind: spriteState, icon: n.State.Icon(), px: p.badgePixels(scene.StateSize),
			ground: t.Canvas, ink: t.Tone(n.State.Tone()).Ink,
		}), x+shift, y+shift, alpha)
	}
	if n.Gate != scene.GateNone {
		key := spriteKey{
			kind: spriteGateFilled, icon: n.Gate.Icon(), px: p.badgePixels(scene.GateSize),
			ground: t.Canvas, ink: t.fill(n.Gate.Tone()),
		}
		if n.Gate == scene.GateArmed {
			key.kind = spriteGateOutline
		}
		p.r.blit(p.sprite(key), x+px-shift, y+shift, alpha)
	}
	if n.Flag != "" && p.d.Labels {
		p.flag(n.Flag, float64(x)+float64(px)/2, float64(y))
	}
}

// flag draws the plate above a tile, with a point towards it.
func (p *Painter) flag(text string, middle, top float64) {
	t := p.f.Theme
	size := math.Max(10, 11*p.f.View.Zoom)
	h, w := p.px(size*1.65), p.px(p.fonts.WidthOf(text, Bold, size)+size*1.8)
	bottom := math.Round(top - p.unit(5))
	ground := t.Tone(scene.ToneRun).Ink
	b := scene.Rect{
		Min: scene.Point{X: math.Round(middle - w/2), Y: math.Round(bottom - h)},
		Max: scene.Point{X: math.Round(middle + w/2), Y: bottom},
	}
	p.r.card(b, p.unit(2), ground, 0, ground)
	tip := p.unit(4)
	p.r.triangle(
		scene.Point{X: middle - tip, Y: bottom - 0.5}, scene.Point{X: middle + tip, Y: bottom - 0.5},
		scene.Point{X: middle, Y: bottom + tip}, ground)
	tw := p.px(p.fonts.WidthOf(text, Bold, size))
	p.text(text, Bold, size, middle-tw/2, b.Min.Y+h*0.5+p.px(size*0.36), t.Canvas, false, 255)
}

// label draws name and metric under a tile.
func (p *Painter) label(i int) {
	n, t := p.f.Scene.NodeNumber(i), p.f.Theme
	l := p.f.Scene.LabelOf(i, p.f.View.Zoom)
	if l.Bounds.Empty() {
		return
	}
	x, y, px := p.corner(n.Pos)
	middle, foot := float64(x)+float64(px)/2, float64(y+px)
	alpha, ink := p.alpha(n), t.Text
	if n.Disabled {
		ink = t.TextSoft
	}
	for k := range l.Lines {
		line := l.Name[k]
		p.text(line.Text, Bold, l.NameSize, middle-p.px(line.Width)/2, foot+p.px(l.NameBase+float64(k)*l.Pitch), ink, true, alpha)
	}
	if l.Metric.Text != "" {
		c := t.TextSoft
		if n.MetricTone != scene.ToneNeutral {
			c = t.Tone(n.MetricTone).Ink
		}
		p.text(l.Metric.Text, Regular, l.MetricSize, middle-p.px(l.Metric.Width)/2, foot+p.px(l.MetricBase), c, true, alpha)
	}
}
