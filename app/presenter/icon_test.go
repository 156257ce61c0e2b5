package presenter

import (
	"strings"
	"testing"

	"sluice/app/workspace"
	"sluice/assets/icons"
)

// TestIconsExist: for transforms that exist, too.
func TestIconsExist(t *testing.T) {
	known := map[string]bool{}
	for _, d := range workspace.Registry().All() {
		known[strings.ToLower(d.ID)] = true
		if _, err := icons.SVG(IconOf(d)); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
	for id := range transformIcons {
		if !known[id] {
			t.Errorf("there is no transform %q", id)
		}
	}
	actions := map[string]bool{}
	for _, d := range workspace.Actions().All() {
		actions[strings.ToLower(d.ID)] = true
		icon, _ := actionLook(d)
		if _, err := icons.SVG(icon); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
	for id := range actionIcons {
		if !actions[id] {
			t.Errorf("there is no action %q", id)
		}
	}
	if got := CategoryIcon("new"); got != "cat-transform" {
		t.Errorf("an unknown category has the icon %q", got)
	}
}
