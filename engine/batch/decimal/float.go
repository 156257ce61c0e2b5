package decimal

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// FromFloat64 returns the shortest decimal that reads back as v, with at least
// one digit after the point as Java's BigDecimal.valueOf(double): 5 is 5.0.
// ErrRange when v is not finite.
func FromFloat64(v float64) (Decimal, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Decimal{}, ErrRange
	}
	var buf [32]byte
	d, err := Parse(strconv.AppendFloat(buf[:0], v, 'e', -1, 64))
	if err != nil {
		return Decimal{}, err
	}
	if d.IsZero() {
		return Decimal{scale: 1}, nil
	}
	// Java writes d.d…E±n outside 10^-3 … 10^7, where the fraction keeps one digit.
	if a := math.Abs(v); a >= 1e-3 && a < 1e7 {
		if d.scale < 1 {
			return d.widen(1), nil
		}
		return d, nil
	}
	if d.Precision() == 1 {
		if d, err = Parse(strconv.AppendFloat(buf[:0], v, 'e', 1, 64)); err != nil {
			return Decimal{}, err
		}
	}
	return d, nil
}

// FromFloat64Exact returns the exact binary value of v, as Java's
// new BigDecimal(double): 0.1 has 55 digits. ErrRange when v is not finite.
func FromFloat64Exact(v float64) (Decimal, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Decimal{}, ErrRange
	}
	frac, exp := math.Frexp(math.Abs(v))
	m := uint64(frac * (1 << 53))
	exp -= 53
	if m == 0 {
		return Decimal{}, nil
	}
	zeros := bits.TrailingZeros64(m)
	m >>= zeros
	exp += zeros
	u := new(big.Int).SetUint64(m)
	scale := int32(0)
	if exp >= 0 {
		u.Lsh(u, uint(exp))
	} else {
		// m / 2^n = m·5^n / 10^n
		u.Mul(u, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(-exp)), nil))
		scale = int32(-exp)
	}
	if v < 0 {
		u.Neg(u)
	}
	return newBig(u, scale), nil
}

// exactPow10 holds the powers of ten that a float64 represents exactly.
var exactPow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Float64 returns the nearest float64, half to even; ±Inf beyond its range.
func (d Decimal) Float64() float64 {
	if d.big == nil {
		if m := d.magnitude(); m.hi == 0 && m.lo < 1<<53 && d.scale >= -22 && d.scale <= 22 {
			f := float64(m.lo)
			if d.hi < 0 {
				f = -f
			}
			if d.scale >= 0 {
				return f / exactPow10[d.scale]
			}
			return f * exactPow10[-d.scale]
		}
	}
	var buf [64]byte
	b := strconv.AppendInt(append(d.AppendDigits(d.appendSign(buf[:0])), 'e'), -int64(d.scale), 10)
	f, _ := strconv.ParseFloat(string(b), 64) // a range error comes with ±Inf
	return f
}

// Int64 returns the integer part of d, cut toward zero. ok is false when it does
// not fit; v is then the low 64 bits, as Java's longValue.
func (d Decimal) Int64() (v int64, ok bool) {
	if d.exponent() <= 0 {
		return 0, true
	}
	if d.scale < 0 && d.exponent() > 2*pow10Words {
		// At least 64 factors of two: the low bits are zero without computing.
		if d.scale <= -64 {
			return 0, d.IsZero()
		}
	}
	t, err := d.Rescale(0, Down)
	if err != nil {
		return 0, false
	}
	if t.big != nil {
		low := new(big.Int).And(t.big, new(big.Int).SetUint64(math.MaxUint64))
		return int64(low.Uint64()), false
	}
	return int64(t.lo), t.hi == int64(t.lo)>>63
}
