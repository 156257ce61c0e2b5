package batch

import (
	"strings"
	"time"
)

// jdbcTime reads a text in JDBC's own form, yyyy-m-d h:mm:ss[.f…] in the process
// zone, which Hop's Timestamp accepts beside its mask.
func (c *Codec) jdbcTime(text []byte) (time.Time, bool) {
	loc := c.sem.Location
	if loc == nil {
		loc = time.UTC
	}
	t, err := time.ParseInLocation("2006-1-2 15:4:5", strings.TrimSpace(string(text)), loc)
	return t, err == nil
}
