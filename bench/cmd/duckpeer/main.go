// Command duckpeer runs one workload of the benchmark in DuckDB, in its own process.
//
//	duckpeer [-amount decimal|double] w1|w2|w3 ORDERS CUSTOMERS OUT
//	duckpeer copy ORDERS OUT CODEC...
//	duckpeer same ORDERS SEGMENTS
//
// It uses DuckDB's defaults (every core, its own memory limit) and tells it the types of the columns, as the
// pipelines do. OUT is a CSV file with a header.
//
// With copy the orders are read into a table first; then each COPY of it to a Parquet file OUT is measured by
// itself. With same the orders are compared with the Parquet files of a folder.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the database/sql driver "duckdb"
)

func main() {
	amount := flag.String("amount", "decimal", "type of money: decimal (exact) or double")
	flag.Parse()
	if err := run(context.Background(), *amount, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "duckpeer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, amount string, args []string) error {
	switch {
	case len(args) > 3 && args[0] == "copy":
		return copyOrders(ctx, os.Stdout, args[1], args[2], args[3:])
	case len(args) == 3 && args[0] == "same":
		return same(ctx, os.Stdout, args[1], args[2])
	case len(args) != 4:
		return errors.New("usage: duckpeer [-amount decimal|double] w1|w2|w3 ORDERS CUSTOMERS OUT, duckpeer copy ORDERS OUT CODEC..., duckpeer same ORDERS SEGMENTS")
	}
	statement, err := statement(args[0], amount, args[1], args[2], args[3])
	if err != nil {
		return err
	}
	return execute(ctx, statement)
}

func execute(ctx context.Context, statement string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

// statement gives the COPY that runs the workload.
func statement(workload, amount, orders, customers, out string) (string, error) {
	money, ok := map[string]string{"decimal": "DECIMAL(18,2)", "double": "DOUBLE"}[amount]
	if !ok {
		return "", fmt.Errorf("-amount must be decimal or double, not %q", amount)
	}
	o := orderTable(orders, money)
	c := table(customers, "customer VARCHAR", "name VARCHAR", "segment VARCHAR", "credit_limit "+money, "since DATE")
	query, ok := map[string]string{
		"w1": "SELECT customer, sum(amount * qty) AS total, count(*) AS n FROM " + o +
			" WHERE country = 'DE' AND amount > 100 GROUP BY customer",
		"w2": "SELECT * FROM " + o + " ORDER BY customer, ts",
		"w3": "SELECT o.*, c.name, c.segment, c.credit_limit, c.since FROM " + o + " AS o JOIN " + c + " AS c USING (customer)",
	}[workload]
	if !ok {
		return "", fmt.Errorf("there is no workload %q; there are w1, w2 and w3", workload)
	}
	return "COPY (" + query + ") TO " + quote(out) + " (FORMAT CSV, HEADER)", nil
}

// orderTable names orders.csv as a table.
func orderTable(path, money string) string {
	return table(path, "id BIGINT", "ts TIMESTAMP", "customer VARCHAR", "country VARCHAR", "amount "+money, "qty BIGINT", "note VARCHAR")
}

// table names a CSV file as a table; each column is "name TYPE".
func table(path string, columns ...string) string {
	types := make([]string, len(columns))
	for i, column := range columns {
		name, typ, _ := strings.Cut(column, " ")
		types[i] = quote(name) + ": " + quote(typ)
	}
	return "read_csv(" + quote(path) + `, header = true, delim = ',', quote = '"', escape = '"', columns = {` + strings.Join(types, ", ") + "})"
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
