package rows

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendLower(dst, text []byte) []byte {
	if !isASCII(text) {
		return append(dst, cases.Lower(language.English).Bytes(text)...)
	}
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// appendUpper follows the full case mapping, as Java does: ß becomes SS.
func appendUpper(dst, text []byte) []byte {
	if !isASCII(text) {
		return append(dst, cases.Upper(language.English).Bytes(text)...)
	}
	for _, c := range text {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// appendInitCap begins each word with a capital and lowers the rest. A word ends
// at what is neither letter, digit nor underscore.
func appendInitCap(dst, text []byte) []byte {
	begin := true
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if begin {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		} else {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		begin = !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}
	return dst
}

// padding fills a text up to a size in UTF-16 code units; a longer text stays.
type padding struct {
	filler []byte
	size   int
}

// left fills so that the filler's end touches the text.
func (p padding) left(dst, text []byte) []byte {
	missing := p.size - units(text)
	if missing <= 0 {
		return append(dst, text...)
	}
	whole := units(p.filler)
	if first := missing % whole; first > 0 {
		dst = append(dst, p.filler[unitOffset(p.filler, whole-first):]...)
	}
	for range missing / whole {
		dst = append(dst, p.filler...)
	}
	return append(dst, text...)
}

// right fills so that the filler's start touches the text.
func (p padding) right(dst, text []byte) []byte {
	dst = append(dst, text...)
	missing := p.size - units(text)
	if missing <= 0 {
		return dst
	}
	whole := units(p.filler)
	for range missing / whole {
		dst = append(dst, p.filler...)
	}
	return append(dst, p.filler[:unitOffset(p.filler, missing%whole)]...)
}

var digitSteps = map[DigitFilter]textStep{
	"digits_only": func(dst, text []byte) []byte { return appendWhere(dst, text, unicode.IsDigit) },
	"remove_digits": func(dst, text []byte) []byte {
		return appendWhere(dst, text, func(r rune) bool { return !unicode.IsDigit(r) })
	},
}

var specialSteps = map[SpecialFilter]textStep{
	"cr":     without("\r"),
	"lf":     without("\n"),
	"crlf":   without("\r\n"),
	"tab":    without("\t"),
	"espace": without(" "),
}

func appendWhere(dst, text []byte, keep func(rune) bool) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if keep(r) {
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

// without drops some ASCII characters.
func without(chars string) textStep {
	return func(dst, text []byte) []byte {
		for {
			at := bytes.IndexAny(text, chars)
			if at < 0 {
				return append(dst, text...)
			}
			dst = append(dst, text[:at]...)
			text = text[at+1:]
		}
	}
}
