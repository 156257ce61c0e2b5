// Command peers times the pipelines of workloads/ against DuckDB and Miller on the same files.
//
//	peers -data data -sluice ../.build/sluice-headless -duckdb ../.build/duckpeer [-rounds 5] [-only w1,w3] [-without miller]
//
// Every run is a process of its own, with its wall time, processor time and peak memory as the kernel counted
// them. A round runs every contestant once, each round beginning with another one; ratios are taken within a
// round, and medians over the rounds. In the first round all outputs are compared, row by row; later rounds
// check that ours stays byte-identical. Disagreement ends the benchmark with an error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/bench/measure"
)

// options are the flags.
type options struct {
	data, workloads      string
	sluice, duck, miller string
	rounds               int
	sortBudget           int // MB
	only, without        string
	strict               bool
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "data", "folder with orders.csv and customers.csv; outputs go to out/ below it")
	flag.StringVar(&o.workloads, "workloads", "workloads", "folder with the pipelines")
	flag.StringVar(&o.sluice, "sluice", "", "our command-line binary; empty runs the peers alone")
	flag.StringVar(&o.duck, "duckdb", "", "the duckpeer binary; empty leaves DuckDB out")
	flag.StringVar(&o.miller, "miller", "mlr", "the Miller binary; empty leaves Miller out")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds")
	flag.IntVar(&o.sortBudget, "sort-budget", 256, "memory budget of our sort in w2, in MiB")
	flag.StringVar(&o.only, "only", "w1,w2,w3", "workloads to run")
	flag.StringVar(&o.without, "without", "", "contestants to leave out")
	flag.BoolVar(&o.strict, "strict", false, "exit with an error when a target is missed")
	digest := flag.String("digest", "", "print the digest of this output of the workload in -only, and end")
	flag.Parse()

	err := func() error {
		if *digest != "" {
			return printDigest(o.only, *digest)
		}
		return compare(o)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// startLimits bound `sluice version`, with every storage backend linked.
var startLimits = measure.Limits{Wall: 80 * time.Millisecond, RSS: 90}

func compare(o options) error {
	if o.rounds < 1 {
		return errors.New("-rounds must be at least 1")
	}
	if err := os.MkdirAll(filepath.Join(o.data, "out"), 0o755); err != nil {
		return err
	}
	out := console{os.Stdout}
	out.printf("%s\n\n", measure.Machine())

	missed := 0
	if o.sluice != "" {
		met, err := measure.StartUp(os.Stdout, o.sluice, filepath.Join(o.data, "out", "home"), startLimits)
		if err != nil {
			return err
		}
		if !met {
			missed++
		}
	}
	for _, w := range allWorkloads(o) {
		if !slices.Contains(strings.Split(o.only, ","), w.name) {
			continue
		}
		results, err := runRounds(out, o, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		missed += report(out, w, results)
	}
	if missed > 0 {
		out.printf("\n%d targets missed\n", missed)
		if o.strict {
			return fmt.Errorf("%d targets missed", missed)
		}
	}
	return nil
}

// runRounds gives one sample a round for each contestant of the workload.
func runRounds(out console, o options, w workload) (map[string][]measure.Sample, error) {
	out.printf("\n%s: %s\n", w.name, w.about)
	results := map[string][]measure.Sample{}
	var check agreement
	for round := range o.rounds {
		for i := range w.contestants {
			c := w.contestants[(i+round)%len(w.contestants)]
			if err := os.RemoveAll(c.output); err != nil {
				return nil, err
			}
			s, err := run(c, filepath.Join(o.data, "out", "home"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			results[c.name] = append(results[c.name], s)
			out.printf("  round %d  %-16s %s\n", round+1, c.name, s)
			if err := check.add(w.name, c, round); err != nil {
				return nil, err
			}
			if err := os.RemoveAll(c.output); err != nil {
				return nil, err
			}
		}
	}
	if check.digest != "" {
		out.printf("  outputs agree: %s\n", check.digest)
	}
	return results, nil
}

// run runs a contestant once.
func run(c contestant, home string) (measure.Sample, error) {
	command := measure.Command{Args: c.command, Home: home}
	if c.stdoutTo == "" {
		return measure.Run(command)
	}
	f, err := os.Create(c.stdoutTo)
	if err != nil {
		return measure.Sample{}, err
	}
	command.Stdout = f
	s, err := measure.Run(command)
	return s, errors.Join(err, f.Close())
}
