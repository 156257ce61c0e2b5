package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/files"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/recorder"
	"sluice/engine/workflow"
	"sluice/storage"
	"sluice/storage/record"
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
		p.plan.add(&p.o, at, gate.Check{ID: CheckDefinition, Status: gate.Block, What: fmt.Sprintf("%s cannot be used: %v", file, err), Do: "put the file back, or name the project with --project"})
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
		for _, c := range diffDocuments(e.File, then, d) {
			p.plan.Changes = append(p.plan.Changes, c)
		}
	}
	steps := len(p.plan.Steps)
	w.visit(g.Start(), clean, nil)
	w.notReached()
	if w.err == nil && at == "" && !ran(p.plan.Steps[steps:]) {
		p.plan.add(&p.o, at, gate.Check{ID: CheckStart, Status: gate.Block, What: nothingLeft, Do: chooseStart})
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
	for _, j := range b.joins {
		if j == n {
			return
		}
	}
	b.joins = append(b.joins, n)
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
			w.err = w.planner.workflow(w.ctx, at, w.rebase(e.File), !all)
		case all:
			w.err = w.planner.pipeline(w.ctx, at, e, whole)
		case w.start.gate != "" && w.start.at == at && !w.start.found:
			w.err = w.planner.pipeline(w.ctx, at, e, fromGate)
		case e.State == storage.StateSucceeded:
			w.err = w.planner.pipeline(w.ctx, at, e, fromGates)
		default:
			w.err = w.planner.pipeline(w.ctx, at, e, unfinished)
		}
	}
}

// reuse plans an action that is bypassed, and checks that what it left can be
// given back.
func (w *walk) reuse(n *workflow.Node, a *storage.ActionRun) {
	s := Step{CallPath: w.at, Node: n.Name, Ordinal: w.ordinal[n], Kind: KindAction, Type: n.Type, Decision: Reuse, Rows: a.Rows.Count}
	block := func(c gate.Check) {
		c.Gate, c.Status = n.Name, gate.Block
		s.Decision = Blocked
		w.plan.add(&w.o, w.at, c)
	}
	if a.Rows.Count > 0 && a.Rows.Format == "" && w.link(n.Name, a.Ordinal).Digest == "" {
		block(gate.Check{ID: CheckResult + ":" + n.Name, What: fmt.Sprintf("action %q: %v", n.Name, recorder.ErrRowsNotKept), Do: "start at this action: --from " + n.Name})
	}
	for _, v := range a.After {
		if v.Secret {
			block(gate.Check{ID: CheckResult + ":" + n.Name, What: fmt.Sprintf("action %q has set the secret %s, which is never recorded", n.Name, v.Name), Do: "start at this action: --from " + n.Name})
		}
	}
	if !w.sealed(n, a, &s) {
		s.Decision = Blocked
	}
	w.checkFiles(n, a)
	w.unchanged(n, a)
	if t, ok := w.affects(n); ok {
		w.plan.add(&w.o, w.at, gate.Check{
			ID: CheckSideEffect + ":" + n.Name, Gate: n.Name, Status: gate.Warn, What: fmt.Sprintf("action %q (%s) is bypassed: what it did is not done again", n.Name, t.How),
		})
	}
	w.plan.Steps = append(w.plan.Steps, s)
	key := a.ActionKey
	key.Root = ""
	w.plan.reuse[key] = *a
}

// link gives the snapshot of an action that is a gate.
func (w *walk) link(action string, ordinal int) storage.SnapshotLink {
	return w.src.links(w.execution.ID)[gate.ActionNode(action, ordinal)]
}

// sealed judges the snapshot of a bypassed action that is a gate; its rows then
// come from there. False means that it cannot be used.
func (w *walk) sealed(n *workflow.Node, a *storage.ActionRun, s *Step) bool {
	l := w.link(n.Name, a.Ordinal)
	if l.Digest == "" {
		return true // no gate, or one of an execution that failed at it
	}
	session := w.ground.Session(gate.SessionOptions{Overrides: w.o.Overrides, Reason: w.o.Reason, Quick: w.o.Quick})
	from := gate.Start{Node: l.Node, Snapshot: l.Ref.ID, Digest: l.Digest, Location: l.Location}
	found, checks, err := session.JudgeAction(w.ctx, w.doc, from, w.ground.Scope, w.ground.Now())
	if err != nil {
		checks = append(checks, gate.Check{ID: gate.CheckGate, Gate: n.Name, Status: gate.Block, What: err.Error(), Do: "start at this action: --from " + n.Name})
	}
	w.plan.add(&w.o, w.at, checks...)
	usable := true
	for _, c := range checks {
		usable = usable && (c.Status != gate.Block || c.Overridden)
	}
	if found == nil {
		return usable
	}
	s.Snapshot, s.Rows, s.Bytes, s.Why = found.Ref.ID, found.Rows, found.Bytes, "sealed "+found.Sealed.UTC().Format("2006-01-02 15:04:05Z")
	w.plan.bound = append(w.plan.bound, gate.Reused{
		Node: l.Node, CallPath: w.at, Gate: found.Ref.Gate, Snapshot: found.Ref.ID, Digest: found.Digest, Location: l.Location, Rows: found.Rows, Bytes: found.Bytes, Sealed: found.Sealed,
	})
	k := a.ActionKey
	k.Root = ""
	w.plan.sealed[k] = found
	return usable
}

// checkFiles tells of result files that are not as they were.
func (w *walk) checkFiles(n *workflow.Node, a *storage.ActionRun) {
	store := w.ground.Pipelines.Files
	for _, f := range a.Files {
		if store == nil || f.SHA256 == "" {
			continue
		}
		path := w.rebase(f.Path)
		now, err := files.Hash(w.ctx, store, path)
		if err == nil && now == f.SHA256 {
			continue
		}
		c := gate.Check{ID: CheckResult + ":" + n.Name, Gate: n.Name, Status: gate.Warn, What: fmt.Sprintf("the result file %s of action %q has other content than it had", path, n.Name), Then: f.SHA256, Now: now}
		if err != nil {
			c.What, c.Now = fmt.Sprintf("the result file %s of action %q cannot be read: %v", path, n.Name, err), ""
		}
		w.plan.add(&w.o, w.at, c)
	}
}

// unchanged blocks the reuse of an action that is no longer what ran.
func (w *walk) unchanged(n *workflow.Node, a *storage.ActionRun) {
	block := func(what, then, now string) {
		w.plan.add(&w.o, w.at, gate.Check{
			ID: gate.CheckUpstream + ":" + n.Name, Gate: n.Name, Status: gate.Block, Overridable: true, What: what, Then: then, Now: now,
			Do: "undo the change, or start at this action: --from " + n.Name,
		})
	}
	made := w.src.madeBy(a)
	if made == nil {
		block(fmt.Sprintf("how action %q ran is not known: there is no record of execution %s, whose result it was", n.Name, a.ReusedFrom), "", "")
		return
	}
	was := w.asRun(made)[n.Name]
	if was == nil {
		block(fmt.Sprintf("how action %q ran is not known", n.Name), "", "")
		return
	}
	for _, c := range diffElements(w.execution.File, n.Name, was, w.now[n.Name]) {
		block(fmt.Sprintf("the bypassed action %q changed: setting %s", n.Name, c.Setting), c.Then, c.Now)
	}
	text := string(was.Raw())
	for e := range below(made, w.at, n.Name, a.Ordinal) {
		then, err := w.recorded(w.ctx, e)
		if err != nil {
			block(fmt.Sprintf("how %s ran is not known: %v", e.File, err), "", "")
			continue
		}
		text += string(then.Bytes())
		now, err := w.document(w.ctx, w.rebase(e.File), e)
		if errors.Is(err, context.Canceled) {
			w.err = err
			return
		}
		if err != nil {
			block(fmt.Sprintf("%s cannot be compared with what ran: %v", e.File, err), "", "")
			continue
		}
		for _, c := range diffDocuments(e.File, then, now) {
			block(fmt.Sprintf("%s, which the bypassed action %q runs, changed: %s %s", e.Name, n.Name, c.Node, c.Setting), c.Then, c.Now)
		}
	}
	w.sameVariables(n, text)
}

// asRun are the actions of this workflow as they ran in a record of the chain; nil
// when that is not known.
func (w *walk) asRun(r *record.Record) map[string]*hopxml.Element {
	if r == &w.src.Record {
		return w.then
	}
	d, err := w.recorded(w.ctx, executionAt(r, w.at))
	if err != nil {
		return nil
	}
	return nodesOf(d)
}

// below gives every execution that one run of an action has started, with all below
// it, one for each file.
func below(r *record.Record, at engine.CallPath, node string, ordinal int) iter.Seq[*storage.Execution] {
	first := at.Child(node, ordinal, 1)
	return func(yield func(*storage.Execution) bool) {
		seen := map[string]bool{}
		for i := range r.Executions {
			e := &r.Executions[i]
			path := engine.CallPath(e.CallPath)
			if e.CallPath == "" || !path.Under(first) && !strings.HasPrefix(e.CallPath, string(first)+":") || seen[e.File+"\n"+e.Definition] {
				continue
			}
			seen[e.File+"\n"+e.Definition] = true
			if !yield(e) {
				return
			}
		}
	}
}

// sameVariables blocks another value for what a bypassed action, or what it ran,
// has read.
func (w *walk) sameVariables(n *workflow.Node, text string) {
	for _, v := range w.plan.Variables {
		if v.From != fromGiven || v.Secret || v.Original == v.Used || !reads(text, v.Name) {
			continue
		}
		w.plan.add(&w.o, w.at, gate.Check{
			ID: gate.CheckVariable + ":" + v.Name, Gate: n.Name, Status: gate.Block, Overridable: true,
			What: fmt.Sprintf("variable %s, which the bypassed action %q reads, has another value", v.Name, n.Name), Then: v.Original, Now: v.Used,
			Do: "leave it out, or start at this action: --from " + n.Name,
		})
	}
}

// reads tells whether a definition names a variable, in any of the three ways, or
// as text of a script.
func reads(text, name string) bool {
	for _, form := range []string{"${" + name + "}", "%%" + name + "%%", `"` + name + `"`, "&quot;" + name + "&quot;", "'" + name + "'", "<variablename>" + name + "<"} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
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
