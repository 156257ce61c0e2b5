// Package measure runs the contestants of the benchmarks, each in a process of its own, and compares what they
// took: a Sample is what one process took, a Spread the median of ratios within rounds.
package measure

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Sample is what one process took.
type Sample struct {
	Wall time.Duration
	CPU  time.Duration // user and system
	RSS  float64       // peak memory in MB (2^20 bytes)
}

// String gives one line of a report.
func (s Sample) String() string {
	return fmt.Sprintf("wall %6.2f s  cpu %6.2f s  memory %6.0f MB", s.Wall.Seconds(), s.CPU.Seconds(), s.RSS)
}

// Command is one process. Its records and settings go into the folder Home and not into the user's own.
type Command struct {
	Args   []string
	Home   string
	Env    []string  // further "NAME=value"
	Stdout io.Writer // nil: shown when it fails
}

// Run runs a command to its end. The process that measures must stay small: the kernel lets a child's peak memory
// begin with that of its parent.
func Run(c Command) (Sample, error) {
	syscall.Sync() // the writes of the run before must not slow this one
	home, err := filepath.Abs(c.Home)
	if err != nil {
		return Sample{}, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	var complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &complaint, &complaint
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	cmd.Env = append(os.Environ(), c.Env...)
	for _, kind := range []string{"DATA", "CONFIG", "CACHE", "STATE"} {
		cmd.Env = append(cmd.Env, "XDG_"+kind+"_HOME="+home)
	}
	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return Sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, tail(complaint.String(), 2000))
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return Sample{
		Wall: wall, CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), RSS: float64(usage.Maxrss) / 1024,
	}, nil
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// Machine describes where the numbers come from.
func Machine() string {
	model := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				model = strings.Trim(name, "\t :\n")
				break
			}
		}
	}
	return fmt.Sprintf("%d cores, %s, %s, load %s", runtime.NumCPU(), model, runtime.Version(), Load())
}

// Load is the load of the last minute: beyond the number of cores, wall times are those of a shared machine.
func Load() string {
	l, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(l), " ")
	return load
}
