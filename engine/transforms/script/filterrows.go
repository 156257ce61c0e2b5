package script

import (
	"context"
	"fmt"
	"iter"

	"sluice/engine/batch"
	"sluice/engine/expr"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// FilterRows sends rows that satisfy a condition one way and the others another.
// Without targets the rows that satisfy it go to all hops and the others are
// dropped; with one target the other outcome is dropped.
var FilterRows = transform.Define[FilterRowsSettings](transform.About{
	ID:       "FilterRows",
	Name:     "Filter rows",
	Category: transform.CategoryFlow,
	Summary:  "Keep or route rows by a condition.",
})

// The ports of transforms that decide between two ways.
const (
	portTrue  transform.Port = "true"
	portFalse transform.Port = "false"
)

// FilterRowsSettings lists the settings in the order the form shows them. The
// condition is a tree, which tags cannot say.
type FilterRowsSettings struct {
	SendTrueTo  string `hop:"send_true_to" label:"Send matching rows to" form:"transform"`
	SendFalseTo string `hop:"send_false_to" label:"Send other rows to" form:"transform"`
	// Condition is the tree below <compare>; nil is false for every row.
	Condition *expr.Condition
	badTree   error
}

// AfterDecode implements transform.AfterDecoder.
func (s *FilterRowsSettings) AfterDecode(el *hopxml.Element) {
	s.Condition, s.badTree = expr.DecodeCondition(el.Child("compare").Child("condition"))
}

// twoWays gives the ports of a transform with a true and a false target.
func twoWays(sendTrue, sendFalse string) transform.Ports {
	p := transform.DefaultPorts()
	if sendTrue == "" && sendFalse == "" {
		return p
	}
	p.Outputs = nil
	if sendTrue != "" {
		p.Outputs = append(p.Outputs, transform.OutputPort{ID: portTrue, Target: sendTrue, Setting: "send_true_to", Label: "true"})
	}
	if sendFalse != "" {
		p.Outputs = append(p.Outputs, transform.OutputPort{ID: portFalse, Target: sendFalse, Setting: "send_false_to", Label: "false"})
	}
	return p
}

// onPorts gives every output port the same schema.
func onPorts(p transform.Ports, s *batch.Schema) transform.Schemas {
	out := transform.Schemas{}
	for _, o := range p.Outputs {
		out[o.ID] = s
	}
	return out
}

// Ports implements transform.Porter.
func (s *FilterRowsSettings) Ports(transform.Links) transform.Ports {
	return twoWays(s.SendTrueTo, s.SendFalseTo)
}

// Output implements transform.Settings.
func (s *FilterRowsSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return onPorts(s.Ports(l), l.Main()), nil
}

// Check implements transform.Checker.
func (s *FilterRowsSettings) Check(l transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if s.badTree != nil {
			yield(transform.Errorf("compare", "%v", s.badTree))
			return
		}
		if s.Condition.IsEmpty() && !yield(transform.Warnf("compare", "there is no condition: no row satisfies it")) {
			return
		}
		if !checkTargets(yield, l, map[string]string{"send_true_to": s.SendTrueTo, "send_false_to": s.SendFalseTo}) {
			return
		}
		if l.Main() == nil {
			return
		}
		if _, err := s.Condition.Compile(l.Main(), expr.Options{Semantics: d.Semantics(), Vars: d}); err != nil {
			yield(transform.Errorf("compare", "%v", err))
		}
	}
}

// checkTargets reports targets that no enabled hop leads to.
func checkTargets(yield func(transform.Problem) bool, l transform.Links, targets map[string]string) bool {
	for setting, name := range targets {
		if name != "" && !connected(l, name) {
			p := transform.Errorf(setting, "no hop leads to %q", name)
			p.Hint = "draw a hop to it or choose another target"
			if !yield(p) {
				return false
			}
		}
	}
	return true
}

// Start implements transform.Settings.
func (s *FilterRowsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if s.badTree != nil {
		return nil, fmt.Errorf("condition: %w", s.badTree)
	}
	if l.Main() == nil {
		return nil, fmt.Errorf("no input; draw a hop to this transform")
	}
	p, err := s.Condition.Compile(l.Main(), expr.Options{Semantics: env.Semantics, Vars: env})
	if err != nil {
		return nil, err
	}
	f := &filterProcessor{env: env, predicate: p, yes: portTrue, no: portFalse}
	switch {
	case s.SendTrueTo == "" && s.SendFalseTo == "":
		f.yes, f.no = transform.Main, ""
	case s.SendTrueTo == "":
		f.yes = ""
	case s.SendFalseTo == "":
		f.no = ""
	}
	return f, nil
}

// filterProcessor routes by a predicate; an empty port drops the rows.
type filterProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env       *transform.Env
	predicate *expr.Predicate
	yes, no   transform.Port
}

// Apply implements transform.RowWise.
func (p *filterProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	var yes, no []int32
	var err error
	if p.no == "" {
		yes, err = p.predicate.Select(b)
	} else {
		yes, no, err = p.predicate.Split(b)
	}
	if err != nil {
		return rowFailure(p.env, b, "", err)
	}
	if err := emitSelected(p.yes, b, yes, emit); err != nil {
		return err
	}
	return emitSelected(p.no, b, no, emit)
}

// emitSelected emits the rows of sel, if there are any and a port for them.
func emitSelected(port transform.Port, b *batch.Batch, sel []int32, emit transform.Emit) error {
	switch {
	case port == "" || len(sel) == 0:
		return nil
	case len(sel) == b.Rows():
		return emit(port, b.Retain())
	}
	return emit(port, b.Select(sel))
}

// Needs implements transform.FieldUser.
func (s *FilterRowsSettings) Needs(l transform.Links, out []bool) []bool {
	if s.Condition == nil {
		return transform.PassingNeeds(l, out)
	}
	return transform.PassingNeeds(l, out, s.Condition.Fields()...)
}
