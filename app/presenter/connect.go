package presenter

import (
	"fmt"
	"slices"

	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Link is a way to connect two nodes.
type Link struct {
	Label   string // "main output", "true", "error"
	Setting string // path of the setting that names the target; "" for main and error
	Error   bool
	Taken   string // the node that the setting names now
}

// Links lists the ways a hop may go from one node to another.
func (f *File) Links(from scene.ID) []Link {
	links := []Link{{Label: "Main output"}}
	n, ok := f.Node(ElementID(from))
	d := f.decode(n)
	if !ok || d.transform() == nil {
		return links
	}
	entries, err := d.kind.entries(d.settings)
	if err != nil {
		return links
	}
	_, porter := d.settings.(transform.Porter)
	for _, e := range entries {
		if porter && e.Setting.Form == "target" || e.Setting.Form == "transform" && isOutput(d.kind, e.Setting) {
			links = append(links, Link{Label: e.Setting.Title(), Setting: e.Setting.Key(), Taken: e.Text})
		}
	}
	if d.kind.HandlesErrors {
		links = append(links, Link{Label: "Error rows", Error: true})
	}
	return links
}

// isOutput tells whether a setting that names a transform names one that gets rows:
// a port of its outputs goes there when it is set.
func isOutput(k *Kind, s *transform.Setting) bool {
	const probe = "\x01"
	fresh, ok := k.fresh().(transform.Settings)
	if !ok || !transform.SetText(fresh, s, probe) {
		return false
	}
	return slices.ContainsFunc(transform.PortsOf(fresh, transform.Links{Outputs: []string{probe}}).Outputs, func(p transform.OutputPort) bool { return p.Target == probe })
}

// Connect makes a hop.
func (f *File) Connect(from, to scene.ID, l Link) error {
	a, okA := f.Node(ElementID(from))
	b, okB := f.Node(ElementID(to))
	if !okA || !okB {
		return hopxml.ErrNotFound
	}
	label := fmt.Sprintf("connect %s to %s", a.Name, b.Name)
	if l.Error {
		return f.Do(label, hopxml.SetErrorHandling(hopxml.ErrorHandling{Source: a.Name, Target: b.Name, SourceID: a.ID, TargetID: b.ID, Enabled: true}))
	}
	edits := []hopxml.Edit{hopxml.AddHop(hopxml.Hop{From: a.Name, To: b.Name, Enabled: true, Evaluation: true, Unconditional: !f.IsPipeline() && a.Type == hopxml.StartType})}
	if f.joined(a.ID, b.ID) {
		edits = nil
	}
	if l.Setting != "" {
		edits = append(edits, f.setEntry(a, l.Setting, b.Name)...)
	}
	return f.Do(label, edits...)
}

// setEntry changes one top-level setting of a node.
func (f *File) setEntry(n Node, key, text string) []hopxml.Edit {
	d := f.decode(n)
	if d.kind == nil {
		return nil
	}
	old, err := d.kind.entries(d.settings)
	if err != nil {
		return nil
	}
	changed := transform.CloneEntries(old)
	for i := range changed {
		if changed[i].Setting.Key() == key {
			changed[i].Text = text
		}
	}
	return transform.EncodeEntries(n.Element, old, changed)
}

// CanConnect tells whether a hop may go from one node to another: not to itself,
// not twice, not in a circle (workflows may loop), not into the start.
func (f *File) CanConnect(from, to scene.ID) bool {
	a, b := ElementID(from), ElementID(to)
	n, ok := f.Node(b)
	if !ok || a == b || f.joined(a, b) || !f.IsPipeline() && n.Type == hopxml.StartType {
		return false
	}
	return !f.IsPipeline() || !f.reaches(b, a)
}

// reaches tells whether hops lead from one node to another.
func (f *File) reaches(from, to hopxml.ID) bool {
	seen := map[hopxml.ID]bool{from: true}
	for queue := []hopxml.ID{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		for _, h := range f.view.hops {
			if h.FromID == queue[0] && !seen[h.ToID] {
				seen[h.ToID] = true
				queue = append(queue, h.ToID)
			}
		}
	}
	return false
}
