package javaregex_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/expr/javaregex"
)

func compile(t testing.TB, pattern string, f javaregex.Flags) *javaregex.Regexp {
	t.Helper()
	re, err := javaregex.Compile(pattern, f)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func TestMatchWhole(t *testing.T) {
	const i, u, m, s, x, d = javaregex.CaseInsensitive, javaregex.UnicodeCase, javaregex.Multiline, javaregex.DotAll, javaregex.Comments, javaregex.UnixLines
	for name, c := range map[string]struct {
		pattern string
		flags   javaregex.Flags
		yes, no []string
	}{
		"literal":                 {"abc", 0, []string{"abc"}, []string{"ab", "abcd", "xabc"}},
		"contains":                {".*hop.*", 0, []string{"hop", "a hop b"}, []string{"ho", "a\nhop", "Hop"}},
		"prefix":                  {"a.*", 0, []string{"a", "ab"}, []string{"ba", "a\n", "a\u0085"}},
		"suffix":                  {".*a", 0, []string{"a", "ba"}, []string{"ab", ""}},
		"anything":                {".*", 0, []string{"", "ba"}, []string{"a\nb", "\r", "\u2028"}},
		"file mask":               {`.*\.(txt|csv)$`, 0, []string{"a.txt", ".csv"}, []string{"a_txt", "a.txt.gz"}},
		"alternation is wrapped":  {"a|ab", 0, []string{"a", "ab"}, []string{"b", "abb"}},
		"ignore case ascii":       {"äb[c-e]", i, []string{"äB" + "D", "äbc"}, []string{"Äbc"}},
		"ignore case kelvin":      {"k", i, []string{"k", "K"}, []string{"\u212a"}},
		"ignore case unicode":     {"äb", i | u, []string{"ÄB", "äb"}, []string{"ab"}},
		"inline flags":            {"(?i)a(?-i)b", 0, []string{"Ab", "ab"}, []string{"AB"}},
		"flags end with group":    {"(?:(?i)a)b", 0, []string{"Ab"}, []string{"AB"}},
		"scoped flags":            {"(?i:a)b", 0, []string{"Ab"}, []string{"aB"}},
		"dot all":                 {"a.b", s, []string{"a\nb", "a\rb"}, []string{"ab"}},
		"unix lines":              {"a.b", d, []string{"a\rb"}, []string{"a\nb"}},
		"comments":                {"a b # c\n c", x, []string{"abc"}, []string{"a b c"}},
		"multiline":               {"^a$\n^b$", m, []string{"a\nb"}, []string{"a b"}},
		"caret at the very end":   {"a\n^", m, nil, []string{"a\n"}},
		"possessive":              {"a*+b", 0, []string{"aab", "b"}, []string{"aa"}},
		"possessive gives none":   {"a*+a", 0, nil, []string{"aaa"}},
		"look ahead":              {"(?=.*[0-9])[a-z0-9]+", 0, []string{"a1"}, []string{"ab"}},
		"negative look behind":    {".*(?<!x)b", 0, []string{"ab", "b"}, []string{"xb"}},
		"back reference":          {`(a|b)\1`, 0, []string{"aa", "bb"}, []string{"ab"}},
		"named reference":         {`(?<q>['"]).*?\k<q>`, 0, []string{`"a"`, "'a'"}, []string{`"a'`}},
		"eleven or one and a one": {`(a)\11`, 0, []string{"aa1"}, []string{"aa"}},
		"quotation":               {`\Qa.b\E.`, 0, []string{"a.bc"}, []string{"axbc"}},
		"unclosed quotation":      {`\Qa.b`, 0, []string{"a.b"}, nil},
		"digits are ascii":        {`\d+`, 0, []string{"12"}, []string{"\u0661"}},
		"blanks hold VT":          {`\s`, 0, []string{"\v", " "}, []string{"\u00a0"}},
		"horizontal":              {`\h`, 0, []string{"\u00a0", "\t"}, []string{"\n"}},
		"intersection":            {`[a-z&&[^aeiou]]+`, 0, []string{"bcd"}, []string{"bad"}},
		"subtraction by range":    {`[a-z&&[def]]`, 0, []string{"d"}, []string{"a"}},
		"union":                   {`[a-c[x-z]]+`, 0, []string{"ax"}, []string{"m"}},
		"bracket first":           {`[]a]+`, 0, []string{"]a"}, []string{"b"}},
		"dash last":               {`[a-]+`, 0, []string{"a-"}, []string{"b"}},
		"class with dot":          {`[.&~]+`, 0, []string{".&~"}, []string{"a"}},
		"posix":                   {`\p{Alpha}\P{Digit}\p{Punct}`, 0, []string{"aa!"}, []string{"a1!"}},
		"category":                {`\p{L}\pN\p{Lu}`, 0, []string{"ä1Ä"}, []string{"ä1ä"}},
		"script":                  {`\p{IsGreek}\p{InCyrillic}\p{javaLetterOrDigit}`, 0, []string{"αж1"}, []string{"aж1"}},
		"escapes":                 {`\t\x41\u0042\0101\cA\e\x{1F600}`, 0, []string{"\tABA\x01\x1b😀"}, nil},
		"surrogates":              {`\uD83D\uDE00`, 0, []string{"😀"}, nil},
		"line break":              {`a\Rb`, 0, []string{"a\r\nb", "a\u2028b"}, []string{"ab"}},
		"counted":                 {`a{2,3}b{2}c{1,}`, 0, []string{"aabbc", "aaabbccc"}, []string{"abbc"}},
		"counted beyond 1000":     {`a{1001}`, 0, []string{strings.Repeat("a", 1001)}, []string{"a"}},
		"brace is a literal":      {`a}]`, 0, []string{"a}]"}, nil},
		"end before line end":     {`(?s)a$.*`, 0, []string{"a", "a\n", "a\r\n"}, []string{"a\n\n", "ab"}},
		"repeated anchor":         {`(^)*a`, 0, []string{"a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			re := compile(t, c.pattern, c.flags)
			for _, text := range c.yes {
				if !re.MatchWhole([]byte(text)) {
					t.Errorf("%q does not match %q", c.pattern, text)
				}
			}
			for _, text := range c.no {
				if re.MatchWhole([]byte(text)) {
					t.Errorf("%q matches %q", c.pattern, text)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		pattern, text string
		want          []int
	}{
		"first":                 {`b(c)?`, "abcb", []int{1, 3, 2, 3}},
		"group without part":    {`b(c)?`, "ab", []int{1, 2, -1, -1}},
		"none":                  {`x`, "ab", nil},
		"offsets are bytes":     {`(?<=ä)b`, "äb", []int{2, 3}},
		"dollar before newline": {`b$`, "ab\n", []int{1, 2}},
		"named counts in place": {`(?<n>a)(b)\2`, "abb", []int{0, 3, 0, 1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, compile(t, c.pattern, 0).FindSubmatch([]byte(c.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReplaceAll(t *testing.T) {
	for name, c := range map[string]struct{ pattern, with, text, want string }{
		"group":                  {`(\d+)-(\d+)`, "$2/$1", "1-2 3-4", "2/1 4/3"},
		"named group":            {`(?<y>\d{4})`, "<${y}>", "2024", "<2024>"},
		"escaped":                {"a", `\$1\\`, "a", `$1\`},
		"two digits":             {"(a)", "$12", "a", "a2"},
		"empty after a match":    {"a*", "X", "baac", "XbXXcX"},
		"everything":             {".*", "X", "ab", "XX"},
		"group without part":     {"a(b)?", "[$1]", "ab a", "[b] []"},
		"context is seen":        {`^a`, "X", "aa", "Xa"},
		"look behind":            {`(?<=\d)(?=(\d{3})+$)`, ",", "1234567", "1,234,567"},
		"word ends keep context": {`\bo`, "0", "oo o", "0o 0"},
	} {
		t.Run(name, func(t *testing.T) {
			re := compile(t, c.pattern, 0)
			tpl, err := re.Template(c.with)
			if err != nil {
				t.Fatal(err)
			}
			if got := re.ReplaceAllString(c.text, tpl); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		pattern, text string
		want          []string
	}{
		"trailing empties go": {",", "a,b,,", []string{"a", "b"}},
		"leading stays":       {",", ",a", []string{"", "a"}},
		"empty matches":       {"", "abc", []string{"a", "b", "c"}},
		"no match":            {",", "abc", []string{"abc"}},
		"empty text":          {",", "", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, compile(t, c.pattern, 0).Split(c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompileRefusesWhatJavaRefuses(t *testing.T) {
	for _, p := range []string{"*a", "a{", "{2}", "(a", "a)", "[a", "[z-a]", `a\`, `\y`, `\p{Nope}`, `(?<n>a)(?<n>b)`, `\k<x>`, `(?z)a`, "a{3,2}", `\2(a)`, "+"} {
		if _, err := javaregex.Compile(p, 0); err == nil {
			t.Errorf("%q compiles", p)
		} else if !strings.Contains(err.Error(), p[:1]) {
			t.Errorf("%q: the error does not name it: %v", p, err)
		}
	}
	re := compile(t, "(a)", 0)
	for _, w := range []string{"$2", "$", "${x}", `a\`, "$a"} {
		if _, err := re.Template(w); err == nil {
			t.Errorf("replacement %q compiles", w)
		}
	}
}

// Both engines must answer alike where both can.
func FuzzEnginesAgree(f *testing.F) {
	for _, s := range []string{"ab", "a(b|c)*d?", "[a-c&&[^b]]+", "x*?y", "(a)|b", `\w+\s*$`} {
		f.Add(s, "abcabd xy")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 20 || len(text) > 20 || strings.Contains(pattern, "{") || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		re, err := javaregex.Compile(pattern, 0)
		if err != nil {
			return
		}
		guard, err := javaregex.Compile("(?>"+pattern+")?(?<!\\w\\W\\w\\W\\w\\W)", 0) // must not panic in the other engine
		if err == nil {
			guard.FindAllSubmatch([]byte(text))
		}
		slow, err := javaregex.Compile("(?=)(?:"+pattern+")", 0)
		if err != nil {
			return
		}
		if a, b := re.MatchWhole([]byte(text)), slow.MatchWhole([]byte(text)); a != b {
			t.Errorf("%q on %q: %v and %v", pattern, text, a, b)
		}
	})
}
