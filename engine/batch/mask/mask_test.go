package mask_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

func TestNumberFormatReference(t *testing.T) {
	values := []float64{0, 0.5, 1.5, 2.5, -1.5, 0.125, 0.135, 1234.5678, -0.04, 1e15, 0.30000000000000004}
	plain := "0|0|2|2|-2|0|0|1235|-0|1000000000000000|0"
	for pattern, want := range map[string]string{
		"#": plain, "0": plain, "####0;-####0": plain,
		" #":                                 " 0| 0| 2| 2|- 2| 0| 0| 1235|- 0| 1000000000000000| 0",
		"#.#":                                "0|0.5|1.5|2.5|-1.5|0.1|0.1|1234.6|-0|1000000000000000|0.3",
		"0.00":                               "0.00|0.50|1.50|2.50|-1.50|0.12|0.14|1234.57|-0.04|1000000000000000.00|0.30",
		"#.00":                               ".00|.50|1.50|2.50|-1.50|.12|.14|1234.57|-.04|1000000000000000.00|.30",
		"#.##":                               "0|0.5|1.5|2.5|-1.5|0.12|0.14|1234.57|-0.04|1000000000000000|0.3",
		"####0.0#########;-####0.0#########": "0.0|0.5|1.5|2.5|-1.5|0.125|0.135|1234.5678|-0.04|1000000000000000.0|0.3",
		"###,##0":                            "0|0|2|2|-2|0|0|1,235|-0|1,000,000,000,000,000|0",
	} {
		m := number(t, pattern, mask.NumberOptions{})
		for i, w := range strings.Split(want, "|") {
			if got, err := m.AppendFloat64(nil, values[i]); err != nil || string(got) != w {
				t.Errorf("%q of %v: %q, %v, want %q", pattern, values[i], got, err, w)
			}
		}
	}
}

func TestNumberParseReference(t *testing.T) {
	for name, c := range map[string]struct {
		pattern, text string
		want          float64
		pos           int
		err           error
	}{
		"decimals are not limited": {"#", "1.9", 1.9, 3, nil},
		"no grouping in mask":      {"#", "1,234", 1, 1, mask.ErrTrailing},
		"grouping":                 {"#,##0", "1,234.5", 1234.5, 7, nil},
		"letters":                  {"0.00", "abc", 0, 0, mask.ErrSyntax},
		"leading blank":            {"#", " 12", 0, 0, mask.ErrSyntax},
		"trailing blank":           {"#", "12 ", 12, 2, mask.ErrTrailing},
		"negative":                 {"#", "-5", -5, 2, nil},
		"plus":                     {"#", "+5", 0, 0, mask.ErrSyntax},
		"exponent":                 {"0.0", "1E3", 1000, 3, nil},
		"lower-case exponent":      {"0.0", "1e3", 1, 1, mask.ErrTrailing},
		"prefix missing":           {" #", "5", 0, 0, mask.ErrSyntax},
		"prefix":                   {" #", " 5", 5, 2, nil},
		"point at the end":         {"#", "1.", 1, 2, nil},
		"point at the start":       {"#", ".5", 0.5, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v, n, err := number(t, c.pattern, mask.NumberOptions{}).ParseFloat64([]byte(c.text))
			if !errors.Is(err, c.err) || n != c.pos || err == nil && v != c.want {
				t.Fatalf("got %v after %d, %v", v, n, err)
			}
			v, _, err = number(t, c.pattern, mask.NumberOptions{Lenient: true}).ParseFloat64([]byte(c.text))
			if errors.Is(c.err, mask.ErrSyntax) != (err != nil) || err == nil && v != c.want {
				t.Fatalf("lenient: got %v, %v", v, err)
			}
		})
	}
}

func TestSymbols(t *testing.T) {
	m := number(t, "#,##0.00 ¤", mask.NumberOptions{Symbols: mask.Symbols{Decimal: ',', Grouping: '\u00a0', Currency: "€"}})
	text, err := m.AppendFloat64(nil, -1234567.891)
	if err != nil || string(text) != "-1\u00a0234\u00a0567,89 €" {
		t.Fatalf("got %q, %v", text, err)
	}
	if d, n, err := m.ParseDecimal(text); err != nil || n != len(text) || d.String() != "-1234567.89" {
		t.Fatalf("got %v after %d, %v", d, n, err)
	}
}

func TestMalformedMasks(t *testing.T) {
	for _, pattern := range []string{"0.0.0", "#0#", "0#0", ";", "0;0;0", "'0", "#,", "0E", "0,.0", "0%%", "#.#0.", "0'a"} {
		if _, err := mask.CompileNumber(pattern, mask.NumberOptions{}); !errors.Is(err, mask.ErrPattern) {
			t.Errorf("number %q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{"yyyy-bb", "'x", "XXXX", "yyyy'T"} {
		if _, err := mask.CompileDate(pattern, mask.DateOptions{}); !errors.Is(err, mask.ErrPattern) {
			t.Errorf("date %q: %v", pattern, err)
		}
	}
}

func TestDefaultMasks(t *testing.T) {
	for want, got := range map[string]string{
		"####0;-####0":                       mask.DefaultFormat(mask.Integer, -1, -1),
		"####0":                              mask.DefaultParse(mask.Integer, 0, 0),
		" 000;-000":                          mask.DefaultFormat(mask.Integer, 3, 0),
		" 0000.00;-0000.00":                  mask.DefaultFormat(mask.Number, 6, 2),
		" 00000.00;-00000.00":                mask.DefaultFormat(mask.Number, 5, -1),
		"####0.0#########;-####0.0#########": mask.DefaultFormat(mask.Number, -1, 2),
		"######0.0###################":       mask.DefaultParse(mask.BigNumber, -1, -1),
		"yyyy/MM/dd HH:mm:ss.SSS":            mask.DefaultFormat(mask.Date, -1, -1),
		"yyyy/MM/dd HH:mm:ss.SSSSSSSSS":      mask.DefaultParse(mask.Timestamp, 9, -1),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// corpusNumbers and corpusDates are the masks that real projects use.
var corpusNumbers = []string{
	"#", "####0;-####0", "0", " #", "#.#", "0.00", "#######.####", "0.000;-0.000", "#.00", " 0", "0.0#########", "0.0#####",
	"#.##", "#.0", "#.000;-#.000", "000", "###,##0", "###,###,##0", "#,###", "###,###,###.####", "#0.#", "#,##0.00 ¤",
	"0.0;-0.0", " 0000000000;-0000000000", "######0.0###################;-######0.0###################", "#.##############################",
}

var corpusDates = []string{
	"yyyy/MM/dd", "yyyy-MM-dd", "yyyy/MM/dd HH:mm:ss", "yyyy/MM/dd HH:mm:ss.SSS", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss.SSS",
	"ddMMyyyy", "yyyyMMdd", "yyyyMMddHHmmss", "HH:mm:ss.SSS", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ssXXX", "dd/MM/yyyy",
	"MM-dd-yyyy HH:mm:ss", "M/d/yyyy", "yyy/MM/dd", "YYYY-mm-dd", "yyyyMMdd-HHmmss.SSS",
}

func TestCorpusMasksRoundTrip(t *testing.T) {
	for _, pattern := range corpusNumbers {
		m := number(t, pattern, mask.NumberOptions{})
		for _, v := range []float64{0, 7, -7, 12, 123456, -999} {
			text, _ := m.AppendFloat64(nil, v)
			if back, n, err := m.ParseFloat64(text); err != nil || n != len(text) || back != v {
				t.Errorf("%q: %v became %q became %v, %v", pattern, v, text, back, err)
			}
		}
	}
	for _, pattern := range corpusDates {
		m, err := mask.CompileDate(pattern, mask.DateOptions{Lenient: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, ms := range []int64{0, 1735689599123, 951782400000, -86_400_000} {
			text := m.AppendMillis(nil, ms)
			back, _, err := m.ParseMillis(text)
			if again := m.AppendMillis(nil, back); err != nil || pattern != "YYYY-mm-dd" && string(again) != string(text) {
				t.Errorf("%q: %q became %q, %v", pattern, text, again, err)
			}
		}
	}
}

func TestTimestamps(t *testing.T) {
	m, err := mask.CompileTimestamp("yyyy/MM/dd HH:mm:ss.SSSSSSSSS", mask.DateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2024/12/31 23:59:59.123456789": "2024/12/31 23:59:59.123456789",
		"2024/12/31 23:59:59.5":         "2024/12/31 23:59:59.500000000",
		"1969/12/31 23:59:59.999999999": "1969/12/31 23:59:59.999999999",
		"2024/1/2 3:4:5.000000001 rest": "2024/01/02 03:04:05.000000001",
	} {
		ms, nanos, _, err := m.ParseTimestamp([]byte(text))
		if got := string(m.AppendNanos(nil, ms, nanos)); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	if _, _, _, err := m.ParseTimestamp([]byte("2024/12/31 23:59:59")); !errors.Is(err, mask.ErrSyntax) {
		t.Errorf("no fraction: %v", err)
	}
	short, err := mask.CompileTimestamp("ss.SSSSSS", mask.DateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(short.AppendNanos(nil, 1001, 2_000)); got != "01.001002" {
		t.Errorf("microseconds: %q", got)
	}
}

func TestTwoDigitYears(t *testing.T) {
	now := time.Date(2024, 6, 15, 0, 0, 0, 0, time.UTC)
	m, err := mask.CompileDate("yy-MM-dd", mask.DateOptions{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	out, err := mask.CompileDate("yyyy", mask.DateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"30-01-01": "2030", "43-12-31": "2043", "44-06-14": "2044", "44-06-15": "1944", "99-01-01": "1999"} {
		ms, _, err := m.ParseMillis([]byte(text))
		if got := string(out.AppendMillis(nil, ms)); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestLoadLocation(t *testing.T) {
	for id, offset := range map[string]int{"GMT+1": 3600, "GMT-0530": -19800, "GMT+10:00": 36000, "EST": -18000, "UTC": 0, "JST": 32400, "Asia/Tokyo": 32400} {
		if _, got := time.Unix(0, 0).In(location(t, id)).Zone(); got != offset {
			t.Errorf("%s: %d, want %d", id, got, offset)
		}
	}
	for _, id := range []string{"", "Local", "GMT+", "GMT+25", "GMT+1:5", "Nowhere/Town"} {
		if _, ok := mask.LoadLocation(id); ok {
			t.Errorf("%q was found", id)
		}
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	ints, floats := number(t, "####0;-####0", mask.NumberOptions{}), number(t, "####0.0#########;-####0.0#########", mask.NumberOptions{})
	dates, err := mask.CompileDate("yyyy-MM-dd HH:mm:ss.SSS", mask.DateOptions{Location: location(t, "Europe/Berlin")})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 64)
	for name, f := range map[string]func(){
		"format int":   func() { buf, _ = ints.AppendInt64(buf[:0], -1234567) },
		"format float": func() { buf, _ = floats.AppendFloat64(buf[:0], 1234.5678) },
		"long float":   func() { buf, _ = floats.AppendFloat64(buf[:0], math.Pi*1e6) },
		"parse int":    func() { _, _, _ = ints.ParseInt64([]byte("-1234567")) },
		"parse float":  func() { _, _, _ = floats.ParseFloat64([]byte("1234.5678")) },
		"format date":  func() { buf = dates.AppendMillis(buf[:0], 1735689599123) },
		"parse date":   func() { _, _, _ = dates.ParseMillis([]byte("2024-12-31 23:59:59.123")) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzNumberMask(f *testing.F) {
	for _, p := range corpusNumbers {
		f.Add(p, "1,234.5E3", 1234.5678, int64(-7))
	}
	f.Add("##0.##E0", "-∞", math.Inf(-1), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, pattern, text string, v float64, i int64) {
		m, err := mask.CompileNumber(pattern, mask.NumberOptions{Lenient: true})
		if err != nil || len(pattern) > 500 {
			return
		}
		_, _, _ = m.ParseFloat64([]byte(text))
		_, _, _ = m.ParseInt64([]byte(text))
		_, _, _ = m.ParseDecimal([]byte(text))
		_, _ = m.AppendInt64(nil, i)
		_, _ = m.AppendDecimal(nil, decimal.FromInt64(i))
		_, _ = m.AppendFloat64(nil, v)
	})
}

func FuzzDateMask(f *testing.F) {
	for _, p := range corpusDates {
		f.Add(p, "2024-12-31 23:59:59.5", int64(1735689599123))
	}
	f.Add("G yy YYYY w W F E u D a k K h z Z X", "AD 24", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, pattern, text string, ms int64) {
		m, err := mask.CompileDate(pattern, mask.DateOptions{Lenient: true})
		if err != nil {
			return
		}
		_, _, _ = m.ParseMillis([]byte(text))
		first := m.AppendMillis(nil, ms)
		if pattern != "yyyy-MM-dd HH:mm:ss.SSS" || ms < -62135769600000 || ms > 1<<52 {
			return
		}
		if back, _, err := m.ParseMillis(first); err != nil || back != ms {
			t.Fatalf("%d became %q became %d, %v", ms, first, back, err)
		}
	})
}
