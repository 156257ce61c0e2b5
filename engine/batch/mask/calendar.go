package mask

// The calendar is Java's GregorianCalendar: Julian before 1582-10-15, Gregorian
// from that day on. Days are counted from 1970-01-01. Years are astronomical:
// 0 is 1 BC.

const (
	msPerDay   = 86_400_000
	cutoverDay = -141_427 // 1582-10-15
)

// civil is a date of the calendar.
type civil struct {
	year       int64
	month, day int // 1…12, 1…31
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// gregorianDays counts days in the proleptic Gregorian calendar. The year begins
// in March here, so that the leap day is its last.
func gregorianDays(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := int64((153*(month-3)+2)/5 + day - 1)
	return era*146_097 + yoe*365 + yoe/4 - yoe/100 + doy - 719_468
}

func julianDays(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	doy := int64((153*(month-3)+2)/5 + day - 1)
	return year*365 + floorDiv(year, 4) + doy - 719_470
}

// civilOf returns the date of a day number.
func civilOf(days int64) civil {
	if days < cutoverDay {
		return civilOfJulian(days)
	}
	z := uint64(days + 719_468) // positive from the cut-over on
	era := z / 146_097
	doe := z - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	return fromMarch(int64(yoe+era*400), int(doe-(365*yoe+yoe/4-yoe/100)))
}

func civilOfJulian(days int64) civil {
	z := days + 719_470
	era := floorDiv(z, 1461)
	doe := z - era*1461
	yoe := (doe - doe/1460) / 365
	return fromMarch(yoe+era*4, int(doe-365*yoe))
}

// fromMarch turns a year that begins in March and a day in it into a date.
func fromMarch(year int64, doy int) civil {
	mp := (5*doy + 2) / 153
	c := civil{year: year, day: doy - (153*mp+2)/5 + 1, month: mp + 3}
	if c.month > 12 {
		c.month -= 12
		c.year++
	}
	return c
}

// firstOfYear and firstOfMonth follow the calendar in use on that day.
func firstOfYear(year int64) int64 { return hybridDays(year, 1, 1) }

func hybridDays(year int64, month, day int) int64 {
	if g := gregorianDays(year, month, day); g >= cutoverDay {
		return g
	}
	return julianDays(year, month, day)
}

// dayOfWeek returns 1 (Sunday) … 7 (Saturday), Java's numbers.
func dayOfWeek(days int64) int {
	n := (days + 4) % 7
	if n < 0 {
		n += 7
	}
	return int(n) + 1
}

// weekRule says when weeks begin and how many days make a first week.
type weekRule struct{ firstDay, minDays int }

// onOrBefore returns the latest day not after days that falls on weekday dow.
func onOrBefore(days int64, dow int) int64 {
	return days - int64((dayOfWeek(days)-dow%7+14)%7)
}

// firstWeek returns the first day of week 1 of the period that begins at start.
func (r weekRule) firstWeek(start int64) int64 {
	first := onOrBefore(start+6, r.firstDay)
	if first-start >= int64(r.minDays) {
		first -= 7
	}
	return first
}

// weekIn returns the week number of a day in the period that begins at start.
func (r weekRule) weekIn(start, days int64) int {
	return int(floorDiv(days-r.firstWeek(start), 7)) + 1
}

// weekOfYear returns the week-year and the week of a day of the given year.
func (r weekRule) weekOfYear(year, days int64) (weekYear int64, week int) {
	if week = r.weekIn(firstOfYear(year), days); week == 0 {
		return year - 1, r.weekIn(firstOfYear(year-1), days)
	}
	if week >= 52 && days >= r.firstWeek(firstOfYear(year+1)) {
		return year + 1, 1
	}
	return year, week
}

// daysInMonth is for the Gregorian calendar.
func daysInMonth(year int64, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}
