package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// piece is one field of a line; none says that the line has no such field.
type piece struct {
	text     []byte
	none     bool
	enclosed bool
}

// fixedField is where a field of fixed width stands; a length below 0 reaches to
// the end of the line.
type fixedField struct{ position, length int }

// lineFilter is a filter with its variables resolved.
type lineFilter struct {
	*TextFilter
	text string
}

// keeps applies the filters to a line: a negative one that matches drops it, and
// with positive ones at least one must match. stop says that no line counts from
// here on.
func keeps(filters []lineFilter, line []byte) (keep, stop bool) {
	positive, found := false, false
	for i := range filters {
		f := &filters[i]
		positive = positive || f.Positive
		if f.text == "" || !f.matches(line) {
			continue
		}
		if !f.Positive {
			return false, f.LastLine
		}
		found = true
	}
	return !positive || found, false
}

func (f *lineFilter) matches(line []byte) bool {
	if f.Position < 0 {
		return bytes.Contains(line, []byte(f.text))
	}
	rest := dropUnits(line, f.Position)
	return len(rest) >= len(f.text) && strings.EqualFold(string(rest[:len(f.text)]), f.text)
}

// dropUnits gives what follows the first n UTF-16 units of a text.
func dropUnits(text []byte, n int) []byte {
	for n > 0 && len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			text = text[1:]
			n--
			continue
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		n--
		if r > 0xFFFF {
			n--
		}
	}
	return text
}

// nextLine finds the line that starts at pos in data[:n]: its end, and where the
// next one starts.
func (r *textReader) nextLine(data []byte, n, pos int) (end, next int, err error) {
	if r.settings.Format == "mixed" {
		k := bytes.IndexByte(data[pos:n], '\n')
		if k < 0 {
			return n, n, nil
		}
		return pos + k, pos + k + 1, nil
	}
	k := bytes.IndexAny(data[pos:n], "\r\n")
	switch {
	case k < 0:
		return n, n, nil
	case r.settings.Format == "Unix":
		return pos + k, pos + k + 1, nil
	case pos+k+1 >= n || !isLineEnd(data[pos+k+1]):
		return 0, 0, fmt.Errorf("a line ends in a single CR or LF, but the format is DOS: choose mixed or Unix")
	}
	return pos + k, pos + k + 2, nil
}

// clean gives a line as it is split: in the mixed format without its CRs.
func (r *textReader) clean(line []byte) []byte {
	if r.settings.Format != "mixed" || bytes.IndexByte(line, '\r') < 0 {
		return line
	}
	if bytes.IndexByte(line, '\r') == len(line)-1 {
		return line[:len(line)-1]
	}
	return bytes.ReplaceAll(line, []byte{'\r'}, nil)
}

// split cuts a line into fields, appended to dst. open says that an enclosure is
// not closed.
func (r *textReader) split(dst []piece, line []byte) (pieces []piece, open bool) {
	if r.settings.Layout == "Fixed" {
		return r.splitFixed(dst, line), false
	}
	pos := 0
	for pos < len(line) {
		var text []byte
		var next int
		enclosed := len(r.quote) > 0 && hasFoldPrefix(line[pos:], r.quote)
		if enclosed {
			text, next, open = r.enclosed(line, pos+len(r.quote))
		} else {
			text, next = r.bare(line, pos)
		}
		dst = append(dst, piece{text: text, enclosed: enclosed})
		pos = next + len(r.separator)
	}
	if pos == len(line) { // a separator at the end, or an empty line
		dst = append(dst, piece{})
	}
	return dst, open
}

func hasFoldPrefix(text, prefix []byte) bool {
	return len(text) >= len(prefix) && bytes.EqualFold(text[:len(prefix)], prefix)
}

// enclosed reads from behind an opening enclosure: the text, and the index behind
// the closing one. What an enclosure that is never closed holds is the rest.
func (r *textReader) enclosed(line []byte, from int) (text []byte, next int, open bool) {
	twice, escaped := false, false
	for p := from; p < len(line); {
		rest := line[p:]
		switch {
		case r.escapes(rest) > 0:
			escaped = true
			p += r.escapes(rest)
		case bytes.HasPrefix(rest, r.quote) && bytes.HasPrefix(rest[len(r.quote):], r.quote):
			twice = true
			p += 2 * len(r.quote)
		case bytes.HasPrefix(rest, r.quote):
			return r.unescape(line[from:p], twice, escaped), p + len(r.quote), false
		default:
			p++
		}
	}
	return r.unescape(line[from:], twice, escaped), len(line), true
}

// escapes gives the length of an escape character and what it escapes, 0 when the
// text does not start with such a pair.
func (r *textReader) escapes(text []byte) int {
	if len(r.escape) == 0 || !bytes.HasPrefix(text, r.escape) {
		return 0
	}
	rest := text[len(r.escape):]
	for _, what := range [3][]byte{r.quote, r.separator, r.escape} {
		if len(what) > 0 && bytes.HasPrefix(rest, what) {
			return len(r.escape) + len(what)
		}
	}
	return 0
}

// bare reads a field without enclosure up to the next separator that is not
// escaped.
func (r *textReader) bare(line []byte, from int) (text []byte, next int) {
	if len(r.escape) == 0 {
		k := bytes.Index(line[from:], r.separator)
		if k < 0 {
			return line[from:], len(line)
		}
		return line[from : from+k], from + k
	}
	escaped := false
	for p := from; p < len(line); {
		rest := line[p:]
		switch n := r.escapes(rest); {
		case n > 0:
			escaped = true
			p += n
		case bytes.HasPrefix(rest, r.separator):
			return r.unescape(line[from:p], false, escaped), p
		default:
			p++
		}
	}
	return r.unescape(line[from:], false, escaped), len(line)
}

// unescape drops escape characters before what they escape, and one of two
// enclosures; the latter only when there is no escape character, as in Hop.
func (r *textReader) unescape(text []byte, twice, escaped bool) []byte {
	switch {
	case twice && len(r.escape) == 0:
		out := bytes.Clone(text)
		return out[:undouble(out, r.quote, 0, len(out))]
	case !escaped:
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := r.escapes(text)
		if n > 0 {
			out = append(out, text[len(r.escape):n]...)
			text = text[n:]
			continue
		}
		out = append(out, text[0])
		text = text[1:]
	}
	return out
}

func (r *textReader) splitFixed(dst []piece, line []byte) []piece {
	inBytes := strings.EqualFold(r.settings.LengthUnit, "Bytes")
	if inBytes && r.charset.codec != nil {
		line = r.charset.encode(nil, line)
	}
	ascii := inBytes || isASCII(line)
	for _, f := range r.fixed {
		var text []byte
		if ascii {
			text = line[min(f.position, len(line)):]
			if f.length >= 0 {
				text = text[:min(f.length, len(text))]
			}
		} else {
			text = dropUnits(line, f.position)
			if f.length >= 0 {
				text = text[:len(text)-len(dropUnits(text, f.length))]
			}
		}
		if inBytes && r.charset.codec != nil {
			if decoded, err := r.charset.codec.NewDecoder().Bytes(text); err == nil {
				text = decoded
			}
		}
		dst = append(dst, piece{text: text})
	}
	return dst
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
