package presenter

import (
	"fmt"
	"strings"
	"time"
)

func lower(s string) string { return strings.ToLower(s) }

func contains(s, lowered string) bool { return strings.Contains(strings.ToLower(s), lowered) }

// Matching gives the places of the names that hold a text, without regard to case.
func Matching(names []string, text string) []int {
	var found []int
	for i, name := range names {
		if contains(name, lower(strings.TrimSpace(text))) {
			found = append(found, i)
		}
	}
	return found
}

// Grouped writes 1234567 as 1,234,567.
func Grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes a number with its noun: "1 row", "2,000 rows".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
}

// Elapsed writes a duration as people read it: "40 ms", "1.5 s", "2 m 05 s".
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}

// Ago writes how long ago something was.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Plural(int64(d.Minutes()), "minute") + " ago"
	case d < 24*time.Hour:
		return Plural(int64(d.Hours()), "hour") + " ago"
	}
	return Plural(int64(d.Hours()/24), "day") + " ago"
}
