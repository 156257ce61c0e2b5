package mask

import (
	"bytes"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"sluice/engine/batch/decimal"
)

func (m *NumberMask) fail(text []byte, pos int, err error) error {
	return &ParseError{Text: string(text), Mask: m.pattern, Pos: pos, Err: err}
}

// ParseInt64 reads a number and cuts it toward zero, as Hop's Integer does:
// values beyond int64 stop at its ends. n is the number of bytes read. Errors are
// *ParseError with ErrSyntax or, in a strict mask, ErrTrailing.
func (m *NumberMask) ParseInt64(text []byte) (v int64, n int, err error) {
	if m.fastParse && len(text) > 0 && len(text) <= 19 {
		digits := text
		if text[0] == '-' {
			digits = text[1:]
		}
		if len(digits) > 0 && len(digits) <= 18 {
			for _, c := range digits {
				if c -= '0'; c > 9 {
					return m.parseIntSlow(text)
				}
				v = v*10 + int64(c)
			}
			if len(digits) != len(text) {
				v = -v
			}
			return v, len(text), nil
		}
	}
	return m.parseIntSlow(text)
}

func (m *NumberMask) parseIntSlow(text []byte) (int64, int, error) {
	var buf [digitsBuffer]byte
	s := scannedNumber{digits: buf[:0]}
	n, err := m.scan(text, &s)
	if err != nil {
		return 0, n, err
	}
	if s.nan {
		return 0, n, nil
	}
	if m.multiplier == 1 && !s.infinite && s.point >= len(s.digits) && s.point <= 19 {
		if u, ok := s.uint64(); ok && (u <= math.MaxInt64 || s.neg && u == 1<<63) {
			if s.neg {
				return int64(-u), n, nil
			}
			return int64(u), n, nil
		}
	}
	return saturate(m.float(&s)), n, nil
}

// saturate is Java's cast of a double to long.
func saturate(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// ParseFloat64 reads a number. n is the number of bytes read. Errors as ParseInt64.
func (m *NumberMask) ParseFloat64(text []byte) (v float64, n int, err error) {
	if m.fastParse {
		if v, ok := parsePlainFloat(text); ok {
			return v, len(text), nil
		}
	}
	var buf [digitsBuffer]byte
	s := scannedNumber{digits: buf[:0]}
	n, err = m.scan(text, &s)
	if err != nil {
		return 0, n, err
	}
	return m.float(&s), n, nil
}

// parsePlainFloat reads [-]digits[.digits] exactly when the whole text is that
// and its digits fit a float64's mantissa.
func parsePlainFloat(text []byte) (float64, bool) {
	i, neg := 0, false
	if len(text) > 0 && text[0] == '-' {
		i, neg = 1, true
	}
	if len(text)-i > 19 {
		return 0, false
	}
	var mant uint64
	start := i
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			break
		}
		mant = mant*10 + uint64(c)
	}
	digits, frac := i-start, 0
	if i < len(text) {
		if text[i] != '.' {
			return 0, false
		}
		i++
		frac = len(text) - i
		for ; i < len(text); i++ {
			c := text[i] - '0'
			if c > 9 {
				return 0, false
			}
			mant = mant*10 + uint64(c)
		}
	}
	if digits+frac == 0 || mant >= 1<<53 {
		return 0, false
	}
	f := float64(mant)
	if frac > 0 {
		f /= floatPow10[frac]
	}
	if neg {
		f = -f
	}
	return f, true
}

// ParseDecimal reads a number exactly. n is the number of bytes read. Errors as
// ParseInt64, and ErrRange when the exponent is beyond decimal.MaxScale or the
// text is NaN or infinite. The scale is the number of digits after the point.
func (m *NumberMask) ParseDecimal(text []byte) (v decimal.Decimal, n int, err error) {
	var buf [digitsBuffer]byte
	s := scannedNumber{digits: buf[:0]}
	s.keepZeros = true
	n, err = m.scan(text, &s)
	if err != nil {
		return decimal.Decimal{}, n, err
	}
	if s.nan || s.infinite {
		return decimal.Decimal{}, n, m.fail(text, 0, ErrRange)
	}
	if v, err = s.decimal(); err != nil {
		return decimal.Decimal{}, n, m.fail(text, 0, ErrRange)
	}
	if m.multiplier != 1 {
		if v, err = v.Quo(decimal.FromInt64(m.multiplier), 0, m.rounding); err != nil {
			return decimal.Decimal{}, n, m.fail(text, 0, ErrRange)
		}
	}
	return v, n, nil
}

// scannedNumber is a parsed number: ±0.digits × 10^point.
type scannedNumber struct {
	neg, nan, infinite bool
	keepZeros          bool // keep the trailing zeros, they are the scale
	digits             []byte
	point              int
}

func (s *scannedNumber) uint64() (uint64, bool) {
	var v uint64
	for i := range s.point {
		c := uint64(0)
		if i < len(s.digits) {
			c = uint64(s.digits[i] - '0')
		}
		if v > (math.MaxUint64-c)/10 {
			return 0, false
		}
		v = v*10 + c
	}
	return v, true
}

func (m *NumberMask) float(s *scannedNumber) float64 {
	var f float64
	switch {
	case s.nan:
		return math.NaN()
	case s.infinite:
		f = math.Inf(1)
	case len(s.digits) > 0:
		var buf [64]byte
		b := append(buf[:0], '.')
		b = append(append(b, s.digits...), 'e')
		f, _ = strconv.ParseFloat(string(strconv.AppendInt(b, int64(s.point), 10)), 64) // ±Inf on overflow, as Java
	}
	f /= float64(m.multiplier)
	if s.neg {
		f = -f
	}
	return f
}

func (s *scannedNumber) decimal() (decimal.Decimal, error) {
	if len(s.digits) == 0 {
		return decimal.Parse(strconv.AppendInt([]byte("0E"), int64(s.point), 10))
	}
	b := make([]byte, 0, len(s.digits)+24)
	if s.neg {
		b = append(b, '-')
	}
	b = append(append(b, s.digits...), 'E')
	return decimal.Parse(strconv.AppendInt(b, int64(s.point)-int64(len(s.digits)), 10))
}

// scan reads prefix, number and suffix by the rules of DecimalFormat.parse.
func (m *NumberMask) scan(text []byte, s *scannedNumber) (int, error) {
	if bytes.HasPrefix(text, []byte(nanText)) {
		s.nan = true
		return m.finish(text, len(nanText))
	}
	pos, neg := hasPrefix(text, m.posPrefix), hasPrefix(text, m.negPrefix)
	if pos && neg {
		pos, neg = len(m.posPrefix) >= len(m.negPrefix), len(m.posPrefix) <= len(m.negPrefix)
	}
	at := 0
	switch {
	case pos:
		at = len(m.posPrefix)
	case neg:
		at = len(m.negPrefix)
	default:
		return 0, m.fail(text, 0, ErrSyntax)
	}
	end, ok := m.scanDigits(text, at, s)
	if !ok {
		return 0, m.fail(text, at, ErrSyntax)
	}
	pos, neg = pos && hasPrefix(text[end:], m.posSuffix), neg && hasPrefix(text[end:], m.negSuffix)
	if pos && neg {
		pos, neg = len(m.posSuffix) > len(m.negSuffix), len(m.posSuffix) < len(m.negSuffix)
	}
	switch {
	case pos == neg:
		return 0, m.fail(text, end, ErrSyntax)
	case pos:
		end += len(m.posSuffix)
	default:
		end += len(m.negSuffix)
	}
	s.neg = neg
	return m.finish(text, end)
}

func (m *NumberMask) finish(text []byte, end int) (int, error) {
	if end < len(text) && !m.lenient {
		return end, m.fail(text, end, ErrTrailing)
	}
	return end, nil
}

func hasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

// scanDigits reads digits, grouping signs, a point and an exponent from at on.
func (m *NumberMask) scanDigits(text []byte, at int, s *scannedNumber) (end int, ok bool) {
	if hasPrefix(text[at:], infinityText) {
		s.infinite = true
		return at + len(infinityText), true
	}
	s.digits, s.point = s.digits[:0], 0
	sawDigit, sawPoint, group, exp := false, false, -1, 0
	intDigits := 0
	for at < len(text) {
		if digit, width := digitAt(text[at:]); width > 0 {
			sawDigit, group = true, -1
			at += width
			switch {
			case digit != 0 || len(s.digits) > 0:
				s.digits = append(s.digits, '0'+digit)
				if !sawPoint {
					intDigits++
				}
			case sawPoint:
				intDigits--
			}
			continue
		}
		rest := text[at:]
		switch {
		case bytes.HasPrefix(rest, m.point):
			if sawPoint {
				goto done
			}
			sawPoint = true
			at += len(m.point)
		case m.groupSize > 0 && bytes.HasPrefix(rest, m.group):
			if sawPoint {
				goto done
			}
			group = at
			at += len(m.group)
		case rest[0] == 'E':
			if e, width := exponentAt(rest[1:]); width > 0 {
				exp = e
				at += 1 + width
			}
			goto done
		default:
			goto done
		}
	}
done:
	if group >= 0 {
		at = group // a grouping sign must be followed by a digit
	}
	s.settle(intDigits, exp)
	return at, sawDigit
}

// settle fixes the point and drops trailing zeros that carry nothing.
func (s *scannedNumber) settle(point, exp int) {
	s.point = point + exp
	if s.keepZeros {
		return
	}
	for len(s.digits) > 0 && s.digits[len(s.digits)-1] == '0' {
		s.digits = s.digits[:len(s.digits)-1]
	}
}

// maxExponent is where exponents stop; Java wraps around beyond int.
const maxExponent = math.MaxInt32 / 2

// exponentAt reads an optionally negative integer; width 0 when there is none.
func exponentAt(text []byte) (exp, width int) {
	neg := len(text) > 0 && text[0] == '-'
	at := 0
	if neg {
		at = 1
	}
	start := at
	for at < len(text) {
		digit, n := digitAt(text[at:])
		if n == 0 {
			break
		}
		exp = min(exp*10+int(digit), maxExponent)
		at += n
	}
	if at == start {
		return 0, 0
	}
	if neg {
		exp = -exp
	}
	return exp, at
}

// digitAt returns the decimal digit, of any script in the basic plane, that
// text begins with; width 0 when there is none.
func digitAt(text []byte) (digit byte, width int) {
	c := text[0]
	if c < utf8.RuneSelf {
		if c -= '0'; c <= 9 {
			return c, 1
		}
		return 0, 0
	}
	r, n := utf8.DecodeRune(text)
	for _, rng := range unicode.Nd.R16 {
		if uint32(r) >= uint32(rng.Lo) && uint32(r) <= uint32(rng.Hi) {
			return byte((uint32(r) - uint32(rng.Lo)) % 10), n
		}
	}
	return 0, 0
}
