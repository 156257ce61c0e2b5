//go:build !headless

package desktop

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

func TestTheToolkitDoesNotComplainAboutTheLocale(t *testing.T) {
	for _, locale := range []string{"", "C", "POSIX", "C.UTF-8", "de_DE.UTF-8"} {
		c := exec.Command(os.Args[0], "-test.run=^$")
		c.Env = append(os.Environ(), "LC_ALL=", "LC_MESSAGES=", "LANG="+locale)
		out, err := c.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("Fyne error")) {
			t.Errorf("with LANG=%q: %v: %s", locale, err, out)
		}
	}
}
