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
// arguments, or with pipelines and workflows alone, it opens the desktop; everything
// else is a command.
func Main(args []string) int {
	paceCollector()
	if files, ok := designed(args); ok {
		if code, opened := openDesktop(files); opened {
			return code
		}
	}
	return cli.Run(args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// designed tells whether the arguments ask for the desktop, and with which files.
func designed(args []string) (files []string, ok bool) {
	for _, a := range args {
		switch strings.ToLower(filepath.Ext(a)) {
		case ".hpl", ".hwf":
		default:
			return nil, false
		}
	}
	return args, true
}
