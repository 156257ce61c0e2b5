package scene

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Measurer tells how wide a text is, in the unit of size. It must be additive
// enough that a longer text is never narrower.
type Measurer interface {
	Width(text string, size float64, bold bool) float64
}

// Line is one line of text and its width in screen pixels.
type Line struct {
	Text  string
	Width float64
}

// Label is the text block under a tile, laid out for one zoom. Positions are
// screen pixels relative to the middle of the tile's lower edge.
type Label struct {
	Name       [maxNameLines]Line
	Lines      int // lines of Name in use
	Cut        bool
	NameSize   float64
	NameBase   float64 // baseline of the first name line
	Pitch      float64
	Metric     Line
	MetricSize float64
	MetricBase float64
	Bounds     Rect // empty when the zoom shows no labels
}

// textSize is the size of a label on the screen: it shrinks with the zoom, but
// stays readable. Sizes step by a quarter pixel, so that few are ever cached.
func textSize(nominal, zoom float64) float64 {
	return math.Max(minLabelSize, math.Round(nominal*zoom*4)/4)
}

// layoutLabel breaks the texts of n for one zoom.
func layoutLabel(n *Node, zoom float64, m Measurer) Label {
	detail, most := DetailAt(zoom), maxNameLines
	if !detail.Labels {
		return Label{}
	}
	if !detail.Full {
		most = 1
	}
	l := Label{NameSize: textSize(NameSize, zoom), MetricSize: textSize(CaptionSize, zoom)}
	l.Pitch = LabelPitch * math.Max(zoom, l.NameSize/NameSize)
	l.NameBase = math.Max(LabelPitch*zoom, l.NameSize+2)
	limit := math.Max(LabelWidth*zoom, minLabelWidth)
	l.Lines, l.Cut = wrapName(l.Name[:most], n.Label, limit, func(s string) float64 { return m.Width(s, l.NameSize, true) })
	base, width := l.NameBase, 0.0
	for _, line := range l.Name[:l.Lines] {
		width = math.Max(width, line.Width)
	}
	if l.Lines > 0 {
		base += float64(l.Lines-1) * l.Pitch
	}
	if n.Metric != "" && detail.Full {
		if l.Lines > 0 {
			base += l.Pitch
		}
		measure := func(s string) float64 { return m.Width(s, l.MetricSize, false) }
		l.Metric, _ = ellipsis(n.Metric, limit*1.1, measure)
		l.MetricBase = base
		width = math.Max(width, l.Metric.Width)
	}
	if width > 0 {
		l.Bounds = Rect{Point{-width / 2, 0}, Point{width / 2, base + math.Round(l.NameSize*0.35)}}
	}
	return l
}

// wrapName fills the lines: broken at blanks where possible, the last one cut
// with an ellipsis.
func wrapName(lines []Line, text string, limit float64, width func(string) float64) (used int, cut bool) {
	rest := strings.Join(strings.Fields(text), " ")
	for used < len(lines) && rest != "" {
		if w := width(rest); w <= limit {
			lines[used] = Line{rest, w}
			return used + 1, false
		}
		if used == len(lines)-1 {
			lines[used], cut = ellipsis(rest, limit, width)
			return used + 1, cut
		}
		n := breakAt(rest, limit, width)
		head := strings.TrimRight(rest[:n], " ")
		lines[used] = Line{head, width(head)}
		rest = strings.TrimLeft(rest[n:], " ")
		used++
	}
	return used, false
}

// breakAt is the length in bytes of the longest head of text that fits: up to
// the last blank, underscore, hyphen or slash within the limit, else to the
// last character.
func breakAt(text string, limit float64, width func(string) float64) int {
	word, fit := 0, 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
		if width(text[:end]) > limit && fit > 0 && r != ' ' {
			break
		}
		fit = end
		if strings.ContainsRune(" _-/", r) {
			word = end
		}
	}
	if word > 0 {
		return word
	}
	return fit
}

// ellipsis cuts text so that it fits with "…" behind it.
func ellipsis(text string, limit float64, width func(string) float64) (Line, bool) {
	if w := width(text); w <= limit {
		return Line{text, w}, false
	}
	for end := len(text); end > 0; {
		_, n := utf8.DecodeLastRuneInString(text[:end])
		end -= n
		s := strings.TrimRight(text[:end], " ") + "…"
		if w := width(s); w <= limit || end == 0 {
			return Line{s, w}, true
		}
	}
	return Line{}, true
}

// WrapText breaks a text of several lines to the limit and returns at most max
// lines, the last one cut with an ellipsis when more would follow.
func WrapText(text string, limit float64, max int, width func(string) float64) []string {
	var lines []string
	paragraphs := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, p := range paragraphs {
		rest := strings.TrimRight(p, " \t")
		for first := true; first || rest != ""; first = false {
			if len(lines) == max-1 {
				return append(lines, lastLine(rest, i < len(paragraphs)-1, limit, width))
			}
			if width(rest) <= limit {
				lines = append(lines, rest)
				break
			}
			n := breakAt(rest, limit, width)
			lines = append(lines, strings.TrimRight(rest[:n], " "))
			rest = strings.TrimLeft(rest[n:], " ")
		}
	}
	return lines
}

func lastLine(rest string, more bool, limit float64, width func(string) float64) string {
	if more {
		rest += " …"
	}
	line, _ := ellipsis(rest, limit, width)
	return line.Text
}
