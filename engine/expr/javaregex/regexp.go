// Package javaregex runs regular expressions in the language of
// java.util.regex, which Hop's files use everywhere: conditions, file masks,
// replacements, RegexEval.
//
// Compile translates a pattern twice: to Go's regexp, whose run time is linear
// (the fast path), and, when the pattern or a text needs it (look-around, back
// references, possessive quantifiers, line ends other than \n), to a
// backtracking engine. Which one ran is not visible in the answers.
package javaregex

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Flags are those of java.util.regex.Pattern.
type Flags uint8

// The flags. CANON_EQ is left to the caller, who normalises pattern and text.
const (
	CaseInsensitive Flags = 1 << iota // ASCII only, unless UnicodeCase is set too
	Comments                          // blanks and # comments in the pattern are ignored
	DotAll                            // a dot matches line ends too
	Multiline                         // ^ and $ match at line ends
	UnicodeCase                       // CaseInsensitive folds all letters
	UnixLines                         // only \n ends a line
)

// Regexp is a compiled pattern. It is immutable and safe for many goroutines.
type Regexp struct {
	pattern string
	groups  int
	names   map[string]int
	shape   shape

	whole *regexp.Regexp // nil when Go's regexp cannot express the pattern
	part  *regexp.Regexp
	// lines says that whole and part answer only for texts without line ends.
	lines    bool
	nonEmpty bool // part never matches an empty text

	slowText  string
	slowOnce  sync.Once
	slowWhole *regexp2.Regexp
	slowPart  *regexp2.Regexp
}

// Compile translates a pattern. The error names the pattern and the position of
// what Java does not allow either, or of the few things that are not supported.
func Compile(pattern string, flags Flags) (*Regexp, error) {
	t := translator{src: []rune(pattern), flags: flags, fast: true, names: map[string]int{}}
	if err := t.run(); err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", pattern, err)
	}
	re := &Regexp{pattern: pattern, groups: t.groups, names: t.names, slowText: string(t.slow), lines: t.lines}
	if t.shape.plain {
		re.shape = t.shape
	}
	if t.fast {
		re.compileFast(string(t.quick))
	}
	if re.part == nil {
		if err := re.compileSlow(); err != nil {
			return nil, fmt.Errorf("regular expression %q: %w", pattern, err)
		}
		re.slowOnce.Do(func() {})
	}
	return re, nil
}

// compileFast leaves part nil when Go's regexp refuses, as it does for {n} above
// 1000.
func (re *Regexp) compileFast(quick string) {
	part, err := regexp.Compile(quick)
	if err != nil {
		return
	}
	whole, err := regexp.Compile(`\A(?:` + quick + `)\z`)
	if err != nil {
		return
	}
	re.part, re.whole = part, whole
	if tree, err := syntax.Parse(quick, syntax.Perl); err == nil {
		re.nonEmpty = minLength(tree) > 0
	}
}

func (re *Regexp) compileSlow() (err error) {
	if re.slowPart, err = regexp2.Compile(re.slowText, regexp2.None); err != nil {
		return err
	}
	re.slowWhole, err = regexp2.Compile(`\A(?:`+re.slowText+`)\z`, regexp2.None)
	return err
}

// slow compiles the backtracking programs when they are first needed. The
// translation has passed the parser's checks, so that an error is a defect.
func (re *Regexp) slow() *Regexp {
	re.slowOnce.Do(func() {
		if err := re.compileSlow(); err != nil {
			panic(fmt.Sprintf("javaregex: %q became %q: %v", re.pattern, re.slowText, err))
		}
	})
	return re
}

// minLength is a lower bound of the number of characters a match has.
func minLength(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return minLength(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * minLength(re.Sub[0])
	case syntax.OpConcat:
		n := 0
		for _, s := range re.Sub {
			n += minLength(s)
		}
		return n
	case syntax.OpAlternate:
		n := minLength(re.Sub[0])
		for _, s := range re.Sub[1:] {
			n = min(n, minLength(s))
		}
		return n
	}
	return 0
}

// String gives the pattern as it was written.
func (re *Regexp) String() string { return re.pattern }

// Groups is the number of capture groups, without the whole match.
func (re *Regexp) Groups() int { return re.groups }

// MatchWhole says whether the pattern matches all of text (Matcher.matches).
func (re *Regexp) MatchWhole(text []byte) bool {
	lineEnds := hasLineEnd(text)
	if re.shape.plain && !lineEnds {
		return re.shape.match(text)
	}
	if re.quickFor(text, lineEnds) {
		return re.whole.Match(text)
	}
	m, err := re.slow().slowWhole.FindRunesMatch(bytes.Runes(text))
	return err == nil && m != nil
}

// MatchWholeString is MatchWhole for a string.
func (re *Regexp) MatchWholeString(text string) bool { return re.MatchWhole([]byte(text)) }

// Contains says whether the pattern matches somewhere in text (Matcher.find).
func (re *Regexp) Contains(text []byte) bool {
	if re.quickFor(text, re.lines && hasLineEnd(text)) {
		return re.part.Match(text)
	}
	m, err := re.slow().slowPart.FindRunesMatch(bytes.Runes(text))
	return err == nil && m != nil
}

// quickFor says whether the fast programs answer right for a text.
func (re *Regexp) quickFor(text []byte, lineEnds bool) bool {
	return re.part != nil && (!re.lines || (!lineEnds && len(text) > 0))
}

// WholeSubmatch gives the byte offsets of the whole match and of the groups,
// start and end in turn and -1 for a group that took no part; nil when the
// pattern does not match all of text.
func (re *Regexp) WholeSubmatch(text []byte) []int {
	if re.quickFor(text, re.lines && hasLineEnd(text)) {
		return re.whole.FindSubmatchIndex(text)
	}
	s := newScanner(text)
	m, err := re.slow().slowWhole.FindRunesMatch(s.runes)
	if err != nil || m == nil {
		return nil
	}
	return s.offsets(m)
}

// FindSubmatch is WholeSubmatch for the first match anywhere in text.
func (re *Regexp) FindSubmatch(text []byte) []int {
	if re.quickFor(text, re.lines && hasLineEnd(text)) {
		return re.part.FindSubmatchIndex(text)
	}
	s := newScanner(text)
	m, err := re.slow().slowPart.FindRunesMatch(s.runes)
	if err != nil || m == nil {
		return nil
	}
	return s.offsets(m)
}

// FindAllSubmatch gives all matches in turn as Java's find does: after a match
// the search goes on at its end, one character further when it was empty.
func (re *Regexp) FindAllSubmatch(text []byte) [][]int {
	if re.nonEmpty && re.quickFor(text, re.lines && hasLineEnd(text)) {
		return re.part.FindAllSubmatchIndex(text, -1)
	}
	s := newScanner(text)
	var all [][]int
	for at := 0; at <= len(s.runes); {
		m, err := re.slow().slowPart.FindRunesMatchStartingAt(s.runes, at)
		if err != nil || m == nil {
			break
		}
		all = append(all, s.offsets(m))
		at = m.RuneIndex + m.RuneLength
		if m.RuneLength == 0 {
			at++
		}
	}
	return all
}

// scanner turns rune positions into byte offsets.
type scanner struct {
	runes []rune
	at    []int // byte offset of each rune and of the end
}

func newScanner(text []byte) *scanner {
	s := &scanner{runes: make([]rune, 0, len(text)), at: make([]int, 0, len(text)+1)}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		s.runes, s.at = append(s.runes, r), append(s.at, i)
		i += n
	}
	s.at = append(s.at, len(text))
	return s
}

func (s *scanner) offsets(m *regexp2.Match) []int {
	groups := m.Groups()
	out := make([]int, 0, 2*len(groups))
	for i := range groups {
		g := &groups[i]
		if len(g.Captures) == 0 {
			out = append(out, -1, -1)
			continue
		}
		out = append(out, s.at[g.RuneIndex], s.at[g.RuneIndex+g.RuneLength])
	}
	return out
}

// hasLineEnd says whether a text may hold one of Java's line ends: \n, \r,
// U+0085, U+2028, U+2029 (a few other characters answer true as well).
func hasLineEnd(text []byte) bool {
	for _, c := range text {
		if c == '\n' || c == '\r' || c == 0xC2 || c == 0xE2 {
			return true
		}
	}
	return false
}

// shape is a pattern of plain text with ".*" before or behind: it needs no
// regular expression for texts without line ends.
type shape struct {
	plain       bool
	lead, trail bool
	text        []byte
}

func (s *shape) match(text []byte) bool {
	switch {
	case s.lead && (s.trail || len(s.text) == 0):
		return bytes.Contains(text, s.text)
	case s.lead:
		return bytes.HasSuffix(text, s.text)
	case s.trail:
		return bytes.HasPrefix(text, s.text)
	}
	return bytes.Equal(text, s.text)
}
