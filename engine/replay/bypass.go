package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

// reuse plans an action that is bypassed, and checks that what it left can be
// given back.
func (w *walk) reuse(n *workflow.Node, a *storage.ActionRun) {
	s := Step{CallPath: w.at, Node: n.Name, Ordinal: w.ordinal[n], Kind: KindAction, Type: n.Type, Decision: Reuse, Rows: a.Rows.Count}
	block := func(c gate.Check) {
		c.Gate, c.Status = n.Name, gate.Block
		s.Decision = Blocked
		w.plan.add(w.at, c)
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
		w.plan.add(w.at, gate.Check{
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
	session := w.ground.Session(gate.SessionOptions{Overrides: forSessions(w.o.Overrides), Reason: w.o.Reason, Quick: w.o.Quick})
	from := gate.Start{Node: l.Node, Snapshot: l.Ref.ID, Digest: l.Digest, Location: l.Location}
	found, checks, err := session.JudgeAction(w.ctx, w.doc, from, w.ground.Scope, w.ground.Now())
	if err != nil {
		checks = append(checks, gate.Check{ID: gate.CheckGate, Gate: n.Name, Status: gate.Block, What: err.Error(), Do: "start at this action: --from " + n.Name})
	}
	w.plan.add(w.at, checks...)
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
		w.plan.add(w.at, c)
	}
}

// unchanged blocks the reuse of an action that is no longer what ran.
func (w *walk) unchanged(n *workflow.Node, a *storage.ActionRun) {
	block := func(what, then, now string) {
		w.plan.add(w.at, gate.Check{
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
	for _, c := range w.differences(w.execution.File, true, n.Name, was, w.now[n.Name]) {
		block(fmt.Sprintf("the bypassed action %q changed: setting %s", n.Name, c.Setting), c.Then, c.Now)
	}
	texts := []string{string(was.Raw())}
	for e := range below(made, w.at, n.Name, a.Ordinal) {
		then, err := w.recorded(w.ctx, e)
		if err != nil {
			block(fmt.Sprintf("how %s ran is not known: %v", e.File, err), "", "")
			continue
		}
		texts = append(texts, string(then.Bytes()))
		now, err := w.document(w.ctx, w.rebase(e.File), e)
		if errors.Is(err, context.Canceled) {
			w.err = err
			return
		}
		if err != nil {
			block(fmt.Sprintf("%s cannot be compared with what ran: %v", e.File, err), "", "")
			continue
		}
		for _, c := range w.diffDocuments(e.File, then, now) {
			block(fmt.Sprintf("%s, which the bypassed action %q runs, changed: %s %s", e.Name, n.Name, c.Node, c.Setting), c.Then, c.Now)
		}
	}
	w.sameVariables(n, strings.Join(texts, "\n"))
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
		w.plan.add(w.at, gate.Check{
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
