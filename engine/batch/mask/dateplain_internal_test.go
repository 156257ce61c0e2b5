package mask

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What the fast path answers is what the general path would have, for dates and
// for what is nearly one; and it does answer for every proper date.
func TestPlainDatesAreReadAsByTheGeneralPath(t *testing.T) {
	const others = "0123456789/:- .EA\x00\x80\xb0\xff"
	r := rand.New(rand.NewPCG(3, 5))
	for pattern, layout := range map[string]string{
		"yyyyMMdd":                      "20060102",
		"yyyy-MM-dd":                    "2006-01-02",
		"dd.MM.yyyy HH:mm":              "02.01.2006 15:04",
		"yyyy/MM/dd HH:mm:ss":           "2006/01/02 15:04:05",
		"yyyy-MM-dd HH:mm:ss.SSS":       "2006-01-02 15:04:05.000",
		"yyyy-MM-dd HH:mm:ss.SSSSSSSSS": "2006-01-02 15:04:05.000000000",
	} {
		m, err := CompileTimestamp(pattern, DateOptions{Lenient: true})
		if err != nil || m.plain == nil {
			t.Fatalf("%s: no fast path, %v", pattern, err)
		}
		answers, refusals := 0, 0
		for k := range 20_000 {
			at := time.Unix(r.Int64N(13_000_000_000)-12_000_000_000, r.Int64N(1e9)).UTC()
			text := at.AppendFormat(nil, layout)
			if changed := k%2 == 1; changed {
				text[r.IntN(len(text))] = others[r.IntN(len(others))]
			}
			ms, nanos, n, ok := m.plain.parse(text)
			if !ok {
				refusals++
				if k%2 == 0 && at.Year() >= 1583 {
					t.Fatalf("%s: %q is not taken", pattern, text)
				}
				continue
			}
			answers++
			var f dateFields
			end, err := m.scan(text, &f)
			if err != nil {
				t.Fatalf("%s: %q is read as %d, the general path says %v", pattern, text, ms, err)
			}
			want, err := m.resolve(&f)
			if err != nil || ms != want || nanos != f.nanos || n != end {
				t.Fatalf("%s: %q is read as %d and %d ns in %d bytes, the general path says %d, %d, %d, %v", pattern, text, ms, nanos, n, want, f.nanos, end, err)
			}
		}
		if answers < 10_000 || refusals < 1000 {
			t.Errorf("%s: %d answers and %d refusals prove little", pattern, answers, refusals)
		}
	}
}
