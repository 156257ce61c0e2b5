//go:build !headless

package canvas

import (
	"image"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"sluice/canvas/gesture"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// Config is how a Graph looks and what it may do.
type Config struct {
	Fonts   *paint.Fonts // shared by all graphs of the window
	Theme   *paint.Theme
	Gesture gesture.Config
	Scene   scene.Options
	Empty   paint.Notice // shown while there is nothing to show
}

// Graph is the canvas widget.
type Graph struct {
	widget.BaseWidget

	// OnIntent is told every finished gesture. nil ignores them.
	OnIntent func(gesture.Intent)
	// ToolTip describes what lies under the pointer; false shows none.
	ToolTip func(scene.Hit) (paint.ToolTip, bool)
	// OnZoom is told the zoom whenever it is another one; 1 is the document's size.
	OnZoom func(float64)
	// OnShortcut and OnKey get what the canvas does not use itself, so that
	// the application's shortcuts work while the canvas has the focus.
	OnShortcut func(fyne.Shortcut)
	OnKey      func(*fyne.KeyEvent)

	cfg     Config
	machine *gesture.Machine
	painter *paint.Painter

	img    *image.RGBA // last picture, reused while the size stays
	full   bool        // the whole picture is out of date
	nodes  []scene.ID  // changed in place since the last picture
	hops   []scene.ID
	paints int

	zoom    float64 // that OnZoom was told
	focused bool
	fitting bool        // show everything as soon as the size is known
	wanted  *scene.View // to show then instead
	pressed gesture.Button
	holding bool        // a button is down
	last    scene.Point // pointer of the last drag event
	start   time.Time
	ticker  *fyne.Animation
	view    *renderer
}

// NewGraph builds an empty canvas.
func NewGraph(cfg Config) *Graph {
	g := &Graph{cfg: cfg, machine: gesture.New(cfg.Gesture), painter: paint.New(cfg.Fonts), full: true, start: time.Now()}
	g.machine.SetScene(scene.New(scene.Graph{}, cfg.Fonts, cfg.Scene))
	g.ExtendBaseWidget(g)
	return g
}

// Machine gives access to view, selection and focus. After changing them
// through it call Repaint.
func (g *Graph) Machine() *gesture.Machine { return g.machine }

// Painter is the widget's painter, for exporting pictures on the goroutine of
// the user interface. Work in the background needs fonts and painter of its own.
func (g *Graph) Painter() *paint.Painter { return g.painter }

// SetGraph shows another graph. Pan, zoom and what still exists of selection
// and focus stay; a gesture in progress ends without an intention.
func (g *Graph) SetGraph(graph scene.Graph) {
	g.machine.SetScene(scene.New(graph, g.cfg.Fonts, g.cfg.Scene))
	g.hideTip()
	g.Repaint()
}

// Update changes the looks of nodes and hops in place, as a metrics tick does.
// Only their surroundings are painted again, and only if something differs.
func (g *Graph) Update(nodes []scene.Node, hops []scene.Hop) {
	s := g.machine.Scene()
	changed, changedHops := s.Update(nodes...), s.UpdateHops(hops...)
	if len(changed)+len(changedHops) == 0 {
		return
	}
	g.nodes, g.hops = append(g.nodes, changed...), append(g.hops, changedHops...)
	g.show()
}

// SetTheme changes the colours.
func (g *Graph) SetTheme(t *paint.Theme) {
	g.cfg.Theme = t
	g.hideTip()
	g.Repaint()
}

// FontsChanged measures and paints everything again.
func (g *Graph) FontsChanged() {
	g.machine.Scene().Measure()
	g.hideTip()
	g.Repaint()
}

// SetGesture changes what the user may do.
func (g *Graph) SetGesture(cfg gesture.Config) {
	g.cfg.Gesture = cfg
	g.machine.SetConfig(cfg)
	g.Repaint()
}

// SetEmpty changes the words of an empty canvas.
func (g *Graph) SetEmpty(n paint.Notice) {
	g.cfg.Empty = n
	g.Repaint()
}

// Fit shows the whole graph, now or as soon as the widget has a size.
func (g *Graph) Fit() {
	if size := g.Size(); size.Width < 1 || size.Height < 1 {
		g.wanted, g.fitting = nil, true
		return
	}
	g.machine.FitAll()
	g.Repaint()
}

// SetView pans and zooms, now or as soon as the widget has a size.
func (g *Graph) SetView(v scene.View) {
	if size := g.Size(); size.Width < 1 || size.Height < 1 {
		g.wanted, g.fitting = &v, false
		return
	}
	g.machine.SetView(v)
	g.Repaint()
}

// ZoomBy zooms around the middle of the canvas.
func (g *Graph) ZoomBy(factor float64) {
	size := g.machine.Size()
	g.machine.SetView(g.machine.View().ZoomAt(scene.Point{X: size.W / 2, Y: size.H / 2}, factor))
	g.Repaint()
}

// Reveal pans as little as needed to show a node or note.
func (g *Graph) Reveal(ref scene.Ref) {
	if p, ok := g.machine.Scene().Place(ref); ok {
		const room = 32.0
		around := scene.RectAround(p, scene.LabelWidth, 2*scene.TileSize)
		g.machine.SetView(g.machine.View().Reveal(around, g.machine.Size(), room))
		g.Repaint()
	}
}

// Area is where a node with its label, a hop's middle or a note lies on the
// widget, for placing a menu or an editor over it. ok is false for what does
// not exist.
func (g *Graph) Area(ref scene.Ref) (at fyne.Position, size fyne.Size, ok bool) {
	r, ok := g.machine.Scene().AreaOf(ref)
	if !ok {
		return at, size, false
	}
	r = g.machine.View().RectToScreen(r)
	return position(r.Min), fyne.NewSize(float32(r.W()), float32(r.H())), true
}

// StartConnect begins a hop from a node, as the menu item "Create hop" does.
func (g *Graph) StartConnect(from scene.ID) { g.apply(g.machine.StartConnect(from)) }

// PaletteOver shows where a palette item would land; at is relative to the canvas.
func (g *Graph) PaletteOver(item string, at fyne.Position) {
	g.feed(gesture.Event{Kind: gesture.DragOver, At: point(at), Item: item})
}

// PaletteDrop puts a palette item down.
func (g *Graph) PaletteDrop(item string, at fyne.Position) {
	g.feed(gesture.Event{Kind: gesture.DragDrop, At: point(at), Item: item})
}

// PaletteLeave ends the display begun by PaletteOver.
func (g *Graph) PaletteLeave() { g.feed(gesture.Event{Kind: gesture.DragLeave}) }

// Repaint draws the whole picture again at the next frame.
func (g *Graph) Repaint() {
	g.full = true
	g.show()
}

// Pictures counts the pictures painted so far, in whole or in part.
func (g *Graph) Pictures() int { return g.paints }

// show asks the renderer for a new picture.
func (g *Graph) show() {
	if zoom := g.machine.View().Zoom; zoom != g.zoom {
		g.zoom = zoom
		if g.OnZoom != nil {
			g.OnZoom(zoom)
		}
	}
	if g.view != nil {
		g.view.raster.Refresh()
		g.view.overlay()
	}
}

// Resize implements fyne.CanvasObject.
func (g *Graph) Resize(size fyne.Size) {
	g.machine.SetSize(scene.Size{W: float64(size.Width), H: float64(size.Height)})
	if (g.fitting || g.wanted != nil) && size.Width >= 1 && size.Height >= 1 {
		if g.wanted != nil {
			g.machine.SetView(*g.wanted)
		} else {
			g.machine.FitAll()
		}
		g.wanted, g.fitting = nil, false
		defer g.show() // the zoom is another one
	}
	g.full = true
	g.BaseWidget.Resize(size)
}

// MinSize implements fyne.CanvasObject.
func (g *Graph) MinSize() fyne.Size { return fyne.NewSize(160, 120) }

// picture is the raster's generator: w and h are device pixels.
func (g *Graph) picture(w, h int) image.Image {
	w, h = max(w, 1), max(h, 1)
	if g.img == nil || g.img.Rect.Dx() != w || g.img.Rect.Dy() != h {
		g.img, g.full = image.NewRGBA(image.Rect(0, 0, w, h)), true
	}
	f := g.frame(w)
	switch {
	case g.full:
		g.painter.Paint(g.img, f)
		g.paints++
	case len(g.nodes)+len(g.hops) > 0:
		g.painter.Repaint(g.img, f, g.painter.Dirty(f, g.img.Rect, g.nodes, g.hops)...)
		g.paints++
	}
	g.full, g.nodes, g.hops = false, g.nodes[:0], g.hops[:0]
	return g.img
}

// frame is the picture of the moment for w device pixels.
func (g *Graph) frame(w int) paint.Frame {
	scale := 1.0
	if width := g.Size().Width; width >= 1 {
		scale = float64(w) / float64(width)
	}
	f := paint.Frame{
		Scene: g.machine.Scene(), View: g.machine.View(), Scale: quarterScale(scale), Theme: g.cfg.Theme,
		MiniMap: g.cfg.Gesture.MiniMap, Empty: g.cfg.Empty, Marks: g.marks(),
	}
	return f
}

// quarterScale rounds away what whole pixels did to a scale such as 1 or 1.25.
func quarterScale(scale float64) float64 {
	const steps = 20
	if near := math.Round(scale*steps) / steps; math.Abs(near-scale) < 0.004 && near > 0 {
		return near
	}
	return scale
}

// marks turns selection and trace into what the painter shows.
func (g *Graph) marks() paint.Marks {
	t := g.machine.Trace()
	m := paint.Marks{
		Selected: g.machine.Selection(), DropHop: t.DropHop,
		Connecting: t.Connecting, Source: t.Source, Targets: t.Targets,
		Lasso: t.Lasso, Guides: t.Guides, Landing: t.Landing,
	}
	if g.focused {
		m.Focus = g.machine.Focus()
	}
	if t.Wire != nil {
		m.Wire = &paint.Wire{From: t.Wire.From, To: t.Wire.To}
	}
	return m
}

// CreateRenderer implements fyne.Widget.
func (g *Graph) CreateRenderer() fyne.WidgetRenderer {
	g.view = newRenderer(g)
	return g.view
}

// hideTip removes the tool tip.
func (g *Graph) hideTip() {
	if g.view != nil {
		g.view.tip.Hide()
	}
}

// showTip shows the tool tip of a thing beside the pointer, inside the canvas.
func (g *Graph) showTip(hit scene.Hit, at scene.Point) {
	g.hideTip()
	if g.view == nil || g.ToolTip == nil || hit.Kind == scene.KindNone {
		return
	}
	tip, ok := g.ToolTip(hit)
	if !ok {
		return
	}
	scale := 1.0
	if g.img != nil && g.Size().Width >= 1 {
		scale = quarterScale(float64(g.img.Rect.Dx()) / float64(g.Size().Width))
	}
	img := g.painter.ToolTip(tip, g.cfg.Theme, scale)
	size := fyne.NewSize(float32(float64(img.Rect.Dx())/scale), float32(float64(img.Rect.Dy())/scale))
	g.view.placeTip(img, size, at)
}

func point(p fyne.Position) scene.Point { return scene.Point{X: float64(p.X), Y: float64(p.Y)} }

func position(p scene.Point) fyne.Position { return fyne.NewPos(float32(p.X), float32(p.Y)) }

var _ fyne.Widget = (*Graph)(nil)
