package xml

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
)

// valueFormat turns the values of one field into the text an element gets.
type valueFormat struct {
	index  int
	name   string // of the element or attribute
	codec  *batch.Codec
	nullAs string
}

// formatSettings are what the settings say about a value's text.
type formatSettings struct {
	field, element, format, currency, decimal, group string
	length, precision                                int
	numberMask                                       string // of numbers without a format
}

// newFormat finds the field and compiles its format. Only numbers and dates have
// one; other values keep the text they have.
func newFormat(sem *batch.Semantics, in *batch.Schema, s formatSettings) (valueFormat, error) {
	v := valueFormat{index: in.Index(s.field), name: s.element}
	if v.index < 0 {
		return v, fmt.Errorf("field %q not found; the input has %s", s.field, strings.Join(in.Names(), ", "))
	}
	if v.name == "" {
		v.name = s.field
	}
	f := in.Fields[v.index]
	if f.Type.IsNumeric() || (f.Type.IsDate() && s.format != "") {
		f.Mask, f.Currency, f.Decimal, f.Grouping, f.Length, f.Precision = s.format, s.currency, s.decimal, s.group, s.length, s.precision
		if f.Mask == "" && f.Type.IsNumeric() {
			f.Mask = s.numberMask
		}
	}
	var err error
	v.codec, err = sem.Codec(&f)
	return v, err
}

// checkName refuses what cannot name an element or attribute.
func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s has no name", what)
	}
	for i, r := range name {
		letter := r == '_' || r == ':' || r >= 0x80 || (r|0x20 >= 'a' && r|0x20 <= 'z')
		if !letter && (i == 0 || (r != '-' && r != '.' && (r < '0' || r > '9'))) {
			return fmt.Errorf("%s: %q cannot be a name in XML", what, name)
		}
	}
	return nil
}
