//go:build !headless

package desktop

import (
	"fmt"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// toolBox is the tool bar of an editor.
type toolBox struct {
	tools  map[presenter.ActionID]*flat
	zoom   *flat
	state  *chip
	config *flat // the run configuration, or when the run started
	bar    *fyne.Container
	wide   []fyne.CanvasObject // of the bar, that a small window has in menus only
}

// toolGroups are the actions of the tool bar.
var toolGroups = [][]presenter.ActionID{
	{"run", "pause", "stop", "preview"}, {"undo", "redo"}, {"gate", "check", "add-note"}, {"align-left", "layout"}, {"zoom-out", "zoom-100", "zoom-in", "fit", "minimap"},
}

// toolBar makes the tool bar of the action table.
func (e *editor) toolBar() fyne.CanvasObject {
	e.tools = map[presenter.ActionID]*flat{}
	row := container.New(layout.NewCustomPaddedHBoxLayout(2))
	for _, group := range toolGroups {
		if len(row.Objects) > 0 {
			row.Add(separator())
		}
		if group[0] == "align-left" {
			e.wide = append(e.wide, row.Objects[len(row.Objects)-1])
		}
		for _, id := range group {
			t := e.toolOf(id)
			e.tools[id] = t
			row.Add(t)
			if id == "align-left" || id == "layout" || id == "minimap" {
				e.wide = append(e.wide, t)
			}
		}
	}
	e.zoom = e.tools["zoom-100"]
	e.state, e.config = newChip(e.d), e.d.flat("", "", "Run configuration of the next run (F8 asks)", func() { e.d.do("run") })
	e.config.inkOf, e.config.textSize = inkSoft, captionSize
	right := container.NewHBox(e.config, container.NewCenter(e.state))
	e.bar = container.NewBorder(nil, nil, row, right)
	return panel(container.New(&topped{}, inset(e.bar, 4, 12, 4, 8), widget.NewSeparator()), theme.ColorNameBackground)
}

// setSmall leaves out of the tool bar what a small window has no room for.
func (e *editor) setSmall(small bool) {
	for _, o := range e.wide {
		if small {
			o.Hide()
		} else {
			o.Show()
		}
	}
	e.metrics.fit()
	e.problems.fit()
	e.graph.SetGesture(e.gestures())
}

// toolOf makes the button of an action: the main one has a word, the zoom its number.
func (e *editor) toolOf(id presenter.ActionID) *flat {
	a, _ := e.d.keys.Action(id)
	tip := a.Title
	if len(a.Keys) > 0 {
		tip += "   " + a.Keys[0]
	}
	do := func() { e.d.do(id) }
	switch id {
	case "run":
		t := e.d.flat(a.Icon, "Run", tip, do)
		t.size, t.primary = fyne.NewSize(76, 32), true
		return t
	case "zoom-100":
		t := e.d.flat("", "100 %", tip, do)
		t.size = fyne.NewSize(56, 32)
		return t
	}
	return e.d.tool(a.Icon, tip, do)
}

// zoomed shows the zoom of the canvas.
func (e *editor) zoomed(zoom float64) {
	e.zoom.SetCaption(fmt.Sprintf("%.0f %%", math.Round(100*zoom)))
}

// updateTools greys out what cannot be done now.
func (e *editor) updateTools() {
	run := e.runView()
	active := run != nil && run.State.Active()
	set := func(id presenter.ActionID, off bool) { e.tools[id].SetDisabled(off) }
	set("run", active)
	set("preview", active || !e.file.IsPipeline())
	set("pause", !active || !e.file.IsPipeline())
	set("stop", !active)
	set("undo", e.file.CanUndo() == "")
	set("redo", e.file.CanRedo() == "")
	set("gate", len(e.selection()) != 1 || e.file.ReadOnly())
	set("add-note", e.file.ReadOnly())
	set("align-left", len(e.selection()) < 2 || e.file.ReadOnly())
	e.tools["minimap"].SetSelected(e.d.memory.MiniMap && !e.d.frame.small)
	if label := e.file.CanUndo(); label != "" {
		e.tools["undo"].tip = "Undo " + label + "   Ctrl+Z"
	}
	if label := e.file.CanRedo(); label != "" {
		e.tools["redo"].tip = "Redo " + label + "   Ctrl+Shift+Z"
	}
	switch name := e.options.Configuration; {
	case active:
		e.config.SetCaption("Started " + run.Started.Local().Format("15:04:05") + e.named(" · "))
	case name != "":
		e.config.SetCaption(name)
	default:
		e.config.SetCaption("")
	}
}

// tellState shows where the run stands, at the right of the tool bar.
func (e *editor) tellState(v *presenter.RunView) {
	before := e.state.MinSize().Width
	word := v.State.String() + " · " + presenter.Elapsed(v.Now.Sub(v.Started))
	e.state.set(v.State.Look(), word)
	if e.shown != v.State {
		e.shown = v.State
		e.updateTools()
		e.bar.Refresh()
	} else if e.state.MinSize().Width != before {
		e.bar.Refresh()
	}
}

// named is the chosen run configuration behind a separator, "" for the default.
func (e *editor) named(separator string) string {
	if e.options.Configuration == "" {
		return ""
	}
	return separator + e.options.Configuration
}

// bottomPanel are the pages below the canvas, with what closes them.
func (e *editor) bottomPanel() fyne.CanvasObject {
	e.fold = e.d.small("chevron-down", "Close the panel", func() { e.setBottom(e.open != 0) })
	e.fold.size = fyne.NewSize(32, 30)
	head := container.NewBorder(nil, nil, e.bottom.head, e.fold)
	return container.New(&topped{}, panel(container.New(&topped{}, head, widget.NewSeparator()), theme.ColorNameHeaderBackground),
		panel(e.bottom.stack, theme.ColorNameOverlayBackground))
}

// setBottom opens or closes the panels below the canvas.
func (e *editor) setBottom(on bool) {
	switch {
	case on && e.open != 0:
		e.bottom.stack.Show()
		e.split.SetOffset(e.open)
		e.open = 0
		e.fold.icon, e.fold.tip = "chevron-down", "Close the panel"
	case !on && e.open == 0:
		e.open = e.split.Offset
		e.bottom.stack.Hide()
		e.split.SetOffset(1)
		e.fold.icon, e.fold.tip = "chevron-up", "Open the panel"
	default:
		return
	}
	e.fold.Refresh()
}

// bottomShare is the canvas's share of the height while the panels are open.
func (e *editor) bottomShare() float64 {
	if e.open != 0 {
		return e.open
	}
	return e.split.Offset
}
