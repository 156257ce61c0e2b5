//go:build !headless

package app

import (
	"fmt"
	"os"
	"runtime"

	"sluice/app/desktop"
)

// eventLogVariable names a file that gets a line per thing that happens in the
// window; tests of the real window read it, and beside it NAME.positions, which says
// where things are.
const eventLogVariable = "SLUICE_EVENT_LOG"

// openDesktop shows the window; opened is false where there is no screen and no file
// was asked for.
func openDesktop(files []string) (code int, opened bool) {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		if len(files) == 0 {
			return 0, false
		}
		fmt.Fprintf(os.Stderr, "sluice: there is no screen to open %s on (DISPLAY is not set); to run it, type: sluice run %s\n", files[0], files[0])
		return 2, true
	}
	o := desktop.Options{Files: files}
	if path := os.Getenv(eventLogVariable); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, "sluice:", err)
			return 2, true
		}
		defer f.Close()
		o.EventLog, o.Positions = f, path+".positions"
	}
	return desktop.Run(o), true
}
