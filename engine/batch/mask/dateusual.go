package mask

import "encoding/binary"

// usualLayout is a plainLayout for yyyy-MM-dd HH:mm:ss and yyyy-MM-dd HH:mm:ss.SSS,
// whatever the literals, with every number at a known place: it takes less time.
type usualLayout struct {
	expect, room [3]uint64 // as in plainWord, at 0, 8 and 8 before the end
	second       uint      // bits before the seconds in the last word
	millis       bool
}

const (
	usualSize = len("yyyy-MM-dd HH:mm:ss")
	secondAt  = usualSize - 2
)

// newUsualLayout returns nil when the mask has another layout. expect and room are
// those of a whole text.
func newUsualLayout(l *plainLayout, expect, room []byte) *usualLayout {
	u := &usualLayout{second: 8 * uint(secondAt-(l.size-8)), millis: l.at[slotFraction] == usualSize+1}
	size := usualSize
	if u.millis {
		size += len(".SSS")
	}
	numbers := [slotCount]int{0, 5, 8, 11, 14, secondAt, l.at[slotFraction]}
	if l.at != numbers || l.size != size || l.nines {
		return nil
	}
	for i, at := range []int{0, 8, l.size - 8} {
		u.expect[i], u.room[i] = binary.LittleEndian.Uint64(expect[at:]), binary.LittleEndian.Uint64(room[at:])
	}
	return u
}

// parse is plainLayout.parse for a text of exactly the layout's size.
func (u *usualLayout) parse(text []byte) (ms int64, ok bool) {
	// A byte of x is the value of a digit, or zero for a literal.
	x0 := binary.LittleEndian.Uint64(text) ^ u.expect[0]
	x1 := binary.LittleEndian.Uint64(text[8:]) ^ u.expect[1]
	x2 := binary.LittleEndian.Uint64(text[len(text)-8:]) ^ u.expect[2]
	if ((x0&low7+u.room[0]|x0)|(x1&low7+u.room[1]|x1)|(x2&low7+u.room[2]|x2))&top1 != 0 {
		return 0, false
	}
	// A byte of p is ten times a digit and the one behind it.
	p0, p1, p2 := x0*10+x0>>8, x1*10+x1>>8, x2*10+x2>>8
	year := uint32(uint8(p0))*100 + uint32(uint8(p0>>16))
	month, day := uint32(uint8(p0>>40)), uint32(uint8(p1))
	hour, minute, second := uint32(uint8(p1>>24)), uint32(uint8(p1>>48)), uint32(uint8(p2>>(u.second&63)))
	milli := uint32(0)
	if u.millis {
		milli = uint32(uint8(p2>>40))*10 + uint32(uint8(x2>>56))
	}
	if year < 1583 || month-1 > 11 || day < 1 || day > 28 && int(day) > daysInMonth(int64(year), int(month)) ||
		hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	millis := ((hour*60+minute)*60+second)*1000 + milli
	return plainDays(year, int(month), int(day))*msPerDay + int64(millis), true
}
