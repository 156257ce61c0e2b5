package presenter_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/canvas/gesture"
)

// noAction are the gestures that need no action: one is a key itself, the other only
// repeats what settings, metrics and problems tell.
var noAction = map[gesture.Name]bool{gesture.NameLeave: true, gesture.NameTip: true}

func TestEveryGestureHasAnActionInAMenuOrAKey(t *testing.T) {
	for _, name := range gesture.Names() {
		i := slices.IndexFunc(presenter.Actions(), func(a presenter.Action) bool {
			return slices.Contains(a.Gestures, name) && (a.Menu != "" || len(a.Keys) > 0)
		})
		if i >= 0 == noAction[name] {
			t.Errorf("%q: action %d; nothing but the mouse can do it, or it is listed as one that needs none", name, i)
		}
	}
	for _, a := range presenter.Actions() {
		for _, name := range a.Gestures {
			if !slices.Contains(gesture.Names(), name) {
				t.Errorf("%s claims the gesture %q, which there is not", a.ID, name)
			}
		}
	}
}

func TestTheTableOfActions(t *testing.T) {
	table, err := presenter.NewKeyTable(presenter.Actions())
	must(t, err)
	for _, a := range presenter.Actions() {
		if a.Menu != "" && !slices.Contains(presenter.Menus(), a.Menu) || a.Menu == "" && len(a.Keys) == 0 {
			t.Errorf("%s cannot be reached", a.ID)
		}
	}
	for text, want := range map[string]presenter.ActionID{"Ctrl+S": "save", "shift+ctrl+s": "save-as", "F8": "run", "Ctrl++": "zoom-in", "Ctrl+-": "zoom-out", "Ctrl+,": "pause"} {
		k, err := presenter.ParseKey(text)
		if id, _ := table.Find(k); err != nil || id != want {
			t.Errorf("%s: %s, %v", text, id, err)
		}
	}
}

func TestTheTableRejects(t *testing.T) {
	for name, c := range map[string]struct {
		actions []presenter.Action
		want    string
	}{
		"one key twice":     {[]presenter.Action{{ID: "a", Keys: []string{"Ctrl+Shift+X"}}, {ID: "b", Keys: []string{"Shift+Ctrl+x"}}}, "belongs to both a and b"},
		"one id twice":      {[]presenter.Action{{ID: "a"}, {ID: "a"}}, "twice"},
		"an odd modifier":   {[]presenter.Action{{ID: "a", Keys: []string{"Hyper+X"}}}, "no modifier"},
		"a key without one": {[]presenter.Action{{ID: "a", Keys: []string{""}}}, "names no key"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := presenter.NewKeyTable(c.actions); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
