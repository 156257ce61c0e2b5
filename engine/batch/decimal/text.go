package decimal

import (
	"math/big"
	"strconv"
)

// Parse reads a number as Java's new BigDecimal(String): an optional sign,
// digits with at most one point, an optional exponent (e or E). Blanks are not
// accepted. Errors: ErrSyntax, ErrRange (exponent beyond ±MaxScale).
func Parse[T string | []byte](text T) (Decimal, error) {
	i, neg := 0, false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		neg = text[i] == '-'
		i++
	}
	var m u128
	start, digits, point, fits := i, 0, -1, true
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits++
		if fits {
			m, fits = m.push(c - '0')
		}
	}
	if digits == 0 {
		return Decimal{}, ErrSyntax
	}
	end, scale := i, int64(0)
	if point >= 0 {
		scale = int64(end - point - 1)
	}
	if i < len(text) {
		exp, err := parseExponent(string(text[i:]))
		if err != nil {
			return Decimal{}, err
		}
		scale -= exp
	}
	s, err := checkScale(scale)
	if err != nil {
		return Decimal{}, err
	}
	if fits {
		if d, ok := fromMagnitude(neg, m, s); ok {
			return d, nil
		}
	}
	return parseBig(text[start:end], neg, s), nil
}

// push appends a decimal digit; false when the value no longer fits.
func (a u128) push(digit byte) (u128, bool) {
	if a.hi == 0 && a.lo < 1e18 {
		return u128{0, a.lo*10 + uint64(digit)}, true
	}
	m, ok := a.mul64(10)
	m.lo += uint64(digit)
	if m.lo < uint64(digit) {
		m.hi++
		ok = ok && m.hi != 0
	}
	return m, ok
}

func parseExponent(text string) (int64, error) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, ErrSyntax
	}
	digits := text[1:]
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if digits == "" {
		return 0, ErrSyntax
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, ErrSyntax
		}
	}
	exp, err := strconv.ParseInt(text[1:], 10, 32)
	if err != nil {
		return 0, ErrRange
	}
	return exp, nil
}

// parseBig reads digits that may hold one point.
func parseBig[T string | []byte](text T, neg bool, scale int32) Decimal {
	digits := make([]byte, 0, len(text)+1)
	if neg {
		digits = append(digits, '-')
	}
	for i := range len(text) {
		if text[i] != '.' {
			digits = append(digits, text[i])
		}
	}
	v, _ := new(big.Int).SetString(string(digits), 10)
	return newBig(v, scale)
}

// String returns Java's toString: plain, or with an exponent when the scale is
// negative or there would be more than five leading zeros.
func (d Decimal) String() string { return string(d.Append(nil)) }

// Plain returns Java's toPlainString: never an exponent.
func (d Decimal) Plain() string { return string(d.AppendPlain(nil)) }

// Append appends the form of String.
func (d Decimal) Append(dst []byte) []byte {
	adjusted := int64(d.exponent()) - 1
	if d.scale >= 0 && adjusted >= -6 {
		return d.AppendPlain(dst)
	}
	dst = d.appendSign(dst)
	start := len(dst)
	dst = d.AppendDigits(dst)
	if len(dst)-start > 1 {
		dst = append(dst, 0)
		copy(dst[start+2:], dst[start+1:])
		dst[start+1] = '.'
	}
	if adjusted != 0 {
		dst = append(dst, 'E')
		if adjusted > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, adjusted, 10)
	}
	return dst
}

// AppendPlain appends the form of Plain.
func (d Decimal) AppendPlain(dst []byte) []byte {
	dst = d.appendSign(dst)
	if d.scale <= 0 {
		dst = d.AppendDigits(dst)
		if !d.IsZero() {
			dst = appendZeros(dst, -int(d.scale))
		}
		return dst
	}
	if lead := int(d.scale) - d.Precision(); lead >= 0 {
		dst = append(dst, '0', '.')
		return d.AppendDigits(appendZeros(dst, lead))
	}
	dst = append(d.AppendDigits(dst), 0)
	point := len(dst) - 1 - int(d.scale)
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// AppendDigits appends the digits of the absolute unscaled value; "0" for zero.
func (d Decimal) AppendDigits(dst []byte) []byte {
	switch {
	case d.IsZero():
		return append(dst, '0')
	case d.big == nil:
		return d.magnitude().append(dst)
	case d.big.Sign() < 0:
		return new(big.Int).Neg(d.big).Append(dst, 10)
	}
	return d.big.Append(dst, 10)
}

func (d Decimal) appendSign(dst []byte) []byte {
	if d.Sign() < 0 {
		return append(dst, '-')
	}
	return dst
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
