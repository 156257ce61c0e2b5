//go:build pictures && !headless

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// replayPictures draws the replay dialog of a failed night: ready, blocked, and with
// warnings once a replay has succeeded.
func (s *shown) replayPictures(t *testing.T, shot func(string), id string) {
	t.Helper()
	open := func() *replayDialog {
		s.showExecution(id)
		s.runs.detail.replay.OnTapped()
		return s.replaying(t)
	}
	x := open()
	shot("replay-ready")
	x.plan.goTo("Load orders#1")
	x.pages.choose(1)
	shot("replay-child")
	x.dl.close()

	file := filepath.Join(s.folder, "load-orders.hpl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "status = 'open'", "status = 'shipped'", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	x = open()
	x.vars.give(x.view.Variables()[0].VariableUse, "another value")
	shot("replay-blocked")
	x.dl.close()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.MkdirAll(filepath.Join(s.folder, "warehouse"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.runFile(t, "make-warehouse.hpl")
	open().start.OnTapped()
	x = open()
	x.choices.Quick = true
	x.check()
	x.checks.open[false] = false
	x.checks.show()
	shot("replay-warnings")
	s.closeDialogs()
}
