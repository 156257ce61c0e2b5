// Package mask formats and parses numbers and dates by the pattern languages of
// Java's DecimalFormat and SimpleDateFormat, as Hop's masks use them.
//
// A NumberMask or DateMask is a compiled pattern. It is immutable and safe for
// many goroutines. Formatters append to a byte slice; parsers take bytes and
// tell how far they came. Common masks take paths that allocate nothing. Which
// mask a field has, trimming and null rules are left to the caller.
package mask

import (
	"errors"
	"fmt"
)

var (
	// ErrPattern means that a mask is malformed; the error text names the mask.
	ErrPattern = errors.New("malformed mask")
	// ErrSyntax means that a text does not begin with what the mask describes.
	ErrSyntax = errors.New("text does not match the mask")
	// ErrTrailing means that a strict number mask matched only a prefix.
	ErrTrailing = errors.New("unexpected character after the number")
	// ErrInexact means that a value has more digits than the mask shows while
	// the rounding is decimal.Unnecessary.
	ErrInexact = errors.New("rounding necessary")
	// ErrRange means that a date field is out of range in strict mode, or that a
	// number is beyond what a decimal can hold.
	ErrRange = errors.New("value out of range")
)

// ParseError reports where a text stopped to match its mask. It wraps ErrSyntax,
// ErrTrailing or ErrRange.
type ParseError struct {
	Text string // the whole text
	Mask string // the pattern
	Pos  int    // byte offset of the first character that does not fit
	Err  error
}

// Error names the text, the mask and the position, counted from zero.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%q with mask %q, position %d: %v", e.Text, e.Mask, e.Pos, e.Err)
}

// Unwrap returns the condition.
func (e *ParseError) Unwrap() error { return e.Err }
