package project

import (
	"fmt"
	"math/big"
	"strings"
)

// ParseLong reads a count as people write it in row limits and commit sizes:
// 1000, 1,000, 1_000, 1k, 10m, 2g or 2b (thousands, millions, billions, in any
// case), 1.5m, 1e8 and 10^8. Blanks around it do not count. The result must be
// a whole number of 64 bits.
func ParseLong(text string) (int64, error) {
	compact := strings.ToLower(strings.TrimSpace(text))
	value, ok := parseCount(compact)
	if !ok {
		return 0, fmt.Errorf("%q is not a whole number; write it as 1000, 1,000, 1k, 10m, 2g, 1e8 or 10^8", text)
	}
	if !value.IsInt() || !value.Num().IsInt64() {
		return 0, fmt.Errorf("%q is not a whole number between %d and %d", text, int64(-1<<63), int64(1<<63-1))
	}
	return value.Num().Int64(), nil
}

func parseCount(text string) (*big.Rat, bool) {
	if base, exponent, found := strings.Cut(text, "^"); found {
		return parsePower(base, exponent)
	}
	factor := int64(1)
	if text != "" {
		switch text[len(text)-1] {
		case 'k':
			factor = 1_000
		case 'm':
			factor = 1_000_000
		case 'g', 'b':
			factor = 1_000_000_000
		}
	}
	if factor != 1 {
		text = strings.TrimSpace(text[:len(text)-1])
	}
	mantissa, exponent, hasExponent := strings.Cut(text, "e")
	value, ok := parseDigits(mantissa)
	if !ok {
		return nil, false
	}
	if hasExponent {
		n, ok := parseExponent(exponent)
		if !ok {
			return nil, false
		}
		value.Mul(value, powerOf(big.NewRat(10, 1), n))
	}
	return value.Mul(value, big.NewRat(factor, 1)), true
}

func parsePower(base, exponent string) (*big.Rat, bool) {
	value, ok := parseDigits(strings.TrimSpace(base))
	if !ok {
		return nil, false
	}
	n, ok := parseExponent(strings.TrimSpace(exponent))
	if !ok {
		return nil, false
	}
	return powerOf(value, n), true
}

// parseDigits reads digits with an optional sign and decimal point. Commas and
// underscores may stand between groups of three digits, so that 1,5 is refused
// rather than read as 15.
func parseDigits(text string) (*big.Rat, bool) {
	unsigned := strings.TrimLeft(text, "+-")
	if len(text)-len(unsigned) > 1 || len(unsigned) > 64 || strings.Trim(unsigned, "0123456789.,_") != "" {
		return nil, false
	}
	whole, _, _ := strings.Cut(unsigned, ".")
	groups := strings.FieldsFunc(whole, isGroupSeparator)
	for i, group := range groups {
		if len(groups) > 1 && (len(group) > 3 || i > 0 && len(group) != 3) {
			return nil, false
		}
	}
	if len(groups) != strings.Count(whole, ",")+strings.Count(whole, "_")+1 {
		return nil, false
	}
	return new(big.Rat).SetString(strings.Map(dropGroupSeparator, text))
}

func isGroupSeparator(r rune) bool { return r == ',' || r == '_' }

func dropGroupSeparator(r rune) rune {
	if isGroupSeparator(r) {
		return -1
	}
	return r
}

func parseExponent(text string) (int, bool) {
	text = strings.TrimPrefix(text, "+")
	if text == "" || len(text) > 4 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n := 0
	for _, digit := range text {
		n = n*10 + int(digit-'0')
	}
	return min(n, 64), true
}

func powerOf(base *big.Rat, n int) *big.Rat {
	value := big.NewRat(1, 1)
	for range n {
		value.Mul(value, base)
	}
	return value
}
