package mask

import (
	"math"
	"strconv"

	"sluice/engine/batch/decimal"
)

// AppendInt64 appends v. The only error is ErrInexact, when the mask's exponent
// form would drop digits and the rounding is decimal.Unnecessary.
func (m *NumberMask) AppendInt64(dst []byte, v int64) ([]byte, error) {
	if !m.fastFormat {
		if m.multiplier != 1 {
			return m.AppendDecimal(dst, decimal.FromInt64(v))
		}
		var buf [digitsBuffer]byte
		l := uintDigits(buf[:], absInt64(v))
		return m.appendDigits(dst, l, v < 0, math.NaN())
	}
	prefix, suffix := m.posPrefix, m.posSuffix
	if v < 0 {
		prefix, suffix = m.negPrefix, m.negSuffix
	}
	dst = append(dst, prefix...)
	dst = m.appendFixed(dst, absInt64(v), 0)
	return append(dst, suffix...), nil
}

// absInt64 is right for the smallest int64 too.
func absInt64(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// appendFixed appends n / 10^frac with the mask's digit counts; n has no digit
// beyond what the mask shows and frac ≤ maxFrac.
func (m *NumberMask) appendFixed(dst []byte, n uint64, frac int) []byte {
	var buf [24]byte
	whole, part := n, uint64(0)
	if frac > 0 {
		by := uintPow10[frac]
		whole = n / by
		part = n - whole*by
		for frac > m.minFrac && part%10 == 0 {
			part /= 10
			frac--
		}
	}
	i := len(buf)
	for ; whole >= 100; whole /= 100 {
		i -= 2
		p := whole % 100 * 2
		buf[i], buf[i+1] = digitPairs[p], digitPairs[p+1]
	}
	if whole >= 10 {
		i -= 2
		buf[i], buf[i+1] = digitPairs[whole*2], digitPairs[whole*2+1]
	} else if whole != 0 {
		i--
		buf[i] = byte('0' + whole)
	}
	for pad := m.minInt - (len(buf) - i); pad > 0; pad-- {
		dst = append(dst, '0')
	}
	if i == len(buf) && m.minInt == 0 && frac == 0 && m.minFrac == 0 {
		dst = append(dst, '0')
	}
	dst = append(dst, buf[i:]...)
	if frac == 0 && m.minFrac == 0 {
		if m.pointAlways {
			dst = append(dst, m.point...)
		}
		return dst
	}
	dst = append(dst, m.point...)
	for j := frac; j > 0; j-- {
		buf[j-1] = byte('0' + part%10)
		part /= 10
	}
	dst = append(dst, buf[:frac]...)
	for ; frac < m.minFrac; frac++ {
		dst = append(dst, '0')
	}
	return dst
}

// AppendFloat64 appends v. Digits are the shortest that read back as v; ties are
// decided by the exact binary value. The only error is ErrInexact, when digits
// would be lost and the rounding is decimal.Unnecessary.
func (m *NumberMask) AppendFloat64(dst []byte, v float64) ([]byte, error) {
	if m.fastFormat && m.rounding == decimal.HalfEven {
		if n, frac, ok := roundScaled(math.Abs(v), m.maxFrac); ok {
			prefix, suffix := m.posPrefix, m.posSuffix
			if math.Signbit(v) {
				prefix, suffix = m.negPrefix, m.negSuffix
			}
			dst = append(dst, prefix...)
			dst = m.appendFixed(dst, n, frac)
			return append(dst, suffix...), nil
		}
	}
	return m.appendFloatSlow(dst, v)
}

// roundScaled returns n = v × 10^frac rounded half to even by the exact value of
// v. It answers only when n has at most 15 digits, so that n's digits are also
// v's shortest ones; frac is maxFrac, or less when v has no further digits.
func roundScaled(v float64, maxFrac int) (n uint64, frac int, ok bool) {
	if !(v < 1e15) {
		return 0, 0, false
	}
	frac = maxFrac
	if t := uint64(v); float64(t) == v {
		return t, 0, true
	}
	if frac >= len(uintPow10) {
		return 0, 0, false
	}
	p := v * floatPow10[frac]
	if p < 1e15 {
		rest := math.FMA(v, floatPow10[frac], -p) // p + rest is exact
		n = uint64(p)
		over := p - float64(n) - 0.5 // exact when near zero
		if over > -rest || over == -rest && n&1 != 0 {
			n++
		}
		return n, frac, true
	}
	// Too many digits for the whole fraction: try those that 15 digits allow.
	for frac > 0 && v*floatPow10[frac] >= 1e15 {
		frac--
	}
	n = uint64(v*floatPow10[frac] + 0.5)
	return n, frac, n < 1e15 && float64(n)/floatPow10[frac] == v
}

func (m *NumberMask) appendFloatSlow(dst []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) {
		return append(dst, nanText...), nil
	}
	if m.multiplier != 1 {
		v *= float64(m.multiplier)
	}
	neg, abs := math.Signbit(v), math.Abs(v)
	if math.IsInf(v, 0) {
		return m.wrap(dst, neg, infinityText), nil
	}
	var buf [digitsBuffer]byte
	l := floatDigits(buf[:], abs)
	return m.appendDigits(dst, l, neg, abs)
}

func (m *NumberMask) wrap(dst []byte, neg bool, text string) []byte {
	if neg {
		return append(append(append(dst, m.negPrefix...), text...), m.negSuffix...)
	}
	return append(append(append(dst, m.posPrefix...), text...), m.posSuffix...)
}

// AppendDecimal appends v; error as AppendFloat64.
func (m *NumberMask) AppendDecimal(dst []byte, v decimal.Decimal) ([]byte, error) {
	if m.multiplier != 1 {
		p, err := v.Mul(decimal.FromInt64(m.multiplier))
		if err != nil {
			return dst, err
		}
		v = p
	}
	var buf [digitsBuffer]byte
	l := decimalDigits(buf[:], v)
	return m.appendDigits(dst, l, v.Sign() < 0, math.NaN())
}

// appendDigits rounds l and lays it out. On an error dst is returned unchanged.
func (m *NumberMask) appendDigits(dst []byte, l digitList, neg bool, v float64) ([]byte, error) {
	keep := l.point + m.maxFrac
	if m.minExp > 0 {
		keep = m.maxInt + m.maxFrac
	}
	// Java keeps all digits when an exponent mask shows none (E0 after only '.').
	if m.minExp == 0 || keep > 0 {
		var err error
		if l, err = l.round(keep, neg, m.rounding, v); err != nil {
			return dst, err
		}
	}
	prefix, suffix := m.posPrefix, m.posSuffix
	if neg {
		prefix, suffix = m.negPrefix, m.negSuffix
	}
	dst = append(dst, prefix...)
	if m.minExp > 0 {
		dst = m.appendScientific(dst, l)
	} else {
		dst = m.appendPlain(dst, l)
	}
	return append(dst, suffix...), nil
}

func (m *NumberMask) appendPlain(dst []byte, l digitList) []byte {
	count := max(m.minInt, l.point)
	next := 0
	for i := count - 1; i >= 0; i-- {
		c := byte('0')
		if i < l.point && next < len(l.d) {
			c = l.d[next]
			next++
		}
		dst = append(dst, c)
		if m.groupSize > 0 && i > 0 && i%m.groupSize == 0 {
			dst = append(dst, m.group...)
		}
	}
	fraction := m.minFrac > 0 || next < len(l.d)
	if !fraction && count <= 0 {
		dst = append(dst, '0')
	}
	if m.pointAlways || fraction {
		dst = append(dst, m.point...)
	}
	for i := 0; i < m.maxFrac && (i < m.minFrac || next < len(l.d)); i++ {
		if i < -l.point || next >= len(l.d) {
			dst = append(dst, '0')
			continue
		}
		dst = append(dst, l.d[next])
		next++
	}
	return dst
}

func (m *NumberMask) appendScientific(dst []byte, l digitList) []byte {
	exp, minInt := l.point, m.minInt
	if repeat := m.maxInt; repeat > 1 && repeat > m.minInt {
		// Engineering form: the exponent is a multiple of the digits in the mask.
		if exp >= 1 {
			exp = (exp - 1) / repeat * repeat
		} else {
			exp = (exp - repeat) / repeat * repeat
		}
		minInt = 1
	} else {
		exp -= minInt
	}
	whole := l.point - exp
	if len(l.d) == 0 {
		whole = minInt
	}
	total := max(len(l.d), m.minInt+m.minFrac, whole)
	for i := range total {
		if i == whole {
			dst = append(dst, m.point...)
		}
		if i < len(l.d) {
			dst = append(dst, l.d[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if m.pointAlways && total == whole {
		dst = append(dst, m.point...)
	}
	dst = append(dst, 'E')
	if exp < 0 && len(l.d) > 0 {
		dst = append(dst, '-')
		exp = -exp
	}
	if len(l.d) == 0 {
		exp = 0
	}
	var buf [8]byte
	b := strconv.AppendInt(buf[:0], int64(exp), 10)
	if exp == 0 {
		b = b[:0]
	}
	for i := len(b); i < m.minExp; i++ {
		dst = append(dst, '0')
	}
	return append(dst, b...)
}

var floatPow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

var uintPow10 = [...]uint64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"
