package hopxml

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	cdataOpen    = "<![CDATA["
	cdataClose   = "]]>"
	commentOpen  = "<!--"
	commentClose = "-->"
	byteOrder    = "\xef\xbb\xbf"
)

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isBlank(b []byte) bool {
	for _, c := range b {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// isXMLChar tells whether XML 1.0 allows the character in a document.
func isXMLChar(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r <= 0xD7FF:
		return true
	case r < 0xE000:
		return false
	default:
		return r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
	}
}

// normalLineEnds gives text as XML passes it on: CR LF and a lone CR are LF.
func normalLineEnds(raw []byte) string {
	if bytes.IndexByte(raw, '\r') < 0 {
		return string(raw)
	}
	s := strings.ReplaceAll(string(raw), "\r\n", "\n")
	return strings.ReplaceAll(s, "\r", "\n")
}

// unescape gives the value of raw text whose references were checked by the
// parser.
func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '&') < 0 {
		return normalLineEnds(raw)
	}
	var b strings.Builder
	b.Grow(len(raw))
	for {
		amp := bytes.IndexByte(raw, '&')
		if amp < 0 {
			b.WriteString(normalLineEnds(raw))
			return b.String()
		}
		b.WriteString(normalLineEnds(raw[:amp]))
		r, size, _ := reference(raw[amp:])
		b.WriteRune(r)
		raw = raw[amp+size:]
	}
}

// longestReference bounds the search for the semicolon; zeros may pad a
// numeric reference.
const longestReference = 40

// reference reads one &…; at the start of raw: the character, the length of
// the reference, and why it is none.
func reference(raw []byte) (r rune, size int, problem string) {
	end := bytes.IndexByte(raw[:min(len(raw), longestReference)], ';')
	if end < 0 {
		return utf8.RuneError, 1, "'&' starts no character reference"
	}
	name := string(raw[1:end])
	size = end + 1
	switch name {
	case "lt":
		return '<', size, ""
	case "gt":
		return '>', size, ""
	case "amp":
		return '&', size, ""
	case "quot":
		return '"', size, ""
	case "apos":
		return '\'', size, ""
	}
	if !strings.HasPrefix(name, "#") {
		return utf8.RuneError, size, "unknown entity &" + name + ";"
	}
	digits, base := name[1:], 10
	if strings.HasPrefix(digits, "x") {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || !isXMLChar(rune(n)) || n > utf8.MaxRune {
		return utf8.RuneError, size, "&" + name + "; is no character of XML 1.0"
	}
	return rune(n), size, ""
}

// escape writes text as Hop does: &lt; and &amp; only, quotes and > raw (but
// ]]> is not allowed in text), &#13; for a carriage return so that the next
// load keeps it, a space for what XML 1.0 cannot hold. Line feeds become the
// file's line end, which reads back as a line feed.
func escape(s, eol string) []byte {
	out := make([]byte, 0, len(s)+len(s)/16)
	for i, r := range s {
		switch {
		case r == '<':
			out = append(out, "&lt;"...)
		case r == '&':
			out = append(out, "&amp;"...)
		case r == '>' && strings.HasSuffix(s[:i], "]]"):
			out = append(out, "&gt;"...)
		case r == '\r':
			out = append(out, "&#13;"...)
		case r == '\n':
			out = append(out, eol...)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"), !isXMLChar(r):
			out = append(out, ' ')
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// clean is the text as it reads back after escape.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !isXMLChar(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}
