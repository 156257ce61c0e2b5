package javaregex

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxRune = unicode.MaxRune

type span struct{ lo, hi rune }

// set is a set of characters: ascending spans that do not touch.
type set []span

func (s set) normal() set {
	if len(s) < 2 {
		return s
	}
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b span) int { return int(a.lo - b.lo) })
	out := s[:1]
	for _, r := range s[1:] {
		last := &out[len(out)-1]
		if r.lo <= last.hi+1 {
			last.hi = max(last.hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (s set) union(o set) set { return append(slices.Clone(s), o...).normal() }

func (s set) negate() set {
	var out set
	from := rune(0)
	for _, r := range s.normal() {
		if r.lo > from {
			out = append(out, span{from, r.lo - 1})
		}
		from = r.hi + 1
	}
	if from <= maxRune {
		out = append(out, span{from, maxRune})
	}
	return out
}

func (s set) intersect(o set) set { return s.negate().union(o.negate()).negate() }

func (s set) foldASCII() set {
	out := slices.Clone(s)
	for _, r := range s {
		if lo, hi := max(r.lo, 'a'), min(r.hi, 'z'); lo <= hi {
			out = append(out, span{lo - 32, hi - 32})
		}
		if lo, hi := max(r.lo, 'A'), min(r.hi, 'Z'); lo <= hi {
			out = append(out, span{lo + 32, hi + 32})
		}
	}
	return out.normal()
}

// foldLimit bounds the characters that foldUnicode looks at one by one; larger
// spans hold both cases of nearly everything.
const foldLimit = 20000

func (s set) foldUnicode() set {
	out := slices.Clone(s)
	for _, r := range s {
		if r.hi-r.lo > foldLimit {
			continue
		}
		for c := r.lo; c <= r.hi; c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				out = append(out, span{f, f})
			}
		}
	}
	return out.normal()
}

// String writes the set in the syntax that both engines read: the characters
// themselves, escaped where they mean something.
func (s set) String() string {
	s = s.normal()
	if len(s) == 0 {
		return `[^\s\S]`
	}
	if len(s) == 1 && s[0] == (span{0, maxRune}) {
		return `[\s\S]`
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, r := range s {
		b.WriteString(classRune(r.lo))
		if r.hi > r.lo {
			b.WriteByte('-')
			b.WriteString(classRune(r.hi))
		}
	}
	b.WriteByte(']')
	return b.String()
}

func classRune(r rune) string {
	switch r {
	case '\\', ']', '[', '^', '-', '&', '~':
		return `\` + string(r)
	}
	if !utf8.ValidRune(r) { // a lone surrogate: no UTF-8 text holds one
		return "\uFFFD"
	}
	return controlRune(r)
}

func controlRune(r rune) string {
	switch {
	case r < 0x20 || r == 0x7F:
		const digits = "0123456789abcdef"
		return `\x` + string(digits[r>>4]) + string(digits[r&15])
	}
	return string(r)
}

// quoteRune writes a literal character.
func quoteRune(r rune) string {
	if strings.ContainsRune(`\.+*?()|[]{}^$#&~-`, r) && r != '#' && r != '&' && r != '~' && r != '-' {
		return `\` + string(r)
	}
	if !utf8.ValidRune(r) {
		return "\uFFFD"
	}
	return controlRune(r)
}

// class reads a bracketed class after its opening bracket: unions, nested
// classes, intersections (&&).
func (t *translator) class() set {
	negated := t.peek() == '^'
	if negated {
		t.pos++
	}
	var have, left set
	hasLeft, empty := false, true
	finish := func() set {
		if hasLeft {
			have = left.intersect(have)
		}
		if negated {
			return have.negate()
		}
		return have.normal()
	}
	for {
		t.skipComments()
		switch c := t.peek(); {
		case c == -1:
			t.fail("unclosed character class")
		case c == ']' && !empty:
			t.pos++
			return finish()
		case c == '[':
			t.pos++
			have = have.union(t.class())
		case c == '&' && t.accept("&&"):
			for t.accept("&") {
			}
			if hasLeft {
				have = left.intersect(have)
			}
			left, have, hasLeft = have.normal(), nil, true
		default:
			have = have.union(t.fold(t.classItem()))
		}
		empty = false
	}
}

// classItem reads a character, a range or an escape of a class.
func (t *translator) classItem() set {
	lo, s, single := t.classAtom()
	if !single {
		return s
	}
	if t.peek() != '-' || t.pos+1 >= len(t.src) || t.src[t.pos+1] == ']' || t.src[t.pos+1] == '[' {
		return set{{lo, lo}}
	}
	t.pos++
	hi, _, single := t.classAtom()
	if !single || hi < lo {
		t.fail("illegal character range")
	}
	return set{{lo, hi}}
}

func (t *translator) classAtom() (r rune, s set, single bool) {
	c := t.next()
	if c != '\\' {
		return c, nil, true
	}
	if t.accept("Q") {
		for t.more() && !t.accept(`\E`) {
			c := t.next()
			s = append(s, span{c, c})
		}
		return 0, s.normal(), false
	}
	if s, ok := t.classEscape(); ok {
		return 0, s, false
	}
	return t.character(), nil, true
}
