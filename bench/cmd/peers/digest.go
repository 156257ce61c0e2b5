package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// kind is how a column's texts are made comparable.
type kind int

const (
	text  kind = iota
	money      // 12.3, 12.30 and 12.300000001 are the same
	clock      // a time of day with 0 to 9 digits of a second; trailing zeros do not count
)

// column is one column of a workload's output.
type column struct {
	name, alias string // alias is Miller's name for it
	kind        kind
}

var (
	orderColumns = []column{
		{name: "id"},
		{name: "ts", kind: clock},
		{name: "customer"},
		{name: "country"},
		{name: "amount", kind: money},
		{name: "qty"},
		{name: "note"},
	}
	outputColumns = map[string][]column{
		"w1": {{name: "customer"}, {name: "total", alias: "t_sum", kind: money}, {name: "n", alias: "t_count"}},
		"w2": orderColumns,
		"w3": append(slices.Clip(orderColumns),
			column{name: "name"}, column{name: "segment"}, column{name: "credit_limit", kind: money}, column{name: "since"}),
	}
)

// printDigest reads an output of the workload and prints its digest.
func printDigest(workload, path string) error {
	columns, ok := outputColumns[workload]
	if !ok {
		return fmt.Errorf("there is no workload %q", workload)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	d, err := digestOf(bufio.NewReaderSize(f, 1<<20), columns, workload == "w2")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = fmt.Fprintln(os.Stdout, d)
	return err
}

// digestOf describes a CSV output so that two descriptions are equal when the outputs hold the same rows in
// any order, by value rather than by spelling: the number of rows, the sum of each money column, and the sum of
// the rows' SHA-256. With sorted the rows must be in the order of customer and ts.
func digestOf(r io.Reader, columns []column, sorted bool) (string, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return "", fmt.Errorf("header: %w", err)
	}
	places, err := locate(header, columns)
	if err != nil {
		return "", err
	}
	var (
		rows  int
		total float64
		lanes [4]uint64
		key   = make([]byte, 0, 256)
		last  string
	)
	for ; ; rows++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		key = key[:0]
		for i, c := range columns {
			key = append(appendNormal(key, c.kind, record[places[i]]), 0)
			if c.kind == money && record[places[i]] != "" {
				amount, _ := strconv.ParseFloat(record[places[i]], 64)
				total += amount
			}
		}
		sum := sha256.Sum256(key)
		for i := range lanes {
			lanes[i] += binary.LittleEndian.Uint64(sum[8*i:])
		}
		if sorted {
			at := record[places[2]] + string(appendNormal(nil, clock, record[places[1]]))
			if at < last {
				return "", fmt.Errorf("row %d is out of order: %q comes after %q", rows+1, at, last)
			}
			last = at
		}
	}
	return fmt.Sprintf("%d rows, money %.2f, rows %016x%016x", rows, total, lanes[0]^lanes[2], lanes[1]^lanes[3]), nil
}

// locate gives the place of each column in the header.
func locate(header []string, columns []column) ([]int, error) {
	places := make([]int, len(columns))
	for i, c := range columns {
		places[i] = -1
		for j, name := range header {
			if name == c.name || name == c.alias && c.alias != "" {
				places[i] = j
			}
		}
		if places[i] < 0 {
			return nil, fmt.Errorf("column %q is missing in the header %q", c.name, header)
		}
	}
	if len(header) != len(columns) {
		return nil, fmt.Errorf("the header %q should have %d columns", header, len(columns))
	}
	return places, nil
}

// appendNormal appends the comparable form of a text.
func appendNormal(out []byte, k kind, s string) []byte {
	switch k {
	case money:
		amount, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return append(out, s...) // empty, or wrong and then unequal to the others
		}
		return strconv.AppendInt(out, int64(math.Round(amount*100)), 10)
	case clock:
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return append(out, s...)
	default:
		return append(out, s...)
	}
}

// agreement holds what the outputs of one workload must equal.
type agreement struct {
	digest string // of the first output of the first round
	from   string
	bytes  [sha256.Size]byte // of our output in the first round
}

// add checks one output: by value against the others in the first round, ours by bytes in the later ones.
func (a *agreement) add(workload string, c contestant, round int) error {
	if c.name == ours {
		sum, err := fileHash(c.output)
		if err != nil {
			return err
		}
		if round == 0 {
			a.bytes = sum
		} else if a.bytes != sum {
			return fmt.Errorf("%s gave other bytes in round %d than in round 1", c.name, round+1)
		}
	}
	if round > 0 {
		return nil
	}
	// A process of its own, so that this one stays small (see measure).
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.Command(self, "-only", workload, "-digest", c.output).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return fmt.Errorf("check the output of %s: %w", c.name, err)
	}
	digest := strings.TrimSpace(string(out))
	if a.digest == "" {
		a.digest, a.from = digest, c.name
	} else if a.digest != digest {
		return fmt.Errorf("outputs differ:\n  %-16s %s\n  %-16s %s", a.from, a.digest, c.name, digest)
	}
	return nil
}

func fileHash(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
