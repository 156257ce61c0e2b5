package javascript

import (
	"fmt"
	"math"
	"strings"
	"time"

	"sluice/engine/expr/calc"
)

// date gives argument i as a time in the host's zone.
func (a arguments) date(i int) (time.Time, error) {
	if t, ok := a.list[i].Export().(time.Time); ok {
		return t.In(a.r.host.Location), nil
	}
	f := a.list[i].ToFloat()
	if f != f {
		return time.Time{}, fmt.Errorf("%q is not a date", a.text(i))
	}
	return time.UnixMilli(int64(f)).In(a.r.host.Location), nil
}

// onDate makes a helper of one date; null gives null.
func onDate(f func(t time.Time, a arguments) (any, error)) helper {
	return func(r *Runtime, a arguments) (any, error) {
		if err := a.need(1); err != nil || a.isNull(0) {
			return nil, err
		}
		t, err := a.date(0)
		if err != nil {
			return nil, err
		}
		v, err := f(t, a)
		if d, ok := v.(time.Time); ok {
			return r.date(d.UnixMilli()), err
		}
		return v, err
	}
}

const defaultDateMask = "M/d/yy, h:mm a" // of Java's SimpleDateFormat() in en_US

var dateHelpers = map[string]helper{
	"date2str": func(r *Runtime, a arguments) (any, error) {
		if err := a.need(1); err != nil || a.isNull(0) {
			return nil, err
		}
		t, err := a.date(0)
		if err != nil {
			return nil, err
		}
		m, err := r.dateMask(orDefault(a.text(1), defaultDateMask), a.text(2), a.text(3))
		if err != nil {
			return nil, err
		}
		return string(m.AppendMillis(nil, t.UnixMilli())), nil
	},
	"str2date": func(r *Runtime, a arguments) (any, error) {
		if err := a.need(1); err != nil || a.isNull(0) {
			return nil, err
		}
		m, err := r.dateMask(orDefault(a.text(1), defaultDateMask), a.text(2), a.text(3))
		if err != nil {
			return nil, err
		}
		ms, _, err := m.ParseMillis([]byte(a.text(0)))
		if err != nil {
			return nil, err
		}
		return r.date(ms), nil
	},
	"isDate": func(r *Runtime, a arguments) (any, error) {
		if err := a.need(1); err != nil || a.isNull(0) {
			return false, err
		}
		if _, ok := a.list[0].Export().(time.Time); ok {
			return true, nil
		}
		m, err := r.dateMask(orDefault(a.text(1), defaultDateMask), a.text(2), a.text(3))
		if err != nil {
			return nil, err
		}
		_, _, err = m.ParseMillis([]byte(a.text(0)))
		return err == nil, nil
	},
	"dateAdd":  onDate(dateAdd),
	"dateDiff": onDate(dateDiff),
	"truncDate": onDate(func(t time.Time, a arguments) (any, error) {
		return truncated(t, a.integer(1)), a.need(2)
	}),
	"year":    onDate(func(t time.Time, _ arguments) (any, error) { return t.Year(), nil }),
	"month":   onDate(func(t time.Time, _ arguments) (any, error) { return int(t.Month()) - 1, nil }), // from 0, as in Hop
	"quarter": onDate(func(t time.Time, _ arguments) (any, error) { return (int(t.Month()) + 2) / 3, nil }),
	"week":    onDate(func(t time.Time, _ arguments) (any, error) { return calc.WeekOfYear(t), nil }),
	"getDayNumber": onDate(func(t time.Time, a arguments) (any, error) {
		switch strings.ToLower(a.text(1)) {
		case "y":
			return t.YearDay(), nil
		case "w":
			return int(t.Weekday()) + 1, nil
		case "wm":
			return (t.Day()-1)/7 + 1, nil
		}
		return t.Day(), nil
	}),
	"isWorkingDay": onDate(func(t time.Time, _ arguments) (any, error) { return isWorkingDay(t), nil }),
	"getNextWorkingDay": onDate(func(t time.Time, _ arguments) (any, error) {
		for t = t.AddDate(0, 0, 1); !isWorkingDay(t); {
			t = t.AddDate(0, 0, 1)
		}
		return t, nil
	}),
	"getFiscalDate": onDate(func(t time.Time, a arguments) (any, error) {
		var day, month int
		if _, err := fmt.Sscanf(a.text(1), "%d.%d.", &day, &month); err != nil {
			return nil, fmt.Errorf("the fiscal year's start %q does not have the form dd.MM. of a day and a month", a.text(1))
		}
		start := time.Date(t.Year(), time.Month(month), day, 0, 0, 0, 0, t.Location())
		if start.After(t) {
			start = start.AddDate(-1, 0, 0)
		}
		return t.AddDate(0, 1-int(start.Month()), 0), nil
	}),
}

func orDefault(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func isWorkingDay(t time.Time) bool {
	return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday
}

func dateAdd(t time.Time, a arguments) (any, error) {
	if err := a.need(3); err != nil {
		return nil, err
	}
	n := a.integer(2)
	switch strings.ToLower(a.text(1)) {
	case "y":
		return calc.AddMonths(t, 12*n), nil
	case "m":
		return calc.AddMonths(t, n), nil
	case "d":
		return t.AddDate(0, 0, n), nil
	case "w":
		return t.AddDate(0, 0, 7*n), nil
	case "wd":
		step := 1
		if n < 0 {
			step, n = -1, -n
		}
		for n = min(n, maxPadding); n > 0; {
			if t = t.AddDate(0, 0, step); isWorkingDay(t) {
				n--
			}
		}
		return t, nil
	case "hh":
		return t.Add(time.Duration(n) * time.Hour), nil
	case "mi":
		return t.Add(time.Duration(n) * time.Minute), nil
	case "ss":
		return t.Add(time.Duration(n) * time.Second), nil
	}
	return nil, fmt.Errorf("the unit %q is not one of y, m, d, w, wd, hh, mi, ss", a.text(1))
}

// dateDiff counts from the first date to the second, in local time.
func dateDiff(start time.Time, a arguments) (any, error) {
	if err := a.need(3); err != nil || a.isNull(1) {
		return math.NaN(), err
	}
	end, err := a.date(1)
	if err != nil {
		return nil, err
	}
	months := (end.Year()-start.Year())*12 + int(end.Month()) - int(start.Month())
	ms := wall(end) - wall(start)
	switch strings.ToLower(a.text(2)) {
	case "y":
		return end.Year() - start.Year(), nil
	case "m":
		return months, nil
	case "d":
		return ms / 86_400_000, nil
	case "wd":
		return workingDays(start, end), nil
	case "w":
		return ms / 86_400_000 / 7, nil
	case "hh":
		return ms / 3_600_000, nil
	case "mi":
		return ms / 60_000, nil
	case "ss":
		return ms / 1000, nil
	}
	return nil, fmt.Errorf("the unit %q is not one of y, m, d, w, wd, hh, mi, ss", a.text(2))
}

func wall(t time.Time) int64 {
	_, offset := t.Zone()
	return t.UnixMilli() + int64(offset)*1000
}

// workingDays counts the working days from one date towards another, the first
// one left out.
func workingDays(start, end time.Time) int {
	step, n := -1, 0
	if end.Before(start) {
		step = 1
	}
	for steps := (wall(end) - wall(start)) / 86_400_000; steps != 0; steps += int64(step) {
		if isWorkingDay(end) {
			n++
		}
		end = end.AddDate(0, 0, step)
	}
	return n
}

// truncated sets the parts of a date below a level to their start: 0
// milliseconds, 1 seconds, 2 minutes, 3 hours, 4 days, 5 months. Level 5 gives
// February, as in Hop, whose months count from 0.
func truncated(t time.Time, level int) time.Time {
	y, m, d := t.Date()
	h, mi, s, ns := t.Hour(), t.Minute(), t.Second(), t.Nanosecond()
	if level >= 5 {
		m = time.February
	}
	if level >= 4 {
		d = 1
	}
	if level >= 3 {
		h = 0
	}
	if level >= 2 {
		mi = 0
	}
	if level >= 1 {
		s = 0
	}
	if level >= 0 {
		ns = 0
	}
	return time.Date(y, m, d, h, mi, s, ns, t.Location())
}
