// Package app is all that a person touches: the command line and the desktop. It
// wires engine and storage together.
package app

import (
	"os"
	"path/filepath"
	"strings"

	"sluice/app/cli"
)

// Main runs the program with its arguments and gives the exit code. Without
// arguments, or with one pipeline or workflow, it opens the desktop; everything else
// is a command.
func Main(args []string) int {
	paceCollector()
	if file, ok := designed(args); ok {
		if code, opened := openDesktop(file); opened {
			return code
		}
	}
	return cli.Run(args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
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
