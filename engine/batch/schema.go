package batch

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/engine/batch/mask"
)

// Field describes the values of one column: what Hop calls value metadata.
type Field struct {
	Name      string
	Type      Type
	Length    int    // characters or digits; -1 when not set
	Precision int    // digits after the point; -1 when not set
	Mask      string // Java format mask; empty: the default of the type
	Decimal   string // decimal symbol; empty: the locale's
	Grouping  string // grouping symbol; empty: the locale's
	Currency  string // currency symbol; empty: the locale's
	Trim      Trim   // applied when text is converted to this field
	Lazy      bool   // the column may hold text that waits to be converted
	Strict    bool   // dates: month 13 is an error instead of rolling over
	Lenient   bool   // numbers: unparsed trailing text is ignored
	Locale    string // date locale, "" for en_US
	Zone      string // date time zone id, "" for the process zone
	Origin    string // name of the transform that made the field
	Comments  string
}

// NewField gives a field of a type without length and precision. As in Hop a new
// number field carries its default format as an explicit mask; setting the mask
// from an empty setting clears it, and then the length decides.
func NewField(name string, t Type) Field {
	f := Field{Name: name, Type: t, Length: -1, Precision: -1}
	if kind, ok := maskKind(t); ok && t.IsNumeric() {
		f.Mask = mask.DefaultFormat(kind, -1, -1)
	}
	return f
}

// maskKind gives the mask family of a type; false for types without masks.
func maskKind(t Type) (mask.Kind, bool) {
	switch t {
	case Integer:
		return mask.Integer, true
	case Number:
		return mask.Number, true
	case BigNumber:
		return mask.BigNumber, true
	case Date:
		return mask.Date, true
	case Timestamp:
		return mask.Timestamp, true
	}
	return 0, false
}

// SameText says whether two fields turn the same value into the same text, so
// that unread text may be written back as it is.
func (f *Field) SameText(g *Field) bool {
	return f.Type == g.Type && f.Mask == g.Mask && f.Decimal == g.Decimal && f.Grouping == g.Grouping &&
		f.Currency == g.Currency && f.Length == g.Length && f.Precision == g.Precision && f.Locale == g.Locale && f.Zone == g.Zone
}

// Schema is the layout of rows. It is immutable once rows use it; the edit
// methods return a new Schema.
type Schema struct {
	Fields []Field
}

// NewSchema gives a schema of these fields, in order.
func NewSchema(fields ...Field) *Schema { return &Schema{Fields: fields} }

// Len is the number of fields; a nil schema has none.
func (s *Schema) Len() int {
	if s == nil {
		return 0
	}
	return len(s.Fields)
}

// Index finds a field by name as Hop does: case does not matter, first match
// wins. It is -1 when there is none.
func (s *Schema) Index(name string) int {
	if s == nil {
		return -1
	}
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.firstFold(i, name)
		}
	}
	return s.firstFold(len(s.Fields), name)
}

// firstFold looks for an earlier field whose name differs only in case.
func (s *Schema) firstFold(end int, name string) int {
	for i := range end {
		if strings.EqualFold(s.Fields[i].Name, name) {
			return i
		}
	}
	if end < len(s.Fields) {
		return end
	}
	return -1
}

// Names lists the field names in order.
func (s *Schema) Names() []string {
	names := make([]string, s.Len())
	for i := range names {
		names[i] = s.Fields[i].Name
	}
	return names
}

// Clone gives a schema whose fields may be changed.
func (s *Schema) Clone() *Schema {
	if s == nil {
		return &Schema{}
	}
	return &Schema{Fields: append([]Field(nil), s.Fields...)}
}

// With gives a schema with fields appended. A name that is taken (case does not
// matter) is changed to name_1, name_2 …, as Hop does.
func (s *Schema) With(fields ...Field) *Schema {
	out := &Schema{Fields: make([]Field, 0, s.Len()+len(fields))}
	if s != nil {
		out.Fields = append(out.Fields, s.Fields...)
	}
	for _, f := range fields {
		f.Name = out.freeName(f.Name)
		out.Fields = append(out.Fields, f)
	}
	return out
}

func (s *Schema) freeName(name string) string {
	if s.Index(name) < 0 {
		return name
	}
	for n := 1; ; n++ {
		if c := name + "_" + strconv.Itoa(n); s.Index(c) < 0 {
			return c
		}
	}
}

// SameLayout says whether rows of both schemas may be mixed: the same number of
// fields with the same names (case does not matter) and types in order. The
// error names the first difference.
func (s *Schema) SameLayout(t *Schema) error {
	if s.Len() != t.Len() {
		return fmt.Errorf("one has %d fields (%s), the other %d (%s)", s.Len(), strings.Join(s.Names(), ", "), t.Len(), strings.Join(t.Names(), ", "))
	}
	for i := range s.Len() {
		a, b := &s.Fields[i], &t.Fields[i]
		if !strings.EqualFold(a.Name, b.Name) {
			return fmt.Errorf("field %d is %q in one and %q in the other", i+1, a.Name, b.Name)
		}
		if a.Type != b.Type {
			return fmt.Errorf("field %q is %s in one and %s in the other", a.Name, a.Type, b.Type)
		}
	}
	return nil
}
