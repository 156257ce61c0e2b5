//go:build !headless

package desktop

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"sluice/app/presenter"
	"sluice/assets/sample"
)

// showWelcome shows what to do when nothing is open.
func (d *Desktop) showWelcome() {
	d.current = nil
	d.atPlace(placeDesigner)
	logo := canvas.NewImageFromResource(d.app.Icon())
	logo.FillMode = canvas.ImageFillContain
	head := container.NewBorder(nil, nil, sized(logo, 56, 56), nil,
		inset(container.NewVBox(d.bold("Sluice", 22), d.soft("Design, run and replay data pipelines. Files stay Apache Hop's own.")), 0, 0, 0, 16))
	col := container.New(layout.NewCustomPaddedVBoxLayout(16), head)
	if len(d.memory.Unsaved) > 0 {
		col.Add(d.recoveryBanner())
	}
	col.Add(container.New(&pair{},
		d.card("pipeline", "Open the sample project", "A small shop: orders from a database, turnover by country into a file. Runs in a second.", "Open sample", true, func() { d.do("open-sample") }),
		d.card("folder", "Open a project or file", "A folder with a project-config.json, or any .hpl or .hwf file.", "Open file…", false, func() { d.do("open") }),
	))
	col.Add(container.New(&pair{},
		d.card("new", "New pipeline", "Start with an empty canvas and place transforms.", "New pipeline", false, func() { d.do("new-pipeline") }),
		d.card("workflow", "New workflow", "Order pipelines and actions, with success and failure ways.", "New workflow", false, func() { d.do("new-workflow") }),
	))
	col.Add(d.recentFiles())
	page := container.New(&column{960}, container.NewPadded(col))
	d.frame.body.Objects = []fyne.CanvasObject{panel(container.NewVScroll(inset(page, 40, 24, 24, 24)), theme.ColorNameBackground)}
	d.frame.body.Refresh()
	d.update()
}

// card is one offer of the welcome screen.
func (d *Desktop) card(icon, title, text, label string, primary bool, do func()) fyne.CanvasObject {
	pic := canvas.NewImageFromResource(d.icon(icon, inkPrimary))
	pic.FillMode = canvas.ImageFillContain
	body := container.NewBorder(
		container.NewBorder(nil, nil, sized(pic, 24, 24), nil, inset(d.bold(title, 14), 2, 0, 2, 10)), container.NewHBox(button(label, primary, do)), nil, nil,
		paragraph(text))
	return d.outlined(sized(inset(body, 14, 16, 14, 16), 0, 148))
}

// outlined puts a surface with a border behind an object.
func (d *Desktop) outlined(o fyne.CanvasObject) fyne.CanvasObject {
	return container.NewStack(newGround(theme.ColorNameSeparator), inset(panel(o, theme.ColorNameOverlayBackground), 1, 1, 1, 1))
}

func (d *Desktop) recentFiles() fyne.CanvasObject {
	box := container.New(layout.NewCustomPaddedVBoxLayout(2), d.bold("Recent files", 14))
	if len(d.memory.Recent) == 0 {
		box.Add(d.soft("Files that you open are listed here."))
	}
	for _, path := range d.memory.Recent {
		icon := "pipeline"
		if filepath.Ext(path) == ".hwf" {
			icon = "workflow"
		}
		row := d.flat(icon, filepath.Base(path)+"    "+shorten(filepath.Dir(path)), path, func() { d.open(path) })
		row.left, row.size.Height = true, 28
		box.Add(row)
	}
	return box
}

// recoveryBanner offers unsaved work of an earlier time.
func (d *Desktop) recoveryBanner() fyne.CanvasObject {
	pic := canvas.NewImageFromResource(d.icon("check-warn", inkTone(toneWarn)))
	pic.FillMode = canvas.ImageFillContain
	var names []string
	for _, p := range d.memory.Unsaved {
		names = append(names, filepath.Base(p))
	}
	text := container.NewVBox(d.bold("Unsaved changes were kept", 14), d.soft("From the last time: "+strings.Join(names, ", ")+". Nothing of the files themselves was changed."))
	open := button("Open and restore", true, func() {
		for _, p := range append([]string(nil), d.memory.Unsaved...) {
			d.open(p)
		}
	})
	row := container.NewBorder(nil, nil, sized(pic, 24, 24), container.NewCenter(open), inset(text, 0, 12, 0, 12))
	return d.outlined(inset(row, 12, 16, 12, 16))
}

// column keeps its object in the middle, at most a width wide.
type column struct{ width float32 }

// MinSize implements fyne.Layout.
func (c *column) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(min(c.width, 480), o[0].MinSize().Height)
}

// Layout implements fyne.Layout.
func (c *column) Layout(o []fyne.CanvasObject, size fyne.Size) {
	w := min(size.Width, c.width)
	o[0].Move(fyne.NewPos((size.Width-w)/2, 0))
	o[0].Resize(fyne.NewSize(w, size.Height))
}

// openSample unpacks the sample project, unless that was done before, and opens it.
func (d *Desktop) openSample() {
	background(d, func() (string, error) {
		folder, err := presenter.SampleFolder()
		if err != nil {
			return "", err
		}
		main := filepath.Join(folder, sample.Main)
		if _, err := os.Stat(main); err == nil {
			return main, nil
		}
		if err := sample.Unpack(folder); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		return main, nil
	}, func(path string, err error) {
		if err != nil {
			d.fail("Open the sample project", err)
			return
		}
		d.open(path)
	})
}
