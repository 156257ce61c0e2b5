package cli

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
)

// projectFlags are the flags of every command that opens a project.
type projectFlags struct {
	project      string
	environments []string
	variables    []string
	logLevel     string
	memory       string
}

func (f *projectFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.project, "project", "", "project `folder`; default: the one the file is in")
	fl.StringArrayVar(&f.environments, "environment", nil, "environment `file`; may be given again, later ones win")
	fl.StringArrayVar(&f.variables, "var", nil, "variable as `NAME=VALUE`; may be given again")
	fl.StringVar(&f.logLevel, "log-level", "basic", "nothing, error, minimal, basic, detailed, debug or rowlevel")
	fl.StringVar(&f.memory, "memory", "", "memory `budget` of sorting, grouping and joining, such as 256MiB; beyond it rows go to disk")
	_ = c.MarkFlagDirname("project")
	_ = c.MarkFlagFilename("environment", "json")
}

func (f *projectFlags) open(file string, log *slog.Logger) (*workspace.Workspace, error) {
	vars, err := assignments(f.variables, "--var")
	if err != nil {
		return nil, err
	}
	bytes, err := parseBytes(f.memory)
	if err != nil {
		return nil, fmt.Errorf("--memory: %w", err)
	}
	return workspace.Open(workspace.Options{
		Project: f.project, Environments: f.environments, File: file, Variables: vars, Log: log, MemoryBytes: bytes,
	})
}

// assignments reads NAME=VALUE arguments.
func assignments(list []string, flag string) (map[string]string, error) {
	out := map[string]string{}
	for _, a := range list {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %q: write it as NAME=VALUE", flag, a)
		}
		out[name] = value
	}
	return out, nil
}

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"b", 1},
	{"", 1},
}

// parseBytes reads an amount such as 256MiB, 1g or 1000000; empty is 0.
func parseBytes(text string) (int64, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	if t == "" {
		return 0, nil
	}
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		var n int64
		if _, err := fmt.Sscanf(digits+"\n", "%d\n", &n); err != nil || n <= 0 {
			break
		}
		return n * u.factor, nil
	}
	return 0, fmt.Errorf("%q is not an amount of memory; write it like 256MiB or 2GiB", text)
}
