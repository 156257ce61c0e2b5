package paint

import (
	"image"
	"image/color"
	"math"

	"sluice/canvas/scene"
)

// dashes is an on–off pattern in pixels; the zero value is a solid line.
type dashes struct{ on, off float64 }

// at is the coverage of the pattern at a distance along the line.
func (d dashes) at(s float64) float64 {
	if d.off == 0 {
		return 1
	}
	s = math.Mod(s, d.on+d.off)
	if s < 0 {
		s += d.on + d.off
	}
	// One pixel of transition at both ends of the dash.
	return max(clamp01(d.on-s+0.5), clamp01(s-(d.on+d.off)+0.5)) * clamp01(max(s+0.5, 0.5))
}

func clamp01(v float64) float64 { return max(0, min(1, v)) }

// pen is how a polyline is drawn.
type pen struct {
	width float64
	col   color.RGBA
	dash  dashes
}

// polyline draws straight pieces with butt ends and mitred joints. The
// bisector of a joint parts the pixels around it between the two pieces, so
// that none is drawn twice and none is left out.
func (r *raster) polyline(pts []scene.Point, p pen) {
	along := 0.0
	prev := scene.Point{}
	for i := 1; i < len(pts); i++ {
		d := pts[i].Sub(pts[i-1])
		l := d.Length()
		if l == 0 {
			continue
		}
		seg := segment{a: pts[i-1], u: d.Mul(1 / l), length: l, along: along, last: true}
		seg.first, seg.before = prev == scene.Point{}, prev
		if next, ok := direction(pts[i:]); ok {
			seg.last, seg.after = false, next
		}
		r.segment(seg, p)
		along += l
		prev = seg.u
	}
}

// direction is where a chain of points goes first; false when it goes nowhere.
func direction(pts []scene.Point) (scene.Point, bool) {
	for i := 1; i < len(pts); i++ {
		d := pts[i].Sub(pts[i-1])
		if l := d.Length(); l > 0 {
			return d.Mul(1 / l), true
		}
	}
	return scene.Point{}, false
}

// segment is one piece of a polyline: it starts at a and goes length along u.
type segment struct {
	a, u          scene.Point
	length, along float64
	before, after scene.Point // directions of the neighbours
	first, last   bool
}

// box is a solid piece along an axis whose neighbours, if any, turn off at a
// right angle: a rectangle that fills the corners. ok is false for all others.
func (s *segment) box(hw float64) (b scene.Rect, ok bool) {
	if s.u.X != 0 && s.u.Y != 0 {
		return b, false
	}
	square := func(v scene.Point) bool { return v.X*s.u.X+v.Y*s.u.Y == 0 }
	from, to := 0.0, s.length
	if !s.first {
		from = -hw
	}
	if !s.last {
		to += hw
	}
	if !s.first && !square(s.before) || !s.last && !square(s.after) {
		return b, false
	}
	ends := scene.RectBetween(s.a.Add(s.u.Mul(from)), s.a.Add(s.u.Mul(to)))
	side := scene.Point{X: math.Abs(s.u.Y) * hw, Y: math.Abs(s.u.X) * hw}
	return scene.Rect{Min: ends.Min.Sub(side), Max: ends.Max.Add(side)}, true
}

func (r *raster) segment(s segment, p pen) {
	hw := p.width / 2
	reach := hw + 1
	if b, ok := s.box(hw); ok && p.dash.off == 0 {
		r.box(b, p.col, 255)
		return
	}
	b := s.a.Add(s.u.Mul(s.length))
	start, end := s.before.Add(s.u), s.after.Add(s.u) // normals of the bisectors
	steep := math.Abs(s.u.Y) > math.Abs(s.u.X)
	box := scene.RectBetween(s.a, b).Inset(-reach)
	area := image.Rect(int(math.Floor(box.Min.X)), int(math.Floor(box.Min.Y)), int(math.Ceil(box.Max.X)), int(math.Ceil(box.Max.Y))).Intersect(r.clip)
	if area.Empty() {
		return
	}
	shade := func(x, y int) {
		dx, dy := float64(x)+0.5-s.a.X, float64(y)+0.5-s.a.Y
		t := dx*s.u.X + dy*s.u.Y
		v := hw + 0.5 - math.Abs(dx*s.u.Y-dy*s.u.X)
		if v <= 0 {
			return
		}
		v = min(v, 1)
		if s.first {
			v *= clamp01(t + 0.5)
		} else if dx*start.X+dy*start.Y < 0 {
			return
		}
		if s.last {
			v *= clamp01(s.length - t + 0.5)
		} else if (dx-s.length*s.u.X)*end.X+(dy-s.length*s.u.Y)*end.Y >= 0 {
			return
		}
		if p.dash.off != 0 {
			v *= p.dash.at(s.along + t)
		}
		if a := coverage(v); a > 0 {
			mix(r.pix[y*r.stride+x*4:], p.col, a)
		}
	}
	// Walk the longer axis; across it only the pixels that the line can touch.
	if steep {
		slope := s.u.X / s.u.Y
		across := reach / math.Abs(s.u.Y)
		for y := area.Min.Y; y < area.Max.Y; y++ {
			m := s.a.X + (float64(y)+0.5-s.a.Y)*slope
			for x := max(area.Min.X, int(math.Floor(m-across))); x < min(area.Max.X, int(math.Ceil(m+across))); x++ {
				shade(x, y)
			}
		}
		return
	}
	slope := s.u.Y / s.u.X
	across := reach / math.Abs(s.u.X)
	for x := area.Min.X; x < area.Max.X; x++ {
		m := s.a.Y + (float64(x)+0.5-s.a.X)*slope
		for y := max(area.Min.Y, int(math.Floor(m-across))); y < min(area.Max.Y, int(math.Ceil(m+across))); y++ {
			shade(x, y)
		}
	}
}
