package calc

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"sluice/engine/batch"
)

// textTo compiles a function on A's text.
func textTo(f func(string) string) func(*Program, *step) (kernel, batch.Type, error) {
	return textOrError(func(s string) (string, error) { return f(s), nil })
}

// textOrError compiles a function on A's text that may fail.
func textOrError(f func(string) (string, error)) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := p.as(s, 0, batch.String, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.String, func(out *batch.Column, i int) error {
				text, err := f(a.Str(i))
				out.AppendString(text)
				return err
			}, a)
		})
		return k, batch.String, err
	}
}

// lengthKernel counts UTF-16 units, as Java does; a null has none.
func lengthKernel(p *Program, s *step) (kernel, batch.Type, error) {
	k, err := p.as(s, 0, batch.String, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Integer, func(out *batch.Column, i int) error {
			out.AppendInt(int64(UnitCount(a.Bytes(i))))
			return nil
		})
	})
	return k, batch.Integer, err
}

// UnitCount is the number of UTF-16 units of a text.
func UnitCount(text []byte) int {
	n := 0
	for _, c := range text {
		switch {
		case c >= 0xF0:
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}

// InitCap makes the first character of every word upper case and the others
// lower case; a word ends at what is no letter, digit or underscore.
func InitCap(s string) string {
	start := true
	return strings.Map(func(r rune) rune {
		out := unicode.ToLower(r)
		if start {
			out = unicode.ToUpper(r)
		}
		start = !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
		return out
	}, s)
}

func without(chars string) func(string) string {
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(chars, r) {
				return -1
			}
			return r
		}, s)
	}
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func removeDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// MaskXML escapes the five characters that XML gives a meaning.
func MaskXML(s string) string { return xmlEscaper.Replace(s) }

// UnescapeXML replaces XML's entities and character references.
func UnescapeXML(s string) string { return html.UnescapeString(s) }

func useCDATA(s string) string { return "<![CDATA[" + s + "]]>" }

func escapeSQL(s string) string { return strings.ReplaceAll(s, "'", "''") }

// UnescapeHTML replaces HTML's entities and character references.
func UnescapeHTML(s string) string { return html.UnescapeString(s) }

// Names of HTML 4's entities, from the code points given in order.
const (
	latinEntities = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest " +
		"Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
		"agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
	greekUpper   = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega"
	greekLower   = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega"
	otherSymbols = "fnof thetasym upsih piv bull hellip prime Prime oline frasl weierp image real trade alefsym larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr " +
		"forall part exist empty nabla isin notin ni prod sum minus lowast radic prop infin ang and or cap cup int there4 sim cong asymp ne equiv le ge sub sup nsub sube supe oplus otimes perp sdot " +
		"lceil rceil lfloor rfloor lang rang loz spades clubs hearts diams OElig oelig Scaron scaron Yuml circ tilde ensp emsp thinsp zwnj zwj lrm rlm ndash mdash lsquo rsquo sbquo ldquo rdquo bdquo dagger Dagger permil lsaquo rsaquo euro"
)

// entities by character.
var entities = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{'&': "amp", '<': "lt", '>': "gt", '"': "quot"}
	run := func(first rune, names string) {
		for i, n := range strings.Fields(names) {
			m[first+rune(i)] = n
		}
	}
	run(0xA0, latinEntities)
	run(0x391, greekUpper)
	run(0x3B1, greekLower)
	delete(m, 0x3A2)
	for n := range strings.FieldsSeq(otherSymbols) {
		if r := []rune(html.UnescapeString("&" + n + ";")); len(r) == 1 {
			m[r[0]] = n
		}
	}
	m[0x2329], m[0x232A] = "lang", "rang"
	return m
})

// EscapeHTML replaces characters by HTML 4's named entities.
func EscapeHTML(s string) string {
	var b strings.Builder
	names := entities()
	for _, r := range s {
		if name, ok := names[r]; ok {
			b.WriteString("&" + name + ";")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// URLEncode encodes as Java's URLEncoder: letters, digits and ".-*_" stay, a
// blank becomes "+".
func URLEncode(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case (c|0x20 >= 'a' && c|0x20 <= 'z') || (c >= '0' && c <= '9') || strings.IndexByte(".-*_", c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// URLDecode is the opposite of URLEncode.
func URLDecode(s string) (string, error) { return url.QueryUnescape(s) }

// base64Encode compiles the encoding of A's bytes.
func base64Encode(padded bool) func(*Program, *step) (kernel, batch.Type, error) {
	enc := base64.RawStdEncoding
	if padded {
		enc = base64.StdEncoding
	}
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k := kernel(func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.String, func(out *batch.Column, i int) error {
				out.Data = enc.AppendEncode(out.Data, a.Bytes(i))
				out.EndValue()
				return nil
			}, a)
		})
		if s.fields[0].Type == batch.Binary {
			return k, batch.String, nil
		}
		k, err := p.as(s, 0, batch.String, k)
		return k, batch.String, err
	}
}

// base64Decode reads with or without padding, line ends and URL-safe letters, as
// Commons Codec does.
func base64Decode(s string) (string, error) {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\n', ' ', '\t', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s)
	out, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("not Base64: %w", err)
	}
	return string(out), nil
}

const hexDigits = "0123456789ABCDEF"

// byteToHex writes the low byte of each UTF-16 unit as two digits.
func byteToHex(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.Write([]byte{hexDigits[u>>4&15], hexDigits[u&15]})
	}
	return b.String()
}

// charToHex writes each UTF-16 unit as four digits.
func charToHex(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.Write([]byte{hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15]})
	}
	return b.String()
}

func hexToByte(s string) (string, error) { return fromHex(s, 2) }

func hexToChar(s string) (string, error) { return fromHex(s, 4) }

// fromHex reads groups of digits; missing leading ones are zero.
func fromHex(s string, width int) (string, error) {
	if r := len(s) % width; r != 0 {
		s = strings.Repeat("0", width-r) + s
	}
	units := make([]uint16, 0, len(s)/width)
	for i := 0; i < len(s); i += width {
		u := uint16(0)
		for _, c := range []byte(s[i : i+width]) {
			d := strings.IndexByte(hexDigits, c&^(0x20&(c>>1)))
			if d < 0 {
				return "", fmt.Errorf("invalid hex digit %q", c)
			}
			u = u<<4 | uint16(d)
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units)), nil
}

func substituteVariables(p *Program, s *step) (kernel, batch.Type, error) {
	return textOrError(func(text string) (string, error) {
		if p.o.Resolve == nil {
			return text, nil
		}
		return p.o.Resolve(text)
	})(p, s)
}

func xmlWellFormed(p *Program, s *step) (kernel, batch.Type, error) {
	k, err := p.as(s, 0, batch.String, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Boolean, func(out *batch.Column, i int) error {
			out.AppendBool(!a.IsNull(i) && wellFormed(strings.NewReader(a.Str(i))))
			return nil
		})
	})
	return k, batch.Boolean, err
}

// wellFormed says whether r holds one XML document.
func wellFormed(r io.Reader) bool {
	dec := xml.NewDecoder(r)
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	roots, depth := 0, 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return roots == 1 && depth == 0
		}
		if err != nil {
			return false
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(strings.TrimPrefix(string(tok), "\ufeff")) != "" {
				return false
			}
		}
	}
}
