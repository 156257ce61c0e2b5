package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// results are the numbers of each round by name, such as "orders snappy write cpu-s".
type results map[string][]float64

// set stores the number of a round; rounds come in order.
func (r results) set(round int, name string, value float64) {
	for len(r[name]) <= round {
		r[name] = append(r[name], 0)
	}
	r[name][round] = value
}

// per gives what f makes of the numbers of each round; no numbers when one of the names has none.
func (r results) per(f func(v []float64) float64, names ...string) []float64 {
	var out []float64
	for round := 0; ; round++ {
		values := make([]float64, len(names))
		for i, name := range names {
			if round >= len(r[name]) {
				return out
			}
			values[i] = r[name][round]
		}
		out = append(out, f(values))
	}
}

// metrics reads the pairs of number and unit in a line of a Go benchmark or of duckpeer.
func metrics(fields []string) (map[string]float64, error) {
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("%q has no pairs of number and unit", strings.Join(fields, " "))
	}
	m := map[string]float64{}
	for i := 0; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil, err
		}
		m[fields[i+1]] = v
	}
	return m, nil
}

// addBenchmark stores the lines "BenchmarkOrders/WHAT/CODEC-N 1 NUMBER UNIT …" of a Go benchmark.
func (r results) addBenchmark(round int, data, text string) error {
	found := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "BenchmarkOrders/") {
			continue
		}
		part := strings.Split(f[0], "/")
		if len(part) != 3 {
			return fmt.Errorf("benchmark %s has another name than expected", f[0])
		}
		codec, _, _ := strings.Cut(part[2], "-")
		m, err := metrics(f[2:])
		if err != nil {
			return err
		}
		for unit, v := range m {
			r.set(round, data+" "+codec+" "+part[1]+" "+unit, v)
		}
		found = true
	}
	if !found {
		return errors.New("the benchmark of engine/gate gave no numbers:\n" + text)
	}
	return nil
}

// addCopies stores the lines "copy CODEC NUMBER UNIT …" of duckpeer.
func (r results) addCopies(round int, data, text string) error {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "copy" {
			return fmt.Errorf("duckpeer says %q", line)
		}
		m, err := metrics(f[2:])
		if err != nil {
			return err
		}
		for unit, v := range m {
			r.set(round, data+" "+f[1]+" copy "+unit, v)
		}
	}
	return nil
}
