package mask

import (
	"math"
	"math/big"
	"strconv"

	"sluice/engine/batch/decimal"
)

// digitList is an absolute number as significant digits: 0.d1d2d3… × 10^point.
type digitList struct {
	buf   [40]byte
	d     []byte // ASCII digits, no leading zeros; empty is zero
	point int
	// beyond tells how the true value compares with the digits: a float's
	// shortest digits are rarely its exact value.
	beyond int
}

func (l *digitList) trim() {
	for len(l.d) > 0 && l.d[len(l.d)-1] == '0' {
		l.d = l.d[:len(l.d)-1]
	}
	if len(l.d) == 0 {
		l.point = 0
	}
}

func (l *digitList) setUint64(v uint64) {
	l.d = l.buf[:0]
	if v != 0 {
		l.d = strconv.AppendUint(l.d, v, 10)
	}
	l.point = len(l.d)
	l.trim()
}

// setFloat takes the shortest digits of v, which is finite and not negative.
func (l *digitList) setFloat(v float64) {
	l.d = l.buf[:0]
	if v == 0 {
		l.point = 0
		return
	}
	b := strconv.AppendFloat(l.d, v, 'e', -1, 64)
	e := len(b) - 1
	for b[e] != 'e' {
		e--
	}
	exp, _ := strconv.Atoi(string(b[e+1:]))
	if e > 1 { // d.ddd: close the gap of the point
		copy(b[1:], b[2:e])
		e--
	}
	l.d, l.point = b[:e], exp+1
	l.trim()
}

func (l *digitList) setDecimal(v decimal.Decimal) {
	l.d = l.buf[:0]
	if v.IsZero() {
		l.point = 0
		return
	}
	l.d = v.AppendDigits(l.d)
	l.point = len(l.d) - int(v.Scale())
	l.trim()
}

// compareFloat sets beyond for the digits of v.
func (l *digitList) compareFloat(v float64) {
	exact, err := decimal.FromFloat64Exact(v)
	if err != nil {
		return
	}
	u, _ := new(big.Int).SetString(string(l.d), 10)
	l.beyond = exact.Cmp(decimal.FromBig(u, int32(len(l.d)-l.point)))
}

// round keeps n digits (n may be negative) of the number ±l. v is the float the
// digits come from, or NaN when they are exact.
func (l *digitList) round(n int, neg bool, r decimal.Rounding, v float64) error {
	if n >= len(l.d) {
		return nil
	}
	if n < 0 {
		// Java drops a number this far below the last digit in every mode but
		// UNNECESSARY, even in UP.
		if r == decimal.Unnecessary && len(l.d) > 0 {
			return ErrInexact
		}
		l.d, l.point = l.d[:0], 0
		return nil
	}
	up, err := l.roundsUp(n, neg, r, v)
	if err != nil {
		return err
	}
	l.d = l.d[:n]
	if up {
		l.increment()
	}
	l.trim()
	return nil
}

func (l *digitList) increment() {
	i := len(l.d) - 1
	for i >= 0 && l.d[i] == '9' {
		i--
	}
	if i < 0 {
		l.d = append(l.d[:0], '1')
		l.point++
		return
	}
	l.d[i]++
	l.d = l.d[:i+1]
}

// roundsUp decides by the digits from n on, which are not all zero.
func (l *digitList) roundsUp(n int, neg bool, r decimal.Rounding, v float64) (bool, error) {
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
		if l.compareFloat(v); l.beyond != 0 {
			return l.beyond > 0, nil
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
