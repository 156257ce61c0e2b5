package mask

import "strconv"

// moment is an instant in local fields.
type moment struct {
	civil
	days               int64 // since 1970-01-01
	hour, min, sec, ms int
	nanos              int32 // within the millisecond
	period             zonePeriod
	weekYear           int64
	week               int
}

func newMoment(ms int64, p zonePeriod) moment {
	local := ms + p.offset
	days := local / msPerDay
	tod := int(local - days*msPerDay)
	if tod < 0 {
		tod += msPerDay
		days--
	}
	m := moment{civil: civilOf(days), days: days, period: p}
	m.hour = tod / 3_600_000
	tod -= m.hour * 3_600_000
	m.min = tod / 60_000
	tod -= m.min * 60_000
	m.sec = tod / 1000
	m.ms = tod - m.sec*1000
	return m
}

// AppendMillis appends the instant ms milliseconds after 1970-01-01 UTC.
func (m *DateMask) AppendMillis(dst []byte, ms int64) []byte {
	return m.AppendNanos(dst, ms, 0)
}

// AppendNanos appends the instant ms milliseconds after 1970-01-01 UTC plus
// nanos (0…999,999) nanoseconds.
func (m *DateMask) AppendNanos(dst []byte, ms int64, nanos int32) []byte {
	t := newMoment(ms, m.zone.at(ms))
	t.nanos = nanos
	if m.needWeek {
		t.weekYear, t.week = m.loc.week.weekOfYear(t.year, t.days)
	}
	for i := range m.items {
		it := &m.items[i]
		switch it.letter {
		case 0:
			if len(it.text) == 1 {
				dst = append(dst, it.text[0])
				continue
			}
			dst = append(dst, it.text...)
		case 'y':
			dst = appendYear(dst, t.year, it.count)
		case 'M':
			if it.count > 2 {
				dst = append(dst, m.monthName(t.month, it)...)
			} else {
				dst = appendPadded(dst, t.month, it.count)
			}
		case 'd':
			dst = appendPadded(dst, t.day, it.count)
		case 'H':
			dst = appendPadded(dst, t.hour, it.count)
		case 'm':
			dst = appendPadded(dst, t.min, it.count)
		case 's':
			dst = appendPadded(dst, t.sec, it.count)
		case 'S':
			dst = appendPadded(dst, t.ms, it.count)
		default:
			dst = m.appendRare(dst, &t, it)
		}
	}
	return dst
}

func (m *DateMask) appendRare(dst []byte, t *moment, it *dateItem) []byte {
	switch it.letter {
	case fraction:
		return appendFraction(dst, t.ms*1_000_000+int(t.nanos), it.count)
	case 'Y':
		return appendWeekYear(dst, t.weekYear, it.count)
	case 'L':
		if it.count > 2 {
			return append(dst, m.monthName(t.month, it)...)
		}
		return appendPadded(dst, t.month, it.count)
	case 'k':
		return appendPadded(dst, oneBased(t.hour, 24), it.count)
	case 'K':
		return appendPadded(dst, t.hour%12, it.count)
	case 'h':
		return appendPadded(dst, oneBased(t.hour%12, 12), it.count)
	case 'D':
		return appendPadded(dst, int(t.days-firstOfYear(t.year))+1, it.count)
	case 'F':
		return appendPadded(dst, t.weekdayInMonth(), it.count)
	case 'w':
		return appendPadded(dst, t.week, it.count)
	case 'W':
		return appendPadded(dst, m.loc.week.weekIn(t.firstOfMonth(), t.days), it.count)
	case 'u':
		return appendPadded(dst, oneBased(dayOfWeek(t.days)-1, 7), it.count)
	case 'E':
		names := m.loc.dayShort
		if it.count > 3 {
			names = m.loc.dayLong
		}
		return append(dst, names[dayOfWeek(t.days)-1]...)
	case 'a':
		return append(dst, m.loc.ampm[t.hour/12]...)
	case 'G':
		if t.year <= 0 {
			return append(dst, m.loc.eras[0]...)
		}
		return append(dst, m.loc.eras[1]...)
	}
	return appendZone(dst, t.period, it)
}

// firstOfMonth is the day number of the month's first day.
func (t *moment) firstOfMonth() int64 { return hybridDays(t.year, t.month, 1) }

func appendZone(dst []byte, p zonePeriod, it *dateItem) []byte {
	switch {
	case it.letter == 'z':
		return append(dst, p.zoneName(it.count > 3)...)
	case it.letter == 'Z':
		return appendOffset(dst, p.offset, false)
	case p.offset == 0:
		return append(dst, 'Z')
	case it.count == 1:
		return appendOffset(dst, p.offset, false)[:len(dst)+3]
	}
	return appendOffset(dst, p.offset, it.count == 3)
}

func oneBased(v, top int) int {
	if v == 0 {
		return top
	}
	return v
}

// monthName chooses the form beside a day; a mask of the month alone, and L,
// take the form that stands alone.
func (m *DateMask) monthName(month int, it *dateItem) string {
	alone := it.letter == 'L' || len(m.items) == 1
	switch {
	case it.count > 3:
		return m.loc.monthLong[month-1]
	case alone:
		return m.loc.monthAlone[month-1]
	}
	return m.loc.monthShort[month-1]
}

// appendYear writes the year of its era; yy is its last two digits.
func appendYear(dst []byte, year int64, count int) []byte {
	if year <= 0 {
		year = 1 - year
	}
	switch {
	case count == 2:
		return append2(dst, int(year%100))
	case count <= 4 && year >= 1000 && year <= 9999:
		return append2(append2(dst, int(year/100)), int(year%100))
	}
	return appendPadded(dst, int(year), count)
}

// appendWeekYear is appendYear for Y, which knows no era.
func appendWeekYear(dst []byte, year int64, count int) []byte {
	if year < 0 {
		return appendPadded(append(dst, '-'), int(-year), count)
	}
	if year == 0 {
		return appendPadded(dst, 0, count)
	}
	return appendYear(dst, year, count)
}

// weekdayInMonth counts the weekday of t within its month; the month of the
// cut-over lacks ten days.
func (t *moment) weekdayInMonth() int {
	day := t.day
	if t.year == 1582 && t.month == 10 && t.days >= cutoverDay {
		day -= 10
	}
	return (day-1)/7 + 1
}

func append2(dst []byte, v int) []byte {
	v *= 2
	return append(dst, digitPairs[v], digitPairs[v+1])
}

func appendPadded(dst []byte, v, width int) []byte {
	if v < 100 && width == 2 {
		return append2(dst, v)
	}
	if v < 1000 && width == 3 {
		return append2(append(dst, byte('0'+v/100)), v%100)
	}
	var buf [20]byte
	b := strconv.AppendInt(buf[:0], int64(v), 10)
	for n := len(b); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, b...)
}

// appendFraction writes the first width digits of nanos / 10^9.
func appendFraction(dst []byte, nanos, width int) []byte {
	var buf [9]byte
	for i := len(buf) - 1; i >= 0; i-- {
		buf[i] = byte('0' + nanos%10)
		nanos /= 10
	}
	dst = append(dst, buf[:min(width, len(buf))]...)
	for ; width > len(buf); width-- {
		dst = append(dst, '0')
	}
	return dst
}
