package presenter

import (
	"math"
	"strconv"
	"strings"

	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// iconHalf is the way from the place that Hop stores, the top left of an icon of
// 32 pixels, to its centre.
const iconHalf = 16

// SceneID is the name of an element on the canvas.
func SceneID(id hopxml.ID) scene.ID { return scene.ID(strconv.FormatUint(uint64(id), 10)) }

// ElementID is the element behind a name on the canvas; 0 when it is none.
func ElementID(id scene.ID) hopxml.ID {
	n, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return hopxml.ID(n)
}

// Scene describes the file for the canvas, with what a run shows on its nodes; run
// may be nil.
func (f *File) Scene(run *RunView) scene.Graph {
	g := scene.Graph{}
	for _, n := range f.view.nodes {
		g.Nodes = append(g.Nodes, f.sceneNode(n, run))
	}
	badges := map[scene.ID]scene.Gate{}
	for _, n := range g.Nodes {
		badges[n.ID] = n.Gate
	}
	for _, h := range f.view.hops {
		hop := f.sceneHop(h)
		hop.Gate = badges[hop.From]
		g.Hops = append(g.Hops, hop)
	}
	for _, n := range f.view.notes {
		at := scene.Point{X: float64(n.X), Y: float64(n.Y)}
		size := scene.Point{X: math.Max(24, float64(n.Width)), Y: math.Max(24, float64(n.Height))}
		g.Notes = append(g.Notes, scene.Note{ID: SceneID(n.ID), Rect: scene.Rect{Min: at, Max: at.Add(size)}, Text: n.Text})
	}
	return g
}

func (f *File) sceneNode(n Node, run *RunView) scene.Node {
	s := scene.Node{
		ID: SceneID(n.ID), Label: n.Name, Icon: "help",
		Pos: scene.Point{X: float64(n.X + iconHalf), Y: float64(n.Y + iconHalf)},
	}
	if k, ok := f.Kind(n); ok {
		s.Icon, s.Outside = k.Icon, k.Outside
	}
	if n.Copies != "" && n.Copies != "1" {
		s.Copies = "×" + n.Copies
	}
	s.Gate = f.badge(n.Name)
	s.Disabled = f.disabled(n)
	if run == nil {
		f.sealedRows(&s, n.Name)
	}
	run.decorate(&s, n.Name)
	return s
}

// SetGates says how the gates stand, for the badges.
func (f *File) SetGates(g *Gates) { f.gates = g }

// Gates is how the gates stood when they were looked at last; nil: never yet.
func (f *File) Gates() *Gates { return f.gates }

// badge is the state of the gate at a node; one that was marked just now is armed.
func (f *File) badge(node string) scene.Gate {
	if !f.view.gates[lower(node)] {
		return scene.GateNone
	}
	if v, ok := f.gates.Gate(node); ok {
		return v.Badge()
	}
	return scene.GateArmed
}

// sealedRows puts under a node what its snapshot or cache holds.
func (f *File) sealedRows(s *scene.Node, node string) {
	switch {
	case f.view.gates[lower(node)]:
		v, _ := f.gates.Gate(node)
		s.Metric = v.Metric()
	case f.view.caches[lower(node)]:
		v, ok := f.gates.Cache(node)
		if s.Metric = v.Metric(); !ok || s.Metric == "" {
			s.Metric = "cached at the next run"
		}
		if v.Stale() {
			s.Metric, s.MetricTone = "cache is stale", scene.ToneWarn
		}
	}
}

// IconOf names the icon of the node with a name, "help" when its type is unknown.
func (f *File) IconOf(name string) string {
	n, ok := f.NodeNamed(name)
	if !ok {
		return "help"
	}
	return f.sceneNode(n, nil).Icon
}

// disabled tells whether a node has hops and all of them are off: it does not run.
func (f *File) disabled(n Node) bool {
	some := false
	for _, h := range f.view.hops {
		if h.FromID != n.ID && h.ToID != n.ID {
			continue
		}
		if h.Enabled {
			return false
		}
		some = true
	}
	return some
}

func (f *File) sceneHop(h hopxml.Hop) scene.Hop {
	s := scene.Hop{ID: SceneID(h.ID), From: SceneID(h.FromID), To: SceneID(h.ToID), Disabled: !h.Enabled}
	if !f.IsPipeline() {
		switch h.Condition() {
		case hopxml.OnSuccess:
			s.Kind = scene.HopSuccess
		case hopxml.OnFailure:
			s.Kind = scene.HopFailure
		default:
			s.Kind = scene.HopAlways
		}
		return s
	}
	from, to := f.view.nodes[f.view.byID[h.FromID]], f.view.nodes[f.view.byID[h.ToID]]
	if h.Error {
		s.Kind = scene.HopError
		return s
	}
	s.Label = f.outputLabel(from, to)
	for _, port := range f.ports(to).Inputs {
		if port.Info && strings.EqualFold(port.From, from.Name) {
			s.Kind = scene.HopInfo
		}
	}
	return s
}

// outputLabel is the word of the output that a hop leaves from, "" for the main one.
func (f *File) outputLabel(from, to Node) string {
	for _, port := range f.ports(from).Outputs {
		if port.Target != "" && strings.EqualFold(port.Target, to.Name) {
			return port.Label
		}
	}
	return ""
}

func (f *File) ports(n Node) transform.Ports {
	d := f.decode(n)
	if d.transform() == nil {
		return transform.DefaultPorts()
	}
	return transform.PortsOf(d.transform(), f.links(n))
}

// links are how a node is wired, without schemas.
func (f *File) links(n Node) transform.Links {
	l := transform.Links{Transform: n.Name, Copies: 1}
	for _, h := range f.view.hops {
		switch {
		case !h.Enabled:
		case h.ToID == n.ID:
			l.Inputs = append(l.Inputs, transform.Input{From: h.From})
		case h.FromID == n.ID && h.Error:
			l.Error = &transform.ErrorLink{Target: h.To}
		case h.FromID == n.ID:
			l.Outputs = append(l.Outputs, h.To)
		}
	}
	return l
}
