package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage"
)

// mode says how a pipeline is replayed.
type mode int

const (
	unfinished mode = iota // what did not finish, and what is behind it
	whole                  // everything, from the sources
	fromGates              // everything behind its gates
	fromGate               // everything behind the chosen gate
)

func modeOf(s startAt) mode {
	switch {
	case s.whole:
		return whole
	case s.gate != "":
		return fromGate
	}
	return unfinished
}

// errJudged ends a preparation that was only made to be looked at.
var errJudged = errors.New("judged")

// pipeline plans the pipeline that ran at a place.
func (p *planner) pipeline(ctx context.Context, at engine.CallPath, e *storage.Execution, m mode) error {
	file := p.rebase(e.File)
	d, err := p.document(ctx, file, e)
	var view *hopxml.Pipeline
	if err == nil {
		view, err = d.Pipeline()
	}
	if err != nil {
		p.plan.add(at, gate.Check{ID: CheckDefinition, Status: gate.Block, What: fmt.Sprintf("%s cannot be used: %v", file, err), Do: "put the file back, or name the project with --project"})
		return nil
	}
	runner := *p.ground.Pipelines
	runner.Watcher, runner.Extend = nil, nil
	t := &transforms{planner: p, at: at, execution: e, mode: m, links: p.src.links(e.ID), finished: p.src.finished(at)}
	variables := p.given()
	if at != "" {
		variables = p.ofChild(e)
	}
	_, err = runner.Prepare(ctx, pipeline.Run{
		File: file, Pipeline: view, RunConfig: e.RunConfiguration, Scope: p.ground.Scope, Parameters: variables, Variables: variables,
		CallPath: at, RootID: p.src.Root().ID, ID: e.ID,
		Extend: func(ctx context.Context, prepared *pipeline.Preparation) error {
			if err := t.decide(ctx, prepared); err != nil {
				return err
			}
			return errJudged
		},
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errJudged) {
		p.plan.add(at, gate.Check{ID: CheckDefinition, Status: gate.Block, What: fmt.Sprintf("%s cannot run: %v", file, err), Do: "mend the file"})
		return nil
	}
	p.pipelineChanges(ctx, e, d, t)
	return nil
}

// ofChild are the variables that a child was given, as recorded, with those that
// a person has chosen.
func (p *planner) ofChild(e *storage.Execution) map[string]string {
	out := map[string]string{}
	for _, v := range e.Variables {
		if !v.Secret && !gate.MachineBound(v.Name) {
			out[v.Name] = p.rebase(v.Value)
		}
	}
	maps.Copy(out, p.o.Given)
	return out
}

// transforms is the plan of one pipeline while it is made.
type transforms struct {
	*planner
	at        engine.CallPath
	execution *storage.Execution
	mode      mode
	links     map[string]storage.SnapshotLink
	finished  map[string]bool

	graph *pipeline.Graph
	vars  transform.Resolver
	gates map[string]storage.SnapshotLink // sealed ones that are marked, by lower-case name
	above map[string]bool                 // what the bound gates stand for
}

func key(name string) string { return strings.ToLower(name) }

func (t *transforms) decide(ctx context.Context, prepared *pipeline.Preparation) error {
	t.graph, t.vars, t.gates = prepared.Graph, prepared.Options.Vars, map[string]storage.SnapshotLink{}
	marks, err := gate.ReadMarks(prepared.Pipeline.Document)
	if err != nil {
		return err
	}
	interrupted := ""
	for node, l := range t.links {
		if m := marks.Gate(node); m != nil {
			node = m.Node
		}
		switch n := t.graph.Node(node); {
		case n == nil || n.Disabled:
		case l.Digest != "" || t.ground.Session(gate.SessionOptions{}).IsSealed(ctx, l.Location, l.Ref):
			t.gates[key(n.Name)] = l
			t.finish(n.Name)
		default:
			interrupted = n.Name
		}
	}
	wanted, run, from := t.choose(prepared.Pipeline.Document)
	if t.mode == fromGate && from[0].Snapshot == "" {
		t.plan.add(t.at, gate.Check{
			ID: gate.CheckGate, Gate: t.start.gate, Status: gate.Block, What: fmt.Sprintf("this execution has no rows of %q: it was no gate then, or was not reached", t.start.gate),
			Do: "choose a start point that is usable, or " + runWhole,
		})
		t.steps(nil, nil)
		return nil
	}
	if t.mode != whole && len(from) == 0 {
		if t.at == "" {
			t.blockWithoutGate(interrupted, len(run) == 0)
			t.steps(nil, nil)
			return nil
		}
		run = t.everything()
	}
	if t.mode == whole {
		run, from = t.everything(), nil
	}
	var bound []gate.Reused
	if len(from) > 0 {
		// What feeds the wanted ones is found, and judged, by the gates.
		only := map[engine.CallPath]map[string]bool{t.at: wanted}
		j, err := t.ground.Session(gate.SessionOptions{
			From: from, RunOnly: only, Overrides: forSessions(t.o.Overrides), Reason: t.o.Reason, Quick: t.o.Quick, Given: t.o.Given,
		}).Judge(ctx, prepared)
		if err != nil {
			return err
		}
		for i := range j.Checks {
			if c := &j.Checks[i]; c.ID == gate.CheckSegments && c.Status == gate.Warn {
				c.Status = gate.Info // quick verification is acknowledged once for all gates
			}
		}
		t.plan.add(t.at, j.Checks...)
		t.plan.from, t.plan.only[t.at] = append(t.plan.from, from...), wanted
		bound = j.Bound
		t.plan.bound = append(t.plan.bound, bound...)
		for k := range j.Run {
			run[k] = true
		}
	}
	t.steps(run, bound)
	t.leftFiles(run)
	t.secondWrites(ctx, run)
	return nil
}

// blockWithoutGate: a replay never reads a source that has moved on, unless a
// person says so.
func (t *transforms) blockWithoutGate(interrupted string, done bool) {
	c := gate.Check{ID: gate.CheckGate, Status: gate.Block, What: "no gate was reached, so there are no rows to replay", Do: runWhole}
	switch {
	case done:
		c = gate.Check{ID: CheckStart, Status: gate.Block, What: nothingLeft, Do: chooseStart}
	case interrupted != "":
		c = gate.Check{ID: gate.CheckSealed, Gate: interrupted, Status: gate.Block, What: gate.InterruptedMessage, Do: runWhole}
	}
	t.plan.add(t.at, c)
}

// finish marks a transform and all above it as done: its gate is sealed.
func (t *transforms) finish(name string) {
	for _, n := range gate.Upstream(t.graph, name) {
		t.finished[n.Name] = true
	}
}

func (t *transforms) everything() map[string]bool {
	run := map[string]bool{}
	for _, n := range t.graph.Nodes {
		if !n.Disabled {
			run[key(n.Name)] = true
		}
	}
	return run
}

// choose gives the transforms that are wanted, those that run because they feed
// them, too, and the gates that feed both.
func (t *transforms) choose(marked *hopxml.Document) (wanted, run map[string]bool, from []gate.Start) {
	run = map[string]bool{}
	switch t.mode {
	case fromGate:
		name := t.start.gate
		if n := t.graph.Node(name); n != nil {
			t.start.found = true
			name = n.Name
		}
		run = t.below(key(name))
		from = append(from, t.startOf(key(name), name))
	case fromGates:
		for k := range t.gates {
			for below := range t.below(k) {
				run[below] = true
			}
		}
	default:
		for _, n := range t.graph.Nodes {
			if !n.Disabled && !t.finished[n.Name] {
				run[key(n.Name)] = true
				for below := range t.below(key(n.Name)) {
					run[below] = true
				}
			}
		}
	}
	for _, k := range t.givers(marked) {
		run[k] = true
	}
	wanted = maps.Clone(run)
	needed := map[string]bool{}
	if t.mode == fromGate {
		needed[key(t.start.gate)] = true
	}
	for changed := true; changed; {
		changed = false
		for _, h := range t.graph.Hops {
			k := key(h.From)
			if !run[key(h.To)] || run[k] || needed[k] {
				continue
			}
			changed = true
			if _, sealed := t.gates[k]; sealed {
				needed[k] = true
				from = append(from, t.startOf(k, h.From))
				continue
			}
			run[k] = true
		}
	}
	return wanted, run, from
}

func (t *transforms) startOf(k, name string) gate.Start {
	l, ok := t.gates[k]
	if !ok {
		for node, x := range t.links {
			if strings.EqualFold(node, name) {
				l = x
			}
		}
	}
	return gate.Start{Node: name, Snapshot: l.Ref.ID, CallPath: t.at, Digest: l.Digest, Location: l.Location}
}

// below gives what hops lead to from a transform, without itself.
func (t *transforms) below(from string) map[string]bool {
	down := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for _, h := range t.graph.Hops {
			f, to := key(h.From), key(h.To)
			if (f == from || down[f]) && !down[to] && to != from {
				down[to], changed = true, true
			}
		}
	}
	return down
}

// steps lists the transforms in file order.
func (t *transforms) steps(run map[string]bool, bound []gate.Reused) {
	t.above = map[string]bool{}
	for _, b := range bound {
		for _, n := range gate.Upstream(t.graph, b.Node) {
			t.above[key(n.Name)] = true
		}
	}
	blocked := run == nil
	for _, n := range t.graph.Nodes {
		if n.Disabled {
			continue
		}
		s := Step{CallPath: t.at, Node: n.Name, Kind: KindTransform, Type: n.Type, Decision: Skip, Why: "its work was done"}
		i := slices.IndexFunc(bound, func(b gate.Reused) bool { return strings.EqualFold(b.Node, n.Name) })
		switch {
		case blocked:
			s.Decision, s.Why = Blocked, "no sealed rows"
			if t.finished[n.Name] {
				s.Decision, s.Why = Skip, "its work was done"
			}
		case i >= 0:
			s.Decision, s.Rows, s.Bytes, s.Snapshot = Reuse, bound[i].Rows, bound[i].Bytes, bound[i].Snapshot
			s.Why = "sealed " + bound[i].Sealed.UTC().Format("2006-01-02 15:04:05Z")
		case t.above[key(n.Name)] && !run[key(n.Name)]:
			s.Why = "its rows are behind the gate"
		case run[key(n.Name)]:
			s.Decision, s.Why = Run, t.why(n.Name)
		}
		t.plan.Steps = append(t.plan.Steps, s)
	}
}

// why tells for what reason a transform runs.
func (t *transforms) why(name string) string {
	wanted := t.plan.only[t.at]
	switch {
	case t.mode == whole:
		return "the pipeline runs from its start"
	case !t.finished[name]:
		return "it did not come to its end"
	case t.at != "" && givesOnly[strings.ToUpper(t.graph.Node(name).Type)]:
		return "the workflow needs what it gives"
	case wanted == nil || wanted[key(name)]:
		return "it is behind what runs"
	}
	return "it feeds what has to run"
}

// pipelineChanges shows what was changed behind the gates: that is the fix. What
// is above them was judged by the gates.
func (p *planner) pipelineChanges(ctx context.Context, e *storage.Execution, now *hopxml.Document, t *transforms) {
	then, err := p.recorded(ctx, e)
	if err != nil || t.graph == nil {
		return
	}
	for _, c := range p.diffDocuments(e.File, then, now) {
		if t.above[key(c.Node)] {
			continue
		}
		p.plan.Changes = append(p.plan.Changes, c)
	}
}
