package paint

import (
	"image"
	"image/color"
	"math"

	"sluice/canvas/scene"
)

// hopLook is colour, width and dashes of a hop.
type hopLook struct {
	col   color.RGBA
	width float64 // logical pixels at 100 %
	dash  dashes
}

// HopInk is the colour of a hop that is not selected.
func (t *Theme) HopInk(h *scene.Hop) color.RGBA {
	switch {
	case h.Disabled || h.Plan == scene.PlanNotReached:
		return t.Hop
	case h.Plan == scene.PlanReuse:
		return t.Tone(scene.ToneReuse).Ink
	case h.Plan == scene.PlanRun:
		return t.Tone(scene.ToneRun).Ink
	case h.Kind == scene.HopError || h.Kind == scene.HopFailure:
		return t.Tone(scene.ToneError).Ink
	}
	return t.Hop
}

func (p *Painter) hopLook(h *scene.Hop) hopLook {
	t, m := p.f.Theme, &p.f.Marks
	l := hopLook{col: t.HopInk(h), width: scene.HopWidth}
	switch h.Kind {
	case scene.HopError, scene.HopFailure:
		l.dash = dashes{6, 3}
	case scene.HopInfo:
		l.dash = dashes{2.5, 2.5}
	}
	switch h.Plan {
	case scene.PlanReuse, scene.PlanRun:
		l.width, l.dash = 2, dashes{}
	case scene.PlanNotReached:
		l.dash = dashes{4, 4}
	}
	if h.Disabled {
		l.dash = dashes{4, 4}
	}
	switch {
	case m.DropHop != "" && m.DropHop == h.ID:
		l.col, l.width = t.Primary, 3
	case m.Selected.Has(scene.HopRef(h.ID)):
		l.col, l.width = t.Primary, 2.5
	case m.HoverHop != "" && m.HoverHop == h.ID:
		l.width = 2.5
	}
	return l
}

// hop draws line, arrow head and gate bars.
func (p *Painter) hop(i int) {
	h := p.f.Scene.HopNumber(i)
	look := p.hopLook(h)
	route := p.f.Scene.Route(i, p.f.View.Zoom)
	width := p.unit(look.width)
	scale := p.unit(1)
	line := pen{width: width, col: look.col, dash: dashes{look.dash.on * scale, look.dash.off * scale}}
	pts := p.flat(route, width)
	if p.outside(pts, p.unit(12)) {
		return
	}
	if p.d.Arrows {
		tip := pts[len(pts)-1]
		_, dir := route.Arrow()
		// The line ends inside the head, not at its tip.
		size := p.unit(scene.ArrowSize)
		pts = shorten(pts, size*0.7)
		p.r.polyline(pts, line)
		p.arrow(tip, dir, size, look.col)
	} else {
		p.r.polyline(pts, line)
	}
	if p.f.Marks.Selected.Has(scene.HopRef(h.ID)) {
		for _, end := range [2]scene.Point{p.at(route.Start()), p.at(route.End())} {
			p.r.disc(end, p.px(5), p.f.Theme.Primary)
			p.r.disc(end, p.px(3), p.f.Theme.Surface)
		}
	}
}

// flat turns a route into device points. Straight lines along an axis are
// moved to whole (for odd widths half) pixels, so that they look alike.
func (p *Painter) flat(route scene.Route, width float64) []scene.Point {
	steps := 4
	if route.Curve {
		d := route.Pts[3].Sub(route.Pts[0])
		steps = int(math.Max(6, math.Min(40, (math.Abs(d.X)+math.Abs(d.Y))*p.k/9)))
	}
	p.r.pts = route.Flatten(p.r.pts[:0], steps)
	for i := range p.r.pts {
		p.r.pts[i] = p.at(p.r.pts[i])
	}
	pts := p.r.pts
	if len(pts) == 2 {
		snap := func(v float64) float64 {
			if int(math.Round(width))&1 == 1 {
				return math.Floor(v) + 0.5
			}
			return math.Round(v)
		}
		switch {
		case math.Abs(pts[0].Y-pts[1].Y) < 0.75:
			pts[0].Y = snap(pts[0].Y)
			pts[1].Y = pts[0].Y
		case math.Abs(pts[0].X-pts[1].X) < 0.75:
			pts[0].X = snap(pts[0].X)
			pts[1].X = pts[0].X
		}
	}
	return pts
}

// outside tells whether a chain of points lies beside the clip.
func (p *Painter) outside(pts []scene.Point, slack float64) bool {
	lo, hi := pts[0], pts[0]
	for _, q := range pts[1:] {
		lo = scene.Point{X: math.Min(lo.X, q.X), Y: math.Min(lo.Y, q.Y)}
		hi = scene.Point{X: math.Max(hi.X, q.X), Y: math.Max(hi.Y, q.Y)}
	}
	box := image.Rect(int(lo.X-slack), int(lo.Y-slack), int(hi.X+slack)+1, int(hi.Y+slack)+1)
	return !box.Overlaps(p.r.clip)
}

// shorten cuts the end of a chain by a length, keeping at least a stub.
func shorten(pts []scene.Point, by float64) []scene.Point {
	for n := len(pts); n > 1; n = len(pts) {
		d := pts[n-1].Sub(pts[n-2])
		l := d.Length()
		if l > by {
			pts[n-1] = pts[n-2].Add(d.Mul((l - by) / l))
			return pts
		}
		if n == 2 {
			return pts[:1]
		}
		by -= l
		pts = pts[:n-1]
	}
	return pts
}

func (p *Painter) arrow(tip, dir scene.Point, size float64, c color.RGBA) {
	back := tip.Sub(dir.Mul(size))
	side := scene.Point{X: -dir.Y, Y: dir.X}.Mul(size / 2)
	p.r.triangle(tip, back.Add(side), back.Sub(side), c)
}

// bars draws the double bar of a gate across the hop: a gap in canvas colour
// with two bars in the colour of the badge. Bars stand on whole pixels.
func (p *Painter) bars(i int) {
	h := p.f.Scene.HopNumber(i)
	if h.Gate == scene.GateNone {
		return
	}
	m, dir := p.f.Scene.Route(i, p.f.View.Zoom).Gate()
	m = p.at(m)
	long, w := math.Round(p.unit(8)), math.Max(1, math.Round(p.unit(2)))
	space := math.Max(1, math.Round(p.unit(3)))
	across := dir.X == 0
	bar := func(from, to, reach float64, c color.RGBA) {
		b := scene.Rect{Min: scene.Point{X: from, Y: math.Round(m.Y) - reach}, Max: scene.Point{X: to, Y: math.Round(m.Y) + reach}}
		if across {
			b = scene.Rect{Min: scene.Point{X: math.Round(m.X) - reach, Y: from}, Max: scene.Point{X: math.Round(m.X) + reach, Y: to}}
		}
		p.r.box(b, c, 255)
	}
	start := m.X
	if across {
		start = m.Y
	}
	start = math.Round(start - w - space/2)
	rim, c := math.Max(1, math.Round(p.unit(1))), p.f.Theme.fill(h.Gate.Tone())
	bar(start-rim, start+2*w+space+rim, long, p.f.Theme.Canvas)
	bar(start, start+w, long, c)
	bar(start+w+space, start+2*w+space, long, c)
}

// Limits of a plate in logical pixels: what it leaves of a hop, and its least width.
const (
	plateRest = 44.0
	plateMin  = 32.0
)

// plate draws the word at the middle of a hop, and the lock of an
// unconditional one.
func (p *Painter) plate(i int) {
	h, t := p.f.Scene.HopNumber(i), p.f.Theme
	word := h.Word()
	if word == "" && h.Kind != scene.HopAlways {
		return
	}
	route := p.f.Scene.Route(i, p.f.View.Zoom)
	m := p.at(route.Middle())
	if word == "" {
		px := int(math.Round(p.px(12 * math.Max(0.8, p.f.View.Zoom))))
		p.r.disc(m, float64(px)*0.72, t.Canvas)
		p.r.blit(p.sprite(spriteKey{kind: spriteIcon, icon: "lock", px: px, ink: p.hopLook(h).col}), int(math.Round(m.X)), int(math.Round(m.Y)), 255)
		return
	}
	size := math.Max(10, math.Round(scene.CaptionSize*p.f.View.Zoom*4)/4)
	width := func(s string) float64 { return p.fonts.WidthOf(s, Regular, size) }
	// A plate across the hop leaves its start and its arrow to be seen.
	if across := math.Abs(route.End().X - route.Start().X); across > scene.TileSize/2 {
		word = scene.WrapText(word, math.Max(plateMin, across*p.f.View.Zoom-plateRest), 1, width)[0]
	}
	w := p.px(width(word))
	c := t.TextSoft
	switch {
	case p.f.Marks.Selected.Has(scene.HopRef(h.ID)) || p.f.Marks.DropHop == h.ID && h.ID != "":
		c = t.Primary
	case (h.Kind == scene.HopError || h.Kind == scene.HopFailure) && !h.Disabled:
		c = t.Tone(scene.ToneError).Ink
	}
	half := p.px(size * 0.66)
	p.r.box(scene.Rect{
		Min: scene.Point{X: math.Round(m.X - w/2 - p.px(4)), Y: math.Round(m.Y - half)},
		Max: scene.Point{X: math.Round(m.X + w/2 + p.px(4)), Y: math.Round(m.Y + half)},
	}, t.Canvas, 255)
	p.text(word, Regular, size, m.X-w/2, m.Y+p.px(size*0.36), c, false, 255)
}
