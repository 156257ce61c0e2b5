//go:build !headless

package desktop

import (
	"bytes"
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"

	"sluice/assets/icons"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// Tones under short names.
const (
	toneNeutral     = scene.ToneNeutral
	toneOK          = scene.ToneOK
	toneWarn        = scene.ToneWarn
	toneError       = scene.ToneError
	toneInterrupted = scene.ToneInterrupted
)

// ink picks a colour of the theme.
type ink func(*paint.Theme) color.RGBA

func inkText(t *paint.Theme) color.RGBA      { return t.Text }
func inkSoft(t *paint.Theme) color.RGBA      { return t.TextSoft }
func inkOff(t *paint.Theme) color.RGBA       { return t.TextOff }
func inkOnPrimary(t *paint.Theme) color.RGBA { return t.OnPrimary }
func inkPrimary(t *paint.Theme) color.RGBA   { return t.Primary }

func inkTone(tone scene.Tone) ink {
	return func(t *paint.Theme) color.RGBA { return t.Tone(tone).Ink }
}

// iconResource is an icon in a colour of the current theme. Its name holds the
// colour, since pictures are cached by name.
type iconResource struct {
	name string
	ink  ink
	of   func() *paint.Theme
}

// Name implements fyne.Resource.
func (r *iconResource) Name() string {
	c := r.ink(r.of())
	return fmt.Sprintf("%s-%02x%02x%02x.svg", r.name, c.R, c.G, c.B)
}

// Content implements fyne.Resource. A missing icon shows as the neutral one.
func (r *iconResource) Content() []byte {
	svg, err := icons.SVG(r.name)
	if err != nil {
		if svg, err = icons.SVG("more"); err != nil {
			return nil
		}
	}
	c := r.ink(r.of())
	return bytes.ReplaceAll(svg, []byte("currentColor"), fmt.Appendf(nil, "#%02x%02x%02x", c.R, c.G, c.B))
}

// icon gives an icon in a colour that follows the theme.
func (d *Desktop) icon(name string, c ink) fyne.Resource {
	return &iconResource{name: name, ink: c, of: d.theme}
}

// theme gives the colours of the moment.
func (d *Desktop) theme() *paint.Theme { return d.look.Theme }
