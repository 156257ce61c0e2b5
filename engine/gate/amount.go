package gate

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var byteUnits = []struct {
	suffix string
	factor float64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"b", 1},
	{"", 1},
}

// ParseBytes reads an amount such as 10GiB, 500MB or 1000000.
func ParseBytes(text string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || n < 0 || n*u.factor >= 1<<62 {
			break
		}
		return int64(n * u.factor), nil
	}
	return 0, fmt.Errorf("%q is not an amount of bytes; write it like 500MiB or 10GB", text)
}

var dayUnits = []struct {
	suffix string
	length time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}}

// ParseAge reads a duration such as 90m, 36h, 14d or 2w.
func ParseAge(text string) (time.Duration, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	for _, u := range dayUnits {
		digits, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err == nil && n >= 0 && n*float64(u.length) < 1<<62 {
			return time.Duration(n * float64(u.length)), nil
		}
	}
	if d, err := time.ParseDuration(t); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not a time span; write it like 90m, 36h or 14d", text)
}

func formatAge(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= time.Minute:
		return d.Round(time.Minute).String()
	}
	return d.Round(time.Second).String()
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number of rows or executions", text)
	}
	return n, nil
}

// parseNames reads a list with commas; blanks around names do not count.
func parseNames(text string) []string {
	var names []string
	for n := range strings.SplitSeq(text, ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}
