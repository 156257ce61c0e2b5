package scene

import "math"

// Point is a position. Document coordinates are those of the file (one unit is
// one pixel at 100 %); screen coordinates are logical pixels from the top left
// of the view, before the display's own scale.
type Point struct{ X, Y float64 }

// Add returns p moved by q.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Sub returns the way from q to p.
func (p Point) Sub(q Point) Point { return Point{p.X - q.X, p.Y - q.Y} }

// Mul returns p stretched by f.
func (p Point) Mul(f float64) Point { return Point{p.X * f, p.Y * f} }

// Length is the distance of p from the origin.
func (p Point) Length() float64 { return math.Hypot(p.X, p.Y) }

// Lerp returns the point at t (0 is p, 1 is q) on the line from p to q.
func (p Point) Lerp(q Point, t float64) Point {
	return Point{p.X + (q.X-p.X)*t, p.Y + (q.Y-p.Y)*t}
}

// Size is a width and a height, never negative.
type Size struct{ W, H float64 }

// Rect spans from Min (inside) to Max (outside). A Rect whose Max is not
// beyond its Min in both directions is empty.
type Rect struct{ Min, Max Point }

// RectAround returns the rectangle with the given centre and size.
func RectAround(centre Point, w, h float64) Rect {
	return Rect{Point{centre.X - w/2, centre.Y - h/2}, Point{centre.X + w/2, centre.Y + h/2}}
}

// RectBetween returns the rectangle with p and q as opposite corners, in any order.
func RectBetween(p, q Point) Rect {
	return Rect{
		Point{math.Min(p.X, q.X), math.Min(p.Y, q.Y)},
		Point{math.Max(p.X, q.X), math.Max(p.Y, q.Y)},
	}
}

// W is the width of r.
func (r Rect) W() float64 { return r.Max.X - r.Min.X }

// H is the height of r.
func (r Rect) H() float64 { return r.Max.Y - r.Min.Y }

// Centre is the middle of r.
func (r Rect) Centre() Point { return r.Min.Lerp(r.Max, 0.5) }

// Empty tells whether r holds no point.
func (r Rect) Empty() bool { return r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y }

// Contains tells whether p lies in r, its edges included.
func (r Rect) Contains(p Point) bool {
	return p.X >= r.Min.X && p.X <= r.Max.X && p.Y >= r.Min.Y && p.Y <= r.Max.Y
}

// Encloses tells whether all of s lies in r.
func (r Rect) Encloses(s Rect) bool { return r.Contains(s.Min) && r.Contains(s.Max) }

// Overlaps tells whether r and s share a point; touching edges do not count.
func (r Rect) Overlaps(s Rect) bool {
	return r.Min.X < s.Max.X && s.Min.X < r.Max.X && r.Min.Y < s.Max.Y && s.Min.Y < r.Max.Y
}

// Union returns the smallest rectangle around both; an empty one adds nothing.
func (r Rect) Union(s Rect) Rect {
	if r.Empty() {
		return s
	}
	if s.Empty() {
		return r
	}
	return Rect{
		Point{math.Min(r.Min.X, s.Min.X), math.Min(r.Min.Y, s.Min.Y)},
		Point{math.Max(r.Max.X, s.Max.X), math.Max(r.Max.Y, s.Max.Y)},
	}
}

// Inset returns r with every edge moved in by d (out when d is negative).
func (r Rect) Inset(d float64) Rect {
	return Rect{Point{r.Min.X + d, r.Min.Y + d}, Point{r.Max.X - d, r.Max.Y - d}}
}

// Move returns r shifted by d.
func (r Rect) Move(d Point) Rect { return Rect{r.Min.Add(d), r.Max.Add(d)} }

// segmentDistance is the distance of p from the line piece a–b.
func segmentDistance(p, a, b Point) float64 {
	ab := b.Sub(a)
	l2 := ab.X*ab.X + ab.Y*ab.Y
	if l2 == 0 {
		return p.Sub(a).Length()
	}
	t := ((p.X-a.X)*ab.X + (p.Y-a.Y)*ab.Y) / l2
	t = math.Max(0, math.Min(1, t))
	return p.Sub(a.Add(ab.Mul(t))).Length()
}
