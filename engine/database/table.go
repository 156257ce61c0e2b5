package database

import (
	"strings"

	"sluice/engine/transform"
)

// Table gives the quoted name of a table, in the dialect's preferred schema when
// none is named.
func Table(d transform.Dialect, schema, table string) string {
	if schema == "" {
		if own, ok := d.(Dialect); ok {
			schema = own.Schema()
		}
	}
	if schema == "" {
		return d.Quote(table)
	}
	return d.Quote(schema) + "." + d.Quote(table)
}

// Insert gives the statement that inserts one row into the columns of a table,
// whose name is quoted already.
func Insert(d transform.Dialect, table string, columns []string) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + table + " (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.Quote(c))
	}
	b.WriteString(") VALUES (")
	for i := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.Placeholder(i + 1))
	}
	b.WriteString(")")
	return b.String()
}
