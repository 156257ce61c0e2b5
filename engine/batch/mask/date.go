package mask

import (
	"errors"
	"fmt"
	"time"
)

// DateOptions change how a date mask formats and parses.
type DateOptions struct {
	// Location is the zone of local times; nil is UTC. See LoadLocation for
	// Java's zone ids.
	Location *time.Location
	// Lenient lets fields roll over (month 13 is January) as Hop does by default;
	// a strict mask answers ErrRange.
	Lenient bool
	// Locale gives names and the week rule: "en_US" (also when empty), "de_DE",
	// "fr" … Unknown languages use English names.
	Locale string
	// Now is the centre of the two-digit-year window, 80 years back and 20
	// forward; the zero value is the time of compilation.
	Now time.Time
}

// DateMask is a compiled SimpleDateFormat pattern. It is immutable and safe for
// many goroutines.
type DateMask struct {
	pattern  string
	items    []dateItem
	zone     *zone
	lenient  bool
	loc      *locale
	century  int64 // begin of the two-digit-year window, ms since the epoch
	century0 int   // its year
	plain    *plainLayout
	needWeek bool
}

// dateItem is a pattern letter with its count, or literal text (letter 0).
type dateItem struct {
	letter byte
	count  int
	text   string
	obey   bool // digits follow directly: read count digits, no more
}

// fraction marks S letters that stand for digits of the second's fraction.
const fraction byte = 'n'

const dateLetters = "GyMdkHmsSEDFwWahKzZYuXL"

// CompileDate compiles a SimpleDateFormat pattern. The error wraps ErrPattern.
func CompileDate(pattern string, o DateOptions) (*DateMask, error) {
	return compileDate(pattern, o, false)
}

// CompileTimestamp is CompileDate for Hop's Timestamp, where four or more S are
// that many digits of the fraction of a second instead of padded milliseconds.
func CompileTimestamp(pattern string, o DateOptions) (*DateMask, error) {
	return compileDate(pattern, o, true)
}

func compileDate(pattern string, o DateOptions, nanos bool) (*DateMask, error) {
	items, err := splitDatePattern(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrPattern, pattern, err)
	}
	m := &DateMask{pattern: pattern, items: items, zone: newZone(o.Location), lenient: o.Lenient, loc: newLocale(o.Locale)}
	if nanos {
		for i := range items {
			if items[i].letter == 'S' && items[i].count >= 4 {
				items[i].letter = fraction
			}
		}
	}
	for i := range items {
		items[i].obey = i+1 < len(items) && items[i+1].isNumeric()
		m.needWeek = m.needWeek || items[i].letter == 'w' || items[i].letter == 'Y'
	}
	m.setCentury(o.Now)
	m.plain = newPlainLayout(items)
	m.loc.zones = nil
	for _, it := range items {
		if it.letter == 'z' || it.letter == 'Z' {
			m.loc.zones = zoneNameIndex(m.zone)
		}
	}
	return m, nil
}

// String returns the pattern.
func (m *DateMask) String() string { return m.pattern }

func (m *DateMask) setCentury(now time.Time) {
	if now.IsZero() {
		now = time.Now()
	}
	ms := now.UnixMilli()
	local := ms + m.zone.at(ms).offset
	day := floorDiv(local, msPerDay)
	c := civilOf(day)
	c.year -= 80
	if c.month == 2 && c.day == 29 && daysInMonth(c.year, 2) == 28 {
		c.day = 28
	}
	local += (hybridDays(c.year, c.month, c.day) - day) * msPerDay
	m.century, m.century0 = local-m.zone.ofWall(local), int(c.year)
}

// isNumeric tells the items before which a number ends by count, not by a
// delimiter.
func (it dateItem) isNumeric() bool {
	switch it.letter {
	case 'M', 'L':
		return it.count <= 2
	case 'y', 'd', 'k', 'H', 'm', 's', 'S', 'D', 'F', 'w', 'W', 'h', 'K', 'Y', 'u', fraction:
		return true
	}
	return false
}

func splitDatePattern(pattern string) ([]dateItem, error) {
	var items []dateItem
	literal := func(s string) {
		if n := len(items); n > 0 && items[n-1].letter == 0 {
			items[n-1].text += s
			return
		}
		items = append(items, dateItem{text: s})
	}
	quoted := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\'' && i+1 < len(pattern) && pattern[i+1] == '\'':
			literal("'")
			i++
		case c == '\'':
			quoted = !quoted
		case quoted || !isLetter(c):
			literal(pattern[i : i+1])
		default:
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			if err := checkDateLetter(c, n); err != nil {
				return nil, err
			}
			items = append(items, dateItem{letter: c, count: n})
			i += n - 1
		}
	}
	if quoted {
		return nil, errors.New("quote not closed")
	}
	return items, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// maxLetterCount bounds the padding that one item can ask for.
const maxLetterCount = 1000

func checkDateLetter(c byte, count int) error {
	for i := range len(dateLetters) {
		if dateLetters[i] != c {
			continue
		}
		switch {
		case c == 'X' && count > 3:
			return errors.New("more than three X")
		case count > maxLetterCount:
			return fmt.Errorf("letter %q repeated too often", c)
		}
		return nil
	}
	return fmt.Errorf("unknown letter %q, quote it to write it", c)
}
