package formula

import (
	"math"
	"strconv"
	"strings"
)

// Kind tells what a Value holds.
type Kind uint8

// The kinds of values a formula works with.
const (
	Blank Kind = iota
	Number
	Text
	Bool
	Failure
)

// Value is a cell's value. It is small and copied freely.
type Value struct {
	Kind Kind
	Num  float64 // Number; 0 or 1 for Bool
	Text string  // Text; the name of a Failure, such as "#N/A"
	cell bool    // comes from a field: aggregates skip its text and booleans
}

// The errors of the language.
var (
	errNA    = Value{Kind: Failure, Text: "#N/A"}
	errValue = Value{Kind: Failure, Text: "#VALUE!"}
	errDiv   = Value{Kind: Failure, Text: "#DIV/0!"}
	errNum   = Value{Kind: Failure, Text: "#NUM!"}
	errRef   = Value{Kind: Failure, Text: "#REF!"}
	errName  = Value{Kind: Failure, Text: "#NAME?"}
	errNull  = Value{Kind: Failure, Text: "#NULL!"}
)

var errorNames = []Value{errNA, errValue, errDiv, errNum, errRef, errName, errNull}

// IsNA says whether the value is the error that means: no value available.
func (v Value) IsNA() bool { return v.Kind == Failure && v.Text == errNA.Text }

func number(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return errNum
	}
	return Value{Kind: Number, Num: f}
}

func text(s string) Value { return Value{Kind: Text, Text: s} }

func boolean(b bool) Value {
	v := Value{Kind: Bool}
	if b {
		v.Num = 1
	}
	return v
}

// asNumber gives the number a value stands for; the second result is an error
// value, whose Kind is Failure, or the zero Value.
func (v Value) asNumber() (float64, Value) {
	switch v.Kind {
	case Number, Bool:
		return v.Num, Value{}
	case Blank:
		return 0, Value{}
	case Text:
		if f, ok := parseNumber(v.Text); ok {
			return f, Value{}
		}
		return 0, errValue
	}
	return 0, v
}

func parseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s, "_xXpPnNiI") {
		return 0, false
	}
	if p, ok := strings.CutSuffix(s, "%"); ok {
		f, err := strconv.ParseFloat(p, 64)
		return f / 100, err == nil
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// asText gives the text a value stands for.
func (v Value) asText() (string, Value) {
	switch v.Kind {
	case Text:
		return v.Text, Value{}
	case Number:
		return numberText(v.Num), Value{}
	case Bool:
		if v.Num != 0 {
			return "TRUE", Value{}
		}
		return "FALSE", Value{}
	case Blank:
		return "", Value{}
	}
	return "", v
}

func (v Value) asBool() (bool, Value) {
	switch v.Kind {
	case Number, Bool:
		return v.Num != 0, Value{}
	case Blank:
		return false, Value{}
	case Text:
		switch strings.ToUpper(v.Text) {
		case "TRUE":
			return true, Value{}
		case "FALSE":
			return false, Value{}
		}
		return false, errValue
	}
	return false, v
}

const (
	significant = 15 // digits that a number is shown with
	plainLimit  = 20 // characters up to which no exponent is used
)

// numberText shows a number as a cell without a format does: up to 15 digits.
func numberText(f float64) string {
	if f == 0 {
		return "0"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'e', significant-1, 64), 64)
	plain := strconv.FormatFloat(rounded, 'f', -1, 64)
	if len(plain) <= plainLimit {
		return plain
	}
	s := strconv.FormatFloat(rounded, 'E', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "E")
	if len(exponent) == 2 {
		exponent = exponent[:1] + "0" + exponent[1:]
	}
	return mantissa + "E" + exponent
}

// compare orders two values as the language does: numbers before texts before
// booleans, texts without case; a blank takes the other side's type.
func compare(a, b Value) int {
	if a.Kind == Blank {
		a = emptyLike(b)
	}
	if b.Kind == Blank {
		b = emptyLike(a)
	}
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	if a.Kind == Text {
		return strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text))
	}
	switch {
	case a.Num < b.Num:
		return -1
	case a.Num > b.Num:
		return 1
	}
	return 0
}

func emptyLike(v Value) Value {
	if v.Kind == Blank {
		return Value{Kind: Number}
	}
	return Value{Kind: v.Kind}
}
