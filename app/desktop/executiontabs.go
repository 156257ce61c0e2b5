//go:build !headless

package desktop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/app/workspace"
	sluicecanvas "sluice/canvas"
	"sluice/canvas/gesture"
	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/storage"
)

// The tabs below an execution, in their order; that of the tree is there in small
// windows only.
const (
	tabInfo = iota
	tabMetrics
	tabLog
	tabRows
	tabVariables
	tabSnapshots
	tabLineage
	tabTree
)

// executionTabs are the facts of an execution.
type executionTabs struct {
	*switcher
	t       *executionDetail
	facts   [][2]string
	steps   []presenter.Step
	info    *grid
	metrics *grid
	small   bool
	log     *recordLog
	rows    *rowsPanel
	vars    *grid
	snaps   *grid
	links   []storage.SnapshotLink
	lineage *grid
	chain   *sluicecanvas.Graph
}

func newExecutionTabs(t *executionDetail) *executionTabs {
	d := t.d
	x := &executionTabs{switcher: newSwitcher(d), t: t}
	x.info = newGrid(d, []gridColumn{{"Fact", 160, false, 0}, {"Value", 320, false, 1}}, func() int { return len(x.facts) }, func(r, c int) gridCell {
		return gridCell{text: x.facts[r][c], ink: []ink{inkSoft, inkText}[c]}
	})
	x.info.onRow = func(r int) { d.tell(x.facts[r][0], x.facts[r][1]) }
	x.metrics = newGrid(d, nil, func() int { return len(x.steps) }, x.metricCell)
	x.metrics.onRow = func(r int) { t.focus(x.steps[r].Node) }
	x.log = newRecordLog(t)
	x.rows = newRowsPanel(d, func() string { return filepath.Dir(t.shown.File) }, "Choose a sealed snapshot in the tab Snapshots to see its rows.")
	x.vars = newGrid(d, []gridColumn{{"Variable", 260, false, 0}, {"Value", 320, false, 1}}, func() int { return len(x.variables()) }, func(r, c int) gridCell {
		v := x.variables()[r]
		switch {
		case c == 0:
			return gridCell{text: v.Name}
		case v.Secret:
			return gridCell{text: storage.RedactedText + "  (secret, not stored)", ink: inkSoft}
		}
		return gridCell{text: strings.ReplaceAll(v.Value, "\n", " ⏎ ")}
	})
	x.snaps = newGrid(d, []gridColumn{{"State", 120, false, 0}, {"Gate", 180, false, 0}, {"Role", 90, false, 0}, {"Snapshot", 200, false, 0}, {"Location", 220, false, 1}}, func() int { return len(x.links) }, x.snapshotCell)
	x.snaps.onRow = func(r int) { x.openSnapshot(x.links[r]) }
	x.lineage = newGrid(d, []gridColumn{{"Execution", 170, false, 0}, {"State", 120, false, 0}, {"Started", 150, false, 0}, {"By", 100, false, 0}, {"Reason", 160, false, 1}}, func() int { return len(x.executions()) }, x.lineageCell)
	x.lineage.onRow = func(r int) { t.load(x.executions()[r].ID) }
	x.chain = sluicecanvas.NewGraph(sluicecanvas.Config{Fonts: d.fonts, Theme: d.look.Theme, Gesture: gesture.Config{ReadOnly: true}})
	x.chain.OnIntent = func(i gesture.Intent) {
		if _, ok := i.(gesture.Select); ok {
			if ids := x.chain.Machine().Selection().IDs(scene.KindNode); len(ids) == 1 && string(ids[0]) != t.shown.ID {
				t.load(string(ids[0]))
			}
		}
	}
	lineage := container.NewHSplit(x.chain, x.lineage.all)
	lineage.SetOffset(0.4)
	for _, p := range []struct {
		name string
		page fyne.CanvasObject
	}{{"Info", x.info.all}, {"Metrics", x.metrics.all}, {"Log", x.log.all}, {"Rows", x.rows.all}, {"Variables", x.vars.all}, {"Snapshots", x.snaps.all}, {"Lineage", lineage}, {"Run tree", container.NewStack()}} {
		x.add(p.name, p.page)
	}
	x.buttons[tabTree].Hide()
	x.choose(tabMetrics)
	x.fit()
	return x
}

// withTree shows the tree as a tab, or not.
func (x *executionTabs) withTree(on bool) {
	x.small = on
	setVisible(x.buttons[tabTree], on)
	x.pages[tabTree] = container.NewStack()
	if on {
		x.pages[tabTree] = x.t.tree.list
	}
	if x.now == tabTree {
		x.choose(tabMetrics)
	}
	x.head.Refresh()
}

// variables are those of what is shown.
func (x *executionTabs) variables() []storage.Variable {
	if x.t.shown == nil {
		return nil
	}
	return x.t.shown.Variables
}

func (x *executionTabs) executions() []storage.ExecutionHead {
	if x.t.shown == nil {
		return nil
	}
	return x.t.shown.Lineage
}

// show fills the tabs; again says that it is the execution that was shown before.
func (x *executionTabs) show(e *presenter.ExecutionDetail, again bool) {
	x.facts = factsOf(e, x.t.d.now())
	x.steps = e.Steps(x.t.d.now())
	x.links = slices.Clone(e.Snapshots)
	x.fit()
	for _, g := range []*grid{x.info, x.metrics, x.vars, x.snaps, x.lineage} {
		g.refresh()
	}
	if !again {
		x.rows.clear()
		reveal(x.rows.all, false)
		x.log.filter.Node = ""
	}
	x.log.load(again)
	g := presenter.LineageGraph(e.Lineage, e.ID, x.t.d.now())
	if again {
		x.chain.Update(g.Nodes, g.Hops)
	} else {
		x.chain.SetGraph(g)
		x.chain.Fit()
	}
}

// follow narrows what can be narrowed to a node.
func (x *executionTabs) follow(node string) {
	x.metrics.refresh()
	for i, s := range x.steps {
		if node != "" && strings.EqualFold(s.Node, node) {
			x.metrics.scrollTo(i)
			break
		}
	}
	x.log.narrow(node)
}

// stepColumns are the columns of the metrics; a small window has those with room.
func (x *executionTabs) stepColumns() []gridColumn {
	if x.small {
		return []gridColumn{
			{"Step", 130, false, 2},
			{"State", 112, false, 0},
			{"Read", 72, true, 0},
			{"Written", 72, true, 0},
			{"Errors", 56, true, 0},
			{"Time", 72, true, 0},
			{"Note", 80, false, 3},
		}
	}
	return []gridColumn{
		{"Step", 150, false, 2},
		{"State", 116, false, 0},
		{"Read", 84, true, 0},
		{"Written", 84, true, 0},
		{"Input", 80, true, 0},
		{"Output", 80, true, 0},
		{"Rejected", 72, true, 0},
		{"Errors", 60, true, 0},
		{"Time", 76, true, 0},
		{"Note", 100, false, 3},
	}
}

// fit gives the metrics their columns.
func (x *executionTabs) fit() {
	if x.metrics != nil && len(x.metrics.columns) != len(x.stepColumns()) {
		x.metrics.setColumns(x.stepColumns())
	}
}

func (x *executionTabs) metricCell(r, c int) gridCell {
	if r >= len(x.steps) || c >= len(x.metrics.columns) {
		return gridCell{}
	}
	s := x.steps[r]
	chosen := toneNeutral
	if x.t.node != "" && strings.EqualFold(s.Node, x.t.node) {
		chosen = scene.ToneReuse
	}
	number := func(n int64) gridCell { return gridCell{text: presenter.Grouped(n), soft: chosen} }
	switch x.metrics.columns[c].title {
	case "Step":
		icon := "t-table"
		if x.t.file != nil {
			icon = x.t.file.IconOf(s.Node)
		}
		return gridCell{text: s.Name, icon: icon, soft: chosen}
	case "State":
		return gridCell{text: s.Look.String(), state: s.Look, soft: chosen}
	case "Read":
		return number(s.Read)
	case "Written":
		return number(s.Written)
	case "Input":
		return number(s.Input)
	case "Output":
		return number(s.Output)
	case "Rejected":
		return troubled(s.Rejected, chosen)
	case "Errors":
		return troubled(s.Errors, chosen)
	case "Time":
		return gridCell{text: s.Took, soft: chosen}
	}
	cell := gridCell{text: s.Note, ink: inkSoft, soft: chosen}
	if s.Look == scene.StateFailed {
		cell.ink = inkTone(toneError)
	}
	return cell
}

// troubled is a number that is loud when it is not 0.
func troubled(n int64, soft scene.Tone) gridCell {
	c := gridCell{text: presenter.Grouped(n), soft: soft}
	if n > 0 {
		c.ink, c.bold = inkTone(toneError), true
	}
	return c
}

func (x *executionTabs) snapshotCell(r, c int) gridCell {
	l := x.links[r]
	state := storage.SnapshotSealed
	if l.Digest == "" {
		state = storage.SnapshotInterrupted
		if !x.t.shown.State.Ended() {
			state = storage.SnapshotOpen
		}
	}
	switch c {
	case 0:
		return gridCell{text: capital(strings.ToLower(string(state))), icon: snapshotIcon(state), tint: inkTone(snapshotTone(state))}
	case 1:
		return gridCell{text: l.Node}
	case 2:
		return gridCell{text: string(l.Role), ink: inkSoft}
	case 3:
		return gridCell{text: presenter.ShortID(l.Ref.ID), ink: inkSoft}
	}
	return gridCell{text: shorten(l.Location), ink: inkSoft}
}

// openSnapshot shows the rows of a snapshot of the execution.
func (x *executionTabs) openSnapshot(l storage.SnapshotLink) {
	d := x.t.d
	if l.Digest == "" {
		d.tell("No rows to show", l.Node+" was not sealed: the source was partially extracted, and no row of it is used.")
		return
	}
	v := presenter.GateView{Standing: gate.Standing{Node: l.Node, ID: l.Ref.Gate, Location: l.Location, Snapshot: l.Ref.ID, State: storage.SnapshotSealed}}
	x.rows.openSnapshot(d.workspace(x.t.shown.File, ""), v, func() { x.choose(tabRows) })
}

func (x *executionTabs) lineageCell(r, c int) gridCell {
	h := x.executions()[r]
	look := presenter.ExecutionState(h.State)
	if c == 1 {
		return gridCell{text: look.String(), state: look}
	}
	return gridCell{text: []string{presenter.ShortID(h.ID), "", presenter.When(h.Started, x.t.d.now()), h.Who, h.Reason}[c], bold: h.ID == x.t.shown.ID}
}

func factsOf(x *presenter.ExecutionDetail, now time.Time) [][2]string {
	list := [][2]string{
		{"State", presenter.ExecutionState(x.State).String()},
		{"Execution", x.ID},
		{"File", shorten(x.File)},
		{"Ran", presenter.Span(x.ExecutionHead, now)},
		{"By", fmt.Sprintf("%s, process %d on %s", x.Who, x.PID, x.Host)},
	}
	add := func(name, value string) {
		if value != "" {
			list = append(list, [2]string{name, strings.ReplaceAll(value, "\n", " ")})
		}
	}
	add("Why", x.Message)
	add("File since", x.Since)
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
	if len(x.Snapshots) > 0 {
		add("Snapshots", presenter.Plural(int64(len(x.Snapshots)), "snapshot"))
	}
	return list
}

// askDelete removes the record after a question.
func (t *executionDetail) askDelete() {
	x := t.shown
	if x == nil {
		t.d.frame.note("Select an execution first")
		return
	}
	t.d.ask("Delete this record?", fmt.Sprintf("The record of %s from %s goes with everything it called. Its snapshots stay until they are pruned.", x.Name, presenter.When(x.Started, t.d.now())),
		answer{"Cancel", true, nil},
		answer{"Delete", false, func() {
			background(t.d, func() (storage.Removed, error) {
				return t.d.removeRecords(storage.RetentionPolicy{Roots: []string{x.Root}})
			}, func(_ storage.Removed, err error) {
				if err != nil {
					t.d.fail("Delete the record", err)
					return
				}
				t.shown = nil
				t.body.Hide()
				t.nothing.Show()
				t.list.reload()
				t.d.event("record deleted %s", x.ID)
			})
		}})
}

// removeRecords removes what a policy names; one that must stay is an error when it
// was named itself.
func (d *Desktop) removeRecords(p storage.RetentionPolicy) (storage.Removed, error) {
	ctx := context.Background()
	s, err := d.history.Store(ctx)
	if err != nil {
		return storage.Removed{}, err
	}
	if len(p.Roots) == 0 {
		p.Needed = workspace.NeededBySnapshots(ctx, s)
	}
	plan, err := s.PlanRetention(ctx, p)
	if err != nil {
		return storage.Removed{}, err
	}
	if len(p.Roots) > 0 {
		for _, k := range plan.Keep {
			return storage.Removed{}, fmt.Errorf("the record stays: %s", k.Why)
		}
	}
	return s.Remove(ctx, plan)
}
