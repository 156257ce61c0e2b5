package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// columns of the orders in a snapshot's segments, with the type that makes them comparable.
var columns = []string{"id BIGINT", "ts TIMESTAMP", "customer VARCHAR", "country VARCHAR", "amount DECIMAL(18,2)", "qty BIGINT", "note VARCHAR"}

// same has DuckDB read the Parquet files of a folder and the orders they were made of, and compares row counts and,
// for each column and for whole rows, nulls and sums of hashes, which do not depend on the order of rows. It prints
// what it compared; a difference is an error that names the columns.
func same(ctx context.Context, to io.Writer, orders, segments string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	want, err := summary(ctx, db, orderTable(orders, "DECIMAL(18,2)"))
	if err != nil {
		return fmt.Errorf("orders: %w", err)
	}
	got, err := summary(ctx, db, "read_parquet("+quote(filepath.Join(segments, "*.parquet"))+")")
	if err != nil {
		return fmt.Errorf("segments: %w", err)
	}
	var bad []error
	for i, name := range summaryNames() {
		if want[i] != got[i] {
			bad = append(bad, fmt.Errorf("%s: %s in the segments, %s in the orders", name, got[i], want[i]))
		}
		if _, err := fmt.Fprintf(to, "same %-16s %s\n", name, got[i]); err != nil {
			return err
		}
	}
	return errors.Join(bad...)
}

// summaryNames are those of the values that summary gives.
func summaryNames() []string {
	names := []string{"rows", "hash of rows"}
	for _, c := range columns {
		name, _, _ := strings.Cut(c, " ")
		names = append(names, name+" values", name+" hash")
	}
	return names
}

// summary gives the row count, the sum of the rows' hashes, and for each column the values and the sum of their hashes.
func summary(ctx context.Context, db *sql.DB, from string) ([]string, error) {
	var typed, names, list []string
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		typed = append(typed, "CAST("+name+" AS "+typ+") AS "+name)
		names = append(names, name)
		list = append(list, "count("+name+")::VARCHAR", "sum(hash("+name+"))::VARCHAR")
	}
	query := "SELECT count(*)::VARCHAR, sum(hash(" + strings.Join(names, ", ") + "))::VARCHAR, " + strings.Join(list, ", ") +
		" FROM (SELECT " + strings.Join(typed, ", ") + " FROM " + from + ")"
	values := make([]sql.NullString, 2+2*len(columns))
	targets := make([]any, len(values))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := db.QueryRowContext(ctx, query).Scan(targets...); err != nil {
		return nil, err
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String // empty: no rows
	}
	return out, nil
}
