package project

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
)

// redacted is what every rendering of a secret shows.
const redacted = "********"

// Secret is a text that no log, message or file may show. Only Reveal gives
// the text; every verb of fmt, slog and JSON gives asterisks. Two secrets
// compare with ==.
type Secret struct{ text string }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text itself, for the one place that needs it.
func (s Secret) Reveal() string { return s.text }

// IsEmpty tells whether there is nothing to hide.
func (s Secret) IsEmpty() bool { return s.text == "" }

// String returns asterisks, also for an empty secret.
func (s Secret) String() string { return redacted }

// Format writes asterisks whatever the verb, so that %d or %+v cannot reach
// the field.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(redacted)) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler, and by it XML and map keys.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON implements json.Marshaler.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// SecretPolicy recognises variables that hold secrets by their names. It is
// immutable and safe for concurrent use.
type SecretPolicy struct {
	words []string // whole words of the name, upper case
	globs []string // patterns over the whole name, upper case
}

// DefaultSecretPatterns returns the patterns that [NewSecretPolicy] is usually
// given.
func DefaultSecretPatterns() []string {
	return []string{
		"*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*SECRET*", "*TOKEN*", "*CREDENTIAL*",
		"*APIKEY*", "*ACCESSKEY*", "*PRIVATEKEY*", "PWD", "PASS", "KEY", "KEYS", "AUTH", "SAS",
	}
}

// NewSecretPolicy makes a policy of patterns, compared without regard to case.
// A pattern with * stands for any characters there and must match the whole
// name; one without must equal a word of the name, where words are divided by
// anything that is no letter or digit, and before a capital that follows a
// small letter: KEY matches API_KEY and apiKey, not MONKEY.
func NewSecretPolicy(patterns []string) *SecretPolicy {
	p := &SecretPolicy{}
	for _, pattern := range patterns {
		pattern = strings.ToUpper(strings.TrimSpace(pattern))
		switch {
		case pattern == "":
		case strings.Contains(pattern, "*"):
			p.globs = append(p.globs, pattern)
		default:
			p.words = append(p.words, pattern)
		}
	}
	return p
}

// MatchesName tells whether a variable of this name counts as secret.
func (p *SecretPolicy) MatchesName(name string) bool {
	for _, word := range nameWords(name) {
		if slices.Contains(p.words, word) {
			return true
		}
	}
	upper := strings.ToUpper(name)
	for _, glob := range p.globs {
		if matchGlob(glob, upper) {
			return true
		}
	}
	return false
}

// IsSecret tells whether the variable holds a secret in this scope: its value
// was set as one, is an encoded password, or its name matches.
func (p *SecretPolicy) IsSecret(scope *Variables, name string) bool {
	if scope.markedSecret(name) || p.MatchesName(name) {
		return true
	}
	value, _ := scope.Get(name)
	return IsEncodedPassword(value)
}

// ReadsSecret tells whether resolving the text would put a secret into it: it
// reads a variable that holds one, or asks a resolver, directly or through the
// values of other variables. A text that cannot be resolved counts as one.
func (p *SecretPolicy) ReadsSecret(scope *Variables, text string) bool {
	names, err := scope.Reads(text)
	if err != nil || len(ResolverReferences(text)) > 0 {
		return true
	}
	for _, name := range names {
		value, _ := scope.Get(name)
		if p.IsSecret(scope, name) || len(ResolverReferences(value)) > 0 {
			return true
		}
	}
	return false
}

// SecretNames returns the names of the scope that hold secrets, in ascending
// order.
func (p *SecretPolicy) SecretNames(scope *Variables) []string {
	var secret []string
	for _, name := range scope.Names() {
		if p.IsSecret(scope, name) {
			secret = append(secret, name)
		}
	}
	return secret
}

func nameWords(name string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToUpper(word.String()))
			word.Reset()
		}
	}
	afterSmall := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			afterSmall = false
			continue
		}
		if unicode.IsUpper(r) && afterSmall {
			flush()
		}
		word.WriteRune(r)
		afterSmall = unicode.IsLower(r)
	}
	flush()
	return words
}

// matchGlob matches text against a pattern in which * stands for anything.
func matchGlob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return strings.HasSuffix(text, last)
}
