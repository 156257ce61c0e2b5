package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBenchmarkLines(t *testing.T) {
	r := results{}
	for round, text := range []string{
		"goos: linux\nBenchmarkOrders/write/zstd-2 \t 1\t 998 ns/op\t 0.5 cpu-s\t 72.25 file-MB\nPASS\n",
		"BenchmarkOrders/write/zstd-16 \t 1\t 998 ns/op\t 0.75 cpu-s\t 72.25 file-MB\n",
	} {
		if err := r.addBenchmark(round, "orders", text); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.addCopies(0, "orders", "copy zstd 1 wall-s 2 cpu-s 85 file-MB\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := r["orders zstd write cpu-s"], []float64{0.5, 0.75}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// DuckDB has one round so far, so there is one ratio.
	if got, want := r.per(quotient, "orders zstd write cpu-s", "orders zstd copy cpu-s"), []float64{0.25}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := r.per(quotient, "orders zstd write cpu-s", "nothing"); len(got) != 0 {
		t.Errorf("ratios to nothing: %v", got)
	}
}

func TestUnreadableLines(t *testing.T) {
	for name, c := range map[string]struct {
		add  func(results) error
		want string
	}{
		"no numbers":    {func(r results) error { return r.addBenchmark(0, "orders", "PASS\n") }, "no numbers"},
		"half a pair":   {func(r results) error { return r.addCopies(0, "orders", "copy zstd 1 wall-s 2\n") }, "no pairs"},
		"no number":     {func(r results) error { return r.addCopies(0, "orders", "copy zstd x wall-s\n") }, "invalid syntax"},
		"another thing": {func(r results) error { return r.addCopies(0, "orders", "error\n") }, "duckpeer says"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.add(results{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestOrdersOfOtherSizes(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte("head\n1\n2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make func() error
		want string
	}{
		"fewer":           {func() error { return head(in, out, 2) }, "head\n1\n"},
		"as many":         {func() error { return head(in, out, 9) }, "head\n1\n2\n3\n"},
		"all, repeatedly": {func() error { return repeated(in, out, 3) }, "head\n1\n2\n3\n1\n2\n3\n1\n2\n3\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.make(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(out); err != nil || string(got) != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}
