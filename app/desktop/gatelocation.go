//go:build !headless

package desktop

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/gate"
	"sluice/storage/snapshot"
)

// location is where the rows go, with a choice of folders and remotes, and a test.
func (g *gateDialog) location() fyne.CanvasObject {
	d := g.e.d
	f := d.field(g.m.Settings[gate.KeyLocation], "${"+gate.VariableSnapshots+"}, else this machine", func(s string) { g.set(gate.KeyLocation, s) })
	f.variables = g.e.variables()
	var browse, test *widget.Button
	browse = button("Browse…", false, func() { g.browse(browse, f) })
	test = button("Test", false, func() { g.test(f.Text) })
	return g.labelled(gate.KeyLocation, "Location", "A folder, remote:path, or a URI such as s3://bucket/path",
		container.NewBorder(nil, nil, nil, container.NewHBox(browse, test), f))
}

// browse offers the configured remotes and a folder.
func (g *gateDialog) browse(below fyne.CanvasObject, f *field) {
	d := g.e.d
	open := d.workspace(g.e.file.Path(), g.e.home)
	background(d, func() ([]string, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		return presenter.Remotes(context.Background(), ws)
	}, func(remotes []string, err error) {
		items := []*fyne.MenuItem{fyne.NewMenuItem("Folder on this machine…", func() {
			d.choose(chooserOptions{title: "Folder for snapshots", ok: "Choose", folder: g.e.home, folders: true, save: true, show: func(string) bool { return false }},
				func(path string) { f.SetText(presenter.PortablePath(g.e.home, path)) })
		})}
		if err != nil {
			message, _ := explain(err)
			g.say("Remotes cannot be listed: "+message, inkTone(toneError))
		}
		if len(remotes) > 0 {
			items = append(items, fyne.NewMenuItemSeparator())
		}
		for _, r := range remotes {
			items = append(items, fyne.NewMenuItem(r, func() { f.SetText(r) }))
		}
		at := d.app.Driver().AbsolutePositionForObject(below)
		widget.NewPopUpMenu(fyne.NewMenu("", items...), d.win.Canvas()).ShowAtPosition(at.AddXY(0, below.Size().Height))
	})
}

// test tries the location and says how it went below it.
func (g *gateDialog) test(text string) {
	d := g.e.d
	g.say("Testing …", inkSoft)
	open := d.workspace(g.e.file.Path(), g.e.home)
	background(d, func() (string, error) {
		ws, err := open(nil, "")
		if err != nil {
			return "", err
		}
		return presenter.TestLocation(context.Background(), ws, text)
	}, func(said string, err error) {
		if err != nil {
			message, hint := explain(err)
			if hint == "" {
				hint = snapshot.Hint(err)
			}
			if hint != "" {
				message += " (" + hint + ")"
			}
			g.say(message, inkTone(toneError))
			return
		}
		g.say(said, inkTone(toneOK))
		d.event("location tested")
	})
}

// say puts what a test or a list said below the location.
func (g *gateDialog) say(text string, c ink) {
	hint := g.hints[gate.KeyLocation]
	hint.Set(text, c)
	setVisible(hint, text != "")
}
