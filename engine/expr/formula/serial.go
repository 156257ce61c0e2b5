package formula

import (
	"math"
	"time"
)

const (
	msPerDay    = 86_400_000
	leapBug     = 60      // the language counts 29 February 1900, which did not exist
	lastSerial  = 2958466 // the day after 31 December 9999
	secondsADay = 86400
)

// epoch is day 0 as a UTC day number; days before 1 March 1900 are one off.
var epoch = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)

// Serial gives the day number of a wall-clock time, with the time of day as its
// fraction; false for times before 1900.
func Serial(t time.Time) (float64, bool) {
	if t.Year() < 1900 {
		return 0, false
	}
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	days := math.Round(day.Sub(epoch).Hours() / 24)
	if days >= leapBug {
		days++
	}
	ms := ((t.Hour()*60+t.Minute())*60+t.Second())*1000 + t.Nanosecond()/1e6
	return days + float64(ms)/msPerDay, true
}

// Time gives the wall-clock time of a day number in a location; false for
// negative ones.
func Time(serial float64, loc *time.Location) (time.Time, bool) {
	if serial < 0 || serial >= lastSerial || math.IsNaN(serial) {
		return time.Time{}, false
	}
	days := int(math.Floor(serial))
	ms := int((serial-float64(days))*msPerDay + 0.5)
	if days > leapBug {
		days--
	}
	return time.Date(1899, 12, 31+days, 0, 0, 0, ms*1e6, loc), true
}
