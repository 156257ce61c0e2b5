package flow

import (
	"context"
	"time"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// Start is where a workflow begins. When it repeats, it waits for its schedule
// and the workflow runs again and again until it is stopped.
var Start = action.Define[StartSettings](action.About{
	ID:            "SPECIAL",
	Name:          "Start",
	Category:      action.CategoryGeneral,
	Summary:       "Begin the workflow here.",
	Unconditional: true,
	ReadsOnly:     true,
})

// Schedule says when a workflow that repeats runs.
type Schedule string

// Choices implements transform.Choices.
func (Schedule) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: scheduleNone, Label: "at once"},
		{Code: scheduleInterval, Label: "after an interval"},
		{Code: scheduleDaily, Label: "every day"},
		{Code: scheduleWeekly, Label: "every week"},
		{Code: scheduleMonthly, Label: "every month"},
	}
}

const (
	scheduleNone     = "0"
	scheduleInterval = "1"
	scheduleDaily    = "2"
	scheduleWeekly   = "3"
	scheduleMonthly  = "4"
)

// StartSettings lists the settings in the order the form shows them.
type StartSettings struct {
	Repeat    bool     `hop:"repeat" label:"Run again and again"`
	Schedule  Schedule `hop:"schedulerType" default:"0"`
	Seconds   int      `hop:"intervalSeconds" default:"0" min:"0" unit:"s" label:"Interval, seconds"`
	Minutes   int      `hop:"intervalMinutes" default:"60" min:"0" unit:"min" label:"Interval, minutes"`
	Hour      int      `hop:"hour" default:"12" min:"0" max:"23" label:"Time of day, hour"`
	Minute    int      `hop:"minutes" default:"0" min:"0" max:"59" label:"Time of day, minute"`
	WeekDay   int      `hop:"weekDay" default:"1" min:"0" max:"6" help:"0 is Sunday"`
	MonthDay  int      `hop:"DayOfMonth" default:"1" min:"1" max:"31" label:"Day of month"`
	SkipFirst bool     `hop:"doNotWaitOnFirstExecution" label:"Do not wait the first time"`
}

// Repeats implements action.Repeater.
func (s *StartSettings) Repeats() bool { return s.Repeat }

// Run implements action.Settings.
func (s *StartSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	r.Succeed()
	if !s.Repeat || env.Turn == 0 && s.SkipFirst {
		return nil
	}
	if d := s.next(env.Now().In(env.Location)); d > 0 {
		return wait(ctx, d)
	}
	return nil
}

// next is the time from now until the schedule says to run.
func (s *StartSettings) next(now time.Time) time.Duration {
	at := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+days, s.Hour, s.Minute, 0, 0, now.Location())
	}
	switch s.Schedule {
	case scheduleInterval:
		return time.Duration(s.Minutes)*time.Minute + time.Duration(s.Seconds)*time.Second
	case scheduleDaily:
		if t := at(0); t.After(now) {
			return t.Sub(now)
		}
		return at(1).Sub(now)
	case scheduleWeekly:
		days := (s.WeekDay - int(now.Weekday()) + 7) % 7
		if t := at(days); t.After(now) {
			return t.Sub(now)
		}
		return at(days + 7).Sub(now)
	case scheduleMonthly:
		for month := now.Month(); ; month++ {
			t := time.Date(now.Year(), month, s.MonthDay, s.Hour, s.Minute, 0, 0, now.Location())
			if last := time.Date(now.Year(), month+1, 0, s.Hour, s.Minute, 0, 0, now.Location()); t.After(last) {
				t = last // a month without that day: its last one
			}
			if t.After(now) {
				return t.Sub(now)
			}
		}
	}
	return 0
}
