//go:build !headless

package canvas

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	fynecanvas "fyne.io/fyne/v2/canvas"

	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// hoverPieces is the number of straight pieces of a hovered hop.
const hoverPieces = 24

// renderer shows the raster and, over it, what changes with the pointer: the
// hovered hop, the connect handle, the focus ring and the tool tip. They are
// few Fyne objects that are reused, so that hovering paints no raster.
type renderer struct {
	g      *Graph
	raster *fynecanvas.Raster
	lines  [hoverPieces]*fynecanvas.Line
	handle *fynecanvas.Circle
	ring   [4]*fynecanvas.Rectangle // top, right, bottom, left
	tip    *fynecanvas.Image
	all    []fyne.CanvasObject
}

func newRenderer(g *Graph) *renderer {
	r := &renderer{
		g: g, raster: fynecanvas.NewRaster(g.picture),
		handle: fynecanvas.NewCircle(nil), tip: &fynecanvas.Image{},
	}
	r.all = append(r.all, r.raster)
	for i := range r.lines {
		r.lines[i] = fynecanvas.NewLine(nil)
		r.all = append(r.all, r.lines[i])
	}
	r.handle.StrokeWidth = 2
	// An image without content costs time in every frame: it stays hidden.
	r.tip.Hide()
	r.all = append(r.all, r.handle)
	for i := range r.ring {
		r.ring[i] = fynecanvas.NewRectangle(nil)
		r.all = append(r.all, r.ring[i])
	}
	r.all = append(r.all, r.tip)
	r.overlay()
	return r
}

// Layout implements fyne.WidgetRenderer.
func (r *renderer) Layout(size fyne.Size) {
	r.raster.Resize(size)
	const wide = 2
	for i, at := range [...]struct{ x, y, w, h float32 }{
		{0, 0, size.Width, wide}, {size.Width - wide, 0, wide, size.Height}, {0, size.Height - wide, size.Width, wide}, {0, 0, wide, size.Height},
	} {
		r.ring[i].Move(fyne.NewPos(at.x, at.y))
		r.ring[i].Resize(fyne.NewSize(at.w, at.h))
	}
	r.overlay()
}

// MinSize implements fyne.WidgetRenderer.
func (r *renderer) MinSize() fyne.Size { return r.g.MinSize() }

// Objects implements fyne.WidgetRenderer.
func (r *renderer) Objects() []fyne.CanvasObject { return r.all }

// Destroy implements fyne.WidgetRenderer.
func (r *renderer) Destroy() { r.g.stopTicker() }

// Refresh implements fyne.WidgetRenderer.
func (r *renderer) Refresh() {
	r.g.full = true
	r.raster.Refresh()
	r.overlay()
}

// overlay brings handle, hovered hop and focus ring up to date.
func (r *renderer) overlay() {
	g := r.g
	trace, theme := g.machine.Trace(), g.cfg.Theme
	for _, edge := range r.ring {
		edge.FillColor = theme.Primary
		r.setVisible(edge, g.focused)
	}
	r.showHandle(trace.HoverNode, theme)
	r.showHop(trace.HoverHop, theme)
}

// setVisible shows or hides an object.
func (r *renderer) setVisible(o fyne.CanvasObject, on bool) {
	if on == o.Visible() {
		return
	}
	if on {
		o.Show()
		r.appeared(o)
	} else {
		o.Hide()
	}
}

// appeared asks for a frame with an object that was hidden. Fyne does not know the
// canvas of a hidden object, so that its own refresh does nothing.
func (r *renderer) appeared(o fyne.CanvasObject) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r.g); c != nil {
		c.Refresh(o)
	}
}

func (r *renderer) showHandle(id scene.ID, theme *paint.Theme) {
	g := r.g
	n, ok := g.machine.Scene().Node(id)
	view := g.machine.View()
	if !ok || g.machine.Busy() || !scene.DetailAt(view.Zoom).Badges {
		r.setVisible(r.handle, false)
		return
	}
	const half = scene.HandleSize / 2
	at := view.ToScreen(n.Pos.Add(scene.Point{X: scene.TileSize / 2}))
	r.handle.FillColor, r.handle.StrokeColor = theme.Surface, theme.Primary
	r.handle.Resize(fyne.NewSize(scene.HandleSize, scene.HandleSize))
	r.handle.Move(position(at.Sub(scene.Point{X: half, Y: half})))
	r.setVisible(r.handle, true)
	r.handle.Refresh()
}

func (r *renderer) showHop(id scene.ID, theme *paint.Theme) {
	g := r.g
	pts, ink := g.hopLine(id, theme)
	for i, l := range r.lines {
		if i+1 >= len(pts) || g.machine.Busy() {
			r.setVisible(l, false)
			continue
		}
		l.StrokeColor, l.StrokeWidth = ink, float32(2.5*max(0.6, min(2, g.machine.View().Zoom)))
		l.Position1, l.Position2 = position(pts[i]), position(pts[i+1])
		r.setVisible(l, true)
		l.Refresh()
	}
}

// hopLine is the way of a hop on the screen, without its gate bars and its
// arrow head, and its colour.
func (g *Graph) hopLine(id scene.ID, theme *paint.Theme) ([]scene.Point, color.Color) {
	s, view := g.machine.Scene(), g.machine.View()
	route, ok := s.RouteOf(id, view.Zoom)
	if !ok {
		return nil, nil
	}
	h, _ := s.Hop(id)
	from, to := 0.0, route.Length()-scene.ArrowSize
	if h.Gate != scene.GateNone {
		from = min(barsEnd, to/2)
	}
	pts := make([]scene.Point, 0, hoverPieces+1)
	for i := range hoverPieces + 1 {
		p, _ := route.At(from + (to-from)*float64(i)/hoverPieces)
		pts = append(pts, view.ToScreen(p))
	}
	return pts, theme.HopInk(&h)
}

// barsEnd is how far the bars of a gate reach along a hop, in document units.
const barsEnd = 19.0

// placeTip shows the tool tip below the pointer, or above it where there is
// more room, never beyond the edges.
func (r *renderer) placeTip(img image.Image, size fyne.Size, at scene.Point) {
	const away = 16
	area := r.g.Size()
	x, y := float32(at.X)+away/2, float32(at.Y)+away
	if y+size.Height > area.Height {
		y = float32(at.Y) - size.Height - away/2
	}
	x = max(0, min(x, area.Width-size.Width))
	r.tip.Image = img
	r.tip.ScaleMode = fynecanvas.ImageScalePixels
	r.tip.FillMode = fynecanvas.ImageFillStretch
	r.tip.Resize(size)
	r.tip.Move(fyne.NewPos(x, max(0, y)))
	r.tip.Show()
	r.tip.Refresh()
	r.appeared(r.tip)
}
