package batch

import (
	"bytes"
	"strings"
)

// TextRule is how a piece of text becomes a value: what stands for null, what
// replaces it, and which blanks are dropped (reference 3.5).
type TextRule struct {
	NullIf string
	IfNull string
	Trim   Trim
}

// Clean applies the rule to a text: the text to convert, and false when the
// value is null. isNull says that there was no text at all.
func (c *Codec) Clean(text []byte, isNull bool, r TextRule) ([]byte, bool) {
	if r.IfNull != "" && (isNull || len(text) == 0 || equalsPadded(text, r.NullIf)) {
		text, isNull = []byte(r.IfNull), false
	}
	if isNull {
		return nil, false
	}
	if len(text) == 0 && c.field.Type != String {
		return nil, false
	}
	if matchesNull(text, r.NullIf) {
		return c.empty()
	}
	if r.Trim != TrimNone {
		text = r.Trim.Apply(text)
	}
	return text, true
}

func (c *Codec) empty() ([]byte, bool) { return nil, c.field.Type == String }

// matchesNull says whether a text equals the null string, or is all blanks when
// there is no null string.
func matchesNull(text []byte, nullIf string) bool {
	if nullIf != "" {
		return equalsPadded(text, nullIf)
	}
	for _, b := range text {
		if b != ' ' {
			return false
		}
	}
	return true
}

// equalsPadded compares without case; the pattern is filled up with blanks to
// the text's length.
func equalsPadded(text []byte, pattern string) bool {
	if pattern == "" {
		return false
	}
	if len(text) < len(pattern) {
		return false
	}
	return strings.EqualFold(string(text[:len(pattern)]), pattern) && len(bytes.TrimLeft(text[len(pattern):], " ")) == 0
}

// ParseTextInto applies the rule and appends the value to a typed column. On an
// error nothing is appended.
func (c *Codec) ParseTextInto(col *Column, text []byte, isNull bool, r TextRule) error {
	text, ok := c.Clean(text, isNull, r)
	if !ok {
		col.AppendNull()
		return nil
	}
	return c.ParseInto(col, text)
}

// ParseText applies the rule and gives the value.
func (c *Codec) ParseText(text []byte, isNull bool, r TextRule) (Value, error) {
	text, ok := c.Clean(text, isNull, r)
	if !ok {
		return Null(c.field.Type), nil
	}
	return c.Parse(text)
}
