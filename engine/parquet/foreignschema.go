package parquet

import (
	"fmt"
	"slices"
	"strings"
)

// Physical is how the values of a column are stored.
type Physical int32

// The physical types.
const (
	Boolean   Physical = physBoolean
	Int32     Physical = physInt32
	Int64     Physical = physInt64
	Int96     Physical = physInt96 // 8 bytes nanoseconds of the day, 4 bytes Julian day
	Float     Physical = physFloat
	Double    Physical = physDouble
	ByteArray Physical = physBytes
	Fixed     Physical = physFixed // byte arrays of Leaf.Length bytes
)

// String gives the name in the format's specification.
func (p Physical) String() string {
	names := [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("type %d", int32(p))
	}
	return names[p]
}

// Meaning is what the values of a column stand for.
type Meaning int

// The meanings. Other is one that needs no more than the bytes.
const (
	Plain Meaning = iota
	Text
	Enum
	Decimal
	Day    // days since 1970-01-01
	Clock  // time of day in units
	Moment // units since 1970-01-01
	Whole  // an integer of some bits
	JSON
	UUID
	Float16
	Other
)

// Unit is that of a Clock or Moment.
type Unit int

// The units.
const (
	Millis Unit = iota
	Micros
	Nanos
)

// Leaf is a column of a file.
type Leaf struct {
	Path     string // the names from the top, with dots between
	Name     string
	Physical Physical
	Length   int // bytes of a Fixed
	Repeated bool

	Meaning Meaning
	Scale   int32 // of a Decimal
	Unit    Unit
	UTC     bool // a Moment, as opposed to what a clock shows somewhere
	Bits    int  // of a Whole
	Signed  bool

	level int // definition level of a value
}

// String gives the types, for messages.
func (l *Leaf) String() string {
	if l.Meaning == Float16 {
		return l.Physical.String() + " Float16"
	}
	return l.Physical.String()
}

const (
	optionalField = 1
	repeatedField = 2
	deepest       = 100 // levels of a schema
)

// leavesOf gives the columns of a schema, which is a tree in preorder.
func leavesOf(elements []element) ([]Leaf, error) {
	w := &schemaWalk{rest: elements}
	for len(w.rest) > 0 && !w.bad {
		w.walk(nil, Leaf{})
	}
	if w.bad {
		return nil, fmt.Errorf("%w: its schema cannot be read", ErrCorrupt)
	}
	return w.leaves, nil
}

type schemaWalk struct {
	rest   []element
	leaves []Leaf
	bad    bool
}

func (w *schemaWalk) walk(path []string, l Leaf) {
	if len(w.rest) == 0 || len(path) > deepest || w.bad {
		w.bad = true
		return
	}
	e := w.rest[0]
	w.rest = w.rest[1:]
	switch e.repetition {
	case optionalField:
		l.level++
	case repeatedField:
		l.level++
		l.Repeated = true
	}
	path = append(slices.Clip(path), e.name)
	if e.physical >= 0 {
		l.Name, l.Path = e.name, strings.Join(path, ".")
		w.bad = w.bad || !e.describe(&l)
		w.leaves = append(w.leaves, l)
		return
	}
	for range e.children {
		if w.walk(path, l); w.bad {
			return
		}
	}
}

// describe sets the types of a leaf.
func (e *element) describe(l *Leaf) bool {
	l.Physical, l.Length, l.Scale = Physical(e.physical), int(e.length), e.scale
	if e.physical == physInt96 {
		l.Length = 12
	}
	if e.logical.id != 0 {
		e.fromLogical(l)
	} else if e.converted >= 0 {
		e.fromConverted(l)
	}
	return e.physical <= physFixed && (e.physical != physFixed || l.Length > 0)
}

// logicalType is the union of that name: the number of its member and what the
// member holds.
type logicalType struct {
	id     int16
	scale  int32
	unit   int16
	utc    bool
	bits   int8
	signed bool
}

func (e *element) fromLogical(l *Leaf) {
	t := &e.logical
	l.Unit, l.UTC, l.Bits, l.Signed = Unit(max(t.unit, 1)-1), t.utc, int(t.bits), t.signed
	switch t.id {
	case 1:
		l.Meaning = Text
	case 4:
		l.Meaning = Enum
	case 5:
		l.Meaning, l.Scale = Decimal, t.scale
	case 6:
		l.Meaning = Day
	case 7:
		l.Meaning = Clock
	case 8:
		l.Meaning = Moment
	case 10:
		l.Meaning = Whole
	case 12:
		l.Meaning = JSON
	case 14:
		l.Meaning = UUID
	case 15:
		l.Meaning = Float16
	default:
		l.Meaning = Other
	}
}

// The older types.
const (
	convEnum       = 4
	convDate       = 6
	convTimeMillis = 7
	convTimeMicros = 8
	convUint8      = 11
	convInt8       = 15
	convInt64      = 18
)

func (e *element) fromConverted(l *Leaf) {
	switch c := e.converted; {
	case c == convUTF8:
		l.Meaning = Text
	case c == convEnum:
		l.Meaning = Enum
	case c == convDecimal:
		l.Meaning = Decimal
	case c == convDate:
		l.Meaning = Day
	case c == convTimeMillis, c == convTimeMicros:
		l.Meaning, l.Unit, l.UTC = Clock, Unit(c-convTimeMillis), true
	case c == convTimestampMillis, c == convTimestampMicros:
		l.Meaning, l.Unit, l.UTC = Moment, Unit(c-convTimestampMillis), true
	case c >= convUint8 && c < convInt8:
		l.Meaning, l.Bits = Whole, 8<<(c-convUint8)
	case c >= convInt8 && c <= convInt64:
		l.Meaning, l.Bits, l.Signed = Whole, 8<<(c-convInt8), true
	case c == convJSON:
		l.Meaning = JSON
	default:
		l.Meaning = Other
	}
}

func readLogical(r *thriftReader) logicalType {
	var t logicalType
	r.fields(func(id int16, kind byte) bool {
		if t.id = id; kind != thriftStruct {
			return false
		}
		r.fields(func(member int16, kind byte) bool { return t.member(r, member, kind) })
		return true
	})
	return t
}

// member reads a field of a decimal, time, timestamp or integer.
func (t *logicalType) member(r *thriftReader, id int16, kind byte) bool {
	switch {
	case t.id == 5 && id == 1:
		t.scale = int32(r.varint())
	case (t.id == 7 || t.id == 8) && id == 1:
		t.utc = kind == thriftTrue
	case (t.id == 7 || t.id == 8) && id == 2 && kind == thriftStruct:
		r.fields(func(unit int16, _ byte) bool {
			t.unit = unit
			return false
		})
	case t.id == 10 && id == 1:
		t.bits = int8(r.byte())
	case t.id == 10 && id == 2:
		t.signed = kind == thriftTrue
	default:
		return false
	}
	return true
}
