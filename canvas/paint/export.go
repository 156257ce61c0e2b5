package paint

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"

	"sluice/canvas/scene"
)

// ErrTooLarge means that a picture would need more than MaxExportPixels.
// Export it at a smaller scale.
var ErrTooLarge = errors.New("picture is too large")

// MaxExportPixels bounds an exported picture (256 MB of memory).
const MaxExportPixels = 64 << 20

// exportMargin is the free space around an exported graph, in document units.
const exportMargin = 24.0

// Export draws a whole graph, whatever a window would show of it, at 100 %
// times scale. An empty scene gives a small picture with the notice. The error
// wraps ErrTooLarge and names the largest scale that fits.
func (p *Painter) Export(s *scene.Scene, theme *Theme, scale float64, empty Notice) (*image.RGBA, error) {
	if !(scale > 0) || math.IsInf(scale, 0) {
		return nil, fmt.Errorf("export picture: scale %v is not positive", scale)
	}
	b := s.Bounds()
	if b.Empty() {
		b = scene.Rect{Max: scene.Point{X: 400, Y: 240}}
	}
	b = b.Inset(-exportMargin)
	w, h := math.Ceil(b.W()*scale), math.Ceil(b.H()*scale)
	if w*h > MaxExportPixels {
		fits := math.Floor(scale*math.Sqrt(MaxExportPixels/(w*h))*100) / 100
		return nil, fmt.Errorf("export picture of %.0f x %.0f pixels: %w: use a scale of %.2f or less", w, h, ErrTooLarge, fits)
	}
	img := image.NewRGBA(image.Rect(0, 0, int(w), int(h)))
	view := scene.View{Zoom: 1, Offset: scene.Point{X: -math.Floor(b.Min.X), Y: -math.Floor(b.Min.Y)}}
	p.Paint(img, Frame{Scene: s, View: view, Scale: scale, Theme: theme, Empty: empty})
	return img, nil
}

// WritePNG exports a graph as a PNG file.
func (p *Painter) WritePNG(w io.Writer, s *scene.Scene, theme *Theme, scale float64, empty Notice) error {
	img, err := p.Export(s, theme, scale, empty)
	if err != nil {
		return err
	}
	if err := png.Encode(w, img); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}
