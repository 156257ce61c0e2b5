package pipeline

import (
	"fmt"
	"strconv"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// stage is a head and the row-wise units fused behind it.
type stage struct {
	exec    *Execution
	head    *unit
	members []*unit // in the order they finish: parents first
	workers int     // 1: everything runs on the head's goroutine
	in      []*input
	info    map[*unit][]*input // of the members that prepare
}

// planStages decides which units are fused, makes the queues between the others
// and a stage for each head.
func (e *Execution) planStages() error {
	feeds := e.gatesFed()
	for _, u := range e.units {
		if in := e.fusingEdge(u); in != nil && feeds[u] == feeds[in.from] {
			u.fused = in.from
		}
	}
	for _, u := range e.units {
		if u.fused != nil {
			continue
		}
		s := &stage{exec: e, head: u, workers: 1, info: map[*unit][]*input{}}
		s.adopt(u)
		e.stages = append(e.stages, s)
	}
	for _, s := range e.stages {
		for _, u := range s.members {
			if err := e.openInputs(s, u); err != nil {
				return err
			}
		}
		if e.opts.Workers > 1 && s.parallel() {
			s.workers = e.opts.Workers
		}
	}
	return nil
}

// gatesFed tells for each unit which cuts that survive failures it is upstream of,
// as a text that is equal for equal sets. Only units with one fate are fused.
func (e *Execution) gatesFed() map[*unit]string {
	out := map[*unit]string{}
	for i, sp := range e.spools {
		if !sp.cut.Survives() {
			continue
		}
		for u := range e.upstream(sp.plan) {
			out[u] += strconv.Itoa(i) + " "
		}
	}
	return out
}

// adopt adds a unit and everything fused behind it.
func (s *stage) adopt(u *unit) {
	u.stage = s
	s.members = append(s.members, u)
	for _, v := range s.exec.units {
		if v.fused == u {
			s.adopt(v)
		}
	}
}

// parallel says whether more than one worker has something to do.
func (s *stage) parallel() bool {
	if _, ok := s.head.proc.(transform.Splitter); ok {
		return true
	}
	for _, u := range s.members {
		if u.spreads() {
			return true
		}
	}
	return false
}

// spreads says whether the unit's work on one batch can run beside that on
// another.
func (u *unit) spreads() bool {
	if _, ok := u.proc.(transform.RowWise); !ok || u.limits != nil {
		return false
	}
	if _, ok := u.proc.(transform.Pacer); ok {
		return false
	}
	if _, ok := u.proc.(transform.Encoder); ok {
		return true
	}
	return transform.ShapeOf(u.proc) == transform.ShapeStateless
}

// fusingEdge gives the edge over which a unit is fused to its sender, nil when it
// heads a stage of its own.
func (e *Execution) fusingEdge(u *unit) *edge {
	if _, ok := u.proc.(transform.RowWise); !ok || len(u.ports.WaitsFor) > 0 {
		return nil
	}
	if _, ok := u.proc.(transform.Pacer); ok {
		return nil
	}
	var main *edge
	for _, in := range u.in {
		if u.ports.Inputs[in.wire.in].Info {
			continue
		}
		if main != nil {
			return nil
		}
		main = in
	}
	if main == nil {
		return nil
	}
	if _, ok := u.proc.(transform.Preparer); ok && !main.wire.bridge {
		return nil
	}
	if e.opts.Workers > 1 && u.spreads() && e.ordersRows(main) {
		return nil
	}
	return main
}

// ordersRows says whether rows come over an edge one batch at a time, so that a
// queue after it lets the next transform use all workers again.
func (e *Execution) ordersRows(in *edge) bool {
	if _, ok := in.from.proc.(transform.RowWise); ok && !in.from.spreads() {
		return true
	}
	if _, ok := in.from.proc.(transform.Encoder); ok {
		return true
	}
	for _, port := range in.wire.out {
		if r := in.from.routes[port]; r.tap != nil || (r.distribute && len(r.edges) > 1) {
			return true
		}
	}
	return false
}

// openInputs makes the queues and readers of a unit: all of a head's, the info
// ones of a fused unit.
func (e *Execution) openInputs(s *stage, u *unit) error {
	codecs := func(schema *batch.Schema) ([]*batch.Codec, error) {
		if _, ok := u.proc.(transform.RawAware); ok {
			return nil, nil
		}
		return e.semantics.Codecs(schema)
	}
	for k, port := range u.ports.Inputs {
		if u.fused != nil && !port.Info {
			continue
		}
		for _, edges := range u.groups(k, port.Separate) {
			schema := u.portSchema(edges)
			c, err := codecs(schema)
			if err != nil {
				return atTransform(u.node.Name, err)
			}
			in := &input{unit: u, schema: schema, typed: c, mixed: u.mixed, pause: e.pausePoint}
			in.queues = e.queues(u, edges, schema)
			if _, ok := u.proc.(transform.Preparer); ok && port.Info {
				s.info[u] = append(s.info[u], in)
			} else {
				s.in = append(s.in, in)
			}
		}
	}
	return e.checkLayoutRead(u)
}

func (e *Execution) checkLayoutRead(u *unit) error {
	for _, in := range u.in {
		if in.queue == nil && u.fused == nil {
			return fmt.Errorf("transform %q: the hop from %q was not planned", u.node.Name, in.from.node.Name)
		}
	}
	return nil
}

// groups gives the edges of an input port: one group for the port, or one per
// hop when its hops are read separately. A port without hops has one empty group.
func (u *unit) groups(port int, separate bool) [][]*edge {
	var list [][]*edge
	var last *wire
	for _, e := range u.in {
		if e.wire.in != port {
			continue
		}
		if len(list) == 0 || (separate && e.wire != last) {
			list = append(list, nil)
		}
		last = e.wire
		list[len(list)-1] = append(list[len(list)-1], e)
	}
	if len(list) == 0 && !separate {
		list = append(list, nil)
	}
	return list
}

func (u *unit) portSchema(edges []*edge) *batch.Schema {
	for i, in := range u.links.Inputs {
		if len(edges) > 0 && in.From == edges[0].from.node.Name {
			return u.links.Inputs[i].Schema
		}
	}
	return batch.NewSchema()
}

// queues makes the queues of a group of edges: one each, so that they can be read
// in turns, or one for all when some source above never ends.
func (e *Execution) queues(u *unit, edges []*edge, schema *batch.Schema) []*queue {
	spills := u.selective()
	var list []*queue
	if len(edges) > 1 && e.unbounded(u) {
		q := newQueue(schema, false, e.spill)
		q.senders = len(edges)
		for _, in := range edges {
			in.queue = q
			q.spills = q.spills || (spills && !in.wire.tree())
		}
		return []*queue{q}
	}
	for _, in := range edges {
		in.queue = newQueue(schema, spills && !in.wire.tree(), e.spill)
		in.queue.senders = 1
		list = append(list, in.queue)
	}
	return list
}

// selective says whether a unit may wait for one thing while another input
// fills up.
func (u *unit) selective() bool { return len(u.in) > 1 || len(u.ports.WaitsFor) > 0 }

// unbounded says whether a source that may never end feeds a unit.
func (e *Execution) unbounded(u *unit) bool {
	seen := map[*unit]bool{}
	var visit func(*unit) bool
	visit = func(v *unit) bool {
		if seen[v] {
			return false
		}
		seen[v] = true
		if s, ok := v.proc.(transform.Unbounded); ok && s.Unbounded() {
			return true
		}
		for _, in := range v.in {
			if visit(in.from) {
				return true
			}
		}
		return false
	}
	return visit(u)
}

func (s *stage) closeQueues() {
	for _, in := range s.in {
		in.close()
	}
	for _, list := range s.info {
		for _, in := range list {
			in.close()
		}
	}
}
