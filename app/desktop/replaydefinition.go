//go:build !headless

package desktop

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/replay"
)

// definitionPage chooses between the files as they are and as they ran, and shows
// what is different.
type definitionPage struct {
	x   *replayDialog
	box *fyne.Container
}

func newDefinitionPage(x *replayDialog) *definitionPage {
	return &definitionPage{x: x, box: container.New(layout.NewCustomPaddedVBoxLayout(4))}
}

// The choices, and how many changes are listed.
const (
	filesNow     = "The files as they are now"
	filesThen    = "The files as they ran"
	mostChanges  = 100
	noDifference = "Nothing behind the start point has changed since the run."
)

func (c *definitionPage) show() {
	d, p := c.x.d, c.x.view.Plan
	which := widget.NewRadioGroup([]string{filesNow, filesThen}, nil)
	which.Selected = map[bool]string{true: filesThen, false: filesNow}[p.Definition == replay.Original]
	which.Required = true
	which.OnChanged = func(s string) { c.x.choices.Original = s == filesThen; c.x.check() }
	c.box.Objects = []fyne.CanvasObject{d.bold("What the replay runs", textSize), which}
	title := "Definition"
	if n := len(p.Changes); n > 0 {
		title += "  " + presenter.Plural(int64(n), "change")
		c.box.Add(d.bold("What is different from the run", textSize))
	} else {
		c.box.Add(d.soft(noDifference))
	}
	c.x.pages.buttons[1].SetCaption(title)
	c.x.pages.head.Refresh()
	for i, change := range p.Changes {
		if i == mostChanges {
			c.box.Add(d.soft(fmt.Sprintf("%d more changes", len(p.Changes)-i)))
			break
		}
		place := change.Node
		if change.Setting != "" {
			place += " › " + change.Setting
		}
		c.box.Add(container.New(layout.NewCustomPaddedVBoxLayout(0), widget.NewSeparator(), inset(d.text(place), 4, 0, 0, 0), d.thenNow(change.Then, change.Now)))
	}
	c.box.Refresh()
}

// command shows the line that does the same.
func (x *replayDialog) command() {
	if x.view == nil {
		return
	}
	d, line := x.d, presenter.ReplayCommand(x.view.Plan, x.choices)
	entry := widget.NewMultiLineEntry()
	entry.SetText(line)
	entry.Wrapping = fyne.TextWrapBreak
	entry.TextStyle.Monospace = true
	entry.OnChanged = func(string) { entry.SetText(line) } // to be read and copied
	var dl *dialog
	take := button("Copy", true, func() {
		d.app.Clipboard().SetContent(line)
		dl.close()
		x.note.Set("The command is on the clipboard.", nil)
	})
	take.Icon = d.icon("copy", inkOnPrimary)
	body := container.NewBorder(d.caption("It asks the same checks, and refuses when anything has changed since."), nil, nil, nil, entry)
	dl = d.dialog("The same replay as a command", "", body, fyne.NewSize(640, 240), nil, button("Close", false, func() { dl.close() }), take)
	d.event("command %s", line)
}
