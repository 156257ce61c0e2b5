package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits are upper bounds of one process.
type Limits struct {
	Wall time.Duration
	RSS  float64 // MB
}

const startRuns = 20

// StartUp times `sluice version`, reports it, and names the slowest package initialisers when it takes more than the
// limits.
func StartUp(out io.Writer, sluice, home string, limits Limits) (met bool, err error) {
	samples := make([]Sample, startRuns)
	for i := range samples {
		if samples[i], err = Run(Command{Args: []string{sluice, "version"}, Home: home}); err != nil {
			return false, err
		}
	}
	m := MedianSample(samples)
	met = m.Wall <= limits.Wall && m.RSS <= limits.RSS
	_, err = fmt.Fprintf(out, "start-up: `sluice version` takes %.1f ms and %.1f MB (targets %d ms, %.0f MB; median of %d): %s\n",
		float64(m.Wall.Microseconds())/1000, m.RSS, limits.Wall.Milliseconds(), limits.RSS, startRuns, Verdict(met))
	if met || err != nil {
		return met, err
	}
	cmd := exec.Command(sluice, "version")
	cmd.Env = append(cmd.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		return met, err
	}
	for _, i := range slowest(trace.String(), 8) {
		_, _ = fmt.Fprintf(out, "    %-60s %6.2f ms %8d bytes\n", i.name, i.millis, i.bytes)
	}
	return met, nil
}

// initialiser is what the initialisation of one package took.
type initialiser struct {
	name   string
	millis float64
	bytes  int
}

// slowest reads the lines "init NAME @T ms, T ms clock, N bytes, N allocs" of the runtime.
func slowest(trace string, n int) []initialiser {
	var list []initialiser
	for line := range strings.Lines(trace) {
		f := strings.Fields(line)
		if len(f) < 8 || f[0] != "init" {
			continue
		}
		millis, err1 := strconv.ParseFloat(f[4], 64)
		size, err2 := strconv.Atoi(f[7])
		if err1 == nil && err2 == nil {
			list = append(list, initialiser{f[1], millis, size})
		}
	}
	slices.SortStableFunc(list, func(a, b initialiser) int { return cmp.Compare(b.millis, a.millis) })
	return list[:min(n, len(list))]
}
