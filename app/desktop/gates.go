//go:build !headless

package desktop

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"sluice/app/presenter"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
	"sluice/storage"
)

// gateDelay is how long edits rest before the locations of gates are asked again.
const gateDelay = 400 * time.Millisecond

// lookAtGates finds out how the gates stand, in the background; a later look
// supersedes it.
func (e *editor) lookAtGates(delay time.Duration) {
	if e.looking != nil {
		e.looking()
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.looking = cancel
	if !e.file.HasMarks() {
		e.file.SetGates(nil)
		cancel()
		return
	}
	state, open := e.file.State(), e.d.workspace(e.file.Path(), e.home)
	if e.d.instantly {
		delay = 0
	}
	background(e.d, func() (*presenter.Gates, error) {
		if delay > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(delay):
			}
		}
		ws, err := open(nil, "")
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		return presenter.LoadGates(ctx, ws, state), nil
	}, func(g *presenter.Gates, err error) {
		if ctx.Err() != nil || e.file.Document() != state.Document {
			return
		}
		cancel()
		if err != nil {
			return // the list of problems tells why the project does not open
		}
		e.file.SetGates(g)
		s := e.file.Scene(e.runView())
		e.graph.Update(s.Nodes, s.Hops)
		e.showProblems()
		e.d.event("gates looked at")
	})
}

// gateNode is the node whose gate is meant: the one that is selected.
func (e *editor) gateNode() (string, bool) {
	nodes := e.selected(scene.KindNode)
	if hops := e.selected(scene.KindHop); len(nodes) == 0 && len(hops) == 1 {
		if h, ok := e.graph.Machine().Scene().Hop(hops[0]); ok {
			nodes = []scene.ID{h.From}
		}
	}
	if len(nodes) != 1 {
		e.d.frame.note("Select the one transform or action whose output is meant")
		return "", false
	}
	n, ok := e.file.Node(presenter.ElementID(nodes[0]))
	return n.Name, ok
}

// markGate makes the selected node a replay gate; the settings open for one that
// is.
func (e *editor) markGate() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	g, err := e.file.GateOf(name)
	switch {
	case err != nil:
		e.d.fail("Gate of "+name, err)
	case g != nil:
		e.editGate()
	case e.try("Mark as replay gate", e.file.MarkGate(name, nil)):
		e.d.frame.note(name + " is a replay gate: its rows are sealed before anything behind it runs")
		e.d.event("gate marked %s", name)
	}
}

// removeGate takes the gate from the selected node.
func (e *editor) removeGate() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	if g, err := e.file.GateOf(name); err == nil && g == nil {
		e.d.frame.note(name + " is no replay gate")
		return
	}
	if e.try("Remove the gate", e.file.UnmarkGate(name)) {
		e.d.frame.note(name + " is no replay gate any more; what it sealed stays until it is pruned")
		e.d.event("gate removed %s", name)
	}
}

// clickedGate answers a click on a badge or on the bars of a hop.
func (e *editor) clickedGate(ref scene.Ref) {
	if ref.Kind == scene.KindHop {
		if h, ok := e.graph.Machine().Scene().Hop(ref.ID); ok {
			ref = scene.NodeRef(h.From)
		}
	}
	e.choose(ref)
	e.d.do("gate-settings")
}

// gateTip explains the badge of a node.
func (e *editor) gateTip(node string) (paint.ToolTip, bool) {
	if !e.file.IsGate(node) {
		return paint.ToolTip{}, false
	}
	v, ok := e.file.Gates().Gate(node)
	if !ok {
		return paint.ToolTip{Title: "Armed: seals at the next run", Caption: node}, true
	}
	return e.gateCard(v), true
}

// gateCard is what is known of a gate or cache.
func (e *editor) gateCard(v presenter.GateView) paint.ToolTip {
	tip := paint.ToolTip{Title: v.Title(), Tone: v.Badge().Tone(), Caption: v.Caption(e.d.now()), Footer: v.Advice()}
	if tip.Caption == "" {
		tip.Caption = v.Node
	}
	for i, d := range v.Differences() {
		if i == mostDifferences {
			tip.Rows = append(tip.Rows, paint.TipRow{Key: presenter.Plural(int64(len(v.Differences())-i), "more change")})
			break
		}
		tip.Rows = append(tip.Rows, paint.TipRow{Key: d.Where}, paint.TipRow{Key: "sealed with", Value: orNotSet(d.Then)}, paint.TipRow{Key: "now", Value: orNotSet(d.Now)})
	}
	if reason := v.Reason(); reason != "" {
		tip.Rows = append(tip.Rows, paint.TipRow{Key: capital(reason)})
	}
	if v.Location != "" && v.State == storage.SnapshotSealed && !v.Stale() {
		tip.Rows = append(tip.Rows, paint.TipRow{Key: "location", Value: v.Location})
	}
	return tip
}

// mostDifferences are shown in a tool tip.
const mostDifferences = 2

func orNotSet(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// showDifferences lists what changed above a gate since its rows were sealed.
func (e *editor) showDifferences(v presenter.GateView) {
	d, list := e.d, v.Differences()
	g := newGrid(d, []gridColumn{{"Setting", 240, false, 0}, {"Sealed with", 200, false, 1}, {"Now", 200, false, 1}}, func() int { return len(list) }, func(r, c int) gridCell {
		x := list[r]
		return gridCell{text: []string{x.Where, orNotSet(x.Then), orNotSet(x.Now)}[c], ink: []ink{inkText, inkSoft, inkTone(toneWarn)}[c]}
	})
	g.onRow = func(r int) {
		d.tell(list[r].Where, "Sealed with: "+orNotSet(list[r].Then)+"\n\nNow: "+orNotSet(list[r].Now))
	}
	var dl *dialog
	dl = d.dialog("What changed above "+v.Node, v.Caption(d.now()), d.outlined(g.all), fyne.NewSize(860, 360), d.caption(v.Advice()), button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}
