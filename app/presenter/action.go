package presenter

import (
	"fmt"
	"strings"

	"sluice/canvas/gesture"
)

// ActionID names an action of the table.
type ActionID string

// Action is something that a person can ask for: a menu item, a tool button, a key.
type Action struct {
	ID    ActionID
	Title string // of the menu item; one that ends in … asks something first
	Icon  string
	Menu  string   // menu it is in, "" for none
	Keys  []string // such as "Ctrl+Shift+S"; the first is shown
	// Gestures are the intentions of the canvas that do the same.
	Gestures []gesture.Name
	// Editing says that it changes the file, Selection that it needs something
	// selected, File that it needs an open file, Workflow that this is a workflow.
	Editing, Selection, File, Workflow bool
	After                              bool // a separator comes before it in the menu
}

// Menus lists the menus in the order of the menu bar.
func Menus() []string {
	return []string{"File", "Edit", "View", "Canvas", "Run", "Gates", "Metadata", "Help"}
}

// Actions is the table of actions. Keys are Hop's where Hop has one.
func Actions() []Action {
	return []Action{
		{ID: "new-pipeline", Title: "New pipeline", Icon: "new", Menu: "File", Keys: []string{"Ctrl+N"}},
		{ID: "new-workflow", Title: "New workflow", Icon: "workflow", Menu: "File", Keys: []string{"Ctrl+Alt+N"}},
		{ID: "open", Title: "Open file…", Icon: "open", Menu: "File", Keys: []string{"Ctrl+O"}, After: true},
		{ID: "open-project", Title: "Open project folder…", Icon: "folder", Menu: "File", Keys: []string{"Ctrl+Shift+O"}},
		{ID: "open-sample", Title: "Open the sample project", Icon: "pipeline", Menu: "File"},
		{ID: "save", Title: "Save", Icon: "save", Menu: "File", Keys: []string{"Ctrl+S"}, File: true, After: true},
		{ID: "save-as", Title: "Save as…", Menu: "File", Keys: []string{"Ctrl+Shift+S"}, File: true},
		{ID: "picture", Title: "Export as picture…", Icon: "export", Menu: "File", File: true},
		{ID: "reload", Title: "Reload from disk", Icon: "refresh", Menu: "File", Keys: []string{"F5"}, File: true},
		{ID: "close", Title: "Close file", Menu: "File", Keys: []string{"Ctrl+W"}, File: true, After: true},
		{ID: "settings", Title: "Settings…", Icon: "settings", Menu: "File", Keys: []string{"Ctrl+Alt+S"}, After: true},
		{ID: "quit", Title: "Quit", Menu: "File", Keys: []string{"Ctrl+Q"}},

		{ID: "undo", Title: "Undo", Icon: "undo", Menu: "Edit", Keys: []string{"Ctrl+Z"}, File: true},
		{ID: "redo", Title: "Redo", Icon: "redo", Menu: "Edit", Keys: []string{"Ctrl+Shift+Z", "Ctrl+Y"}, File: true},
		{ID: "cut", Title: "Cut", Icon: "cut", Menu: "Edit", Keys: []string{"Ctrl+X"}, Editing: true, Selection: true, File: true, After: true},
		{ID: "copy", Title: "Copy", Icon: "copy", Menu: "Edit", Keys: []string{"Ctrl+C"}, Selection: true, File: true},
		{ID: "paste", Title: "Paste", Icon: "paste", Menu: "Edit", Keys: []string{"Ctrl+V"}, Editing: true, File: true},
		{ID: "delete", Title: "Delete", Icon: "delete", Menu: "Edit", Keys: []string{"Delete"}, Gestures: []gesture.Name{gesture.NameDelete}, Editing: true, Selection: true, File: true},
		{ID: "select-all", Title: "Select all", Menu: "Edit", Keys: []string{"Ctrl+A"}, Gestures: []gesture.Name{gesture.NameSelect}, File: true},
		{ID: "select-hop", Title: "Select hop…", Menu: "Edit", Keys: []string{"Ctrl+H"}, Gestures: []gesture.Name{gesture.NameSelect}, File: true},
		{ID: "find", Title: "Find…", Icon: "search", Menu: "Edit", Keys: []string{"Ctrl+F"}, File: true, After: true},
		{ID: "edit", Title: "Edit settings…", Icon: "edit", Menu: "Edit", Keys: []string{"Enter"}, Gestures: []gesture.Name{gesture.NameEdit}, Selection: true, File: true},
		{ID: "rename", Title: "Rename…", Menu: "Edit", Keys: []string{"F2"}, Editing: true, Selection: true, File: true},
		{ID: "properties", Title: "Properties and parameters…", Icon: "settings", Menu: "Edit", Keys: []string{"Ctrl+T"}, Editing: true, File: true},

		{ID: "add", Title: "Add…", Icon: "add", Menu: "Canvas", Keys: []string{"Insert", "Ctrl+Space"}, Gestures: []gesture.Name{gesture.NameAdd, gesture.NamePlace, gesture.NameConnectNew}, Editing: true, File: true},
		{ID: "add-note", Title: "Add note…", Icon: "note", Menu: "Canvas", Editing: true, File: true},
		{ID: "connect", Title: "Create hop from selected", Icon: "connect", Menu: "Canvas", Gestures: []gesture.Name{gesture.NameConnect}, Editing: true, Selection: true, File: true, After: true},
		{ID: "toggle-hop", Title: "Enable or disable hop", Icon: "disable", Menu: "Canvas", Gestures: []gesture.Name{gesture.NameToggleHop}, Editing: true, Selection: true, File: true},
		{ID: "hop-always", Title: "Follow hop always", Icon: "lock", Menu: "Canvas", Editing: true, Selection: true, File: true, Workflow: true},
		{ID: "hop-success", Title: "Follow hop on success", Icon: "check-ok", Menu: "Canvas", Editing: true, Selection: true, File: true, Workflow: true},
		{ID: "hop-failure", Title: "Follow hop on failure", Icon: "state-failed", Menu: "Canvas", Editing: true, Selection: true, File: true, Workflow: true},
		{ID: "rewire", Title: "Reconnect hop…", Icon: "link", Menu: "Canvas", Gestures: []gesture.Name{gesture.NameRewire}, Editing: true, Selection: true, File: true},
		{ID: "insert-into-hop", Title: "Insert selected into hop…", Menu: "Canvas", Gestures: []gesture.Name{gesture.NameInsert}, Editing: true, Selection: true, File: true},
		{ID: "detach", Title: "Detach selected", Menu: "Canvas", Gestures: []gesture.Name{gesture.NameDetach}, Editing: true, Selection: true, File: true},
		{ID: "show-fields", Title: "Show output fields", Icon: "pick-fields", Menu: "Canvas", Keys: []string{"Space"}, Gestures: []gesture.Name{gesture.NameFields}, Selection: true, File: true},
		{ID: "open-referenced", Title: "Open referenced file", Icon: "drill", Menu: "Canvas", Keys: []string{"Z"}, Gestures: []gesture.Name{gesture.NameOpen}, Selection: true, File: true},
		{ID: "resize-note", Title: "Fit note to its text", Menu: "Canvas", Gestures: []gesture.Name{gesture.NameResizeNote}, Editing: true, Selection: true, File: true},
		{ID: "snap", Title: "Snap to grid", Menu: "Canvas", Keys: []string{"Ctrl+Home"}, Gestures: []gesture.Name{gesture.NameMove}, Editing: true, File: true, After: true},
		{ID: "align-left", Title: "Align left", Icon: "align", Menu: "Canvas", Keys: []string{"Ctrl+Left"}, Editing: true, Selection: true, File: true},
		{ID: "align-right", Title: "Align right", Menu: "Canvas", Keys: []string{"Ctrl+Right"}, Editing: true, Selection: true, File: true},
		{ID: "align-top", Title: "Align top", Menu: "Canvas", Keys: []string{"Ctrl+Up"}, Editing: true, Selection: true, File: true},
		{ID: "align-bottom", Title: "Align bottom", Menu: "Canvas", Keys: []string{"Ctrl+Down"}, Editing: true, Selection: true, File: true},
		{ID: "distribute-horizontal", Title: "Distribute horizontally", Menu: "Canvas", Keys: []string{"Alt+Right"}, Editing: true, Selection: true, File: true},
		{ID: "distribute-vertical", Title: "Distribute vertically", Menu: "Canvas", Keys: []string{"Alt+Up"}, Editing: true, Selection: true, File: true},
		{ID: "layout", Title: "Arrange automatically", Icon: "layout", Menu: "Canvas", Keys: []string{"Ctrl+Shift+L"}, Editing: true, File: true},

		{ID: "run", Title: "Run…", Icon: "run", Menu: "Run", Keys: []string{"F8", "Ctrl+Enter"}, File: true},
		{ID: "preview", Title: "Preview rows of selected…", Icon: "preview", Menu: "Run", Keys: []string{"Ctrl+F8"}, Selection: true, File: true},
		{ID: "sniff", Title: "Sniff rows while it runs", Icon: "sniff", Menu: "Run", Selection: true, File: true},
		{ID: "pause", Title: "Pause or go on", Icon: "pause", Menu: "Run", Keys: []string{"Ctrl+,"}, File: true},
		{ID: "stop", Title: "Stop", Icon: "stop", Menu: "Run", Keys: []string{"Ctrl+."}, File: true},
		{ID: "replay-execution", Title: "Replay the shown execution…", Icon: "replay", Menu: "Run", Keys: []string{"Ctrl+Shift+R"}, After: true},
		{ID: "support-bundle", Title: "Support bundle of the shown execution…", Menu: "Run"},
		{ID: "delete-record", Title: "Delete the record of the shown execution…", Menu: "Run"},
		{ID: "retention", Title: "Remove old records…", Menu: "Run"},
		{ID: "disk", Title: "Disk use…", Menu: "Run"},
		{ID: "check", Title: "Check", Icon: "check-file", Menu: "Run", Keys: []string{"F7"}, File: true, After: true},

		{ID: "notifications", Title: "Notifications…", Icon: "info", Menu: "Run"},

		{ID: "gate", Title: "Mark as replay gate (seal output)", Icon: "gate", Menu: "Gates", Keys: []string{"Ctrl+G"}, Editing: true, Selection: true, File: true},
		{ID: "gate-settings", Title: "Replay gate settings…", Icon: "gate-sealed", Menu: "Gates", Keys: []string{"Ctrl+Shift+G"}, Gestures: []gesture.Name{gesture.NameGate}, Editing: true, Selection: true, File: true},
		{ID: "gate-remove", Title: "Remove gate mark", Menu: "Gates", Editing: true, Selection: true, File: true},
		{ID: "replay-here", Title: "Replay from here…", Icon: "replay", Menu: "Gates", Keys: []string{"Ctrl+R"}, After: true},
		{ID: "snapshot-rows", Title: "Show snapshot rows", Icon: "snapshot", Menu: "Gates", Selection: true, File: true},
		{ID: "snapshot-compare", Title: "Compare with previous snapshot…", Icon: "diff", Menu: "Gates", Selection: true, File: true},
		{ID: "snapshot-verify", Title: "Verify snapshot", Icon: "check-ok", Menu: "Gates", Selection: true, File: true},
		{ID: "snapshots", Title: "Snapshots of this gate…", Menu: "Gates", Selection: true, File: true},
		{ID: "cache", Title: "Cache output (dev)…", Icon: "cache", Menu: "Gates", Editing: true, Selection: true, File: true, After: true},
		{ID: "cache-remove", Title: "Stop caching output", Menu: "Gates", Editing: true, Selection: true, File: true},
		{ID: "cache-run", Title: "Run from cache", Icon: "run", Menu: "Gates", File: true},
		{ID: "cache-clear", Title: "Clear cached rows", Icon: "eraser", Menu: "Gates", Selection: true, File: true},

		{ID: "meta-new", Title: "New metadata…", Icon: "add", Menu: "Metadata", Keys: []string{"Ctrl+Alt+M"}},
		{ID: "remote-new", Title: "New remote…", Icon: "cloud", Menu: "Metadata", Keys: []string{"Ctrl+Alt+R"}},
		{ID: "meta-test", Title: "Test connection or remote", Icon: "check-file", Menu: "Metadata", Keys: []string{"Ctrl+Alt+T"}},
		{ID: "meta-json", Title: "Form or JSON", Menu: "Metadata", Keys: []string{"Ctrl+Alt+J"}},
		{ID: "meta-duplicate", Title: "Duplicate…", Icon: "copy", Menu: "Metadata", Keys: []string{"Ctrl+Alt+D"}, After: true},
		{ID: "meta-rename", Title: "Rename…", Icon: "edit", Menu: "Metadata"},
		{ID: "meta-delete", Title: "Delete…", Icon: "delete", Menu: "Metadata"},
		{ID: "environment", Title: "Environment…", Icon: "variable", Menu: "Metadata", Keys: []string{"Ctrl+Alt+E"}, After: true},
		{ID: "project-properties", Title: "Project properties and variables", Icon: "folder", Menu: "Metadata", Keys: []string{"Ctrl+Alt+P"}},

		{ID: "go-designer", Title: "Designer", Icon: "designer", Menu: "View", Keys: []string{"Ctrl+Shift+D"}},
		{ID: "go-executions", Title: "Executions", Icon: "executions", Menu: "View", Keys: []string{"Ctrl+Shift+I"}},
		{ID: "go-metadata", Title: "Metadata", Icon: "metadata", Menu: "View", Keys: []string{"Ctrl+Shift+M"}},
		{ID: "zoom-in", Title: "Zoom in", Icon: "zoom-in", Menu: "View", Keys: []string{"Ctrl++"}, Gestures: []gesture.Name{gesture.NameView}, File: true, After: true},
		{ID: "zoom-out", Title: "Zoom out", Icon: "zoom-out", Menu: "View", Keys: []string{"Ctrl+-"}, File: true},
		{ID: "zoom-100", Title: "Zoom to 100 %", Menu: "View", Keys: []string{"Ctrl+0"}, File: true},
		{ID: "fit", Title: "Show everything", Icon: "fit", Menu: "View", Keys: []string{"Home"}, File: true},
		{ID: "minimap", Title: "Mini-map", Icon: "minimap", Menu: "View", File: true},
		{ID: "panels", Title: "Panels below the canvas", Menu: "View", File: true, After: true},
		{ID: "panel-metrics", Title: "Metrics", Menu: "View", Keys: []string{"Ctrl+1"}, File: true},
		{ID: "panel-log", Title: "Log", Menu: "View", Keys: []string{"Ctrl+2"}, Gestures: []gesture.Name{gesture.NameState}, File: true},
		{ID: "panel-problems", Title: "Problems", Menu: "View", Keys: []string{"Ctrl+3"}, File: true},
		{ID: "panel-rows", Title: "Rows", Menu: "View", Keys: []string{"Ctrl+4"}, File: true},
		{ID: "dark", Title: "Light or dark", Menu: "View", After: true},
		{ID: "full-screen", Title: "Full screen", Menu: "View", Keys: []string{"Alt+F11"}},
		{ID: "next-file", Title: "Next file", Menu: "View", Keys: []string{"Ctrl+Alt+Right"}, File: true, After: true},
		{ID: "previous-file", Title: "Previous file", Menu: "View", Keys: []string{"Ctrl+Alt+Left"}, File: true},

		{ID: "context-menu", Title: "Menu of selected", Keys: []string{"Menu"}, Gestures: []gesture.Name{gesture.NameMenu}, File: true},
		{ID: "help", Title: "Help…", Icon: "help", Menu: "Help", Keys: []string{"F1"}},
		{ID: "shortcuts", Title: "Keys", Icon: "key", Menu: "Help"},
		{ID: "about", Title: "About Sluice", Icon: "info", Menu: "Help"},
	}
}

// KeyTable finds actions by key.
type KeyTable struct {
	byKey map[string]ActionID
	byID  map[ActionID]Action
}

// NewKeyTable checks a table of actions: two with one id or one key, and keys that
// cannot be read, are errors.
func NewKeyTable(actions []Action) (*KeyTable, error) {
	t := &KeyTable{byKey: map[string]ActionID{}, byID: map[ActionID]Action{}}
	for _, a := range actions {
		if _, twice := t.byID[a.ID]; twice {
			return nil, fmt.Errorf("action %s is in the table twice", a.ID)
		}
		t.byID[a.ID] = a
		for _, text := range a.Keys {
			k, err := ParseKey(text)
			if err != nil {
				return nil, fmt.Errorf("action %s: %w", a.ID, err)
			}
			if other, taken := t.byKey[k.String()]; taken {
				return nil, fmt.Errorf("key %s belongs to both %s and %s", text, other, a.ID)
			}
			t.byKey[k.String()] = a.ID
		}
	}
	return t, nil
}

// Find gives the action of a key.
func (t *KeyTable) Find(k Key) (ActionID, bool) {
	id, ok := t.byKey[k.String()]
	return id, ok
}

// Action gives an action by its id.
func (t *KeyTable) Action(id ActionID) (Action, bool) {
	a, ok := t.byID[id]
	return a, ok
}

// Key is a key with its modifiers. Name is upper case: "S", "F8", "LEFT", "+".
type Key struct {
	Name             string
	Ctrl, Shift, Alt bool
}

// ParseKey reads "Ctrl+Shift+S".
func ParseKey(text string) (Key, error) {
	var k Key
	rest := text
	for {
		head, tail, ok := strings.Cut(rest, "+")
		if !ok || head == "" || tail == "" {
			break
		}
		switch strings.ToLower(head) {
		case "ctrl":
			k.Ctrl = true
		case "shift":
			k.Shift = true
		case "alt":
			k.Alt = true
		default:
			return k, fmt.Errorf("%q is no modifier of a key", head)
		}
		rest = tail
	}
	if rest == "" {
		return k, fmt.Errorf("%q names no key", text)
	}
	k.Name = strings.ToUpper(rest)
	return k, nil
}

// String writes the key as the table does, modifiers in a fixed order.
func (k Key) String() string {
	var b strings.Builder
	for _, m := range []struct {
		on   bool
		name string
	}{{k.Ctrl, "Ctrl+"}, {k.Alt, "Alt+"}, {k.Shift, "Shift+"}} {
		if m.on {
			b.WriteString(m.name)
		}
	}
	return b.String() + k.Name
}
