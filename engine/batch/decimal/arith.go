package decimal

import (
	"math/big"
	"math/bits"
)

// Add returns d + e exactly, with the larger of both scales. The only error is
// ErrRange, when the scales are more than MaxScale apart.
func (d Decimal) Add(e Decimal) (Decimal, error) {
	d, e, err := align(d, e)
	if err != nil {
		return Decimal{}, err
	}
	if d.big == nil && e.big == nil {
		lo, carry := bits.Add64(d.lo, e.lo, 0)
		hi := int64(uint64(d.hi) + uint64(e.hi) + carry)
		if overflowed := (d.hi^hi)&(e.hi^hi) < 0; !overflowed {
			return Decimal{hi: hi, lo: lo, scale: d.scale}, nil
		}
	}
	return newBig(new(big.Int).Add(d.unscaled(), e.unscaled()), d.scale), nil
}

// Sub returns d - e exactly, with the larger of both scales; errors as Add.
func (d Decimal) Sub(e Decimal) (Decimal, error) { return d.Add(e.Neg()) }

// Mul returns d × e exactly; its scale is the sum of both. The only error is
// ErrRange, when that sum leaves ±MaxScale.
func (d Decimal) Mul(e Decimal) (Decimal, error) {
	scale, err := checkScale(int64(d.scale) + int64(e.scale))
	if err != nil {
		return Decimal{}, err
	}
	if d.big == nil && e.big == nil {
		if m, ok := d.magnitude().mul(e.magnitude()); ok {
			if r, ok := fromMagnitude(d.hi < 0 != (e.hi < 0), m, scale); ok {
				return r, nil
			}
		}
	}
	return newBig(new(big.Int).Mul(d.unscaled(), e.unscaled()), scale), nil
}

// Cmp compares the numbers, not their scales: -1 when d < e, 0 or +1.
func (d Decimal) Cmp(e Decimal) int {
	s, t := d.Sign(), e.Sign()
	switch {
	case s != t:
		if s < t {
			return -1
		}
		return 1
	case s == 0:
		return 0
	}
	if d.scale != e.scale {
		// Magnitudes first: aligning 1E+9000 and 1 would build 9001 digits.
		if p, q := d.exponent(), e.exponent(); p != q {
			if p < q {
				return -s
			}
			return s
		}
		d, e = mustAlign(d, e)
	}
	if d.big == nil && e.big == nil {
		if d.hi != e.hi {
			if d.hi < e.hi {
				return -1
			}
			return 1
		}
		return u128{0, d.lo}.cmp(u128{0, e.lo})
	}
	return d.unscaled().Cmp(e.unscaled())
}

// exponent is the position of the leading digit: 1 for 1…9.
func (d Decimal) exponent() int { return d.Precision() - int(d.scale) }

// align gives both numbers the larger scale.
func align(d, e Decimal) (Decimal, Decimal, error) {
	if diff := int64(d.scale) - int64(e.scale); diff > MaxScale || diff < -MaxScale {
		return d, e, ErrRange
	}
	d, e = mustAlign(d, e)
	return d, e, nil
}

func mustAlign(d, e Decimal) (Decimal, Decimal) {
	switch {
	case d.scale < e.scale:
		d = d.widen(e.scale)
	case d.scale > e.scale:
		e = e.widen(d.scale)
	}
	return d, e
}

// widen raises the scale, which never loses digits.
func (d Decimal) widen(scale int32) Decimal {
	n := int(scale) - int(d.scale)
	if d.IsZero() {
		return Decimal{scale: scale}
	}
	if d.big == nil && n <= pow10Words {
		if m, ok := d.magnitude().mul(pow10u128[n]); ok {
			if r, ok := fromMagnitude(d.hi < 0, m, scale); ok {
				return r
			}
		}
	}
	return newBig(scaleUp(d.unscaled(), n), scale)
}

// Rescale returns d with the given scale, rounding when digits are dropped.
// Errors: ErrInexact when rounding is Unnecessary and digits would be lost,
// ErrRange when scale is beyond ±MaxScale. Java calls it setScale.
func (d Decimal) Rescale(scale int32, r Rounding) (Decimal, error) {
	if _, err := checkScale(int64(scale)); err != nil {
		return Decimal{}, err
	}
	if scale >= d.scale {
		return d.widen(scale), nil
	}
	return d.dropDigits(int(d.scale)-int(scale), r)
}

// dropDigits divides the unscaled value by 10^n and lowers the scale by n.
func (d Decimal) dropDigits(n int, r Rounding) (Decimal, error) {
	scale, err := checkScale(int64(d.scale) - int64(n))
	if err != nil {
		return Decimal{}, err
	}
	if d.big == nil && n <= pow10Words {
		by := pow10u128[n]
		q, rem := d.magnitude().div(by)
		up, err := r.roundsUp(tail{neg: d.hi < 0, odd: q.lo&1 != 0, zero: rem.isZero(), half: rem.cmp(by.sub(rem))})
		if err != nil {
			return Decimal{}, err
		}
		if up {
			q = q.inc()
		}
		if res, ok := fromMagnitude(d.hi < 0, q, scale); ok {
			return res, nil
		}
	}
	q, err := quoBig(d.unscaled(), bigPow10(n), r)
	if err != nil {
		return Decimal{}, err
	}
	return newBig(q, scale), nil
}

// tail describes what lies behind the last kept digit.
type tail struct {
	neg  bool // the number is negative
	odd  bool // the last kept digit is odd
	zero bool // nothing is dropped
	half int  // the dropped part compared with one half
}

func (r Rounding) roundsUp(t tail) (bool, error) {
	if t.zero {
		return false, nil
	}
	switch r {
	case Unnecessary:
		return false, ErrInexact
	case Up:
		return true, nil
	case Down:
		return false, nil
	case Ceiling:
		return !t.neg, nil
	case Floor:
		return t.neg, nil
	}
	if t.half != 0 {
		return t.half > 0, nil
	}
	switch r {
	case HalfUp:
		return true, nil
	case HalfDown:
		return false, nil
	case HalfCeiling:
		return !t.neg, nil
	}
	return t.odd, nil
}

// quoBig returns a/b rounded to an integer as a new value.
func quoBig(a, b *big.Int, r Rounding) (*big.Int, error) {
	q, rem := new(big.Int).QuoRem(a, b, new(big.Int))
	neg := a.Sign() < 0 != (b.Sign() < 0)
	t := tail{neg: neg, odd: q.Bit(0) != 0, zero: rem.Sign() == 0}
	t.half = rem.Lsh(rem, 1).CmpAbs(b)
	up, err := r.roundsUp(t)
	if err != nil {
		return nil, err
	}
	if up && neg {
		q.Sub(q, big.NewInt(1))
	} else if up {
		q.Add(q, big.NewInt(1))
	}
	return q, nil
}

// Round returns d with at most precision digits; precision 0 keeps all. The
// scale shrinks by the digits dropped. Errors as Rescale. Java calls it
// round(MathContext).
func (d Decimal) Round(precision int, r Rounding) (Decimal, error) {
	if precision <= 0 {
		return d, nil
	}
	for { // twice when rounding 99… adds a digit
		drop := d.Precision() - precision
		if drop <= 0 {
			return d, nil
		}
		var err error
		if d, err = d.dropDigits(drop, r); err != nil {
			return Decimal{}, err
		}
	}
}

// Strip removes trailing zeros of the unscaled value; zero becomes 0 with
// scale 0. Java calls it stripTrailingZeros.
func (d Decimal) Strip() Decimal {
	if d.IsZero() {
		return Decimal{}
	}
	return d.stripTo(-MaxScale)
}

// stripTo removes trailing zeros while the scale stays at least minScale.
func (d Decimal) stripTo(minScale int64) Decimal {
	if d.big == nil {
		m := d.magnitude()
		for int64(d.scale) > minScale && !m.isZero() {
			q, rem := m.div64(10)
			if rem != 0 {
				break
			}
			m = q
			d.scale--
		}
		r, _ := fromMagnitude(d.hi < 0, m, d.scale)
		return r
	}
	step, v, scale := 1<<16, d.big, d.scale
	for step > 0 && int64(scale) > minScale {
		q, rem := new(big.Int), new(big.Int)
		if int64(scale)-int64(step) >= minScale && v.BitLen() > step*3 {
			if q.QuoRem(v, bigPow10(step), rem); rem.Sign() == 0 {
				v, scale = q, scale-int32(step)
				continue
			}
		}
		step >>= 1
	}
	return newBig(v, scale)
}
