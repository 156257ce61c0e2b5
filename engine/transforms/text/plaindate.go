package text

import (
	"slices"
	"time"

	"sluice/engine/batch"
)

// plainDate writes dates of masks such as yyyy-MM-dd HH:mm:ss.SSS, whose numbers
// have a fixed width, for the years 1970 to 2099. It is immutable.
type plainDate struct {
	parts []datePart
	size  int // bytes of a text
	zone  *time.Location
}

// datePart is a number, or a literal when letter is 0.
type datePart struct{ letter, literal byte }

const (
	dayMillis = 86_400_000
	lastPlain = 4_102_444_800_000 - dayMillis // the day before the year 2100
)

// newPlainDate gives nil for masks of another kind, and for fields with a zone or
// a locale of their own.
func newPlainDate(sem *batch.Semantics, f *batch.Field) *plainDate {
	p := &plainDate{zone: sem.Location}
	if p.zone == nil {
		p.zone = time.UTC
	}
	if f.Zone != "" || f.Locale != "" {
		return nil
	}
	for m := f.Mask; m != ""; {
		n := 1
		for n < len(m) && m[n] == m[0] {
			n++
		}
		c := m[0]
		switch width := dateWidth(c); {
		case width > 0 && width == n:
			p.parts = append(p.parts, datePart{letter: c})
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '\'' || c >= 0x80:
			return nil
		default:
			for range n {
				p.parts = append(p.parts, datePart{literal: c})
			}
		}
		p.size += n
		m = m[n:]
	}
	if p.size == 0 {
		return nil
	}
	return p
}

// dateWidth is how often a letter must stand for a number of that many digits; 0
// for letters that are no plain number.
func dateWidth(c byte) int {
	switch c {
	case 'y':
		return 4
	case 'M', 'd', 'H', 'm', 's':
		return 2
	case 'S':
		return 3
	}
	return 0
}

// offset is the difference of local time and UTC during a stretch of time.
type offset struct{ from, to, millis int64 }

// at gives the offset of a moment; o is the one of the moment before.
func (p *plainDate) at(o offset, ms int64) offset {
	if ms >= o.from && ms < o.to {
		return o
	}
	t := time.UnixMilli(ms).In(p.zone)
	_, seconds := t.Zone()
	start, end := t.ZoneBounds()
	o = offset{from: 0, to: lastPlain, millis: int64(seconds) * 1000}
	if !start.IsZero() {
		o.from = max(start.UnixMilli(), 0)
	}
	if !end.IsZero() {
		o.to = min(end.UnixMilli(), lastPlain)
	}
	return o
}

// append appends a moment of local time.
func (p *plainDate) append(dst []byte, local int64) []byte {
	days := local / dayMillis
	rest := uint32(local - days*dayMillis)
	year, month, day := civil(uint32(days))
	seconds := rest / 1000
	at := len(dst)
	dst = slices.Grow(dst, p.size)[:at+p.size]
	for _, part := range p.parts {
		switch part.letter {
		case 0:
			dst[at] = part.literal
			at++
		case 'y':
			twoDigits(dst[at:], year/100)
			twoDigits(dst[at+2:], year%100)
			at += 4
		case 'M':
			twoDigits(dst[at:], month)
			at += 2
		case 'd':
			twoDigits(dst[at:], day)
			at += 2
		case 'H':
			twoDigits(dst[at:], seconds/3600)
			at += 2
		case 'm':
			twoDigits(dst[at:], seconds/60%60)
			at += 2
		case 's':
			twoDigits(dst[at:], seconds%60)
			at += 2
		case 'S':
			ms := rest % 1000
			dst[at] = byte('0' + ms/100)
			twoDigits(dst[at+1:], ms%100)
			at += 3
		}
	}
	return dst
}

func twoDigits(dst []byte, v uint32) {
	_ = dst[1]
	dst[0], dst[1] = byte('0'+v/10), byte('0'+v%10)
}

// civil gives the Gregorian date of a day since 1970. Years begin in March, so
// that the leap day is the last one.
func civil(days uint32) (year, month, day uint32) {
	z := days + 719468 // since 0000-03-01
	era := z / 146097
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	year, month = yoe+era*400, mp+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}
