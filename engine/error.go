// Package engine is the root of everything headless: what rows, files and runs
// mean. It holds the error that a person reads; the rooms below hold the rest.
package engine

import (
	"strconv"
	"strings"
)

// Error is a failure as a person should read it. Message says what is wrong,
// Hint what to try; Err is the cause, for "Details" and for errors.Is.
type Error struct {
	Transform string // or action; empty when the failure belongs to no node
	Field     string
	Row       int64 // 1-based number of the row among those the transform read; 0 when unknown
	Value     string
	Message   string
	Hint      string
	Err       error
}

// Error gives one line: transform, row, field, value, message, cause and hint.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Transform != "" {
		b.WriteString("transform " + quote(e.Transform))
	}
	if e.Row > 0 {
		join(&b, "row "+strconv.FormatInt(e.Row, 10))
	}
	if e.Field != "" {
		join(&b, "field "+quote(e.Field))
	}
	if e.Value != "" {
		join(&b, "value "+quote(clip(e.Value)))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Err != nil {
		if e.Message != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

const maxValue = 80

func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxValue {
		return s
	}
	return string(r[:maxValue]) + "…"
}

func quote(s string) string { return `"` + s + `"` }

func join(b *strings.Builder, s string) {
	if b.Len() > 0 {
		b.WriteString(", ")
	}
	b.WriteString(s)
}
