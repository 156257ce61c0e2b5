package presenter

import (
	"fmt"
	"strings"
	"time"

	"sluice/canvas/scene"
	"sluice/storage"
)

// Step is one line of the metrics of an execution: an action of a workflow, or a copy
// of a transform.
type Step struct {
	Node, Name                                              string
	Look                                                    scene.State
	Read, Written, Input, Output, Updated, Rejected, Errors int64
	Took                                                    string
	Note                                                    string // why it failed, or what it wrote to
}

// Steps lists the actions and transforms of the execution itself.
func (d *ExecutionDetail) Steps(now time.Time) []Step {
	var list []Step
	for _, a := range d.Actions {
		s := Step{Node: a.Node, Name: a.Node, Look: ActionBadge(a.State), Took: elapsedOf(a.Started, a.Ended, now)}
		if a.Ordinal > 1 {
			s.Name = fmt.Sprintf("%s #%d", a.Node, a.Ordinal)
		}
		if r := a.Result; r != nil {
			s.Read, s.Written, s.Input, s.Output, s.Updated, s.Rejected, s.Errors = r.Read, r.Written, r.Input, r.Output, r.Updated, r.Rejected, r.Errors
		}
		s.Note, _, _ = strings.Cut(a.Message, "\n")
		if s.Note == "" && a.ReusedFrom != "" {
			s.Note = "reused from " + ShortID(a.ReusedFrom)
		}
		list = append(list, s)
	}
	for _, m := range d.Metrics {
		s := Step{
			Node: m.Transform, Name: m.Transform, Took: elapsedOf(m.Started, m.Ended, now),
			Read: m.Read, Written: m.Written, Input: m.Input, Output: m.Output, Updated: m.Updated, Rejected: m.Rejected, Errors: m.Errors,
		}
		if m.Copy > 0 {
			s.Name = fmt.Sprintf("%s, copy %d", m.Transform, m.Copy)
		}
		s.Look = transformLooks[m.State]
		if m.Errors > 0 {
			s.Look = scene.StateFailed
		}
		if m.Sink != nil && m.Sink.Target != "" {
			s.Note = "writes " + m.Sink.Target
		}
		if _, why, ok := strings.Cut(d.Message, fmt.Sprintf("transform %q: ", m.Transform)); ok && s.Look == scene.StateFailed {
			s.Note, _, _ = strings.Cut(why, "\n")
		}
		list = append(list, s)
	}
	return list
}

// transformLooks are the badges of the recorded states of transforms.
var transformLooks = map[string]scene.State{
	"waiting": scene.StateQueued, "running": scene.StateRunning, "finished": scene.StateSucceeded, "stopped": scene.StateStopped, "failed": scene.StateFailed,
}

// elapsedOf is how long something took, so far when it has no end.
func elapsedOf(from, to, now time.Time) string {
	switch {
	case from.IsZero():
		return "–"
	case to.IsZero():
		return Elapsed(now.Sub(from))
	}
	return Elapsed(to.Sub(from))
}

// The way between executions of the lineage graph, in document units.
const lineageStep = 176

// LineageGraph draws a chain of replays: each execution right of the one it replays.
func LineageGraph(chain []storage.ExecutionHead, current string, now time.Time) scene.Graph {
	g := scene.Graph{}
	place := map[string]scene.Point{}
	row := map[int]int{} // how many there are at a depth
	depth := map[string]int{}
	for _, h := range chain {
		d := 0
		if at, ok := depth[h.ReplayOf]; ok && h.ReplayOf != "" {
			d = at + 1
		}
		depth[h.ID] = d
		place[h.ID] = scene.Point{X: float64(d) * lineageStep, Y: float64(row[d]) * lineageStep * 0.6}
		row[d]++
		n := scene.Node{ID: scene.ID(h.ID), Pos: place[h.ID], Label: ShortID(h.ID), Icon: "pipeline", State: ExecutionState(h.State), Metric: When(h.Created(), now)}
		if h.Kind == storage.KindWorkflow {
			n.Icon = "workflow"
		}
		if h.ReplayOf != "" {
			n.Icon = "replay"
		}
		if h.ID == current {
			n.Flag = "this one"
		}
		g.Nodes = append(g.Nodes, n)
		if _, ok := place[h.ReplayOf]; ok && h.ReplayOf != "" {
			g.Hops = append(g.Hops, scene.Hop{ID: scene.ID(h.ReplayOf + ">" + h.ID), From: scene.ID(h.ReplayOf), To: scene.ID(h.ID)})
		}
	}
	return g
}
