//go:build !headless

package desktop

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sluice/app/presenter"
	"sluice/canvas/gesture"
	"sluice/canvas/scene"
)

// types types into what has the keyboard.
func (s *shown) types(text string) {
	for _, r := range text {
		s.win.Canvas().Focused().TypedRune(r)
	}
}

// keys presses keys, each on what has the keyboard, as the window hands them out.
func (s *shown) keys(names ...fyne.KeyName) {
	for _, k := range names {
		e := &fyne.KeyEvent{Name: k}
		if focused := s.win.Canvas().Focused(); focused != nil {
			focused.TypedKey(e)
		} else {
			s.typedKey(e)
		}
	}
}

// findNode selects what a search finds, by keyboard.
func (s *shown) findNode(t *testing.T, text string) {
	t.Helper()
	s.do("find")
	s.types(text)
	s.keys(fyne.KeyReturn)
	if len(s.current.selection()) != 1 {
		t.Fatalf("searching %q selects %v", text, s.current.selection())
	}
}

// byKeyboard does each gesture that edits with actions and keys alone.
var byKeyboard = map[gesture.Name]func(t *testing.T, s *shown){
	gesture.NameMove: func(t *testing.T, s *shown) {
		s.do("select-all")
		s.do("align-top")
	},
	gesture.NameDetach: func(t *testing.T, s *shown) {
		s.findNode(t, "Sort by country")
		s.do("detach")
	},
	gesture.NameInsert: func(t *testing.T, s *shown) {
		s.do("add")
		s.types("dummy")
		s.keys(fyne.KeyReturn)
		s.findNode(t, "Dummy")
		s.do("insert-into-hop")
		s.types("Sort by country →")
		s.keys(fyne.KeyReturn)
	},
	gesture.NameConnect: func(t *testing.T, s *shown) {
		s.do("add")
		s.types("dummy")
		s.keys(fyne.KeyReturn)
		s.findNode(t, "Write turnover")
		s.do("connect")
		s.keys(fyne.KeyTab, fyne.KeyReturn)
	},
	gesture.NameConnectNew: func(t *testing.T, s *shown) {
		s.findNode(t, "Write turnover")
		s.do("add")
		s.types("dummy")
		s.keys(fyne.KeyReturn)
	},
	gesture.NamePlace: func(t *testing.T, s *shown) {
		s.do("add")
		s.types("dummy")
		s.keys(fyne.KeyReturn)
	},
	gesture.NameRewire: func(t *testing.T, s *shown) {
		s.selectHop(t)
		s.do("rewire")
		s.keys(fyne.KeyDown, fyne.KeyReturn)
	},
	gesture.NameToggleHop: func(t *testing.T, s *shown) {
		s.selectHop(t)
		s.do("toggle-hop")
	},
	gesture.NameDelete: func(t *testing.T, s *shown) {
		s.selectHop(t)
		s.keys(fyne.KeyDelete)
	},
	gesture.NameResizeNote: func(t *testing.T, s *shown) {
		s.do("add-note")
		s.types("a note of so many words that it does not fit into the frame that a new one has")
		s.press(t, "OK")
		s.findNode(t, "so many words")
		s.do("resize-note")
	},
}

// selectHop selects the second hop of those that start or end at a transform.
func (s *shown) selectHop(t *testing.T) {
	t.Helper()
	s.findNode(t, "Sort by country")
	s.do("select-hop")
	s.keys(fyne.KeyDown, fyne.KeyUp, fyne.KeyReturn)
	if len(s.current.selected(scene.KindHop)) != 1 {
		t.Fatalf("no hop is selected but %v", s.current.selection())
	}
}

func TestEveryEditingGestureCanBeDoneByKeyboard(t *testing.T) {
	for _, name := range gesture.Names() {
		if !name.Changes() {
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			do := byKeyboard[name]
			if do == nil {
				t.Fatal("this test does not know how")
			}
			s := show(t, false)
			e := s.sample(t)
			s.draw()
			before := e.file.Document()
			do(t, s)
			if e.file.Document() == before || len(s.dialogs) != 0 {
				t.Errorf("the file has not changed; %d dialogs are open; %s", len(s.dialogs), s.log)
			}
		})
	}
}

func TestButtonsArePressedByKeyboard(t *testing.T) {
	s := show(t, false)
	s.sample(t)
	s.draw()
	seen := map[string]bool{}
	s.win.Canvas().Unfocus()
	for range 400 {
		test.FocusNext(s.win.Canvas())
		if f, ok := s.win.Canvas().Focused().(*flat); ok {
			seen[f.caption+f.tip] = true
			if strings.HasPrefix(f.tip, "Zoom in") {
				break
			}
		}
	}
	if len(seen) < 8 {
		t.Fatalf("Tab reaches %v", seen)
	}
	before := s.current.graph.Machine().View().Zoom
	s.keys(fyne.KeySpace)
	if s.current.graph.Machine().View().Zoom <= before {
		t.Error("Space does not press the button that has the keyboard")
	}
	s.draw()
}

func TestActionsAreInTheMenusOrHaveKeys(t *testing.T) {
	s := show(t, false)
	var items []string
	for _, m := range s.mainMenu().Items {
		for _, i := range m.Items {
			items = append(items, i.Label)
		}
	}
	for _, a := range presenter.Actions() {
		if a.Menu != "" && !slices.Contains(items, a.Title) {
			t.Errorf("%s is not in the menu", a.ID)
		}
		for _, text := range a.Keys {
			k, err := presenter.ParseKey(text)
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := s.Desktop.keys.Find(k); !ok || id != a.ID {
				t.Errorf("%s belongs to %s, want %s", text, id, a.ID)
			}
		}
	}
}
