package paint

import (
	"image"
	"math"

	"sluice/canvas/scene"
)

// note draws a card with its text.
func (p *Painter) note(n *scene.Note) {
	t := p.f.Theme
	b := p.rect(n.Rect)
	b = scene.Rect{
		Min: scene.Point{X: math.Round(b.Min.X), Y: math.Round(b.Min.Y)},
		Max: scene.Point{X: math.Round(b.Max.X), Y: math.Round(b.Max.Y)},
	}
	selected := p.f.Marks.Selected.Has(scene.NoteRef(n.ID))
	p.r.card(b, p.unit(2), t.Note, math.Max(1, math.Round(p.px(1))), t.NoteLine)
	if p.d.Labels {
		p.noteText(n, b)
	}
	if selected {
		p.r.ring(b.Inset(-p.px(2)), p.unit(3), p.px(2), t.Primary)
		p.r.disc(b.Max, p.px(5), t.Primary)
		p.r.disc(b.Max, p.px(3), t.Surface)
	}
}

func (p *Painter) noteText(n *scene.Note, b scene.Rect) {
	size := math.Max(10, math.Round(scene.NameSize*p.f.View.Zoom*4)/4)
	pad := scene.NotePadding * p.k
	pitch := p.px(math.Round(size * 1.34))
	above := 5 * p.k
	rows := int((b.H() - 1.4*above) / pitch)
	limit := (b.W() - 2*pad) / p.f.Scale
	if rows < 1 || limit < size {
		return
	}
	width := func(s string) float64 { return p.fonts.WidthOf(s, Regular, size) }
	y := b.Min.Y + above + p.px(size)
	for _, line := range scene.WrapText(n.Text, limit, rows, width) {
		p.text(line, Regular, size, b.Min.X+pad, y, p.f.Theme.Text, false, 255)
		y += pitch
	}
}

// marks draws the traces of a gesture.
func (p *Painter) marks() {
	m, t := &p.f.Marks, p.f.Theme
	for _, g := range m.Guides {
		a, b := scene.Point{X: g.From, Y: g.At}, scene.Point{X: g.To, Y: g.At}
		if g.Vertical {
			a, b = scene.Point{X: g.At, Y: g.From}, scene.Point{X: g.At, Y: g.To}
		}
		p.r.polyline([]scene.Point{p.at(a), p.at(b)}, pen{width: p.px(1), col: t.Primary})
	}
	if m.Wire != nil {
		p.wire(m.Wire)
	}
	if m.Lasso != nil {
		b := p.rect(*m.Lasso)
		p.r.box(b, t.Primary, 28)
		p.r.frame(b, math.Max(1, math.Round(p.px(1))), t.Primary)
	}
	if m.Landing != nil {
		c, arm := p.at(*m.Landing), p.px(8)
		p.r.polyline([]scene.Point{{X: c.X - arm, Y: c.Y}, {X: c.X + arm, Y: c.Y}}, pen{width: p.px(2), col: t.Primary})
		p.r.polyline([]scene.Point{{X: c.X, Y: c.Y - arm}, {X: c.X, Y: c.Y + arm}}, pen{width: p.px(2), col: t.Primary})
	}
}

// wire draws a hop whose end follows the pointer.
func (p *Painter) wire(w *Wire) {
	c := p.f.Theme.Primary
	if w.Kind == scene.HopError || w.Kind == scene.HopFailure {
		c = p.f.Theme.Tone(scene.ToneError).Ink
	}
	bend := (w.To.X - w.From.X) * 0.5
	route := scene.Route{N: 4, Curve: true, Pts: [6]scene.Point{
		w.From, {X: w.From.X + bend, Y: w.From.Y}, {X: w.To.X - bend, Y: w.To.Y}, w.To,
	}}
	width := p.unit(2)
	pts := p.flat(route, width)
	tip := pts[len(pts)-1]
	_, dir := route.Arrow()
	size := p.unit(scene.ArrowSize)
	p.r.polyline(shorten(pts, size*0.7), pen{width: width, col: c})
	p.arrow(tip, dir, size, c)
}

// miniMapOf is the overview of a frame on an image with these bounds.
func miniMapOf(f *Frame, full image.Rectangle) scene.MiniMap {
	size := scene.Size{W: float64(full.Dx()) / f.Scale, H: float64(full.Dy()) / f.Scale}
	return scene.NewMiniMap(f.Scene.Extent(), f.View, size)
}

// miniMap draws the overview in the corner.
func (p *Painter) miniMap(full image.Rectangle) {
	f, t := p.f, p.f.Theme
	m := miniMapOf(f, full)
	grown := func(r scene.Rect) scene.Rect {
		return scene.Rect{Min: r.Min.Mul(f.Scale), Max: r.Max.Mul(f.Scale)}
	}
	panel := grown(m.Frame)
	if !m.Visible() || !device(m.Frame, f.Scale).Overlaps(p.r.clip) {
		return
	}
	p.r.card(panel, p.px(4), t.Surface, math.Max(1, math.Round(p.px(1))), t.Line)
	outer := p.r.clip
	defer func() { p.r.clip = outer }()
	p.r.clip = device(m.Frame.Inset(3), f.Scale).Intersect(outer)
	for i := range f.Scene.NoteCount() {
		r := f.Scene.NoteNumber(i).Rect
		p.r.box(grown(scene.Rect{Min: m.ToMap(r.Min), Max: m.ToMap(r.Max)}), t.Note, 255)
	}
	dot := math.Round(p.px(m.Dot()))
	for i := range f.Scene.NodeCount() {
		n := f.Scene.NodeNumber(i)
		c := t.Hop
		if tone := scene.MiniTone(n); tone != scene.ToneNeutral {
			c = t.fill(tone)
		}
		q := m.ToMap(n.Pos).Mul(f.Scale)
		x, y := int(math.Round(q.X-dot/2)), int(math.Round(q.Y-dot/2))
		p.r.fill(image.Rect(x, y, x+int(dot), y+int(dot)), c)
	}
	view := grown(m.View)
	inner := panel.Inset(p.px(3))
	view = scene.Rect{
		Min: scene.Point{X: math.Max(view.Min.X, inner.Min.X), Y: math.Max(view.Min.Y, inner.Min.Y)},
		Max: scene.Point{X: math.Min(view.Max.X, inner.Max.X), Y: math.Min(view.Max.Y, inner.Max.Y)},
	}
	if !view.Empty() {
		p.r.frame(view, math.Round(p.px(2)), t.Primary)
	}
}

// empty says in the middle of the picture that there is nothing yet.
func (p *Painter) empty(full image.Rectangle) {
	t, e := p.f.Theme, &p.f.Empty
	const block, titleSize, textSize = 320.0, 14.0, 13.0
	mid := scene.Point{X: float64(full.Dx()) / 2, Y: float64(full.Dy())/2 - p.px(32)}
	icon := int(math.Round(p.px(32)))
	if e.Icon != "" {
		p.r.blit(p.sprite(spriteKey{kind: spriteIcon, icon: e.Icon, px: icon, ink: t.Primary}),
			int(mid.X), int(mid.Y), 255)
	}
	line := func(s string, face Face, size, y float64, soft bool) {
		c := t.Text
		if soft {
			c = t.TextSoft
		}
		p.text(s, face, size, mid.X-p.px(p.fonts.WidthOf(s, face, size))/2, mid.Y+p.px(y), c, false, 255)
	}
	line(e.Title, Bold, titleSize, 38, false)
	width := func(s string) float64 { return p.fonts.WidthOf(s, Regular, textSize) }
	for i, s := range scene.WrapText(e.Text, block-48, 3, width) {
		line(s, Regular, textSize, 64+18*float64(i), true)
	}
}
