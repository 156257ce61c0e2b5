package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/recorder"
	"sluice/engine/transform"
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
	seen    map[string]bool
	err     error
}

// workflow plans the workflow that ran at a place.
func (p *planner) workflow(ctx context.Context, at engine.CallPath, file string) error {
	e := p.src.execution(at)
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
		ordinal: map[*workflow.Node]int{}, fresh: map[*workflow.Node]bool{}, seen: map[string]bool{},
	}
	for i := range p.src.Runs {
		if a := &p.src.Runs[i]; a.CallPath == string(at) {
			w.runs[actionKey(at, a.Node, a.Ordinal)] = a
		}
	}
	if then, err := p.recorded(ctx, e); err == nil {
		w.then = nodesOf(then)
		for _, c := range diffDocuments(e.File, then, d) {
			p.plan.Changes = append(p.plan.Changes, c)
		}
	}
	steps := len(p.plan.Steps)
	w.visit(g.Start(), !p.start.whole, nil)
	w.notReached()
	if w.err == nil && at == "" && !ran(p.plan.Steps[steps:]) {
		p.plan.add(&p.o, at, gate.Check{ID: CheckStart, Status: gate.Block, What: "nothing of this execution is left to run", Do: "choose a start point"})
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
	w.seen[k] = true
	a := w.runs[k]
	if a == nil || w.start.forced[k] || !reusable(a, n) {
		w.run(n, a)
		for _, t := range n.Followed(true) {
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

// behind lists what runs because something before it does, as far as hops of
// success lead.
func (w *walk) behind(n *workflow.Node) {
	if w.fresh[n] {
		return
	}
	w.fresh[n] = true
	s := Step{CallPath: w.at, Node: n.Name, Ordinal: w.ordinal[n] + 1, Kind: KindAction, Type: n.Type, Decision: Run, Why: "it follows what runs"}
	w.plan.Steps = append(w.plan.Steps, s)
	w.again(n, w.runs[actionKey(w.at, n.Name, s.Ordinal)])
	for _, t := range n.Followed(true) {
		w.behind(t)
	}
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
	w.again(n, a)
	if a != nil {
		w.children(n, s.Ordinal)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// children plans what the action started: its own failure lies there.
func (w *walk) children(n *workflow.Node, ordinal int) {
	for k := 1; w.err == nil; k++ {
		at := w.at.Child(n.Name, ordinal, k)
		e := w.src.execution(at)
		if e == nil {
			return
		}
		switch {
		case e.Kind == storage.KindWorkflow:
			w.err = w.planner.workflow(w.ctx, at, w.rebase(e.File))
		case w.start.gate != "" && w.start.at == at && !w.start.found:
			w.err = w.planner.pipeline(w.ctx, at, e, fromGate)
		case w.start.whole:
			w.err = w.planner.pipeline(w.ctx, at, e, whole)
		case e.State == storage.StateSucceeded:
			w.err = w.planner.pipeline(w.ctx, at, e, fromGates)
		default:
			w.err = w.planner.pipeline(w.ctx, at, e, unfinished)
		}
	}
}

// again warns of an action that ran already and whose effects a second run
// repeats.
func (w *walk) again(n *workflow.Node, a *storage.ActionRun) {
	t, again := w.affects(n)
	if a == nil || !again || a.State == storage.ActionSkipped {
		return
	}
	w.plan.add(&w.o, w.at, gate.Check{
		ID: CheckSecondWrite + ":" + n.Name, Gate: n.Name, Status: gate.Warn,
		What: fmt.Sprintf("action %q (%s) has run already, and would run again", n.Name, t.How), Do: "make sure that doing it twice is right",
	})
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
	if w.then == nil || w.then[n.Name] == nil {
		block(fmt.Sprintf("how action %q ran is not known", n.Name), "", "")
		return
	}
	for _, c := range diffElements(w.execution.File, n.Name, w.then[n.Name], w.now[n.Name]) {
		block(fmt.Sprintf("the bypassed action %q changed: setting %s", n.Name, c.Setting), c.Then, c.Now)
	}
	text := string(w.now[n.Name].Raw())
	for name, value := range w.o.Given {
		if then, ok := w.vars[name]; ok && then != value && strings.Contains(text, "${"+name+"}") {
			w.plan.add(&w.o, w.at, gate.Check{
				ID: gate.CheckVariable + ":" + name, Gate: n.Name, Status: gate.Block, Overridable: true,
				What: fmt.Sprintf("variable %s, which the bypassed action %q reads, has another value", name, n.Name), Then: then, Now: value,
				Do: "leave it out, or start at this action: --from " + n.Name,
			})
		}
	}
	for k := 1; ; k++ {
		e := w.src.execution(w.at.Child(n.Name, a.Ordinal, k))
		if e == nil {
			return
		}
		then, err := w.recorded(w.ctx, e)
		if err != nil {
			block(fmt.Sprintf("how %s ran is not known: %v", e.File, err), "", "")
			continue
		}
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

// affects tells whether an action changes something outside that a second run
// changes once more, and how.
func (w *walk) affects(n *workflow.Node) (t transform.Target, ok bool) {
	s, ok := n.Settings.(action.Targeted)
	if !ok {
		return t, false
	}
	t = s.WritesTo(w.ground.Scope)
	return t, !t.Idempotent
}
