package decimal_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"sluice/engine/batch/decimal"
)

var roundings = map[string]decimal.Rounding{
	"UP": decimal.Up, "DOWN": decimal.Down, "CEILING": decimal.Ceiling, "FLOOR": decimal.Floor,
	"HALF_UP": decimal.HalfUp, "HALF_DOWN": decimal.HalfDown, "HALF_EVEN": decimal.HalfEven, "UNNECESSARY": decimal.Unnecessary,
}

func parse(t testing.TB, text string) decimal.Decimal {
	t.Helper()
	d, err := decimal.Parse(text)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return d
}

// apply runs one operation of the vector file.
func apply(t *testing.T, op string, x, y decimal.Decimal, n int, r decimal.Rounding) string {
	t.Helper()
	var d decimal.Decimal
	var err error
	switch op {
	case "add":
		d, err = x.Add(y)
	case "mul":
		d, err = x.Mul(y)
	case "quo":
		d, err = x.Quo(y, n, r)
	case "quoexact":
		d, err = x.Quo(y, 0, r)
	case "quoscale":
		d, err = x.QuoScale(y, int32(n), r)
	case "rem":
		d, err = x.Rem(y)
	case "quoint":
		d, err = x.QuoInt(y)
	case "rescale":
		d, err = x.Rescale(int32(n), r)
	case "round":
		d, err = x.Round(n, r)
	case "sqrt":
		d, err = x.Sqrt(n, r)
	case "strip":
		d = x.Strip()
	case "plain":
		return x.Plain()
	case "cmp":
		return strconv.Itoa(x.Cmp(y))
	case "prec":
		return strconv.Itoa(x.Precision())
	case "long":
		v, _ := x.Int64()
		return strconv.FormatInt(v, 10)
	default:
		t.Fatalf("unknown operation %q", op)
	}
	if err != nil {
		return "ERR"
	}
	return d.String()
}

// TestJavaVectors compares with results of Java's BigDecimal: operation, x, y,
// precision or scale, rounding, result.
func TestJavaVectors(t *testing.T) {
	file, err := os.Open("testdata/bigdecimal.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for s := bufio.NewScanner(file); s.Scan(); lines++ {
		f := strings.Split(s.Text(), "\t")
		op, want := f[0], f[5]
		if op == "fromexact" || op == "double" {
			checkFloat(t, op, f[1], want)
			continue
		}
		n, _ := strconv.Atoi(f[3])
		if got := apply(t, op, parse(t, f[1]), parse(t, f[2]), n, roundings[f[4]]); got != want {
			t.Errorf("%s = %s", s.Text(), got)
		}
	}
	if lines < 1000 {
		t.Fatalf("only %d vectors", lines)
	}
}

func checkFloat(t *testing.T, op, text, want string) {
	t.Helper()
	if op == "double" {
		f, _ := strconv.ParseFloat(want, 64)
		if got := parse(t, text).Float64(); got != f {
			t.Errorf("double %s: got %v, want %v", text, got, f)
		}
		return
	}
	f, _ := strconv.ParseFloat(text, 64)
	d, err := decimal.FromFloat64Exact(f)
	if err != nil || d.String() != want {
		t.Errorf("exact %s: got %v, %v, want %s", text, d, err, want)
	}
}
