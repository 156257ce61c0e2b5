package calc

import (
	"strings"
	"unicode/utf16"

	"sluice/engine/batch"
)

func distance(f func(a, b string) int) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := p.all(s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.Integer, func(out *batch.Column, i int) error {
				out.AppendInt(int64(f(a.Str(i), b.Str(i))))
				return nil
			}, a, b)
		}, batch.String, batch.String)
		return k, batch.Integer, err
	}
}

func similarity(f func(a, b string) float64) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := p.all(s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.Number, func(out *batch.Column, i int) error {
				out.AppendFloat(f(a.Str(i), b.Str(i)))
				return nil
			}, a, b)
		}, batch.String, batch.String)
		return k, batch.Number, err
	}
}

func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// Levenshtein is the number of insertions, deletions and substitutions between
// two texts, in UTF-16 units.
func Levenshtein(a, b string) int {
	x, y := units(a), units(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal + bit(x[i] != y[j])
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// DamerauLevenshtein counts a swap of neighbours as one step too.
func DamerauLevenshtein(a, b string) int {
	x, y := units(a), units(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range y {
		d[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+bit(x[i-1] != y[j-1]))
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// NeedlemanWunsch is the score of the best alignment of two texts: 0 for equal
// characters, -1 for a substitution and for a gap.
func NeedlemanWunsch(a, b string) int { return -Levenshtein(a, b) }

// Jaro is the Jaro similarity of two texts, 0 to 1.
func Jaro(a, b string) float64 {
	x, y := units(a), units(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	window := max(0, max(len(x), len(y))/2-1)
	mx, my := make([]bool, len(x)), make([]bool, len(y))
	matches := 0
	for i := range x {
		for j := max(0, i-window); j < min(len(y), i+window+1); j++ {
			if !my[j] && x[i] == y[j] {
				mx[i], my[j] = true, true
				matches++
				break
			}
		}
	}
	if matches == 0 {
		return 0
	}
	moved, j := 0, 0
	for i := range x {
		if !mx[i] {
			continue
		}
		for !my[j] {
			j++
		}
		moved += bit(x[i] != y[j])
		j++
	}
	m := float64(matches)
	return (m/float64(len(x)) + m/float64(len(y)) + (m-float64(moved/2))/m) / 3
}

// The constants of Winkler's prefix bonus.
const (
	winklerPrefix = 4
	winklerWeight = 0.1
)

// JaroWinkler raises Jaro for a common prefix of up to four characters.
func JaroWinkler(a, b string) float64 {
	j := Jaro(a, b)
	x, y := units(a), units(b)
	n := 0
	for n < min(winklerPrefix, len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return j + float64(n)*winklerWeight*(1-j)
}

// letters keeps the ASCII letters of a text, in upper case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 32
		case r >= 'A' && r <= 'Z':
			return r
		}
		return -1
	}, s)
}

const soundexLength = 4

// Soundex is the American Soundex of a text.
func Soundex(s string) string {
	const codes = "01230120022455012623010202"
	w := letters(s)
	if w == "" {
		return ""
	}
	out := []byte{w[0]}
	last := codes[w[0]-'A']
	for i := 1; i < len(w) && len(out) < soundexLength; i++ {
		c := codes[w[i]-'A']
		if w[i] == 'H' || w[i] == 'W' {
			continue // silent: does not part equal codes
		}
		if c != '0' && c != last {
			out = append(out, c)
		}
		last = c
	}
	for len(out) < soundexLength {
		out = append(out, '0')
	}
	return string(out)
}

// RefinedSoundex is the refined Soundex of a text.
func RefinedSoundex(s string) string {
	const codes = "01360240043788015936020505"
	w := letters(s)
	if w == "" {
		return ""
	}
	out := []byte{w[0]}
	last := byte('*')
	for i := range len(w) {
		if c := codes[w[i]-'A']; c != last {
			out = append(out, c)
			last = c
		}
	}
	return string(out)
}
