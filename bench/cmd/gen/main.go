// Command gen writes the benchmark's input: orders.csv and customers.csv.
//
//	gen [-rows 5000000] [-customers 100000] [-seed 7] [-distinct] [-dir data]
//
// With -distinct no text of orders.csv occurs twice, so that nothing repeats for a dictionary.
//
// The same flags give the same bytes on every machine, whatever its number of cores. Files that are
// already there and were written with these flags are kept.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	var s shape
	flag.IntVar(&s.Rows, "rows", 5_000_000, "rows of orders.csv")
	flag.IntVar(&s.Customers, "customers", 100_000, "rows of customers.csv")
	flag.Uint64Var(&s.Seed, "seed", 7, "seed of every random choice")
	flag.BoolVar(&s.Distinct, "distinct", false, "make every text of orders.csv unlike all others")
	dir := flag.String("dir", "data", "folder of the two files")
	flag.Parse()
	if err := run(s, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// shape is what decides the bytes.
type shape struct {
	Rows      int    // rows of orders.csv, without its header
	Customers int    // rows of customers.csv, without its header
	Seed      uint64 // seed of every random choice
	Distinct  bool   // no text of orders.csv occurs twice
}

// label tells the files of one shape from those of another. Its number grows when the generator changes.
func (s shape) label() string {
	label := fmt.Sprintf("generator 1, rows %d, customers %d, seed %d", s.Rows, s.Customers, s.Seed)
	if s.Distinct {
		label += ", distinct"
	}
	return label + "\n"
}

func run(s shape, dir string) error {
	if s.Rows < 0 || s.Customers < 1 {
		return errors.New("-rows must not be negative and -customers must be at least 1")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mark := filepath.Join(dir, "generated")
	if old, err := os.ReadFile(mark); err == nil && string(old) == s.label() {
		return nil
	}
	if err := os.RemoveAll(mark); err != nil {
		return err
	}
	start := time.Now()
	p := newPhrases(s.Seed)
	if err := writeFile(filepath.Join(dir, "customers.csv"), func(w io.Writer) error { return writeCustomers(w, s) }); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "orders.csv"), func(w io.Writer) error { return writeOrders(w, s, p, runtime.GOMAXPROCS(0)) }); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "gen: %d orders and %d customers in %.1f s\n", s.Rows, s.Customers, time.Since(start).Seconds())
	return os.WriteFile(mark, []byte(s.label()), 0o644)
}

func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(fill(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
