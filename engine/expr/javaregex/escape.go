package javaregex

import (
	"fmt"
	"strconv"
)

// escape reads what follows a backslash outside of a class.
func (t *translator) escape() (kind rune, quantifiable bool) {
	switch c := t.peek(); {
	case c == -1:
		t.fail("unexpected end of the pattern after a backslash")
	case c >= '1' && c <= '9':
		t.backReference()
		return otherAtom, true
	case c == 'k':
		t.namedReference()
		return otherAtom, true
	}
	if t.anchor() {
		return otherAtom, false
	}
	switch t.peek() {
	case 'R':
		t.pos++
		t.both(`(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`)
		t.fixLineEndSet()
		return otherAtom, true
	case 'X':
		t.pos++
		marks := categorySet("M")
		t.both("(?:" + marks.negate().String() + marks.String() + "*)")
		return otherAtom, true
	}
	if s, ok := t.classEscape(); ok {
		t.set(s)
		return otherAtom, true
	}
	c := t.character()
	t.literal(c)
	return c, true
}

// fixLineEndSet rewrites the code points just written to the backtracking
// engine, which does not know \x{…}.
func (t *translator) fixLineEndSet() {
	const quick, slow = `[\n-\r\x{85}\x{2028}\x{2029}])`, `[\n-\r\u0085\u2028\u2029])`
	t.slow = append(t.slow[:len(t.slow)-len(quick)], slow...)
}

// anchor reads \b \B \A \G \Z \z.
func (t *translator) anchor() bool {
	switch t.peek() {
	case 'b':
		t.both(`\b`)
	case 'B':
		t.both(`\B`)
	case 'A':
		t.both(`\A`)
	case 'z':
		t.both(`\z`)
	case 'G':
		t.only(`\G`)
	case 'Z':
		t.line(`\z`, javaLast, unixLast)
	default:
		return false
	}
	t.pos++
	return true
}

// backReference reads \1: as many digits as still name a group.
func (t *translator) backReference() {
	n := int(t.next() - '0')
	for t.peek() >= '0' && t.peek() <= '9' && n*10+int(t.peek()-'0') <= t.total {
		n = n*10 + int(t.next()-'0')
	}
	if n > t.total {
		t.fail("there is no group %d to refer back to", n)
	}
	t.reference(n)
}

func (t *translator) namedReference() {
	t.pos++
	if t.next() != '<' {
		t.fail(`\k is not followed by '<' for a named group`)
	}
	start := t.pos
	for t.more() && t.peek() != '>' {
		t.pos++
	}
	name := string(t.src[start:t.pos])
	t.next()
	n, ok := t.names[name]
	if !ok {
		t.fail("named capturing group <%s> does not exist", name)
	}
	t.reference(n)
}

func (t *translator) reference(n int) {
	text := fmt.Sprintf(`\k<%d>`, n)
	if t.has(CaseInsensitive) {
		text = "(?i:" + text + ")"
	}
	t.only(text)
}

// classEscape reads \d \w \p{…} and their kin, in and outside of classes.
func (t *translator) classEscape() (set, bool) {
	c := t.peek()
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W', 'h', 'H', 'v', 'V':
		t.pos++
		s := predefined[c|0x20]
		if c < 'a' {
			s = s.negate()
		}
		return s, true
	case 'p', 'P':
		t.pos++
		s := t.property()
		if c == 'P' {
			s = s.negate()
		}
		return s, true
	}
	return nil, false
}

var predefined = map[rune]set{
	'd': {{'0', '9'}},
	's': {{'\t', '\r'}, {' ', ' '}},
	'w': {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
	'h': {{'\t', '\t'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}},
	'v': {{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}},
}

// character reads an escape that stands for one character.
func (t *translator) character() rune {
	switch c := t.next(); c {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'f':
		return '\f'
	case 'a':
		return 7
	case 'e':
		return 27
	case '0':
		return t.octal()
	case 'x':
		return t.hex()
	case 'u':
		return t.unit()
	case 'c':
		return t.next() ^ 64
	default:
		if (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') {
			t.pos--
			t.fail(`illegal or unsupported escape sequence \%c`, c)
		}
		return c
	}
}

func (t *translator) octal() rune {
	n, digits := rune(0), 0
	for digits < 3 && t.peek() >= '0' && t.peek() <= '7' && n*8+t.peek()-'0' <= 0o377 {
		n = n*8 + t.next() - '0'
		digits++
	}
	if digits == 0 {
		t.fail("illegal octal escape sequence")
	}
	return n
}

func (t *translator) hex() rune {
	if t.peek() != '{' {
		return t.digits(2)
	}
	t.pos++
	start := t.pos
	for t.more() && t.peek() != '}' {
		t.pos++
	}
	n, err := strconv.ParseUint(string(t.src[start:t.pos]), 16, 32)
	if err != nil || n > maxRune {
		t.fail("illegal hexadecimal escape sequence")
	}
	t.next()
	return rune(n)
}

// unit reads the digits of one UTF-16 unit, of two for a surrogate pair.
func (t *translator) unit() rune {
	hi := t.digits(4)
	if hi >= 0xD800 && hi < 0xDC00 && t.accept(`\u`) {
		lo := t.digits(4)
		return 0x10000 + (hi-0xD800)<<10 + (lo - 0xDC00)
	}
	return hi
}

func (t *translator) digits(n int) rune {
	if t.pos+n > len(t.src) {
		t.fail("illegal escape sequence")
	}
	v, err := strconv.ParseUint(string(t.src[t.pos:t.pos+n]), 16, 32)
	if err != nil {
		t.fail("illegal escape sequence")
	}
	t.pos += n
	return rune(v)
}
