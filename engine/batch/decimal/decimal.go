// Package decimal provides Decimal, an exact decimal number with the semantics
// of Java's BigDecimal: an unscaled integer and a scale, where the value is
// unscaled × 10^-scale and 1.0 and 1.00 are equal numbers of different scale.
//
// Values whose unscaled part fits 128 bits are plain words and cost no
// allocation; larger ones fall back to math/big by themselves. How numbers are
// shown under a mask is left to package mask.
package decimal

import (
	"errors"
	"math/big"
)

// Decimal is an immutable exact decimal number. The zero value is 0 with scale 0.
// It may be copied freely and used by many goroutines. Compare with Cmp: two
// equal numbers may differ as Go values.
type Decimal struct {
	// hi and lo are the unscaled value in two's complement; both are zero when
	// big is set. big is set only when the value does not fit 128 bits, and is
	// never modified once stored here.
	hi    int64
	lo    uint64
	big   *big.Int
	scale int32
}

// MaxScale bounds the scale of every Decimal to ±MaxScale. Java allows the whole
// int range, where a text of 14 characters makes a number of two gigabytes.
const MaxScale = 100_000

var (
	// ErrSyntax means that a text is no decimal number.
	ErrSyntax = errors.New("not a decimal number")
	// ErrRange means that the scale would leave ±MaxScale, or that a float is
	// not finite.
	ErrRange = errors.New("decimal out of range")
	// ErrDivideByZero means that the divisor was zero.
	ErrDivideByZero = errors.New("division by zero")
	// ErrInexact means that digits would be lost although the rounding is
	// Unnecessary or the precision unlimited.
	ErrInexact = errors.New("rounding necessary")
	// ErrNegativeRoot means that the square root of a negative number was asked for.
	ErrNegativeRoot = errors.New("square root of a negative number")
)

// Rounding tells what to do with digits that do not fit. The first eight are
// Java's RoundingMode; the zero value is HalfEven.
type Rounding uint8

// The rounding modes.
const (
	HalfEven    Rounding = iota // to nearest, ties to the even neighbour
	Up                          // away from zero
	Down                        // toward zero
	Ceiling                     // toward +infinity
	Floor                       // toward -infinity
	HalfUp                      // to nearest, ties away from zero
	HalfDown                    // to nearest, ties toward zero
	Unnecessary                 // ErrInexact when digits would be lost
	HalfCeiling                 // to nearest, ties toward +infinity (Hop's default ROUND)
)

// Decimal128Precision is the number of digits of Java's MathContext.DECIMAL128,
// which rounds half to even.
const Decimal128Precision = 34

// FromInt64 returns v with scale 0.
func FromInt64(v int64) Decimal {
	return Decimal{hi: v >> 63, lo: uint64(v)}
}

// FromInt128 returns the number whose unscaled value is the two's complement
// 128-bit integer hi:lo. It panics when scale is beyond ±MaxScale.
func FromInt128(hi int64, lo uint64, scale int32) Decimal {
	mustScale(scale)
	return Decimal{hi: hi, lo: lo, scale: scale}
}

// FromBig returns unscaled × 10^-scale. The argument is copied. It panics when
// scale is beyond ±MaxScale.
func FromBig(unscaled *big.Int, scale int32) Decimal {
	mustScale(scale)
	return newBig(new(big.Int).Set(unscaled), scale)
}

func mustScale(scale int32) {
	if scale > MaxScale || scale < -MaxScale {
		panic("decimal: scale out of range")
	}
}

func checkScale(scale int64) (int32, error) {
	if scale > MaxScale || scale < -MaxScale {
		return 0, ErrRange
	}
	return int32(scale), nil
}

// newBig takes ownership of v and stores it in words when it fits.
func newBig(v *big.Int, scale int32) Decimal {
	if m, ok := u128FromBig(v); ok {
		if d, ok := fromMagnitude(v.Sign() < 0, m, scale); ok {
			return d
		}
	}
	return Decimal{big: v, scale: scale}
}

// fromMagnitude reports false when ±m does not fit 128 bits in two's complement.
func fromMagnitude(neg bool, m u128, scale int32) (Decimal, bool) {
	if neg {
		m = m.neg()
		if !m.isZero() && int64(m.hi) >= 0 {
			return Decimal{}, false
		}
	} else if int64(m.hi) < 0 {
		return Decimal{}, false
	}
	return Decimal{hi: int64(m.hi), lo: m.lo, scale: scale}, true
}

// magnitude is the absolute unscaled value; only for values with no big part.
func (d Decimal) magnitude() u128 {
	m := u128{uint64(d.hi), d.lo}
	if d.hi < 0 {
		return m.neg()
	}
	return m
}

// Int128 returns the unscaled value as a two's complement 128-bit integer and
// the scale; ok is false when the unscaled value does not fit.
func (d Decimal) Int128() (hi int64, lo uint64, scale int32, ok bool) {
	return d.hi, d.lo, d.scale, d.big == nil
}

// Unscaled returns the unscaled value as a new big.Int.
func (d Decimal) Unscaled() *big.Int {
	if d.big != nil {
		return new(big.Int).Set(d.big)
	}
	return d.unscaled()
}

// unscaled may return the stored integer: callers must not modify it.
func (d Decimal) unscaled() *big.Int {
	if d.big != nil {
		return d.big
	}
	v := d.magnitude().big()
	if d.hi < 0 {
		v.Neg(v)
	}
	return v
}

// Scale returns the number of digits right of the decimal point; negative when
// the unscaled value is to be multiplied by a power of ten.
func (d Decimal) Scale() int32 { return d.scale }

// Sign returns -1, 0 or +1.
func (d Decimal) Sign() int {
	switch {
	case d.big != nil:
		return d.big.Sign()
	case d.hi < 0:
		return -1
	case d.hi == 0 && d.lo == 0:
		return 0
	}
	return 1
}

// IsZero reports whether the number is zero, whatever its scale.
func (d Decimal) IsZero() bool { return d.big == nil && d.hi == 0 && d.lo == 0 }

// Precision returns the number of digits of the unscaled value; 1 for zero.
func (d Decimal) Precision() int {
	if d.big == nil {
		return d.magnitude().digits()
	}
	return bigDigits(d.big)
}

// Neg returns -d with the same scale.
func (d Decimal) Neg() Decimal {
	if d.big == nil {
		if r, ok := fromMagnitude(d.hi >= 0, d.magnitude(), d.scale); ok {
			return r
		}
	}
	return newBig(new(big.Int).Neg(d.unscaled()), d.scale)
}

// Abs returns |d| with the same scale.
func (d Decimal) Abs() Decimal {
	if d.Sign() < 0 {
		return d.Neg()
	}
	return d
}
