package mask_test

import (
	"testing"

	"sluice/engine/batch/mask"
)

func perRow(b *testing.B, rows int) {
	b.ReportAllocs()
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkNumber(b *testing.B) {
	ints, floats, cents := number(b, "####0;-####0", mask.NumberOptions{}), number(b, "####0.0#########;-####0.0#########", mask.NumberOptions{}), number(b, "0.00", mask.NumberOptions{})
	buf := make([]byte, 0, 64)
	for name, f := range map[string]func(i int){
		"format-int":         func(i int) { buf, _ = ints.AppendInt64(buf[:0], int64(i)*1237) },
		"format-float":       func(i int) { buf, _ = floats.AppendFloat64(buf[:0], float64(i)*0.37) },
		"format-float-cents": func(i int) { buf, _ = cents.AppendFloat64(buf[:0], float64(i)*0.37) },
		"format-float-long":  func(i int) { buf, _ = floats.AppendFloat64(buf[:0], float64(i)*1e6/7) },
		"parse-int":          func(i int) { _, _, _ = ints.ParseInt64([]byte("1234567")) },
		"parse-float":        func(i int) { _, _, _ = floats.ParseFloat64([]byte("12345.678")) },
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				f(i & 1023)
				i++
			}
			perRow(b, 1)
		})
	}
}

func BenchmarkDate(b *testing.B) {
	buf := make([]byte, 0, 64)
	for _, zone := range []string{"UTC", "Europe/Berlin"} {
		m, err := mask.CompileDate("yyyy-MM-dd HH:mm:ss", mask.DateOptions{Location: location(b, zone), Lenient: true})
		if err != nil {
			b.Fatal(err)
		}
		text := []byte("2024-12-31 23:59:59")
		b.Run("format-"+zone, func(b *testing.B) {
			ms := int64(1735689599123)
			for b.Loop() {
				buf = m.AppendMillis(buf[:0], ms)
				if ms += 86_400_123; ms > 4e12 {
					ms -= 4e12
				}
			}
			perRow(b, 1)
		})
		b.Run("parse-"+zone, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := m.ParseMillis(text); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, 1)
		})
	}
}
