package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// names of the contestants.
const (
	ours       = "sluice"
	duckExact  = "duckdb decimal"
	duckDouble = "duckdb double"
	millerName = "miller"
)

// workload is one task and the bars that ours has to reach.
type workload struct {
	name        string
	about       string
	contestants []contestant
	targets     targets
}

// contestant is one way of doing the task.
type contestant struct {
	name     string
	command  []string
	output   string // the file it leaves
	stdoutTo string // output, for one that writes it to its standard output
}

// targets are upper bounds, except millerFaster. DuckDB means its exact DECIMAL variant, since ours is exact
// too. Zero leaves a bar out.
type targets struct {
	duckWall     float64 // our wall time / DuckDB's
	millerFaster float64 // Miller's wall time / ours, at least
	duckMemory   float64 // our peak memory / DuckDB's
	budgetMemory float64 // our peak memory / the sort's budget
	budgetMB     int
}

func allWorkloads(o options) []workload {
	orders, customers := filepath.Join(o.data, "orders.csv"), filepath.Join(o.data, "customers.csv")
	list := []workload{
		{
			name: "w1", about: "filter, compute, group by customer",
			targets: targets{duckWall: 0.9, millerFaster: 10, duckMemory: 0.6},
			contestants: contestants(o, "w1", "w1-group.hpl", []string{"ORDERS=" + orders},
				"filter", `$country == "DE" && $amount > 100`, "then", "put", "$t = $amount * $qty",
				"then", "stats1", "-a", "sum,count", "-f", "t", "-g", "customer", orders),
		},
		{
			name: "w2", about: "sort by customer and time",
			targets: targets{duckWall: 1, millerFaster: 10, budgetMemory: 2.5, budgetMB: o.sortBudget},
			contestants: contestants(o, "w2", "w2-sort.hpl", []string{"ORDERS=" + orders},
				"sort", "-f", "customer", "-f", "ts", orders),
		},
		{
			name: "w3", about: "join with the customers, inner",
			targets: targets{duckWall: 1, millerFaster: 5, duckMemory: 0.6},
			contestants: contestants(o, "w3", "w3-join.hpl", []string{"ORDERS=" + orders, "CUSTOMERS=" + customers},
				"join", "-j", "customer", "-f", customers, orders),
		},
	}
	without := strings.Split(o.without, ",")
	for i := range list {
		list[i].contestants = slices.DeleteFunc(list[i].contestants, func(c contestant) bool {
			return c.command[0] == "" || slices.Contains(without, c.name)
		})
	}
	return list
}

// contestants gives the four ways of one workload; miller is the verb chain with its input.
func contestants(o options, name, pipeline string, params []string, miller ...string) []contestant {
	output := func(who string) string { return filepath.Join(o.data, "out", name+"-"+who+".csv") }
	duck := func(amount, to string) []string {
		return []string{o.duck, "-amount", amount, name, filepath.Join(o.data, "orders.csv"), filepath.Join(o.data, "customers.csv"), to}
	}
	run := []string{o.sluice, "run", filepath.Join(o.workloads, pipeline), "--log-level", "error", "--memory", fmt.Sprint(o.sortBudget, "MiB")}
	for _, p := range append(params, "OUT="+strings.TrimSuffix(output("sluice"), ".csv")) {
		run = append(run, "--param", p)
	}
	return []contestant{
		{name: ours, output: output("sluice"), command: run},
		{name: duckExact, output: output("decimal"), command: duck("decimal", output("decimal"))},
		{name: duckDouble, output: output("double"), command: duck("double", output("double"))},
		{name: millerName, output: output("miller"), stdoutTo: output("miller"), command: append([]string{o.miller, "--icsv", "--ocsv"}, miller...)},
	}
}
