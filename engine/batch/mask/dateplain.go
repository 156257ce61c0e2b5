package mask

// plainLayout is the fast path for masks such as yyyy-MM-dd HH:mm:ss: numbers of
// fixed width between literals, each at most once.
type plainLayout struct {
	parts []plainPart
	size  int
	open  bool // the last part is a number that further digits would extend
}

// plainPart is a number (slot ≥ 0) of some width or a literal byte.
type plainPart struct {
	slot, width int8
	literal     byte
}

const (
	slotYear = iota
	slotMonth
	slotDay
	slotHour
	slotMinute
	slotSecond
	slotFraction
	slotCount
)

// newPlainLayout returns nil when the mask is not of the simple kind.
func newPlainLayout(items []dateItem) *plainLayout {
	l := &plainLayout{}
	var seen [slotCount]bool
	for i, it := range items {
		if it.letter == 0 {
			for j := range len(it.text) {
				c := it.text[j]
				if c >= '0' && c <= '9' || c >= 0x80 || c == 'E' {
					return nil
				}
				l.parts = append(l.parts, plainPart{slot: -1, literal: c})
			}
			l.size += len(it.text)
			continue
		}
		p, ok := plainNumber(it)
		if !ok || seen[p.slot] {
			return nil
		}
		seen[p.slot] = true
		l.parts = append(l.parts, p)
		l.size += int(p.width)
		l.open = i == len(items)-1 && it.letter != fraction
	}
	if !seen[slotYear] || !seen[slotMonth] || !seen[slotDay] {
		return nil
	}
	return l
}

func plainNumber(it dateItem) (plainPart, bool) {
	p := plainPart{width: 2}
	switch it.letter {
	case 'y':
		p.slot, p.width = slotYear, 4
		return p, it.count == 4 || it.count == 3 && !it.obey
	case 'M':
		p.slot = slotMonth
	case 'd':
		p.slot = slotDay
	case 'H':
		p.slot = slotHour
	case 'm':
		p.slot = slotMinute
	case 's':
		p.slot = slotSecond
	case 'S':
		p.slot, p.width = slotFraction, 3
		return p, it.count == 3
	case fraction:
		p.slot, p.width = slotFraction, 9
		return p, it.count == 9
	default:
		return p, false
	}
	return p, it.count == 2
}

// parse answers only for texts that need no rule of the general path: all digits
// in place, every field in its range, a Gregorian year. ms is local time.
func (l *plainLayout) parse(text []byte) (ms int64, nanos int32, n int, ok bool) {
	if len(text) < l.size {
		return 0, 0, 0, false
	}
	if l.open && len(text) > l.size {
		if c := text[l.size]; c >= '0' && c <= '9' || c == 'E' || c >= 0x80 {
			return 0, 0, 0, false
		}
	}
	var v [slotCount]int
	at, fractionWidth := 0, int8(3)
	for i := range l.parts {
		p := &l.parts[i]
		if p.slot < 0 {
			if text[at] != p.literal {
				return 0, 0, 0, false
			}
			at++
			continue
		}
		number := 0
		for _, c := range text[at : at+int(p.width)] {
			if c -= '0'; c > 9 {
				return 0, 0, 0, false
			}
			number = number*10 + int(c)
		}
		at += int(p.width)
		v[p.slot] = number
		if p.slot == slotFraction {
			fractionWidth = p.width
		}
	}
	year, month, day := int64(v[slotYear]), v[slotMonth], v[slotDay]
	if year < 1583 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysInMonth(year, month) ||
		v[slotHour] > 23 || v[slotMinute] > 59 || v[slotSecond] > 59 {
		return 0, 0, 0, false
	}
	milli := v[slotFraction]
	if fractionWidth == 9 {
		nanos = int32(milli % 1_000_000)
		milli /= 1_000_000
	}
	tod := (v[slotHour]*60+v[slotMinute])*60 + v[slotSecond]
	return gregorianDays(year, month, day)*msPerDay + int64(tod)*1000 + int64(milli), nanos, at, true
}
