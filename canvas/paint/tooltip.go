package paint

import (
	"image"
	"math"

	"sluice/canvas/scene"
)

// ToolTip is the card that explains a badge, a node or a hop.
type ToolTip struct {
	Title   string
	Tone    scene.Tone // colour of the title; neutral shows it as text
	Caption string     // soft line under the title
	Rows    []TipRow   // under a separator
	Footer  string
}

// TipRow is a line of a tool tip: soft key and value in the mono font, or,
// without a value, one soft sentence.
type TipRow struct{ Key, Value string }

// Measures of a tool tip in logical pixels.
const (
	tipPad      = 12.0
	tipKeyWidth = 72.0
	tipMin      = 120.0
	tipMax      = 400.0
)

// tipLine is one laid-out line.
type tipLine struct {
	text string
	face Face
	size float64
	x, y float64 // baseline
	soft bool
	head bool
}

// ToolTip draws the card into an image of its own, as large as it needs to
// be; lines wider than the card's limit are cut with an ellipsis.
func (p *Painter) ToolTip(tip ToolTip, theme *Theme, scale float64) *image.RGBA {
	if scale <= 0 {
		scale = 1
	}
	lines, rule, w, h := p.layoutTip(tip)
	img := image.NewRGBA(image.Rect(0, 0, int(math.Ceil(w*scale)), int(math.Ceil(h*scale))))
	p.f = &Frame{Theme: theme, Scale: scale, View: scene.Home()}
	defer func() { p.f = nil }()
	p.r.aim(img, img.Bounds())
	p.r.clear(theme.Surface)
	all := scene.Rect{Max: scene.Point{X: float64(img.Rect.Dx()), Y: float64(img.Rect.Dy())}}
	p.r.frame(all, math.Max(1, math.Round(scale)), theme.LineStrong)
	if rule > 0 {
		y := math.Round(rule * scale)
		p.r.box(scene.Rect{Min: scene.Point{X: tipPad * scale, Y: y}, Max: scene.Point{X: all.Max.X - tipPad*scale, Y: y + math.Max(1, math.Round(scale))}}, theme.Line, 255)
	}
	for _, l := range lines {
		c := theme.Text
		switch {
		case l.head && tip.Tone != scene.ToneNeutral:
			c = theme.Tone(tip.Tone).Ink
		case l.soft:
			c = theme.TextSoft
		}
		p.text(l.text, l.face, l.size, l.x*scale, l.y*scale, c, false, 255)
	}
	return img
}

func (p *Painter) layoutTip(tip ToolTip) (lines []tipLine, rule, w, h float64) {
	y, widest := 8.0, tipMin
	add := func(text string, face Face, size, x float64, soft bool) {
		width := func(s string) float64 { return p.fonts.WidthOf(s, face, size) }
		text = scene.WrapText(text, tipMax-tipPad-x, 1, width)[0]
		widest = math.Max(widest, x+width(text)+tipPad)
		lines = append(lines, tipLine{text: text, face: face, size: size, x: x, y: y, soft: soft})
	}
	if tip.Title != "" {
		y += 14
		add(tip.Title, Bold, 13, tipPad, false)
		lines[len(lines)-1].head = true
		y += 4
	}
	if tip.Caption != "" {
		y += 14
		add(tip.Caption, Regular, scene.CaptionSize, tipPad, true)
		y += 2
	}
	if len(tip.Rows) > 0 {
		if len(lines) > 0 {
			rule = y + 6
			y += 9
		}
		for _, row := range tip.Rows {
			y += 16
			if row.Value == "" {
				add(row.Key, Regular, scene.CaptionSize, tipPad, true)
				continue
			}
			add(row.Key, Regular, scene.CaptionSize, tipPad, true)
			x := tipPad + math.Max(tipKeyWidth, math.Ceil(p.fonts.WidthOf(row.Key, Regular, scene.CaptionSize))+8)
			add(row.Value, Mono, scene.CaptionSize, x, false)
		}
	}
	if tip.Footer != "" {
		y += 16
		add(tip.Footer, Regular, scene.CaptionSize, tipPad, true)
	}
	return lines, rule, math.Ceil(widest), y + 9
}
