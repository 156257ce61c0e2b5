package javaregex

import "fmt"

// Template is a compiled replacement text.
type Template struct {
	parts []templatePart
}

type templatePart struct {
	text  string
	group int // -1: text
}

// Template compiles a replacement text of Java's replaceAll: $1 and ${name} stand
// for groups, a backslash takes the next character as it is. The error tells of a
// group that the pattern does not have.
func (re *Regexp) Template(text string) (*Template, error) {
	t := &Template{}
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			t.parts = append(t.parts, templatePart{text: string(lit), group: -1})
			lit = nil
		}
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			if i+1 == len(text) {
				return nil, fmt.Errorf("replacement %q: character to be escaped is missing", text)
			}
			lit = append(lit, text[i+1])
			i += 2
		case '$':
			flush()
			group, n, err := re.groupReference(text[i+1:])
			if err != nil {
				return nil, fmt.Errorf("replacement %q: %w", text, err)
			}
			t.parts = append(t.parts, templatePart{group: group})
			i += 1 + n
		default:
			lit = append(lit, text[i])
			i++
		}
	}
	flush()
	return t, nil
}

// groupReference reads what follows a $: n is the number of bytes it takes.
func (re *Regexp) groupReference(s string) (group, n int, err error) {
	if s != "" && s[0] == '{' {
		for n = 1; n < len(s) && s[n] != '}'; n++ {
		}
		if n == len(s) {
			return 0, 0, fmt.Errorf("named capturing group is missing trailing '}'")
		}
		group, ok := re.names[s[1:n]]
		if !ok {
			return 0, 0, fmt.Errorf("no group with name {%s}", s[1:n])
		}
		return group, n + 1, nil
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, 0, fmt.Errorf("$ is not followed by a group (write \\$ for a dollar sign)")
	}
	group = int(s[0] - '0')
	if group > re.groups {
		return 0, 0, fmt.Errorf("no group %d", group)
	}
	for n = 1; n < len(s) && s[n] >= '0' && s[n] <= '9' && group*10+int(s[n]-'0') <= re.groups; n++ {
		group = group*10 + int(s[n]-'0')
	}
	return group, n, nil
}

// Literal is the template of a text in which nothing has a meaning.
func Literal(text string) *Template {
	if text == "" {
		return &Template{}
	}
	return &Template{parts: []templatePart{{text: text, group: -1}}}
}

func (t *Template) append(dst, text []byte, m []int) []byte {
	for _, p := range t.parts {
		if p.group < 0 {
			dst = append(dst, p.text...)
		} else if m[2*p.group] >= 0 {
			dst = append(dst, text[m[2*p.group]:m[2*p.group+1]]...)
		}
	}
	return dst
}

// AppendReplaced appends text with every match replaced (String.replaceAll).
func (re *Regexp) AppendReplaced(dst, text []byte, with *Template) []byte {
	return appendReplaced(dst, text, re.FindAllSubmatch(text), with)
}

// AppendReplacedFirst appends text with its first match replaced.
func (re *Regexp) AppendReplacedFirst(dst, text []byte, with *Template) []byte {
	m := re.FindSubmatch(text)
	if m == nil {
		return append(dst, text...)
	}
	return appendReplaced(dst, text, [][]int{m}, with)
}

func appendReplaced(dst, text []byte, matches [][]int, with *Template) []byte {
	at := 0
	for _, m := range matches {
		dst = append(dst, text[at:m[0]]...)
		dst = with.append(dst, text, m)
		at = m[1]
	}
	return append(dst, text[at:]...)
}

// ReplaceAll gives text with every match replaced.
func (re *Regexp) ReplaceAll(text []byte, with *Template) []byte {
	return re.AppendReplaced(make([]byte, 0, len(text)+16), text, with)
}

// ReplaceAllString is ReplaceAll for strings.
func (re *Regexp) ReplaceAllString(text string, with *Template) string {
	return string(re.ReplaceAll([]byte(text), with))
}

// Split cuts text at every match as String.split(regex) does: no empty pieces at
// the end, and no empty piece in front of an empty match at the start.
func (re *Regexp) Split(text string) []string {
	b := []byte(text)
	var out []string
	at := 0
	for _, m := range re.FindAllSubmatch(b) {
		if m[1] == 0 {
			continue
		}
		if m[0] == m[1] && m[0] == len(b) {
			continue
		}
		out = append(out, text[at:m[0]])
		at = m[1]
	}
	if at == 0 && len(out) == 0 {
		return []string{text}
	}
	out = append(out, text[at:])
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// Quote gives a pattern that matches exactly text.
func Quote(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, quoteRune(r)...)
	}
	return string(b)
}
