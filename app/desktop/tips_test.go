//go:build !headless

package desktop

import "testing"

func TestToolTipsShowWhereThePointerIs(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	window := s.tips
	tip := func(owner *flat, text string, on bool) {
		t.Helper()
		s.tips.owner = owner
		s.tips.show(owner, text)
		if s.tips.rect.Visible() != on {
			t.Errorf("%s: shown is %v", text, !on)
		}
		s.tips.hide()
	}
	tip(e.tools["run"], "over the window", true)
	e.pick(t, "Order value")
	s.do("gate-settings")
	card := s.tips
	if card == window {
		t.Fatal("a card has no tips of its own")
	}
	tip(e.tools["run"], "over the card", true)
	s.tell("One more", "card")
	tip(e.tools["run"], "over the second card", true)
	s.dialogs[0].close() // the lower one first
	s.closeDialogs()
	if s.tips != window {
		t.Error("the window has no tips any more")
	}
	tip(e.tools["run"], "over the window again", true)
}
