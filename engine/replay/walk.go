package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/workflow"
	"sluice/storage"
)

// walk goes through a workflow as its runner does, and follows the recorded
// outcomes as long as nothing has to run.
type walk struct {
	*planner
	ctx       context.Context
	at        engine.CallPath
	execution *storage.Execution
	doc       *hopxml.Document
	graph     *workflow.Graph
	then      map[string]*hopxml.Element // actions as they ran; nil when that is not known
	now       map[string]*hopxml.Element

	runs    map[string]*storage.ActionRun // by actionKey
	ordinal map[*workflow.Node]int
	fresh   map[*workflow.Node]bool // would run because something before them does
	chosen  *storage.ActionRun      // the start point, or what leads to it; nil when there is none here
	err     error
}

// workflow plans the workflow that ran at a place. Clean says that nothing before it
// runs anew, so that it may reuse what was recorded.
func (p *planner) workflow(ctx context.Context, at engine.CallPath, file string, clean bool) error {
	e := p.src.execution(at)
	if e == nil {
		e = p.src.elsewhereAt(at)
	}
	d, err := p.document(ctx, file, e)
	var view *hopxml.Workflow
	if err == nil {
		view, err = d.Workflow()
	}
	var g *workflow.Graph
	if err == nil {
		g, err = workflow.Load(view, p.ground.Workflows.Actions, "")
	}
	if err != nil {
		p.plan.add(at, gate.Check{ID: CheckDefinition, Status: gate.Block, What: fmt.Sprintf("%s cannot be used: %v", file, err), Do: "put the file back, or name the project with --project"})
		return nil
	}
	w := &walk{
		planner: p, ctx: ctx, at: at, execution: e, doc: d, graph: g, now: nodesOf(d), runs: map[string]*storage.ActionRun{},
		ordinal: map[*workflow.Node]int{}, fresh: map[*workflow.Node]bool{},
	}
	for i := range p.src.Runs {
		if a := &p.src.Runs[i]; a.CallPath == string(at) {
			k := actionKey(at, a.Node, a.Ordinal)
			w.runs[k] = a
			if p.start.forced[k] {
				w.chosen = a
			}
		}
	}
	if then, err := p.recorded(ctx, e); err == nil {
		w.then = nodesOf(then)
		p.plan.Changes = append(p.plan.Changes, p.diffDocuments(e.File, then, d)...)
	}
	steps := len(p.plan.Steps)
	w.visit(g.Start(), clean, nil)
	w.notReached()
	if w.err == nil && at == "" && !ran(p.plan.Steps[steps:]) {
		p.plan.add(at, gate.Check{ID: CheckStart, Status: gate.Block, What: nothingLeft, Do: chooseStart})
	}
	return w.err
}

func ran(steps []Step) bool {
	for _, s := range steps {
		if s.Decision == Run {
			return true
		}
	}
	return false
}

// branches is a parallel section: its JOIN actions run when all branches have
// ended, and are clean when all of them are.
type branches struct {
	outer   *branches
	targets []*workflow.Node
	joins   []*workflow.Node
	clean   bool
}

func (b *branches) shared(join *workflow.Node) bool {
	if b == nil {
		return false
	}
	n := 0
	for _, t := range b.targets {
		if t.LeadsTo(join) {
			n++
		}
	}
	return n > 1 || b.outer.shared(join)
}

func (b *branches) arrive(n *workflow.Node, clean bool) {
	b.clean = b.clean && clean
	if !slices.Contains(b.joins, n) {
		b.joins = append(b.joins, n)
	}
}

// visit follows a hop to an action. Clean says that nothing before it runs anew;
// the answer says the same of the end of the branch.
func (w *walk) visit(n *workflow.Node, clean bool, b *branches) bool {
	if n == nil || w.err != nil {
		return clean
	}
	if n.Definition.Joins && b != nil {
		b.arrive(n, clean)
		return clean
	}
	return w.step(n, clean, b)
}

func (w *walk) step(n *workflow.Node, clean bool, b *branches) bool {
	if !clean {
		w.behind(n)
		return false
	}
	w.ordinal[n]++
	k := actionKey(w.at, n.Name, w.ordinal[n])
	a := w.runs[k]
	if a == nil || w.start.forced[k] || !reusable(a, n) && !w.leads(a, n) {
		w.run(n, a)
		for _, t := range append(n.Followed(true), decided(n)...) {
			w.visitBehind(t, b)
		}
		return false
	}
	w.reuse(n, a)
	targets := n.Followed(a.Result.OK)
	if n.Parallel && len(targets) > 0 {
		return w.fork(targets, b)
	}
	end := true
	for _, t := range targets {
		end = w.visit(t, true, b)
	}
	return end
}

// visitBehind is visit for what follows an action that runs.
func (w *walk) visitBehind(n *workflow.Node, b *branches) {
	if n.Definition.Joins && b != nil {
		b.arrive(n, false)
		return
	}
	w.behind(n)
}

func (w *walk) fork(targets []*workflow.Node, outer *branches) bool {
	b := &branches{outer: outer, targets: targets, clean: true}
	for _, t := range targets {
		end := w.visit(t, true, b)
		b.clean = b.clean && end
	}
	end := b.clean
	for _, j := range b.joins {
		if outer.shared(j) {
			outer.arrive(j, b.clean)
			continue
		}
		end = w.step(j, b.clean, outer)
	}
	return end
}

// reusable tells whether what an action left can stand for it: it succeeded, or
// its outcome was no failure but the choice of a way that was gone.
func reusable(a *storage.ActionRun, n *workflow.Node) bool {
	switch {
	case a.Result == nil || !a.State.Ended() || a.Result.Stopped:
		return false
	case a.State == storage.ActionSucceeded || a.State == storage.ActionReused:
		return true
	}
	return a.State == storage.ActionFailed && a.Result.Errors == 0 && a.Message == "" && len(n.Followed(false)) > 0
}

// leads tells whether an action that failed led to the chosen start point: its
// failure was handled, and the way that was gone then is gone again.
func (w *walk) leads(a *storage.ActionRun, n *workflow.Node) bool {
	if w.chosen == nil || a.State != storage.ActionFailed || a.Result == nil || a.Result.Stopped || a.Ended.After(w.chosen.Started) {
		return false
	}
	to := w.graph.Node(w.chosen.Node)
	return to != nil && slices.ContainsFunc(n.Followed(a.Result.OK), func(next *workflow.Node) bool { return next.LeadsTo(to) })
}

// behind lists what runs because something before it does, as far as hops of
// success lead; behind an action that only decides on the way, both ways may run.
func (w *walk) behind(n *workflow.Node) { w.mayRun(n, "it follows what runs") }

func (w *walk) mayRun(n *workflow.Node, why string) {
	if w.fresh[n] {
		return
	}
	w.fresh[n] = true
	s := Step{CallPath: w.at, Node: n.Name, Ordinal: w.ordinal[n] + 1, Kind: KindAction, Type: n.Type, Decision: Run, Why: why}
	w.plan.Steps = append(w.plan.Steps, s)
	w.again(n, s.Ordinal)
	for turn := s.Ordinal; turn <= w.src.turns(w.at, n.Name); turn++ {
		w.children(n, turn, true)
	}
	for _, t := range n.Followed(true) {
		w.mayRun(t, why)
	}
	for _, t := range decided(n) {
		w.mayRun(t, "it runs when that is decided so")
	}
}

// decided are the ways that an action which only decides may lead along instead.
func decided(n *workflow.Node) []*workflow.Node {
	if !n.Definition.ReadsOnly {
		return nil
	}
	return n.Followed(false)
}

// run plans an action that is reached and has to run.
func (w *walk) run(n *workflow.Node, a *storage.ActionRun) {
	s := Step{CallPath: w.at, Node: n.Name, Ordinal: w.ordinal[n], Kind: KindAction, Type: n.Type, Decision: Run}
	switch k := actionKey(w.at, n.Name, s.Ordinal); {
	case a == nil:
		s.Why = "it had not started"
	case w.start.forced[k]:
		s.Why = "chosen"
	default:
		s.Why = strings.TrimSpace(strings.ToLower(string(a.State)) + ": " + firstLine(a.Message))
		s.Why = strings.TrimSuffix(s.Why, ":")
	}
	w.plan.Steps = append(w.plan.Steps, s)
	w.again(n, s.Ordinal)
	w.startedUnseen(n, w.at.Child(n.Name, s.Ordinal, 1))
	w.children(n, s.Ordinal, false)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// children plans what the action started: its own failure lies there. All of it
// runs from its start when something before it runs anew, or when only another
// replay has started it.
func (w *walk) children(n *workflow.Node, ordinal int, anew bool) {
	if w.otherFile(n) {
		return
	}
	for k := 1; w.err == nil; k++ {
		at := w.at.Child(n.Name, ordinal, k)
		e, all := w.src.execution(at), anew
		if e == nil {
			e, all = w.src.elsewhereAt(at), true
		}
		switch {
		case e == nil:
			return
		case e.Kind == storage.KindWorkflow:
			w.err = w.workflow(w.ctx, at, w.rebase(e.File), !all)
		case all:
			w.err = w.pipeline(w.ctx, at, e, whole)
		case w.start.gate != "" && w.start.at == at && !w.start.found:
			w.err = w.pipeline(w.ctx, at, e, fromGate)
		case e.State == storage.StateSucceeded:
			w.err = w.pipeline(w.ctx, at, e, fromGates)
		default:
			w.err = w.pipeline(w.ctx, at, e, unfinished)
		}
	}
}

// otherFile tells whether an action runs another file than it did. Nothing of what
// was sealed belongs to that one, so it begins from its start.
func (w *walk) otherFile(n *workflow.Node) bool {
	if !startsChildren[strings.ToUpper(n.Type)] || w.then[n.Name] == nil || w.now[n.Name] == nil {
		return false
	}
	then, now := w.then[n.Name].Child("filename").Text(), w.now[n.Name].Child("filename").Text()
	if then == now || w.src.turns(w.at, n.Name) == 0 {
		return false
	}
	w.plan.add(w.at, gate.Check{
		ID: CheckDefinition + ":" + n.Name, Gate: n.Name, Status: gate.Warn,
		What: fmt.Sprintf("action %q runs another file than it did, from its start: no sealed rows are used for it", n.Name), Then: then, Now: now,
	})
	w.beneath(w.ctx, w.at, n.Name)
	return true
}

// notReached lists the actions that the plan does not come to.
func (w *walk) notReached() {
	for _, n := range w.graph.Nodes {
		if w.ordinal[n] > 0 || w.fresh[n] {
			continue
		}
		w.plan.Steps = append(w.plan.Steps, Step{CallPath: w.at, Node: n.Name, Ordinal: 1, Kind: KindAction, Type: n.Type, Decision: Skip, Why: "not on the way"})
	}
}
