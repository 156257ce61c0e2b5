package transform

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"sluice/engine/project"
)

// Resolver replaces variables in a text.
type Resolver interface {
	Resolve(text string) (string, error)
}

// Expr is a setting of type T that the file may give as a variable. The zero
// Expr is an empty text.
type Expr[T string | int | int64 | float64 | bool] struct{ Text string }

type exprText interface{ exprText() string }

func (e Expr[T]) exprText() string { return e.Text }

// IsEmpty says whether the file gives nothing.
func (e Expr[T]) IsEmpty() bool { return e.Text == "" }

// Eval resolves the variables and converts the result. Numbers are read as Hop
// reads them ("1,000", "10k"); an empty text is the zero value. The error says
// what the text was.
func (e Expr[T]) Eval(r Resolver) (T, error) {
	var zero T
	text, err := r.Resolve(e.Text)
	if err != nil {
		return zero, err
	}
	v, err := convert(any(zero), text)
	if err != nil {
		if text != e.Text {
			return zero, fmt.Errorf("%q (from %q): %w", text, e.Text, err)
		}
		return zero, fmt.Errorf("%q: %w", text, err)
	}
	return v.(T), nil
}

// Or is Eval with a value for an empty text.
func (e Expr[T]) Or(r Resolver, empty T) (T, error) {
	text, err := r.Resolve(e.Text)
	if err != nil || strings.TrimSpace(text) == "" {
		return empty, err
	}
	return e.Eval(r)
}

func convert(kind any, text string) (any, error) {
	switch kind.(type) {
	case string:
		return text, nil
	case bool:
		return parseFlag(text), nil
	case float64:
		if strings.TrimSpace(text) == "" {
			return 0.0, nil
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, fmt.Errorf("is not a number")
		}
		return v, nil
	}
	if strings.TrimSpace(text) == "" {
		text = "0"
	}
	n, err := project.ParseLong(text)
	if err != nil {
		return nil, err
	}
	if _, ok := kind.(int); ok {
		return int(n), nil
	}
	return n, nil
}

// parseFlag reads a flag as Hop does: y, yes, true and t are true.
func parseFlag(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "true", "t":
		return true
	}
	return false
}

// Secret is a password as the file holds it: plain, a variable, or encoded.
// Printing or logging it shows no character of it.
type Secret string

const redacted = "******"

// String hides the secret.
func (Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return redacted }

// LogValue hides the secret from logs.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Reveal resolves variables and decodes Hop's password encoding.
func (s Secret) Reveal(scope *project.Variables) (project.Secret, error) {
	return project.ResolvePassword(scope, string(s))
}
