package paint_test

import (
	"fmt"
	"image"
	"testing"
	"time"

	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// budget is a picture with the time that one frame of it should take at most.
type budget struct {
	nodes, hops, w, h int
	zoom              float64
	limit             time.Duration
}

var budgets = map[string]budget{
	"300-of-400-at-1400x900":     {300, 400, 1400, 900, 1, 20 * time.Millisecond},
	"300-of-400-all-at-1400x900": {300, 400, 1400, 900, 0.42, 20 * time.Millisecond},
	"300-labels-at-1400x900":     {300, 400, 1400, 900, 0.5, 20 * time.Millisecond},
	"3000-at-4K":                 {3000, 4000, 3840, 2160, 1, 80 * time.Millisecond},
	"3000-all-at-4K":             {3000, 4000, 3840, 2160, 0.3, 80 * time.Millisecond},
}

func (c budget) frame(p *paint.Painter) (*image.RGBA, paint.Frame) {
	img := image.NewRGBA(image.Rect(0, 0, c.w, c.h))
	return img, paint.Frame{
		Scene: scene.New(bigGraph(c.nodes, c.hops), p.Fonts(), scene.Options{}),
		View:  scene.View{Zoom: c.zoom}, Scale: 1, Theme: paint.Light(), MiniMap: true,
	}
}

// BenchmarkPaint draws whole pictures and relates the time to a plain copy of
// the same pixels in memory and to the budget of the picture.
func BenchmarkPaint(b *testing.B) {
	for name, c := range budgets {
		b.Run(name, func(b *testing.B) {
			p := newPainter(b)
			img, f := c.frame(p)
			p.Paint(img, f)
			for b.Loop() {
				p.Paint(img, f)
			}
			perFrame := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(perFrame/copyTime(img), "x-copy")
			b.ReportMetric(perFrame/1e6, "ms/frame")
			b.ReportMetric(perFrame/float64(c.limit), "x-budget")
		})
	}
}

// copyTime is the time in nanoseconds of copying all pixels once, the best of
// some tries.
func copyTime(img *image.RGBA) float64 {
	to := make([]uint8, len(img.Pix))
	best := time.Duration(1 << 62)
	for range 12 {
		start := time.Now()
		copy(to, img.Pix)
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds())
}

// BenchmarkPan moves the picture a little for every frame.
func BenchmarkPan(b *testing.B) {
	p := newPainter(b)
	img, f := budgets["300-of-400-at-1400x900"].frame(p)
	for b.Loop() {
		f.View.Offset.X -= 3.3
		if f.View.Offset.X < -1500 {
			f.View.Offset.X = 0
		}
		p.Paint(img, f)
	}
}

// BenchmarkZoom changes the zoom with every frame, so that no text or tile is
// cached at its size.
func BenchmarkZoom(b *testing.B) {
	p := newPainter(b)
	img, f := budgets["300-of-400-at-1400x900"].frame(p)
	i := 0
	for b.Loop() {
		i++
		f.View.Zoom = 0.5 + float64(i%150)/100
		p.Paint(img, f)
	}
	b.ReportMetric(float64(p.CacheBytes()), "cache-B")
}

// BenchmarkTick repaints one node whose metric line changed.
func BenchmarkTick(b *testing.B) {
	p := newPainter(b)
	img, f := budgets["300-of-400-at-1400x900"].frame(p)
	p.Paint(img, f)
	n, _ := f.Scene.Node("n23")
	i := 0
	for b.Loop() {
		i++
		n.Metric = fmt.Sprintf("%d rows", 100_000+i)
		changed := f.Scene.Update(n)
		p.Repaint(img, f, p.Dirty(f, img.Bounds(), changed, nil)...)
	}
}
