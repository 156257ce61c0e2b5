package mask

// dateField is a calendar field that a text can set.
type dateField uint8

const (
	fieldEra dateField = iota
	fieldYear
	fieldWeekYear
	fieldMonth // 1…12
	fieldWeekOfYear
	fieldWeekOfMonth
	fieldDay
	fieldDayOfYear
	fieldDayOfWeek // 1 is Sunday
	fieldDayOfWeekInMonth
	fieldAmPm
	fieldHour12
	fieldHour24
	fieldMinute
	fieldSecond
	fieldMilli
	fieldOffset // ms east of UTC
	fieldCount
)

// dateFields collects fields with the order in which they were set: where two
// contradict, Java lets the later one win.
type dateFields struct {
	value        [fieldCount]int
	stamp        [fieldCount]int // 0: not set
	last         int
	nanos        int32
	ambiguous    bool // a two-digit year is the first of the window
	oddDayOfWeek bool // a day number outside 1…7 came from u
}

func (f *dateFields) set(field dateField, value int) {
	f.last++
	f.value[field], f.stamp[field] = value, f.last
}

func (f *dateFields) isSet(field dateField) bool { return f.stamp[field] != 0 }

// fieldBounds are the least and greatest values that strict parsing accepts.
var fieldBounds = [fieldCount][2]int{
	fieldEra: {0, 1}, fieldYear: {1, 292_278_994}, fieldWeekYear: {-292_278_994, 292_278_994}, fieldMonth: {1, 12},
	fieldWeekOfYear: {1, 53}, fieldWeekOfMonth: {0, 6}, fieldDay: {1, 31}, fieldDayOfYear: {1, 366},
	fieldDayOfWeek: {1, 7}, fieldDayOfWeekInMonth: {-1, 6}, fieldAmPm: {0, 1}, fieldHour12: {0, 11},
	fieldHour24: {0, 23}, fieldMinute: {0, 59}, fieldSecond: {0, 59}, fieldMilli: {0, 999},
	fieldOffset: {-13 * 3_600_000, 14 * 3_600_000},
}

// resolve computes the instant of the fields. ErrRange in a strict mask only.
func (m *DateMask) resolve(f *dateFields) (int64, error) {
	if f.isSet(fieldWeekYear) && f.stamp[fieldWeekYear] > f.stamp[fieldYear] {
		// A week date replaces these, whatever they were.
		f.stamp[fieldYear], f.stamp[fieldMonth], f.stamp[fieldDay] = 0, 0, 0
	}
	if !m.lenient {
		for field, b := range fieldBounds {
			if f.stamp[field] != 0 && (f.value[field] < b[0] || f.value[field] > b[1]) {
				return 0, ErrRange
			}
		}
	}
	ms, period, err := m.instant(f)
	if err != nil {
		return 0, err
	}
	if f.ambiguous && ms < m.century {
		f.value[fieldYear] += 100
		if ms, period, err = m.instant(f); err != nil {
			return 0, err
		}
	}
	if !m.lenient && !m.agrees(f, newMoment(ms, period)) {
		return 0, ErrRange
	}
	return ms, nil
}

func (m *DateMask) instant(f *dateFields) (int64, zonePeriod, error) {
	tod := f.timeOfDay()
	days, err := m.dayOf(f, floorDiv(tod, msPerDay))
	if err != nil {
		return 0, zonePeriod{}, err
	}
	wall := days*msPerDay + tod - floorDiv(tod, msPerDay)*msPerDay
	if f.isSet(fieldOffset) {
		p := zonePeriod{offset: int64(f.value[fieldOffset])}
		return wall - p.offset, p, nil
	}
	ms := wall - m.zone.ofWall(wall)
	return ms, m.zone.at(ms), nil
}

// timeOfDay is in milliseconds and may leave the day when fields roll over.
func (f *dateFields) timeOfDay() int64 {
	half := 0
	if f.isSet(fieldHour12) && f.isSet(fieldAmPm) {
		half = max(f.stamp[fieldHour12], f.stamp[fieldAmPm])
	}
	hour := 0
	switch {
	case f.isSet(fieldHour24) && f.stamp[fieldHour24] >= half:
		hour = f.value[fieldHour24]
	default:
		hour = f.value[fieldHour12] + 12*f.value[fieldAmPm]
	}
	t := int64(hour)*60 + int64(f.value[fieldMinute])
	return (t*60+int64(f.value[fieldSecond]))*1000 + int64(f.value[fieldMilli])
}

// dayOf returns the day number of the fields, plus the days that the time of day
// rolled over.
func (m *DateMask) dayOf(f *dateFields, extra int64) (int64, error) {
	if f.isSet(fieldWeekYear) && f.stamp[fieldWeekYear] > f.stamp[fieldYear] {
		return m.dayOfWeekDate(f) + extra, nil
	}
	year := int64(1970)
	if f.isSet(fieldYear) {
		year = int64(f.value[fieldYear])
	}
	if f.isSet(fieldEra) && f.value[fieldEra] == 0 {
		year = 1 - year
	}
	g := m.dayIn(f, year, gregorianDays) + extra
	if year > 1582 && g >= cutoverDay {
		return g, nil
	}
	j := m.dayIn(f, year, julianDays) + extra
	switch {
	case g >= cutoverDay && j >= cutoverDay:
		return g, nil
	case g >= cutoverDay: // both calendars claim the day: the newer one
		return g, nil
	case j >= cutoverDay && !m.lenient: // 5 to 14 October 1582 never were
		return 0, ErrRange
	}
	return j, nil
}

// dayOfWeekDate is for the week-year Y; w and E (or u) default to the first.
func (m *DateMask) dayOfWeekDate(f *dateFields) int64 {
	week, dow := 1, m.loc.week.firstDay
	if f.isSet(fieldWeekOfYear) {
		week = f.value[fieldWeekOfYear]
	}
	if f.isSet(fieldDayOfWeek) {
		dow = f.value[fieldDayOfWeek]
	}
	if f.oddDayOfWeek && (dow < 1 || dow > 7) {
		weeks := int(floorDiv(int64(dow)-1, 7))
		week += weeks
		dow = (dow-weeks*7)%7 + 1
	}
	start := m.loc.week.firstWeek(firstOfYear(int64(f.value[fieldWeekYear])))
	return start + 7*int64(week-1) + int64((dow-m.loc.week.firstDay+7)%7)
}

// dayChoice is the combination of fields that names the day.
type dayChoice uint8

const (
	byDay dayChoice = iota
	byWeekOfMonth
	byWeekdayInMonth
	byDayOfYear
	byWeekOfYear
)

// choose follows Calendar.selectFields: the combination completed last wins.
func (f *dateFields) choose() dayChoice {
	dow := f.stamp[fieldDayOfWeek]
	with := func(field dateField) int {
		if dow == 0 || !f.isSet(field) {
			return 0
		}
		return max(dow, f.stamp[field])
	}
	dom, doy := f.stamp[fieldDay], f.stamp[fieldDayOfYear]
	wom, inMonth, woy := with(fieldWeekOfMonth), with(fieldDayOfWeekInMonth), with(fieldWeekOfYear)
	best := max(dom, wom, inMonth, doy, woy)
	if best == 0 {
		wom, woy = f.stamp[fieldWeekOfMonth], f.stamp[fieldWeekOfYear]
		inMonth = max(f.stamp[fieldDayOfWeekInMonth], dow)
		if best = max(wom, inMonth, woy); best == 0 {
			return byDay
		}
	}
	switch {
	case best == dom:
		return byDay
	case best == wom && f.stamp[fieldWeekOfMonth] >= f.stamp[fieldWeekOfYear],
		best == inMonth && f.stamp[fieldDayOfWeekInMonth] >= f.stamp[fieldWeekOfYear]:
		if wom == inMonth && f.stamp[fieldWeekOfMonth] >= f.stamp[fieldDayOfWeekInMonth] || wom != inMonth && best == wom {
			return byWeekOfMonth
		}
		return byWeekdayInMonth
	case best == doy:
		return byDayOfYear
	}
	return byWeekOfYear
}

// dayIn computes the day in one calendar system.
func (m *DateMask) dayIn(f *dateFields, year int64, number func(int64, int, int) int64) int64 {
	choice, month := f.choose(), 1
	if f.isSet(fieldMonth) && choice < byDayOfYear {
		rolled := int64(f.value[fieldMonth] - 1)
		year += floorDiv(rolled, 12)
		month = int(rolled-floorDiv(rolled, 12)*12) + 1
	}
	first := number(year, month, 1)
	rule := m.loc.week
	switch choice {
	case byDayOfYear:
		return first + int64(f.value[fieldDayOfYear]) - 1
	case byWeekOfYear:
		start := rule.firstWeek(first)
		if f.isSet(fieldDayOfWeek) && f.value[fieldDayOfWeek] != rule.firstDay {
			start = onOrBefore(start+6, f.value[fieldDayOfWeek])
		}
		return start + 7*(int64(f.value[fieldWeekOfYear])-1)
	case byWeekOfMonth:
		start := rule.firstWeek(first)
		if f.isSet(fieldDayOfWeek) {
			start = onOrBefore(start+6, f.value[fieldDayOfWeek])
		}
		return start + 7*(int64(f.value[fieldWeekOfMonth])-1)
	case byWeekdayInMonth:
		next := number(year+int64(month/12), month%12+1, 1)
		return f.weekdayInMonth(first, int(next-first), rule)
	}
	if f.isSet(fieldDay) {
		return first + int64(f.value[fieldDay]) - 1
	}
	return first
}

// weekdayInMonth is "the third Tuesday"; a negative count runs from the end.
func (f *dateFields) weekdayInMonth(first int64, length int, rule weekRule) int64 {
	dow, nth := rule.firstDay, 1
	if f.isSet(fieldDayOfWeek) {
		dow = f.value[fieldDayOfWeek]
	}
	if f.isSet(fieldDayOfWeekInMonth) {
		nth = f.value[fieldDayOfWeekInMonth]
	}
	if nth >= 0 {
		return onOrBefore(first+7*int64(nth)-1, dow)
	}
	return onOrBefore(first+int64(length)+7*int64(nth+1)-1, dow)
}

// agrees reports whether every field that was set has its value in t.
func (m *DateMask) agrees(f *dateFields, t moment) bool {
	era, year := 1, t.year
	if year <= 0 {
		era, year = 0, 1-year
	}
	weekYear, week := m.loc.week.weekOfYear(t.year, t.days)
	got := [fieldCount]int{
		fieldEra: era, fieldYear: int(year), fieldWeekYear: int(weekYear), fieldMonth: t.month,
		fieldWeekOfYear: week, fieldWeekOfMonth: m.loc.week.weekIn(t.firstOfMonth(), t.days),
		fieldDay: t.day, fieldDayOfYear: int(t.days-firstOfYear(t.year)) + 1, fieldDayOfWeek: dayOfWeek(t.days),
		fieldDayOfWeekInMonth: t.weekdayInMonth(), fieldAmPm: t.hour / 12, fieldHour12: t.hour % 12, fieldHour24: t.hour,
		fieldMinute: t.min, fieldSecond: t.sec, fieldMilli: t.ms, fieldOffset: int(t.period.offset),
	}
	for field, stamp := range f.stamp {
		if stamp != 0 && got[field] != f.value[field] {
			return false
		}
	}
	return true
}
