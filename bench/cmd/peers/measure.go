package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// sample is what one process took.
type sample struct {
	wall time.Duration
	cpu  time.Duration // user and system
	rss  float64       // peak memory in MB (2^20 bytes)
}

// String gives one line of the report.
func (s sample) String() string {
	return fmt.Sprintf("wall %6.2f s  cpu %6.2f s  memory %6.0f MB", s.wall.Seconds(), s.cpu.Seconds(), s.rss)
}

// measure runs a command to its end. This process stays small on purpose: the kernel lets a child's peak
// memory begin with that of its parent.
func measure(command []string, stdoutTo, dir string) (sample, error) {
	syscall.Sync() // the writes of the run before must not slow this one
	cmd := exec.Command(command[0], command[1:]...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	cmd.Env = append(os.Environ(), homes(dir)...)
	if stdoutTo != "" {
		f, err := os.Create(stdoutTo)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = f.Close() }() // a write that failed shows as missing rows
		cmd.Stdout = f
	} else {
		cmd.Stdout = &complaint
	}
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, tail(complaint.String(), 2000))
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return sample{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: float64(usage.Maxrss) / 1024}, nil
}

// homes keeps records and settings of benchmark runs out of the user's own.
func homes(dir string) []string {
	var list []string
	for _, kind := range []string{"DATA", "CONFIG", "CACHE", "STATE"} {
		list = append(list, "XDG_"+kind+"_HOME="+filepath.Join(dir, "home"))
	}
	return list
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// machine describes where the numbers come from.
func machine() string {
	model := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				model = strings.Trim(name, "\t :\n")
				break
			}
		}
	}
	load := "unknown"
	if l, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(l), " ")
	}
	return fmt.Sprintf("%d cores, %s, %s, load %s", runtime.NumCPU(), model, runtime.Version(), load)
}

// startUp times `sluice version`.
func startUp(out console, o options) (met bool, err error) {
	const runs, wallLimit, memoryLimit = 20, 60 * time.Millisecond, 40.0
	var samples []sample
	for range runs {
		s, err := measure([]string{o.sluice, "version"}, "", filepath.Join(o.data, "out"))
		if err != nil {
			return false, err
		}
		samples = append(samples, s)
	}
	m := medianSample(samples)
	met = m.wall <= wallLimit && m.rss <= memoryLimit
	out.printf("start-up: `sluice version` takes %.1f ms and %.1f MB (targets %d ms, %.0f MB; median of %d): %s\n",
		float64(m.wall.Microseconds())/1000, m.rss, wallLimit.Milliseconds(), memoryLimit, runs, verdict(met))
	return met, nil
}
