package rows

import (
	"bytes"
	"html"
	"strings"
	"sync"
	"unicode/utf8"
)

var maskSteps = map[TextMask]textStep{
	"escapexml":   appendEscapedXML,
	"cdata":       appendCDATA,
	"unescapexml": appendUnescapedXML,
	"escapesql": func(dst, text []byte) []byte {
		return append(dst, bytes.ReplaceAll(text, []byte("'"), []byte("''"))...)
	},
	"escapehtml":   appendEscapedHTML,
	"unescapehtml": func(dst, text []byte) []byte { return append(dst, html.UnescapeString(string(text))...) },
}

var xmlEntities = map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\'': "&apos;"}

func appendEscapedXML(dst, text []byte) []byte {
	for _, c := range text {
		if e, ok := xmlEntities[c]; ok {
			dst = append(dst, e...)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func appendCDATA(dst, text []byte) []byte {
	dst = append(dst, "<![CDATA["...)
	dst = append(dst, text...)
	return append(dst, "]]>"...)
}

// appendUnescapedXML knows the five names of XML and numbers; other names stay.
func appendUnescapedXML(dst, text []byte) []byte {
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		text = text[at:]
		end := bytes.IndexByte(text, ';')
		if end < 0 {
			return append(dst, text...)
		}
		name := string(text[1:end])
		switch {
		case name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos" || strings.HasPrefix(name, "#"):
			dst = append(dst, html.UnescapeString("&"+name+";")...)
			text = text[end+1:]
		default:
			dst = append(dst, '&')
			text = text[1:]
		}
	}
}

// html4Names are the entities of HTML 4, which is what Hop writes.
const html4Names = `quot amp lt gt nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg
plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde
Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml
times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute
ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml
yacute thorn yuml fnof Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho Sigma Tau
Upsilon Phi Chi Psi Omega alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf
sigma tau upsilon phi chi psi omega thetasym upsih piv bull hellip prime Prime oline frasl weierp image real trade alefsym
larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr forall part exist empty nabla isin notin ni prod sum minus lowast
radic prop infin ang and or cap cup int there4 sim cong asymp ne equiv le ge sub sup nsub sube supe oplus otimes perp sdot
lceil rceil lfloor rfloor loz spades clubs hearts diams OElig oelig Scaron scaron Yuml circ tilde ensp emsp thinsp zwnj
zwj lrm rlm ndash mdash lsquo rsquo sbquo ldquo rdquo bdquo dagger Dagger permil lsaquo rsaquo euro`

// htmlEntities gives the entity of each character that has one.
var htmlEntities = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{}
	for name := range strings.FieldsSeq(html4Names) {
		entity := "&" + name + ";"
		if r, n := utf8.DecodeRuneInString(html.UnescapeString(entity)); n > 0 {
			m[r] = entity
		}
	}
	return m
})

func appendEscapedHTML(dst, text []byte) []byte {
	entities := htmlEntities()
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if e, ok := entities[r]; ok {
			dst = append(dst, e...)
		} else {
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}
