//go:build !headless

package desktop

import (
	"bytes"
	"encoding/binary"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// monoFont is the font of code and values with more room below the line. As it comes
// its underscores lie on the very edge of a line: at 12 and 13 pixels the toolkit's
// rounding cuts them off, and ORDER_ID reads as ORDER ID.
var monoFont = sync.OnceValue(func() fyne.Resource {
	plain := theme.DefaultTheme().Font(fyne.TextStyle{Monospace: true})
	return fyne.NewStaticResource("deeper-"+plain.Name(), deeper(plain.Content(), 1.35))
})

// deeper gives a TrueType font another depth below the line, by a factor. A font that
// it does not understand stays as it is.
func deeper(font []byte, factor float64) []byte {
	font = bytes.Clone(font)
	table := func(tag string) []byte {
		if len(font) < 12 {
			return nil
		}
		for i := range int(binary.BigEndian.Uint16(font[4:])) {
			entry := 12 + 16*i
			if entry+16 > len(font) {
				return nil
			}
			at, size := binary.BigEndian.Uint32(font[entry+8:]), binary.BigEndian.Uint32(font[entry+12:])
			if string(font[entry:entry+4]) == tag && uint64(at)+uint64(size) <= uint64(len(font)) {
				return font[at : at+size]
			}
		}
		return nil
	}
	scale := func(t []byte, at int) {
		if len(t) >= at+2 {
			binary.BigEndian.PutUint16(t[at:], uint16(int16(float64(int16(binary.BigEndian.Uint16(t[at:])))*factor)))
		}
	}
	const descender, typoDescender, winDescent = 6, 70, 76 // where they are, in bytes
	scale(table("hhea"), descender)
	scale(table("OS/2"), typoDescender)
	scale(table("OS/2"), winDescent)
	return font
}
