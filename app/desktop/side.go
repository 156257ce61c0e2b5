//go:build !headless

package desktop

import (
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// side holds the project tree and the palette.
type side struct {
	d       *Desktop
	home    string
	tree    *widget.Tree
	folders map[string][]presenter.Entry // what is known of a folder; nil: being read
	kinds   map[string]bool              // paths that are folders
	title   *words
	palette *paletteView
	head    fyne.CanvasObject // over the tree
	project fyne.CanvasObject
	split   *container.Split // tree over palette
	tabs    *switcher        // instead of it in a small window
	all     *fyne.Container
}

func newSide(d *Desktop) *side {
	s := &side{d: d, folders: map[string][]presenter.Entry{}, kinds: map[string]bool{}, title: d.bold("Project", textSize)}
	s.tree = widget.NewTree(s.children, s.isBranch, s.row, s.update)
	s.tree.OnBranchOpened = func(id widget.TreeNodeID) { s.read(id) }
	s.tree.OnSelected = func(id widget.TreeNodeID) {
		s.tree.UnselectAll()
		if presenter.IsHopFile(id) {
			d.open(id)
		}
	}
	s.tree.HideSeparators = true
	s.head = d.head(s.title,
		d.small("new", "New pipeline (Ctrl+N)", func() { d.do("new-pipeline") }),
		d.small("refresh", "Read the folder again", func() { s.reload() }))
	s.project = container.NewBorder(s.head, nil, nil, nil, panel(s.tree, theme.ColorNameOverlayBackground))
	s.palette = newPaletteView(d)
	s.split = container.NewVSplit(s.project, s.palette.all)
	d.keepSplit("side", s.split, 0.42)
	s.tabs = newSwitcher(d)
	s.all = container.NewStack(s.split)
	return s
}

// setSmall shows tree and palette one above the other, or as two tabs.
func (s *side) setSmall(small bool) {
	s.all.Objects = []fyne.CanvasObject{s.split}
	if small {
		if len(s.tabs.pages) == 0 {
			s.tabs.add("Project", s.project)
			s.tabs.add("Palette", s.palette.all)
		}
		s.palette.head.Hide()
		bar := panel(container.NewVBox(s.tabs.head, widget.NewSeparator()), theme.ColorNameHeaderBackground)
		s.all.Objects = []fyne.CanvasObject{container.NewBorder(bar, nil, nil, nil, s.tabs.stack)}
	} else {
		s.palette.head.Show()
		s.split.Leading, s.split.Trailing = s.project, s.palette.all
		s.split.Refresh()
	}
	s.all.Refresh()
}

// head is the bar over a part of the window: its name, and small buttons.
func (d *Desktop) head(title *words, tools ...fyne.CanvasObject) fyne.CanvasObject {
	row := container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedHBoxLayout(0), tools...), inset(title, 0, 4, 0, 12))
	return panel(container.NewVBox(sized(row, 0, 32), widget.NewSeparator()), theme.ColorNameHeaderBackground)
}

// small is a button of such a bar.
func (d *Desktop) small(icon, tip string, do func()) *flat {
	f := d.flat(icon, "", tip, do)
	f.size = fyne.NewSize(32, 32)
	return f
}

func (s *side) object() fyne.CanvasObject { return s.all }

// setHome shows another project folder.
func (s *side) setHome(home string) {
	if home == s.home {
		return
	}
	s.home = home
	s.folders, s.kinds = map[string][]presenter.Entry{}, map[string]bool{}
	s.title.Set(filepath.Base(home), nil)
	s.reload()
}

func (s *side) reload() {
	if s.home == "" {
		return
	}
	open := []string{s.home}
	for id := range s.folders {
		if id != s.home && s.tree.IsBranchOpen(id) {
			open = append(open, id)
		}
	}
	s.folders = map[string][]presenter.Entry{}
	for _, id := range open {
		s.read(id)
	}
}

func shownFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".hpl", ".hwf", ".json", ".csv", ".sql", ".txt", ".xml", ".md":
		return true
	}
	return false
}

// read lists a folder in the background.
func (s *side) read(folder string) {
	if folder == "" {
		return
	}
	background(s.d, func() ([]presenter.Entry, error) { return presenter.List(folder, shownFile) },
		func(list []presenter.Entry, err error) {
			if err != nil {
				s.d.frame.note("Cannot read " + folder + ": " + err.Error())
				return
			}
			s.folders[folder] = list
			for _, e := range list {
				s.kinds[e.Path] = e.Folder
			}
			s.tree.Refresh()
		})
}

func (s *side) children(id widget.TreeNodeID) []widget.TreeNodeID {
	if id == "" {
		id = s.home
	}
	var out []widget.TreeNodeID
	for _, e := range s.folders[id] {
		out = append(out, e.Path)
	}
	return out
}

func (s *side) isBranch(id widget.TreeNodeID) bool { return id == "" || s.kinds[id] }

func (s *side) row(bool) fyne.CanvasObject {
	pic := canvas.NewImageFromResource(s.d.icon("folder", inkSoft))
	pic.FillMode = canvas.ImageFillContain
	return container.NewBorder(nil, nil, sized(pic, 16, 20), nil, s.d.text(""))
}

func (s *side) update(id widget.TreeNodeID, branch bool, o fyne.CanvasObject) {
	c := o.(*fyne.Container)
	name, c0 := "info", inkSoft
	switch strings.ToLower(filepath.Ext(id)) {
	case ".hpl":
		name, c0 = "pipeline", inkPrimary
	case ".hwf":
		name, c0 = "workflow", inkPrimary
	case ".json":
		name = "metadata"
	case ".csv", ".txt", ".xml", ".md":
		name = "t-file"
	case ".sql":
		name = "cat-database"
	}
	if branch {
		name, c0 = "folder", inkSoft
	}
	w := c.Objects[0].(*words)
	pic := c.Objects[1].(*fyne.Container).Objects[0].(*canvas.Image)
	pic.Resource = s.d.icon(name, c0)
	pic.Refresh()
	var i ink = inkText
	if !branch && !presenter.IsHopFile(id) {
		i = inkSoft
	}
	w.Set(filepath.Base(id), i)
	w.Refresh()
}
