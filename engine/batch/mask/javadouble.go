package mask

import (
	"math"
	"slices"
	"strconv"
)

// AppendJavaDouble appends v as Java's Double.toString (JDK 19 and later, which
// always gives the shortest digits): 5.0, 1.0E7, 0.001, 1.0E-4, NaN, -Infinity.
func AppendJavaDouble(dst []byte, v float64) []byte {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case abs >= 1e-3 && abs < 1e7 || v == 0:
		if t := int64(v); float64(t) == v && t != 0 {
			return append(strconv.AppendInt(dst, t, 10), ".0"...)
		}
		start := len(dst)
		dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
		if slices.Contains(dst[start:], '.') {
			return dst
		}
		return append(dst, ".0"...)
	}
	return appendJavaScientific(dst, v)
}

func appendJavaScientific(dst []byte, v float64) []byte {
	var buf [32]byte
	b := strconv.AppendFloat(buf[:0], v, 'e', -1, 64)
	lead := 1 // length of sign and first digit
	if b[0] == '-' {
		lead = 2
	}
	if b[lead] == 'e' {
		// One digit would do; Java then takes the nearest of two: 4.9E-324.
		b = strconv.AppendFloat(buf[:0], v, 'e', 1, 64)
	}
	e := len(b) - 1
	for b[e] != 'e' {
		e--
	}
	exp, _ := strconv.Atoi(string(b[e+1:]))
	dst = append(append(dst, b[:e]...), 'E')
	return strconv.AppendInt(dst, int64(exp), 10)
}
