package mask

import "encoding/binary"

// plainLayout is the fast path for masks such as yyyy-MM-dd HH:mm:ss: numbers of
// fixed width between literals, each at most once.
type plainLayout struct {
	words []plainWord
	at    [slotCount]int // where each number begins; -1: the mask has none
	nines bool           // the fraction has nine digits, else three
	size  int
	open  bool // the last part is a number that further digits would extend
	usual *usualLayout
}

// plainWord checks eight bytes of a text at once: a digit or a certain literal in
// each place. The last two words of a layout may overlap.
type plainWord struct {
	at     int
	expect uint64 // '0' for a digit
	room   uint64 // what may be added to the difference before its top bit is set
}

const (
	low7 = 0x7f7f7f7f7f7f7f7f
	top1 = 0x8080808080808080
)

// plainPart is a number of some width.
type plainPart struct{ slot, width int }

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
	l := &plainLayout{at: [slotCount]int{-1, -1, -1, -1, -1, -1, -1}}
	var expect, room []byte
	for i, it := range items {
		if it.letter == 0 {
			for j := range len(it.text) {
				c := it.text[j]
				if c >= '0' && c <= '9' || c >= 0x80 || c == 'E' {
					return nil
				}
				expect, room = append(expect, c), append(room, 0x7f)
			}
			continue
		}
		p, ok := plainNumber(it)
		if !ok || l.at[p.slot] >= 0 {
			return nil
		}
		l.at[p.slot] = len(expect)
		for range p.width {
			expect, room = append(expect, '0'), append(room, 0x7f-9)
		}
		l.nines = l.nines || p.width == 9
		l.open = i == len(items)-1 && it.letter != fraction
	}
	if l.at[slotYear] < 0 || l.at[slotMonth] < 0 || l.at[slotDay] < 0 {
		return nil
	}
	l.size = len(expect) // at least eight: year, month and day
	for at := 0; at < l.size; at += 8 {
		from := min(at, l.size-8)
		l.words = append(l.words, plainWord{from, binary.LittleEndian.Uint64(expect[from:]), binary.LittleEndian.Uint64(room[from:])})
	}
	l.usual = newUsualLayout(l, expect, room)
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
	if l.usual != nil && len(text) == l.size {
		ms, ok = l.usual.parse(text)
		return ms, 0, l.size, ok
	}
	if len(text) < l.size {
		return 0, 0, 0, false
	}
	if l.open && len(text) > l.size {
		if c := text[l.size]; c >= '0' && c <= '9' || c == 'E' || c >= 0x80 {
			return 0, 0, 0, false
		}
	}
	for i := range l.words {
		w := &l.words[i]
		x := binary.LittleEndian.Uint64(text[w.at:]) ^ w.expect
		if (x&low7+w.room|x)&top1 != 0 {
			return 0, 0, 0, false
		}
	}
	year := int64(twoDigits(text, l.at[slotYear])*100 + twoDigits(text, l.at[slotYear]+2))
	month, day := twoDigits(text, l.at[slotMonth]), twoDigits(text, l.at[slotDay])
	hour, minute, second, milli := 0, 0, 0, 0
	if at := l.at[slotHour]; at >= 0 {
		hour = twoDigits(text, at)
	}
	if at := l.at[slotMinute]; at >= 0 {
		minute = twoDigits(text, at)
	}
	if at := l.at[slotSecond]; at >= 0 {
		second = twoDigits(text, at)
	}
	if at := l.at[slotFraction]; at >= 0 {
		milli = int(text[at]&15)*100 + twoDigits(text, at+1)
		if l.nines {
			for _, c := range text[at+3 : at+9] {
				nanos = nanos*10 + int32(c&15)
			}
		}
	}
	if year < 1583 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysInMonth(year, month) ||
		hour > 23 || minute > 59 || second > 59 {
		return 0, 0, 0, false
	}
	tod := (hour*60+minute)*60 + second
	return plainDays(uint32(year), month, day)*msPerDay + int64(tod)*1000 + int64(milli), nanos, l.size, true
}

// twoDigits reads two digits that were checked.
func twoDigits(text []byte, at int) int { return int(text[at]&15)*10 + int(text[at+1]&15) }

// beforeMonth counts the days from March to each month.
var beforeMonth = [13]uint32{1: 306, 2: 337, 3: 0, 4: 31, 5: 61, 6: 92, 7: 122, 8: 153, 9: 184, 10: 214, 11: 245, 12: 275}

// plainDays is gregorianDays for the years and months that parse lets through.
func plainDays(year uint32, month, day int) int64 {
	year -= uint32(int32(month)-3) >> 31 // months before March are of the year before
	return int64(year*365+year/4-year/100+year/400+beforeMonth[month]) + int64(day) - 719_469
}
