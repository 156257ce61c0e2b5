package sql

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Comparison is how a column is compared with a field.
type Comparison string

// The comparisons that need more than "column operator ?".
const (
	equals      Comparison = "="
	equalOrNull Comparison = "= ~NULL"
	between     Comparison = "BETWEEN"
	isNull      Comparison = "IS NULL"
	isNotNull   Comparison = "IS NOT NULL"
)

// Choices implements transform.Choices.
func (Comparison) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "=", Label: "=", Help: "Null equals nothing"},
		{Code: "= ~NULL", Label: "= or both null", Help: "Null equals null"},
		{Code: "<>", Label: "<>"},
		{Code: "<", Label: "<"},
		{Code: "<=", Label: "<="},
		{Code: ">", Label: ">"},
		{Code: ">=", Label: ">="},
		{Code: "LIKE", Label: "like", Help: "% and _ stand for any characters and for one"},
		{Code: "BETWEEN", Label: "between", Help: "Both ends are included"},
		{Code: "IS NULL", Label: "is null"},
		{Code: "IS NOT NULL", Label: "is not null"},
	}
}

// Key is one condition on the table.
type Key struct {
	Field     string     `hop:"name" label:"Stream field" form:"field"`
	Column    string     `hop:"field" label:"Table column" required:"true"`
	Condition Comparison `hop:"condition" default:"="`
	Field2    string     `hop:"name2" label:"Second stream field" form:"field" help:"The upper end of between"`
}

// where is a WHERE clause, and for each of its placeholders the field and the
// column it is compared with.
type where struct {
	clause  string
	fields  []int
	columns []string
}

// newWhere makes the clause for keys whose fields come from schema. first is the
// number of the clause's first placeholder, from 1.
func newWhere(d transform.Dialect, keys []Key, schema *batch.Schema, first int) (where, error) {
	var w where
	var parts []string
	for _, k := range keys {
		part, err := k.condition(d.Quote(k.Column), func(field string) (string, error) {
			i, err := position(schema, field)
			if err != nil {
				return "", err
			}
			w.fields, w.columns = append(w.fields, i), append(w.columns, k.Column)
			return d.Placeholder(first + len(w.fields) - 1), nil
		})
		if err != nil {
			return w, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return w, fmt.Errorf("there are no keys; add at least one to the key table")
	}
	w.clause = " WHERE " + strings.Join(parts, " AND ")
	return w, nil
}

func (k *Key) condition(column string, mark func(field string) (string, error)) (string, error) {
	condition := Comparison(strings.ToUpper(string(k.Condition)))
	switch condition {
	case isNull, isNotNull:
		return column + " " + string(condition), nil
	case "":
		condition = equals
	}
	a, err := mark(k.Field)
	if err != nil {
		return "", err
	}
	switch condition {
	case equalOrNull, between:
		field := k.Field
		if condition == between {
			field = k.Field2
		}
		b, err := mark(field)
		if err != nil {
			return "", err
		}
		if condition == between {
			return column + " BETWEEN " + a + " AND " + b, nil
		}
		return "((" + column + " IS NULL AND " + a + " IS NULL) OR (" + column + " = " + b + "))", nil
	}
	return column + " " + string(condition) + " " + a, nil
}
