package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/workflow"
	"sluice/storage"
)

// written adds up what a sink has written to one target in the whole chain.
type written struct {
	transform, target, how string
	rows                   int64
	unknown                bool // more may be there: the process was killed
	committed              bool
}

// add counts what one execution wrote.
func (w *written) add(m *storage.TransformMetrics, e *storage.Execution) {
	w.how = m.Sink.How
	w.rows += m.Sink.Rows
	w.unknown = w.unknown || m.Sink.Unknown || !e.State.Ended() || e.State == storage.StateInterrupted
	w.committed = w.committed && (m.Sink.Committed || m.Sink.Rows == 0)
}

// wrote is it for the check.
func (w *written) wrote() *Wrote {
	return &Wrote{Transform: w.transform, Target: w.target, How: w.how, Rows: w.rows, Unknown: w.unknown || !w.committed}
}

// what says how much was written.
func (w *written) what(who string) string {
	to := w.target
	if to == "" {
		to = "its target"
	}
	switch {
	case w.unknown:
		return fmt.Sprintf("%s may have written rows to %s (number unknown, %d were counted; %s)", who, to, w.rows, w.how)
	case !w.committed:
		return fmt.Sprintf("%s has written up to %d rows to %s before it failed (%s)", who, w.rows, to, w.how)
	}
	return fmt.Sprintf("%s has written %d rows to %s already (%s)", who, w.rows, to, w.how)
}

const doTakeOut = "take the rows out of the target first, or accept that they are there twice"

// secondWrites names the sinks to run whose target was written already, by this
// execution or by another one of the chain. A sink is known by its name and by its
// target: renamed, it still writes there. Only what it does now, to the same
// target, makes a second write harmless.
func (t *transforms) secondWrites(ctx context.Context, run map[string]bool) {
	done := append(t.written(), t.released()...)
	for _, n := range t.graph.Nodes {
		if n.Disabled || !run[key(n.Name)] {
			continue
		}
		t.beneath(ctx, t.at, n.Name)
		if !n.Definition.Sink || n.Settings == nil {
			continue
		}
		now := transform.TargetOf(n.Settings, t.vars)
		for _, w := range done {
			same := now.Name != "" && now.Name == w.target
			if !same && !strings.EqualFold(w.transform, n.Name) || now.Idempotent && same || w.rows == 0 && !w.unknown {
				continue
			}
			what := w.what(fmt.Sprintf("%q", w.transform))
			switch {
			case !strings.EqualFold(w.transform, n.Name):
				what += fmt.Sprintf(", and %q would write there", n.Name)
			case !same && now.Name != "" && w.target != "":
				what += fmt.Sprintf(", and would now write to %s", now.Name)
			default:
				what += ", and would write again"
			}
			t.plan.note(Check{
				Check:    gate.Check{ID: CheckSecondWrite + ":" + n.Name, Gate: n.Name, Status: gate.Warn, What: what, Do: doTakeOut},
				CallPath: t.at, Wrote: w.wrote(),
			})
		}
	}
}

// written lists what the sinks of the pipeline at this place have written.
func (t *transforms) written() []*written {
	var list []*written
	for i := range t.src.Chain {
		r := &t.src.Chain[i]
		for k := range r.Executions {
			if e := &r.Executions[k]; e.CallPath == string(t.at) {
				list = t.collect(list, e, r.Metrics[e.ID])
			}
		}
	}
	return list
}

func (p *planner) collect(list []*written, e *storage.Execution, metrics []storage.TransformMetrics) []*written {
	for i := range metrics {
		m := &metrics[i]
		if m.Sink == nil {
			continue
		}
		target := p.rebase(m.Sink.Target)
		n := slices.IndexFunc(list, func(w *written) bool { return w.transform == m.Transform && w.target == target })
		if n < 0 {
			n = len(list)
			list = append(list, &written{transform: m.Transform, target: target, committed: true})
		}
		list[n].add(m, e)
	}
	return list
}

// released are the sinks of executions here whose record ends abruptly, and tells
// nothing of them: the rows were on their way to them.
func (t *transforms) released() []*written {
	var list []*written
	for i := range t.src.Chain {
		r := &t.src.Chain[i]
		for k := range r.Executions {
			e := &r.Executions[k]
			if e.CallPath != string(t.at) || e.State.Ended() && e.State != storage.StateInterrupted {
				continue
			}
			for _, n := range t.graph.Nodes {
				known := slices.ContainsFunc(r.Metrics[e.ID], func(m storage.TransformMetrics) bool { return m.Transform == n.Name })
				if n.Disabled || !n.Definition.Sink || known || n.Settings == nil {
					continue
				}
				to := transform.TargetOf(n.Settings, t.vars)
				list = append(list, &written{transform: n.Name, target: to.Name, how: to.How, unknown: true})
			}
		}
	}
	return list
}

// beneath warns of what the pipelines and workflows that a node started have
// written, when it starts them all again and what they will do is not known. They
// are judged by what they did then.
func (p *planner) beneath(ctx context.Context, at engine.CallPath, node string) {
	prefix := strings.TrimSuffix(string(at.Child(node, 1, 1)), "1")
	var list []*written
	acted := map[string]string{} // how, by name of the action
	for i := range p.src.Chain {
		r := &p.src.Chain[i]
		for k := range r.Executions {
			e := &r.Executions[k]
			if !strings.HasPrefix(e.CallPath, prefix) {
				continue
			}
			if e.Kind == storage.KindWorkflow {
				p.actionsOf(ctx, e, r.Runs, acted)
				continue
			}
			var appended []storage.TransformMetrics
			for _, m := range r.Metrics[e.ID] {
				if m.Sink != nil && !m.Sink.Idempotent {
					appended = append(appended, m)
				}
			}
			list = p.collect(list, e, appended)
		}
	}
	warn := func(what string, w *Wrote) {
		p.plan.note(Check{Check: gate.Check{ID: CheckSecondWrite + ":" + node, Gate: node, Status: gate.Warn, What: what, Do: doTakeOut}, CallPath: at, Wrote: w})
	}
	for _, w := range list {
		if w.rows > 0 || w.unknown {
			warn(w.what(fmt.Sprintf("%q below %q", w.transform, node))+", and would write again", w.wrote())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(acted)) {
		warn(fmt.Sprintf("action %q below %q (%s) has run already, and would run again", name, node, acted[name]), nil)
	}
}

// actionsOf notes the actions of a recorded workflow that have run and whose
// effects a second run repeats.
func (p *planner) actionsOf(ctx context.Context, e *storage.Execution, runs []storage.ActionRun, acted map[string]string) {
	g := p.recordedGraph(ctx, e)
	for i := range runs {
		a := &runs[i]
		if a.CallPath != e.CallPath || a.State == storage.ActionReused || a.State == storage.ActionSkipped {
			continue
		}
		if g == nil {
			acted[a.Node] = "what it does is not known"
			continue
		}
		if n := g.Node(a.Node); n != nil {
			if how, ok := p.affects(n); ok {
				acted[a.Node] = how.How
			}
		}
	}
}

// recordedGraph is a workflow as it ran; nil when that is not known.
func (p *planner) recordedGraph(ctx context.Context, e *storage.Execution) *workflow.Graph {
	d, err := p.recorded(ctx, e)
	if err != nil {
		return nil
	}
	var view *hopxml.Workflow
	if view, err = d.Workflow(); err != nil {
		return nil
	}
	g, err := workflow.Load(view, p.ground.Workflows.Actions, "")
	if err != nil {
		return nil
	}
	return g
}

// again warns of an action that ran already and whose effects a second run
// repeats.
func (w *walk) again(n *workflow.Node, ordinal int) {
	t, again := w.affects(n)
	if !again {
		return
	}
	what := fmt.Sprintf("action %q (%s) has run already, and would run again", n.Name, t.How)
	switch {
	case w.src.ranElsewhere(w.at, n.Name, ordinal):
	case w.src.Ended() || w.fresh[n]:
		return
	default:
		what = fmt.Sprintf("action %q (%s) may have run: the record ends before it", n.Name, t.How)
	}
	w.plan.add(w.at, gate.Check{ID: CheckSecondWrite + ":" + n.Name, Gate: n.Name, Status: gate.Warn, What: what, Do: "make sure that doing it twice is right"})
}

// startedUnseen warns of an action that starts pipelines or workflows and that is
// next in a record which ends abruptly: it may have started them, and nobody knows
// what they wrote.
func (w *walk) startedUnseen(n *workflow.Node, at engine.CallPath) {
	if w.src.Ended() || !startsChildren[strings.ToUpper(n.Type)] || w.src.elsewhereAt(at) != nil {
		return
	}
	w.plan.add(w.at, gate.Check{
		ID: CheckSecondWrite + ":" + n.Name, Gate: n.Name, Status: gate.Warn,
		What: fmt.Sprintf("action %q may have been started: the record ends before it, and what it has written is not known", n.Name), Do: doTakeOut,
	})
}

// startsChildren are the actions whose writes are those of what they start.
var startsChildren = map[string]bool{"PIPELINE": true, "WORKFLOW": true, "REPEAT": true}

// affects tells whether an action changes something outside that a second run
// changes once more, and how.
func (p *planner) affects(n *workflow.Node) (t transform.Target, ok bool) {
	s, ok := n.Settings.(action.Targeted)
	if !ok {
		return t, false
	}
	t = s.WritesTo(p.ground.Scope)
	return t, !t.Idempotent
}
