package action

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/engine/transform"
)

// NumberCondition compares values that have an order.
type NumberCondition string

// Choices implements transform.Choices.
func (NumberCondition) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "equal", Label: "is equal"},
		{Code: "different", Label: "differs"},
		{Code: "smaller", Label: "is smaller"},
		{Code: "smallequal", Label: "is smaller or equal"},
		{Code: "greater", Label: "is greater"},
		{Code: "greaterequal", Label: "is greater or equal"},
		{Code: "between", Label: "is between"},
		{Code: "inlist", Label: "is in the list"},
		{Code: "notinlist", Label: "is not in the list"},
	}
}

// Compare evaluates a condition on a value: with is the other side or a list
// separated by commas, low and high bound "between" (both inclusive). The error
// names the text that cannot be read.
func Compare[T any](c NumberCondition, value, with, low, high string, parse func(string) (T, error), order func(a, b T) int) (bool, error) {
	v, err := parse(value)
	if err != nil {
		return false, err
	}
	return CompareTo(c, v, with, low, high, parse, order)
}

// CompareTo is Compare with a value that is read already.
func CompareTo[T any](c NumberCondition, v T, with, low, high string, parse func(string) (T, error), order func(a, b T) int) (bool, error) {
	switch c {
	case "between":
		l, err := parse(low)
		if err != nil {
			return false, fmt.Errorf("least value: %w", err)
		}
		h, err := parse(high)
		if err != nil {
			return false, fmt.Errorf("greatest value: %w", err)
		}
		return order(v, l) >= 0 && order(v, h) <= 0, nil
	case "inlist", "notinlist":
		in := false
		for item := range strings.SplitSeq(with, ",") {
			w, err := parse(item)
			if err != nil {
				return false, fmt.Errorf("list: %w", err)
			}
			in = in || order(v, w) == 0
		}
		return in == (c == "inlist"), nil
	}
	w, err := parse(with)
	if err != nil {
		return false, fmt.Errorf("value to compare with: %w", err)
	}
	switch n := order(v, w); c {
	case "different":
		return n != 0, nil
	case "smaller":
		return n < 0, nil
	case "smallequal":
		return n <= 0, nil
	case "greater":
		return n > 0, nil
	case "greaterequal":
		return n >= 0, nil
	default:
		return n == 0, nil
	}
}

// ParseNumber reads a number with blanks around it.
func ParseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, nil
}
