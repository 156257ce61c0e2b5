package paint

import (
	"image"
	"image/color"
	"math"

	"sluice/canvas/scene"
)

// raster draws shapes into an opaque RGBA image, within a clip. Coordinates
// are device pixels; pixel x covers x to x+1.
type raster struct {
	pix    []uint8
	stride int
	clip   image.Rectangle // always inside the image
	pts    []scene.Point   // scratch of the polylines
}

func (r *raster) aim(dst *image.RGBA, clip image.Rectangle) {
	r.pix, r.stride = dst.Pix[dst.PixOffset(0, 0):], dst.Stride
	r.clip = clip
}

// div255 is v/255, rounded, for v up to 65535.
func div255(v uint32) uint32 { return (v + 128 + (v+128)>>8) >> 8 }

// mix lays an opaque colour over one pixel.
func mix(d []uint8, c color.RGBA, a uint32) {
	n := 255 - a
	d[0] = uint8(div255(uint32(c.R)*a + uint32(d[0])*n))
	d[1] = uint8(div255(uint32(c.G)*a + uint32(d[1])*n))
	d[2] = uint8(div255(uint32(c.B)*a + uint32(d[2])*n))
}

// coverage turns 0–1 into 0–255.
func coverage(v float64) uint32 {
	switch {
	case v <= 0:
		return 0
	case v >= 1:
		return 255
	}
	return uint32(v*255 + 0.5)
}

// clear fills the clip: the first row pixel by pixel, the others by copy.
func (r *raster) clear(c color.RGBA) { r.fill(r.clip, c) }

// fill paints whole pixels.
func (r *raster) fill(rect image.Rectangle, c color.RGBA) {
	rect = rect.Intersect(r.clip)
	if rect.Empty() {
		return
	}
	first := r.row(rect.Min.Y, rect.Min.X, rect.Max.X)
	for i := 0; i < len(first); i += 4 {
		first[i], first[i+1], first[i+2], first[i+3] = c.R, c.G, c.B, 255
	}
	for y := rect.Min.Y + 1; y < rect.Max.Y; y++ {
		copy(r.row(y, rect.Min.X, rect.Max.X), first)
	}
}

func (r *raster) row(y, x0, x1 int) []uint8 {
	o := y * r.stride
	return r.pix[o+x0*4 : o+x1*4]
}

// box fills a rectangle whose edges may lie between pixels.
func (r *raster) box(b scene.Rect, c color.RGBA, alpha uint32) {
	x0, x1 := int(math.Floor(b.Min.X)), int(math.Ceil(b.Max.X))
	y0, y1 := int(math.Floor(b.Min.Y)), int(math.Ceil(b.Max.Y))
	area := image.Rect(x0, y0, x1, y1).Intersect(r.clip)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		cy := min(float64(y+1), b.Max.Y) - max(float64(y), b.Min.Y)
		row := r.row(y, area.Min.X, area.Max.X)
		for x := area.Min.X; x < area.Max.X; x++ {
			cx := min(float64(x+1), b.Max.X) - max(float64(x), b.Min.X)
			if a := div255(coverage(cx*cy) * alpha); a > 0 {
				mix(row[(x-area.Min.X)*4:], c, a)
			}
		}
	}
}

// frame draws the border of a rectangle, width pixels wide and inside it.
func (r *raster) frame(b scene.Rect, width float64, c color.RGBA) {
	in := b.Inset(width)
	r.box(scene.Rect{Min: b.Min, Max: scene.Point{X: b.Max.X, Y: in.Min.Y}}, c, 255)
	r.box(scene.Rect{Min: scene.Point{X: b.Min.X, Y: in.Max.Y}, Max: b.Max}, c, 255)
	r.box(scene.Rect{Min: scene.Point{X: b.Min.X, Y: in.Min.Y}, Max: scene.Point{X: in.Min.X, Y: in.Max.Y}}, c, 255)
	r.box(scene.Rect{Min: scene.Point{X: in.Max.X, Y: in.Min.Y}, Max: scene.Point{X: b.Max.X, Y: in.Max.Y}}, c, 255)
}

// roundDistance is the signed distance of (x, y) from a rounded rectangle.
func roundDistance(b scene.Rect, radius, x, y float64) float64 {
	m := b.Centre()
	dx := math.Abs(x-m.X) - (b.W()/2 - radius)
	dy := math.Abs(y-m.Y) - (b.H()/2 - radius)
	if dx > 0 && dy > 0 {
		return math.Hypot(dx, dy) - radius
	}
	return max(dx, dy) - radius
}

// card fills a rounded rectangle and draws its border (inside, width 0 is none).
func (r *raster) card(b scene.Rect, radius float64, ground color.RGBA, width float64, line color.RGBA) {
	area := image.Rect(int(math.Floor(b.Min.X)), int(math.Floor(b.Min.Y)), int(math.Ceil(b.Max.X)), int(math.Ceil(b.Max.Y))).Intersect(r.clip)
	edge := int(math.Ceil(max(radius, width))) + 1
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := r.row(y, area.Min.X, area.Max.X)
		inner := float64(y) > b.Min.Y+float64(edge) && float64(y+1) < b.Max.Y-float64(edge)
		for x := area.Min.X; x < area.Max.X; x++ {
			d := row[(x-area.Min.X)*4:]
			if inner && float64(x) > b.Min.X+float64(edge) && float64(x+1) < b.Max.X-float64(edge) {
				d[0], d[1], d[2] = ground.R, ground.G, ground.B
				continue
			}
			dist := roundDistance(b, radius, float64(x)+0.5, float64(y)+0.5)
			if a := coverage(0.5 - dist); a > 0 {
				mix(d, ground, a)
				if width > 0 {
					mix(d, line, div255(a*coverage(dist+width+0.5)))
				}
			}
		}
	}
}

// ring draws the outline of a rounded rectangle, width pixels wide and centred
// on its edge.
func (r *raster) ring(b scene.Rect, radius, width float64, c color.RGBA) {
	out := b.Inset(-width/2 - 1)
	area := image.Rect(int(math.Floor(out.Min.X)), int(math.Floor(out.Min.Y)), int(math.Ceil(out.Max.X)), int(math.Ceil(out.Max.Y))).Intersect(r.clip)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := r.row(y, area.Min.X, area.Max.X)
		for x := area.Min.X; x < area.Max.X; x++ {
			dist := roundDistance(b, radius, float64(x)+0.5, float64(y)+0.5)
			if a := coverage(width/2 + 0.5 - math.Abs(dist)); a > 0 {
				mix(row[(x-area.Min.X)*4:], c, a)
			}
		}
	}
}

// disc fills a circle.
func (r *raster) disc(m scene.Point, radius float64, c color.RGBA) {
	area := image.Rect(int(m.X-radius)-1, int(m.Y-radius)-1, int(m.X+radius)+2, int(m.Y+radius)+2).Intersect(r.clip)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := r.row(y, area.Min.X, area.Max.X)
		for x := area.Min.X; x < area.Max.X; x++ {
			d := math.Hypot(float64(x)+0.5-m.X, float64(y)+0.5-m.Y)
			if a := coverage(radius + 0.5 - d); a > 0 {
				mix(row[(x-area.Min.X)*4:], c, a)
			}
		}
	}
}

// triangle fills a triangle given in any order.
func (r *raster) triangle(a, b, c scene.Point, col color.RGBA) {
	if (b.X-a.X)*(c.Y-a.Y)-(b.Y-a.Y)*(c.X-a.X) < 0 {
		b, c = c, b
	}
	sides := [3][3]float64{halfPlane(a, b), halfPlane(b, c), halfPlane(c, a)}
	x0 := int(math.Floor(min(a.X, b.X, c.X))) - 1
	x1 := int(math.Ceil(max(a.X, b.X, c.X))) + 1
	y0 := int(math.Floor(min(a.Y, b.Y, c.Y))) - 1
	y1 := int(math.Ceil(max(a.Y, b.Y, c.Y))) + 1
	area := image.Rect(x0, y0, x1, y1).Intersect(r.clip)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := r.row(y, area.Min.X, area.Max.X)
		for x := area.Min.X; x < area.Max.X; x++ {
			px, py := float64(x)+0.5, float64(y)+0.5
			in := math.Inf(1)
			for _, s := range sides {
				in = min(in, s[0]*px+s[1]*py+s[2])
			}
			if v := coverage(in + 0.5); v > 0 {
				mix(row[(x-area.Min.X)*4:], col, v)
			}
		}
	}
}

// halfPlane gives the signed distance to the line a–b as factors of x, y, 1;
// the inside of a clockwise figure (y down) is positive.
func halfPlane(a, b scene.Point) [3]float64 {
	d := b.Sub(a)
	l := d.Length()
	if l == 0 {
		return [3]float64{0, 0, math.Inf(1)}
	}
	nx, ny := -d.Y/l, d.X/l
	return [3]float64{nx, ny, -(nx*a.X + ny*a.Y)}
}

// mask lays a colour through a coverage mask whose top left is at (left, top).
func (r *raster) mask(cov []uint8, w, h, left, top int, c color.RGBA, alpha uint32) {
	area := image.Rect(left, top, left+w, top+h).Intersect(r.clip)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		src := cov[(y-top)*w+area.Min.X-left:]
		row := r.row(y, area.Min.X, area.Max.X)
		for x := range area.Dx() {
			v := uint32(src[x])
			if v == 0 {
				continue
			}
			if alpha != 255 {
				v = div255(v * alpha)
			}
			d := row[x*4 : x*4+3 : x*4+3]
			if v == 255 {
				d[0], d[1], d[2] = c.R, c.G, c.B
				continue
			}
			mix(d, c, v)
		}
	}
}
