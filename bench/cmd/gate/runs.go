package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sluice/bench/measure"
)

// The data sets.
const (
	orders   = "orders"
	distinct = "distinct"
)

// workloads and releases: each pipeline runs without a gate and with one of either kind.
var (
	workloads = []string{"w1", "w3"}
	releases  = []string{"plain", "streaming", "sealed"}
	files     = map[string]string{"w1": "w1-group.hpl", "w3": "w3-join.hpl"}
)

// The section memory runs fewer orders, and the distinct ones several times over.
const (
	smallRows  = 1_000_000
	largeTimes = 3
)

// pipelines are files by workload and release.
type pipelines map[string]string

func key(workload, release string) string { return workload + " " + release }

// prepare makes copies of the pipelines and marks the gates, on the orders as they are read.
func (b *bench) prepare() (pipelines, error) {
	p := pipelines{}
	for _, w := range workloads {
		text, err := os.ReadFile(filepath.Join(b.workloads, files[w]))
		if err != nil {
			return nil, err
		}
		for _, release := range releases {
			file := filepath.Join(b.out, w+"-"+release+".hpl")
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return nil, err
			}
			p[key(w, release)] = file
			if release == "plain" {
				continue
			}
			snapshots, err := filepath.Abs(b.snapshots())
			if err != nil {
				return nil, err
			}
			mark := []string{b.sluice, "gate", "mark", file, "--transform", "Orders", "--location", snapshots, "--set", "release=" + release}
			if _, err := measure.Run(measure.Command{Args: mark, Home: b.home()}); err != nil {
				return nil, err
			}
		}
	}
	if !b.wants("memory") {
		return p, nil
	}
	return p, errors.Join(head(b.ordersOf(orders), b.smallOrders(), smallRows+1), repeated(b.ordersOf(distinct), b.largeOrders(), largeTimes))
}

func (b *bench) snapshots() string   { return filepath.Join(b.out, "snapshots") }
func (b *bench) smallOrders() string { return filepath.Join(b.out, "orders-small.csv") }
func (b *bench) largeOrders() string { return filepath.Join(b.out, "orders-large.csv") }

// repeated copies a CSV file with its rows several times over.
func repeated(from, to string, times int) error {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	for i := range times {
		if err := appendRows(out, from, i == 0); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}

func appendRows(out io.Writer, from string, header bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	r := bufio.NewReaderSize(in, 1<<20)
	line, err := r.ReadSlice('\n')
	if err == nil && header {
		_, err = out.Write(line)
	}
	if err == nil {
		_, err = io.Copy(out, r)
	}
	return err
}

// head copies the first lines of a file.
func head(from, to string, lines int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	for range lines {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err == nil || errors.Is(err, io.EOF) {
			_, err = w.Write(line)
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(w.Flush(), out.Close())
}

func (b *bench) ordersOf(data string) string {
	if data == distinct {
		return filepath.Join(b.data, "distinct", "orders.csv")
	}
	return filepath.Join(b.data, "orders.csv")
}

// spooled runs the benchmark of engine/gate on a data set.
func (b *bench) spooled(round int, data string) error {
	path, err := filepath.Abs(b.ordersOf(data))
	if err != nil {
		return err
	}
	temp, err := filepath.Abs(b.out)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	_, err = measure.Run(measure.Command{
		Args: []string{b.spool, "-test.run", "^$", "-test.bench", "^BenchmarkOrders$", "-test.benchtime", "1x"},
		Home: b.home(), Env: []string{"SLUICE_BENCH_ORDERS=" + path, "TMPDIR=" + temp}, Stdout: &text,
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text.String())
	}
	return b.results.addBenchmark(round, data, text.String())
}

// copied has DuckDB write the same rows.
func (b *bench) copied(round int, data string) error {
	var text bytes.Buffer
	_, err := measure.Run(measure.Command{
		Args: []string{b.duck, "copy", b.ordersOf(data), filepath.Join(b.out, "copy.parquet"), "snappy", "zstd"}, Home: b.home(), Stdout: &text,
	})
	if err != nil {
		return err
	}
	return b.results.addCopies(round, data, text.String())
}

// execute runs a pipeline over orders and leaves no trace of it but what it took.
func (b *bench) execute(file, orders string, more ...string) (measure.Sample, error) {
	args := []string{b.sluice, "run", file, "--log-level", "error", "--param", "ORDERS=" + orders, "--param", "OUT=" + filepath.Join(b.out, "rows")}
	if strings.HasPrefix(filepath.Base(file), "w3") {
		args = append(args, "--param", "CUSTOMERS="+filepath.Join(b.data, "customers.csv"))
	}
	return measure.Run(measure.Command{Args: append(args, more...), Home: b.home()})
}

func (b *bench) clear() error {
	return errors.Join(os.RemoveAll(filepath.Join(b.out, "rows.csv")), os.RemoveAll(b.snapshots()))
}

// piped runs a workload with one release, or without a gate.
func (b *bench) piped(round int, p pipelines, workload, release string) error {
	s, err := b.execute(p[key(workload, release)], filepath.Join(b.data, "orders.csv"))
	if err != nil {
		return err
	}
	b.keep(round, key(workload, release), s)
	return b.clear()
}

func (b *bench) keep(round int, name string, s measure.Sample) {
	b.printf("  %-16s %s\n", name, s)
	b.results.set(round, name+" wall-s", measure.Wall(s))
	b.results.set(round, name+" cpu-s", measure.CPU(s))
	b.results.set(round, name+" rss-MB", measure.RSS(s))
}

// sizes runs pipelines with a gate over few and many orders. 1,000,000 orders do not fill a segment and 5,000,000
// fill three. The distinct ones fill nine, and three times as many when they are repeated; w3, which knows none of
// their customers, holds nothing else that would grow.
func (b *bench) sizes(round int, p pipelines) error {
	for _, release := range releases[1:] {
		for _, run := range []struct{ workload, size, orders string }{
			{"w1", "1M", b.smallOrders()},
			{"w1", "5M", b.ordersOf(orders)},
			{"w3", "5M distinct", b.ordersOf(distinct)},
			{"w3", "15M distinct", b.largeOrders()},
		} {
			s, err := b.execute(p[key(run.workload, release)], run.orders)
			if err != nil {
				return err
			}
			b.keep(round, release+" "+run.size, s)
			if err := b.clear(); err != nil {
				return err
			}
		}
	}
	return nil
}

// same seals a snapshot and has DuckDB compare its segments with the orders.
func (b *bench) same(p pipelines) error {
	if _, err := b.execute(p[key("w1", "sealed")], filepath.Join(b.data, "orders.csv")); err != nil {
		return err
	}
	manifests, err := filepath.Glob(filepath.Join(b.snapshots(), "*", "*", "SnapshotManifest.json"))
	if err != nil || len(manifests) != 1 {
		return errors.Join(err, fmt.Errorf("%d manifests in %s instead of one", len(manifests), b.snapshots()))
	}
	var text bytes.Buffer
	_, err = measure.Run(measure.Command{
		Args: []string{b.duck, "same", filepath.Join(b.data, "orders.csv"), filepath.Dir(manifests[0])}, Home: b.home(), Stdout: &text,
	})
	b.printf("DuckDB reads the segments of a sealed snapshot and compares them with the orders:\n%s", text.String())
	return errors.Join(err, b.clear())
}
