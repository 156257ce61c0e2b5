package presenter

import (
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/expr"
	"sluice/engine/hopxml"
)

// conditionEdit writes a condition below <compare>.
func conditionEdit(el *hopxml.Element, c *expr.Condition) hopxml.Edit {
	if c == nil {
		c = &expr.Condition{Operator: expr.OpNone, Function: expr.Equal}
	}
	draft := conditionDraft(c)
	if old := el.Child("compare").Child("condition"); old != nil {
		return hopxml.Replace(old.ID(), draft)
	}
	if compare := el.Child("compare"); compare != nil {
		return hopxml.Insert(compare.ID(), hopxml.AtEnd(), draft)
	}
	return hopxml.Insert(el.ID(), hopxml.Canonical(), hopxml.Branch("compare", draft))
}

// conditionDraft is a condition as Hop writes it (reference 7.1).
func conditionDraft(c *expr.Condition) hopxml.Draft {
	operator := c.Operator
	if operator == "" {
		operator = expr.OpNone
	}
	list := []hopxml.Draft{hopxml.Leaf("negated", yesNo(c.Negated)), hopxml.Leaf("operator", string(operator))}
	if len(c.Children) > 0 {
		var children []hopxml.Draft
		for _, k := range c.Children {
			children = append(children, conditionDraft(k))
		}
		return hopxml.Branch("condition", append(list, hopxml.Branch("conditions", children...))...)
	}
	list = append(list,
		hopxml.Leaf("leftvalue", c.Left), hopxml.Leaf("function", string(c.Function)), hopxml.Leaf("rightvalue", c.Right))
	if k := c.Constant; k != nil {
		list = append(list, hopxml.Branch("value",
			hopxml.Leaf("name", or(k.Name, "constant")), hopxml.Leaf("type", k.Type.String()), hopxml.Leaf("text", k.Text),
			hopxml.Leaf("length", strconv.Itoa(k.Length)), hopxml.Leaf("precision", strconv.Itoa(k.Precision)),
			hopxml.Leaf("isnull", yesNo(k.IsNull)), hopxml.Leaf("mask", k.Mask)))
	}
	return hopxml.Branch("condition", append(list, hopxml.Branch("conditions"))...)
}

func yesNo(on bool) string {
	if on {
		return "Y"
	}
	return "N"
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// NewAtom gives a comparison for the end of a group.
func NewAtom(group *expr.Condition, field string) *expr.Condition {
	c := &expr.Condition{Operator: joinOperator(group), Left: field, Function: expr.Equal, Constant: &expr.Constant{Name: "constant", Type: batch.String, Length: -1, Precision: -1}}
	if len(group.Children) == 0 {
		c.Operator = expr.OpNone
	}
	return c
}

// joinOperator is what links the children of a group.
func joinOperator(group *expr.Condition) expr.Operator {
	if len(group.Children) > 1 && AnyOf(group) {
		return expr.OpOr
	}
	return expr.OpAnd
}

// AnyOf tells whether a group holds when one of its children does.
func AnyOf(group *expr.Condition) bool {
	return len(group.Children) > 1 && (group.Children[1].Operator == expr.OpOr || group.Children[1].Operator == expr.OpOrNot)
}

// SetAnyOf links the children of a group by OR, else by AND.
func SetAnyOf(group *expr.Condition, anyOf bool) {
	for i, c := range group.Children {
		switch {
		case i == 0:
			c.Operator = expr.OpNone
		case anyOf:
			c.Operator = expr.OpOr
		default:
			c.Operator = expr.OpAnd
		}
	}
}

// AsGroup gives a condition as a group: an atom becomes its only child, nothing an
// empty group.
func AsGroup(c *expr.Condition) *expr.Condition {
	switch {
	case c == nil || c.IsEmpty():
		return &expr.Condition{Operator: expr.OpNone, Function: expr.Equal}
	case len(c.Children) > 0:
		return c
	}
	atom := *c
	atom.Operator = expr.OpNone
	return &expr.Condition{Operator: c.Operator, Function: expr.Equal, Children: []*expr.Condition{&atom}}
}

// Simplified is the condition that a group of the form stands for: a single atom
// is stored without a group around it, as Hop does.
func Simplified(group *expr.Condition) *expr.Condition {
	if group == nil || len(group.Children) == 0 && group.Left == "" {
		return nil
	}
	if len(group.Children) == 1 && !group.Negated && len(group.Children[0].Children) == 0 {
		atom := *group.Children[0]
		atom.Operator = group.Operator
		return &atom
	}
	return group
}

// NeedsRight tells whether a function compares with something.
func NeedsRight(f expr.Function) bool {
	return f != expr.IsNull && f != expr.IsNotNull && f != expr.True
}

// ConditionText writes a condition in words for people.
func ConditionText(c *expr.Condition) string {
	if c == nil || c.IsEmpty() {
		return "no condition: every row is true"
	}
	var b strings.Builder
	if c.Negated {
		b.WriteString("NOT ")
	}
	if len(c.Children) > 0 {
		b.WriteString("(")
		for i, k := range c.Children {
			if i > 0 {
				b.WriteString(" " + string(k.Operator) + " ")
			}
			b.WriteString(ConditionText(k))
		}
		b.WriteString(")")
		return b.String()
	}
	b.WriteString(c.Left + " " + string(c.Function))
	switch {
	case !NeedsRight(c.Function):
	case c.Right != "":
		b.WriteString(" " + c.Right)
	case c.Constant == nil || c.Constant.IsNull:
		b.WriteString(" null")
	default:
		b.WriteString(" '" + c.Constant.Text + "'")
	}
	return b.String()
}
