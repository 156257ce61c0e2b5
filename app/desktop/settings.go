//go:build !headless

package desktop

import (
	"fmt"
	"os"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/gate"
)

// envScale is Fyne's variable for the size of everything in a window.
const envScale = "FYNE_SCALE"

// setScale gives the window the size that was chosen, before there is one. A scale in
// the environment wins.
func setScale(memory string) error {
	if os.Getenv(envScale) != "" {
		return nil
	}
	if memory == "" {
		var err error
		if memory, err = presenter.MemoryPath(); err != nil {
			return err
		}
	}
	if m := presenter.LoadMemory(memory); m.Scale > 0 {
		return os.Setenv(envScale, fmt.Sprintf("%.2f", float64(m.Scale)/100))
	}
	return nil
}

// applyScale gives everything in the window the size that was chosen, at once; the
// window itself stays as large on the screen. It does nothing where the environment
// sets the scale.
func (d *Desktop) applyScale() error {
	if d.scaleGiven {
		return nil
	}
	err := os.Unsetenv(envScale)
	if d.memory.Scale > 0 {
		err = os.Setenv(envScale, fmt.Sprintf("%.2f", float64(d.memory.Scale)/100))
	}
	if err != nil {
		return err
	}
	size, before := d.win.Canvas().Size(), d.win.Canvas().Scale()
	d.app.Settings().SetTheme(d.look) // the toolkit reads the scale again
	if now := d.win.Canvas().Scale(); now != before && now > 0 {
		d.win.Resize(fyne.NewSize(size.Width*before/now, size.Height*before/now))
	}
	d.event("scale %d", d.memory.Scale)
	return nil
}

// wantsDark tells how the window is to look, by its setting and the system.
func (d *Desktop) wantsDark() bool {
	switch d.memory.Look {
	case presenter.LookLight:
		return false
	case presenter.LookDark:
		return true
	}
	return d.app.Settings().ThemeVariant() == theme.VariantDark
}

// notifyWords are the choices of when the system tells of the end of a run.
var notifyWords = []struct {
	when presenter.Notify
	word string
}{{presenter.NotifyAway, "While I look elsewhere"}, {presenter.NotifyAlways, "Always"}, {presenter.NotifyNever, "Never"}}

const systemScale = "As the system"

// showSettings shows what can be set of the window. Each setting counts at once, and
// is kept.
func (d *Desktop) showSettings() {
	row := func(label, help string, control fyne.CanvasObject) fyne.CanvasObject {
		line := container.NewBorder(nil, nil, sized(d.text(label), 200, 0), nil, control)
		if help == "" {
			return line
		}
		return container.NewVBox(line, inset(d.caption(help), 0, 0, 4, 204))
	}
	section := func(title string) fyne.CanvasObject { return inset(d.bold(title, textSize), 10, 0, 2, 0) }
	choice := func(options []string, now string, set func(string)) fyne.CanvasObject {
		s := widget.NewSelect(options, nil)
		s.Selected = now
		s.OnChanged = func(text string) {
			set(text)
			d.remember()
			d.event("setting %s", text)
		}
		return container.NewStack(s, newBorder())
	}
	sizes, size := []string{systemScale}, systemScale
	for _, n := range presenter.Scales() {
		sizes = append(sizes, fmt.Sprintf("%d %%", n))
		if n == d.memory.Scale {
			size = fmt.Sprintf("%d %%", n)
		}
	}
	var whens []string
	when := ""
	for _, n := range notifyWords {
		whens = append(whens, n.word)
		if n.when == d.memory.Notify {
			when = n.word
		}
	}
	miniMap := widget.NewCheck("Show where the view is, at the bottom right of the canvas", func(bool) {})
	miniMap.Checked = d.memory.MiniMap
	miniMap.OnChanged = func(on bool) {
		if on != d.memory.MiniMap {
			d.setMiniMap(on)
		}
	}
	body := container.NewVBox(
		section("Appearance"),
		row("Theme", "", choice(presenter.Looks(), d.memory.Look.String(), func(s string) { d.setLook(presenter.ParseLook(s)) })),
		row("Size of everything", envScale+" in the environment wins.", choice(sizes, size, func(s string) {
			d.memory.Scale = 0
			if i := slices.Index(sizes, s); i > 0 {
				d.memory.Scale = presenter.Scales()[i-1]
			}
			if err := d.applyScale(); err != nil {
				d.fail("Change the size of everything", err)
			}
		})),
		d.fontRows(row),
		row("Mini-map", "", miniMap),
		section("Runs"),
		row("Log level", "Of the next run; its dialog asks again.", choice(logLevels, d.memory.LogLevel, func(s string) { d.memory.LogLevel = s })),
		row("Tell when a run ends", "", choice(whens, when, func(s string) {
			for _, n := range notifyWords {
				if n.word == s {
					d.memory.Notify = n.when
				}
			}
		})),
		section("Folders"), d.folderRows(row),
		section("More"),
		container.NewHBox(button("Keys…", false, func() { d.showKeys() }), button("Remove old records…", false, d.askRetention), button("Disk use…", false, d.showDisk)),
	)
	var dl *dialog
	dl = d.dialog("Settings", "", container.NewVScroll(inset(body, 0, 14, 0, 0)), fyne.NewSize(720, 740), nil, button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}

// folderRows tell where things are kept, and what sets that.
func (d *Desktop) folderRows(row func(label, help string, control fyne.CanvasObject) fyne.CanvasObject) fyne.CanvasObject {
	f, err := workspace.UserFolders()
	if err != nil {
		return d.words(err.Error(), textSize, inkTone(toneError))
	}
	snapshots := os.Getenv(gate.VariableSnapshots)
	if snapshots == "" {
		snapshots = f.Snapshots()
	}
	return container.NewVBox(
		row("Records and keys", "Set by "+workspace.EnvData, d.soft(shorten(f.Data))),
		row("Caches", "Set by "+workspace.EnvCache, d.soft(shorten(f.Cache))),
		row("Snapshots", "Of gates without a location; set by "+gate.VariableSnapshots, d.soft(shorten(snapshots))))
}
