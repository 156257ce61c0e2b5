package scene

import "math"

// Route is the way of one hop in document units: a chain of straight pieces,
// or one cubic curve with Pts[0] and Pts[3] as ends.
type Route struct {
	Pts   [6]Point
	N     int
	Curve bool
}

// curveSteps is the number of straight pieces a curve is measured with.
const curveSteps = 24

// sideGap is how far apart two tiles must be for a hop to leave at the side;
// nearer ones are joined top to bottom.
const sideGap = TileSize + 20

// laneGap is the distance of parallel hops between the same two tiles.
const laneGap = 12.0

// ends describes the two tiles of a hop.
type ends struct {
	from, to       Point
	fromLow, toLow float64 // from the centre to below the label
	lane           float64
	orthogonal     bool
}

// route finds the way between two tiles. Hops leave at the right and arrive at
// the left (mirrored when the target lies to the left), or run from below the
// label to the top (mirrored when the target lies above) where the tiles stand
// one over the other.
func route(e ends) Route {
	d := e.to.Sub(e.from)
	half := TileSize / 2
	switch {
	case math.Abs(d.X) < 1 && math.Abs(d.Y) < 1:
		return loop(e.from)
	case math.Abs(d.X) >= sideGap || math.Abs(d.Y) < half:
		s := math.Copysign(half, d.X)
		return connect(Point{e.from.X + s, e.from.Y + e.lane}, Point{e.to.X - s, e.to.Y + e.lane}, true, e.orthogonal)
	case d.Y > 0:
		return connect(Point{e.from.X + e.lane, e.from.Y + e.fromLow}, Point{e.to.X + e.lane, e.to.Y - half}, false, e.orthogonal)
	default:
		return connect(Point{e.from.X + e.lane, e.from.Y - half}, Point{e.to.X + e.lane, e.to.Y + e.toLow}, false, e.orthogonal)
	}
}

// loop leaves at the right and comes back from above, for a hop to itself.
func loop(c Point) Route {
	half := TileSize / 2
	return Route{N: 4, Curve: true, Pts: [6]Point{
		{c.X + half, c.Y}, {c.X + 3*half, c.Y}, {c.X, c.Y - 3.2*half}, {c.X, c.Y - half},
	}}
}

func connect(a, b Point, sideways, orthogonal bool) Route {
	aligned := math.Abs(b.Y-a.Y) < 0.5
	if !sideways {
		aligned = math.Abs(b.X-a.X) < 0.5
	}
	switch {
	case aligned:
		return Route{N: 2, Pts: [6]Point{a, b}}
	case orthogonal && sideways:
		x := (a.X + b.X) / 2
		return Route{N: 4, Pts: [6]Point{a, {x, a.Y}, {x, b.Y}, b}}
	case orthogonal:
		y := (a.Y + b.Y) / 2
		return Route{N: 4, Pts: [6]Point{a, {a.X, y}, {b.X, y}, b}}
	case sideways:
		c := (b.X - a.X) * 0.52
		return Route{N: 4, Curve: true, Pts: [6]Point{a, {a.X + c, a.Y}, {b.X - c, b.Y}, b}}
	default:
		c := (b.Y - a.Y) * 0.52
		return Route{N: 4, Curve: true, Pts: [6]Point{a, {a.X, a.Y + c}, {b.X, b.Y - c}, b}}
	}
}

// Start is where the hop leaves its source.
func (r Route) Start() Point { return r.Pts[0] }

// End is where the hop meets its target.
func (r Route) End() Point { return r.Pts[max(r.N, 1)-1] }

// Flatten appends the route as straight pieces of at most steps per curve.
func (r Route) Flatten(dst []Point, steps int) []Point {
	if !r.Curve {
		return append(dst, r.Pts[:r.N]...)
	}
	for i := range steps + 1 {
		dst = append(dst, r.bezier(float64(i)/float64(steps)))
	}
	return dst
}

func (r Route) bezier(t float64) Point {
	u := 1 - t
	a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
	return Point{
		a*r.Pts[0].X + b*r.Pts[1].X + c*r.Pts[2].X + d*r.Pts[3].X,
		a*r.Pts[0].Y + b*r.Pts[1].Y + c*r.Pts[2].Y + d*r.Pts[3].Y,
	}
}

// Length is the way along the route.
func (r Route) Length() float64 {
	var buf [curveSteps + 1]Point
	pts := r.Flatten(buf[:0], curveSteps)
	sum := 0.0
	for i := 1; i < len(pts); i++ {
		sum += pts[i].Sub(pts[i-1]).Length()
	}
	return sum
}

// At returns the point that lies distance along the route and the direction
// there (of length 1). Distances beyond the ends give the ends.
func (r Route) At(distance float64) (p, direction Point) {
	var buf [curveSteps + 1]Point
	pts := r.Flatten(buf[:0], curveSteps)
	direction = Point{1, 0}
	for i := 1; i < len(pts); i++ {
		step := pts[i].Sub(pts[i-1])
		l := step.Length()
		if l == 0 {
			continue
		}
		direction = step.Mul(1 / l)
		if distance <= l {
			return pts[i-1].Add(direction.Mul(math.Max(0, distance))), direction
		}
		distance -= l
	}
	return r.End(), direction
}

// Middle is the point halfway along, where the hop's plate sits.
func (r Route) Middle() Point {
	if r.Curve {
		return r.bezier(0.5)
	}
	p, _ := r.At(r.Length() / 2)
	return p
}

// Bounds is the rectangle around the route, at least one unit wide and high.
func (r Route) Bounds() Rect {
	b := RectAround(r.Pts[0], 0, 0)
	for _, p := range r.Pts[1:max(r.N, 1)] {
		b.Min = Point{math.Min(b.Min.X, p.X), math.Min(b.Min.Y, p.Y)}
		b.Max = Point{math.Max(b.Max.X, p.X), math.Max(b.Max.Y, p.Y)}
	}
	return b.Inset(-0.5)
}

// Distance is how far p lies from the route.
func (r Route) Distance(p Point) float64 {
	var buf [curveSteps + 1]Point
	pts := r.Flatten(buf[:0], curveSteps)
	best := math.Inf(1)
	for i := 1; i < len(pts); i++ {
		best = math.Min(best, segmentDistance(p, pts[i-1], pts[i]))
	}
	return best
}

// Arrow is where the arrow head's tip is and where it points.
func (r Route) Arrow() (tip, direction Point) {
	tip = r.End()
	back := r.Pts[max(r.N-2, 0)]
	if r.Curve {
		back = r.bezier(0.9)
		// The curve ends flat: the head follows its last tangent.
		if tangent := r.Pts[3].Sub(r.Pts[2]); tangent.Length() > 1 {
			back = r.Pts[2]
		}
	}
	d := tip.Sub(back)
	if l := d.Length(); l > 0 {
		return tip, d.Mul(1 / l)
	}
	return tip, Point{1, 0}
}

// gateDistance is how far along the hop its double bar sits.
const gateDistance = 14.0

// Gate is the middle of the double bar and the direction it cuts: the bar
// stands square on the way the hop leaves its tile, also where the hop bends
// at once.
func (r Route) Gate() (p, direction Point) {
	first, _ := r.At(0.1)
	d := first.Sub(r.Start())
	switch {
	case math.Abs(d.X) >= math.Abs(d.Y):
		direction = Point{math.Copysign(1, d.X), 0}
	default:
		direction = Point{0, math.Copysign(1, d.Y)}
	}
	return r.Start().Add(direction.Mul(math.Min(gateDistance, r.Length()*0.22))), direction
}
