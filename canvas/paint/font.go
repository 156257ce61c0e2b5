package paint

import (
	"embed"
	"fmt"
	"image"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

//go:embed fonts/*.ttf
var fontFiles embed.FS

// Face is one of the fonts.
type Face uint8

// The faces of the design. Fallback fonts follow behind them: the embedded ones, for
// when others took their place, then those that were added.
const (
	Regular Face = iota
	Bold
	Mono
	embedded
	firstFallback = 2 * embedded
)

// asciiFirst and asciiCount bound the characters with tables of their own.
const (
	asciiFirst = ' '
	asciiCount = '~' - ' ' + 1
)

// Fonts measures and rasterises text. It implements scene.Measurer. Owned by
// one goroutine; several scenes and painters of that goroutine may share it.
type Fonts struct {
	faces  []*loadedFont
	glyphs *cache[glyphKey, *glyph]
	others map[otherKey]otherGlyph // beyond ASCII; bounded by maxOthers
	buf    sfnt.Buffer
	// changes counts the changes of fonts: what was rendered before is out of date.
	changes uint32
	// Missing, if set, hears of each character that no font has. It may be called for
	// the same one again, and must not use the Fonts.
	Missing func(r rune)
}

type loadedFont struct {
	sfnt    *sfnt.Font
	advance [asciiCount]float32
	index   [asciiCount]sfnt.GlyphIndex
	kern    [asciiCount][asciiCount]float32
}

type otherKey struct {
	face Face
	r    rune
}

type otherGlyph struct {
	face    Face // where the glyph was found
	index   sfnt.GlyphIndex
	advance float32
}

// maxOthers bounds the table of characters beyond ASCII; a full table starts
// again empty.
const maxOthers = 8192

// glyphBytes bounds the cache of rasterised glyphs.
const glyphBytes = 2 << 20

// subpixels is the number of horizontal positions a glyph is rasterised at.
const subpixels = 4

type glyphKey struct {
	face  Face
	index sfnt.GlyphIndex
	size  uint16 // quarter pixels
	sub   uint8
}

// glyph is a coverage mask; left and top place it against pen and baseline.
type glyph struct {
	left, top, w, h int
	cov             []uint8
}

// NewFonts loads the embedded fonts.
func NewFonts() (*Fonts, error) {
	f := &Fonts{
		glyphs: newCache[glyphKey, *glyph](glyphBytes),
		others: make(map[otherKey]otherGlyph),
	}
	for _, name := range []string{"NotoSans-Regular.ttf", "NotoSans-Bold.ttf", "DejaVuSansMono.ttf"} {
		data, err := fontFiles.ReadFile("fonts/" + name)
		if err != nil {
			return nil, fmt.Errorf("read font %s: %w", name, err)
		}
		l, err := f.load(FontFile{Data: data}, Face(len(f.faces)))
		if err != nil {
			return nil, fmt.Errorf("parse font %s: %w", name, err)
		}
		f.faces = append(f.faces, l)
	}
	f.faces = append(f.faces, f.faces...) // the embedded ones again
	return f, nil
}

// load parses a font that is to stand for a face.
func (f *Fonts) load(from FontFile, face Face) (*loadedFont, error) {
	file, err := sfnt.ParseCollection(from.Data)
	if err != nil {
		return nil, err
	}
	parsed, err := file.Font(from.Number)
	if err != nil {
		return nil, err
	}
	l := &loadedFont{sfnt: parsed}
	for i := range l.index {
		g, err := parsed.GlyphIndex(&f.buf, rune(asciiFirst+i))
		if err != nil {
			return nil, err
		}
		l.index[i] = g
		l.advance[i] = f.unitAdvance(parsed, g)
	}
	if face < Mono {
		f.loadKerning(l)
	}
	return l, nil
}

// unitSize is the size, in pixels, at which advances are read.
const unitSize = 1024

func (f *Fonts) unitAdvance(parsed *sfnt.Font, g sfnt.GlyphIndex) float32 {
	a, err := parsed.GlyphAdvance(&f.buf, g, fixed.I(unitSize), font.HintingNone)
	if err != nil {
		return 0.5
	}
	return float32(a) / 64 / unitSize
}

func (f *Fonts) loadKerning(l *loadedFont) {
	for a := range l.kern {
		for b := range l.kern[a] {
			if k, err := l.sfnt.Kern(&f.buf, l.index[a], l.index[b], fixed.I(unitSize), font.HintingNone); err == nil {
				l.kern[a][b] = float32(k) / 64 / unitSize
			}
		}
	}
}

// find tells which font draws a character, with which glyph, and how wide.
func (f *Fonts) find(face Face, r rune) otherGlyph {
	if i := r - asciiFirst; i >= 0 && i < asciiCount {
		l := f.faces[face]
		if l.index[i] == 0 {
			face += embedded
			l = f.faces[face]
		}
		return otherGlyph{face, l.index[i], l.advance[i]}
	}
	key := otherKey{face, r}
	if g, ok := f.others[key]; ok {
		return g
	}
	g := f.search(face, r)
	if len(f.others) >= maxOthers {
		clear(f.others)
	}
	f.others[key] = g
	return g
}

func (f *Fonts) search(face Face, r rune) otherGlyph {
	if r < ' ' || r == 0xFEFF || r >= 0x200B && r <= 0x200F {
		return otherGlyph{face, f.faces[face].index[0], 0}
	}
	order := []Face{face, Regular, embedded + face%embedded, embedded + Regular}
	for i := firstFallback; int(i) < len(f.faces); i++ {
		order = append(order, i)
	}
	order = append(order, Mono, embedded+Mono)
	for _, candidate := range order {
		parsed := f.faces[candidate].sfnt
		if g, err := parsed.GlyphIndex(&f.buf, r); err == nil && g != 0 {
			return otherGlyph{candidate, g, f.unitAdvance(parsed, g)}
		}
	}
	if f.Missing != nil {
		f.Missing(r)
	}
	return otherGlyph{face, 0, f.unitAdvance(f.faces[face].sfnt, 0)}
}

func (f *Fonts) kern(face Face, a, b rune) float32 {
	i, j := a-asciiFirst, b-asciiFirst
	if i < 0 || j < 0 || i >= asciiCount || j >= asciiCount {
		return 0
	}
	return f.faces[face].kern[i][j]
}

// WidthOf is the advance of a text in the unit of size.
func (f *Fonts) WidthOf(text string, face Face, size float64) float64 {
	sum, last := float32(0), rune(-1)
	for _, r := range text {
		sum += f.find(face, r).advance + f.kern(face, last, r)
		last = r
	}
	return float64(sum) * size
}

// Width implements scene.Measurer.
func (f *Fonts) Width(text string, size float64, bold bool) float64 {
	if bold {
		return f.WidthOf(text, Bold, size)
	}
	return f.WidthOf(text, Regular, size)
}

// glyph rasterises one glyph at a quarter pixel size and position.
func (f *Fonts) glyph(key glyphKey) *glyph {
	if g, ok := f.glyphs.get(key); ok {
		return g
	}
	g := f.rasterise(key)
	f.glyphs.put(key, g, len(g.cov)+96)
	return g
}

func (f *Fonts) rasterise(key glyphKey) *glyph {
	ppem := fixed.Int26_6(int(key.size) * 16)
	segments, err := f.faces[key.face].sfnt.LoadGlyph(&f.buf, key.index, ppem, nil)
	if err != nil || len(segments) == 0 {
		return &glyph{}
	}
	b := segments.Bounds()
	shift := float32(key.sub) / subpixels
	left := int(math.Floor(float64(float32(b.Min.X)/64 + shift)))
	right := int(math.Ceil(float64(float32(b.Max.X)/64+shift))) + 1
	top, bottom := b.Min.Y.Floor(), b.Max.Y.Ceil()+1
	w, h := right-left, bottom-top
	if w <= 0 || h <= 0 || w > 4096 || h > 4096 {
		return &glyph{}
	}
	at := func(p fixed.Point26_6) (x, y float32) {
		return float32(p.X)/64 + shift - float32(left), float32(p.Y)/64 - float32(top)
	}
	z := vector.NewRasterizer(w, h)
	for _, s := range segments {
		x0, y0 := at(s.Args[0])
		x1, y1 := at(s.Args[1])
		x2, y2 := at(s.Args[2])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			z.ClosePath()
			z.MoveTo(x0, y0)
		case sfnt.SegmentOpLineTo:
			z.LineTo(x0, y0)
		case sfnt.SegmentOpQuadTo:
			z.QuadTo(x0, y0, x1, y1)
		case sfnt.SegmentOpCubeTo:
			z.CubeTo(x0, y0, x1, y1, x2, y2)
		}
	}
	z.ClosePath()
	mask := image.NewAlpha(image.Rect(0, 0, w, h))
	z.Draw(mask, mask.Bounds(), image.Opaque, image.Point{})
	return &glyph{left, top, w, h, mask.Pix}
}
