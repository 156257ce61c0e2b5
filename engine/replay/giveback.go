package replay

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage"
)

// givesOnly are transforms that change nothing but what the pipeline hands to its
// workflow: variables and result rows. Of those nothing is left when their pipeline
// goes on, so they run again, although they had come to their end.
var givesOnly = map[string]bool{setsVariables: true, "ROWSTORESULT": true}

// setsVariables is the one of them whose work is in the record, too.
const setsVariables = "SETVARIABLE"

// left is what transforms that are left out gave to the workflow then.
type left struct {
	variables map[string]string
	files     []transform.ResultFile
}

// givers are the transforms that have to run for what follows the pipeline in its
// workflow. What is above a sealed gate is given back by the gate, and variables of
// a transform that could only run beside the gates by the record.
func (t *transforms) givers(marked *hopxml.Document) []string {
	if t.at == "" {
		return nil // nothing follows
	}
	sealed := map[string]bool{}
	for k := range t.gates {
		for _, n := range gate.Upstream(t.graph, k) {
			sealed[key(n.Name)] = true
		}
	}
	elements := nodesOf(marked)
	var list []string
	for _, n := range t.graph.Nodes {
		kind := strings.ToUpper(n.Type)
		if n.Disabled || !givesOnly[kind] || sealed[key(n.Name)] {
			continue
		}
		if kind == setsVariables && t.finished[n.Name] && !t.fedByGates(key(n.Name), map[string]bool{}) && t.recordedVariables(elements[n.Name]) {
			continue
		}
		list = append(list, key(n.Name))
	}
	return list
}

// fedByGates tells whether all rows of a transform come out of sealed gates.
func (t *transforms) fedByGates(k string, seen map[string]bool) bool {
	if _, sealed := t.gates[k]; sealed {
		return true
	}
	if seen[k] {
		return true // a circle: the others decide
	}
	seen[k] = true
	fed := false
	for _, h := range t.graph.Hops {
		if key(h.To) != k {
			continue
		}
		if !t.fedByGates(key(h.From), seen) {
			return false
		}
		fed = true
	}
	return fed
}

// recordedVariables notes the variables that a transform had set; false when the
// record lacks one of them.
func (t *transforms) recordedVariables(e *hopxml.Element) bool {
	a := t.src.runOf(t.at)
	if a == nil || e == nil {
		return false
	}
	given := map[string]string{}
	for _, f := range e.Child("fields").All("field") {
		name, err := t.vars.Resolve(f.Child("variable_name").Text())
		i := slices.IndexFunc(a.After, func(v storage.Variable) bool { return v.Name == name })
		if err != nil || i < 0 || a.After[i].Secret {
			return false
		}
		given[name] = t.rebase(a.After[i].Value)
	}
	if t.plan.left[t.at].variables == nil {
		t.plan.left[t.at] = left{variables: map[string]string{}}
	}
	maps.Copy(t.plan.left[t.at].variables, given)
	return true
}

// leftFiles notes the result files of transforms that are left out because their
// work was done: the workflow gets them as it did then.
func (t *transforms) leftFiles(run map[string]bool) {
	a := t.src.runOf(t.at)
	if a == nil {
		return
	}
	l := t.plan.left[t.at]
	for _, f := range a.Files {
		n := t.graph.Node(f.Origin)
		if n == nil || n.Disabled || run[key(n.Name)] || t.above[key(n.Name)] || !strings.EqualFold(f.Parent, t.execution.Name) {
			continue
		}
		l.files = append(l.files, transform.ResultFile{
			Path: t.rebase(f.Path), Type: f.Type, Origin: f.Origin, Parent: f.Parent, Comment: f.Comment, Timestamp: f.Modified,
		})
	}
	t.plan.left[t.at] = l
}

// withLeft are sealed rows that give back more than their gate has recorded.
type withLeft struct {
	pipeline.Bound
	left left
}

// Effects implements pipeline.Bound.
func (b *withLeft) Effects() pipeline.Effects {
	e := b.Bound.Effects()
	e.Files = slices.Concat(e.Files, b.left.files)
	all := maps.Clone(b.left.variables)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, e.Variables)
	e.Variables = all
	return e
}

// extend is pipeline.Runner.Extend of a replay: the gates first.
func (r *Replay) extend(bind func(context.Context, *pipeline.Preparation) error) func(context.Context, *pipeline.Preparation) error {
	return func(ctx context.Context, p *pipeline.Preparation) error {
		if err := bind(ctx, p); err != nil {
			return err
		}
		l := r.Plan.left[p.Run.CallPath]
		if len(l.files)+len(l.variables) == 0 {
			return nil
		}
		for k, b := range p.Options.Bound {
			p.Options.Bound[k] = &withLeft{b, l} // one is enough
			break
		}
		return nil
	}
}
