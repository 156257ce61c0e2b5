package formula

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// texts makes a function whose first argument is a text and whose others are
// numbers.
func texts(minArgs, maxArgs int, f func(s []uint16, x []float64) Value) *function {
	return values(minArgs, maxArgs, func(_ *Row, args []Value) Value {
		s, bad := args[0].asText()
		if bad.Kind == Failure {
			return bad
		}
		x := make([]float64, len(args)-1)
		for i, a := range args[1:] {
			if x[i], bad = a.asNumber(); bad.Kind == Failure {
				return bad
			}
		}
		return f(utf16.Encode([]rune(s)), x)
	})
}

// mapped makes a function from text to text.
func mapped(f func(string) string) *function {
	return strings1(func(s string) Value { return text(f(s)) })
}

// strings1 makes a function of one text.
func strings1(f func(string) Value) *function {
	return values(1, 1, func(_ *Row, args []Value) Value {
		s, bad := args[0].asText()
		if bad.Kind == Failure {
			return bad
		}
		return f(s)
	})
}

// allTexts makes a function of texts.
func allTexts(minArgs, maxArgs int, f func(s []string) Value) *function {
	return values(minArgs, maxArgs, func(_ *Row, args []Value) Value {
		s := make([]string, len(args))
		for i, a := range args {
			var bad Value
			if s[i], bad = a.asText(); bad.Kind == Failure {
				return bad
			}
		}
		return f(s)
	})
}

func units(u []uint16) Value { return text(string(utf16.Decode(u))) }

const maxCell = 1 << 20 // characters that REPT may make

func textFunctions() map[string]*function {
	join := func(s []string) Value { return text(strings.Join(s, "")) }
	return map[string]*function{
		"CONCATENATE": allTexts(1, -1, join),
		"CONCAT":      allTexts(1, -1, join),
		"TEXTJOIN":    textJoin(),
		"UPPER":       mapped(strings.ToUpper),
		"LOWER":       mapped(strings.ToLower),
		"PROPER":      mapped(proper),
		"TRIM": mapped(func(s string) string {
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
		}),
		"CLEAN": mapped(func(s string) string {
			return strings.Map(func(r rune) rune {
				if r < ' ' {
					return -1
				}
				return r
			}, s)
		}),
		"LEN": texts(1, 1, func(s []uint16, _ []float64) Value { return number(float64(len(s))) }),
		"LEFT": texts(1, 2, func(s []uint16, x []float64) Value {
			n := append(x, 1)[0]
			if n < 0 {
				return errValue
			}
			return units(s[:min(len(s), int(min(n, maxCell)))])
		}),
		"RIGHT": texts(1, 2, func(s []uint16, x []float64) Value {
			n := append(x, 1)[0]
			if n < 0 {
				return errValue
			}
			return units(s[len(s)-min(len(s), int(min(n, maxCell))):])
		}),
		"MID": texts(3, 3, func(s []uint16, x []float64) Value {
			if x[0] < 1 || x[1] < 0 {
				return errValue
			}
			from := min(len(s), int(min(x[0], maxCell))-1)
			return units(s[from:min(len(s), from+int(min(x[1], maxCell)))])
		}),
		"REPT": texts(2, 2, func(s []uint16, x []float64) Value {
			if x[0] < 0 || float64(len(s))*x[0] > maxCell {
				return errValue
			}
			return text(strings.Repeat(string(utf16.Decode(s)), int(x[0])))
		}),
		"CODE": strings1(func(s string) Value {
			if s == "" {
				return errValue
			}
			return number(float64([]rune(s)[0]))
		}),
		"CHAR": numbers(1, 1, func(x []float64) Value {
			if x[0] < 1 || x[0] >= 256 {
				return errValue
			}
			return text(string(rune(x[0])))
		}),
		"EXACT":      allTexts(2, 2, func(s []string) Value { return boolean(s[0] == s[1]) }),
		"FIND":       finder(false),
		"SEARCH":     finder(true),
		"SUBSTITUTE": substitute(),
		"REPLACE":    replace(),
		"VALUE": strings1(func(s string) Value {
			if f, ok := parseMoney(s); ok {
				return number(f)
			}
			return errValue
		}),
		"DOLLAR": money(func(f float64, s string) string {
			if f < 0 {
				return "($" + s + ")"
			}
			return "$" + s
		}, true),
		"FIXED": money(func(f float64, s string) string {
			if f < 0 {
				return "-" + s
			}
			return s
		}, false),
		"TEXT": values(2, 2, func(r *Row, a []Value) Value { return formatted(r, a[0], a[1]) }),
	}
}

func proper(s string) string {
	start := true
	return strings.Map(func(r rune) rune {
		out := unicode.ToLower(r)
		if start {
			out = unicode.ToUpper(r)
		}
		start = !unicode.IsLetter(r)
		return out
	}, s)
}

func textJoin() *function {
	return values(3, -1, func(_ *Row, args []Value) Value {
		sep, bad := args[0].asText()
		if bad.Kind == Failure {
			return bad
		}
		skip, bad := args[1].asBool()
		if bad.Kind == Failure {
			return bad
		}
		var parts []string
		for _, a := range args[2:] {
			s, _ := a.asText()
			if s != "" || !skip {
				parts = append(parts, s)
			}
		}
		return text(strings.Join(parts, sep))
	})
}

// finder makes FIND, and SEARCH, which ignores case and knows ? and *.
func finder(loose bool) *function {
	return values(2, 3, func(_ *Row, args []Value) Value {
		what, bad := args[0].asText()
		if bad.Kind == Failure {
			return bad
		}
		in, bad := args[1].asText()
		if bad.Kind == Failure {
			return bad
		}
		from := 1.0
		if len(args) > 2 {
			if from, bad = args[2].asNumber(); bad.Kind == Failure {
				return bad
			}
		}
		u := utf16.Encode([]rune(in))
		if from < 1 || int(from) > len(u)+1 {
			return errValue
		}
		w := utf16.Encode([]rune(what))
		if loose {
			u, w = utf16.Encode([]rune(strings.ToLower(in))), utf16.Encode([]rune(strings.ToLower(what)))
		}
		for i := int(from) - 1; i <= len(u); i++ {
			if prefixed(u[i:], w, loose) {
				return number(float64(i + 1))
			}
		}
		return errValue
	})
}

// prefixed says whether s begins with the pattern, in which * stands for any
// characters, ? for one and ~ takes the next as it is when wild is set. A * that
// fails is retried from the last one only, so that the time is bounded by the
// product of the lengths.
func prefixed(s, pattern []uint16, wild bool) bool {
	i, k, starAt, resume := 0, 0, -1, 0
	for k < len(pattern) {
		c, width := pattern[k], 1
		literal := !wild || (c != '*' && c != '?')
		if wild && c == '~' && k+1 < len(pattern) {
			c, width, literal = pattern[k+1], 2, true
		}
		switch {
		case !literal && c == '*':
			starAt, resume = k, i
			k++
		case i < len(s) && (!literal || s[i] == c):
			i++
			k += width
		case starAt >= 0 && resume < len(s):
			resume++
			i, k = resume, starAt+1
		default:
			return false
		}
	}
	return true
}

func substitute() *function {
	return values(3, 4, func(_ *Row, args []Value) Value {
		var s [3]string
		for i := range s {
			var bad Value
			if s[i], bad = args[i].asText(); bad.Kind == Failure {
				return bad
			}
		}
		if s[1] == "" {
			return text(s[0])
		}
		if len(args) < 4 {
			return text(strings.ReplaceAll(s[0], s[1], s[2]))
		}
		n, bad := args[3].asNumber()
		if bad.Kind == Failure {
			return bad
		}
		if n < 1 {
			return errValue
		}
		at := 0
		for k := 1; ; k++ {
			i := strings.Index(s[0][at:], s[1])
			if i < 0 {
				return text(s[0])
			}
			if k == int(n) {
				return text(s[0][:at+i] + s[2] + s[0][at+i+len(s[1]):])
			}
			at += i + len(s[1])
		}
	})
}

func replace() *function {
	return values(4, 4, func(_ *Row, args []Value) Value {
		old, bad := args[0].asText()
		if bad.Kind == Failure {
			return bad
		}
		with, bad := args[3].asText()
		if bad.Kind == Failure {
			return bad
		}
		start, bad := args[1].asNumber()
		if bad.Kind == Failure {
			return bad
		}
		n, bad := args[2].asNumber()
		if bad.Kind == Failure {
			return bad
		}
		if start < 1 || n < 0 {
			return errValue
		}
		u := utf16.Encode([]rune(old))
		from := min(len(u), int(start)-1)
		end := min(len(u), from+int(min(n, maxCell)))
		return text(string(utf16.Decode(u[:from])) + with + string(utf16.Decode(u[end:])))
	})
}

func parseMoney(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	negative := strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")")
	s = strings.NewReplacer("$", "", ",", "", "(", "", ")", "").Replace(s)
	f, ok := parseNumber(s)
	if negative {
		f = -f
	}
	return f, ok
}

// money makes DOLLAR and FIXED: digits with grouping.
func money(show func(f float64, digits string) string, alwaysGroup bool) *function {
	return numbers(1, 3, func(x []float64) Value {
		digits := 2.0
		if len(x) > 1 {
			digits = math.Trunc(max(-maxDigits, min(127, x[1])))
		}
		v := rounding(decimal.HalfUp)(x[0], digits)
		if v.Kind == Failure {
			return v
		}
		d, err := decimal.FromFloat64(math.Abs(v.Num))
		if err == nil {
			d, err = d.Rescale(int32(max(0, digits)), decimal.HalfUp)
		}
		if err != nil {
			return errNum
		}
		s := d.Plain()
		if alwaysGroup || len(x) < 3 || x[2] == 0 {
			s = grouped(s)
		}
		return text(show(v.Num, s))
	})
}

func grouped(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// formatted is TEXT: a date format when it holds date letters, else a number
// format, both by Java's masks, which cover the common ones.
func formatted(r *Row, v, format Value) Value {
	f, bad := format.asText()
	if bad.Kind == Failure {
		return bad
	}
	if v.Kind == Text {
		n, ok := parseNumber(v.Text)
		if !ok {
			return v
		}
		v = number(n)
	}
	x, bad := v.asNumber()
	if bad.Kind == Failure {
		return bad
	}
	if strings.ContainsAny(strings.ToLower(f), "ymdhs") {
		return dateText(r, x, f)
	}
	m, err := mask.CompileNumber(f, mask.NumberOptions{})
	if err != nil {
		return errValue
	}
	out, err := m.AppendFloat64(nil, x)
	if err != nil {
		return errValue
	}
	return text(string(out))
}

func dateText(r *Row, serial float64, format string) Value {
	t, ok := Time(serial, r.f.o.Location)
	if !ok {
		return errValue
	}
	m, err := mask.CompileDate(javaDateFormat(format), mask.DateOptions{Location: r.f.o.Location})
	if err != nil {
		return errValue
	}
	return text(string(m.AppendMillis(nil, t.UnixMilli())))
}

// javaDateFormat turns a spreadsheet's date format into Java's: m is a minute
// behind an h or before an s, else a month; dddd and ddd are day names.
func javaDateFormat(f string) string {
	var b strings.Builder
	low := strings.ToLower(f)
	half := strings.Contains(low, "am/pm")
	last := byte(0)
	for i := 0; i < len(low); {
		if strings.HasPrefix(low[i:], "am/pm") {
			b.WriteByte('a')
			i += len("am/pm")
			continue
		}
		c, n := low[i], 1
		for i+n < len(low) && low[i+n] == c {
			n++
		}
		rest := strings.TrimLeft(low[i+n:], ": .")
		switch {
		case c == 'm' && (last == 'h' || strings.HasPrefix(rest, "s")):
			b.WriteString(strings.Repeat("m", n))
		case c == 'm':
			b.WriteString(strings.Repeat("M", n))
		case c == 'h' && !half:
			b.WriteString(strings.Repeat("H", n))
		case c == 'd' && n >= 3:
			b.WriteString(strings.Repeat("E", n))
		case strings.IndexByte("ydhs", c) >= 0:
			b.WriteString(strings.Repeat(string(c), n))
		default:
			b.WriteString(f[i : i+n])
		}
		if c >= 'a' && c <= 'z' {
			last = c
		}
		i += n
	}
	return b.String()
}

// parseDateText reads the common spellings of a date or time.
func parseDateText(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02", "2006/01/02", "1/2/2006", "2-Jan-2006", "Jan 2, 2006", "January 2, 2006", "2006-01-02 15:04:05", "2006/01/02 15:04:05"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
