package script

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/expr/javascript"
	"sluice/engine/transform"
)

// JavaFilter sends rows for which a Java expression is true one way and the
// others another. Expressions that need a Java class, a cast or a division are
// refused at the start.
var JavaFilter = transform.Define[JavaFilterSettings](transform.About{
	ID:       "JavaFilter",
	Name:     "Java filter",
	Category: transform.CategoryFlow,
	Summary:  "Route rows by a Java expression.",
})

// JavaFilterSettings lists the settings in the order the form shows them.
type JavaFilterSettings struct {
	SendTrueTo  string                 `hop:"send_true_to" label:"Send matching rows to" form:"transform"`
	SendFalseTo string                 `hop:"send_false_to" label:"Send other rows to" form:"transform"`
	Condition   transform.Expr[string] `hop:"condition" default:"true" label:"Condition (Java expression)" form:"multiline" required:"true"`
}

// Ports implements transform.Porter.
func (s *JavaFilterSettings) Ports(transform.Links) transform.Ports {
	return twoWays(s.SendTrueTo, s.SendFalseTo)
}

// Output implements transform.Settings.
func (s *JavaFilterSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return onPorts(s.Ports(l), l.Main()), nil
}

func (s *JavaFilterSettings) compile(r transform.Resolver) (*javascript.Script, error) {
	text, err := s.Condition.Eval(r)
	if err != nil {
		return nil, err
	}
	return javascript.CompileJava("condition", text)
}

// Check implements transform.Checker.
func (s *JavaFilterSettings) Check(l transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if !checkTargets(yield, l, map[string]string{"send_true_to": s.SendTrueTo, "send_false_to": s.SendFalseTo}) {
			return
		}
		if _, err := s.compile(d); err != nil {
			yield(transform.Errorf("condition", "%v", err))
		}
	}
}

// Start implements transform.Settings.
func (s *JavaFilterSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if l.Main() == nil {
		return nil, errNoInput
	}
	c, err := s.compile(env)
	if err != nil {
		return nil, err
	}
	p := &javaFilter{env: env, script: c, yes: transform.Main}
	if s.SendTrueTo != "" || s.SendFalseTo != "" {
		p.yes, p.no = "", ""
		if s.SendTrueTo != "" {
			p.yes = portTrue
		}
		if s.SendFalseTo != "" {
			p.no = portFalse
		}
	}
	for i, f := range l.Main().Fields {
		if c.Uses(f.Name) {
			p.used = append(p.used, i)
		}
	}
	return p, nil
}

type javaFilter struct {
	transform.Stateless
	env     *transform.Env
	script  *javascript.Script
	used    []int
	yes, no transform.Port
	idle    sync.Pool
}

// Apply implements transform.RowWise.
func (p *javaFilter) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	vm, ok := p.idle.Get().(*javascript.Runtime)
	if !ok {
		vm = javascript.New(javascript.Host{Transform: p.env.Transform, Location: p.env.Semantics.Location, Now: p.env.Now})
	}
	defer p.idle.Put(vm)
	var yes, no []int32
	for i := range b.All() {
		pass, err := p.test(ctx, vm, b, i)
		if err != nil {
			return rowFailure(p.env, b, "", &batch.RowError{Row: i, Err: err})
		}
		if pass {
			yes = append(yes, int32(i))
		} else {
			no = append(no, int32(i))
		}
	}
	if err := emitSelected(p.yes, b, yes, emit); err != nil {
		return err
	}
	return emitSelected(p.no, b, no, emit)
}

func (p *javaFilter) test(ctx context.Context, vm *javascript.Runtime, b *batch.Batch, i int) (bool, error) {
	for _, k := range p.used {
		if err := vm.Set(b.Schema.Fields[k].Name, b.Cols[k].Value(i)); err != nil {
			return false, err
		}
	}
	v, err := vm.Run(ctx, p.script)
	if err != nil {
		return false, err
	}
	pass, ok := v.Export().(bool)
	if !ok {
		return false, fmt.Errorf("the condition gives %v, which is not a boolean", v)
	}
	return pass, nil
}
