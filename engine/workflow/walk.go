package workflow

import (
	"context"
	"slices"
	"sync"

	"sluice/engine/action"
)

// frame is an action that has run and has targets left to follow.
type frame struct {
	result *action.Result // its own; owned
	left   []*Node
}

// walker follows the hops depth-first: each target to its end before the next
// one. Its stack is one of frames: a frame is left before its last target runs,
// so that a loop by a hop back needs no memory however often it turns.
type walker struct {
	exec   *Execution
	branch *section // that the walk is a branch of; nil outside of parallel sections
	stack  []frame
	last   *action.Result // of the latest action without a target; owned
}

// walk runs an action and all that its hops lead to. It takes over the result.
// The answer is the result of the last action of the last hop followed; nil when
// that was a JOIN that belongs to the parallel section around the walk.
func (e *Execution) walk(ctx context.Context, node *Node, in *action.Result, branch *section) *action.Result {
	w := &walker{exec: e, branch: branch}
	w.visit(ctx, node, in)
	return w.rest(ctx)
}

// walkJoin is walk from a JOIN whose branches have met.
func (e *Execution) walkJoin(ctx context.Context, join *Node, in *action.Result, branch *section) *action.Result {
	w := &walker{exec: e, branch: branch}
	w.step(ctx, join, in)
	return w.rest(ctx)
}

func (w *walker) rest(ctx context.Context) *action.Result {
	for node, in := w.pick(ctx); node != nil; node, in = w.pick(ctx) {
		w.visit(ctx, node, in)
	}
	if w.last != nil && w.last.Errors > 0 {
		w.last.OK = false
	}
	return w.last
}

func (w *walker) visit(ctx context.Context, node *Node, in *action.Result) {
	if node.Definition.Joins && w.branch != nil {
		w.branch.arrive(node, in)
		w.ends(nil)
		return
	}
	w.step(ctx, node, in)
}

// ends notes the result of a walk that goes no further.
func (w *walker) ends(r *action.Result) {
	if w.last != nil {
		w.last.Release()
	}
	w.last = r
}

// step runs one action and, when it is parallel, the whole section behind it.
func (w *walker) step(ctx context.Context, node *Node, in *action.Result) {
	e := w.exec
	if e.ended(ctx) {
		in.OK, in.Stopped = false, true
		w.ends(in)
		return
	}
	if !node.Definition.KeepsErrors {
		in.Errors = 0
	}
	result := e.perform(ctx, node, in)
	targets := node.followed(result.OK)
	switch {
	case e.ended(ctx) || len(targets) == 0:
		w.ends(result)
	case node.Parallel:
		w.ends(e.fork(ctx, result, targets, w.branch))
	default:
		w.stack = append(w.stack, frame{result, targets})
	}
}

// pick gives the next action to run and the result it gets; none at the end. When
// the workflow has ended, the last result is that of the action that ended it.
func (w *walker) pick(ctx context.Context) (*Node, *action.Result) {
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if w.exec.ended(ctx) {
			top.result.Release()
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		next := top.left[0]
		if !next.Definition.KeepsErrors {
			top.result.Errors = 0 // seen by the targets that follow, as in Hop
		}
		if top.left = top.left[1:]; len(top.left) > 0 {
			return next, top.result.Clone()
		}
		in := top.result
		w.stack = w.stack[:len(w.stack)-1]
		return next, in
	}
	return nil, nil
}

// section is the part of a workflow behind a parallel action: its branches run at
// once and meet again at the end, or at JOIN actions.
type section struct {
	outer   *section // the section that this one is in a branch of
	targets []*Node

	mu      sync.Mutex // guards what follows
	joins   []*Node    // in order of arrival
	arrived map[*Node][]*action.Result
}

// arrive takes over the result of a branch that has come to a JOIN.
func (s *section) arrive(join *Node, r *action.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.joins, join) {
		s.joins = append(s.joins, join)
	}
	s.arrived[join] = append(s.arrived[join], r)
}

// shared says whether a JOIN is also reached from another branch of this section
// than the one that leads to it from within.
func (s *section) shared(join *Node) bool {
	if s == nil {
		return false
	}
	reaching := 0
	for _, t := range s.targets {
		if t.leadsTo(join) {
			reaching++
		}
	}
	return reaching > 1 || s.outer.shared(join)
}

// fork runs the targets of a parallel action at once, each with a result without
// rows, and adds up what they give (reference 2.4). JOIN actions that the
// branches have come to run once, after all of them, and the walk goes on there.
// It takes over the result; the answer is nil when all went on to a JOIN of an
// outer section.
func (e *Execution) fork(ctx context.Context, base *action.Result, targets []*Node, outer *section) *action.Result {
	s := &section{outer: outer, targets: targets, arrived: map[*Node][]*action.Result{}}
	ends := make([]*action.Result, len(targets))
	var group sync.WaitGroup
	for i, t := range targets {
		in := base.LightClone()
		e.log.Info("Launched in parallel", "action", t.Name)
		group.Go(func() { ends[i] = e.walk(ctx, t, in, s) })
	}
	group.Wait()
	if !targets[len(targets)-1].Definition.KeepsErrors {
		base.Errors = 0
	}
	for _, r := range ends {
		if r != nil {
			base.Add(r)
		}
	}
	if base.Errors > 0 {
		base.OK = false
	}
	return e.join(ctx, base, s)
}

// join goes on from the JOIN actions of a section, in file order.
func (e *Execution) join(ctx context.Context, base *action.Result, s *section) *action.Result {
	slices.SortStableFunc(s.joins, func(a, b *Node) int {
		return slices.Index(e.graph.Nodes, a) - slices.Index(e.graph.Nodes, b)
	})
	for _, j := range s.joins {
		ok := true
		for _, r := range s.arrived[j] {
			ok = ok && r.OK
			base.Add(r)
		}
		base.OK = ok && base.Errors == 0
	}
	if len(s.joins) == 0 || e.ended(ctx) {
		return base
	}
	var last *action.Result
	for i, j := range s.joins {
		if last != nil {
			last.Release()
			last = nil
		}
		in := base
		if i < len(s.joins)-1 {
			in = base.Clone()
		}
		if s.outer.shared(j) {
			s.outer.arrive(j, in)
		} else {
			last = e.walkJoin(ctx, j, in, s.outer)
		}
	}
	return last
}
