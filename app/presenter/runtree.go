package presenter

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sluice/canvas/scene"
	"sluice/storage"
)

// TreeLine is one line of the tree of a run: an execution, or an action of a
// workflow that started none.
type TreeLine struct {
	Depth     int
	Name      string
	Look      scene.State
	Word      string // for the state
	Took      string
	Execution string // id of the execution; of the workflow that the action is in
	Node      string // the action, "" for an execution
	Branch    bool   // has lines below it
}

// RunTree lists the executions of a run and the actions of its workflows as they
// called each other, in the order in which they began.
func (d *ExecutionDetail) RunTree(now time.Time) []TreeLine {
	t := &runTree{now: now, heads: map[string]storage.ExecutionHead{}, children: map[string][]storage.ExecutionHead{}, runs: map[string][]storage.ActionRun{}}
	for _, h := range d.Tree {
		t.heads[h.ID] = h
		t.children[h.Parent] = append(t.children[h.Parent], h)
	}
	for _, a := range d.Runs {
		t.runs[a.Execution] = append(t.runs[a.Execution], a)
	}
	if root, ok := t.heads[d.Root]; ok {
		t.execution(root, 0)
	}
	return t.lines
}

type runTree struct {
	now      time.Time
	heads    map[string]storage.ExecutionHead
	children map[string][]storage.ExecutionHead
	runs     map[string][]storage.ActionRun
	lines    []TreeLine
}

func (t *runTree) execution(h storage.ExecutionHead, depth int) {
	look := ExecutionState(h.State)
	took := "–"
	if !h.Started.IsZero() {
		took = Elapsed(h.Duration(t.now))
	}
	at := len(t.lines)
	t.lines = append(t.lines, TreeLine{Depth: depth, Name: h.Name, Look: look, Word: look.String(), Took: took, Execution: h.ID})
	below := map[string]bool{}
	for _, a := range t.actions(h.ID) {
		t.action(a, depth+1)
		below[a.Child] = true
	}
	list := slices.Clone(t.children[h.ID])
	slices.SortStableFunc(list, func(a, b storage.ExecutionHead) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range list {
		if !below[c.ID] {
			t.execution(c, depth+1)
		}
	}
	t.lines[at].Branch = len(t.lines) > at+1
}

// actions are those of a workflow, as they began.
func (t *runTree) actions(execution string) []storage.ActionRun {
	list := slices.Clone(t.runs[execution])
	slices.SortStableFunc(list, func(a, b storage.ActionRun) int { return a.Started.Compare(b.Started) })
	return list
}

func (t *runTree) action(a storage.ActionRun, depth int) {
	look := ActionBadge(a.State)
	line := TreeLine{Depth: depth, Name: a.Node, Look: look, Word: look.String(), Took: "–", Execution: a.Execution, Node: a.Node}
	if a.Ordinal > 1 {
		line.Name = fmt.Sprintf("%s #%d", a.Node, a.Ordinal)
	}
	if end := a.Ended; !a.Started.IsZero() {
		if end.IsZero() {
			end = t.now
		}
		line.Took = Elapsed(end.Sub(a.Started))
	}
	at := len(t.lines)
	t.lines = append(t.lines, line)
	if child, ok := t.heads[a.Child]; ok {
		t.execution(child, depth+1)
	}
	t.lines[at].Branch = len(t.lines) > at+1
}
