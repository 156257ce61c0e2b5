package pipeline

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// wire is a hop between two transforms with the ports it connects.
type wire struct {
	from, to *plan
	out      []transform.Port // ports of from that feed it; usually one
	in       int              // index into to's input ports
	targeted bool             // a setting names the hop's end: rows go to copy 0 only
	bridge   bool             // on no undirected cycle
}

// plan is a node while the execution is prepared.
type plan struct {
	node    *Node
	copies  int
	links   transform.Links
	ports   transform.Ports
	schemas transform.Schemas
	in, out []*wire
	units   []*unit
	// released is the plan that takes the rows of a sealed cut: its transform is
	// this one, and released emits what was spooled.
	released *plan
	mixed    bool      // takes rows of different layouts
	origin   *plan     // of a released plan: the one that it was split from
	spool    *spooling // not nil: the output is spooled
	hidden   bool      // it only gives spooled rows out
}

// tree says whether the hop lies on no undirected cycle of transform copies:
// several copies of its source, fed by one transform, make one.
func (w *wire) tree() bool { return w.bridge && len(w.from.units) == 1 }

// layout computes ports, wires and schemas of a graph.
type layout struct {
	graph *Graph
	plans []*plan
	wires []*wire
}

// newLayout wires the running nodes of a graph. The resolver gives the values of
// variables in copies.
func newLayout(g *Graph, resolver transform.Resolver, cuts map[string]Cut, bound map[string]Bound) (*layout, error) {
	l := &layout{graph: g}
	for _, n := range g.Nodes {
		if n.Disabled {
			continue
		}
		if l.plan(n.Name) != nil {
			return nil, &engine.Error{Transform: n.Name, Message: "two transforms have this name", Hint: "rename one of them"}
		}
		copies, err := copiesOf(n, resolver)
		if err != nil {
			return nil, err
		}
		p := &plan{node: n, copies: copies}
		key := strings.ToLower(n.Name)
		if b := bound[key]; b != nil {
			p.copies = copiesIn(b)
			p.node = n.standIn(&boundSettings{real: n.Settings, rows: b})
		}
		l.plans = append(l.plans, p)
		if c := cuts[key]; c != nil {
			p.spool = &spooling{cut: c, ready: make(chan struct{})}
			if !c.Streams() {
				p.release(l)
			}
		}
	}
	if len(l.plans) == 0 {
		return l, nil
	}
	for _, h := range g.Hops {
		from, to := l.plan(h.From), l.plan(h.To)
		if from != nil && from.released != nil {
			from = from.released
		}
		if from == nil || to == nil || from == to {
			return nil, &engine.Error{Transform: h.To, Message: fmt.Sprintf("the hop from %q cannot be followed", h.From), Hint: "both ends must be different transforms of the pipeline"}
		}
		w := &wire{from: from, to: to}
		from.out, to.in = append(from.out, w), append(to.in, w)
		l.wires = append(l.wires, w)
	}
	for _, p := range l.plans {
		if err := p.bindPorts(); err != nil {
			return nil, err
		}
	}
	l.markBridges()
	return l, nil
}

// release splits a plan: it keeps the transform, whose rows are only spooled, and
// a second plan of the same name gives them out once they are sealed.
func (p *plan) release(l *layout) {
	sp := p.spool
	s := &boundSettings{
		real: p.node.Settings, rows: sp.cut, ready: sp.ready,
		err: func() error { return sp.err }, schemas: func() transform.Schemas { return p.schemas },
	}
	p.released = &plan{node: p.node.standIn(s), copies: p.copies, hidden: true, origin: p}
	l.plans = append(l.plans, p.released)
}

// standIn gives a node with other settings and no error handling of its own: its
// error rows come from the settings.
func (n *Node) standIn(s transform.Settings) *Node {
	c := *n
	c.Settings, c.Problems, c.PerCopy = s, nil, true
	return &c
}

func (l *layout) plan(name string) *plan {
	for _, p := range l.plans {
		if !p.hidden && strings.EqualFold(p.node.Name, name) {
			return p
		}
	}
	return nil
}

func copiesOf(n *Node, resolver transform.Resolver) (int, error) {
	text, err := resolver.Resolve(n.Copies)
	if err != nil {
		return 0, &engine.Error{Transform: n.Name, Message: "number of copies", Err: err}
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return 1, nil
	}
	c, err := strconv.Atoi(text)
	if err != nil || c < 1 || c > maxCopies {
		return 0, &engine.Error{
			Transform: n.Name, Value: text, Message: "this number of copies cannot be run",
			Hint: fmt.Sprintf("give a whole number from 1 to %d, or set the variable it names", maxCopies),
		}
	}
	return c, nil
}

const maxCopies = 1024

// bindPorts assigns the hops of a plan to the ports of its settings.
func (p *plan) bindPorts() error {
	p.links = transform.Links{Transform: p.node.Name, Copies: p.copies, Error: p.node.Errors}
	for _, w := range p.in {
		p.links.Inputs = append(p.links.Inputs, transform.Input{From: w.from.node.Name})
	}
	for _, w := range p.out {
		if !p.isErrorWire(w) {
			p.links.Outputs = append(p.links.Outputs, w.to.node.Name)
		}
	}
	p.ports = transform.PortsOf(p.node.Settings, p.links)
	for i, w := range p.in {
		k := p.inputPort(w.from.node.Name)
		if k < 0 {
			return &engine.Error{Transform: p.node.Name, Message: fmt.Sprintf("it does not read from %q", w.from.node.Name), Hint: "name that transform in the settings, or remove the hop"}
		}
		w.in = k
		p.links.Inputs[i].Info = p.ports.Inputs[k].Info
	}
	for k, port := range p.ports.Inputs {
		if port.Required && !p.connected(k) {
			name := port.From
			if name == "" {
				name = port.Name
			}
			return &engine.Error{Transform: p.node.Name, Message: fmt.Sprintf("its input %q is not connected", name), Hint: "draw an enabled hop from it"}
		}
	}
	for _, w := range p.out {
		p.bindOutput(w)
	}
	return nil
}

func (p *plan) isErrorWire(w *wire) bool {
	return p.node.Errors != nil && strings.EqualFold(p.node.Errors.Target, w.to.node.Name)
}

func (p *plan) inputPort(from string) int {
	fallback := -1
	for k, port := range p.ports.Inputs {
		switch {
		case port.From == "":
			if fallback < 0 {
				fallback = k
			}
		case strings.EqualFold(port.From, from):
			return k
		}
	}
	return fallback
}

func (p *plan) connected(port int) bool {
	for _, w := range p.in {
		if p.inputPort(w.from.node.Name) == port {
			return true
		}
	}
	return false
}

func (p *plan) bindOutput(w *wire) {
	if p.isErrorWire(w) {
		w.out = []transform.Port{transform.Error}
		return
	}
	for _, port := range p.ports.Outputs {
		if port.Target != "" && strings.EqualFold(port.Target, w.to.node.Name) {
			w.out, w.targeted = append(w.out, port.ID), true
		}
	}
	if w.targeted {
		return
	}
	for _, port := range p.ports.Outputs {
		if port.Target == "" {
			w.out = append(w.out, port.ID)
		}
	}
}

// computeSchemas asks every transform for its output schemas, sources first.
func (l *layout) computeSchemas(design func(*plan) transform.Design) error {
	order, err := l.topological()
	if err != nil {
		return err
	}
	for _, p := range order {
		if err := p.readInputs(); err != nil {
			return err
		}
		s, err := p.node.Settings.Output(p.links, design(p))
		if err != nil {
			return atTransform(p.node.Name, err)
		}
		if p.node.Errors != nil && s[transform.Error] == nil {
			s[transform.Error] = p.links.ErrorSchema(p.links.Main())
		}
		p.schemas = s
	}
	return nil
}

// readInputs fills in the schemas of the links and checks that hops into one
// port have the same layout.
func (p *plan) readInputs() error {
	first := map[int]int{}
	for i, w := range p.in {
		var s *batch.Schema
		for _, port := range w.out {
			if t := w.from.schemas[port]; t != nil {
				s = t
				break
			}
		}
		if s == nil {
			s = batch.NewSchema()
		}
		p.links.Inputs[i].Schema = s
		if p.ports.Inputs[w.in].Separate || len(w.out) == 0 {
			continue
		}
		k, seen := first[w.in]
		if !seen {
			first[w.in] = i
			continue
		}
		err := p.links.Inputs[k].Schema.SameLayout(s)
		if err != nil && p.ports.Inputs[w.in].AnyLayout && len(p.out) == 0 {
			p.mixed = true
			continue
		}
		if err != nil {
			return &engine.Error{
				Transform: p.node.Name, Err: err,
				Message: fmt.Sprintf("rows from %q and %q have different layouts", p.in[k].from.node.Name, w.from.node.Name),
				Hint:    "give both the same fields in the same order, for example with Select values",
			}
		}
	}
	return nil
}

// topological orders the plans so that inputs come first; a cycle is an error.
func (l *layout) topological() ([]*plan, error) {
	const onPath, done = 1, 2
	seen := map[*plan]int{}
	var order []*plan
	var visit func(*plan) error
	visit = func(p *plan) error {
		switch seen[p] {
		case onPath:
			return &engine.Error{Transform: p.node.Name, Message: "the hops run in a circle", Hint: "remove or disable one of them"}
		case done:
			return nil
		}
		seen[p] = onPath
		if p.origin != nil {
			if err := visit(p.origin); err != nil {
				return err
			}
		}
		for _, w := range p.in {
			if err := visit(w.from); err != nil {
				return err
			}
		}
		seen[p] = done
		order = append(order, p)
		return nil
	}
	for _, p := range l.plans {
		if err := visit(p); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// markBridges finds the wires that lie on no undirected cycle. Waiting for the
// end of another transform counts as a connection. Only inputs on a cycle can
// take part in a deadlock: their queues spill.
func (l *layout) markBridges() {
	type link struct {
		to *plan
		w  *wire
		id int
	}
	next := map[*plan][]link{}
	id := 0
	connect := func(a, b *plan, w *wire) {
		next[a] = append(next[a], link{b, w, id})
		next[b] = append(next[b], link{a, w, id})
		id++
	}
	for _, w := range l.wires {
		connect(w.from, w.to, w)
	}
	for _, p := range l.plans {
		if p.released != nil {
			connect(p, p.released, nil)
		}
	}
	for _, p := range l.plans {
		for _, name := range p.ports.WaitsFor {
			if q := l.plan(name); q != nil && q != p {
				connect(p, q, nil)
			}
		}
	}
	depth, low, clock := map[*plan]int{}, map[*plan]int{}, 0
	var visit func(p *plan, via int)
	visit = func(p *plan, via int) {
		clock++
		depth[p], low[p] = clock, clock
		for _, e := range next[p] {
			if e.id == via {
				continue
			}
			if depth[e.to] != 0 {
				low[p] = min(low[p], depth[e.to])
				continue
			}
			visit(e.to, e.id)
			low[p] = min(low[p], low[e.to])
			if low[e.to] > depth[p] && e.w != nil {
				e.w.bridge = true
			}
		}
	}
	for _, p := range l.plans {
		if depth[p] == 0 {
			visit(p, -1)
		}
	}
}

func atTransform(name string, err error) error {
	if e, ok := err.(*engine.Error); ok { //nolint:errorlint // what wraps one keeps its own words
		if e.Transform == "" {
			c := *e
			c.Transform = name
			return &c
		}
		return e
	}
	return &engine.Error{Transform: name, Err: err}
}
