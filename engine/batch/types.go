package batch

import "strings"

// Type is a Hop value type. The numbers are Hop's own type ids, which data sets
// and the Formula transform store.
type Type uint8

// Hop's value types.
const (
	None         Type = 0
	Number       Type = 1  // float64
	String       Type = 2  // UTF-8 text
	Date         Type = 3  // milliseconds since 1970-01-01 UTC
	Boolean      Type = 4  //
	Integer      Type = 5  // int64
	BigNumber    Type = 6  // exact decimal
	Serializable Type = 7  // cannot be selected by users
	Binary       Type = 8  // bytes
	Timestamp    Type = 9  // microseconds since 1970 and the remaining nanoseconds
	Inet         Type = 10 // internet address, 4 or 16 bytes
	JSON         Type = 11 // JSON text
	Avro         Type = 20 // Avro record; named, not computed with
	UUID         Type = 32 // 16 bytes
)

var typeNames = map[Type]string{
	None: "None", Number: "Number", String: "String", Date: "Date", Boolean: "Boolean", Integer: "Integer",
	BigNumber: "BigNumber", Serializable: "Serializable", Binary: "Binary", Timestamp: "Timestamp",
	Inet: "Internet Address", JSON: "JSON", Avro: "Avro Record", UUID: "UUID",
}

// SelectableTypes lists the types a user may choose for a field, in the order
// forms show them.
func SelectableTypes() []Type {
	return []Type{String, Integer, Number, BigNumber, Boolean, Date, Timestamp, Binary, JSON, UUID, Inet}
}

// String gives the name Hop's files use ("String", "Internet Address").
func (t Type) String() string {
	if n, ok := typeNames[t]; ok {
		return n
	}
	return "None"
}

// ParseType reads a type name as Hop does: case does not matter and an unknown
// name is None.
func ParseType(name string) Type {
	name = strings.TrimSpace(name)
	for t, n := range typeNames {
		if strings.EqualFold(n, name) {
			return t
		}
	}
	return None
}

// TypeByID gives the type with Hop's numeric id, None when there is no such type.
func TypeByID(id int) Type {
	if id < 0 || id > 255 {
		return None
	}
	if _, ok := typeNames[Type(id)]; !ok {
		return None
	}
	return Type(id)
}

// IsNumeric says whether values of the type can be added up.
func (t Type) IsNumeric() bool { return t == Number || t == Integer || t == BigNumber }

// IsDate says whether the type is a point in time.
func (t Type) IsDate() bool { return t == Date || t == Timestamp }

// Trim says which blanks of a text are dropped before it is converted.
type Trim uint8

// The trim types, with the numbers older Hop metadata stores.
const (
	TrimNone Trim = iota
	TrimLeft
	TrimRight
	TrimBoth
)

var trimCodes = [...]string{"none", "left", "right", "both"}

// String gives Hop's code: none, left, right or both.
func (t Trim) String() string { return trimCodes[t&3] }

// ParseTrim reads a code (none, left, right, both) or an old number (0 to 3);
// anything else is TrimNone.
func ParseTrim(code string) Trim {
	for i, c := range trimCodes {
		if strings.EqualFold(code, c) || (len(code) == 1 && code[0] == byte('0'+i)) {
			return Trim(i)
		}
	}
	return TrimNone
}

// Apply returns text without the blanks that t drops: blank, tab, CR, LF and the
// other characters Java calls white space.
func (t Trim) Apply(text []byte) []byte {
	if t&TrimLeft != 0 {
		for len(text) > 0 && isJavaSpace(text[0]) {
			text = text[1:]
		}
	}
	if t&TrimRight != 0 {
		for len(text) > 0 && isJavaSpace(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
	}
	return text
}

func isJavaSpace(c byte) bool {
	return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)
}
