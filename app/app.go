// Package app is all that a person touches: the command line and the desktop. It
// wires engine and storage together.
package app

import (
	"os"

	"sluice/app/cli"
)

// Main runs the program with its arguments and gives the exit code.
func Main(args []string) int {
	return cli.Run(args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
