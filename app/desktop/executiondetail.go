//go:build !headless

package desktop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	sluicecanvas "sluice/canvas"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
	"sluice/engine/replay"
	"sluice/storage"
)

// executionDetail shows one execution: what it is, how it stands, its tree, the
// graph as it ran, and tabs of facts.
type executionDetail struct {
	d     *Desktop
	list  *executions
	shown *presenter.ExecutionDetail
	asked int

	state   *chip
	head    *fyne.Container
	title   *words
	about   *words
	replay  *widget.Button
	open    *widget.Button
	banner  *fyne.Container
	cause   *words
	tree    *widget.List
	indent  []int
	heads   []storage.ExecutionHead
	graph   *sluicecanvas.Graph
	note    *words
	tabs    *switcher
	info    *grid
	facts   [][2]string
	metrics *grid
	log     *grid
	vars    *grid
	snaps   *grid
	lineage *grid
	body    fyne.CanvasObject
	nothing fyne.CanvasObject
	all     fyne.CanvasObject
}

func newExecutionDetail(x *executions) *executionDetail {
	d := x.d
	t := &executionDetail{d: d, list: x, state: newChip(d), title: d.bold("", 16), about: d.caption(""), cause: d.words("", textSize, inkTone(toneError)), note: d.caption("")}
	t.replay = button("Replay…", true, func() { d.askReplay(t.shown, replay.FirstFailed) })
	t.open = button("Open definition", false, func() { d.openDefinition(t.shown.File) })
	remove := d.tool("delete", "Delete this record", t.askDelete)
	t.head = container.NewBorder(nil, nil, container.NewCenter(t.state), container.NewHBox(t.replay, t.open, remove), inset(container.NewVBox(t.title, t.about), 0, 12, 0, 12))
	head := panel(inset(t.head, 6, 12, 6, 16), theme.ColorNameOverlayBackground)
	toLog := button("Show in log", false, func() { t.tabs.choose(2) })
	t.banner = container.NewStack(newGround(theme.ColorNameError), panel(inset(container.NewBorder(nil, nil, nil, toLog, t.cause), 2, 12, 2, 16), theme.ColorNameOverlayBackground))
	t.tree = widget.NewList(func() int { return len(t.heads) }, func() fyne.CanvasObject {
		return inset(container.NewBorder(nil, nil, sized(d.text(""), 8, 0), sized(d.caption(""), 70, 0), d.text("")), 2, 8, 2, 8)
	}, t.showTree)
	t.tree.OnSelected = func(id widget.ListItemID) {
		if id < len(t.heads) && t.shown != nil && t.heads[id].ID != t.shown.ID {
			t.load(t.heads[id].ID)
		}
	}
	t.graph = sluicecanvas.NewGraph(sluicecanvas.Config{Fonts: d.fonts, Theme: d.look.Theme, Empty: paint.Notice{Icon: "executions", Title: "No definition", Text: "It was not kept with this record."}})
	tree := panel(container.NewBorder(panel(inset(d.bold("Run tree", textSize), 6, 8, 6, 12), theme.ColorNameHeaderBackground), nil, nil, nil, t.tree), theme.ColorNameOverlayBackground)
	graph := container.NewBorder(inset(t.note, 4, 8, 4, 12), nil, nil, nil, t.graph)
	middle := container.NewHSplit(tree, graph)
	middle.SetOffset(0.27)
	t.makeTabs()
	bottom := panel(container.NewBorder(panel(t.tabs.head, theme.ColorNameHeaderBackground), nil, nil, nil, t.tabs.stack), theme.ColorNameOverlayBackground)
	split := container.NewVSplit(middle, bottom)
	split.SetOffset(0.58)
	t.body = container.NewBorder(container.NewVBox(head, t.banner, widget.NewSeparator()), nil, nil, nil, split)
	t.nothing = emptyNote(d, "executions", "Select an execution", "Its tree, log, rows and snapshots show here.")
	t.all = container.NewStack(t.body, t.nothing)
	t.body.Hide()
	return t
}

func (t *executionDetail) makeTabs() {
	d := t.d
	t.tabs = newSwitcher(d)
	t.info = newGrid(d, []gridColumn{{"Fact", 160, false, 0}, {"Value", 320, false, 1}}, func() int { return len(t.facts) }, func(r, c int) gridCell {
		return gridCell{text: t.facts[r][c], ink: []ink{inkSoft, inkText}[c]}
	})
	t.metrics = newGrid(d, executionMetricColumns, t.metricRows, t.metricCell)
	t.log = newGrid(d, []gridColumn{{"Time", 110, false, 0}, {"Node", 170, false, 0}, {"Message", 360, false, 1}}, func() int {
		if t.shown == nil {
			return 0
		}
		return len(t.shown.Log)
	}, t.logCell)
	t.log.onRow = func(r int) {
		e := t.shown.Log[r]
		d.tell(e.Time.Local().Format("2 Jan 2006 15:04:05.000"), strings.TrimSpace(e.Node+"\n\n"+presenter.EntryText(e)))
	}
	t.vars = newGrid(d, []gridColumn{{"Variable", 260, false, 0}, {"Value", 320, false, 1}}, func() int {
		if t.shown == nil {
			return 0
		}
		return len(t.shown.Variables)
	}, func(r, c int) gridCell {
		v := t.shown.Variables[r]
		if c == 0 {
			return gridCell{text: v.Name}
		}
		if v.Secret {
			return gridCell{text: storage.RedactedText + "  (secret, not stored)", ink: inkSoft}
		}
		return gridCell{text: strings.ReplaceAll(v.Value, "\n", " ⏎ ")}
	})
	t.snaps = newGrid(d, []gridColumn{{"Gate", 180, false, 0}, {"Snapshot", 300, false, 0}, {"State", 90, false, 0}, {"Role", 80, false, 0}, {"Location", 220, false, 1}}, func() int {
		if t.shown == nil {
			return 0
		}
		return len(t.shown.Snapshots)
	}, func(r, c int) gridCell {
		l := t.shown.Snapshots[r]
		state := "not sealed"
		if l.Digest != "" {
			state = "sealed"
		}
		return gridCell{text: []string{l.Node, l.Ref.ID, state, string(l.Role), l.Location}[c]}
	})
	t.lineage = newGrid(d, []gridColumn{{"Execution", 180, false, 0}, {"State", 110, false, 0}, {"Started", 170, false, 0}, {"By", 120, false, 0}, {"Reason", 200, false, 1}}, func() int {
		if t.shown == nil {
			return 0
		}
		return len(t.shown.Lineage)
	}, func(r, c int) gridCell {
		h := t.shown.Lineage[r]
		return gridCell{text: []string{presenter.ShortID(h.ID), string(h.State), h.Started.Local().Format("2 Jan 2006 15:04:05"), h.Who, h.Reason}[c], bold: h.ID == t.shown.ID}
	})
	t.lineage.onRow = func(r int) { t.load(t.shown.Lineage[r].ID) }
	t.tabs.add("Info", t.info.all)
	t.tabs.add("Metrics", t.metrics.all)
	t.tabs.add("Log", t.log.all)
	t.tabs.add("Variables", t.vars.all)
	t.tabs.add("Snapshots", t.snaps.all)
	t.tabs.add("Lineage", t.lineage.all)
}

var executionMetricColumns = []gridColumn{
	{"Step", 220, false, 0},
	{"State", 110, false, 0},
	{"Read", 100, true, 0},
	{"Written", 100, true, 0},
	{"Input", 90, true, 0},
	{"Output", 90, true, 0},
	{"Rejected", 80, true, 0},
	{"Errors", 70, true, 0},
	{"Time", 80, true, 0},
	{"Why", 420, false, 0},
}

func (t *executionDetail) metricRows() int {
	if t.shown == nil {
		return 0
	}
	return len(t.shown.Actions) + len(t.shown.Metrics)
}

func (t *executionDetail) metricCell(r, c int) gridCell {
	if r < len(t.shown.Actions) {
		a := t.shown.Actions[r]
		res := a.Result
		if res == nil {
			res = &storage.ActionResult{}
		}
		look := presenter.ActionBadge(a.State)
		name := a.Node
		if a.Ordinal > 1 {
			name = fmt.Sprintf("%s #%d", a.Node, a.Ordinal)
		}
		why, _, _ := strings.Cut(a.Message, "\n")
		cell := gridCell{text: []string{
			name, string(a.State), presenter.Grouped(res.Read), presenter.Grouped(res.Written), presenter.Grouped(res.Input), presenter.Grouped(res.Output),
			presenter.Grouped(res.Rejected), presenter.Grouped(res.Errors), presenter.Elapsed(a.Ended.Sub(a.Started)), why,
		}[c]}
		if c == 1 || c == 9 {
			cell.ink = inkTone(look.Tone())
		}
		return cell
	}
	m := t.shown.Metrics[r-len(t.shown.Actions)]
	name := m.Transform
	if m.Copy > 0 {
		name = fmt.Sprintf("%s, copy %d", m.Transform, m.Copy)
	}
	took := ""
	if !m.Started.IsZero() && !m.Ended.IsZero() {
		took = presenter.Elapsed(m.Ended.Sub(m.Started))
	}
	target := ""
	if m.Sink != nil {
		target = m.Sink.Target
	}
	cell := gridCell{text: []string{
		name, m.State, presenter.Grouped(m.Read), presenter.Grouped(m.Written), presenter.Grouped(m.Input), presenter.Grouped(m.Output),
		presenter.Grouped(m.Rejected), presenter.Grouped(m.Errors), took, target,
	}[c]}
	if c == 1 && m.State == "failed" {
		cell.ink = inkTone(toneError)
	}
	return cell
}

func (t *executionDetail) logCell(r, c int) gridCell {
	e := t.shown.Log[r]
	cell := gridCell{text: []string{e.Time.Local().Format("15:04:05.000"), e.Node, strings.ReplaceAll(presenter.EntryText(e), "\n", " ⏎ ")}[c]}
	switch {
	case e.Level >= storage.LevelError:
		cell.ink = inkTone(toneError)
	case e.Level == storage.LevelWarn:
		cell.ink = inkTone(toneWarn)
	case c == 0:
		cell.ink = inkSoft
	}
	return cell
}

func (t *executionDetail) showTree(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(t.heads) {
		return
	}
	h := t.heads[id]
	row := o.(*fyne.Container).Objects[0].(*fyne.Container)
	place := h.CallPath[strings.LastIndexByte(h.CallPath, '/')+1:]
	name := h.Name
	if place != "" {
		name = place + "  " + h.Name
	}
	w := row.Objects[0].(*words)
	w.style.Bold = t.shown != nil && h.ID == t.shown.ID
	w.Set(strings.Repeat("    ", t.indent[id])+name, inkText)
	row.Objects[1].(*fyne.Container).Objects[0].(*words).Set("", nil)
	row.Objects[2].(*fyne.Container).Objects[0].(*words).Set(string(h.State), inkTone(presenter.ExecutionState(h.State).Tone()))
}

// load reads an execution and shows it.
func (t *executionDetail) load(id string) {
	t.asked++
	asked := t.asked
	background(t.d, func() (*presenter.ExecutionDetail, error) {
		s, err := t.d.history.Store(context.Background())
		if err != nil {
			return nil, err
		}
		return presenter.LoadExecution(context.Background(), s, id)
	}, func(x *presenter.ExecutionDetail, err error) {
		if asked != t.asked {
			return
		}
		if err != nil {
			t.d.fail("Read the execution", err)
			return
		}
		t.show(x)
	})
}

func (t *executionDetail) show(x *presenter.ExecutionDetail) {
	t.shown = x
	t.nothing.Hide()
	t.body.Show()
	look := presenter.ExecutionState(x.State)
	t.state.set(look, look.String())
	t.title.Set(x.Name, nil)
	row := presenter.ExecutionRowOf(x.ExecutionHead, t.d.now())
	t.about.Set(fmt.Sprintf("Execution %s · %s · took %s", presenter.ShortID(x.ID), row.When, row.Took), nil)
	ok, why := x.Replayable()
	setEnabled(t.replay, ok)
	if !ok {
		t.about.Set(t.about.full+" · "+why, nil)
	}
	t.replay.SetText("Replay " + capital(string(x.Kind)) + "…")
	t.head.Refresh() // its parts have other widths now
	for _, o := range t.head.Objects {
		o.Refresh()
	}
	if node, cause := x.FirstCause(); cause != "" {
		if node != "" {
			cause = node + " failed: " + cause
		}
		t.cause.Set(strings.ReplaceAll(cause, "\n", " "), nil)
		t.banner.Show()
	} else {
		t.banner.Hide()
	}
	t.arrange(x)
	t.draw(x)
	t.facts = factsOf(x)
	for _, g := range []*grid{t.info, t.metrics, t.log, t.vars, t.snaps, t.lineage} {
		g.refresh()
	}
	t.d.event("execution %s %s", x.ID, x.State)
}

// arrange puts the tree into the order of calls.
func (t *executionDetail) arrange(x *presenter.ExecutionDetail) {
	children := map[string][]storage.ExecutionHead{}
	for _, h := range x.Tree {
		children[h.Parent] = append(children[h.Parent], h)
	}
	t.heads, t.indent = nil, nil
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		for _, h := range children[parent] {
			t.heads, t.indent = append(t.heads, h), append(t.indent, depth)
			walk(h.ID, depth+1)
		}
	}
	walk("", 0)
	t.tree.Refresh()
}

// draw shows the file as it ran.
func (t *executionDetail) draw(x *presenter.ExecutionDetail) {
	f, err := x.Graph(t.d.catalog)
	if err != nil || f == nil {
		t.graph.SetGraph(scene.Graph{})
		t.note.Set("The definition was not kept", nil)
		return
	}
	t.graph.SetGraph(f.Scene(x.View(t.d.now())))
	t.graph.Fit()
	t.note.Set("Graph as it ran", nil)
}

func factsOf(x *presenter.ExecutionDetail) [][2]string {
	ended := "still going"
	if !x.Ended.IsZero() {
		ended = x.Ended.Local().Format("2 Jan 2006 15:04:05 MST")
	}
	list := [][2]string{
		{"State", string(x.State)},
		{"Execution", x.ID},
		{"File", shorten(x.File)},
		{"Started", x.Started.Local().Format("2 Jan 2006 15:04:05 MST")},
		{"Ended", ended},
		{"By", fmt.Sprintf("%s, process %d on %s", x.Who, x.PID, x.Host)},
	}
	add := func(name, value string) {
		if value != "" {
			list = append(list, [2]string{name, value})
		}
	}
	add("Why", x.Message)
	add("Called as", x.CallPath)
	add("Replay of", x.ReplayOf)
	add("Reason", x.Reason)
	add("Run configuration", x.RunConfiguration)
	for _, p := range x.Parameters {
		value := p.Value
		if p.Secret {
			value = storage.RedactedText
		}
		add("Parameter "+p.Name, value)
	}
	return list
}

// askDelete removes the record after a question.
func (t *executionDetail) askDelete() {
	x := t.shown
	if x == nil {
		return
	}
	t.d.ask("Delete this record?", fmt.Sprintf("The record of %s from %s goes with everything it called. Its snapshots stay until they are pruned.", x.Name, x.Started.Local().Format("2 Jan 15:04")),
		answer{"Cancel", true, nil},
		answer{"Delete", false, func() {
			background(t.d, func() (storage.Removed, error) {
				s, err := t.d.history.Store(context.Background())
				if err != nil {
					return storage.Removed{}, err
				}
				plan, err := s.PlanRetention(context.Background(), storage.RetentionPolicy{Roots: []string{x.Root}})
				if err != nil {
					return storage.Removed{}, err
				}
				for _, k := range plan.Keep {
					return storage.Removed{}, fmt.Errorf("the record stays: %s", k.Why)
				}
				return s.Remove(context.Background(), plan)
			}, func(_ storage.Removed, err error) {
				if err != nil {
					t.d.fail("Delete the record", err)
					return
				}
				t.shown = nil
				t.body.Hide()
				t.nothing.Show()
				t.list.reload()
			})
		}})
}

// openDefinition opens the file of an execution in the designer.
func (d *Desktop) openDefinition(file string) {
	d.goTo(placeDesigner)
	d.open(file)
	d.event("definition %s", filepath.Base(file))
}
