//go:build headless

package app

import (
	"fmt"
	"os"
)

// openDesktop says that this build has no window, when a file was given.
func openDesktop(files []string) (code int, opened bool) {
	if len(files) == 0 {
		return 0, false
	}
	fmt.Fprintf(os.Stderr, "sluice: this build has no desktop; to run the file, type: sluice run %s\n", files[0])
	return 2, true
}
