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
	for _, h := range f.view.hops {
		g.Hops = append(g.Hops, f.sceneHop(h))
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
	if f.view.gates[strings.ToLower(n.Name)] {
		s.Gate = scene.GateArmed
	}
	s.Disabled = f.disabled(n)
	run.decorate(&s, n.Name)
	return s
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
	if f.view.gates[strings.ToLower(from.Name)] {
		s.Gate = scene.GateArmed
	}
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
