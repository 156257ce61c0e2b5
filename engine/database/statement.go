package database

import (
	"fmt"
	"slices"
	"strings"
)

// piece is a run of a script.
type piece int

const (
	code piece = iota
	quoted
	comment
)

// pieces cuts a script into code, quoted texts or names, and comments. Code comes
// as single characters or as whole words.
func pieces(script string, yield func(kind piece, from, end int) bool) {
	for i := 0; i < len(script); {
		kind, end := nextPiece(script, i)
		if !yield(kind, i, end) {
			return
		}
		i = end
	}
}

func nextPiece(s string, i int) (piece, int) {
	switch c := s[i]; {
	case c == '\'' || c == '"' || c == '`':
		return quoted, quoteEnd(s, i+1, c)
	case strings.HasPrefix(s[i:], "--"):
		return comment, endOf(s, i, "\n", 0)
	case strings.HasPrefix(s[i:], "/*"):
		return comment, endOf(s, i+2, "*/", 2)
	case c == '$':
		if tag := dollarTag(s[i:]); tag != "" {
			return quoted, endOf(s, i+len(tag), tag, len(tag))
		}
	case isWord(c):
		end := i + 1
		for end < len(s) && (isWord(s[end]) || s[end] == '$') {
			end++
		}
		return code, end
	}
	return code, i + 1
}

// quoteEnd gives the end of a quoted text; a doubled quote stands for itself.
func quoteEnd(s string, i int, quote byte) int {
	for ; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			i++
			continue
		}
		return i + 1
	}
	return len(s)
}

func endOf(s string, from int, mark string, keep int) int {
	if k := strings.Index(s[from:], mark); k >= 0 {
		return from + k + keep
	}
	return len(s)
}

// dollarTag gives the opening of a dollar-quoted text, "$$" or "$name$".
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '$':
			return s[:i+1]
		case !isWord(s[i]) || (i == 1 && s[i] >= '0' && s[i] <= '9'):
			return ""
		}
	}
	return ""
}

func isWord(c byte) bool {
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 0x80
}

// Split cuts a script into its statements: at semicolons outside of quotes and
// comments, and for CREATE TRIGGER at the one after its END. Statements without
// any code are left out; comments within one are kept.
func Split(script string) []string {
	var list []string
	var words []string // the first ones of the statement
	from, last := 0, ""
	some := false
	cut := func(end int) {
		if some {
			list = append(list, strings.TrimSpace(script[from:end]))
		}
		words, last, some = nil, "", false
	}
	pieces(script, func(kind piece, i, end int) bool {
		text := script[i:end]
		switch {
		case kind == comment || (kind == code && strings.TrimSpace(text) == ""):
		case kind == code && text == ";" && !(isTrigger(words) && !strings.EqualFold(last, "end")):
			cut(i)
			from = end
		default:
			some, last = true, text
			if len(words) < 4 {
				words = append(words, strings.ToLower(text))
			}
		}
		return true
	})
	cut(len(script))
	return list
}

func isTrigger(words []string) bool {
	return len(words) > 0 && words[0] == "create" && slices.Contains(words[1:], "trigger")
}

// Placeholders counts the question marks outside of quotes and comments.
func Placeholders(query string) int {
	n := 0
	pieces(query, func(kind piece, i, _ int) bool {
		if kind == code && query[i] == '?' {
			n++
		}
		return true
	})
	return n
}

// Named replaces {name} outside of quotes and comments by question marks and
// lists the names in order. A query that has both kinds is an error.
func Named(query string) (positional string, names []string, err error) {
	var b strings.Builder
	skip := 0
	pieces(query, func(kind piece, i, end int) bool {
		switch {
		case i < skip:
		case kind == code && query[i] == '{':
			k := strings.IndexByte(query[i:], '}')
			if k < 0 {
				err = fmt.Errorf("the parameter that starts with %q has no closing brace", clip(query[i:]))
				return false
			}
			name := strings.TrimSpace(query[i+1 : i+k])
			if name == "" {
				err = fmt.Errorf("a parameter {} has no name")
				return false
			}
			names = append(names, name)
			b.WriteByte('?')
			skip = i + k + 1
		default:
			b.WriteString(query[i:end])
		}
		return true
	})
	if err == nil && len(names) > 0 && Placeholders(query) > 0 {
		err = fmt.Errorf("the query has both named parameters and question marks; use one kind")
	}
	return b.String(), names, err
}

// Verb is the first word of a statement in upper case: SELECT, INSERT …
func Verb(statement string) string {
	verb := ""
	pieces(statement, func(kind piece, i, end int) bool {
		if kind == comment || (kind == code && !isWord(statement[i])) {
			return true
		}
		verb = strings.ToUpper(statement[i:end])
		return false
	})
	return verb
}

// ReturnsRows says whether a statement is one that is asked for rows.
func ReturnsRows(statement string) bool {
	switch Verb(statement) {
	case "SELECT", "WITH", "VALUES", "PRAGMA", "EXPLAIN", "SHOW", "DESCRIBE":
		return true
	}
	return false
}

// clip shortens a statement for messages.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
