package javaregex

import (
	"fmt"
	"strconv"
	"strings"
)

// translator reads a Java pattern once and writes it for both engines. Flags are
// worked into the output, so that neither engine needs any: dots and classes
// become explicit sets, case folding becomes sets of both cases.
type translator struct {
	src    []rune
	pos    int
	flags  Flags
	depth  int
	groups int
	names  map[string]int

	quick []byte // for Go's regexp
	slow  []byte // for the backtracking engine
	fast  bool   // quick is still usable
	lines bool   // quick is right only for texts without line ends
	shape shape
	total int // number of groups in the whole pattern
}

type syntaxError struct {
	at   int
	what string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("%s at position %d", e.what, e.at)
}

func (t *translator) fail(format string, args ...any) {
	panic(&syntaxError{at: t.pos, what: fmt.Sprintf(format, args...)})
}

func (t *translator) run() (err error) {
	defer func() {
		if e, ok := recover().(*syntaxError); ok {
			err = e
		}
	}()
	t.total = countGroups(t.src)
	t.shape.plain = true
	t.alternatives()
	if t.pos < len(t.src) {
		t.fail("unmatched closing )")
	}
	return nil
}

// countGroups counts capturing groups ahead, for the reading of \11.
func countGroups(src []rune) int {
	n, class := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
			if i < len(src) && src[i] == 'Q' {
				for i+1 < len(src) && (src[i] != '\\' || src[i+1] != 'E') {
					i++
				}
			}
		case '[':
			class++
		case ']':
			class = max(0, class-1)
		case '(':
			if class == 0 && (i+1 >= len(src) || src[i+1] != '?' || namedAt(src, i+2)) {
				n++
			}
		}
	}
	return n
}

func namedAt(src []rune, i int) bool {
	return i+1 < len(src) && src[i] == '<' && src[i+1] != '=' && src[i+1] != '!'
}

func (t *translator) more() bool { return t.pos < len(t.src) }

func (t *translator) peek() rune {
	if !t.more() {
		return -1
	}
	return t.src[t.pos]
}

func (t *translator) next() rune {
	if !t.more() {
		t.fail("unexpected end of the pattern")
	}
	t.pos++
	return t.src[t.pos-1]
}

func (t *translator) accept(text string) bool {
	if strings.HasPrefix(string(t.src[t.pos:min(len(t.src), t.pos+len(text))]), text) {
		t.pos += len(text)
		return true
	}
	return false
}

func (t *translator) both(text string) {
	t.quick = append(t.quick, text...)
	t.slow = append(t.slow, text...)
}

// only writes for the backtracking engine what Go's regexp cannot do.
func (t *translator) only(text string) {
	t.fast = false
	t.slow = append(t.slow, text...)
}

func (t *translator) has(f Flags) bool { return t.flags&f != 0 }

func (t *translator) skipComments() {
	for t.has(Comments) && t.more() {
		switch c := t.peek(); {
		case c == ' ' || (c >= '\t' && c <= '\r'):
			t.pos++
		case c == '#':
			for t.more() && t.peek() != '\n' && t.peek() != '\r' {
				t.pos++
			}
		default:
			return
		}
	}
}

// alternatives reads up to the closing parenthesis or the end. Flags that are
// set inside hold until there.
func (t *translator) alternatives() {
	saved := t.flags
	t.depth++
	for {
		t.skipComments()
		switch c := t.peek(); c {
		case -1, ')':
			t.depth--
			t.flags = saved
			return
		case '|':
			t.pos++
			t.shape.plain = false
			t.both("|")
		default:
			t.piece(c)
		}
	}
}

// atom kinds that the shape of a pattern knows.
const (
	otherAtom = -1
	dotAtom   = -2
)

// piece reads an atom and its quantifier.
func (t *translator) piece(c rune) {
	quickAt, slowAt := len(t.quick), len(t.slow)
	if t.accept(`\Q`) {
		t.quoted()
		return
	}
	kind, quantifiable := t.atom(c)
	t.skipComments()
	q, possessive := t.quantifier()
	t.note(kind, q)
	if q == "" {
		return
	}
	if !quantifiable {
		// Java lets anchors and look-arounds repeat; wrapping keeps both engines content
		t.quick = append(t.quick[:quickAt], "(?:"+string(t.quick[quickAt:])+")"...)
		t.slow = append(t.slow[:slowAt], "(?:"+string(t.slow[slowAt:])+")"...)
	}
	if possessive {
		t.fast = false
		t.slow = append(t.slow[:slowAt], "(?>"+string(t.slow[slowAt:])+q+")"...)
		return
	}
	t.both(q)
}

// note follows the pattern's shape.
func (t *translator) note(kind rune, q string) {
	s := &t.shape
	switch {
	case !s.plain || t.depth > 1 || t.has(CaseInsensitive):
		s.plain = false
	case kind == dotAtom && q == "*" && len(s.text) == 0 && !s.lead:
		s.lead = true
	case kind == dotAtom && q == "*" && len(s.text) > 0 && !s.trail:
		s.trail = true
	case kind >= 0 && q == "" && !s.trail:
		s.text = append(s.text, string(kind)...)
	default:
		s.plain = false
	}
}

func (t *translator) quoted() {
	for t.more() && !t.accept(`\E`) {
		c := t.next()
		t.literal(c)
		t.note(c, "")
	}
}

// quantifier reads one, if there is one.
func (t *translator) quantifier() (q string, possessive bool) {
	switch t.peek() {
	case '*', '+', '?':
		q = string(t.next())
	case '{':
		q = t.counted()
	default:
		return "", false
	}
	switch t.peek() {
	case '?':
		t.pos++
		return q + "?", false
	case '+':
		t.pos++
		return q, true
	}
	return q, false
}

func (t *translator) counted() string {
	t.pos++
	from := t.number()
	to, open := from, false
	if t.peek() == ',' {
		t.pos++
		if open = t.peek() == '}'; !open {
			to = t.number()
		}
	}
	if t.next() != '}' {
		t.pos--
		t.fail("unclosed counted closure")
	}
	switch {
	case open:
		return fmt.Sprintf("{%d,}", from)
	case to < from:
		t.fail("illegal repetition range")
	}
	return fmt.Sprintf("{%d,%d}", from, to)
}

func (t *translator) number() int {
	start := t.pos
	for t.peek() >= '0' && t.peek() <= '9' {
		t.pos++
	}
	n, err := strconv.Atoi(string(t.src[start:t.pos]))
	if err != nil || n > 1<<30 {
		t.fail("illegal repetition")
	}
	return n
}

// atom reads one atom and writes it. kind is its character, dotAtom or otherAtom.
func (t *translator) atom(c rune) (kind rune, quantifiable bool) {
	t.pos++
	switch c {
	case '(':
		return otherAtom, t.group()
	case '[':
		t.set(t.class())
		return otherAtom, true
	case '.':
		t.set(t.dot())
		if t.has(DotAll) {
			return otherAtom, true
		}
		return dotAtom, true
	case '^':
		t.caret()
		return otherAtom, false
	case '$':
		t.dollar()
		return otherAtom, false
	case '\\':
		return t.escape()
	case '*', '+', '?':
		t.pos--
		t.fail("dangling meta character %q", c)
	case '{':
		t.pos--
		t.fail("illegal repetition")
	}
	t.literal(c)
	return c, true
}

func (t *translator) dot() set {
	switch {
	case t.has(DotAll):
		return set{{0, maxRune}}
	case t.has(UnixLines):
		return set{{'\n', '\n'}}.negate()
	}
	return set{{'\n', '\n'}, {'\r', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}.negate()
}

// literal writes one character.
func (t *translator) literal(c rune) {
	if folded := t.fold(set{{c, c}}); len(folded) > 1 || folded[0].lo != folded[0].hi {
		t.set(folded)
		return
	}
	t.both(quoteRune(c))
}

// fold adds the other cases of the characters of a set as the flags ask.
func (t *translator) fold(s set) set {
	switch {
	case !t.has(CaseInsensitive):
		return s
	case t.has(UnicodeCase):
		return s.foldUnicode()
	}
	return s.foldASCII()
}

func (t *translator) set(s set) {
	text := s.String()
	t.both(text)
}

// The line ends that ^ and $ look for; \r\n counts as one.
const (
	javaBegin = `(?!\z)(?:\A|(?<=[\n\u0085\u2028\u2029])|(?<=\r)(?!\n))`
	unixBegin = `(?!\z)(?:\A|(?<=\n))`
	javaEnd   = `(?:(?=[\r\u0085\u2028\u2029])|(?<!\r)(?=\n)|\z)`
	unixEnd   = `(?:(?=\n)|\z)`
	javaLast  = `(?:(?=(?:\r\n|[\r\u0085\u2028\u2029])\z)|(?<!\r)(?=\n\z)|\z)`
	unixLast  = `(?:(?=\n\z)|\z)`
)

func (t *translator) caret() {
	if !t.has(Multiline) {
		t.both(`\A`)
		return
	}
	t.line(`\A`, javaBegin, unixBegin)
}

func (t *translator) dollar() {
	if t.has(Multiline) {
		t.line(`\z`, javaEnd, unixEnd)
		return
	}
	t.line(`\z`, javaLast, unixLast)
}

// line writes an anchor that depends on line ends.
func (t *translator) line(quick, java, unix string) {
	t.lines = true
	t.quick = append(t.quick, quick...)
	if t.has(UnixLines) {
		java = unix
	}
	t.slow = append(t.slow, java...)
}

// group reads what follows an opening parenthesis.
func (t *translator) group() (quantifiable bool) {
	saved := t.flags
	quantifiable = true
	switch {
	case !t.accept("?"):
		t.groups++
		t.both("(")
	case namedAt(t.src, t.pos):
		t.pos++
		t.named()
	case t.accept(":"):
		t.both("(?:")
	case t.accept(">"):
		t.only("(?>")
	case t.accept("=") || t.accept("!") || t.accept("<=") || t.accept("<!"):
		start := t.pos - 1
		if t.src[start-1] == '<' {
			start--
		}
		t.only("(?" + string(t.src[start:t.pos]))
		quantifiable = false
	default:
		if t.inlineFlags() {
			return true
		}
		t.both("(?:")
	}
	t.alternatives()
	if t.peek() != ')' {
		t.fail("unclosed group")
	}
	t.pos++
	t.both(")")
	t.flags = saved
	return quantifiable
}

func (t *translator) named() {
	start := t.pos
	for t.more() && t.peek() != '>' {
		t.pos++
	}
	name := string(t.src[start:t.pos])
	if t.next() != '>' || name == "" {
		t.fail("named group has no name")
	}
	if _, ok := t.names[name]; ok {
		t.fail("named capturing group %q is already defined", name)
	}
	t.groups++
	t.names[name] = t.groups
	t.both("(") // named groups count by position in Java, apart in the backtracking engine
}

// inlineFlags reads (?ims) and the start of (?ims:; done says it was the former.
func (t *translator) inlineFlags() (done bool) {
	on := true
	for {
		switch c := t.next(); c {
		case '-':
			on = false
		case ')':
			t.both("(?:)")
			return true
		case ':':
			return false
		default:
			f, ok := flagLetters[c]
			if !ok {
				t.pos--
				t.fail("unknown inline modifier %q", c)
			}
			if on {
				t.flags |= f
			} else {
				t.flags &^= f
			}
		}
	}
}

var flagLetters = map[rune]Flags{
	'i': CaseInsensitive, 'x': Comments, 's': DotAll, 'm': Multiline, 'u': UnicodeCase, 'd': UnixLines, 'U': UnicodeCase,
}
