package decimal

import "math/big"

// Quo returns d / e rounded to precision digits, as Java's
// divide(divisor, MathContext): an exact quotient loses trailing zeros as far as
// the scale stays at least scale(d) - scale(e). Precision 0 asks for the exact
// quotient. Errors: ErrDivideByZero; ErrInexact when the quotient has no end
// (precision 0) or rounding is Unnecessary; ErrRange.
func (d Decimal) Quo(e Decimal, precision int, r Rounding) (Decimal, error) {
	if e.IsZero() {
		return Decimal{}, ErrDivideByZero
	}
	preferred := int64(d.scale) - int64(e.scale)
	if d.IsZero() {
		return Decimal{scale: clampScale(preferred)}, nil
	}
	if precision <= 0 {
		// A terminating quotient has at most this many digits (Java's bound).
		precision = d.Precision() + (10*e.Precision()+2)/3
		r = Unnecessary
	}
	// One digit more than asked for, or two: what follows is then less than half.
	scale := preferred + 1 + int64(precision) + int64(e.Precision()) - int64(d.Precision())
	q, rem, err := d.quoRemAt(e, scale)
	if err != nil {
		return Decimal{}, err
	}
	res := newBig(q, 0)
	res.scale, err = checkScale(scale)
	if err != nil {
		return Decimal{}, err
	}
	if rem.Sign() == 0 {
		if res, err = res.Round(precision, r); err != nil {
			return Decimal{}, err
		}
		return res.stripTo(preferred), nil
	}
	if r == Unnecessary {
		return Decimal{}, ErrInexact
	}
	return res.roundSticky(precision, d.Sign()*e.Sign() < 0, r)
}

// roundSticky rounds a truncated quotient that has more digits behind it: two
// more digits, the last one 1, stand for the rest.
func (d Decimal) roundSticky(precision int, neg bool, r Rounding) (Decimal, error) {
	v := new(big.Int).Mul(d.unscaled(), big.NewInt(100))
	if neg {
		v.Sub(v, big.NewInt(1))
	} else {
		v.Add(v, big.NewInt(1))
	}
	scale, err := checkScale(int64(d.scale) + 2)
	if err != nil {
		return Decimal{}, err
	}
	res, err := newBig(v, scale).Round(precision, r)
	if err != nil {
		return Decimal{}, err
	}
	return res, nil
}

// QuoDecimal128 is Quo with 34 digits, half to even: MathContext.DECIMAL128.
func (d Decimal) QuoDecimal128(e Decimal) (Decimal, error) {
	return d.Quo(e, Decimal128Precision, HalfEven)
}

// QuoScale returns d / e with exactly the given scale, as Java's
// divide(divisor, scale, rounding). Errors as Quo.
func (d Decimal) QuoScale(e Decimal, scale int32, r Rounding) (Decimal, error) {
	if e.IsZero() {
		return Decimal{}, ErrDivideByZero
	}
	if _, err := checkScale(int64(scale)); err != nil {
		return Decimal{}, err
	}
	num, den, err := d.fraction(e, int64(scale))
	if err != nil {
		return Decimal{}, err
	}
	q, err := quoBig(num, den, r)
	if err != nil {
		return Decimal{}, err
	}
	return newBig(q, scale), nil
}

// fraction returns num/den, whose integer quotient is d/e at the given scale.
func (d Decimal) fraction(e Decimal, scale int64) (num, den *big.Int, err error) {
	shift := scale - int64(d.scale) + int64(e.scale)
	if shift > 4*MaxScale || shift < -4*MaxScale {
		return nil, nil, ErrRange
	}
	num, den = d.unscaled(), e.unscaled()
	if shift >= 0 {
		return scaleUp(num, int(shift)), den, nil
	}
	return num, scaleUp(den, int(-shift)), nil
}

// quoRemAt truncates d/e to the given scale.
func (d Decimal) quoRemAt(e Decimal, scale int64) (q, rem *big.Int, err error) {
	num, den, err := d.fraction(e, scale)
	if err != nil {
		return nil, nil, err
	}
	q, rem = new(big.Int).QuoRem(num, den, new(big.Int))
	return q, rem, nil
}

// QuoInt returns the integer part of d / e (Java's divideToIntegralValue): its
// scale is as near as possible to scale(d) - scale(e). Errors as Quo.
func (d Decimal) QuoInt(e Decimal) (Decimal, error) {
	if e.IsZero() {
		return Decimal{}, ErrDivideByZero
	}
	preferred := int64(clampScale(int64(d.scale) - int64(e.scale)))
	if d.IsZero() || d.exponent() < e.exponent() {
		return Decimal{scale: int32(preferred)}, nil
	}
	q, _, err := d.quoRemAt(e, 0)
	if err != nil {
		return Decimal{}, err
	}
	res := newBig(q, 0)
	if res.IsZero() || preferred >= 0 {
		return res.Rescale(int32(preferred), Unnecessary)
	}
	return res.stripTo(preferred), nil
}

// Rem returns d - e × (integer part of d / e); its sign is that of d. Errors as Quo.
func (d Decimal) Rem(e Decimal) (Decimal, error) {
	if e.IsZero() {
		return Decimal{}, ErrDivideByZero
	}
	if d.big == nil && e.big == nil && d.scale == e.scale {
		_, m := d.magnitude().div(e.magnitude())
		r, _ := fromMagnitude(d.hi < 0, m, d.scale)
		return r, nil
	}
	q, err := d.QuoInt(e)
	if err != nil {
		return Decimal{}, err
	}
	p, err := q.Mul(e)
	if err != nil {
		return Decimal{}, err
	}
	return d.Sub(p)
}

// Sqrt returns the square root rounded to precision digits (0 is 34). The
// root loses trailing zeros as far as its scale stays at least half of d's.
// Errors: ErrNegativeRoot, ErrInexact (rounding Unnecessary), ErrRange.
func (d Decimal) Sqrt(precision int, r Rounding) (Decimal, error) {
	preferred := int64(d.scale) / 2
	switch d.Sign() {
	case -1:
		return Decimal{}, ErrNegativeRoot
	case 0:
		return Decimal{scale: int32(preferred)}, nil
	}
	if precision <= 0 {
		precision = Decimal128Precision
	}
	// Radicand × 10^(2·scale) must have at least 2·(precision+1) digits.
	scale := int64(precision) + 2 - int64(d.exponent())/2
	if least := (int64(d.scale) + 1) / 2; scale < least {
		scale = least
	}
	shift := 2*scale - int64(d.scale)
	if shift > 4*MaxScale {
		return Decimal{}, ErrRange
	}
	radicand := scaleUp(d.unscaled(), int(shift))
	root := new(big.Int).Sqrt(radicand)
	exact := new(big.Int).Mul(root, root).Cmp(radicand) == 0
	s, err := checkScale(scale)
	if err != nil {
		return Decimal{}, err
	}
	res := newBig(root, s)
	if !exact {
		if r == Unnecessary {
			return Decimal{}, ErrInexact
		}
		res, err = res.roundSticky(precision, false, r)
	} else {
		res, err = res.stripTo(preferred).Round(precision, r)
	}
	if err != nil {
		return Decimal{}, err
	}
	return res.stripTo(preferred), nil
}

func clampScale(scale int64) int32 {
	return int32(max(-MaxScale, min(MaxScale, scale)))
}
