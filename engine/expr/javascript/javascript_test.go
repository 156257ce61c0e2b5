package javascript_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/expr/javascript"
)

var clock = time.Date(2024, 2, 29, 13, 45, 30, 123e6, time.UTC)

func newRuntime(t testing.TB, vars map[string]string) *javascript.Runtime {
	t.Helper()
	return javascript.New(javascript.Host{
		Transform: "t", Pipeline: "p", Now: func() time.Time { return clock },
		Variable:    func(n string) (string, bool) { v, ok := vars[n]; return v, ok },
		SetVariable: func(n, v, s string) error { vars[n] = v + "@" + s; return nil },
	})
}

func eval(t testing.TB, r *javascript.Runtime, source string) (string, error) {
	t.Helper()
	s, err := javascript.Compile("test", source)
	if err != nil {
		return "", err
	}
	v, err := r.Run(t.Context(), s)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func TestFunctions(t *testing.T) {
	for source, want := range map[string]string{
		`1 + 2`: "3", `upper("ä")`: "Ä", `trim(" a ")`: "a", `ltrim(" a ")`: "a ", `initCap("ab cd")`: "Ab Cd", `substr("hello",1,3)`: "ell", `substr("hello",2)`: "llo", `substr("hello",3,9)`: "lo",
		`indexOf("hello","l")`: "2", `indexOf("hello","l",3)`: "3", `indexOf("hello","z")`: "-1", `lpad("7","0",3)`: "007", `rpad("7","ab",4)`: "7aba", `fillString("x",3)`: "xxx", `upper(null)`: "null",
		`num2str(1234.5)`: "1,234.5", `num2str(3.14159,"0.00")`: "3.14", `num2str(12,"###")`: "12", `str2num("1.5")+1`: "2.5", `str2num("1,234.5","#,##0.0")`: "1234.5", `isNum("12")`: "true", `isNum("x")`: "false",
		`date2str(new Date(0),"yyyy-MM-dd HH:mm:ss")`: "1970-01-01 00:00:00", `date2str(str2date("29/02/2024","dd/MM/yyyy"),"yyyyMMdd")`: "20240229", `date2str(dateAdd(str2date("2024-01-31","yyyy-MM-dd"),"m",1),"yyyy-MM-dd")`: "2024-02-29",
		`date2str(dateAdd(new Date(0),"hh",5),"HH:mm")`: "05:00", `dateDiff(str2date("2024-01-01","yyyy-MM-dd"),str2date("2024-03-01","yyyy-MM-dd"),"d")`: "60", `dateDiff(str2date("2024-01-01","yyyy-MM-dd"),str2date("2024-03-01","yyyy-MM-dd"),"m")`: "2",
		`date2str(truncDate(new Date(),4),"yyyy-MM-dd HH:mm:ss")`: "2024-02-01 00:00:00", `date2str(truncDate(new Date(),2),"HH:mm:ss.SSS")`: "13:00:00.000", `isDate("2024-02-29","yyyy-MM-dd")`: "true", `isDate("abc","yyyy-MM-dd")`: "false", `year(new Date())`: "2024", `month(new Date())`: "1", `quarter(new Date())`: "1", `week(new Date())`: "9", `getDayNumber(new Date(),"y")`: "60", `isWorkingDay(new Date())`: "true",
		`replace("aXbX","X","-")`: "a-b-", `replace("abc","(b)","[$1]","c","!")`: "a[b]!", `str2RegExp("a1","([a-z])([0-9])").join("|")`: "a|1", `isRegExp("ab","x","a.")`: "2", `LuhnCheck("4111111111111111")`: "true", `getDigitsOnly("a1b2")`: "12", `getOcuranceString("abab","ab")`: "2",
		`decode("b","a",1,"b",2,3)`: "2", `decode("z","a",1,3)`: "3", `ceil(1.2)`: "2", `floor(-1.2)`: "-2", `abs(-1)`: "1", `trunc(2.9)`: "2", `escapeHtml("<ä>")`: "&lt;&auml;&gt;", `removeDigits("a1")`: "a",
		`getVariable("V","d")`: "x", `getVariable("nope","d")`: "d", `SKIP_PIPELINE + "," + ABORT_PIPELINE`: "1,-1",
		`"abc".contains("b")`: "true", `"".isEmpty()`: "true", `"a".equals("a")`: "true", `"A".equalsIgnoreCase("a")`: "true", `"abc".length()`: "3", `"abc".length`: "3", `"a1".matches("[a-z]\\d")`: "true", `"aab".replaceFirst("a","x")`: "xab", `[1,2].size()`: "2", `(1.7).intValue()`: "1",
		`new Date(0).before(new Date(1))`: "true", `let a = 1; const b = 2; a + b`: "3",
	} {
		got, err := eval(t, newRuntime(t, map[string]string{"V": "x"}), source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
		} else if got != want {
			t.Errorf("%s = %s, want %s", source, got, want)
		}
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for source, want := range map[string]string{
		"var a = 1;\nvar d = new java.util.Date();": `script "test", line 2: TypeError: Java classes are not available: java`,
		"\n\nPackages.java.lang.Math":               "line 3",
		"var a = 1;\nvar b = ;":                     "line 2",
		"\nnope()":                                  "line 2",
		"dateAdd(new Date(), 'x', 1)":               "unit",
		"sendMail('a')":                             "not available",
		"function f() { return f(); } f()":          "test",
		"str2num('x')":                              `"x" is not a number`,
	} {
		_, err := eval(t, newRuntime(t, nil), source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", source, err, want)
		}
		if _, ok := errors.AsType[*javascript.Error](err); !ok {
			t.Errorf("%q: %T", source, err)
		}
	}
}

func TestRunAgainAndAgain(t *testing.T) {
	r := newRuntime(t, map[string]string{})
	s, err := javascript.Compile("count", "const step = 2; let twice = step * 2;\nif (typeof n == 'undefined') var n = 0;\nn++; setVariable('N', n, 'r'); n")
	if err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i < 4; i++ {
		v, err := r.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if v.ToInteger() != i {
			t.Errorf("run %d gives %v", i, v)
		}
	}
}

func TestCancelEndsAScript(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	want := errors.New("stopped by user")
	cancel(want)
	s, err := javascript.Compile("loop", "while (true) {}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newRuntime(t, nil).Run(ctx, s); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
}

func TestValues(t *testing.T) {
	big, _ := decimal.Parse("12345678901234567890.123")
	r := newRuntime(t, nil)
	for name, v := range map[string]batch.Value{
		"n": batch.DecimalValue(big), "i": batch.IntegerValue(7), "s": batch.StringValue("x"), "d": batch.DateValue(clock.UnixMilli()), "b": batch.BooleanValue(true), "z": batch.Null(batch.String),
	} {
		if err := r.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		source string
		to     batch.Type
		want   string
	}{
		{"n", batch.BigNumber, "12345678901234567890.123"},
		{"n.add(n)", batch.BigNumber, "24691357802469135780.246"},
		{"i * 1.5", batch.Integer, "10"},
		{"' 12 '", batch.Integer, "12"},
		{"i", batch.String, "7"},
		{"5.5", batch.String, "5.5"},
		{"'1.25'", batch.Number, "1.25"},
		{"z", batch.String, "<null>"},
		{"undefined", batch.Integer, "<null>"},
		{"d", batch.Date, "2024/02/29 13:45:30.123"},
		{"d.getTime()", batch.Date, "2024/02/29 13:45:30.123"},
		{"b && i > 3", batch.Boolean, "Y"},
	} {
		s, err := javascript.Compile("v", c.source)
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Run(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		got, err := r.Value(v, c.to)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		f := batch.Field{Name: "x", Type: c.to, Length: -1, Precision: -1}
		if c.to.IsNumeric() {
			f.Mask = "#.####################"
		}
		codec, err := batch.DefaultSemantics(time.UTC).Codec(&f)
		if err != nil {
			t.Fatal(err)
		}
		text := "<null>"
		if got.Valid {
			text = codec.Text(got)
		}
		if text != c.want {
			t.Errorf("%s as %s = %s, want %s", c.source, c.to, text, c.want)
		}
	}
	for source, to := range map[string]batch.Type{"'abc'": batch.Integer, "'x'": batch.Date, "'1x'": batch.BigNumber} {
		s, _ := javascript.Compile("v", source)
		v, _ := r.Run(t.Context(), s)
		if got, err := r.Value(v, to); err == nil {
			t.Errorf("%s as %s gives %v", source, to, got)
		}
	}
}

func TestPurity(t *testing.T) {
	for source, want := range map[string]bool{
		"var x = a + 1;": true,
		"var x = a; x = x * 2; function f(q) { return q; } var y = f(x);": true,
		"a = a + 1":                            true,
		"var x = []; x.push(a); x[0] = 2;":     true,
		"x = a":                                false,
		"var x; if (a) x = 1;":                 false,
		"if (a) { var x = 1; }":                false,
		"x++; var x = 1;":                      false,
		"var y = x; var x = 1;":                false,
		"var x = 1; setVariable('a', x, 'r');": false,
		"var x = Math.random();":               false,
		"String.prototype.z = 1;":              false,
		"var x = 1; pipeline_Status = 0;":      false,
		"this.q = 1":                           false,
		"var x = java.lang.Math.abs(a)":        false,
	} {
		s, err := javascript.Compile("p", source)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.IsPure([]string{"a"}); got != want {
			t.Errorf("%s: pure %v, want %v", source, got, want)
		}
	}
}
