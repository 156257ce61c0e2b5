package paint

import (
	"image"
	"math"

	"golang.org/x/image/vector"

	"sluice/canvas/scene"
)

// stencil is a square coverage mask in the making.
type stencil struct {
	size int
	cov  []uint8
}

func newStencil(size int) *stencil { return &stencil{size, make([]uint8, size*size)} }

// place maps the icon's grid into a stencil: scale and shift in pixels.
type place struct{ scale, shift float64 }

func (p place) at(q scene.Point) scene.Point {
	return scene.Point{X: q.X*p.scale + p.shift, Y: q.Y*p.scale + p.shift}
}

// stroke adds the lines of a shape with round ends and joints. width is in
// pixels. Coverage comes from the distance to the nearest piece.
func (s *stencil) stroke(shape *glyphShape, p place, width float64) {
	hw := width / 2
	for _, line := range shape.lines {
		if len(line) == 1 {
			s.piece(p.at(line[0]), p.at(line[0]), hw)
		}
		for i := 1; i < len(line); i++ {
			s.piece(p.at(line[i-1]), p.at(line[i]), hw)
		}
	}
}

func (s *stencil) piece(a, b scene.Point, hw float64) {
	box := scene.RectBetween(a, b).Inset(-hw - 1)
	x0, x1 := max(0, int(box.Min.X)), min(s.size, int(math.Ceil(box.Max.X)))
	y0, y1 := max(0, int(box.Min.Y)), min(s.size, int(math.Ceil(box.Max.Y)))
	ab := b.Sub(a)
	l2 := ab.X*ab.X + ab.Y*ab.Y
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			dx, dy := float64(x)+0.5-a.X, float64(y)+0.5-a.Y
			if l2 > 0 {
				t := clamp01((dx*ab.X + dy*ab.Y) / l2)
				dx, dy = dx-ab.X*t, dy-ab.Y*t
			}
			c := uint8(coverage(hw + 0.5 - math.Hypot(dx, dy)))
			if o := y*s.size + x; c > s.cov[o] {
				s.cov[o] = c
			}
		}
	}
}

// fill adds the inside of a shape.
func (s *stencil) fill(shape *glyphShape, p place) {
	z := vector.NewRasterizer(s.size, s.size)
	for _, line := range shape.lines {
		for i, q := range line {
			q = p.at(q)
			if i == 0 {
				z.MoveTo(float32(q.X), float32(q.Y))
			} else {
				z.LineTo(float32(q.X), float32(q.Y))
			}
		}
		z.ClosePath()
	}
	mask := image.NewAlpha(image.Rect(0, 0, s.size, s.size))
	z.Draw(mask, mask.Bounds(), image.Opaque, image.Point{})
	for i, c := range mask.Pix {
		s.cov[i] = max(s.cov[i], c)
	}
}

// draw adds a whole icon.
func (s *stencil) draw(d *drawing, p place) {
	for i := range d.shapes {
		shape := &d.shapes[i]
		if shape.filled {
			s.fill(shape, p)
		}
		if shape.stroke > 0 {
			s.stroke(shape, p, shape.stroke*p.scale)
		}
	}
}
