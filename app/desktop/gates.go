//go:build !headless

package desktop

import (
	"maps"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/gate"
)

// gateTitles are the settings as a person reads them, in the order of the dialog.
var gateTitles = map[string]string{
	gate.KeyLocation: "Location", gate.KeyRelease: "Release", gate.KeyCompression: "Compression", gate.KeyCompatible: "For old readers",
	gate.KeyMinRows: "Least rows", gate.KeyMaxRows: "Most rows", gate.KeyRequire: "Required fields", gate.KeyNotNull: "Not null", gate.KeyUnique: "Unique key",
	gate.KeyMaxAge: "Oldest to replay", gate.KeyPolicy: "Replay policy", gate.KeyLimitRows: "Row limit", gate.KeyLimitBytes: "Size limit",
	gate.KeyMinFree: "Free space to leave", gate.KeyKeepExecutions: "Executions to keep", gate.KeyKeepAge: "Age to keep", gate.KeyOnFailure: "On failure elsewhere",
}

// gateChoices are the settings with a few values.
var gateChoices = map[string][]string{
	gate.KeyRelease: {"sealed", "streaming"}, gate.KeyCompression: {"snappy", "zstd", "none"}, gate.KeyCompatible: {"no", "yes"},
	gate.KeyPolicy: {"allow", "ask", "never", "younger-than 24h"}, gate.KeyOnFailure: {"seal", "stop"},
}

// gateNode is the node whose gate is meant: the one that is selected.
func (e *editor) gateNode() (string, bool) {
	nodes := e.selected(scene.KindNode)
	if len(nodes) != 1 {
		e.d.frame.note("Select the one transform or action whose output is to be sealed")
		return "", false
	}
	n, ok := e.file.Node(presenter.ElementID(nodes[0]))
	return n.Name, ok
}

// toggleGate marks the selected node as a replay gate, or takes the gate away.
func (e *editor) toggleGate() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	g, err := e.file.GateOf(name)
	if err != nil {
		e.d.fail("Gate of "+name, err)
		return
	}
	if g != nil {
		if e.try("Remove the gate", e.file.UnmarkGate(name)) {
			e.d.frame.note(name + " is no replay gate any more")
			e.d.event("gate removed %s", name)
		}
		return
	}
	if e.try("Mark as replay gate", e.file.MarkGate(name, nil)) {
		e.d.frame.note(name + " is a replay gate: its rows are sealed before anything behind it runs")
		e.d.event("gate marked %s", name)
	}
}

// editGate asks for the settings of the selected node's gate, and marks it when it
// is none yet.
func (e *editor) editGate() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	g, err := e.file.GateOf(name)
	if err != nil {
		e.d.fail("Gate of "+name, err)
		return
	}
	settings := map[string]string{}
	if g != nil {
		maps.Copy(settings, g.Settings)
		delete(settings, gate.KeyID)
	}
	d := e.d
	problem := d.words("", captionSize, inkTone(toneError))
	apply := button("Apply", true, nil)
	check := func() {
		text := presenter.CheckGate(name, settings)
		problem.Set(text, nil)
		setEnabled(apply, text == "")
	}
	rows := container.NewVBox()
	for _, k := range gate.Keys() {
		changed := func(s string) { settings[k.Key] = s; check() }
		placeholder := k.Default
		if placeholder == "" {
			placeholder = "not set"
		}
		var input fyne.CanvasObject
		if options := gateChoices[k.Key]; options != nil {
			c := d.choice(settings[k.Key], options, changed)
			c.SetPlaceHolder(placeholder)
			input = c
		} else {
			input = d.field(settings[k.Key], placeholder, changed)
		}
		rows.Add(container.NewVBox(container.NewBorder(nil, nil, sized(d.text(gateTitles[k.Key]), 170, 0), nil, input), inset(d.caption(capital(k.Help)), 0, 0, 6, 178)))
	}
	var dl *dialog
	apply.OnTapped = func() {
		dl.close()
		if e.try("Change the gate", e.file.MarkGate(name, settings)) {
			d.event("gate set %s", name)
		}
	}
	subtitle := "Its rows are spooled, hashed and sealed; a failed run goes on from them. All settings accept variables."
	dl = d.dialog("Replay gate at "+name, subtitle, container.NewVScroll(rows), fyne.NewSize(760, 640), problem,
		button("Cancel", false, func() { dl.close() }), apply)
	dl.onEnter = apply.OnTapped
	check()
}
