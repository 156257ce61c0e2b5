package javaregex

import (
	"strings"
	"unicode"
)

// property reads the name behind \p or \P and gives its characters.
func (t *translator) property() set {
	name := string(t.next())
	if name == "{" {
		start := t.pos
		for t.more() && t.peek() != '}' {
			t.pos++
		}
		name = string(t.src[start:t.pos])
		t.next()
	}
	s, ok := propertySet(name)
	if !ok {
		t.fail("character property {%s} is not known", name)
	}
	return s
}

var posix = map[string]set{
	"Lower":  {{'a', 'z'}},
	"Upper":  {{'A', 'Z'}},
	"ASCII":  {{0, 0x7F}},
	"Alpha":  {{'A', 'Z'}, {'a', 'z'}},
	"Digit":  {{'0', '9'}},
	"Alnum":  {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
	"Punct":  {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}},
	"Graph":  {{'!', '~'}},
	"Print":  {{' ', '~'}},
	"Blank":  {{'\t', '\t'}, {' ', ' '}},
	"Cntrl":  {{0, 0x1F}, {0x7F, 0x7F}},
	"XDigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
	"Space":  {{'\t', '\r'}, {' ', ' '}},
	"L1":     {{0, 0xFF}},
	"all":    {{0, maxRune}},
}

// blocks holds the Unicode blocks that patterns name most; Go knows none.
var blocks = map[string]span{
	"basiclatin": {0, 0x7F}, "latin1supplement": {0x80, 0xFF}, "latinextendeda": {0x100, 0x17F}, "latinextendedb": {0x180, 0x24F},
	"combiningdiacriticalmarks": {0x300, 0x36F}, "greek": {0x370, 0x3FF}, "greekandcoptic": {0x370, 0x3FF}, "cyrillic": {0x400, 0x4FF},
	"hebrew": {0x590, 0x5FF}, "arabic": {0x600, 0x6FF}, "devanagari": {0x900, 0x97F}, "thai": {0xE00, 0xE7F},
	"generalpunctuation": {0x2000, 0x206F}, "currencysymbols": {0x20A0, 0x20CF}, "hiragana": {0x3040, 0x309F}, "katakana": {0x30A0, 0x30FF},
	"cjkunifiedideographs": {0x4E00, 0x9FFF}, "hangulsyllables": {0xAC00, 0xD7AF}, "emoticons": {0x1F600, 0x1F64F},
}

var binaryProperties = map[string]func() set{
	"ALPHABETIC":  func() set { return categorySet("L").union(categorySet("Nl")).union(tableSet(unicode.Other_Alphabetic)) },
	"IDEOGRAPHIC": func() set { return tableSet(unicode.Ideographic) },
	"LETTER":      func() set { return categorySet("L") },
	"LOWERCASE":   func() set { return categorySet("Ll").union(tableSet(unicode.Other_Lowercase)) },
	"UPPERCASE":   func() set { return categorySet("Lu").union(tableSet(unicode.Other_Uppercase)) },
	"TITLECASE":   func() set { return categorySet("Lt") },
	"PUNCTUATION": func() set { return categorySet("P") },
	"CONTROL":     func() set { return categorySet("Cc") },
	"WHITE_SPACE": func() set { return tableSet(unicode.White_Space) },
	"DIGIT":       func() set { return categorySet("Nd") },
	"HEX_DIGIT":   func() set { return tableSet(unicode.Hex_Digit) },
}

var javaMethods = map[string]func() set{
	"javaLowerCase":     binaryProperties["LOWERCASE"],
	"javaUpperCase":     binaryProperties["UPPERCASE"],
	"javaAlphabetic":    binaryProperties["ALPHABETIC"],
	"javaTitleCase":     binaryProperties["TITLECASE"],
	"javaDigit":         binaryProperties["DIGIT"],
	"javaLetter":        binaryProperties["LETTER"],
	"javaLetterOrDigit": func() set { return categorySet("L").union(categorySet("Nd")) },
	"javaSpaceChar":     func() set { return categorySet("Z") },
	"javaWhitespace": func() set {
		return set{{'\t', '\r'}, {0x1C, 0x1F}}.union(categorySet("Z").intersect(set{{0xA0, 0xA0}, {0x2007, 0x2007}, {0x202F, 0x202F}}.negate()))
	},
	"javaISOControl": func() set { return set{{0, 0x1F}, {0x7F, 0x9F}} },
}

func propertySet(name string) (set, bool) {
	if key, value, ok := strings.Cut(name, "="); ok {
		return keyedSet(strings.ToLower(key), value)
	}
	if s, ok := posix[name]; ok {
		return s, true
	}
	if f, ok := javaMethods[name]; ok {
		return f(), true
	}
	if rest, ok := strings.CutPrefix(name, "In"); ok {
		return keyedSet("blk", rest)
	}
	if rest, ok := strings.CutPrefix(name, "Is"); ok {
		if f, ok := binaryProperties[strings.ToUpper(rest)]; ok {
			return f(), true
		}
		if _, ok := unicode.Categories[rest]; ok {
			return categorySet(rest), true
		}
		return keyedSet("sc", rest)
	}
	if name == "LC" {
		return categorySet("Lu").union(categorySet("Ll")).union(categorySet("Lt")), true
	}
	if _, ok := unicode.Categories[name]; ok {
		return categorySet(name), true
	}
	return nil, false
}

func keyedSet(key, value string) (set, bool) {
	switch key {
	case "sc", "script":
		for name, table := range unicode.Scripts {
			if strings.EqualFold(name, value) {
				return tableSet(table), true
			}
		}
	case "blk", "block":
		s, ok := blocks[strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(value))]
		return set{s}, ok
	case "gc", "general_category":
		if _, ok := unicode.Categories[value]; ok {
			return categorySet(value), true
		}
	}
	return nil, false
}

func categorySet(name string) set { return tableSet(unicode.Categories[name]) }

func tableSet(t *unicode.RangeTable) set {
	var s set
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			s = append(s, span{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			s = append(s, span{c, c})
		}
	}
	for _, r := range t.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return s.normal()
}
