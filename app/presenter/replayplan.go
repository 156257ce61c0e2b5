package presenter

import (
	"context"
	"strings"

	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/hopxml"
	"sluice/engine/replay"
)

// LoadPlanned reads the file that the replay uses at a place of the tree: the one of
// now, or as it ran. nil when there is none. It reads the disk.
func LoadPlanned(ctx context.Context, run *workspace.Replaying, v *ReplayView, at engine.CallPath) (*File, error) {
	path := v.fileAt(at)
	if !v.Choices.Original && path != "" {
		if doc, _, err := ReadFile(path); err == nil {
			return NewFile(doc, path, "", v.Catalog)
		}
	}
	for _, h := range v.Of.Tree {
		if h.CallPath != string(at) {
			continue
		}
		e, err := run.Store.Execution(ctx, h.ID)
		if err != nil || e.Definition == "" {
			return nil, err
		}
		data, err := run.Store.Definition(ctx, e.Definition)
		if err != nil {
			return nil, err
		}
		doc, err := hopxml.Parse(h.File, data)
		if err != nil {
			return nil, err
		}
		return NewFile(doc, h.File, h.Name, v.Catalog)
	}
	return nil, nil
}

// Scene shows the plan on the graph of a file at a place of the tree: what is
// reused, run, not reached and blocked, and where it starts.
func (v *ReplayView) Scene(f *File, at engine.CallPath) scene.Graph {
	g := f.Scene(nil)
	plans := v.plans(at)
	begin := lower(v.startNode(at))
	byID := map[scene.ID]*scene.Node{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		byID[n.ID] = n
		name := lower(n.Label)
		n.Metric, n.Gate = "", v.gateOf(at, name, n.Gate)
		if n.Disabled {
			continue
		}
		n.Plan, n.State = plans[name], planState(plans[name])
		n.Metric = v.metric(at, name, n.Plan)
		if name == begin {
			n.Flag = "Start here"
		}
	}
	for i := range g.Hops {
		h := &g.Hops[i]
		from, to := byID[h.From], byID[h.To]
		if h.Disabled || from == nil || to == nil {
			continue
		}
		h.Plan, h.Gate = hopPlan(from.Plan, to.Plan), scene.GateNone
		if from.Plan != scene.PlanNotReached {
			h.Gate = from.Gate
		}
	}
	return g
}

// plans is what becomes of the nodes at a place, by name in lower case. A node that
// ran more than once runs when one of its turns does.
func (v *ReplayView) plans(at engine.CallPath) map[string]scene.Plan {
	weight := map[scene.Plan]int{scene.PlanNotReached: 1, scene.PlanReuse: 2, scene.PlanRun: 3, scene.PlanBlocked: 4}
	class := map[replay.Decision]scene.Plan{replay.Reuse: scene.PlanReuse, replay.Run: scene.PlanRun, replay.Blocked: scene.PlanBlocked, replay.Skip: scene.PlanNotReached}
	plans := map[string]scene.Plan{}
	for _, s := range v.Plan.Steps {
		if s.CallPath != at {
			continue
		}
		if name, p := lower(s.Node), class[s.Decision]; weight[p] > weight[plans[name]] {
			plans[name] = p
		}
	}
	return plans
}

func planState(p scene.Plan) scene.State {
	switch p {
	case scene.PlanReuse:
		return scene.StateReused
	case scene.PlanRun:
		return scene.StateRunning
	case scene.PlanNotReached:
		return scene.StateNotReached
	case scene.PlanBlocked:
		return scene.StateBlocked
	}
	return scene.StateNone
}

// hopPlan is the class of a hop between nodes of two classes.
func hopPlan(from, to scene.Plan) scene.Plan {
	switch {
	case from == scene.PlanBlocked || to == scene.PlanBlocked:
		return scene.PlanNone
	case from == scene.PlanNotReached || to == scene.PlanNotReached:
		return scene.PlanNotReached
	}
	return from
}

// startNode is the node at a place that the plan starts at, or below.
func (v *ReplayView) startNode(at engine.CallPath) string {
	for _, s := range v.Plan.Starts {
		if s.Name != v.Plan.Start {
			continue
		}
		switch s.Kind {
		case replay.StartAction, replay.StartGate:
			return nodeTowards(at, s.CallPath, s.Node)
		case replay.StartFirstFailed:
			// In a pipeline the rows enter before what failed.
			if node := v.failedNode(); v.noun() == replay.KindAction && at == "" && node != "" && v.plans(at)[lower(node)] != scene.PlanReuse {
				return node
			}
		}
	}
	for _, s := range v.Plan.Steps {
		if s.CallPath == at && (s.Decision == replay.Run || s.Decision == replay.Blocked) {
			return s.Node
		}
	}
	return ""
}

// nodeTowards is the node at a place under which another place is; the node itself
// when both are the same.
func nodeTowards(at, to engine.CallPath, node string) string {
	for to != at {
		if to == "" {
			return ""
		}
		node, to = to.Node(), to.Parent()
	}
	return node
}

// gateOf is the badge of a node of the plan: that of its own gate, else of those in
// what it started.
func (v *ReplayView) gateOf(at engine.CallPath, name string, own scene.Gate) scene.Gate {
	badge, worst := own, map[scene.Gate]int{scene.GateSealed: 1, scene.GateStale: 2, scene.GateInterrupted: 3, scene.GateCorrupt: 4}
	for _, s := range v.Plan.Starts {
		if s.Kind != replay.StartGate || lower(nodeTowards(at, s.CallPath, gateNode(s.Node))) != name {
			continue
		}
		if b := v.gateBadge(s); worst[b] > worst[badge] {
			badge = b
		}
	}
	return badge
}

// gateNode is the name of the node of a gate; that of an action has its turn behind
// it.
func gateNode(name string) string {
	node, _, _ := strings.Cut(name, "#")
	return node
}

// metric is the line under a node: the rows that are given back, or where its input
// comes from.
func (v *ReplayView) metric(at engine.CallPath, name string, p scene.Plan) string {
	var rows int64
	below := false
	for _, s := range v.Plan.Steps {
		switch {
		case s.CallPath == at && lower(s.Node) == name:
			if s.Decision == replay.Reuse {
				rows += s.Rows
			}
			if s.Decision == replay.Blocked && s.Kind == replay.KindTransform {
				return s.Why
			}
		case s.CallPath != at && s.CallPath.Under(at) && lower(nodeTowards(at, s.CallPath, "")) == name:
			below = below || s.Snapshot != ""
		}
	}
	switch {
	case p == scene.PlanReuse && rows > 0:
		return Plural(rows, "row")
	case p == scene.PlanRun && below:
		return "from gate rows"
	}
	return ""
}

// StartOf is the start point of a node at a place: its gate when it can be used, else
// the action. "" when a replay cannot start there.
func (v *ReplayView) StartOf(at engine.CallPath, node string) string {
	name := ""
	for _, s := range v.Plan.Starts {
		if s.CallPath != at || !strings.EqualFold(s.Node, node) && !strings.EqualFold(gateNode(s.Node), node) || !s.Usable {
			continue
		}
		if s.Kind == replay.StartGate {
			return s.Name
		}
		if s.Kind == replay.StartAction && name == "" {
			name = s.Name
		}
	}
	return name
}

// ChildOf is the place of what an action or executor has started last, "" when the
// plan knows none.
func (v *ReplayView) ChildOf(at engine.CallPath, node string) engine.CallPath {
	child := engine.CallPath("")
	for _, s := range v.Plan.Steps {
		if s.CallPath != at && s.CallPath.Parent() == at && strings.EqualFold(s.CallPath.Node(), node) {
			child = s.CallPath
		}
	}
	return child
}

// PlanReason is what becomes of one turn of a node, and why.
type PlanReason struct{ Decision, Why string }

// Reasons tells why a node is reused, run or left out, turn by turn.
func (v *ReplayView) Reasons(at engine.CallPath, node string) []PlanReason {
	words := map[replay.Decision]string{replay.Reuse: "Reuse", replay.Run: "Run", replay.Skip: "Not reached", replay.Blocked: "Blocked"}
	var list []PlanReason
	for _, s := range v.Plan.Steps {
		if s.CallPath == at && strings.EqualFold(s.Node, node) && len(list) < mostNames {
			list = append(list, PlanReason{words[s.Decision], s.Why})
		}
	}
	return list
}
