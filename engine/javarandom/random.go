// Package javarandom gives the number sequences of java.util.Random, so that a
// seed in a Hop file picks the same rows and values here.
package javarandom

// Random is Java's 48-bit linear congruential generator. It is owned by one
// goroutine. The zero value is not usable; New makes one.
type Random struct{ state int64 }

const (
	multiplier = 0x5DEECE66D
	addend     = 0xB
	bits48     = 1<<48 - 1
)

// New gives the sequence that new Random(seed) gives in Java.
func New(seed int64) *Random { return &Random{state: (seed ^ multiplier) & bits48} }

func (r *Random) next(bits uint) int32 {
	r.state = (r.state*multiplier + addend) & bits48
	return int32(r.state >> (48 - bits))
}

// Int32 is nextInt(): any 32-bit number.
func (r *Random) Int32() int32 { return r.next(32) }

// Int64 is nextLong(): 64 bits, of which only 2^48 patterns occur.
func (r *Random) Int64() int64 { return int64(r.next(32))<<32 + int64(r.next(32)) }

// Float64 is nextDouble(): 0 included, 1 excluded.
func (r *Random) Float64() float64 {
	return float64(int64(r.next(26))<<27+int64(r.next(27))) / (1 << 53)
}
