package mask

import (
	"sort"
	"strconv"
	"strings"
	"time"
)

// zone answers offsets without time.Time for the years 1900 to 2100.
type zone struct {
	loc   *time.Location
	first zonePeriod   // before 1900: Java uses the present standard time
	steps []zonePeriod // ascending; empty for a fixed zone
	end   int64        // ms from which on loc is asked
}

// zonePeriod is a stretch of constant offset.
type zonePeriod struct {
	from   int64 // ms since the epoch
	offset int64 // ms east of UTC
	name   string
	dst    bool
}

const (
	year1900 = -2_208_988_800 // seconds
	year2100 = 4_102_444_800
)

func newZone(loc *time.Location) *zone {
	if loc == nil {
		loc = time.UTC
	}
	z := &zone{loc: loc, first: standardPeriod(loc), end: year2100 * 1000}
	for t := time.Unix(year1900, 0).In(loc); ; {
		p := periodAt(t)
		_, end := t.ZoneBounds()
		z.steps = append(z.steps, p)
		if end.IsZero() || end.Unix() >= year2100 {
			break
		}
		if !end.After(t) {
			end = t.Add(24 * time.Hour) // never stand still on a boundary
		}
		t = end
	}
	if len(z.steps) == 1 && z.steps[0].offset == z.first.offset {
		_, end := time.Unix(year2100, 0).In(loc).ZoneBounds()
		if end.IsZero() {
			z.first, z.steps = z.steps[0], nil
		}
	}
	return z
}

func periodAt(t time.Time) zonePeriod {
	name, offset := t.Zone()
	return zonePeriod{from: t.UnixMilli(), offset: int64(offset) * 1000, name: name, dst: t.IsDST()}
}

func standardPeriod(loc *time.Location) zonePeriod {
	winter := periodAt(time.Date(2037, 1, 1, 0, 0, 0, 0, loc))
	if winter.dst {
		winter = periodAt(time.Date(2037, 7, 1, 0, 0, 0, 0, loc))
	}
	return winter
}

// at returns the period in force at an instant.
func (z *zone) at(ms int64) zonePeriod {
	if len(z.steps) == 0 || ms < z.steps[0].from {
		return z.first
	}
	if ms >= z.end {
		return periodAt(time.UnixMilli(ms).In(z.loc))
	}
	return z.steps[z.index(ms)]
}

func (z *zone) index(ms int64) int {
	lo, hi := 0, len(z.steps)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if z.steps[mid].from <= ms {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// ofWall returns the offset for a local time. As in Java, a local time that a
// change skipped takes the offset before, one that occurs twice the offset after.
func (z *zone) ofWall(wall int64) int64 {
	if len(z.steps) == 0 {
		return z.first.offset
	}
	if wall >= z.end-msPerDay {
		return z.ofWallLate(wall)
	}
	// The step is at most a day away from the one found by taking wall as UTC.
	i := z.index(wall + msPerDay)
	for i >= 0 && wall < z.steps[i].from+z.steps[i].offset {
		i--
	}
	if i < 0 {
		return z.first.offset
	}
	return z.steps[i].offset
}

func (z *zone) ofWallLate(wall int64) int64 {
	t := time.UnixMilli(wall + msPerDay).In(z.loc)
	for {
		_, offset := t.Zone()
		start, _ := t.ZoneBounds()
		if start.IsZero() || wall >= start.UnixMilli()+int64(offset)*1000 {
			return int64(offset) * 1000
		}
		t = start.Add(-time.Millisecond)
	}
}

// javaZones are the short ids that Java knows and the tz database does not, or
// knows otherwise.
var javaZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
	"ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
	"CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
	"EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
	"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
	"NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
	"PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}

// LoadLocation finds a time zone by Java's rules: an IANA name, one of Java's
// short ids (PST, ECT …), or GMT±h, GMT±hh, GMT±hhmm, GMT±hh:mm. ok is false for
// an unknown id, where Java silently takes GMT.
func LoadLocation(id string) (loc *time.Location, ok bool) {
	switch id {
	case "", "Local":
		return nil, false
	case "UTC", "GMT":
		return time.FixedZone(id, 0), true
	case "EST":
		return time.FixedZone(id, -5*3600), true
	case "MST":
		return time.FixedZone(id, -7*3600), true
	case "HST":
		return time.FixedZone(id, -10*3600), true
	}
	if rest, found := strings.CutPrefix(id, "GMT"); found && rest != "" {
		if offset, ok := customOffset(rest); ok {
			return time.FixedZone(gmtName(int64(offset)*1000), offset), true
		}
	}
	if name, found := javaZones[id]; found {
		id = name
	}
	loc, err := time.LoadLocation(id)
	return loc, err == nil
}

// customOffset reads ±h, ±hh, ±hhmm, ±h:mm or ±hh:mm as seconds.
func customOffset(text string) (int, bool) {
	sign := 1
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	hours, minutes, colon := strings.Cut(text[1:], ":")
	if !colon && len(hours) > 2 {
		at := len(hours) - 2
		hours, minutes = hours[:at], hours[at:]
	} else if !colon {
		minutes = "00"
	}
	h, err1 := strconv.ParseUint(hours, 10, 8)
	m, err2 := strconv.ParseUint(minutes, 10, 8)
	if err1 != nil || err2 != nil || len(hours) > 2 || len(minutes) != 2 || h > 23 || m > 59 {
		return 0, false
	}
	return sign * int(h*3600+m*60), true
}

// gmtName is the name of an offset without a name of its own: GMT+01:00.
func gmtName(offset int64) string {
	if offset == 0 {
		return "GMT"
	}
	return string(appendOffset([]byte("GMT"), offset, true))
}

func appendOffset(dst []byte, offset int64, colon bool) []byte {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	minutes := int(offset / 60_000)
	dst = append2(append(dst, sign), minutes/60)
	if colon {
		dst = append(dst, ':')
	}
	return append2(dst, minutes%60)
}

// zoneName returns the name for z (short) and zzzz (long), in English.
func (p zonePeriod) zoneName(long bool) string {
	name := p.name
	if name == "" || name[0] == '+' || name[0] == '-' {
		return gmtName(p.offset)
	}
	if long {
		for _, n := range zoneNames {
			if n.short == name && n.offset == p.offset/60_000 {
				return n.long
			}
		}
	}
	return name
}

// namedOffset is a zone abbreviation with its long English name.
type namedOffset struct {
	short, long string
	offset      int64 // minutes east of UTC
}

// zoneNames are the names that z reads and zzzz writes. Where an abbreviation
// is used by several zones the first one counts, as for Java's preferred zones.
var zoneNames = []namedOffset{
	{"UTC", "Coordinated Universal Time", 0},
	{"GMT", "Greenwich Mean Time", 0},
	{"BST", "British Summer Time", 60},
	{"WET", "Western European Standard Time", 0},
	{"WEST", "Western European Summer Time", 60},
	{"CET", "Central European Standard Time", 60},
	{"CEST", "Central European Summer Time", 120},
	{"EET", "Eastern European Standard Time", 120},
	{"EEST", "Eastern European Summer Time", 180},
	{"MSK", "Moscow Standard Time", 180},
	{"EST", "Eastern Standard Time", -300},
	{"EDT", "Eastern Daylight Time", -240},
	{"CST", "Central Standard Time", -360},
	{"CDT", "Central Daylight Time", -300},
	{"MST", "Mountain Standard Time", -420},
	{"MDT", "Mountain Daylight Time", -360},
	{"PST", "Pacific Standard Time", -480},
	{"PDT", "Pacific Daylight Time", -420},
	{"AKST", "Alaska Standard Time", -540},
	{"AKDT", "Alaska Daylight Time", -480},
	{"HST", "Hawaii-Aleutian Standard Time", -600},
	{"JST", "Japan Standard Time", 540},
	{"KST", "Korean Standard Time", 540},
	{"IST", "India Standard Time", 330},
	{"AEST", "Australian Eastern Standard Time", 600},
	{"AEDT", "Australian Eastern Daylight Time", 660},
	{"NZST", "New Zealand Standard Time", 720},
	{"NZDT", "New Zealand Daylight Time", 780},
}

// zoneNameIndex lists names longest first, for greedy matching.
func zoneNameIndex(own *zone) []nameValue {
	var list []nameValue
	add := func(name string, offset int64) {
		if name != "" && name[0] != '+' && name[0] != '-' {
			list = append(list, nameValue{name, int(offset)})
		}
	}
	add(own.first.name, own.first.offset)
	for i := len(own.steps) - 1; i >= 0 && i >= len(own.steps)-2; i-- {
		add(own.steps[i].name, own.steps[i].offset)
	}
	for _, n := range zoneNames {
		add(n.short, n.offset*60_000)
		add(n.long, n.offset*60_000)
	}
	sort.SliceStable(list, func(i, j int) bool { return len(list[i].name) > len(list[j].name) })
	return list
}
