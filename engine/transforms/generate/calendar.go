package generate

import (
	"time"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// location is the time zone of values without one.
func location(e *transform.Env) *time.Location {
	if e.Semantics.Location != nil {
		return e.Semantics.Location
	}
	return time.UTC
}

// span is a stretch of days, from the first to the last one, both included. today
// is the start of the current day, n the number of stretches away from it.
type span func(today time.Time, n int) (first, last time.Time)

func days(today time.Time, n int) (time.Time, time.Time) {
	d := today.AddDate(0, 0, n)
	return d, d
}

func months(today time.Time, n int) (time.Time, time.Time) {
	y, m, _ := today.Date()
	return dateSpan(today, y, m+time.Month(n), 1)
}

func quarters(today time.Time, n int) (time.Time, time.Time) {
	y, m, _ := today.Date()
	return dateSpan(today, y, (m-1)/3*3+1+time.Month(3*n), 3)
}

func years(today time.Time, n int) (time.Time, time.Time) {
	return dateSpan(today, today.Year()+n, time.January, 12)
}

func dateSpan(today time.Time, y int, m time.Month, months int) (time.Time, time.Time) {
	first := time.Date(y, m, 1, 0, 0, 0, 0, today.Location())
	return first, first.AddDate(0, months, -1)
}

// weeks begin on Sunday, as in Hop's default locale.
func weeks(today time.Time, n int) (time.Time, time.Time) {
	first := today.AddDate(0, 0, 7*n-int(today.Weekday()))
	return first, first.AddDate(0, 0, 6)
}

// openWeeks begin on Monday; their open end is the day before the last one.
func openWeeks(today time.Time, n int) (time.Time, time.Time) {
	first := today.AddDate(0, 0, 7*n-(int(today.Weekday())+6)%7)
	return first, first.AddDate(0, 0, 5)
}

// calendarFacts are the starts and ends of days, weeks, months, quarters and years
// around now. An end is the last millisecond of its day.
func calendarFacts() []systemFact {
	var list []systemFact
	add := func(code string, s span, n int, end bool) {
		list = append(list, systemFact{code, batch.Date, false, func(e *transform.Env) batch.Value {
			y, m, d := e.Now().In(location(e)).Date()
			first, last := s(time.Date(y, m, d, 0, 0, 0, 0, location(e)), n)
			if end {
				return batch.DateValue(last.AddDate(0, 0, 1).UnixMilli() - 1)
			}
			return batch.DateValue(first.UnixMilli())
		}})
	}
	for _, p := range []struct {
		names [3]string // before, this, after
		span  span
		week  bool
	}{
		{[3]string{"yesterday", "today", "tomorrow"}, days, false},
		{[3]string{"last month", "this month", "next month"}, months, false},
		{[3]string{"last week", "this week", "next week"}, weeks, true},
		{[3]string{"prev quarter", "this quarter", "next quarter"}, quarters, false},
		{[3]string{"prev year", "this year", "next year"}, years, false},
	} {
		for i, name := range p.names {
			add(name+" start", p.span, i-1, false)
			add(name+" end", p.span, i-1, true)
			if p.week {
				add(name+" open end", openWeeks, i-1, true)
				add(name+" start us", p.span, i-1, false)
				add(name+" end us", p.span, i-1, true)
			}
		}
	}
	return list
}
