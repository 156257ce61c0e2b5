package scene_test

import (
	"math"
	"testing"

	"sluice/canvas/scene"
)

func pt(x, y float64) scene.Point { return scene.Point{X: x, Y: y} }

func rect(x0, y0, x1, y1 float64) scene.Rect { return scene.Rect{Min: pt(x0, y0), Max: pt(x1, y1)} }

func near(a, b scene.Point) bool { return a.Sub(b).Length() < 1e-6 }

func TestZoomKeepsThePointUnderThePointer(t *testing.T) {
	v := scene.View{Zoom: 0.8, Offset: pt(-37, 12)}
	for _, factor := range []float64{1.1, 0.5, 3, 1000, 0.0001, 1} {
		at := pt(311, 217)
		doc := v.ToDocument(at)
		z := v.ZoomAt(at, factor)
		if !near(z.ToScreen(doc), at) {
			t.Errorf("factor %v moved the point to %v", factor, z.ToScreen(doc))
		}
		if z.Zoom < scene.MinZoom || z.Zoom > scene.MaxZoom {
			t.Errorf("factor %v gives zoom %v", factor, z.Zoom)
		}
	}
	if got := v.ZoomTo(pt(0, 0), math.NaN()); got != v {
		t.Errorf("NaN changed the view to %v", got)
	}
}

func TestFit(t *testing.T) {
	size := scene.Size{W: 800, H: 600}
	tests := map[string]struct {
		content scene.Rect
		zoom    float64
	}{
		"small stays at 100 percent": {rect(0, 0, 100, 100), 1},
		"wide":                       {rect(0, 0, 1536, 100), 0.5},
		"high":                       {rect(-100, 0, 100, 1072), 0.5},
		"huge stops at the bound":    {rect(0, 0, 1e6, 1e6), scene.MinZoom},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			v := scene.Fit(c.content, size, 32)
			if math.Abs(v.Zoom-c.zoom) > 0.03 {
				t.Errorf("zoom is %v, want %v", v.Zoom, c.zoom)
			}
			if !near(v.ToScreen(c.content.Centre()), pt(400, 300)) {
				t.Errorf("centre is at %v", v.ToScreen(c.content.Centre()))
			}
		})
	}
	if got := scene.Fit(scene.Rect{}, size, 32); got != scene.Home() {
		t.Errorf("empty content gives %v", got)
	}
}

func TestBounded(t *testing.T) {
	size, content := scene.Size{W: 800, H: 600}, rect(0, 0, 1000, 500)
	tests := map[string]struct{ offset, want scene.Point }{
		"inside":          {pt(-100, 20), pt(-100, 20)},
		"too far right":   {pt(5000, 0), pt(752, 0)},
		"too far left":    {pt(-5000, 0), pt(-952, 0)},
		"too far up":      {pt(0, -900), pt(0, -452)},
		"too far down":    {pt(0, 900), pt(0, 552)},
		"both at once":    {pt(9999, -9999), pt(752, -452)},
		"just at the rim": {pt(752, -452), pt(752, -452)},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got := scene.View{Zoom: 1, Offset: c.offset}.Bounded(content, size)
			if !near(got.Offset, c.want) {
				t.Errorf("offset is %v, want %v", got.Offset, c.want)
			}
		})
	}
	v := scene.View{Zoom: 1, Offset: pt(1e9, 0)}
	if got := v.Bounded(scene.Rect{}, size); got != v {
		t.Errorf("an empty scene bounds the view to %v", got)
	}
}

func TestReveal(t *testing.T) {
	size := scene.Size{W: 800, H: 600}
	tests := map[string]struct {
		r    scene.Rect
		want scene.Point
	}{
		"visible":           {rect(100, 100, 200, 200), pt(0, 0)},
		"left":              {rect(-50, 100, 50, 200), pt(60, 0)},
		"right and below":   {rect(790, 650, 850, 700), pt(-60, -110)},
		"larger than it is": {rect(0, 0, 2000, 100), pt(10, 10)},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := scene.Home().Reveal(c.r, size, 10).Offset; !near(got, c.want) {
				t.Errorf("offset is %v, want %v", got, c.want)
			}
		})
	}
}

func TestEdgePan(t *testing.T) {
	size := scene.Size{W: 800, H: 600}
	tests := map[string]struct {
		at           scene.Point
		signX, signY float64
	}{
		"middle":       {pt(400, 300), 0, 0},
		"left":         {pt(5, 300), 1, 0},
		"right":        {pt(799, 300), -1, 0},
		"beyond below": {pt(400, 700), 0, -1},
		"corner":       {pt(2, 2), 1, 1},
	}
	sign := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return math.Copysign(1, v)
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got := scene.EdgePan(c.at, size)
			if sign(got.X) != c.signX || sign(got.Y) != c.signY {
				t.Errorf("speed is %v", got)
			}
		})
	}
	if got := scene.EdgePan(pt(1, 1), scene.Size{W: 40, H: 40}); got != (scene.Point{}) {
		t.Errorf("a tiny canvas pans by %v", got)
	}
}

func TestDetail(t *testing.T) {
	tests := map[float64]scene.Detail{
		1:    {Labels: true, Full: true, Arrows: true, Icons: true, Badges: true},
		0.5:  {Labels: true, Arrows: true, Icons: true, Badges: true},
		0.49: {Arrows: true, Icons: true, Badges: true},
		0.34: {Icons: true, Badges: true},
		0.24: {Badges: true},
		0.1:  {},
	}
	for zoom, want := range tests {
		if got := scene.DetailAt(zoom); got != want {
			t.Errorf("at %v: %+v, want %+v", zoom, got, want)
		}
	}
}

func TestMiniMap(t *testing.T) {
	size, view := scene.Size{W: 800, H: 600}, scene.Home()
	m := scene.NewMiniMap(rect(0, 0, 3000, 1000), view, size)
	if !m.Visible() || m.Frame != rect(608, 472, 784, 584) {
		t.Fatalf("frame is %v", m.Frame)
	}
	for _, p := range []scene.Point{pt(0, 0), pt(3000, 1000), pt(1234, 321)} {
		if q := m.ToDocument(m.ToMap(p)); !near(q, p) {
			t.Errorf("%v comes back as %v", p, q)
		}
		if !m.Frame.Contains(m.ToMap(p)) {
			t.Errorf("%v lies outside of the panel at %v", p, m.ToMap(p))
		}
	}
	if !m.Frame.Encloses(m.View) {
		t.Errorf("view box %v leaves the panel", m.View)
	}
	for name, hidden := range map[string]scene.MiniMap{
		"nothing to show": scene.NewMiniMap(scene.Rect{}, view, size),
		"tiny screen":     scene.NewMiniMap(rect(0, 0, 100, 100), view, scene.Size{W: 150, H: 90}),
	} {
		if hidden.Visible() {
			t.Errorf("%s: visible", name)
		}
	}
}
