package formula

import (
	"math"
	"strings"
	"time"
)

// dated makes a function of one date.
func dated(f func(t time.Time) float64) *function {
	return values(1, 1, func(r *Row, a []Value) Value {
		t, bad := r.date(a[0])
		if bad.Kind == Failure {
			return bad
		}
		return number(f(t))
	})
}

// date reads a serial number or the text of a date.
func (r *Row) date(v Value) (time.Time, Value) {
	if v.Kind == Text {
		if t, ok := parseDateText(v.Text); ok {
			return t, Value{}
		}
	}
	n, bad := v.asNumber()
	if bad.Kind == Failure {
		return time.Time{}, bad
	}
	t, ok := Time(n, time.UTC)
	if !ok {
		return time.Time{}, errNum
	}
	return t, Value{}
}

func serial(t time.Time) Value {
	n, ok := Serial(t)
	if !ok {
		return errNum
	}
	return number(n)
}

func dateFunctions() map[string]*function {
	return map[string]*function{
		"TODAY": values(0, 0, func(r *Row, _ []Value) Value {
			v := serial(r.now())
			v.Num = math.Floor(v.Num)
			return v
		}),
		"NOW": values(0, 0, func(r *Row, _ []Value) Value { return serial(r.now()) }),
		"DATE": numbers(3, 3, func(x []float64) Value {
			y := int(x[0])
			if y < 1900 {
				y += 1900
			}
			return serial(time.Date(y, time.Month(x[1]), int(x[2]), 0, 0, 0, 0, time.UTC))
		}),
		"TIME": numbers(3, 3, func(x []float64) Value {
			s := math.Trunc(x[0])*3600 + math.Trunc(x[1])*60 + math.Trunc(x[2])
			if s < 0 {
				return errNum
			}
			return number(math.Mod(s, secondsADay) / secondsADay)
		}),
		"DATEVALUE": strings1(func(s string) Value {
			t, ok := parseDateText(s)
			if !ok {
				return errValue
			}
			v := serial(t)
			v.Num = math.Floor(v.Num)
			return v
		}),
		"TIMEVALUE": strings1(timeValue),
		"YEAR":      dated(func(t time.Time) float64 { return float64(t.Year()) }),
		"MONTH":     dated(func(t time.Time) float64 { return float64(t.Month()) }),
		"DAY":       dated(func(t time.Time) float64 { return float64(t.Day()) }),
		"HOUR":      dated(func(t time.Time) float64 { return float64(t.Hour()) }),
		"MINUTE":    dated(func(t time.Time) float64 { return float64(t.Minute()) }),
		"SECOND":    dated(func(t time.Time) float64 { return float64(t.Second()) }),
		"ISOWEEKNUM": dated(func(t time.Time) float64 {
			_, w := t.ISOWeek()
			return float64(w)
		}),
		"WEEKDAY": values(1, 2, func(r *Row, a []Value) Value {
			return withOption(r, a, 1, func(t time.Time, kind float64) Value {
				d := float64(t.Weekday())
				switch kind {
				case 1:
					return number(d + 1)
				case 2:
					return number(math.Mod(d+6, 7) + 1)
				case 3:
					return number(math.Mod(d+6, 7))
				}
				return errNum
			})
		}),
		"WEEKNUM": values(1, 2, func(r *Row, a []Value) Value {
			return withOption(r, a, 1, func(t time.Time, kind float64) Value {
				first := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
				shift := int(first.Weekday())
				if kind == 2 {
					shift = (shift + 6) % 7
				}
				return number(float64((t.YearDay()-1+shift)/7 + 1))
			})
		}),
		"DAYS": values(2, 2, func(r *Row, a []Value) Value {
			return twoDates(r, a, func(end, start time.Time) Value { return number(days(end) - days(start)) })
		}),
		"DAYS360": values(2, 3, func(r *Row, a []Value) Value {
			return twoDates(r, a, func(start, end time.Time) Value { return number(days360(start, end)) })
		}),
		"YEARFRAC": values(2, 3, func(r *Row, a []Value) Value {
			return twoDates(r, a, func(start, end time.Time) Value {
				if start.After(end) {
					start, end = end, start
				}
				return number(days360(start, end) / 360)
			})
		}),
		"EDATE":   monthsLater(func(t time.Time) time.Time { return t }),
		"EOMONTH": monthsLater(func(t time.Time) time.Time { return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC) }),
		"NETWORKDAYS": values(2, -1, func(r *Row, a []Value) Value {
			free, bad := r.holidays(a[2:])
			if bad.Kind == Failure {
				return bad
			}
			return twoDates(r, a, func(start, end time.Time) Value { return number(workdays(start, end, free)) })
		}),
		"WORKDAY": values(2, -1, workday),
		"DATEDIF": values(3, 3, func(r *Row, a []Value) Value {
			unit, bad := a[2].asText()
			if bad.Kind == Failure {
				return bad
			}
			return twoDates(r, a, func(start, end time.Time) Value { return dateDif(start, end, strings.ToUpper(unit)) })
		}),
	}
}

func timeValue(s string) Value {
	for _, layout := range []string{"15:04:05", "15:04", "3:04 PM", "3:04:05 PM"} {
		if t, err := time.Parse(layout, strings.ToUpper(strings.TrimSpace(s))); err == nil {
			return number(float64(t.Hour()*3600+t.Minute()*60+t.Second()) / secondsADay)
		}
	}
	return errValue
}

func withOption(r *Row, a []Value, option float64, f func(t time.Time, option float64) Value) Value {
	t, bad := r.date(a[0])
	if bad.Kind == Failure {
		return bad
	}
	if len(a) > 1 {
		if option, bad = a[1].asNumber(); bad.Kind == Failure {
			return bad
		}
	}
	return f(t, option)
}

func twoDates(r *Row, a []Value, f func(x, y time.Time) Value) Value {
	x, bad := r.date(a[0])
	if bad.Kind == Failure {
		return bad
	}
	y, bad := r.date(a[1])
	if bad.Kind == Failure {
		return bad
	}
	return f(x, y)
}

func days(t time.Time) float64 { return math.Floor(float64(t.Unix()) / secondsADay) }

// days360 counts by the US (NASD) method.
func days360(start, end time.Time) float64 {
	d1, d2 := start.Day(), end.Day()
	lastOfFebruary := func(t time.Time) bool { return t.Month() == time.February && t.AddDate(0, 0, 1).Day() == 1 }
	if lastOfFebruary(start) {
		if lastOfFebruary(end) {
			d2 = 30
		}
		d1 = 30
	}
	if d1 == 31 {
		d1 = 30
	}
	if d2 == 31 && d1 == 30 {
		d2 = 30
	}
	return float64((end.Year()-start.Year())*360 + (int(end.Month())-int(start.Month()))*30 + d2 - d1)
}

func monthsLater(finish func(time.Time) time.Time) *function {
	return values(2, 2, func(r *Row, a []Value) Value {
		return withOption(r, a, 0, func(t time.Time, n float64) Value {
			first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
			last := first.AddDate(0, 1, -1).Day()
			return serial(finish(first.AddDate(0, 0, min(t.Day(), last)-1)))
		})
	})
}

func (r *Row) holidays(a []Value) (map[float64]bool, Value) {
	free := map[float64]bool{}
	for _, v := range a {
		if v.Kind == Blank {
			continue
		}
		t, bad := r.date(v)
		if bad.Kind == Failure {
			return nil, bad
		}
		free[days(t)] = true
	}
	return free, Value{}
}

func isWorkday(t time.Time, free map[float64]bool) bool {
	return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday && !free[days(t)]
}

// workdays counts both ends; negative when end is before start.
func workdays(start, end time.Time, free map[float64]bool) float64 {
	sign := 1.0
	if end.Before(start) {
		start, end, sign = end, start, -1
	}
	n := 0.0
	for d := start; days(d) <= days(end); d = d.AddDate(0, 0, 1) {
		if isWorkday(d, free) {
			n++
		}
	}
	return sign * n
}

func workday(r *Row, a []Value) Value {
	t, bad := r.date(a[0])
	if bad.Kind == Failure {
		return bad
	}
	n, bad := a[1].asNumber()
	if bad.Kind == Failure {
		return bad
	}
	free, bad := r.holidays(a[2:])
	if bad.Kind == Failure {
		return bad
	}
	step := int(sign(n))
	for left := math.Floor(math.Abs(n)); left > 0; {
		if t = t.AddDate(0, 0, step); t.Year() < 1900 || t.Year() > 9999 {
			return errNum
		}
		if isWorkday(t, free) {
			left--
		}
	}
	return serial(t)
}

func dateDif(start, end time.Time, unit string) Value {
	if end.Before(start) {
		return errNum
	}
	months := (end.Year()-start.Year())*12 + int(end.Month()) - int(start.Month())
	if end.Day() < start.Day() {
		months--
	}
	switch unit {
	case "D":
		return number(days(end) - days(start))
	case "M":
		return number(float64(months))
	case "Y":
		return number(float64(months / 12))
	case "YM":
		return number(float64(months % 12))
	case "MD":
		return number(days(end) - days(start.AddDate(0, months, 0)))
	case "YD":
		return number(days(end) - days(start.AddDate(months/12, 0, 0)))
	}
	return errNum
}
