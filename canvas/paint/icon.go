package paint

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sluice/canvas/scene"
)

// glyphShape is one path or circle of an icon, flattened on the icon's grid.
type glyphShape struct {
	stroke float64 // line width on the grid; 0 is none
	filled bool
	lines  [][]scene.Point // sub-paths
	closed []bool
}

// drawing is a parsed icon.
type drawing struct {
	grid   float64 // edge of the view box
	shapes []glyphShape
}

// parseIcon reads the simple SVG of the icon set: path and circle elements
// with their attributes on the element. Colours are not kept: a canvas icon
// has one ink.
func parseIcon(data []byte) (*drawing, error) {
	var doc struct {
		ViewBox string `xml:"viewBox,attr"`
		Items   []struct {
			XMLName xml.Name
			D       string `xml:"d,attr"`
			Fill    string `xml:"fill,attr"`
			Stroke  string `xml:"stroke,attr"`
			Width   string `xml:"stroke-width,attr"`
			CX      string `xml:"cx,attr"`
			CY      string `xml:"cy,attr"`
			R       string `xml:"r,attr"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("parse icon: %w", err)
	}
	box := strings.Fields(doc.ViewBox)
	if len(box) != 4 {
		return nil, fmt.Errorf("parse icon: viewBox %q needs four numbers", doc.ViewBox)
	}
	d := &drawing{grid: number(box[2])}
	if !(d.grid > 0) {
		return nil, fmt.Errorf("parse icon: viewBox %q has no width", doc.ViewBox)
	}
	for _, item := range doc.Items {
		s := glyphShape{filled: item.Fill != "" && item.Fill != "none"}
		if item.Stroke != "" && item.Stroke != "none" {
			s.stroke = 1
			if item.Width != "" {
				s.stroke = number(item.Width)
			}
		}
		switch item.XMLName.Local {
		case "path":
			if err := s.path(item.D); err != nil {
				return nil, fmt.Errorf("parse icon: path %q: %w", item.D, err)
			}
		case "circle":
			s.circle(scene.Point{X: number(item.CX), Y: number(item.CY)}, number(item.R))
		default:
			return nil, fmt.Errorf("parse icon: element %q is not supported", item.XMLName.Local)
		}
		d.shapes = append(d.shapes, s)
	}
	return d, nil
}

// number reads a plain decimal; what is none counts as 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v
}

const circleSteps = 64

func (s *glyphShape) circle(m scene.Point, r float64) {
	var pts []scene.Point
	for i := range circleSteps + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / circleSteps)
		pts = append(pts, scene.Point{X: m.X + r*cos, Y: m.Y + r*sin})
	}
	s.lines, s.closed = append(s.lines, pts), append(s.closed, true)
}

// pathReader walks the d attribute of a path.
type pathReader struct {
	rest  string
	shape *glyphShape
	at    scene.Point // current point
	start scene.Point // of the sub-path
	ctrl  scene.Point // last control point, for smooth curves
	last  byte
}

func (s *glyphShape) path(d string) error {
	p := pathReader{rest: d, shape: s}
	for {
		p.rest = strings.TrimLeft(p.rest, " ,\t\r\n")
		if p.rest == "" {
			return nil
		}
		op := p.rest[0]
		if strings.IndexByte("MmLlHhVvCcSsAaZz", op) >= 0 {
			p.rest = p.rest[1:]
		} else if op = p.repeat(); op == 0 {
			return fmt.Errorf("unexpected %q", p.rest)
		}
		if err := p.run(op); err != nil {
			return err
		}
		p.last = op
	}
}

// repeat is the command that numbers without a letter belong to.
func (p *pathReader) repeat() byte {
	switch {
	case p.last == 'M':
		return 'L'
	case p.last == 'm':
		return 'l'
	case p.last == 'Z' || p.last == 'z' || !strings.ContainsRune("+-.0123456789", rune(p.rest[0])):
		return 0
	}
	return p.last
}

// num reads one number.
func (p *pathReader) num() (float64, error) {
	p.rest = strings.TrimLeft(p.rest, " ,\t\r\n")
	end, dot := 0, false
	for end < len(p.rest) {
		c := p.rest[end]
		if c == '.' && !dot {
			dot = true
		} else if digit, sign := c >= '0' && c <= '9', end == 0 && (c == '-' || c == '+'); !digit && !sign {
			break
		}
		end++
	}
	v, err := strconv.ParseFloat(p.rest[:end], 64)
	if err != nil {
		return 0, fmt.Errorf("number expected at %q", p.rest)
	}
	p.rest = p.rest[end:]
	return v, nil
}

// flag reads an arc flag, which may stand without a blank behind it.
func (p *pathReader) flag() (bool, error) {
	p.rest = strings.TrimLeft(p.rest, " ,\t\r\n")
	if p.rest == "" || p.rest[0] != '0' && p.rest[0] != '1' {
		return false, fmt.Errorf("arc flag expected at %q", p.rest)
	}
	on := p.rest[0] == '1'
	p.rest = p.rest[1:]
	return on, nil
}

func (p *pathReader) nums(n int) ([7]float64, error) {
	var v [7]float64
	for i := range n {
		x, err := p.num()
		if err != nil {
			return v, err
		}
		v[i] = x
	}
	return v, nil
}

// run carries out one command; lower case letters are relative.
func (p *pathReader) run(op byte) error {
	base := scene.Point{}
	if op >= 'a' {
		base = p.at
	}
	switch op {
	case 'Z', 'z':
		p.close()
		return nil
	case 'A', 'a':
		return p.arc(base)
	}
	counts := map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'S': 4}
	v, err := p.nums(counts[op&^0x20])
	if err != nil {
		return err
	}
	at := func(i int) scene.Point { return scene.Point{X: base.X + v[i], Y: base.Y + v[i+1]} }
	switch op &^ 0x20 {
	case 'M':
		p.move(at(0))
	case 'L':
		p.line(at(0))
	case 'H':
		p.line(scene.Point{X: base.X + v[0], Y: p.at.Y})
	case 'V':
		p.line(scene.Point{X: p.at.X, Y: base.Y + v[0]})
	case 'C':
		p.cubic(at(0), at(2), at(4))
	case 'S':
		first := p.at
		if strings.IndexByte("CcSs", p.last) >= 0 {
			first = p.at.Add(p.at.Sub(p.ctrl))
		}
		p.cubic(first, at(0), at(2))
	}
	return nil
}

func (p *pathReader) move(to scene.Point) {
	p.shape.lines = append(p.shape.lines, []scene.Point{to})
	p.shape.closed = append(p.shape.closed, false)
	p.at, p.start = to, to
}

func (p *pathReader) line(to scene.Point) {
	n := len(p.shape.lines)
	if n == 0 || p.shape.closed[n-1] {
		p.move(p.at)
		n = len(p.shape.lines)
	}
	p.shape.lines[n-1] = append(p.shape.lines[n-1], to)
	p.at = to
}

func (p *pathReader) close() {
	if n := len(p.shape.lines); n > 0 {
		p.line(p.start)
		p.shape.closed[len(p.shape.lines)-1] = true
	}
}

func (p *pathReader) cubic(b, c, d scene.Point) {
	const steps = 12
	a := p.at
	for i := 1; i <= steps; i++ {
		t := float64(i) / steps
		u := 1 - t
		k0, k1, k2, k3 := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
		p.line(scene.Point{X: k0*a.X + k1*b.X + k2*c.X + k3*d.X, Y: k0*a.Y + k1*b.Y + k2*c.Y + k3*d.Y})
	}
	p.ctrl = c
}

// arc draws an elliptical arc by the conversion of the SVG specification
// (implementation notes, "conversion from endpoint to centre parameterization").
func (p *pathReader) arc(base scene.Point) error {
	v, err := p.nums(3)
	if err != nil {
		return err
	}
	large, err := p.flag()
	if err != nil {
		return err
	}
	sweep, err := p.flag()
	if err != nil {
		return err
	}
	e, err := p.nums(2)
	if err != nil {
		return err
	}
	from, to := p.at, scene.Point{X: base.X + e[0], Y: base.Y + e[1]}
	rx, ry := math.Abs(v[0]), math.Abs(v[1])
	if rx == 0 || ry == 0 || from == to {
		p.line(to)
		return nil
	}
	sin, cos := math.Sincos(v[2] * math.Pi / 180)
	h := from.Sub(to).Mul(0.5)
	x1, y1 := cos*h.X+sin*h.Y, cos*h.Y-sin*h.X
	if l := x1*x1/(rx*rx) + y1*y1/(ry*ry); l > 1 {
		rx, ry = rx*math.Sqrt(l), ry*math.Sqrt(l)
	}
	f := math.Sqrt(math.Max(0, (rx*rx*ry*ry-rx*rx*y1*y1-ry*ry*x1*x1)/(rx*rx*y1*y1+ry*ry*x1*x1)))
	if large == sweep {
		f = -f
	}
	cx, cy := f*rx*y1/ry, -f*ry*x1/rx
	mid := from.Lerp(to, 0.5)
	centre := scene.Point{X: cos*cx - sin*cy + mid.X, Y: sin*cx + cos*cy + mid.Y}
	a0 := math.Atan2((y1-cy)/ry, (x1-cx)/rx)
	turn := math.Atan2((-y1-cy)/ry, (-x1-cx)/rx) - a0
	if sweep && turn < 0 {
		turn += 2 * math.Pi
	} else if !sweep && turn > 0 {
		turn -= 2 * math.Pi
	}
	steps := max(2, int(math.Ceil(math.Abs(turn)/(math.Pi/16))))
	for i := 1; i < steps; i++ {
		s, c := math.Sincos(a0 + turn*float64(i)/float64(steps))
		p.line(scene.Point{X: centre.X + cos*rx*c - sin*ry*s, Y: centre.Y + sin*rx*c + cos*ry*s})
	}
	p.line(to)
	return nil
}
