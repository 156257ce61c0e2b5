//go:build !headless

package desktop

import (
	"strings"
	"testing"
)

func TestHelpOpensAtWhatIsAtHand(t *testing.T) {
	for _, dark := range []bool{false, true} {
		s := show(t, dark)
		e := s.sample(t)
		s.do("help")
		if s.lastDialog() != "Help" || !s.happened("help help/designer") {
			t.Errorf("%q: %s", s.lastDialog(), s.log)
		}
		s.draw()
		s.closeDialogs()
		e.pick(t, "Is it a sale?")
		s.do("help")
		if !s.happened("help transforms/FilterRows") {
			t.Errorf("of a transform: %s", s.log)
		}
		s.draw()
		s.closeDialogs()
		s.do("go-executions")
		s.do("help")
		if !s.happened("help help/executions") {
			t.Errorf("of a place: %s", s.log)
		}
		s.closeDialogs()
		s.do("about")
		if !strings.HasPrefix(s.lastDialog(), "Sluice ") {
			t.Errorf("about: %q", s.lastDialog())
		}
		s.draw()
		s.closeDialogs()
	}
}
