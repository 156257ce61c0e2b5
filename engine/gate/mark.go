package gate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sluice/engine"
	"sluice/engine/hopxml"
)

// Gate is a mark bound to a node of a file.
type Gate struct {
	// Node is the node's name today. FormerName is the one the mark was written
	// under, when the node was renamed by a program that does not know gates.
	Node, FormerName string
	ID               string // 12 hex digits
	Settings         map[string]string
}

// MarkProblem is a mark that cannot be trusted: nothing may run before it is
// repaired.
type MarkProblem struct {
	Node    string // as the mark names it
	ID      string
	Message string
	Repair  string
}

// Error gives message and repair.
func (p *MarkProblem) Error() string { return p.Message + " (" + p.Repair + ")" }

// Marks are the gates of one file and what is wrong with its marks.
type Marks struct {
	Gates    []*Gate // in the order of the nodes
	Problems []*MarkProblem
}

// Gate finds the gate of a node; nil when it has none.
func (m *Marks) Gate(node string) *Gate {
	for _, g := range m.Gates {
		if hopxml.EqualName(g.Node, node) {
			return g
		}
	}
	return nil
}

// Err joins the problems into one error that names the file and the repairs, nil
// when there are none.
func (m *Marks) Err() error {
	if len(m.Problems) == 0 {
		return nil
	}
	var what, repair []string
	for _, p := range m.Problems {
		what = append(what, p.Message)
		if !slices.Contains(repair, p.Repair) {
			repair = append(repair, p.Repair)
		}
	}
	return &engine.Error{Message: strings.Join(what, "; "), Hint: strings.Join(repair, "; ")}
}

// node is a transform or an action with its own attributes.
type node struct {
	id         hopxml.ID
	name       string
	attributes hopxml.Attributes
}

// ReadMarks gives the gates of a pipeline or workflow. The error is for a
// document that is neither.
func ReadMarks(d *hopxml.Document) (*Marks, error) { return readMarks(d, hopxml.GateGroup) }

func readMarks(d *hopxml.Document, group string) (*Marks, error) {
	nodes, root, err := nodesOf(d)
	if err != nil {
		return nil, err
	}
	b := binder{group: group, nodes: nodes, bound: map[string]*Gate{}}
	return b.bind(collect(root.Group(group))), nil
}

func nodesOf(d *hopxml.Document) ([]node, hopxml.Attributes, error) {
	var nodes []node
	if d.Kind() == hopxml.WorkflowKind {
		w, err := d.Workflow()
		if err != nil {
			return nil, nil, err
		}
		for i := range w.Actions {
			a := &w.Actions[i]
			nodes = append(nodes, node{a.ID, a.Name, a.Attributes})
		}
		return nodes, w.Attributes, nil
	}
	p, err := d.Pipeline()
	if err != nil {
		return nil, nil, err
	}
	for i := range p.Transforms {
		t := &p.Transforms[i]
		nodes = append(nodes, node{t.ID, t.Name, t.Attributes})
	}
	return nodes, p.Attributes, nil
}

// collect gathers the root entries by node name; of repeated keys the last
// counts, as in Hop.
func collect(entries []hopxml.Attribute) []*Gate {
	var marks []*Gate
	for _, e := range entries {
		name, setting, ok := hopxml.SplitNodeKey(e.Key)
		if !ok {
			continue // not one of ours
		}
		i := slices.IndexFunc(marks, func(m *Gate) bool { return hopxml.EqualName(m.Node, name) })
		if i < 0 {
			marks = append(marks, &Gate{Node: name, Settings: map[string]string{}})
			i = len(marks) - 1
		}
		key := strings.ToLower(strings.TrimSpace(setting))
		marks[i].Settings[key] = e.Value
		if key == KeyID {
			marks[i].ID = strings.TrimSpace(e.Value)
		}
	}
	return marks
}

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{12}$`) })

// binder finds the node of each mark: by name first, then by the anchor in the
// node's own attributes.
type binder struct {
	group string
	nodes []node
	bound map[string]*Gate // by lower-case node name
	out   Marks
}

func (b *binder) bind(marks []*Gate) *Marks {
	ids := map[string]string{}
	for _, m := range marks {
		if !idPattern().MatchString(m.ID) {
			b.problem(m, fmt.Sprintf("the mark of %q has no usable id", m.Node), b.again(m.Node))
			continue
		}
		if other, taken := ids[m.ID]; taken {
			b.problem(m, fmt.Sprintf("the marks of %q and %q have one id, %s", other, m.Node, m.ID), b.again(m.Node))
			continue
		}
		ids[m.ID] = m.Node
		b.bindOne(m)
	}
	b.loneAnchors(ids)
	for _, n := range b.nodes {
		if g := b.bound[strings.ToLower(n.name)]; g != nil {
			b.out.Gates = append(b.out.Gates, g)
		}
	}
	return &b.out
}

func (b *binder) bindOne(m *Gate) {
	var named *node
	var anchored []node
	for i, n := range b.nodes {
		if named == nil && hopxml.EqualName(n.name, m.Node) {
			named = &b.nodes[i]
		}
		if b.anchor(n) == m.ID {
			anchored = append(anchored, n)
		}
	}
	switch {
	case len(anchored) > 1:
		names := make([]string, len(anchored))
		for i, n := range anchored {
			names[i] = fmt.Sprintf("%q", n.name)
		}
		extra := anchored[len(anchored)-1].name
		for _, n := range anchored {
			if named == nil || !hopxml.EqualName(n.name, named.name) {
				extra = n.name
			}
		}
		b.problem(m, fmt.Sprintf("%s carry one id, %s: a marked node was copied", strings.Join(names, " and "), m.ID), b.again(extra))
		return
	case named != nil && len(anchored) == 1 && !hopxml.EqualName(anchored[0].name, named.name):
		b.problem(m, fmt.Sprintf("the mark %s names %q, and its id stands on %q", m.ID, named.name, anchored[0].name), b.again(named.name)+" and for "+shellQuote(anchored[0].name))
		return
	case named == nil && len(anchored) == 0:
		b.problem(m, fmt.Sprintf("the mark of %q (id %s) belongs to no node: it was removed, or renamed without its anchor", m.Node, m.ID),
			"remove it with: sluice "+b.command()+" unmark FILE --transform "+shellQuote(m.Node)+", then mark the right one")
		return
	case named == nil:
		named = &anchored[0]
		m.FormerName = m.Node
	}
	m.Node = named.name
	key := strings.ToLower(named.name)
	if other := b.bound[key]; other != nil {
		b.problem(m, fmt.Sprintf("%q has two marks, %s and %s", named.name, other.ID, m.ID), b.again(named.name))
		return
	}
	b.bound[key] = m
}

// loneAnchors finds nodes that were marked once, and whose mark is gone.
func (b *binder) loneAnchors(ids map[string]string) {
	for _, n := range b.nodes {
		id := b.anchor(n)
		if _, known := ids[id]; id == "" || known {
			continue
		}
		b.problem(&Gate{Node: n.name, ID: id}, fmt.Sprintf("%q carries the id %s, and the settings of that mark are gone", n.name, id), b.again(n.name))
	}
}

func (b *binder) anchor(n node) string {
	id, _ := n.attributes.Get(b.group, KeyID)
	return strings.TrimSpace(id)
}

func (b *binder) problem(m *Gate, message, repair string) {
	b.out.Problems = append(b.out.Problems, &MarkProblem{Node: m.Node, ID: m.ID, Message: message, Repair: repair})
}

func (b *binder) command() string {
	if b.group == CacheGroup {
		return "cache"
	}
	return "gate"
}

// again is the repair that gives a node a clean mark or none.
func (b *binder) again(name string) string {
	c := "sluice " + b.command()
	return c + " unmark FILE --transform " + shellQuote(name) + ", then " + c + " mark it again"
}

// Clone gives a copy whose settings may be changed.
func (g *Gate) Clone() *Gate {
	c := *g
	c.Settings = maps.Clone(g.Settings)
	return &c
}
