package decimal

import (
	"math/big"
	"math/bits"
)

// u128 is an unsigned 128-bit integer.
type u128 struct{ hi, lo uint64 }

const pow10Words = 38 // 10^38 is the largest power below 2^127

// pow10u128 holds 10^0 … 10^38.
var pow10u128 = func() (t [pow10Words + 1]u128) {
	t[0] = u128{0, 1}
	for i := 1; i < len(t); i++ {
		t[i], _ = t[i-1].mul64(10)
	}
	return t
}()

func (a u128) isZero() bool { return a.hi|a.lo == 0 }

func (a u128) neg() u128 {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	hi, _ := bits.Sub64(0, a.hi, borrow)
	return u128{hi, lo}
}

func (a u128) cmp(b u128) int {
	switch {
	case a.hi != b.hi:
		if a.hi < b.hi {
			return -1
		}
		return 1
	case a.lo != b.lo:
		if a.lo < b.lo {
			return -1
		}
		return 1
	}
	return 0
}

func (a u128) sub(b u128) u128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return u128{hi, lo}
}

func (a u128) inc() u128 {
	lo, carry := bits.Add64(a.lo, 1, 0)
	return u128{a.hi + carry, lo}
}

// mul64 reports false when the product does not fit.
func (a u128) mul64(b uint64) (u128, bool) {
	hi, lo := bits.Mul64(a.lo, b)
	over, mid := bits.Mul64(a.hi, b)
	sum, carry := bits.Add64(hi, mid, 0)
	return u128{sum, lo}, over == 0 && carry == 0
}

// mul reports false when the product does not fit.
func (a u128) mul(b u128) (u128, bool) {
	switch {
	case b.hi == 0:
		return a.mul64(b.lo)
	case a.hi == 0:
		return b.mul64(a.lo)
	}
	return u128{}, false
}

// div64 returns the quotient and remainder by b, which is not zero.
func (a u128) div64(b uint64) (u128, uint64) {
	if a.hi == 0 {
		return u128{0, a.lo / b}, a.lo % b
	}
	hi, rem := a.hi/b, a.hi%b
	lo, rem := bits.Div64(rem, a.lo, b)
	return u128{hi, lo}, rem
}

// div returns the quotient and remainder by b, which is not zero.
func (a u128) div(b u128) (q, r u128) {
	if b.hi == 0 {
		q, rem := a.div64(b.lo)
		return q, u128{0, rem}
	}
	// The quotient fits 64 bits. Divide by the normalised top word of b, which
	// is at most one too large, and correct.
	n := uint(bits.LeadingZeros64(b.hi))
	top := b.hi<<n | b.lo>>1>>(63-n)
	half := u128{a.hi >> 1, a.hi<<63 | a.lo>>1}
	guess, _ := bits.Div64(half.hi, half.lo, top)
	guess = guess >> (63 - n)
	if guess != 0 {
		guess--
	}
	p, _ := b.mul64(guess)
	r = a.sub(p)
	if r.cmp(b) >= 0 {
		guess++
		r = r.sub(b)
	}
	return u128{0, guess}, r
}

// digits returns the number of decimal digits, 1 for zero.
func (a u128) digits() int {
	if a.isZero() {
		return 1
	}
	n := bits.Len64(a.lo)
	if a.hi != 0 {
		n = 64 + bits.Len64(a.hi)
	}
	// log10(2) is about 1233/4096; the estimate is exact or one too small.
	est := n * 1233 >> 12
	if est < len(pow10u128) && a.cmp(pow10u128[est]) < 0 {
		return est
	}
	return est + 1
}

// append writes the decimal digits without leading zeros; nothing for zero.
func (a u128) append(dst []byte) []byte {
	var buf [40]byte
	i := len(buf)
	for a.hi != 0 {
		var low uint64
		a, low = a.div64(1e19)
		for range 19 {
			i--
			buf[i] = byte('0' + low%10)
			low /= 10
		}
	}
	for v := a.lo; v != 0; v /= 10 {
		i--
		buf[i] = byte('0' + v%10)
	}
	for i < len(buf) && buf[i] == '0' {
		i++
	}
	return append(dst, buf[i:]...)
}

func (a u128) big() *big.Int {
	v := new(big.Int).SetUint64(a.hi)
	v.Lsh(v, 64)
	return v.Or(v, new(big.Int).SetUint64(a.lo))
}

// u128FromBig takes the magnitude of v; false when it needs more than 128 bits.
func u128FromBig(v *big.Int) (u128, bool) {
	if v.BitLen() > 128 {
		return u128{}, false
	}
	var b [16]byte
	v.FillBytes(b[:])
	var m u128
	for i := range 8 {
		m.hi = m.hi<<8 | uint64(b[i])
		m.lo = m.lo<<8 | uint64(b[8+i])
	}
	return m, true
}

// bigPow10 returns 10^n as a value that may be modified.
func bigPow10(n int) *big.Int {
	if n <= pow10Words {
		return pow10u128[n].big()
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// scaleUp returns v × 10^n as a new value.
func scaleUp(v *big.Int, n int) *big.Int {
	p := bigPow10(n)
	return p.Mul(p, v)
}

// bigDigits returns the number of decimal digits of |v|, 1 for zero.
func bigDigits(v *big.Int) int {
	if v.Sign() == 0 {
		return 1
	}
	est := int((int64(v.BitLen()-1) * 30103) / 100000)
	if v.CmpAbs(bigPow10(est+1)) >= 0 {
		return est + 2
	}
	if v.CmpAbs(bigPow10(est)) >= 0 {
		return est + 1
	}
	return est
}
