//go:build headless

package app

import (
	"fmt"
	"os"
)

// openDesktop says that this build has no window, when a file was given.
func openDesktop(file string) (code int, opened bool) {
	if file == "" {
		return 0, false
	}
	fmt.Fprintf(os.Stderr, "sluice: this build has no desktop; to run the file, type: sluice run %s\n", file)
	return 2, true
}
