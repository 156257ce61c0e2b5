package text

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

const missing = "<absent>"

// slowRows reads a text the plain way: one field after the other, from strings.
func slowRows(text, sep, quote string, columns int, inside bool) [][]string {
	var rows [][]string
	for text != "" {
		var row []string
		ended := false
		for !ended && (text != "" || len(row) == 0) {
			var field string
			field, text, ended = slowField(text, sep, quote, inside && len(row) < columns-1)
			row = append(row, field)
			if !ended && text == "" {
				break
			}
		}
		if ended {
			text = slowSkip(text, len(row) > columns)
		}
		for len(row) < columns {
			row = append(row, missing)
		}
		rows = append(rows, row[:columns])
	}
	return rows
}

func slowSkip(text string, all bool) string {
	if text == "" || !strings.Contains("\r\n", text[:1]) {
		return text
	}
	if all {
		return strings.TrimLeft(text, "\r\n")
	}
	return text[1:]
}

// slowField takes one field off a text: it, what follows the separator or line
// end, and whether that was a line end.
func slowField(text, sep, quote string, keepLineEnds bool) (field, rest string, lineEnd bool) {
	at, closed, twice := 0, false, false
	if quote != "" && strings.HasPrefix(text, quote) {
		body, ok := slowClosed(text[len(quote):], quote)
		if !ok {
			return text, "", false
		}
		at, closed = len(quote)+len(body)+len(quote), true
		twice = strings.Contains(body, quote)
	}
	for at < len(text) && !strings.HasPrefix(text[at:], sep) && (keepLineEnds || text[at] != '\n' && text[at] != '\r') {
		at++
	}
	field = text[:at]
	if closed {
		field = field[len(quote) : len(field)-len(quote)]
	}
	if twice {
		field = strings.ReplaceAll(field, quote+quote, quote)
	}
	switch {
	case at == len(text):
		return field, "", false
	case strings.HasPrefix(text[at:], sep):
		return field, text[at+len(sep):], false
	}
	return field, text[at+1:], true
}

// slowClosed gives what stands before the closing quote, doubled ones included.
func slowClosed(text, quote string) (string, bool) {
	for at := 0; at < len(text); {
		switch {
		case strings.HasPrefix(text[at:], quote+quote):
			at += 2 * len(quote)
		case strings.HasPrefix(text[at:], quote):
			return text[:at], true
		default:
			at++
		}
	}
	return "", false
}

// blockRows reads a text with the cutter and the scanner.
func blockRows(t testing.TB, text string, d dialect, columns, size int) [][]string {
	t.Helper()
	c := newCutter(strings.NewReader(text), d, columns, &blocks{})
	c.size = size
	s := newScanner(d, columns)
	var rows [][]string
	for {
		b, err := c.next(t.Context())
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		s.reset()
		for s.pos < b.n {
			n := s.scan(b.data, b.n, 3)
			if n == 0 {
				t.Fatalf("no record found at %d of %d", s.pos, b.n)
			}
			for r := range n {
				var row []string
				for _, sp := range s.spans[r*columns : (r+1)*columns] {
					row = append(row, spanText(b.data, d, sp))
				}
				rows = append(rows, row)
			}
		}
	}
}

func spanText(data []byte, d dialect, sp span) string {
	if sp == absent {
		return missing
	}
	from := sp.start &^ doubled
	text := string(data[from:sp.end])
	if sp.start&doubled != 0 {
		copied := []byte(text)
		text = string(copied[:undouble(copied, d.quote, 0, len(copied))])
	}
	return text
}

func equalRows(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal[[]string]) }

// checkCSV compares the readers with the slow one at every block size.
func checkCSV(t *testing.T, text, sep, quote string, columns int, inside bool) {
	t.Helper()
	want := slowRows(text, sep, quote, columns, inside)
	d := dialect{separator: []byte(sep), quote: []byte(quote), lineEndsInside: inside}
	for size := 1; size <= len(text)+1; size++ {
		if got := blockRows(t, text, d, columns, size); !equalRows(got, want) {
			t.Fatalf("separator %q, quote %q, %d columns, line ends inside %v, blocks of %d bytes:\n%q\ngives %q\nwant  %q", sep, quote, columns, inside, size, text, got, want)
		}
	}
}

func TestScannerAgreesWithTheSlowReader(t *testing.T) {
	texts := map[string]string{
		"plain":              "a,b,c\nd,e,f\n",
		"no last line end":   "a,b,c\nd,e,f",
		"dos":                "a,b,c\r\nd,e,f\r\n",
		"mac":                "a,b,c\rd,e,f\r",
		"ends in separator":  "a,b,c\nd,e,",
		"blank lines":        "a,b,c\n\n\n\nd,e,f\n\n",
		"blank dos lines":    "a,b,c\r\n\r\n\r\nd,e,f\r\n",
		"short and long":     "a\nb,c,d,e,f\n\n\ng,h,i\n",
		"quoted":             "\"a\",\"b,1\",\"c\"\n\"d\n1\",e,\"f\"\"f\"\n",
		"only quotes":        "\"\",\"\"\"\",\"\"\"\"\"\"\n",
		"junk behind quotes": "\"a\"x,\"b\"\"\"y\"z,c\nd,e,f\n",
		"stray quotes":       "5\" pipe,b\"\",c\"\nd,\"e\n,\",f\n",
		"never closed":       "a,b,c\nd,\"e\nf,g\n",
		"quote at the end":   "a,b,c\nd,e,\"",
		"closed at the end":  "a,b,c\nd,e,\"f\"",
		"surplus quoted":     "a,b,c,\"x\ny\",z\n\n\nd,e,f\n",
		"eight bytes":        "aaaaaaa,bbbbbbb,ccccccc\nddddddd,eeeeeee,fffffff\n",
		"utf-8":              "ä,€,𝄞\nß,\"ö,\",ü\n",
		"empty":              "",
		"one line end":       "\n",
		"two bars":           "a||b|||c\n|\"||d\"|e||\"f||\"||g\n",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, sep := range []string{",", "||", ";"} {
				for _, quote := range []string{`"`, "", "''", "'"} {
					for columns := 1; columns <= 4; columns++ {
						checkCSV(t, text, sep, quote, columns, false)
						checkCSV(t, text, sep, quote, columns, true)
					}
				}
			}
		})
	}
}

func FuzzCSV(f *testing.F) {
	f.Add("a,\"b\"\"\n\",c\r\n\r\nd,5\" x,f\n", byte(0), uint8(3))
	f.Add("x||y\n\"a||\"||b", byte(1), uint8(2))
	f.Fuzz(func(t *testing.T, text string, kind byte, columns uint8) {
		if len(text) > 200 {
			return
		}
		text = strings.NewReplacer("q", `"`, "s", ",", "n", "\n", "r", "\r").Replace(text)
		sep := []string{",", "||", "\t", "€"}[kind&3]
		quote := []string{`"`, "", "'", "##"}[kind>>2&3]
		checkCSV(t, text, sep, quote, 1+int(columns&3), kind&16 != 0)
	})
}
