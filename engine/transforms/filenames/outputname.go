package filenames

import (
	"strings"
	"time"

	"sluice/engine/batch/mask"
)

// rootURI gives scheme and root of a URI: "file:///", "s3://bucket/".
func rootURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + "/"
}

// Stamp says which date parts an output's file name gets. Format, when not
// empty, replaces the other two.
type Stamp struct {
	Date, Time bool
	Format     string // Java date format; appended without a separator
}

// Append gives name with the date parts of a moment.
func (s Stamp) Append(name string, at time.Time, loc *time.Location) (string, error) {
	if loc == nil {
		loc = time.UTC
	}
	add := func(prefix, format string) error {
		m, err := mask.CompileDate(format, mask.DateOptions{Location: loc})
		if err == nil {
			name = string(m.AppendMillis([]byte(name+prefix), at.UnixMilli()))
		}
		return err
	}
	if s.Format != "" {
		err := add("", s.Format)
		return name, err
	}
	if s.Date {
		if err := add("_", "yyyyMMdd"); err != nil {
			return name, err
		}
	}
	if s.Time {
		if err := add("_", "HHmmss"); err != nil {
			return name, err
		}
	}
	return name, nil
}
