//go:build !headless

package desktop

import (
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// chooserOptions say what a chooser of files asks for.
type chooserOptions struct {
	title, ok    string
	folder, name string
	save         bool // the file need not exist
	folders      bool // a folder is wanted
	show         func(name string) bool
}

// chooser lists a folder; a path may be typed too.
type chooser struct {
	d      *Desktop
	o      chooserOptions
	folder string
	list   []presenter.Entry
	view   *widget.List
	path   *field
	hint   *words
	ok     *widget.Button
	dl     *dialog
	do     func(string)
}

// choose asks for a file or folder.
func (d *Desktop) choose(o chooserOptions, do func(path string)) {
	c := &chooser{d: d, o: o, do: do}
	c.view = widget.NewList(func() int { return len(c.list) }, c.row, c.update)
	c.view.HideSeparators = true
	c.view.OnSelected = func(id widget.ListItemID) {
		c.view.UnselectAll()
		c.pick(c.list[id])
	}
	c.path = d.field("", "Path", func(string) { c.hint.Set("", nil) })
	c.path.OnSubmitted = func(string) { c.accept() }
	c.hint = d.words("", captionSize, inkTone(toneError))
	up := d.tool("arrow-up", "Folder above", func() { c.read(filepath.Dir(c.folder)) })
	home := d.tool("user", "Home folder", func() {
		if h, err := os.UserHomeDir(); err == nil {
			c.read(h)
		}
	})
	top := container.NewVBox(container.NewBorder(nil, nil, container.NewHBox(up, home), nil, c.path), c.hint)
	c.ok = button(o.ok, true, c.accept)
	c.dl = d.dialog(o.title, "", container.NewBorder(top, nil, nil, nil, d.outlined(c.view)), fyne.NewSize(640, 480), nil,
		button("Cancel", false, func() { c.dl.close() }), c.ok)
	c.read(o.folder)
	d.focus(c.path)
}

func (c *chooser) row() fyne.CanvasObject {
	pic := canvas.NewImageFromResource(c.d.icon("folder", inkSoft))
	pic.FillMode = canvas.ImageFillContain
	when := c.d.caption("")
	return container.NewBorder(nil, nil, sized(pic, 16, 20), sized(when, 120, 0), c.d.text(""))
}

func (c *chooser) update(id widget.ListItemID, o fyne.CanvasObject) {
	e, box := c.list[id], o.(*fyne.Container)
	name := "pipeline"
	switch {
	case e.Folder:
		name = "folder"
	case filepath.Ext(e.Name) == ".hwf":
		name = "workflow"
	}
	pic := box.Objects[1].(*fyne.Container).Objects[0].(*canvas.Image)
	pic.Resource = c.d.icon(name, inkSoft)
	pic.Refresh()
	box.Objects[0].(*words).Set(e.Name, inkText)
	when := ""
	if !e.Folder {
		when = e.Modified.Format("2006-01-02 15:04")
	}
	box.Objects[2].(*fyne.Container).Objects[0].(*words).Set(when, nil)
}

func (c *chooser) pick(e presenter.Entry) {
	switch {
	case e.Folder:
		c.read(e.Path)
	case !c.o.folders:
		c.path.SetText(e.Path)
	}
}

// read lists a folder in the background.
func (c *chooser) read(folder string) {
	background(c.d, func() ([]presenter.Entry, error) { return presenter.List(folder, c.o.show) }, func(list []presenter.Entry, err error) {
		if err != nil {
			c.hint.Set("Cannot read "+folder+": "+err.Error(), nil)
			return
		}
		c.folder, c.list = folder, list
		at := folder
		if !c.o.folders {
			at = filepath.Join(folder, c.o.name)
			if c.o.name == "" {
				at += string(filepath.Separator)
			}
		}
		c.path.SetText(at)
		c.path.CursorColumn = len([]rune(at))
		c.path.Refresh()
		c.view.Refresh()
		c.view.ScrollToTop()
	})
}

// accept takes the path that stands in the entry.
func (c *chooser) accept() {
	path := c.path.Text
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.folder, path)
	}
	background(c.d, func() (os.FileInfo, error) { return os.Stat(path) }, func(st os.FileInfo, err error) {
		switch {
		case err == nil && st.IsDir() && !c.o.folders:
			c.read(path)
			return
		case err == nil && c.o.folders && !st.IsDir():
			c.hint.Set(filepath.Base(path)+" is a file; choose the folder it is in", nil)
			return
		case err != nil && !c.o.save:
			c.hint.Set("There is no "+path, nil)
			return
		}
		if c.o.folders {
			c.d.memory.Folder = path
		} else {
			c.d.memory.Folder = filepath.Dir(path)
		}
		c.dl.close()
		c.do(path)
	})
}
