package scene

import "math"

// The bounds of zoom: 10 % to 400 %.
const (
	MinZoom = 0.1
	MaxZoom = 4.0
)

// ZoomStep is the factor of one "zoom in" command.
const ZoomStep = 1.25

// keepVisible is how much of the content a pan leaves on the screen, in pixels.
const keepVisible = 48.0

// View maps the document to the screen: screen = document*Zoom + Offset. The
// zero View is not usable; start from Home.
type View struct {
	Zoom   float64
	Offset Point // screen position of the document's origin
}

// Home is 100 % with the document's origin at the top left.
func Home() View { return View{Zoom: 1} }

// ToScreen maps a document point to the screen.
func (v View) ToScreen(p Point) Point { return p.Mul(v.Zoom).Add(v.Offset) }

// ToDocument maps a screen point to the document.
func (v View) ToDocument(p Point) Point { return p.Sub(v.Offset).Mul(1 / v.Zoom) }

// RectToScreen maps a document rectangle to the screen.
func (v View) RectToScreen(r Rect) Rect { return Rect{v.ToScreen(r.Min), v.ToScreen(r.Max)} }

// RectToDocument maps a screen rectangle to the document.
func (v View) RectToDocument(r Rect) Rect { return Rect{v.ToDocument(r.Min), v.ToDocument(r.Max)} }

// Visible is the part of the document that a screen of this size shows.
func (v View) Visible(size Size) Rect {
	return v.RectToDocument(Rect{Max: Point{size.W, size.H}})
}

// PanBy moves the picture by d screen pixels.
func (v View) PanBy(d Point) View {
	v.Offset = v.Offset.Add(d)
	return v
}

// ZoomAt multiplies the zoom by factor within its bounds; the document point
// under the screen point at stays where it is.
func (v View) ZoomAt(at Point, factor float64) View {
	return v.ZoomTo(at, v.Zoom*factor)
}

// ZoomTo sets the zoom within its bounds; the document point under the screen
// point at stays where it is. A zoom that is not a number changes nothing.
func (v View) ZoomTo(at Point, zoom float64) View {
	if math.IsNaN(zoom) {
		return v
	}
	doc := v.ToDocument(at)
	v.Zoom = math.Max(MinZoom, math.Min(MaxZoom, zoom))
	v.Offset = at.Sub(doc.Mul(v.Zoom))
	return v
}

// CentreOn returns the view moved so that the document point doc is in the
// middle of a screen of this size.
func (v View) CentreOn(doc Point, size Size) View {
	v.Offset = Point{size.W / 2, size.H / 2}.Sub(doc.Mul(v.Zoom))
	return v
}

// Fit shows all of content, centred with a margin in screen pixels, never
// larger than 100 %. Empty content gives Home.
func Fit(content Rect, size Size, margin float64) View {
	if content.Empty() || size.W <= 0 || size.H <= 0 {
		return Home()
	}
	w, h := math.Max(1, size.W-2*margin), math.Max(1, size.H-2*margin)
	zoom := math.Min(1, math.Min(w/content.W(), h/content.H()))
	v := View{Zoom: math.Max(MinZoom, zoom)}
	return v.CentreOn(content.Centre(), size)
}

// Bounded returns the view moved as little as needed so that some of content
// stays on a screen of this size: nobody pans into nowhere.
func (v View) Bounded(content Rect, size Size) View {
	if content.Empty() || size.W <= 0 || size.H <= 0 {
		return v
	}
	r := v.RectToScreen(content)
	v.Offset.X += outside(r.Min.X, r.Max.X, size.W)
	v.Offset.Y += outside(r.Min.Y, r.Max.Y, size.H)
	return v
}

// outside is the shift that brings the span from–to back onto a screen of this
// length, so that keepVisible pixels of it (or all, if it is shorter) show.
func outside(from, to, length float64) float64 {
	keep := math.Min(keepVisible, math.Min(to-from, length))
	switch {
	case to < keep:
		return keep - to
	case from > length-keep:
		return length - keep - from
	}
	return 0
}

// Reveal returns the view moved as little as needed so that the document
// rectangle r is on the screen with a margin in screen pixels; what is larger
// than the screen is shown from its top left.
func (v View) Reveal(r Rect, size Size, margin float64) View {
	s := v.RectToScreen(r)
	v.Offset.X += nudge(s.Min.X-margin, s.Max.X+margin, size.W)
	v.Offset.Y += nudge(s.Min.Y-margin, s.Max.Y+margin, size.H)
	return v
}

func nudge(from, to, length float64) float64 {
	switch {
	case from < 0 || to-from > length:
		return -from
	case to > length:
		return length - to
	}
	return 0
}

// EdgePan is the speed, in screen pixels per second, at which the view pans
// while something is dragged near (or beyond) the edge of the screen.
func EdgePan(at Point, size Size) Point {
	const margin, speed = 24.0, 30.0 // per second and pixel of depth
	axis := func(p, length float64) float64 {
		switch {
		case length < 4*margin:
			return 0
		case p < margin:
			return math.Min(margin-p, 2*margin) * speed
		case p > length-margin:
			return -math.Min(p-(length-margin), 2*margin) * speed
		}
		return 0
	}
	return Point{axis(at.X, size.W), axis(at.Y, size.H)}
}

// Detail tells what is worth drawing at a zoom.
type Detail struct {
	Labels bool // names, plates, note texts
	Full   bool // metrics, and names in two lines
	Arrows bool // arrow heads and gate bars
	Icons  bool // icons inside tiles
	Badges bool
}

// DetailAt returns the level of detail: names
// in one line and no metrics below 70 %, no labels below 50 %, no arrow heads
// below 35 %, no icons below 25 %, no badges below 20 %.
func DetailAt(zoom float64) Detail {
	return Detail{
		Labels: zoom >= 0.5,
		Full:   zoom >= 0.7,
		Arrows: zoom >= 0.35,
		Icons:  zoom >= 0.25,
		Badges: zoom >= 0.2,
	}
}
