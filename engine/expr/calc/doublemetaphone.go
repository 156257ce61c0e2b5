package calc

import "strings"

// DoubleMetaphone is the primary code of Lawrence Philips' Double Metaphone, up to
// four characters.
func DoubleMetaphone(s string) string {
	d := doubleMetaphone{w: strings.ToUpper(strings.TrimSpace(s))}
	if d.w == "" {
		return ""
	}
	d.slavic = strings.ContainsAny(d.w, "WK") || strings.Contains(d.w, "CZ") || strings.Contains(d.w, "WITZ")
	for _, silent := range []string{"GN", "KN", "PN", "WR", "PS"} {
		if strings.HasPrefix(d.w, silent) {
			d.at = 1
		}
	}
	for d.at < len(d.w) && len(d.out) < metaphoneLength {
		d.at += d.next()
	}
	return string(d.out[:min(len(d.out), metaphoneLength)])
}

type doubleMetaphone struct {
	w      string
	at     int
	out    []byte
	slavic bool
}

func (d *doubleMetaphone) put(s string) { d.out = append(d.out, s...) }

// char gives the character d away, 0 outside of the word.
func (d *doubleMetaphone) char(n int) byte {
	if i := d.at + n; i >= 0 && i < len(d.w) {
		return d.w[i]
	}
	return 0
}

// has says whether one of the texts stands n away.
func (d *doubleMetaphone) has(n int, texts ...string) bool {
	i := d.at + n
	if i < 0 || i > len(d.w) {
		return false
	}
	for _, t := range texts {
		if strings.HasPrefix(d.w[i:], t) {
			return true
		}
	}
	return false
}

func (d *doubleMetaphone) begins(texts ...string) bool {
	for _, t := range texts {
		if strings.HasPrefix(d.w, t) {
			return true
		}
	}
	return false
}

func (d *doubleMetaphone) vowel(n int) bool { return isOneOf(d.char(n), "AEIOUY") }

func (d *doubleMetaphone) last() bool { return d.at == len(d.w)-1 }

// doubled puts a code; the same letter twice counts once.
func (d *doubleMetaphone) doubled(code string) int {
	d.put(code)
	if d.char(1) == d.char(0) {
		return 2
	}
	return 1
}

// next codes the sound at the current place and gives its length in bytes.
func (d *doubleMetaphone) next() int {
	switch c := d.char(0); c {
	case 'A', 'E', 'I', 'O', 'U', 'Y':
		if d.at == 0 {
			d.put("A")
		}
	case 'B':
		return d.doubled("P")
	case 'C':
		return d.c()
	case 'D':
		return d.d()
	case 'F', 'N', 'K':
		return d.doubled(string(c))
	case 'G':
		return d.g()
	case 'H':
		if (d.at == 0 || d.vowel(-1)) && d.vowel(1) {
			d.put("H")
			return 2
		}
	case 'J':
		return d.j()
	case 'L':
		return d.doubled("L")
	case 'M':
		d.put("M")
		if d.char(1) == 'M' || (d.has(-1, "UMB") && (d.at+1 == len(d.w)-1 || d.has(2, "ER"))) {
			return 2
		}
	case 'P':
		if d.char(1) == 'H' {
			d.put("F")
			return 2
		}
		d.put("P")
		if d.has(1, "P", "B") {
			return 2
		}
	case 'Q':
		return d.doubled("K")
	case 'R':
		if d.last() && !d.slavic && d.has(-2, "IE") && !d.has(-4, "ME", "MA") {
			return 1 // silent at the end of French words
		}
		return d.doubled("R")
	case 'S':
		return d.s()
	case 'T':
		return d.t()
	case 'V':
		return d.doubled("F")
	case 'W':
		return d.wx()
	case 'X':
		if d.at == 0 {
			d.put("S")
			return 1
		}
		if !(d.last() && (d.has(-3, "IAU", "EAU") || d.has(-2, "AU", "OU"))) {
			d.put("KS")
		}
		if d.has(1, "C", "X") {
			return 2
		}
	case 'Z':
		if d.char(1) == 'H' {
			d.put("J")
			return 2
		}
		return d.doubled("S")
	case 0xC3: // first byte of Ç and Ñ
		switch d.char(1) {
		case 0x87:
			d.put("S")
			return 2
		case 0x91:
			d.put("N")
			return 2
		}
	}
	return 1
}

func (d *doubleMetaphone) c() int {
	switch {
	case d.at > 1 && !d.vowel(-2) && d.has(-1, "ACH") && ((d.char(2) != 'I' && d.char(2) != 'E') || d.has(-2, "BACHER", "MACHER")):
		d.put("K")
		return 2
	case d.at == 0 && d.has(0, "CAESAR"):
		d.put("S")
		return 2
	case d.has(0, "CH"):
		return d.ch()
	case d.has(0, "CZ") && !d.has(-2, "WICZ"):
		d.put("S")
		return 2
	case d.has(1, "CIA"):
		d.put("X")
		return 3
	case d.has(0, "CC") && !(d.at == 1 && d.w[0] == 'M'):
		return d.cc()
	case d.has(0, "CK", "CG", "CQ"):
		d.put("K")
		return 2
	case d.has(0, "CI", "CE", "CY"):
		d.put("S")
		return 2
	}
	d.put("K")
	switch {
	case d.has(1, " C", " Q", " G"):
		return 3
	case d.has(1, "C", "K", "Q") && !d.has(1, "CE", "CI"):
		return 2
	}
	return 1
}

func (d *doubleMetaphone) ch() int {
	greek := d.at == 0 && (d.has(1, "HARAC", "HARIS") || d.has(1, "HOR", "HYM", "HIA", "HEM")) && !d.begins("CHORE")
	german := d.begins("VAN ", "VON ", "SCH") || d.has(-2, "ORCHES", "ARCHIT", "ORCHID") || d.has(2, "T", "S") ||
		((d.has(-1, "A", "O", "U", "E") || d.at == 0) && (d.has(2, "L", "R", "N", "M", "B", "H", "F", "V", "W", " ") || d.at+1 == len(d.w)-1))
	switch {
	case d.at > 0 && d.has(0, "CHAE"):
		d.put("K")
	case greek, german:
		d.put("K")
	case d.at > 0 && d.begins("MC"):
		d.put("K")
	default:
		d.put("X")
	}
	return 2
}

func (d *doubleMetaphone) cc() int {
	if d.has(2, "I", "E", "H") && !d.has(2, "HU") {
		if (d.at == 1 && d.char(-1) == 'A') || d.has(-1, "UCCEE", "UCCES") {
			d.put("KS")
		} else {
			d.put("X")
		}
		return 3
	}
	d.put("K")
	return 2
}

func (d *doubleMetaphone) d() int {
	switch {
	case d.has(0, "DG") && d.has(2, "I", "E", "Y"):
		d.put("J")
		return 3
	case d.has(0, "DG"):
		d.put("TK")
		return 2
	}
	d.put("T")
	if d.has(0, "DT", "DD") {
		return 2
	}
	return 1
}

func (d *doubleMetaphone) g() int {
	switch {
	case d.char(1) == 'H':
		return d.gh()
	case d.char(1) == 'N':
		if d.at == 1 && d.vowel(-1) && !d.slavic {
			d.put("KN")
		} else if !d.has(2, "EY") && d.char(1) != 'Y' && !d.slavic {
			d.put("N")
		} else {
			d.put("KN")
		}
		return 2
	case d.has(1, "LI") && !d.slavic:
		d.put("KL")
		return 2
	case d.at == 0 && (d.char(1) == 'Y' || d.has(1, "ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN", "IE", "EI", "ER")):
		d.put("K")
		return 2
	case (d.has(1, "ER") || d.char(1) == 'Y') && !d.begins("DANGER", "RANGER", "MANGER") && !d.has(-1, "E", "I") && !d.has(-1, "RGY", "OGY"):
		d.put("K")
		return 2
	case d.has(1, "E", "I", "Y") || d.has(-1, "AGGI", "OGGI"):
		if d.begins("VAN ", "VON ", "SCH") || d.has(1, "ET") {
			d.put("K")
		} else {
			d.put("J")
		}
		return 2
	}
	return d.doubled("K")
}

func (d *doubleMetaphone) gh() int {
	switch {
	case d.at > 0 && !d.vowel(-1):
		d.put("K")
	case d.at == 0 && d.char(2) == 'I':
		d.put("J")
	case d.at == 0:
		d.put("K")
	case (d.at > 1 && d.has(-2, "B", "H", "D")) || (d.at > 2 && d.has(-3, "B", "H", "D")) || (d.at > 3 && d.has(-4, "B", "H")):
	case d.at > 2 && d.char(-1) == 'U' && d.has(-3, "C", "G", "L", "R", "T"):
		d.put("F")
	case d.char(-1) != 'I':
		d.put("K")
	}
	return 2
}

func (d *doubleMetaphone) j() int {
	switch {
	case d.has(0, "JOSE"), d.begins("SAN "):
		if (d.at == 0 && (d.char(4) == ' ' || len(d.w) == 4)) || d.begins("SAN ") {
			d.put("H")
		} else {
			d.put("J")
		}
		return 1
	case d.at == 0:
		d.put("J")
	case d.vowel(-1) && !d.slavic && (d.char(1) == 'A' || d.char(1) == 'O'):
		d.put("J")
	case d.last():
		d.put("J")
	case !d.has(1, "L", "T", "K", "S", "N", "M", "B", "Z") && !d.has(-1, "S", "K", "L"):
		d.put("J")
	}
	if d.char(1) == 'J' {
		return 2
	}
	return 1
}

func (d *doubleMetaphone) s() int {
	switch {
	case d.has(-1, "ISL", "YSL"):
		return 1
	case d.at == 0 && d.has(0, "SUGAR"):
		d.put("X")
		return 1
	case d.has(0, "SH"):
		if d.has(1, "HEIM", "HOEK", "HOLM", "HOLZ") {
			d.put("S")
		} else {
			d.put("X")
		}
		return 2
	case d.has(0, "SIO", "SIA"):
		d.put("S")
		return 3
	case (d.at == 0 && d.has(1, "M", "N", "L", "W")) || d.has(1, "Z"):
		d.put("S")
		if d.char(1) == 'Z' {
			return 2
		}
		return 1
	case d.has(0, "SC"):
		return d.sc()
	}
	if !(d.last() && d.has(-2, "AI", "OI")) {
		d.put("S")
	}
	if d.has(1, "S", "Z") {
		return 2
	}
	return 1
}

func (d *doubleMetaphone) sc() int {
	switch {
	case d.char(2) != 'H' && d.has(2, "I", "E", "Y"):
		d.put("S")
	case d.char(2) != 'H':
		d.put("SK")
	case d.has(3, "ER", "EN"):
		d.put("X")
	case d.has(3, "OO", "UY", "ED", "EM"):
		d.put("SK")
	default:
		d.put("X")
	}
	return 3
}

func (d *doubleMetaphone) t() int {
	switch {
	case d.has(0, "TION", "TIA", "TCH"):
		d.put("X")
		return 3
	case d.has(0, "TH", "TTH"):
		if d.has(2, "OM", "AM") || d.begins("VAN ", "VON ", "SCH") {
			d.put("T")
		} else {
			d.put("0")
		}
		return 2
	}
	d.put("T")
	if d.has(1, "T", "D") {
		return 2
	}
	return 1
}

// wx codes W, which is mostly silent.
func (d *doubleMetaphone) wx() int {
	switch {
	case d.has(0, "WR"):
		d.put("R")
		return 2
	case d.at == 0 && (d.vowel(1) || d.has(0, "WH")):
		d.put("A")
	case (d.last() && d.vowel(-1)) || d.has(-1, "EWSKI", "EWSKY", "OWSKI", "OWSKY") || d.begins("SCH"):
	case d.has(0, "WICZ", "WITZ"):
		d.put("TS")
		return 4
	}
	return 1
}
