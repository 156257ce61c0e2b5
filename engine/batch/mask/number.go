package mask

import (
	"unicode/utf8"

	"sluice/engine/batch/decimal"
)

// Symbols are the characters that stand for the mask's signs in text. A zero
// field means the en_US symbol.
type Symbols struct {
	Decimal  rune   // '.' when zero
	Grouping rune   // ',' when zero
	Currency string // "$" when empty
}

// NumberOptions change how a number mask formats and parses.
type NumberOptions struct {
	Symbols  Symbols
	Rounding decimal.Rounding // the zero value is HALF_EVEN, as in Java
	// Lenient accepts a text of which only a prefix is a number. A strict mask
	// answers ErrTrailing then.
	Lenient bool
}

const (
	nanText      = "NaN"
	infinityText = "∞"
)

// NumberMask is a compiled DecimalFormat pattern. It is immutable and safe for
// many goroutines.
type NumberMask struct {
	pattern  string
	rounding decimal.Rounding
	lenient  bool

	point, group         []byte // the symbols in UTF-8
	posPrefix, posSuffix string
	negPrefix, negSuffix string

	minInt, maxInt   int // integer digits; maxInt matters with an exponent only
	minFrac, maxFrac int
	groupSize        int // 0: no grouping
	minExp           int // digits of the exponent; 0: no exponent
	multiplier       int64
	pointAlways      bool // the mask ends or begins with the point

	fastFormat bool // no grouping, exponent or multiplier
	fastParse  bool // empty affixes but the minus sign, '.' as point
}

// CompileNumber compiles a DecimalFormat pattern: 0 # . , ; E % ‰ ¤, quotes,
// literal prefixes and suffixes, and a negative sub-pattern. The error wraps
// ErrPattern.
func CompileNumber(pattern string, o NumberOptions) (*NumberMask, error) {
	s := o.Symbols
	if s.Decimal == 0 {
		s.Decimal = '.'
	}
	if s.Grouping == 0 {
		s.Grouping = ','
	}
	if s.Currency == "" {
		s.Currency = "$"
	}
	m := &NumberMask{pattern: pattern, rounding: o.Rounding, lenient: o.Lenient, multiplier: 1}
	m.point = utf8.AppendRune(nil, s.Decimal)
	m.group = utf8.AppendRune(nil, s.Grouping)
	if err := compileNumberPattern(m, pattern, s.Currency); err != nil {
		return nil, err
	}
	m.fastFormat = m.minExp == 0 && m.multiplier == 1 && m.groupSize == 0
	m.fastParse = m.posPrefix == "" && m.posSuffix == "" && m.negPrefix == "-" && m.negSuffix == "" &&
		m.multiplier == 1 && s.Decimal == '.'
	return m, nil
}

// String returns the pattern.
func (m *NumberMask) String() string { return m.pattern }
