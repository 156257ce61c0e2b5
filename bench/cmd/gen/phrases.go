package main

import "strings"

// words of the notes and names.
var words = strings.Fields(`carton pallet crate ring bell twice deliver before noon after hours leave with
	neighbour careful glass keep upright cold chain gift card attached second attempt paid in advance
	partial shipment replaces earlier order sample lot spare part red green grey medium extra wide
	north dock south gate floor three ask reception signature needed thank you`)

const phraseCount = 4096

// phrases are the notes, drawn once: text that repeats, as real notes do.
type phrases struct {
	plain  []string // as they are
	quoted []string // with their enclosure: they hold a comma or quotes
}

func newPhrases(seed uint64) phrases {
	r := random(seed ^ 0x6e6f7465)
	p := phrases{plain: make([]string, phraseCount), quoted: make([]string, phraseCount)}
	for i := range phraseCount {
		p.plain[i] = phrase(&r)
	}
	for i := range phraseCount {
		first, second := phrase(&r), phrase(&r)
		if r.below(2) == 0 {
			p.quoted[i] = `"` + first + `, ` + second + `"`
		} else {
			p.quoted[i] = `"` + first + ` ""` + second + `"""`
		}
	}
	return p
}

// phrase joins three to nine words.
func phrase(r *random) string {
	parts := make([]string, 3+r.below(7))
	for i := range parts {
		parts[i] = words[r.below(len(words))]
	}
	return strings.Join(parts, " ")
}
