//go:build !headless

package desktop

import (
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"sluice/app/presenter"
	"sluice/app/workspace"
)

// statusBar is the line at the bottom: project, what runs, what snapshots take; what
// was done last; whether everything is saved.
type statusBar struct {
	d                    *Desktop
	project, environment *flat // open what they name
	running, snapshots   *words
	left                 *fyne.Container
	hint, state          *words
	all                  fyne.CanvasObject
}

func newStatusBar(d *Desktop) *statusBar {
	s := &statusBar{d: d, project: d.statusItem("folder", "project-properties"), environment: d.statusItem("variable", "environment"), running: d.caption(""), snapshots: d.caption(""), hint: d.caption(""), state: d.caption("")}
	s.state.align, s.hint.align = fyne.TextAlignTrailing, fyne.TextAlignCenter
	s.left = container.New(layout.NewCustomPaddedHBoxLayout(0))
	s.all = panel(sized(inset(container.New(statusLayout{}, s.left, s.hint, s.state), 0, 12, 0, 4), 0, 24), theme.ColorNameHeaderBackground)
	s.arrange()
	return s
}

// statusLayout gives left and right what they need, and the middle the rest.
type statusLayout struct{}

// MinSize implements fyne.Layout.
func (statusLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, 16) }

// Layout implements fyne.Layout.
func (statusLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	state := o[2].(*words)
	right := min(size.Width/3, fyne.MeasureText(state.full, state.size, state.style).Width+2)
	left := min(o[0].MinSize().Width, size.Width/2)
	for i, span := range [][2]float32{{0, left}, {left + 12, size.Width - left - right - 24}, {size.Width - right, right}} {
		o[i].Move(fyne.NewPos(span[0], 0))
		o[i].Resize(fyne.NewSize(max(0, span[1]), size.Height))
	}
}

// arrange shows the parts that say something.
func (s *statusBar) arrange() {
	part := func(icon string, w *words) fyne.CanvasObject {
		return inset(container.NewBorder(nil, nil, s.d.picture(icon, inkSoft, 14), nil, inset(wide(w), 0, 0, 0, 6)), 0, 16, 0, 0)
	}
	s.left.Objects = []fyne.CanvasObject{s.project}
	if s.environment.caption != "" {
		s.left.Add(s.environment)
	}
	if s.running.full != "" {
		s.left.Add(part("jobs", s.running))
	}
	if s.snapshots.full != "" {
		s.left.Add(part("snapshot", s.snapshots))
	}
	s.all.Refresh()
}

// statusItem is a small button of the status bar.
func (d *Desktop) statusItem(icon string, id presenter.ActionID) *flat {
	item := d.flat(icon, "", d.tipOf(id), func() { d.do(id) })
	item.size.Height, item.iconSize, item.textSize, item.inkOf = 24, 14, captionSize, inkSoft
	return item
}

// maxStatusName is how much of a name the status bar shows, in characters.
const maxStatusName = 32

func statusName(s string) string {
	if r := []rune(s); len(r) > maxStatusName {
		return string(r[:maxStatusName]) + "…"
	}
	return s
}

// showProject brings project and environment up to date.
func (s *statusBar) showProject() {
	home := s.d.projectHome()
	if home == "" {
		s.project.SetCaption("No project open")
		s.environment.SetCaption("")
		return
	}
	s.project.SetCaption(statusName(filepath.Base(home)))
	name := "No environment"
	if path := s.d.memory.Environments[home]; path != "" {
		name = "Environment: " + statusName(presenter.EnvironmentName(path))
	}
	s.environment.SetCaption(name)
}

// show brings project, runs and saved state up to date.
func (s *statusBar) show(state string) {
	running := ""
	n := 0
	for _, e := range s.d.editors {
		if v := e.runView(); v != nil && v.State.Active() {
			n++
		}
	}
	if n > 0 {
		running = presenter.Plural(int64(n), "run") + " going"
	}
	s.showProject()
	s.running.Set(running, nil)
	s.state.Set(state, nil)
	s.arrange()
}

// measure adds up what snapshots take on this machine, in the background.
func (s *statusBar) measure() {
	background(s.d, func() (workspace.Usage, error) {
		f, err := workspace.UserFolders()
		if err != nil {
			return workspace.Usage{}, err
		}
		return workspace.SizeOf("snapshots", f.Snapshots())
	}, func(u workspace.Usage, err error) {
		text := ""
		if err == nil && u.Bytes > 0 {
			text = "Snapshots " + workspace.FormatBytes(u.Bytes)
		}
		if text != s.snapshots.full {
			s.snapshots.Set(text, nil)
			s.arrange()
		}
	})
}
