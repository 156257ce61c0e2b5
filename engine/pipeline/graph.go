package pipeline

import (
	"bytes"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Graph is a pipeline as it will run. It may be changed before Prepare.
type Graph struct {
	Name       string
	File       string // path of the file, empty when there is none
	Facts      transform.PipelineFacts
	Parameters []project.Parameter
	Nodes      []*Node
	Hops       []Hop // enabled ones, in file order
}

// Node is one transform.
type Node struct {
	Name       string
	Type       string
	Definition transform.Definition
	Settings   transform.Settings
	Problems   []transform.Problem // of reading the settings
	Copies     string              // number or variable
	Distribute bool
	Errors     *transform.ErrorLink // nil unless enabled and supported
	Disabled   bool                 // has hops, all of them disabled: it does not run
	PerCopy    bool                 // its settings use variables that differ between copies
}

// Hop is an enabled hop.
type Hop struct{ From, To string }

// Load reads a pipeline document into a graph with the transforms of a registry.
// The error lists every transform whose type is not in the registry, and what
// else cannot run.
func Load(p *hopxml.Pipeline, registry *transform.Registry) (*Graph, error) {
	g := &Graph{Name: p.Info.Name, File: p.Document.Name()}
	g.Facts = transform.PipelineFacts{
		Name: p.Info.Name, File: g.File,
		ModifiedUser: p.Info.ModifiedUser, ModifiedDate: p.Info.ModifiedDate,
	}
	for _, q := range p.Info.Parameters {
		g.Parameters = append(g.Parameters, project.Parameter{Name: q.Name, Default: q.Default, Description: q.Description})
	}
	var problems []string
	for i := range p.Transforms {
		n, err := loadNode(&p.Transforms[i], registry)
		if err != nil {
			if runs(p, n.Name) {
				problems = append(problems, err.Error())
			}
			n.Disabled = true
		}
		g.Nodes = append(g.Nodes, n)
	}
	g.hops(p)
	g.errorHandling(p)
	if len(problems) > 0 {
		return g, &engine.Error{Message: strings.Join(problems, "; "), Hint: "remove or disable it, or run the pipeline with Hop"}
	}
	return g, nil
}

func loadNode(t *hopxml.Transform, registry *transform.Registry) (*Node, error) {
	n := &Node{Name: t.Name, Type: t.Type, Copies: t.Copies, Distribute: t.Distribute}
	def, ok := registry.Find(t.Type)
	if !ok {
		return n, fmt.Errorf("transform %q (type %s) is not supported yet", t.Name, t.Type)
	}
	n.Definition = def
	n.Settings, n.Problems = def.Decode(t.Element)
	n.PerCopy = bytes.Contains(t.Element.Raw(), []byte("Internal.Transform."))
	if m := t.Partitioning.Method; m != "" && !strings.EqualFold(m, "none") {
		return n, fmt.Errorf("transform %q: partitioning (method %s) is not supported yet", t.Name, m)
	}
	if t.CustomDistribution != "" {
		return n, fmt.Errorf("transform %q: row distribution %s is not supported yet", t.Name, t.CustomDistribution)
	}
	return n, nil
}

// runs says whether a transform takes part: it has an enabled hop, or no hop.
func runs(p *hopxml.Pipeline, name string) bool {
	any := false
	for _, h := range p.Hops {
		if hopxml.EqualName(h.From, name) || hopxml.EqualName(h.To, name) {
			if h.Enabled {
				return true
			}
			any = true
		}
	}
	return !any
}

func (g *Graph) hops(p *hopxml.Pipeline) {
	for _, h := range p.Hops {
		if h.Enabled {
			g.Hops = append(g.Hops, Hop{From: h.From, To: h.To})
		}
	}
	for _, n := range g.Nodes {
		n.Disabled = n.Disabled || !runs(p, n.Name)
	}
}

// errorHandling notes the error hops of the transforms that can have one; for
// the others Hop ignores the entry.
func (g *Graph) errorHandling(p *hopxml.Pipeline) {
	for _, h := range p.Hops {
		if !h.Enabled || !h.Error {
			continue
		}
		n := g.Node(h.From)
		e := p.HandlingOf(h.FromID)
		if n == nil || e == nil || !e.Enabled || !n.Definition.HandlesErrors {
			continue
		}
		count, descriptions, fields, codes := e.FieldNames()
		n.Errors = &transform.ErrorLink{
			Target: h.To, CountField: count, DescriptionField: descriptions, FieldField: fields, CodeField: codes,
			MaxErrors: e.MaxErrors, MaxPercent: e.MaxPercent, MinRows: e.MinRows,
		}
	}
}

// Node finds a node by name; case does not matter. It is nil when there is none.
func (g *Graph) Node(name string) *Node {
	for _, n := range g.Nodes {
		if strings.EqualFold(n.Name, name) {
			return n
		}
	}
	return nil
}

// Remove takes a node and its hops out.
func (g *Graph) Remove(name string) {
	keep := g.Nodes[:0:0]
	for _, n := range g.Nodes {
		if !strings.EqualFold(n.Name, name) {
			keep = append(keep, n)
		}
	}
	g.Nodes = keep
	hops := g.Hops[:0:0]
	for _, h := range g.Hops {
		if !strings.EqualFold(h.From, name) && !strings.EqualFold(h.To, name) {
			hops = append(hops, h)
		}
	}
	g.Hops = hops
}
