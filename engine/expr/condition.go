package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
)

// Operator links a condition to the sibling before it.
type Operator string

// The operators, as files store them.
const (
	OpNone   Operator = "-"
	OpOr     Operator = "OR"
	OpAnd    Operator = "AND"
	OpNot    Operator = "NOT"
	OpOrNot  Operator = "OR NOT"
	OpAndNot Operator = "AND NOT"
	OpXor    Operator = "XOR"
)

// Operators lists the operators a user may choose for a later sibling.
func Operators() []Operator { return []Operator{OpAnd, OpOr, OpAndNot, OpOrNot, OpXor} }

// Function compares the left side of an atom with the right one.
type Function string

// The functions, as files store them.
const (
	Equal        Function = "="
	NotEqual     Function = "<>"
	Smaller      Function = "<"
	SmallerEqual Function = "<="
	Larger       Function = ">"
	LargerEqual  Function = ">="
	Regexp       Function = "REGEXP"
	IsNull       Function = "IS NULL"
	IsNotNull    Function = "IS NOT NULL"
	InList       Function = "IN LIST"
	Contains     Function = "CONTAINS"
	StartsWith   Function = "STARTS WITH"
	EndsWith     Function = "ENDS WITH"
	Like         Function = "LIKE"
	True         Function = "TRUE"
)

// Functions lists all functions in the order forms show them.
func Functions() []Function {
	return []Function{Equal, NotEqual, Smaller, SmallerEqual, Larger, LargerEqual, Regexp, IsNull, IsNotNull, InList, Contains, StartsWith, EndsWith, Like, True}
}

// Condition is a node of a condition tree (reference 7.1). A node with Children is
// composite and its atom part is ignored. It is not changed once compiled.
type Condition struct {
	Negated  bool
	Operator Operator
	Left     string
	Function Function
	Right    string    // field name; empty: Constant counts
	Constant *Constant // nil: null
	Children []*Condition
}

// Constant is the right side of an atom as the file stores it.
type Constant struct {
	Name      string
	Type      batch.Type
	Text      string
	Length    int
	Precision int
	IsNull    bool
	Mask      string
}

// IsEmpty says whether the condition holds nothing to evaluate.
func (c *Condition) IsEmpty() bool {
	return c == nil || (len(c.Children) == 0 && c.Left == "" && c.Function != True)
}

// DecodeCondition reads a <condition> element; nil for an absent or empty one.
// The error names an operator or function that does not exist, and its line.
func DecodeCondition(el *hopxml.Element) (*Condition, error) {
	if el == nil || len(el.Elements()) == 0 {
		return nil, nil
	}
	c := &Condition{
		Negated:  flag(el.Child("negated").Text()),
		Operator: Operator(strings.ToUpper(strings.TrimSpace(el.Child("operator").Text()))),
		Left:     el.Child("leftvalue").Text(),
		Function: Function(strings.ToUpper(strings.TrimSpace(el.Child("function").Text()))),
		Right:    el.Child("rightvalue").Text(),
		Constant: decodeConstant(el.Child("value")),
	}
	for _, k := range el.Child("conditions").All("condition") {
		child, err := DecodeCondition(k)
		if err != nil {
			return nil, err
		}
		if child != nil {
			c.Children = append(c.Children, child)
		}
	}
	if c.Operator == "" {
		c.Operator = OpNone
	}
	if c.Function == "" {
		c.Function = Equal
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("line %d: %w", el.Line(), err)
	}
	return c, nil
}

func (c *Condition) check() error {
	switch c.Operator {
	case OpNone, OpOr, OpAnd, OpNot, OpOrNot, OpAndNot, OpXor:
	default:
		return fmt.Errorf("condition operator %q is not known; use AND, OR, AND NOT, OR NOT or XOR", c.Operator)
	}
	if slices.Contains(Functions(), c.Function) {
		return nil
	}
	return fmt.Errorf("condition function %q is not known", c.Function)
}

func decodeConstant(el *hopxml.Element) *Constant {
	if el == nil || len(el.Elements()) == 0 {
		return nil
	}
	return &Constant{
		Name:      el.Child("name").Text(),
		Type:      batch.ParseType(el.Child("type").Text()),
		Text:      el.Child("text").Text(),
		Length:    intText(el.Child("length").Text()),
		Precision: intText(el.Child("precision").Text()),
		IsNull:    flag(el.Child("isnull").Text()),
		Mask:      el.Child("mask").Text(),
	}
}

func intText(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return -1
	}
	return n
}

func flag(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "y", "yes", "true", "t":
		return true
	}
	return false
}

// Fields lists the names of the fields that the condition reads, each once.
func (c *Condition) Fields() []string {
	var names []string
	seen := map[string]bool{}
	c.walk(func(a *Condition) {
		if a.Function == True {
			return
		}
		for _, n := range []string{a.Left, a.Right} {
			if n != "" && !seen[strings.ToLower(n)] {
				seen[strings.ToLower(n)] = true
				names = append(names, n)
			}
		}
	})
	return names
}

// walk visits the atoms.
func (c *Condition) walk(visit func(*Condition)) {
	if c == nil {
		return
	}
	if len(c.Children) == 0 {
		visit(c)
		return
	}
	for _, k := range c.Children {
		k.walk(visit)
	}
}

// String gives the condition as a person reads it: `country = 'DE' AND NOT (…)`.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	c.write(&b)
	return b.String()
}

func (c *Condition) write(b *strings.Builder) {
	if c.Negated {
		b.WriteString("NOT ")
	}
	if len(c.Children) == 0 {
		c.writeAtom(b)
		return
	}
	for i, k := range c.Children {
		if i > 0 {
			b.WriteString(" " + string(k.Operator) + " ")
		}
		if len(k.Children) > 0 {
			b.WriteByte('(')
			k.write(b)
			b.WriteByte(')')
			continue
		}
		k.write(b)
	}
}

func (c *Condition) writeAtom(b *strings.Builder) {
	switch c.Function {
	case True:
		b.WriteString("TRUE")
		return
	case IsNull, IsNotNull:
		b.WriteString(c.Left + " " + string(c.Function))
		return
	}
	b.WriteString(c.Left + " " + string(c.Function) + " ")
	switch {
	case c.Right != "":
		b.WriteString(c.Right)
	case c.Constant == nil || c.Constant.IsNull:
		b.WriteString("NULL")
	case c.Constant.Type == batch.String:
		b.WriteString("'" + strings.ReplaceAll(c.Constant.Text, "'", "''") + "'")
	default:
		b.WriteString(c.Constant.Text)
	}
}
