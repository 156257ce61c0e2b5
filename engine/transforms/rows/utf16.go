package rows

import "unicode/utf8"

// Java counts characters in UTF-16 code units: a character beyond U+FFFF is two.

// units is the length of a UTF-8 text in UTF-16 code units.
func units(text []byte) int {
	n := 0
	for _, c := range text {
		switch {
		case c < 0x80 || c >= 0xC0 && c < 0xF0:
			n++
		case c >= 0xF0:
			n += 2
		}
	}
	return n
}

// unitOffset is the byte offset of code unit n of a text; the end when there are
// not so many. A character that is cut in two counts as before n.
func unitOffset(text []byte, n int) int {
	at := 0
	for at < len(text) && n > 0 {
		if text[at] < utf8.RuneSelf {
			at++
			n--
			continue
		}
		_, size := utf8.DecodeRune(text[at:])
		n--
		if size == 4 {
			n--
		}
		at += size
	}
	return at
}
