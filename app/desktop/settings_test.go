//go:build !headless

package desktop

import (
	"os"
	"testing"

	"sluice/app/presenter"
)

func TestSettingsAreKept(t *testing.T) {
	s := show(t, false)
	s.do("settings")
	s.draw()
	if s.lastDialog() != "Settings" {
		t.Fatalf("dialog %q", s.lastDialog())
	}
	s.closeDialogs()
	s.setLook(presenter.LookDark)
	s.setMiniMap(false)
	s.memory.Scale = 125
	s.remember()
	m := presenter.LoadMemory(s.memoryPath)
	if m.Look != presenter.LookDark || !m.Dark || m.MiniMap || m.Scale != 125 {
		t.Errorf("%+v", m)
	}
	t.Setenv(envScale, "")
	if err := setScale(s.memoryPath); err != nil || os.Getenv(envScale) != "1.25" {
		t.Errorf("%q, %v", os.Getenv(envScale), err)
	}
	t.Setenv(envScale, "2")
	if err := setScale(s.memoryPath); err != nil || os.Getenv(envScale) != "2" {
		t.Errorf("the environment does not win: %q, %v", os.Getenv(envScale), err)
	}
	s.memory.Scale = 150
	if err := s.applyScale(); err != nil || os.Getenv(envScale) != "1.50" {
		t.Errorf("the scale does not count at once: %q, %v", os.Getenv(envScale), err)
	}
	s.memory.Scale, s.scaleGiven = 80, true
	if err := s.applyScale(); err != nil || os.Getenv(envScale) != "1.50" {
		t.Errorf("the environment does not win: %q, %v", os.Getenv(envScale), err)
	}
	s.do("dark")
	if s.memory.Look != presenter.LookLight || s.memory.Dark {
		t.Errorf("%+v", s.memory)
	}
	s.setLook(presenter.LookSystem)
	if s.memory.Dark != s.wantsDark() {
		t.Error("it does not look as the system does")
	}
	for _, text := range presenter.Looks() {
		if got := presenter.ParseLook(text).String(); got != text {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
