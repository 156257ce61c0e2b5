package presenter

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Memory is what the desktop keeps from one start to the next.
type Memory struct {
	Look     Look     `json:"look"`
	Scale    int      `json:"scale"`     // percent; 0 is the system's
	TextFont string   `json:"text_font"` // family; "" is our own
	CodeFont string   `json:"code_font"`
	Dark     bool     `json:"dark"` // how it looks now
	Width    float32  `json:"width"`
	Height   float32  `json:"height"`
	Side     float64  `json:"side"`   // share of the window of the left side
	Bottom   float64  `json:"bottom"` // share of the editor above the bottom
	MiniMap  bool     `json:"mini_map"`
	Folder   string   `json:"folder"`  // of the file dialog
	Recent   []string `json:"recent"`  // latest first
	Open     []string `json:"open"`    // files that were open
	Unsaved  []string `json:"unsaved"` // files with unsaved work beside them
	LogLevel string   `json:"log_level"`
	Current  string   `json:"current"` // of the open files, the one in front
	Notify   Notify   `json:"notify"`

	Splits map[string]float64  `json:"splits"` // shares of splits, by name
	Views  map[string]FileView `json:"views"`  // of open and recent files, by path

	// Environments is the file of the environment in use by the folder of the project,
	// AddedEnvironments those that lie elsewhere.
	Environments      map[string]string   `json:"environments,omitempty"`
	AddedEnvironments map[string][]string `json:"added_environments,omitempty"`
}

// FileView is where a file was looked at: its zoom, 1 for the size of the document,
// and the place of its origin on the canvas.
type FileView struct {
	Zoom float64 `json:"zoom"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

// Look is how light the window is.
type Look string

// The looks. As the system does is the one of a first start.
const (
	LookSystem Look = ""
	LookLight  Look = "light"
	LookDark   Look = "dark"
)

// Looks lists the looks as a person reads them, in their order.
func Looks() []string { return []string{"As the system", "Light", "Dark"} }

// String is what a person reads.
func (l Look) String() string {
	switch l {
	case LookLight:
		return Looks()[1]
	case LookDark:
		return Looks()[2]
	}
	return Looks()[0]
}

// ParseLook reads what String wrote.
func ParseLook(text string) Look {
	for _, l := range []Look{LookLight, LookDark} {
		if l.String() == text {
			return l
		}
	}
	return LookSystem
}

// Scales are the sizes of everything in the window that can be chosen, in percent.
func Scales() []int { return []int{80, 90, 100, 110, 125, 150, 175, 200} }

// Notify says when the system tells of the end of a run.
type Notify string

// When the system tells.
const (
	NotifyAway   Notify = "" // while another window has the keyboard
	NotifyAlways Notify = "always"
	NotifyNever  Notify = "never"
)

// Wanted tells whether to tell a user who is away from the window, or is not.
func (n Notify) Wanted(away bool) bool { return n == NotifyAlways || n != NotifyNever && away }

// String is what a person reads.
func (n Notify) String() string {
	switch n {
	case NotifyAlways:
		return "always"
	case NotifyNever:
		return "never"
	}
	return "while you look at another window"
}

const maxRecent = 12

// NewMemory is the memory of a first start.
func NewMemory() Memory {
	return Memory{Width: 1440, Height: 900, Side: 0.18, Bottom: 0.72, MiniMap: true, LogLevel: "Basic"}
}

// LoadMemory reads the memory; an absent or damaged file is a first start. It reads
// the disk.
func LoadMemory(path string) Memory {
	m := NewMemory()
	data, err := os.ReadFile(path)
	if err != nil {
		return m
	}
	if json.Unmarshal(data, &m) != nil {
		return NewMemory()
	}
	m.Width, m.Height = max(m.Width, 640), max(m.Height, 480)
	if !slices.Contains(Scales(), m.Scale) {
		m.Scale = 0
	}
	maps.DeleteFunc(m.Splits, func(_ string, share float64) bool { return share <= 0 || share >= 1 })
	return m
}

// Save writes the memory. It writes the disk.
func (m Memory) Save(path string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(path, data)
}

// Opened puts a file at the top of the recent ones.
func (m *Memory) Opened(path string) {
	m.Recent = slices.DeleteFunc(m.Recent, func(p string) bool { return p == path })
	m.Recent = append([]string{path}, m.Recent...)
	m.Recent = m.Recent[:min(len(m.Recent), maxRecent)]
}

// SetSplit notes the share of a split.
func (m *Memory) SetSplit(name string, share float64) {
	if m.Splits == nil {
		m.Splits = map[string]float64{}
	}
	m.Splits[name] = share
}

// SetView notes where a file is looked at, and forgets files that are neither open
// nor recent.
func (m *Memory) SetView(path string, v FileView) {
	if m.Views == nil {
		m.Views = map[string]FileView{}
	}
	m.Views[path] = v
	maps.DeleteFunc(m.Views, func(p string, _ FileView) bool { return !slices.Contains(m.Recent, p) && !slices.Contains(m.Open, p) })
}

// SetUnsaved notes whether a file has unsaved work beside it; false when nothing
// changed.
func (m *Memory) SetUnsaved(path string, on bool) bool {
	has := slices.Contains(m.Unsaved, path)
	switch {
	case has == on:
		return false
	case on:
		m.Unsaved = append(m.Unsaved, path)
	default:
		m.Unsaved = slices.DeleteFunc(m.Unsaved, func(p string) bool { return p == path })
	}
	return true
}

// UseEnvironment makes a file the environment of a project; "" uses none.
func (m *Memory) UseEnvironment(home, path string) {
	m.Environments = maps.Clone(m.Environments)
	if m.Environments == nil {
		m.Environments = map[string]string{}
	}
	if path == "" {
		delete(m.Environments, home)
		return
	}
	m.Environments[home] = path
}

// AddEnvironment remembers the file of an environment that lies outside the project.
func (m *Memory) AddEnvironment(home, path string) {
	m.AddedEnvironments = maps.Clone(m.AddedEnvironments)
	if m.AddedEnvironments == nil {
		m.AddedEnvironments = map[string][]string{}
	}
	if !slices.Contains(m.AddedEnvironments[home], path) {
		m.AddedEnvironments[home] = append(slices.Clone(m.AddedEnvironments[home]), path)
	}
}

// MemoryPath is where the memory of this user is kept.
func MemoryPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sluice", "desktop.json"), nil
}

// SampleFolder is where the sample project of this user is unpacked.
func SampleFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "Sluice sample"), nil
}
