package paint

import (
	"image"
	"image/color"
	"math"

	"sluice/assets/icons"
	"sluice/canvas/scene"
)

// Painter draws frames. It is owned by one goroutine and may serve many scenes
// and images. What it caches is bounded: see CacheBytes.
type Painter struct {
	fonts    *Fonts
	icons    func(name string) ([]byte, error)
	drawings map[string]*drawing
	texts    *cache[textKey, *textMask]
	sprites  *cache[spriteKey, *sprite]

	r raster
	f *Frame
	k float64     // device pixels per document unit
	o scene.Point // device position of the document's origin, whole pixels
	d scene.Detail

	nodes, hops, notes []int // scratch
}

// New builds a painter over fonts, which scenes of the same goroutine may
// share as their measurer.
func New(fonts *Fonts) *Painter {
	return &Painter{
		fonts: fonts, icons: icons.SVG,
		drawings: make(map[string]*drawing),
		texts:    newCache[textKey, *textMask](textBytes),
		sprites:  newCache[spriteKey, *sprite](spriteBytes),
	}
}

// Fonts returns the fonts the painter was built with.
func (p *Painter) Fonts() *Fonts { return p.fonts }

// MaxCacheBytes is the most that CacheBytes ever reports.
const MaxCacheBytes = textBytes + spriteBytes + glyphBytes

// CacheBytes is the memory held by cached text, tiles, badges and glyphs.
func (p *Painter) CacheBytes() int {
	return p.texts.bytes() + p.sprites.bytes() + p.fonts.glyphs.bytes()
}

// Frame is one picture: what is drawn, from where and how.
type Frame struct {
	Scene   *scene.Scene
	View    scene.View
	Scale   float64 // device pixels per logical pixel; 0 counts as 1
	Theme   *Theme
	Marks   Marks
	MiniMap bool
	Empty   Notice // shown when the scene has nothing to show
}

// Notice is what an empty canvas says. Buttons under it are the caller's.
type Notice struct{ Icon, Title, Text string }

// Marks are selection and the traces of a gesture in progress.
type Marks struct {
	Selected scene.Selection
	Focus    scene.ID // node with the keyboard focus; "" is none
	HoverHop scene.ID
	DropHop  scene.ID // hop that a dragged node would be inserted into

	Connecting bool // others than Targets and Source are dimmed
	Source     scene.ID
	Targets    map[scene.ID]bool
	Wire       *Wire

	Lasso   *scene.Rect // document units
	Guides  []scene.Guide
	Landing *scene.Point // cross where a new node will be placed
}

// Wire is a hop being drawn, in document units.
type Wire struct {
	From, To scene.Point
	Kind     scene.HopKind
}

// Paint draws the whole frame into dst, which is as large as the view in
// device pixels and becomes opaque.
func (p *Painter) Paint(dst *image.RGBA, f Frame) {
	p.Repaint(dst, f, dst.Bounds())
}

// Repaint draws the frame within some rectangles (device pixels) of an image
// that holds an older picture with the same view, scale and theme. The result
// is the same as Paint's when the rectangles cover all that changed.
func (p *Painter) Repaint(dst *image.RGBA, f Frame, rects ...image.Rectangle) {
	if f.Scale <= 0 {
		f.Scale = 1
	}
	p.f, p.d = &f, scene.DetailAt(f.View.Zoom)
	p.k = f.View.Zoom * f.Scale
	p.o = scene.Point{X: math.Round(f.View.Offset.X * f.Scale), Y: math.Round(f.View.Offset.Y * f.Scale)}
	full := dst.Bounds()
	for _, r := range rects {
		if r = r.Intersect(full); !r.Empty() {
			p.r.aim(dst, r)
			p.draw(full)
		}
	}
	p.f = nil
}

// Dirty lists the rectangles to repaint after these nodes and hops changed
// their looks in place. It is the whole picture when little would be saved.
func (p *Painter) Dirty(f Frame, bounds image.Rectangle, nodes, hops []scene.ID) []image.Rectangle {
	if f.Scale <= 0 {
		f.Scale = 1
	}
	var rects []image.Rectangle
	area := 0
	add := func(r scene.Rect, ok bool) {
		if !ok {
			return
		}
		d := device(f.View.RectToScreen(r), f.Scale).Intersect(bounds)
		if !d.Empty() {
			rects, area = append(rects, d), area+d.Dx()*d.Dy()
		}
	}
	for _, id := range nodes {
		add(f.Scene.NodeReach(id, f.View.Zoom))
	}
	for _, id := range hops {
		add(f.Scene.HopReach(id))
	}
	if len(rects) == 0 {
		return nil
	}
	if f.MiniMap {
		m := miniMapOf(&f, bounds)
		if d := device(m.Frame, f.Scale).Intersect(bounds); m.Visible() && !d.Empty() {
			rects, area = append(rects, d), area+d.Dx()*d.Dy()
		}
	}
	if area*4 > bounds.Dx()*bounds.Dy()*3 {
		return []image.Rectangle{bounds}
	}
	return rects
}

// device turns a rectangle of logical pixels into whole device pixels around
// it, with the slack of a rounded origin.
func device(r scene.Rect, scale float64) image.Rectangle {
	return image.Rect(
		int(math.Floor(r.Min.X*scale))-2, int(math.Floor(r.Min.Y*scale))-2,
		int(math.Ceil(r.Max.X*scale))+2, int(math.Ceil(r.Max.Y*scale))+2)
}

// at maps a document point to the device.
func (p *Painter) at(q scene.Point) scene.Point { return q.Mul(p.k).Add(p.o) }

func (p *Painter) rect(r scene.Rect) scene.Rect {
	return scene.Rect{Min: p.at(r.Min), Max: p.at(r.Max)}
}

// px turns a length in logical pixels into device pixels.
func (p *Painter) px(v float64) float64 { return v * p.f.Scale }

// unit is the size of a line detail of v document units: it follows the zoom
// within limits, so that lines neither vanish nor become beams.
func (p *Painter) unit(v float64) float64 {
	return v * p.f.Scale * math.Max(0.6, math.Min(2, p.f.View.Zoom))
}

// draw paints all that touches the clip.
func (p *Painter) draw(full image.Rectangle) {
	f, s := p.f, p.f.Scene
	p.r.clear(f.Theme.Canvas)
	clip := p.r.clip
	seen := scene.Rect{
		Min: scene.Point{X: float64(clip.Min.X), Y: float64(clip.Min.Y)}.Sub(p.o).Mul(1 / p.k),
		Max: scene.Point{X: float64(clip.Max.X), Y: float64(clip.Max.Y)}.Sub(p.o).Mul(1 / p.k),
	}
	p.notes = s.NotesIn(p.notes[:0], seen)
	for _, i := range p.notes {
		p.note(s.NoteNumber(i))
	}
	p.hops = s.HopsIn(p.hops[:0], seen)
	for _, i := range p.hops {
		p.hop(i)
	}
	if p.d.Arrows {
		for _, i := range p.hops {
			p.bars(i)
		}
	}
	p.nodes = s.NodesIn(p.nodes[:0], seen)
	for _, i := range p.nodes {
		p.tile(i)
	}
	if p.d.Labels {
		for _, i := range p.nodes {
			p.label(i)
		}
		for _, i := range p.hops {
			p.plate(i)
		}
	}
	for _, i := range p.nodes {
		p.ring(i)
	}
	if s.NodeCount() == 0 && s.NoteCount() == 0 && f.Empty.Title != "" {
		p.empty(full)
	}
	p.marks()
	if f.MiniMap {
		p.miniMap(full)
	}
}

// text draws one line; x is where it starts on the device, baseline its foot,
// size in logical pixels.
func (p *Painter) text(s string, face Face, size, x, baseline float64, c color.RGBA, halo bool, alpha uint32) {
	if s == "" {
		return
	}
	key := textKey{text: s, face: face, size: quarter(size * p.f.Scale), changes: p.fonts.changes}
	if halo {
		key.halo = uint8(math.Min(8, math.Round(2*p.f.Scale)))
	}
	m := p.line(key)
	left, top := int(math.Round(x))+m.left, int(math.Round(baseline))+m.top
	if halo {
		p.r.mask(m.halo, m.w, m.h, left, top, p.f.Theme.Canvas, alpha)
	}
	p.r.mask(m.cov, m.w, m.h, left, top, c, alpha)
}
