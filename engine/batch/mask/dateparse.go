package mask

import (
	"math"
	"unicode/utf8"
)

// ParseMillis reads a date as milliseconds since 1970-01-01 UTC. n is the number
// of bytes read; what follows them is ignored, as Hop does. Errors are
// *ParseError with ErrSyntax, or ErrRange in a strict mask.
func (m *DateMask) ParseMillis(text []byte) (ms int64, n int, err error) {
	ms, _, n, err = m.ParseTimestamp(text)
	return ms, n, err
}

// ParseTimestamp is ParseMillis with the nanoseconds (0…999,999) that follow the
// milliseconds; they come from masks of CompileTimestamp only.
func (m *DateMask) ParseTimestamp(text []byte) (ms int64, nanos int32, n int, err error) {
	if m.plain != nil {
		if ms, nanos, n, ok := m.plain.parse(text); ok {
			offset := m.zone.ofWall(ms)
			if m.lenient || m.zone.at(ms-offset).offset == offset {
				return ms - offset, nanos, n, nil
			}
		}
	}
	var f dateFields
	if n, err = m.scan(text, &f); err != nil {
		return 0, 0, 0, err
	}
	if ms, err = m.resolve(&f); err != nil {
		return 0, 0, 0, &ParseError{Text: string(text), Mask: m.pattern, Pos: n, Err: err}
	}
	return ms, f.nanos, n, nil
}

// scan reads the text into fields by the rules of SimpleDateFormat.parse.
func (m *DateMask) scan(text []byte, f *dateFields) (int, error) {
	at := 0
	for i := range m.items {
		it := &m.items[i]
		if it.letter == 0 {
			if !hasPrefix(text[at:], it.text) {
				return 0, m.fail(text, at)
			}
			at += len(it.text)
			continue
		}
		next := m.scanItem(text, at, it, f)
		if next < 0 {
			return 0, m.fail(text, at)
		}
		at = next
	}
	return at, nil
}

func (m *DateMask) fail(text []byte, at int) error {
	return &ParseError{Text: string(text), Mask: m.pattern, Pos: at, Err: ErrSyntax}
}

// scanItem returns the position behind the item, or -1.
func (m *DateMask) scanItem(text []byte, start int, it *dateItem, f *dateFields) int {
	at := start
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	if at == len(text) {
		return -1
	}
	switch it.letter {
	case 'z', 'Z':
		return m.scanZone(text, at, f)
	case 'X':
		return scanISOZone(text, at, it.count, f)
	case fraction:
		return scanFraction(text, at, it.count, f)
	}
	if names, field := m.names(it); names != nil {
		// Names do not follow blanks that the mask does not show.
		value, width := match(text[start:], names)
		if width == 0 {
			return -1
		}
		f.set(field, value)
		return start + width
	}
	limit := len(text)
	if it.obey {
		if limit = skipRunes(text, start, it.count); limit < 0 {
			return -1
		}
	}
	value, next, ok := scanInt(text[:limit], at)
	if !ok {
		return -1
	}
	if !m.setNumber(text, at, next, value, it, f) {
		return -1
	}
	return next
}

// skipRunes returns the position count characters on, or -1.
func skipRunes(text []byte, at, count int) int {
	for ; count > 0 && at < len(text); count-- {
		if text[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, width := utf8.DecodeRune(text[at:])
		at += width
	}
	if count > 0 {
		return -1
	}
	return at
}

func (m *DateMask) names(it *dateItem) ([]nameValue, dateField) {
	switch it.letter {
	case 'M', 'L':
		if it.count > 2 {
			return m.loc.months, fieldMonth
		}
	case 'E':
		return m.loc.days, fieldDayOfWeek
	case 'a':
		return m.loc.halves, fieldAmPm
	case 'G':
		return m.loc.eraNames, fieldEra
	}
	return nil, 0
}

// numberFields are the fields that take a number as it stands.
var numberFields = map[byte]dateField{
	'd': fieldDay, 'H': fieldHour24, 'm': fieldMinute, 's': fieldSecond, 'S': fieldMilli,
	'D': fieldDayOfYear, 'F': fieldDayOfWeekInMonth, 'w': fieldWeekOfYear, 'W': fieldWeekOfMonth,
	'K': fieldHour12, 'M': fieldMonth, 'L': fieldMonth,
}

func (m *DateMask) setNumber(text []byte, at, next, value int, it *dateItem, f *dateFields) bool {
	switch it.letter {
	case 'y', 'Y':
		if it.count <= 2 && next-at == 2 && text[at] != '-' {
			value = m.fullYear(value, f)
		}
		if it.letter == 'Y' {
			f.set(fieldWeekYear, value)
		} else {
			f.set(fieldYear, value)
		}
	case 'k', 'h':
		field, top := fieldHour24, 24
		if it.letter == 'h' {
			field, top = fieldHour12, 12
		}
		if !m.lenient && (value < 1 || value > top) {
			return false
		}
		if value == top {
			value = 0
		}
		f.set(field, value)
	case 'u':
		if value >= 1 && value <= 7 {
			value = value%7 + 1
		} else {
			f.oddDayOfWeek = true
		}
		f.set(fieldDayOfWeek, value)
	default:
		f.set(numberFields[it.letter], value)
	}
	return true
}

// fullYear puts a two-digit year into the window.
func (m *DateMask) fullYear(value int, f *dateFields) int {
	first := m.century0 % 100
	f.ambiguous = value == first
	if value < first {
		value += 100
	}
	return value + m.century0 - first
}

// scanInt reads what Java's integer format reads: an optional minus, digits, an
// exponent.
func scanInt(text []byte, at int) (value, next int, ok bool) {
	neg := at < len(text) && text[at] == '-'
	if neg {
		at++
	}
	var v int64
	start, tooLong := at, false
	for at < len(text) {
		digit, width := digitAt(text[at:])
		if width == 0 {
			break
		}
		if v < 1e17 {
			v = v*10 + int64(digit)
		} else {
			tooLong = true
		}
		at += width
	}
	if at == start {
		return 0, 0, false
	}
	if at < len(text) && text[at] == 'E' {
		if exp, width := exponentAt(text[at+1:]); width > 0 {
			at += 1 + width
			v = scaleInt(v, exp)
		}
	}
	if tooLong {
		v = math.MaxInt32 // Java goes by a double then, which ends here
	}
	if neg {
		v = -v
	}
	return int(int32(v)), at, true // wraps around as Java's intValue
}

func scaleInt(v int64, exp int) int64 {
	for ; exp > 0 && v != 0 && v <= math.MaxInt32; exp-- {
		v *= 10
	}
	for ; exp < 0 && v != 0; exp++ {
		v /= 10
	}
	return v
}

// scanFraction reads up to count digits of a second's fraction.
func scanFraction(text []byte, at, count int, f *dateFields) int {
	nanos, digits := 0, 0
	for at < len(text) && digits < count {
		c := text[at] - '0'
		if c > 9 {
			break
		}
		if digits < 9 {
			nanos = nanos*10 + int(c)
		}
		digits++
		at++
	}
	if digits == 0 {
		return -1
	}
	for ; digits < 9; digits++ {
		nanos *= 10
	}
	f.set(fieldMilli, nanos/1_000_000)
	f.nanos = int32(nanos % 1_000_000)
	return at
}

// scanZone reads ±hhmm, GMT±h:mm or a zone name.
func (m *DateMask) scanZone(text []byte, at int, f *dateFields) int {
	switch c := text[at]; {
	case c == '+' || c == '-':
		return scanOffset(text, at, 0, false, f)
	case len(text)-at >= 3 && c|0x20 == 'g' && text[at+1]|0x20 == 'm' && text[at+2]|0x20 == 't':
		at += 3
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			return scanOffset(text, at, 0, true, f)
		}
		f.set(fieldOffset, 0)
		return at
	}
	offset, width := match(text[at:], m.loc.zones)
	if width == 0 {
		return -1
	}
	f.set(fieldOffset, offset)
	return at + width
}

func scanISOZone(text []byte, at, count int, f *dateFields) int {
	switch text[at] {
	case 'Z':
		f.set(fieldOffset, 0)
		return at + 1
	case '+', '-':
		return scanOffset(text, at, count, count == 3, f)
	}
	return -1
}

// scanOffset reads sign, hours and minutes. count is that of X, 0 for z and Z; one
// digit of hours is enough only in GMT±h:mm.
func scanOffset(text []byte, at, count int, colon bool, f *dateFields) int {
	sign := 60_000
	if text[at] == '-' {
		sign = -sign
	}
	at++
	digit := func() (int, bool) {
		if at >= len(text) || text[at] < '0' || text[at] > '9' {
			return 0, false
		}
		at++
		return int(text[at-1] - '0'), true
	}
	hours, ok := digit()
	if !ok {
		return -1
	}
	if d, ok := digit(); ok {
		hours = hours*10 + d
	} else if at >= len(text) || count > 0 || !colon {
		return -1
	}
	if hours > 23 {
		return -1
	}
	minutes := 0
	if count != 1 {
		if colon {
			if at >= len(text) || text[at] != ':' {
				return -1
			}
			at++
		}
		tens, ok1 := digit()
		ones, ok2 := digit()
		if minutes = tens*10 + ones; !ok1 || !ok2 || minutes > 59 {
			return -1
		}
	}
	f.set(fieldOffset, sign*(hours*60+minutes))
	return at
}
