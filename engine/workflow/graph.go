package workflow

import (
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Graph is a workflow that is ready to run: its actions with decoded settings.
type Graph struct {
	Name, File string
	Parameters []project.Parameter
	Nodes      []*Node
	start      *Node
}

// Node is one action.
type Node struct {
	Name, Type string
	Definition action.Definition
	Settings   action.Settings
	Problems   []transform.Problem
	Parallel   bool // its targets start at once
	Retry      Retry
	Hops       []Hop // enabled ones, in the order they are followed
	reachable  bool
	known      bool // its type is supported
}

// Hop leads from one action to the next.
type Hop struct {
	To *Node
	// Unconditional hops are followed always, the others when the action's
	// outcome is OnSuccess.
	Unconditional, OnSuccess bool
}

// Load makes the graph of a workflow that begins at the named action, or at its
// start action when the name is empty. The error names every action on the way
// that is not supported.
func Load(w *hopxml.Workflow, registry *action.Registry, startAt string) (*Graph, error) {
	g := &Graph{Name: w.Info.Name, File: w.Document.Name()}
	for _, p := range w.Info.Parameters {
		g.Parameters = append(g.Parameters, project.Parameter{Name: p.Name, Default: p.Default, Description: p.Description})
	}
	byID := map[hopxml.ID]*Node{}
	for i := range w.Actions {
		a := &w.Actions[i]
		n := loadNode(a, registry)
		byID[a.ID] = n
		g.Nodes = append(g.Nodes, n)
	}
	for _, h := range w.Hops {
		if from, to := byID[h.FromID], byID[h.ToID]; h.Enabled && from != nil && to != nil {
			from.Hops = append(from.Hops, Hop{To: to, Unconditional: h.Unconditional, OnSuccess: h.Evaluation})
		}
	}
	start, err := startOf(w, startAt)
	if err != nil {
		return g, err
	}
	g.start = byID[start.ID]
	g.start.reach()
	return g, g.unsupported()
}

func startOf(w *hopxml.Workflow, name string) (*hopxml.Action, error) {
	if name != "" {
		if a := w.Action(name); a != nil {
			return a, nil
		}
		return nil, &engine.Error{Message: fmt.Sprintf("the workflow has no action %q to start at", name), Hint: "it has " + strings.Join(names(w), ", ")}
	}
	if a := w.Start(); a != nil {
		return a, nil
	}
	return nil, &engine.Error{Message: "the workflow has no Start action", Hint: "add one, or name the action to start at"}
}

func names(w *hopxml.Workflow) []string {
	var list []string
	for i := range w.Actions {
		list = append(list, w.Actions[i].Name)
	}
	return list
}

func loadNode(a *hopxml.Action, registry *action.Registry) *Node {
	n := &Node{Name: a.Name, Type: a.Type, Parallel: a.Parallel}
	if n.Definition, n.known = registry.Find(a.Type); n.known {
		n.Settings, n.Problems = n.Definition.Decode(a.Element)
	}
	var err error
	if n.Retry, err = readRetry(a.Attributes); err != nil {
		n.Problems = append(n.Problems, transform.Errorf("", "retry: %v", err))
	}
	return n
}

// reach marks the action and all that hops lead to from it.
func (n *Node) reach() {
	for todo := []*Node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.reachable {
			continue
		}
		n.reachable = true
		for _, h := range n.Hops {
			todo = append(todo, h.To)
		}
	}
}

// leadsTo says whether hops lead from an action to another one, or whether they
// are the same.
func (n *Node) leadsTo(target *Node) bool {
	seen := map[*Node]bool{}
	for todo := []*Node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == target {
			return true
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, h := range n.Hops {
			todo = append(todo, h.To)
		}
	}
	return false
}

func (g *Graph) unsupported() error {
	var problems []string
	for _, n := range g.Nodes {
		if n.reachable && !n.known {
			problems = append(problems, fmt.Sprintf("action %q (type %s) is not supported yet", n.Name, n.Type))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &engine.Error{Message: strings.Join(problems, "; "), Hint: "remove it or disable the hops to it, or run the workflow with Hop"}
}

// Node finds an action by name; case does not matter. It is nil when there is
// none.
func (g *Graph) Node(name string) *Node {
	for _, n := range g.Nodes {
		if hopxml.EqualName(n.Name, name) {
			return n
		}
	}
	return nil
}

// Start is the action that the workflow begins with.
func (g *Graph) Start() *Node { return g.start }

// Followed gives the targets of the hops that an outcome leads along.
func (n *Node) Followed(ok bool) []*Node { return n.followed(ok) }

// LeadsTo says whether hops lead from an action to another one, or whether they
// are the same.
func (n *Node) LeadsTo(target *Node) bool { return n.leadsTo(target) }

// followed gives the targets of the hops that an outcome leads along.
func (n *Node) followed(ok bool) []*Node {
	var targets []*Node
	for _, h := range n.Hops {
		if h.Unconditional || (!n.Definition.Unconditional && h.OnSuccess == ok) {
			targets = append(targets, h.To)
		}
	}
	return targets
}
