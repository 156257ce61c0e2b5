package calc

import "strings"

// metaphoneLength is the longest code Metaphone and DoubleMetaphone give.
const metaphoneLength = 4

// Metaphone is Lawrence Philips' Metaphone of a text, up to four characters.
func Metaphone(s string) string {
	m := metaphone{w: letters(s)}
	if len(m.w) <= 1 {
		return m.w
	}
	m.first()
	for m.at < len(m.w) && len(m.out) < metaphoneLength {
		m.next()
		m.at++
	}
	return string(m.out[:min(len(m.out), metaphoneLength)])
}

type metaphone struct {
	w   string
	at  int
	out []byte
}

// first drops or changes the letters that are silent at the start.
func (m *metaphone) first() {
	switch {
	case strings.HasPrefix(m.w, "KN"), strings.HasPrefix(m.w, "GN"), strings.HasPrefix(m.w, "PN"),
		strings.HasPrefix(m.w, "AE"), strings.HasPrefix(m.w, "WR"):
		m.w = m.w[1:]
	case strings.HasPrefix(m.w, "WH"):
		m.w = "W" + m.w[2:]
	case m.w[0] == 'X':
		m.w = "S" + m.w[1:]
	}
}

func (m *metaphone) char(d int) byte {
	if i := m.at + d; i >= 0 && i < len(m.w) {
		return m.w[i]
	}
	return 0
}

func isOneOf(c byte, set string) bool { return c != 0 && strings.IndexByte(set, c) >= 0 }

func (m *metaphone) vowel(d int) bool { return isOneOf(m.char(d), "AEIOU") }

func (m *metaphone) front(d int) bool { return isOneOf(m.char(d), "EIY") }

func (m *metaphone) is(text string) bool {
	return strings.HasPrefix(m.w[min(m.at, len(m.w)):], text)
}

func (m *metaphone) put(s string) { m.out = append(m.out, s...) }

func (m *metaphone) next() {
	c := m.w[m.at]
	if c != 'C' && m.char(-1) == c {
		return // doubled letters count once
	}
	switch c {
	case 'A', 'E', 'I', 'O', 'U':
		if m.at == 0 {
			m.put(string(c))
		}
	case 'B':
		if m.char(-1) != 'M' || m.at+1 != len(m.w) {
			m.put("B")
		}
	case 'C':
		m.c()
	case 'D':
		if m.char(1) == 'G' && m.front(2) {
			m.put("J")
			m.at += 2
		} else {
			m.put("T")
		}
	case 'G':
		m.g()
	case 'H':
		if m.vowel(1) && !isOneOf(m.char(-1), "CSPTG") {
			m.put("H")
		}
	case 'F', 'J', 'L', 'M', 'N', 'R':
		m.put(string(c))
	case 'K':
		if m.char(-1) != 'C' {
			m.put("K")
		}
	case 'P':
		if m.char(1) == 'H' {
			m.put("F")
		} else {
			m.put("P")
		}
	case 'Q':
		m.put("K")
	case 'S':
		m.s()
	case 'T':
		m.t()
	case 'V':
		m.put("F")
	case 'W', 'Y':
		if m.vowel(1) {
			m.put(string(c))
		}
	case 'X':
		m.put("KS")
	case 'Z':
		m.put("S")
	}
}

func (m *metaphone) c() {
	switch {
	case m.char(-1) == 'S' && m.front(1):
	case m.is("CIA"):
		m.put("X")
	case m.front(1):
		m.put("S")
	case m.char(-1) == 'S' && m.char(1) == 'H':
		m.put("K")
	case m.char(1) == 'H' && m.at == 0 && len(m.w) >= 3 && isOneOf(m.char(2), "BCDFGHJKLMNPQRSTVWXYZ"):
		m.put("K")
	case m.char(1) == 'H':
		m.put("X")
	default:
		m.put("K")
	}
}

func (m *metaphone) g() {
	last := m.at+1 == len(m.w)
	switch {
	case m.at+2 == len(m.w) && m.char(1) == 'H':
	case m.char(1) == 'H' && m.at+2 < len(m.w) && !m.vowel(2):
	case m.at > 0 && (m.is("GN") && m.at+2 == len(m.w) || m.is("GNED")):
	case m.front(1) && m.char(-1) != 'G' && !last:
		m.put("J")
	default:
		m.put("K")
	}
}

func (m *metaphone) s() {
	if m.char(1) == 'H' || m.is("SIO") || m.is("SIA") {
		m.put("X")
		return
	}
	m.put("S")
}

func (m *metaphone) t() {
	switch {
	case m.is("TIA"), m.is("TIO"):
		m.put("X")
	case m.is("TCH"):
	case m.char(1) == 'H':
		m.put("0")
	default:
		m.put("T")
	}
}
