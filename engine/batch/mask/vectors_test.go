package mask_test

import (
	"bufio"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// The files in testdata hold results of Java 17 (DecimalFormat,
// SimpleDateFormat, Double.toString), one case a line, fields split by tabs.

var roundings = map[string]decimal.Rounding{
	"UP": decimal.Up, "DOWN": decimal.Down, "CEILING": decimal.Ceiling, "FLOOR": decimal.Floor,
	"HALF_UP": decimal.HalfUp, "HALF_DOWN": decimal.HalfDown, "HALF_EVEN": decimal.HalfEven, "UNNECESSARY": decimal.Unnecessary,
}

func eachVector(t *testing.T, name string, check func(line string, f []string)) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for s := bufio.NewScanner(file); s.Scan(); lines++ {
		check(s.Text(), strings.Split(s.Text(), "\t"))
	}
	if lines < 300 {
		t.Fatalf("%s has only %d vectors", name, lines)
	}
}

func number(t testing.TB, pattern string, o mask.NumberOptions) *mask.NumberMask {
	t.Helper()
	m, err := mask.CompileNumber(pattern, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNumberFormatVectors(t *testing.T) {
	eachVector(t, "number_format.tsv", func(line string, f []string) {
		m := number(t, f[0], mask.NumberOptions{Rounding: roundings[f[1]]})
		var got []byte
		var err error
		switch f[2] {
		case "i":
			v, _ := strconv.ParseInt(f[3], 10, 64)
			got, err = m.AppendInt64(nil, v)
		case "d":
			v, _ := decimal.Parse(f[3])
			got, err = m.AppendDecimal(nil, v)
		default:
			v, _ := strconv.ParseFloat(f[3], 64)
			got, err = m.AppendFloat64(nil, v)
		}
		if errors.Is(err, mask.ErrInexact) {
			got = []byte("INEXACT")
		}
		if string(got) != f[4] {
			t.Errorf("%s: got %q", line, got)
		}
	})
}

func TestNumberParseVectors(t *testing.T) {
	eachVector(t, "number_parse.tsv", func(line string, f []string) {
		m := number(t, f[0], mask.NumberOptions{Lenient: true})
		v, n, err := m.ParseFloat64([]byte(f[1]))
		i, _, ierr := m.ParseInt64([]byte(f[1]))
		if f[2] == "FAIL" {
			if err == nil || ierr == nil {
				t.Errorf("%s: got %v after %d", line, v, n)
			}
			return
		}
		pos, _ := strconv.Atoi(f[2])
		want, _ := strconv.ParseFloat(f[3], 64)
		wantInt, _ := strconv.ParseInt(f[4], 10, 64)
		if err != nil || len([]rune(f[1][:n])) != pos || math.Float64bits(v) != math.Float64bits(want) && !math.IsNaN(v) {
			t.Errorf("%s: got %v after %d, %v", line, v, n, err)
		}
		if i != wantInt || ierr != nil {
			t.Errorf("%s: got integer %d, %v", line, i, ierr)
		}
		if f[5] != "-" {
			if d, _, err := m.ParseDecimal([]byte(f[1])); err != nil || d.String() != f[5] {
				t.Errorf("%s: got decimal %v, %v", line, d, err)
			}
		}
	})
}

func TestJavaDoubleVectors(t *testing.T) {
	eachVector(t, "java_double.tsv", func(line string, f []string) {
		bits, _ := strconv.ParseUint(f[0], 16, 64)
		if got := string(mask.AppendJavaDouble(nil, math.Float64frombits(bits))); got != f[1] {
			t.Errorf("%s: got %s", line, got)
		}
	})
}

func location(t testing.TB, id string) *time.Location {
	t.Helper()
	loc, ok := mask.LoadLocation(id)
	if !ok {
		t.Fatalf("no zone %q", id)
	}
	return loc
}

func TestDateFormatVectors(t *testing.T) {
	eachVector(t, "date_format.tsv", func(line string, f []string) {
		m, err := mask.CompileDate(f[0], mask.DateOptions{Locale: f[1], Location: location(t, f[2])})
		if err != nil {
			t.Fatal(err)
		}
		ms, _ := strconv.ParseInt(f[3], 10, 64)
		if got := string(m.AppendMillis(nil, ms)); got != f[4] {
			t.Errorf("%s: got %q", line, got)
		}
	})
}

// windowNow is the instant around which the vectors' two-digit years were read.
var windowNow = time.UnixMilli(1764547200000)

func TestDateParseVectors(t *testing.T) {
	eachVector(t, "date_parse.tsv", func(line string, f []string) {
		m, err := mask.CompileDate(f[0], mask.DateOptions{Lenient: f[1] == "lenient", Location: location(t, f[2]), Now: windowNow})
		if err != nil {
			t.Fatal(err)
		}
		ms, n, err := m.ParseMillis([]byte(f[3]))
		if f[4] == "FAIL" {
			if err == nil {
				t.Errorf("%s: got %d after %d", line, ms, n)
			}
			return
		}
		pos, _ := strconv.Atoi(f[4])
		want, _ := strconv.ParseInt(f[5], 10, 64)
		if err != nil || ms != want || len([]rune(f[3][:n])) != pos {
			t.Errorf("%s: got %d after %d, %v", line, ms, n, err)
		}
	})
}
