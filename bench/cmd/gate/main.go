// Command gate measures what a replay gate costs.
//
//	gate -sluice ../.build/sluice-headless -spool ../.build/gatebench -duckdb ../.build/duckpeer [-data data] [-rounds 5] [-only write,run]
//
// Every run is a process of its own. A round runs all of them in turns; ratios are taken within a round, and medians
// over the rounds. The sections, for -only:
//
//	start   start-up of the command line
//	write   a gate's write, from memory to sealed segments, against DuckDB's COPY to Parquet; reading back against
//	        parsing the CSV file again; the first batch of a replay
//	run     the pipelines w1 and w3 with a gate on the orders as they are read, and without one
//	memory  1,000,000 to 15,000,000 rows through a gate
//	same    DuckDB reads the segments of a sealed snapshot and finds the rows of the CSV file
//
// -spool is the test binary of engine/gate, whose BenchmarkOrders does the work of the section write in memory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/bench/measure"
)

// options are the flags.
type options struct {
	data, workloads     string
	sluice, spool, duck string
	rounds              int
	only                string
	strict              bool
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "data", "folder with orders.csv, customers.csv and distinct/orders.csv; outputs go to out/ below it")
	flag.StringVar(&o.workloads, "workloads", "workloads", "folder with the pipelines")
	flag.StringVar(&o.sluice, "sluice", "", "our command-line binary")
	flag.StringVar(&o.spool, "spool", "", "the test binary of engine/gate")
	flag.StringVar(&o.duck, "duckdb", "", "the duckpeer binary")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds")
	flag.StringVar(&o.only, "only", "start,write,run,memory,same", "sections to run")
	flag.BoolVar(&o.strict, "strict", false, "exit with an error when a target is missed")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

// bench is one run of the command.
type bench struct {
	options
	out     string // folder of everything that is written
	wants   func(section string) bool
	results results
}

func run(o options) error {
	if o.rounds < 1 {
		return errors.New("-rounds must be at least 1")
	}
	sections := strings.Split(o.only, ",")
	b := &bench{options: o, out: filepath.Join(o.data, "out", "gate"), results: results{}}
	b.wants = func(section string) bool { return slices.Contains(sections, section) }
	if err := os.RemoveAll(b.out); err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	err := b.all()
	return errors.Join(err, os.RemoveAll(b.out))
}

func (b *bench) all() error {
	b.printf("%s\n", measure.Machine())
	missed := 0
	if b.wants("start") {
		met, err := measure.StartUp(os.Stdout, b.sluice, b.home(), startLimits)
		if err != nil {
			return err
		}
		if !met {
			missed++
		}
	}
	p, err := b.prepare()
	if err != nil {
		return err
	}
	for round := range b.rounds {
		if err := b.round(round, p); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	missed += b.report()
	if missed > 0 {
		b.printf("\n%d targets missed\n", missed)
		if b.strict {
			return fmt.Errorf("%d targets missed", missed)
		}
	}
	return nil
}

// round runs everything once, each time beginning elsewhere.
func (b *bench) round(round int, p pipelines) error {
	b.printf("round %d, load %s\n", round+1, measure.Load())
	var turns []func() error
	if b.wants("write") {
		for _, data := range []string{orders, distinct} {
			turns = append(turns, func() error { return b.spooled(round, data) }, func() error { return b.copied(round, data) })
		}
	}
	if b.wants("run") {
		for _, w := range workloads {
			for _, release := range releases {
				turns = append(turns, func() error { return b.piped(round, p, w, release) })
			}
		}
	}
	if b.wants("memory") {
		turns = append(turns, func() error { return b.sizes(round, p) })
	}
	if b.wants("same") && round == 0 {
		turns = append(turns, func() error { return b.same(p) })
	}
	for i := range turns {
		if err := turns[(i+round)%len(turns)](); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) home() string { return filepath.Join(b.out, "home") }

// printf writes the report. A report that cannot be shown is no reason to stop.
func (b *bench) printf(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }
