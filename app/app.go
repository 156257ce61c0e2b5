// Package app is all that a person touches: the command line and the desktop. It
// wires engine and storage together.
package app

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"sluice/app/cli"
)

// Main runs the program with its arguments and gives the exit code. Without
// arguments, or with one pipeline or workflow, it opens the desktop; everything else
// is a command.
func Main(args []string) int {
	collectEarly()
	if file, ok := designed(args); ok {
		if code, opened := openDesktop(file); opened {
			return code
		}
	}
	return cli.Run(args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// collectAt is how far the heap may grow between two collections, in percent of what
// is live. Rows live in pooled memory that is used again, so collecting earlier than
// usual costs a few percent of the processor at most, and saves a tenth of the memory.
const collectAt = 65

// collectEarly sets that, unless GOGC says otherwise.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}

// designed tells whether the arguments ask for the desktop, and with which file.
func designed(args []string) (file string, ok bool) {
	if len(args) == 0 {
		return "", true
	}
	switch strings.ToLower(filepath.Ext(args[0])) {
	case ".hpl", ".hwf":
		return args[0], len(args) == 1
	}
	return "", false
}
