//go:build !headless

package desktop

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/cli"
	"sluice/app/presenter"
	"sluice/assets/sample"
	"sluice/canvas/scene"
)

// showWelcome shows what to do when nothing is open.
func (d *Desktop) showWelcome() {
	d.current = nil
	d.atPlace(placeDesigner)
	logo := canvas.NewImageFromResource(appTile())
	logo.FillMode = canvas.ImageFillContain
	version := d.caption("Version " + cli.Version)
	version.align = fyne.TextAlignTrailing
	head := container.NewBorder(nil, nil, sized(logo, 56, 56), sized(version, 160, 0),
		inset(container.NewVBox(d.bold("Sluice", 22), d.soft("Design pipelines, seal what you extract, replay what failed.")), 0, 0, 0, 16))
	col := container.New(layout.NewCustomPaddedVBoxLayout(20), head)
	if len(d.memory.Unsaved) > 0 {
		col.Add(d.recoveryBanner())
	}
	col.Add(container.New(&welcomeColumns{}, d.starts(), d.recentFiles()))
	col.Add(d.howGatesWork())
	help, keys := d.flat("help", "Help", "", func() { d.do("help") }), d.flat("key", "Keys", "", func() { d.do("shortcuts") })
	for _, link := range []*flat{help, keys} {
		link.inkOf, link.bold = inkPrimary, true
	}
	col.Add(container.NewHBox(help, keys))
	page := container.New(&column{960}, container.NewPadded(col))
	d.frame.body.Objects = []fyne.CanvasObject{panel(container.NewVScroll(inset(page, 40, 24, 24, 24)), theme.ColorNameBackground)}
	d.frame.body.Refresh()
	d.update()
}

// welcomeColumns sets what to start with beside the recent files: 30 and 70 hundredths,
// one below the other where it is narrow.
type welcomeColumns struct{}

const narrowWelcome = 640

// MinSize implements fyne.Layout.
func (*welcomeColumns) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(400, max(o[0].MinSize().Height, o[1].MinSize().Height))
}

// Layout implements fyne.Layout.
func (*welcomeColumns) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 24
	left := float32(int((size.Width - gap) * 0.31))
	if size.Width < narrowWelcome {
		left = (size.Width - gap) / 2
	}
	o[0].Resize(fyne.NewSize(left, o[0].MinSize().Height))
	o[1].Move(fyne.NewPos(left+gap, 0))
	o[1].Resize(fyne.NewSize(size.Width-left-gap, o[1].MinSize().Height))
}

// starts are what to begin with, the sample first.
func (d *Desktop) starts() fyne.CanvasObject {
	box := container.New(layout.NewCustomPaddedVBoxLayout(8), sized(d.bold("Start", textSize), 0, 20))
	for i, x := range []struct {
		icon string
		id   presenter.ActionID
	}{{"run", "open-sample"}, {"pipeline", "new-pipeline"}, {"workflow", "new-workflow"}, {"open", "open"}, {"folder", "open-project"}} {
		a, _ := d.keys.Action(x.id)
		b := d.flat(x.icon, strings.TrimSuffix(a.Title, "…"), "", func() { d.do(x.id) })
		b.left, b.primary, b.bold, b.raised, b.size.Height = true, i == 0, i == 0, true, 40
		if len(a.Keys) > 0 {
			b.trail = a.Keys[0]
		}
		box.Add(b)
	}
	return box
}

// shownRecent is how many recent files are listed.
const shownRecent = 6

// recentFiles lists the files that were open last.
func (d *Desktop) recentFiles() fyne.CanvasObject {
	clear := d.flat("", "Clear list", "Forget these files; nothing is deleted", func() {
		d.memory.Recent = nil
		d.remember()
		d.showWelcome()
	})
	clear.inkOf, clear.bold, clear.size.Height = inkPrimary, true, 20
	head := container.NewBorder(nil, nil, nil, clear, d.bold("Recent", textSize))
	rows := container.New(layout.NewCustomPaddedVBoxLayout(0))
	if len(d.memory.Recent) == 0 {
		clear.Hide()
		rows.Add(sized(inset(d.soft("Files that you open are listed here."), 0, 12, 0, 12), 0, 40))
	}
	times := map[string]*words{}
	for i, path := range d.memory.Recent {
		if i == shownRecent {
			break
		}
		if i > 0 {
			rows.Add(widget.NewSeparator())
		}
		icon := "pipeline"
		if filepath.Ext(path) == ".hwf" {
			icon = "workflow"
		}
		open := d.flat(icon, "", path, func() { d.open(path) })
		open.left, open.size.Height = true, 39
		when := d.caption("")
		when.align = fyne.TextAlignTrailing
		times[path] = when
		rows.Add(container.NewStack(open, inset(container.New(&shares{[]float32{0.42, 0.36, 0.22}, 39}, inset(d.text(filepath.Base(path)), 0, 6, 0, 34), d.soft(shorten(filepath.Dir(path))), when), 0, 12, 0, 0)))
	}
	d.tellTimes(times)
	return container.New(layout.NewCustomPaddedVBoxLayout(8), sized(head, 0, 20), d.outlined(rows))
}

// tellTimes finds out in the background when files were changed.
func (d *Desktop) tellTimes(times map[string]*words) {
	background(d, func() (map[string]string, error) {
		said := map[string]string{}
		for path := range times {
			st, err := os.Stat(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				said[path] = "gone"
			case err == nil:
				said[path] = presenter.When(st.ModTime(), d.now())
			}
		}
		return said, nil
	}, func(said map[string]string, _ error) {
		for path, text := range said {
			times[path].Set(text, nil)
		}
	})
}

// howGatesWork tells in three steps what the program is for.
func (d *Desktop) howGatesWork() fyne.CanvasObject {
	step := func(icon string, tone scene.Tone, title, text string) fyne.CanvasObject {
		body := widget.NewLabel(text)
		body.Wrapping = fyne.TextWrapWord
		return d.outlined(inset(container.NewBorder(container.NewVBox(container.NewHBox(d.picture(icon, inkTone(tone), 26)), inset(d.bold(title, textSize), 4, 0, 0, 0)), nil, nil, nil, inset(body, -4, -7, -4, -7)), 14, 16, 8, 16))
	}
	row := container.New(&cardRow{},
		step("gate-armed", toneNeutral, "1 Mark a gate", "Right-click the transform that reads the source, choose Mark as replay gate."),
		step("gate-sealed", toneOK, "2 Run", "Rows are spooled, hashed and sealed before anything downstream writes."),
		step("replay", scene.ToneReuse, "3 Replay", "When the target fails, replay from the sealed rows. The source is not read again."))
	return container.New(layout.NewCustomPaddedVBoxLayout(8), d.bold("How a replay gate works", textSize), row)
}

// cardRow sets three cards side by side, 16 apart, all as high as the highest.
type cardRow struct{}

// MinSize implements fyne.Layout.
func (*cardRow) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(400, 132) }

// Layout implements fyne.Layout.
func (*cardRow) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 16
	w := (size.Width - 2*gap) / 3
	for i, obj := range o {
		obj.Move(fyne.NewPos(float32(i)*(w+gap), 0))
		obj.Resize(fyne.NewSize(w, size.Height))
	}
}

// outlined puts a surface with a border behind an object.
func (d *Desktop) outlined(o fyne.CanvasObject) fyne.CanvasObject {
	return container.NewStack(newGround(theme.ColorNameSeparator), inset(panel(o, theme.ColorNameOverlayBackground), 1, 1, 1, 1))
}

// recoveryBanner offers unsaved work of an earlier time.
func (d *Desktop) recoveryBanner() fyne.CanvasObject {
	pic := canvas.NewImageFromResource(d.icon("check-warn", inkTone(toneWarn)))
	pic.FillMode = canvas.ImageFillContain
	var names []string
	for _, p := range d.memory.Unsaved {
		names = append(names, filepath.Base(p))
	}
	n := int64(len(names))
	title := d.bold(presenter.Plural(n, "file")+" with unsaved changes from the last time:", textSize)
	label := "Recover"
	if n > 1 {
		label = "Recover all"
	}
	recover := button(label, true, func() {
		for _, p := range slices.Clone(d.memory.Unsaved) {
			d.open(p)
		}
	})
	discard := button("Discard", false, func() {
		d.ask("Discard the unsaved changes?", "The unsaved changes of "+strings.Join(names, ", ")+" are deleted. The files themselves stay as they are.",
			answer{"Cancel", true, nil}, answer{"Discard", false, func() {
				for _, p := range slices.Clone(d.memory.Unsaved) {
					d.dropAutosave(p)
				}
				d.event("recovery discarded")
				d.showWelcome()
			}})
	})
	row := container.NewBorder(nil, nil, container.NewHBox(container.NewCenter(sized(pic, 18, 18)), inset(wide(title), 0, 0, 0, 8)), container.NewHBox(discard, recover), inset(d.text(strings.Join(names, ", ")), 0, 8, 0, 6))
	return container.NewStack(newFill(d, inkTone(toneWarn)), inset(container.NewStack(newFill(d, inkOfGround(toneWarn)), inset(row, 4, 8, 4, 12)), 1, 1, 1, 1))
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
