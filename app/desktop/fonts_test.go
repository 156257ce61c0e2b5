//go:build !headless

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"sluice/app/fonts"
	"sluice/app/presenter"
)

// installed lets the fonts that come with the canvas be those of the system.
func installed(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	names, err := filepath.Glob(filepath.Join("..", "..", "canvas", "paint", "fonts", "*.ttf"))
	if err != nil || len(names) < 3 {
		t.Fatalf("fonts %v, %v", names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(name)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	before := fonts.Folders
	fonts.Folders = func() ([]string, error) { return []string{folder}, nil }
	t.Cleanup(func() { fonts.Folders = before })
	return folder
}

// Another font shows everywhere, is kept for the next start, and when it has gone the
// program says so and shows its own.
func TestAnotherFont(t *testing.T) {
	folder := installed(t)
	s := show(t, false)
	s.sample(t)
	own := s.fonts.Width("Illicit", 12, false)
	s.memory.TextFont, s.memory.CodeFont = "DejaVu Sans Mono", "Noto Sans"
	s.useFonts()
	if !s.happened(`fonts "DejaVu Sans Mono" "Noto Sans"`) {
		t.Fatalf("the fonts were not taken: %s", s.log)
	}
	wide := s.fonts.Width("Illicit", 12, false)
	if f := s.look.Font(fyne.TextStyle{}); wide <= own || f == nil || !strings.HasPrefix(f.Name(), "DejaVu Sans Mono") {
		t.Errorf("the canvas is %v wide as %v, widgets have %v", wide, own, f)
	}
	if f := s.look.Font(fyne.TextStyle{Monospace: true}); !strings.HasSuffix(f.Name(), "Noto Sans") {
		t.Errorf("code has %s", f.Name())
	}
	if f := s.look.Font(fyne.TextStyle{Bold: true}); f == nil || strings.HasPrefix(f.Name(), "DejaVu") {
		t.Errorf("a style that the family lacks has %v", f)
	}
	s.setLook(presenter.LookDark)
	if f := s.look.Font(fyne.TextStyle{}); !strings.HasPrefix(f.Name(), "DejaVu Sans Mono") {
		t.Errorf("in the dark widgets have %s", f.Name())
	}
	s.draw()

	next := s.again(t)
	if next.memory.TextFont != "DejaVu Sans Mono" || next.memory.CodeFont != "Noto Sans" {
		t.Errorf("kept: %q and %q", next.memory.TextFont, next.memory.CodeFont)
	}
	if err := os.Remove(filepath.Join(folder, "DejaVuSansMono.ttf")); err != nil {
		t.Fatal(err)
	}
	next.useFonts()
	if len(next.dialogs) != 1 || next.memory.TextFont != "" || next.fonts.Width("Illicit", 12, false) != own {
		t.Errorf("%d dialogs, font %q", len(next.dialogs), next.memory.TextFont)
	}
}

// A character that no font of the canvas has is looked for once.
func TestWhatTheCanvasLacksIsLookedFor(t *testing.T) {
	s := show(t, false)
	for range 3 {
		s.lacks('\U00010a00')
		s.lacks('\U00010a01')
	}
	if len(s.lacking) != 1 {
		t.Errorf("%q are to be looked for", string(s.lacking))
	}
	s.findFonts()
	if !s.happened("font for ") || len(s.lacking) != 0 {
		t.Errorf("nothing was looked for: %s", s.log)
	}
}
