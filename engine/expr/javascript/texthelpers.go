package javascript

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"sluice/engine/batch/mask"
	"sluice/engine/expr/calc"
	"sluice/engine/expr/javaregex"
)

// onText makes a helper of one text; null gives null.
func onText(f func(string) any) helper {
	return func(_ *Runtime, a arguments) (any, error) {
		if err := a.need(1); err != nil || a.isNull(0) {
			return nil, err
		}
		return f(a.text(0)), nil
	}
}

func textual(f func(string) string) helper { return onText(func(s string) any { return f(s) }) }

const maxPadding = 1 << 20

var textHelpers = map[string]helper{
	"upper":           textual(strings.ToUpper),
	"lower":           textual(strings.ToLower),
	"initCap":         textual(calc.InitCap),
	"trim":            textual(func(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }),
	"ltrim":           textual(func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }),
	"rtrim":           textual(func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }),
	"escapeXml":       textual(calc.MaskXML),
	"unEscapeXml":     textual(calc.UnescapeXML),
	"escapeHtml":      textual(calc.EscapeHTML),
	"unEscapeHtml":    textual(calc.UnescapeHTML),
	"escapeSQL":       textual(func(s string) string { return strings.ReplaceAll(s, "'", "''") }),
	"protectXMLCDATA": textual(func(s string) string { return "<![CDATA[" + s + "]]>" }),
	"removeCRLF":      textual(strings.NewReplacer("\r", "", "\n", "").Replace),
	"getDigitsOnly":   textual(func(s string) string { return keepRunes(s, unicode.IsDigit) }),
	"removeDigits":    textual(func(s string) string { return keepRunes(s, func(r rune) bool { return !unicode.IsDigit(r) }) }),
	"LuhnCheck":       onText(func(s string) any { return luhn(s) }),
	"isRegExp":        func(_ *Runtime, a arguments) (any, error) { return anyMatch(a) },
	"str2RegExp":      groupsOf,
	"replace":         replaceText,
	"substr":          substr,
	"indexOf":         indexOf,
	"lpad":            padded(true),
	"rpad":            padded(false),
	"fillString":      fillString,
	"getOcuranceString": func(_ *Runtime, a arguments) (any, error) {
		if a.text(1) == "" {
			return 0, a.need(2)
		}
		return strings.Count(a.text(0), a.text(1)), a.need(2)
	},
	"getCountOccurences": func(_ *Runtime, a arguments) (any, error) {
		if a.text(1) == "" {
			return 0, a.need(2)
		}
		return strings.Count(a.text(0), a.text(1)), a.need(2)
	},
	"num2str":        num2str,
	"str2num":        str2num,
	"isNum":          isNum,
	"__matches":      wholeMatch,
	"__replaceFirst": replaceFirst,
	"isCodepage": func(_ *Runtime, a arguments) (any, error) {
		ascii := strings.IndexFunc(a.text(0), func(r rune) bool { return r > unicode.MaxASCII }) < 0
		return ascii || strings.HasPrefix(strings.ToUpper(a.text(1)), "UTF"), a.need(2)
	},
}

func keepRunes(s string, keep func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if keep(r) {
			return r
		}
		return -1
	}, s)
}

func luhn(s string) bool {
	sum, double := 0, false
	digits := keepRunes(s, unicode.IsDigit)
	for i := len(digits) - 1; i >= 0; i-- {
		d := int(digits[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return digits != "" && sum%10 == 0
}

// keptPatterns bounds the regular expressions that a runtime keeps.
const keptPatterns = 100

// pattern compiles a regular expression and keeps it for the next call.
func (r *Runtime) pattern(text string) (*javaregex.Regexp, error) {
	if re := r.patterns[text]; re != nil {
		return re, nil
	}
	re, err := javaregex.Compile(text, 0)
	if err != nil {
		return nil, err
	}
	if len(r.patterns) >= keptPatterns {
		clear(r.patterns)
	}
	r.patterns[text] = re
	return re, nil
}

func anyMatch(a arguments) (any, error) {
	if err := a.need(2); err != nil {
		return nil, err
	}
	for i := 1; i < a.len(); i++ {
		re, err := a.r.pattern(a.text(i))
		if err != nil {
			return nil, err
		}
		if re.MatchWholeString(a.text(0)) {
			return i, nil
		}
	}
	return -1, nil
}

func wholeMatch(_ *Runtime, a arguments) (any, error) {
	re, err := a.r.pattern(a.text(1))
	if err != nil {
		return nil, err
	}
	return re.MatchWholeString(a.text(0)), nil
}

func groupsOf(r *Runtime, a arguments) (any, error) {
	if err := a.need(2); err != nil || a.isNull(0) {
		return nil, err
	}
	re, err := a.r.pattern(a.text(1))
	if err != nil {
		return nil, err
	}
	text := a.text(0)
	at := re.WholeSubmatch([]byte(text))
	if at == nil {
		return nil, nil
	}
	var groups []any
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			groups = append(groups, nil)
			continue
		}
		groups = append(groups, text[at[i]:at[i+1]])
	}
	return r.vm.NewArray(groups...), nil
}

// replaceText takes pairs of a regular expression and its replacement.
func replaceText(_ *Runtime, a arguments) (any, error) {
	if a.len() < 3 || a.len()%2 == 0 {
		return nil, fmt.Errorf("it takes a text and pairs of what to replace and with what")
	}
	if a.isNull(0) {
		return nil, nil
	}
	s := a.text(0)
	for i := 1; i+1 < a.len(); i += 2 {
		re, err := a.r.pattern(a.text(i))
		if err != nil {
			return nil, err
		}
		with, err := re.Template(a.text(i + 1))
		if err != nil {
			return nil, err
		}
		s = re.ReplaceAllString(s, with)
	}
	return s, nil
}

func replaceFirst(_ *Runtime, a arguments) (any, error) {
	re, err := a.r.pattern(a.text(1))
	if err != nil {
		return nil, err
	}
	with, err := re.Template(a.text(2))
	if err != nil {
		return nil, err
	}
	return string(re.AppendReplacedFirst(nil, []byte(a.text(0)), with)), nil
}

func substr(_ *Runtime, a arguments) (any, error) {
	if err := a.need(2); err != nil || a.isNull(0) {
		return nil, err
	}
	u := utf16.Encode([]rune(a.text(0)))
	from := max(0, min(len(u), a.integer(1)))
	end := len(u)
	if a.len() > 2 {
		end = max(from, min(len(u), from+a.integer(2)))
	}
	return string(utf16.Decode(u[from:end])), nil
}

func indexOf(_ *Runtime, a arguments) (any, error) {
	if err := a.need(2); err != nil || a.isNull(0) {
		return -1, err
	}
	u, w := utf16.Encode([]rune(a.text(0))), utf16.Encode([]rune(a.text(1)))
	for i := max(0, a.integer(2)); i+len(w) <= len(u); i++ {
		if string(utf16.Decode(u[i:i+len(w)])) == string(utf16.Decode(w)) {
			return i, nil
		}
	}
	return -1, nil
}

func padded(left bool) helper {
	return func(_ *Runtime, a arguments) (any, error) {
		if err := a.need(3); err != nil || a.isNull(0) {
			return nil, err
		}
		s, fill, n := []rune(a.text(0)), []rune(a.text(1)), min(a.integer(2), maxPadding)
		if len(s) >= n || len(fill) == 0 {
			return string(s[:max(0, min(len(s), n))]), nil
		}
		pad := []rune(strings.Repeat(string(fill), (n-len(s))/len(fill)+1))[:n-len(s)]
		if left {
			return string(append(pad, s...)), nil
		}
		return string(append(s, pad...)), nil
	}
}

func fillString(_ *Runtime, a arguments) (any, error) {
	if err := a.need(2); err != nil {
		return nil, err
	}
	if len([]rune(a.text(0))) != 1 {
		return nil, fmt.Errorf("the fill character %q is not one character", a.text(0))
	}
	return strings.Repeat(a.text(0), max(0, min(maxPadding, a.integer(1)))), nil
}

const defaultNumberMask = "#,##0.###"

func num2str(_ *Runtime, a arguments) (any, error) {
	if err := a.need(1); err != nil || a.isNull(0) {
		return nil, err
	}
	p := defaultNumberMask
	if a.len() > 1 {
		p = a.text(1)
	}
	return numberText(a.number(0), p)
}

func str2num(_ *Runtime, a arguments) (any, error) {
	if err := a.need(1); err != nil || a.isNull(0) {
		return nil, err
	}
	s := strings.TrimSpace(a.text(0))
	if a.len() == 1 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", s)
		}
		return f, nil
	}
	m, err := mask.CompileNumber(a.text(1), mask.NumberOptions{Lenient: true})
	if err != nil {
		return nil, err
	}
	f, _, err := m.ParseFloat64([]byte(s))
	return f, err
}

func isNum(_ *Runtime, a arguments) (any, error) {
	if err := a.need(1); err != nil || a.isNull(0) {
		return false, err
	}
	f := a.number(0)
	return !math.IsNaN(f) && !math.IsInf(f, 0) && strings.TrimSpace(a.text(0)) != "", nil
}
