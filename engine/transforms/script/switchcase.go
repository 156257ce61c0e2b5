package script

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SwitchCase sends a row to the targets of the cases whose value its field has.
// An empty case value stands for null; rows without a case go to the default
// target, or nowhere.
var SwitchCase = transform.Define[SwitchCaseSettings](transform.About{
	ID:       "SwitchCase",
	Name:     "Switch / case",
	Category: transform.CategoryFlow,
	Summary:  "Route rows by the value of a field.",
})

// SwitchCaseSettings lists the settings in the order the form shows them.
type SwitchCaseSettings struct {
	Field     string     `hop:"fieldname" form:"field" required:"true"`
	Contains  bool       `hop:"use_contains" label:"Use string contains" help:"Compare by substring; a row goes to every case it contains"`
	ValueType batch.Type `hop:"case_value_type" default:"String" label:"Case value type"`
	Format    string     `hop:"case_value_format" form:"mask"`
	Decimal   string     `hop:"case_value_decimal" advanced:"true"`
	Group     string     `hop:"case_value_group" advanced:"true"`
	Cases     []Case     `hop:"cases>case"`
	Default   string     `hop:"default_target_transform" label:"Default target" form:"transform"`
}

// Case is one value and where its rows go.
type Case struct {
	Value  string `hop:"value" help:"Empty stands for null"`
	Target string `hop:"target_transform" form:"transform" required:"true"`
}

const portDefault transform.Port = "default"

func casePort(i int) transform.Port { return transform.Port("case:" + strconv.Itoa(i+1)) }

// Ports implements transform.Porter.
func (s *SwitchCaseSettings) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	p.Outputs = nil
	for i, c := range s.Cases {
		if c.Target != "" {
			p.Outputs = append(p.Outputs, transform.OutputPort{ID: casePort(i), Target: c.Target, Setting: "cases>case[" + strconv.Itoa(i+1) + "]>target_transform", Label: "case '" + c.Value + "'"})
		}
	}
	if s.Default != "" {
		p.Outputs = append(p.Outputs, transform.OutputPort{ID: portDefault, Target: s.Default, Setting: "default_target_transform", Label: "default"})
	}
	return p
}

// Output implements transform.Settings.
func (s *SwitchCaseSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return onPorts(s.Ports(l), l.Main()), nil
}

// Check implements transform.Checker.
func (s *SwitchCaseSettings) Check(l transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		targets := map[string]string{}
		for _, o := range s.Ports(l).Outputs {
			targets[o.Setting] = o.Target
		}
		if !checkTargets(yield, l, targets) || l.Main() == nil {
			return
		}
		if _, err := s.compile(l.Main(), d.Semantics()); err != nil {
			yield(transform.Errorf("cases>case", "%v", err))
		}
	}
}

// Start implements transform.Settings.
func (s *SwitchCaseSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if l.Main() == nil {
		return nil, errNoInput
	}
	p, err := s.compile(l.Main(), env.Semantics)
	if err != nil {
		return nil, err
	}
	p.env = env
	return p, nil
}

func (s *SwitchCaseSettings) compile(in *batch.Schema, sem *batch.Semantics) (*switchProcessor, error) {
	p := &switchProcessor{cases: map[string][]int{}, sem: sem}
	var err error
	if p.field, err = fieldIndex(in, s.Field, "field"); err != nil {
		return nil, err
	}
	f := batch.NewField(in.Fields[p.field].Name, s.ValueType)
	f.Mask, f.Decimal, f.Grouping = s.Format, s.Decimal, s.Group
	if p.convert, err = sem.Converter(&in.Fields[p.field], &f); err != nil {
		return nil, err
	}
	codec, err := sem.Codec(&f)
	if err != nil {
		return nil, err
	}
	p.contains = s.Contains && s.ValueType == batch.String
	for i, c := range s.Cases {
		if c.Target == "" {
			return nil, fmt.Errorf("case %d (%q) has no target; choose a transform", i+1, c.Value)
		}
		p.ports = append(p.ports, casePort(i))
		v, err := codec.ParseText([]byte(c.Value), false, batch.TextRule{})
		if err != nil {
			return nil, fmt.Errorf("case %d: %w", i+1, err)
		}
		s.add(p, i, v)
	}
	p.orElse = -1
	if s.Default != "" {
		p.orElse = len(p.ports)
		p.ports = append(p.ports, portDefault)
	}
	return p, nil
}

// add files case i under its value, unless a case with the same value has the
// same target: a row goes to a target once.
func (s *SwitchCaseSettings) add(p *switchProcessor, i int, v batch.Value) {
	if p.sem.IsNullValue(v) {
		p.nulls = s.addCase(p.nulls, i)
		return
	}
	key := string(caseKey(nil, v))
	p.cases[key] = s.addCase(p.cases[key], i)
	if p.contains {
		p.texts = append(p.texts, containedCase{v.Text, i, strings.ToLower(s.Cases[i].Target)})
	}
}

func (s *SwitchCaseSettings) addCase(list []int, i int) []int {
	for _, k := range list {
		if strings.EqualFold(s.Cases[k].Target, s.Cases[i].Target) {
			return list
		}
	}
	return append(list, i)
}

// caseKey appends what two equal values of one type have in common.
func caseKey(dst []byte, v batch.Value) []byte {
	switch v.Type {
	case batch.Number:
		return strconv.AppendUint(dst, math.Float64bits(v.Float), 16)
	case batch.BigNumber:
		return v.Dec.Strip().Append(dst)
	case batch.Integer, batch.Date, batch.Boolean:
		return strconv.AppendInt(dst, v.Int, 10)
	case batch.Timestamp:
		return strconv.AppendInt(append(strconv.AppendInt(dst, v.Int, 10), ' '), int64(v.Nano), 10)
	}
	return append(dst, v.Text...)
}

// switchProcessor looks up the ports of each row.
type switchProcessor struct {
	transform.Stateless
	env      *transform.Env
	sem      *batch.Semantics
	field    int
	convert  *batch.Converter
	ports    []transform.Port
	cases    map[string][]int
	nulls    []int
	texts    []containedCase
	contains bool
	orElse   int
}

type containedCase struct {
	text   string
	port   int
	target string
}

// Apply implements transform.RowWise.
func (p *switchProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	col, err := p.convert.Column(b, b.Cols[p.field], func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
	if err != nil {
		return rowFailure(p.env, b, b.Schema.Fields[p.field].Name, err)
	}
	defer col.Release()
	sels := make([][]int32, len(p.ports))
	var buf []byte
	for i := range b.All() {
		var to []int
		switch {
		case p.sem.IsNull(col, i):
			to = p.nulls
		case p.contains:
			to = p.containing(col.Str(i))
		case col.Type == batch.String:
			to = p.cases[string(col.Bytes(i))]
		default:
			buf = caseKey(buf[:0], col.Value(i))
			to = p.cases[string(buf)]
		}
		if len(to) == 0 && p.orElse >= 0 {
			sels[p.orElse] = append(sels[p.orElse], int32(i))
		}
		for _, k := range to {
			sels[k] = append(sels[k], int32(i))
		}
	}
	for k, sel := range sels {
		if err := emitSelected(p.ports[k], b, sel, emit); err != nil {
			return err
		}
	}
	return nil
}

// containing lists the cases whose text is part of a value, one per target.
func (p *switchProcessor) containing(text string) []int {
	var to []int
	seen := map[string]bool{}
	for _, c := range p.texts {
		if strings.Contains(text, c.text) && !seen[c.target] {
			seen[c.target] = true
			to = append(to, c.port)
		}
	}
	return to
}
