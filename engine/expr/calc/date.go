package calc

import (
	"errors"
	"fmt"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/mask"
)

const (
	msPerSecond = int64(1000)
	msPerMinute = 60 * msPerSecond
	msPerHour   = 60 * msPerMinute
	msPerDay    = 24 * msPerHour
)

// onDates converts A to a Date and compiles next.
func onDates(p *Program, s *step, next kernel, rest ...batch.Type) (kernel, error) {
	return p.all(s, next, append([]batch.Type{batch.Date}, rest...)...)
}

// unit adds a number of units to a time of the local calendar.
type unit func(t time.Time, n int) time.Time

func days(t time.Time, n int) time.Time    { return t.AddDate(0, 0, n) }
func hours(t time.Time, n int) time.Time   { return t.Add(time.Duration(n) * time.Hour) }
func minutes(t time.Time, n int) time.Time { return t.Add(time.Duration(n) * time.Minute) }
func seconds(t time.Time, n int) time.Time { return t.Add(time.Duration(n) * time.Second) }

// addTo compiles ADD_DAYS, ADD_HOURS …; a null there is an error, as in Hop.
func addTo(u unit) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := onDates(p, s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.Date, func(out *batch.Column, i int) error {
				if a.IsNull(i) || b.IsNull(i) {
					return errors.New("a null cannot be added to a date; replace nulls first")
				}
				out.AppendInt(u(p.local(a.Ints[i]), int(int32(b.Ints[i]))).UnixMilli())
				return nil
			})
		}, batch.Integer)
		return k, batch.Date, err
	}
}

func (p *Program) local(ms int64) time.Time { return time.UnixMilli(ms).In(p.loc) }

func addMonths(p *Program, s *step) (kernel, batch.Type, error) {
	k, err := onDates(p, s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Date, func(out *batch.Column, i int) error {
			out.AppendInt(AddMonths(p.local(a.Ints[i]), int(int32(b.Ints[i]))).UnixMilli())
			return nil
		}, a, b)
	}, batch.Integer)
	return k, batch.Date, err
}

// AddMonths adds months; a day that the month does not have becomes its last.
func AddMonths(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	first := time.Date(y, m+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(d, last)-1)
}

// datePart compiles what gives an Integer of a date.
func datePart(part func(t time.Time) int) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := onDates(p, s, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.Integer, func(out *batch.Column, i int) error {
				out.AppendInt(int64(part(p.local(a.Ints[i]))))
				return nil
			}, a)
		})
		return k, batch.Integer, err
	}
}

// yearOf counts as Java does: the year before 1 is 1 again, of the era before.
func yearOf(t time.Time) int {
	if y := t.Year(); y > 0 {
		return y
	}
	return 1 - t.Year()
}

func monthOf(t time.Time) int    { return int(t.Month()) }
func dayOfYear(t time.Time) int  { return t.YearDay() }
func dayOfMonth(t time.Time) int { return t.Day() }
func dayOfWeek(t time.Time) int  { return int(t.Weekday()) + 1 }
func quarterOf(t time.Time) int  { return (int(t.Month()) + 2) / 3 }
func hourOf(t time.Time) int     { return t.Hour() }
func minuteOf(t time.Time) int   { return t.Minute() }
func secondOf(t time.Time) int   { return t.Second() }

func isoWeek(t time.Time) int {
	_, w := t.ISOWeek()
	return w
}

func isoYear(t time.Time) int {
	y, _ := t.ISOWeek()
	return y
}

// WeekOfYear counts weeks that begin on Sunday; the first holds 1 January, and
// the days of December in the week of the next 1 January belong to week 1.
func WeekOfYear(t time.Time) int {
	saturday := t.AddDate(0, 0, 6-int(t.Weekday()))
	if saturday.Year() != t.Year() {
		return 1
	}
	return (saturday.YearDay() + 6) / 7
}

// dateDiff compiles A - B in local wall-clock time, truncated to whole units.
func dateDiff(unit int64) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := onDates(p, s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.Integer, func(out *batch.Column, i int) error {
				out.AppendInt((p.wall(a.Ints[i]) - p.wall(b.Ints[i])) / unit)
				return nil
			}, a, b)
		}, batch.Date)
		return k, batch.Integer, err
	}
}

// wall gives a time as if its clock showed UTC.
func (p *Program) wall(ms int64) int64 {
	_, offset := p.local(ms).Zone()
	return ms + int64(offset)*1000
}

func workingDiff(p *Program, s *step) (kernel, batch.Type, error) {
	k, err := onDates(p, s, func(r *run, a, b, _ *batch.Column) (*batch.Column, error) {
		return r.build(batch.Integer, func(out *batch.Column, i int) error {
			out.AppendInt(WorkingDays(p.local(b.Ints[i]), p.local(a.Ints[i])))
			return nil
		}, a, b)
	}, batch.Date)
	return k, batch.Integer, err
}

// WorkingDays counts the days from Monday to Friday between two times, both ends
// included; negative when from is later than to. The day of the earlier time
// counts even when nothing follows.
func WorkingDays(from, to time.Time) int64 {
	sign := int64(1)
	if from.After(to) {
		from, to, sign = to, from, -1
	}
	n := int64(0)
	if weeks := int64(to.Sub(from)/(24*time.Hour))/7 - 1; weeks > 0 { // whole weeks hold five each
		n = weeks * 5
		from = from.AddDate(0, 0, int(weeks*7))
	}
	for {
		if d := from.Weekday(); d != time.Saturday && d != time.Sunday {
			n++
		}
		if from = from.AddDate(0, 0, 1); from.After(to) {
			return sign * n
		}
	}
}

// dateTo compiles what gives another date.
func dateTo(f func(t time.Time) time.Time) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := onDates(p, s, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
			return r.build(batch.Date, func(out *batch.Column, i int) error {
				out.AppendInt(f(p.local(a.Ints[i])).UnixMilli())
				return nil
			}, a)
		})
		return k, batch.Date, err
	}
}

func startOfDay(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// firstOfMonth and lastOfMonth drop the time of day, as Hop does.
func firstOfMonth(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location())
}

func lastOfMonth(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, t.Location())
}

const timeMask = "HH:mm:ss"

// addTime compiles A + the time of day in text B, read by mask C.
func addTime(p *Program, s *step) (kernel, batch.Type, error) {
	types := []batch.Type{batch.String}
	if s.fields[2] != nil {
		types = append(types, batch.String)
	}
	compile := func(text string) (*mask.DateMask, error) {
		return mask.CompileDate(text, mask.DateOptions{Location: time.UTC})
	}
	fixed, err := compile(timeMask)
	if err != nil {
		return nil, 0, err
	}
	k, err := onDates(p, s, func(r *run, a, b, c *batch.Column) (*batch.Column, error) {
		known := map[string]*mask.DateMask{}
		return r.build(batch.Date, func(out *batch.Column, i int) error {
			if b.IsNull(i) || len(b.Bytes(i)) == 0 {
				out.AppendInt(a.Ints[i])
				return nil
			}
			m := fixed
			if c != nil && !c.IsNull(i) && len(c.Bytes(i)) > 0 {
				text := c.Str(i)
				if m = known[text]; m == nil {
					var err error
					if m, err = compile(text); err != nil {
						return err
					}
					known[text] = m
				}
			}
			ms, _, err := m.ParseMillis(b.Bytes(i))
			if err != nil {
				return fmt.Errorf("%q is no time of day: %w", b.Str(i), err)
			}
			out.AppendInt(a.Ints[i] + ms)
			return nil
		}, a)
	}, types...)
	return k, batch.Date, err
}
