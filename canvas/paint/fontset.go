package paint

import "fmt"

// FontFile is a TrueType or OpenType font, or the one of that number in a collection.
type FontFile struct {
	Data   []byte
	Number int
}

// Use takes other fonts instead of the embedded ones; one without data stands for the
// embedded font. The embedded ones still have the characters that others lack. After
// an error nothing has changed. What was measured or painted before is out of date.
func (f *Fonts) Use(regular, bold, mono FontFile) error {
	var list [embedded]*loadedFont
	for face, file := range []FontFile{regular, bold, mono} {
		list[face] = f.faces[int(embedded)+face]
		if file.Data == nil {
			continue
		}
		l, err := f.load(file, Face(face))
		if err != nil {
			return fmt.Errorf("font cannot be read: %w", err)
		}
		list[face] = l
	}
	copy(f.faces, list[:])
	f.changed()
	return nil
}

// Add takes one more font for characters that the others lack.
func (f *Fonts) Add(file FontFile) error {
	l, err := f.load(file, firstFallback)
	if err != nil {
		return fmt.Errorf("font cannot be read: %w", err)
	}
	if len(f.faces) == maxFaces {
		return fmt.Errorf("more than %d fonts", maxFaces)
	}
	f.faces = append(f.faces, l)
	f.changed()
	return nil
}

// maxFaces is what a Face can count.
const maxFaces = 256

// Has says whether a font has a character.
func (f *Fonts) Has(r rune) bool {
	for _, l := range f.faces {
		if g, err := l.sfnt.GlyphIndex(&f.buf, r); err == nil && g != 0 {
			return true
		}
	}
	return false
}

func (f *Fonts) changed() {
	f.changes++
	clear(f.others)
	f.glyphs = newCache[glyphKey, *glyph](glyphBytes)
}
