package paint

import "math"

// textKey names one rendered line of text.
type textKey struct {
	text string
	face Face
	size uint16 // quarter pixels
	halo uint8  // pixels around the text that are cleared
	// changes of the fonts before it was rendered
	changes uint32
}

// textMask is a rendered line: coverage of the letters and of their halo,
// placed against pen and baseline.
type textMask struct {
	left, top, w, h int
	cov, halo       []uint8
}

// textBytes bounds the cache of rendered lines.
const textBytes = 8 << 20

// maxTextRunes bounds what is ever rendered as one line.
const maxTextRunes = 400

// quarter turns a size in pixels into quarter pixels.
func quarter(size float64) uint16 {
	return uint16(math.Max(1, math.Min(math.MaxUint16, math.Round(size*4))))
}

// line renders a text once per size and keeps it.
func (p *Painter) line(key textKey) *textMask {
	if m, ok := p.texts.get(key); ok {
		return m
	}
	m := p.render(key)
	p.texts.put(key, m, len(m.cov)+len(m.halo)+len(key.text)+128)
	return m
}

type placedGlyph struct {
	g    *glyph
	x, y int
}

func (p *Painter) render(key textKey) *textMask {
	size := float32(key.size) / 4
	pen, last := float32(0), rune(-1)
	var placed []placedGlyph
	minX, minY, maxX, maxY := math.MaxInt, math.MaxInt, math.MinInt, math.MinInt
	for _, r := range key.text {
		if len(placed) == maxTextRunes {
			break
		}
		found := p.fonts.find(key.face, r)
		pen += p.fonts.kern(key.face, last, r) * size
		last = r
		// Pen positions step by a quarter pixel.
		at := int(math.Round(float64(pen) * subpixels))
		whole := at >> 2
		g := p.fonts.glyph(glyphKey{found.face, found.index, key.size, uint8(at & 3)})
		pen += found.advance * size
		if g.w == 0 {
			continue
		}
		placed = append(placed, placedGlyph{g, whole + g.left, g.top})
		minX, minY = min(minX, whole+g.left), min(minY, g.top)
		maxX, maxY = max(maxX, whole+g.left+g.w), max(maxY, g.top+g.h)
	}
	if len(placed) == 0 {
		return &textMask{}
	}
	pad := int(key.halo)
	m := &textMask{left: minX - pad, top: minY - pad, w: maxX - minX + 2*pad, h: maxY - minY + 2*pad}
	m.cov = make([]uint8, m.w*m.h)
	for _, q := range placed {
		m.add(q)
	}
	if pad > 0 {
		m.halo = grow(m.cov, m.w, m.h, pad)
	}
	return m
}

// add puts one glyph into the line; where letters overlap the larger coverage wins.
func (m *textMask) add(q placedGlyph) {
	for y := range q.g.h {
		src := q.g.cov[y*q.g.w : (y+1)*q.g.w]
		dst := m.cov[(q.y-m.top+y)*m.w+q.x-m.left:]
		for x, c := range src {
			if c > dst[x] {
				dst[x] = c
			}
		}
	}
}

// grow spreads coverage by r pixels in every direction.
func grow(cov []uint8, w, h, r int) []uint8 {
	across, out := make([]uint8, len(cov)), make([]uint8, len(cov))
	for y := range h {
		row, to := cov[y*w:(y+1)*w], across[y*w:(y+1)*w]
		for x := range w {
			for _, c := range row[max(0, x-r):min(w, x+r+1)] {
				to[x] = max(to[x], c)
			}
		}
	}
	for y := range h {
		to := out[y*w : (y+1)*w]
		for v := max(0, y-r); v < min(h, y+r+1); v++ {
			for x, c := range across[v*w : (v+1)*w] {
				to[x] = max(to[x], c)
			}
		}
	}
	return out
}
