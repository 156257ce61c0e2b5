//go:build !headless

package desktop

import (
	"fmt"
	"maps"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// gateDialog edits the settings of a gate.
type gateDialog struct {
	e      *editor
	m      *presenter.GateForm
	hints  map[string]*words // by key of the setting
	helps  map[string]string // what a hint says while nothing is wrong
	fields *gateFields
	status *words
	ok     *widget.Button
	dl     *dialog
}

// editGate opens the settings of the selected node's gate, and marks it when it is
// none yet.
func (e *editor) editGate() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	m, err := e.file.GateForm(name)
	if err != nil {
		e.d.fail("Gate of "+name, err)
		return
	}
	g := &gateDialog{e: e, m: m, hints: map[string]*words{}, helps: map[string]string{}}
	g.open()
}

func (g *gateDialog) open() {
	d, m := g.e.d, g.m
	id := "Marks this " + g.e.file.Noun() + " as a replay gate"
	if m.ID != "" {
		id = "Gate id " + m.ID
	}
	g.status = d.caption(id)
	left := inset(container.New(layout.NewCustomPaddedVBoxLayout(8), g.left()...), 4, 20, 8, 0)
	right := inset(container.New(layout.NewCustomPaddedVBoxLayout(8), g.right()...), 4, 8, 8, 20)
	body := container.New(&sideBySide{488}, container.NewVScroll(left), widget.NewSeparator(), container.NewVScroll(right))
	accept := func() {
		if len(m.Problems()) > 0 {
			return
		}
		g.dl.close()
		if g.e.try("Change the gate", m.Apply()) {
			d.event("gate set %s", m.Node)
		}
	}
	g.ok = button("OK", true, accept)
	buttons := []fyne.CanvasObject{button("Cancel", false, func() { g.dl.close() }), g.ok}
	var status fyne.CanvasObject = g.status
	if m.ID != "" {
		remove := d.flat("delete", "Remove gate mark", "", func() { g.dl.close(); g.e.removeGate() })
		status = container.NewBorder(nil, nil, remove, nil, inset(g.status, 0, 0, 0, 8))
	}
	g.dl = d.dialog("Replay gate at "+m.Node, "Seals every row that leaves this "+g.e.file.Noun()+", all hops together. All settings accept variables.", body, fyne.NewSize(1056, 732), status, buttons...)
	g.dl.onEnter = accept
	g.check()
}

// left are where and how rows are kept.
func (g *gateDialog) left() []fyne.CanvasObject {
	d := g.e.d
	section := func(title string) fyne.CanvasObject { return inset(d.bold(title, textSize), 6, 0, 0, 0) }
	two := func(a, b fyne.CanvasObject) fyne.CanvasObject { return container.New(&pair{}, a, b) }
	list := []fyne.CanvasObject{
		section("Where the rows are kept"), g.location(),
		two(g.choose(gate.KeyCompression, "Compression", []transformChoice{{"snappy", "Snappy (fast)"}, {"zstd", "ZSTD (small)"}, {"none", "none"}}),
			g.field(gate.KeyLimitBytes, "Stop spooling after", "no limit", "Size of the snapshot, such as 50GiB")),
		section("Release"), g.release(),
	}
	if !g.e.file.IsPipeline() {
		list = list[:3] // an action's result is sealed when it has ended
	}
	return append(list,
		section("Replay policy"), g.policy(),
		section("Retention"),
		two(g.field(gate.KeyKeepExecutions, "Keep the last sealed", "5", ""), g.field(gate.KeyKeepAge, "and for", "14d", "")),
		d.caption("Pinned snapshots, and those a failed run still needs, are never removed."),
		g.advanced(
			two(g.field(gate.KeyMinFree, "Free space to leave", "256MiB", ""), g.field(gate.KeyLimitRows, "Stop after rows", "no limit", "")),
			two(g.choose(gate.KeyOnFailure, "When something else fails", []transformChoice{{"seal", "go on and seal"}, {"stop", "stop the extraction"}}),
				g.choose(gate.KeyCompatible, "Parquet for old readers", []transformChoice{{"no", "no"}, {"yes", "yes"}})),
			two(g.field(gate.KeyMaxAge, "Rows count as current for", "no limit", "An older snapshot is not replayed, such as 36h"), layout.NewSpacer())))
}

// advanced is a section that is closed while nothing in it is set.
func (g *gateDialog) advanced(list ...fyne.CanvasObject) fyne.CanvasObject {
	d := g.e.d
	section := container.New(layout.NewCustomPaddedVBoxLayout(8), list...)
	set := 0
	for _, k := range []string{gate.KeyMinFree, gate.KeyLimitRows, gate.KeyOnFailure, gate.KeyCompatible, gate.KeyMaxAge} {
		if g.m.Settings[k] != "" {
			set++
		}
	}
	toggle := d.flat("chevron-right", "Advanced (5)", "", nil)
	toggle.left = true
	box := container.NewVBox(container.NewBorder(nil, nil, toggle, nil), section)
	show := func(on bool) {
		toggle.icon = map[bool]string{true: "chevron-down", false: "chevron-right"}[on]
		setVisible(section, on)
		toggle.Refresh()
		box.Refresh()
	}
	toggle.onTap = func() { show(!section.Visible()) }
	show(set > 0)
	return box
}

// right are the contract, what the gate cuts, and its snapshots.
func (g *gateDialog) right() []fyne.CanvasObject {
	d, m := g.e.d, g.m
	section := func(title string) fyne.CanvasObject { return inset(d.bold(title, textSize), 6, 0, 0, 0) }
	list := []fyne.CanvasObject{
		section("Contract: seal only when all of this holds"),
		container.New(&pair{}, g.field(gate.KeyMinRows, "Rows, at least", "0", ""), g.field(gate.KeyMaxRows, "Rows, at most", "no limit", "")),
	}
	if m.Plain {
		list = append(list, g.field(gate.KeyRequire, "Required fields", "", "NAME or NAME:TYPE, with commas"), g.field(gate.KeyNotNull, "Not null", "", "Fields, with commas"),
			g.field(gate.KeyUnique, "Key", "", "Fields that together identify a row"))
	} else {
		g.fields = newGateFields(g)
		list = append(list, g.fields.all)
	}
	list = append(list, section("Cuts these hops"))
	for _, c := range m.Cuts {
		pic := canvas.NewImageFromResource(d.icon("arrow-right", inkSoft))
		pic.FillMode = canvas.ImageFillContain
		list = append(list, container.NewBorder(nil, nil, sized(pic, 16, 20), sized(d.caption(c.Output), 120, 0), inset(d.text(c.To), 0, 0, 0, 6)))
	}
	if len(m.Cuts) == 0 {
		list = append(list, d.caption("None yet: nothing is connected behind it."))
	}
	return append(list, section("Snapshots of this gate"), g.snapshots())
}

// labelled is a caption, a control and a hint below it.
func (g *gateDialog) labelled(key, label, help string, control fyne.CanvasObject) fyne.CanvasObject {
	d := g.e.d
	box := container.New(layout.NewCustomPaddedVBoxLayout(2), d.caption(label), control)
	hint := d.caption(help)
	g.hints[key], g.helps[key] = hint, help
	box.Add(hint)
	setVisible(hint, help != "")
	return box
}

func (g *gateDialog) set(key, value string) {
	g.m.Settings[key] = value
	g.check()
}

func (g *gateDialog) field(key, label, placeholder, help string) fyne.CanvasObject {
	f := g.e.d.field(g.m.Settings[key], placeholder, func(s string) { g.set(key, s) })
	f.variables = g.e.variables()
	return g.labelled(key, label, help, f)
}

// transformChoice is a value of a setting and what a person reads.
type transformChoice struct{ code, label string }

// choose is a control of a few values; a variable may be typed instead.
func (g *gateDialog) choose(key, label string, choices []transformChoice) fyne.CanvasObject {
	var labels []string
	shown := g.m.Settings[key]
	for _, c := range choices {
		labels = append(labels, c.label)
		if c.code == shown || shown == "" {
			shown = c.label
		}
	}
	c := g.e.d.choice(shown, labels, nil)
	c.OnChanged = func(s string) {
		for i, x := range choices {
			if x.label == s {
				if s = x.code; i == 0 && g.m.Settings[key] == "" {
					s = "" // the default stays unsaid
				}
			}
		}
		g.set(key, s)
	}
	return g.labelled(key, label, "", c)
}

// release says when rows reach what is downstream.
func (g *gateDialog) release() fyne.CanvasObject {
	d := g.e.d
	const sealed, streaming = "Sealed", "Streaming"
	value := g.m.Settings[gate.KeyRelease]
	if value != "" && value != string(gate.ReleaseSealed) && value != string(gate.ReleaseStreaming) {
		return g.field(gate.KeyRelease, "Release", "", "sealed or streaming")
	}
	help := d.caption("")
	explainRelease := func(s string) {
		help.Set(map[string]string{
			sealed:    "Downstream waits for the seal: a broken extract reaches no target.",
			streaming: "Faster, but a broken extract may have been written downstream.",
		}[s], nil)
	}
	r := widget.NewRadioGroup([]string{sealed, streaming}, nil)
	r.Horizontal, r.Required = true, true
	r.Selected = sealed
	if value == string(gate.ReleaseStreaming) {
		r.Selected = streaming
	}
	explainRelease(r.Selected)
	r.OnChanged = func(s string) {
		explainRelease(s)
		g.set(gate.KeyRelease, map[string]string{sealed: string(gate.ReleaseSealed), streaming: string(gate.ReleaseStreaming)}[s])
	}
	return container.New(layout.NewCustomPaddedVBoxLayout(2), r, help)
}

// policy says who may replay, and the age.
func (g *gateDialog) policy() fyne.CanvasObject {
	m := g.m
	choices := []transformChoice{
		{string(gate.PolicyAllow), "allowed"}, {string(gate.PolicyYounger), "allowed if younger than"}, {string(gate.PolicyAsk), "allowed after a question"}, {string(gate.PolicyNever), "never allowed"},
	}
	var labels []string
	shown := m.Policy
	for _, c := range choices {
		labels = append(labels, c.label)
		if c.code == m.Policy {
			shown = c.label
		}
	}
	age := g.e.d.field(m.Age, "24h", func(s string) { m.Age = s; g.check() })
	enable := func() {
		if m.Policy == string(gate.PolicyYounger) {
			age.Enable()
		} else {
			age.Disable()
		}
	}
	c := g.e.d.choice(shown, labels, nil)
	c.OnChanged = func(s string) {
		m.Policy = s
		for _, x := range choices {
			if x.label == s {
				m.Policy = x.code
			}
		}
		enable()
		g.check()
	}
	enable()
	ageBox := container.New(layout.NewCustomPaddedVBoxLayout(2), g.e.d.caption("Age"), age)
	return container.New(&pair{}, g.labelled(gate.KeyPolicy, "Replays of this snapshot are", "", c), ageBox)
}

// snapshots are the newest ones of the gate.
func (g *gateDialog) snapshots() fyne.CanvasObject {
	d := g.e.d
	v, ok := g.e.file.Gates().Gate(g.m.Node)
	if !ok || v.State == "" || v.Err != nil {
		return d.caption("None yet: the next run seals the first one.")
	}
	rows := container.New(layout.NewCustomPaddedVBoxLayout(0))
	box := container.NewVBox(d.outlined(rows))
	g.e.loadSnapshots(v, func(list []snapshot.Summary) {
		for i, s := range list {
			if i == newestShown {
				break
			}
			rows.Add(g.snapshotLine(s, i > 0))
		}
		if len(list) > newestShown {
			all := d.flat("", "Show all "+presenter.Grouped(int64(len(list))), "", func() { g.dl.close(); g.e.showSnapshots(v, list) })
			all.inkOf, all.bold = inkPrimary, true
			box.Add(container.NewBorder(nil, nil, nil, all))
		}
		box.Refresh()
	})
	return box
}

// newestShown is how many snapshots the settings show.
const newestShown = 3

func (g *gateDialog) snapshotLine(s snapshot.Summary, line bool) fyne.CanvasObject {
	d := g.e.d
	pic := canvas.NewImageFromResource(d.icon(snapshotIcon(s.State), inkTone(snapshotTone(s.State))))
	pic.FillMode = canvas.ImageFillContain
	text := workspace.FormatBytes(s.Stored)
	if s.State == storage.SnapshotSealed {
		text = presenter.Plural(s.Rows, "row") + " · " + text
	}
	row := container.New(&shares{[]float32{0, 0.32, 0.38, 0.3}, 28},
		container.NewCenter(sized(pic, 16, 16)), d.text(presenter.When(s.Begun, d.now())), d.soft(text), d.caption(snapshotNote(s)))
	if line {
		return container.NewVBox(widget.NewSeparator(), row)
	}
	return row
}

// check shows what is wrong with the settings.
func (g *gateDialog) check() {
	problems := g.m.Problems()
	for key, hint := range g.hints {
		text, bad := problems[key]
		switch {
		case bad:
			hint.Set(text, inkTone(toneError))
		case hint.full != g.helps[key] && key != gate.KeyLocation:
			hint.Set(g.helps[key], inkSoft)
		}
		setVisible(hint, hint.full != "")
	}
	if g.ok != nil {
		setEnabled(g.ok, len(problems) == 0)
	}
	if g.status == nil || len(problems) == 0 {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(problems)) {
		if g.hints[k] == nil { // of the table of fields
			g.status.Set(fmt.Sprintf("%s: %s", k, problems[k]), inkTone(toneError))
		}
	}
}
