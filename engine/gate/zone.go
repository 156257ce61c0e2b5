package gate

import (
	"os"
	"strings"
	"time"
)

// zoneName names a time zone so that another machine can load it; empty when
// that is not known.
func zoneName(l *time.Location) string {
	if l == nil {
		l = time.Local
	}
	if l != time.Local {
		return l.String()
	}
	if tz := strings.TrimPrefix(os.Getenv("TZ"), ":"); tz != "" {
		if _, err := time.LoadLocation(tz); err == nil {
			return tz
		}
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			return name
		}
	}
	if _, offset := time.Unix(0, 0).In(l).Zone(); offset == 0 && l.String() == "UTC" {
		return "UTC"
	}
	return ""
}
