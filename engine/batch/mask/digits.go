package mask

import (
	"math"
	"math/big"
	"strconv"

	"sluice/engine/batch/decimal"
)

// digitsBuffer holds the digits of any float and of 128 bits.
const digitsBuffer = 40

// digitList is an absolute number as significant digits: 0.d1d2d3… × 10^point.
type digitList struct {
	d     []byte // ASCII digits in the caller's buffer, no leading zeros; empty is zero
	point int
}

// Methods return the list instead of changing it through a pointer: the
// caller's buffer then stays on the stack.
func (l digitList) trim() digitList {
	for len(l.d) > 0 && l.d[len(l.d)-1] == '0' {
		l.d = l.d[:len(l.d)-1]
	}
	if len(l.d) == 0 {
		l.point = 0
	}
	return l
}

func uintDigits(buf []byte, v uint64) digitList {
	l := digitList{d: buf[:0]}
	if v != 0 {
		l.d = strconv.AppendUint(l.d, v, 10)
	}
	l.point = len(l.d)
	return l.trim()
}

// floatDigits takes the shortest digits of v, which is finite and not negative.
func floatDigits(buf []byte, v float64) digitList {
	if v == 0 {
		return digitList{d: buf[:0]}
	}
	precision := -1
	if v < 1e-321 {
		precision = 1 // Java writes the smallest numbers with two digits: 4.9E-324
	}
	b := strconv.AppendFloat(buf[:0], v, 'e', precision, 64)
	e := len(b) - 1
	for b[e] != 'e' {
		e--
	}
	exp, _ := strconv.Atoi(string(b[e+1:]))
	if e > 1 { // d.ddd: close the gap of the point
		copy(b[1:], b[2:e])
		e--
	}
	return digitList{d: b[:e], point: exp + 1}.trim()
}

func decimalDigits(buf []byte, v decimal.Decimal) digitList {
	if v.IsZero() {
		return digitList{d: buf[:0]}
	}
	d := v.AppendDigits(buf[:0])
	return digitList{d: d, point: len(d) - int(v.Scale())}.trim()
}

// compareFloat tells how v compares with its digits: the shortest digits are
// rarely the exact value.
func (l digitList) compareFloat(v float64) int {
	exact, err := decimal.FromFloat64Exact(v)
	if err != nil {
		return 0
	}
	u, _ := new(big.Int).SetString(string(l.d), 10)
	return exact.Cmp(decimal.FromBig(u, int32(len(l.d)-l.point)))
}

// round keeps n digits (n may be negative) of the number ±l. v is the float the
// digits come from, or NaN when they are exact.
func (l digitList) round(n int, neg bool, r decimal.Rounding, v float64) (digitList, error) {
	if n >= len(l.d) {
		return l, nil
	}
	if n < 0 {
		// Java drops a number this far below the last digit in every mode, even
		// in UP and UNNECESSARY.
		return digitList{d: l.d[:0]}, nil
	}
	up, err := l.roundsUp(n, neg, r, v)
	if err != nil {
		return l, err
	}
	l.d = l.d[:n]
	if up {
		l = l.increment()
	}
	return l.trim(), nil
}

func (l digitList) increment() digitList {
	i := len(l.d) - 1
	for i >= 0 && l.d[i] == '9' {
		i--
	}
	if i < 0 {
		return digitList{d: append(l.d[:0], '1'), point: l.point + 1}
	}
	l.d[i]++
	l.d = l.d[:i+1]
	return l
}

// roundsUp decides by the digits from n on, which are not all zero.
func (l digitList) roundsUp(n int, neg bool, r decimal.Rounding, v float64) (bool, error) {
	switch r {
	case decimal.Unnecessary:
		return false, ErrInexact
	case decimal.Up:
		return true, nil
	case decimal.Down:
		return false, nil
	case decimal.Ceiling:
		return !neg, nil
	case decimal.Floor:
		return neg, nil
	}
	if l.d[n] != '5' {
		return l.d[n] > '5', nil
	}
	if n != len(l.d)-1 {
		return true, nil
	}
	if !math.IsNaN(v) {
		if c := l.compareFloat(v); c != 0 {
			return c > 0, nil
		}
	}
	switch r {
	case decimal.HalfUp:
		return true, nil
	case decimal.HalfDown:
		return false, nil
	case decimal.HalfCeiling:
		return !neg, nil
	}
	return n > 0 && (l.d[n-1]-'0')%2 != 0, nil
}
