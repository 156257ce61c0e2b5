package transform

import (
	"strings"

	"sluice/engine/batch"
)

// Links say how a transform is wired: the enabled hops, in file order.
type Links struct {
	Transform string
	Copies    int
	Inputs    []Input
	Outputs   []string   // names of the targets of data hops
	Error     *ErrorLink // nil when no error hop is enabled
}

// Input is one incoming hop.
type Input struct {
	From   string
	Schema *batch.Schema
	Info   bool // read by Prepare or by name, not part of the main stream
}

// ErrorLink is the enabled error handling of a transform (Hop's
// transform_error_handling). An empty field name means: not added.
type ErrorLink struct {
	Target                                              string
	CountField, DescriptionField, FieldField, CodeField string
	MaxErrors, MaxPercent, MinRows                      string // numbers or variables; empty: no limit
}

// Main is the schema of the first main input, nil when there is none.
func (l Links) Main() *batch.Schema {
	for i := range l.Inputs {
		if !l.Inputs[i].Info {
			return l.Inputs[i].Schema
		}
	}
	return nil
}

// HasMain says whether a main input is connected; without one a transform is a
// source.
func (l Links) HasMain() bool {
	for i := range l.Inputs {
		if !l.Inputs[i].Info {
			return true
		}
	}
	return false
}

// From gives the schema of the input that comes from a transform (case does not
// matter), nil when it is not connected.
func (l Links) From(name string) *batch.Schema {
	for i := range l.Inputs {
		if strings.EqualFold(l.Inputs[i].From, name) {
			return l.Inputs[i].Schema
		}
	}
	return nil
}

// FieldNames of the error row, used when error handling is on and names none.
const (
	defaultCountField       = "error_row"
	defaultDescriptionField = "error_description"
	defaultCodeField        = "error_code"
)

// Named gives the error link with Hop's default field names when it names none.
func (e ErrorLink) Named() ErrorLink {
	if e.CountField == "" && e.DescriptionField == "" && e.FieldField == "" && e.CodeField == "" {
		e.CountField, e.DescriptionField, e.CodeField = defaultCountField, defaultDescriptionField, defaultCodeField
	}
	return e
}

// ErrorSchema is the schema of rejected rows: base and the named error fields, in
// Hop's order count, descriptions, fields, codes.
func (l Links) ErrorSchema(base *batch.Schema) *batch.Schema {
	if l.Error == nil {
		return base
	}
	var extra []batch.Field
	add := func(name string, t batch.Type, length int) {
		if name != "" {
			f := batch.NewField(name, t)
			f.Length, f.Origin = length, l.Transform
			extra = append(extra, f)
		}
	}
	add(l.Error.CountField, batch.Integer, 3)
	add(l.Error.DescriptionField, batch.String, -1)
	add(l.Error.FieldField, batch.String, -1)
	add(l.Error.CodeField, batch.String, -1)
	return base.With(extra...)
}

// Read says when an input is read in relation to the others.
type Read int

// The ways to read inputs.
const (
	Together Read = iota // in turns with the other inputs
	First                // to its end before the others
)

// InputPort is one input of a transform.
type InputPort struct {
	Name     string
	From     string // the transform named by a setting; empty: all hops no other port names
	Info     bool   // read to its end by Prepare, or apart from the main stream by Run
	Read     Read
	Separate bool // one Reader per hop, in hop order, instead of one for all
	// AnyLayout takes rows of different layouts, as long as no hop leaves the
	// transform: nothing can end up under a wrong name then.
	AnyLayout bool
	Required  bool
}

// OutputPort is one output of a transform.
type OutputPort struct {
	ID      Port
	Target  string // the transform named by a setting; empty: all hops no other port names
	Setting string // the setting that names the target, for messages and forms
	Label   string // for the designer: "true", "case 'DE'"
}

// Ports lists inputs and outputs of a transform as its settings and links make
// them. No output port with an empty target means that hops no port names carry
// no rows. WaitsFor names transforms whose end the transform awaits.
type Ports struct {
	Inputs   []InputPort
	Outputs  []OutputPort
	WaitsFor []string
}

// DefaultPorts is one main input and one main output.
func DefaultPorts() Ports {
	return Ports{Inputs: []InputPort{{Name: string(Main)}}, Outputs: []OutputPort{{ID: Main}}}
}

// InfoPorts is a main input, info inputs from the named transforms, and a main
// output.
func InfoPorts(from ...string) Ports {
	p := DefaultPorts()
	for _, f := range from {
		if f != "" {
			p.Inputs = append(p.Inputs, InputPort{Name: f, From: f, Info: true, Read: First, Required: true})
		}
	}
	return p
}

// PortsOf gives the ports of settings: their own, or the default ones. Default
// names of the error fields are filled in by the caller.
func PortsOf(s Settings, l Links) Ports {
	if p, ok := s.(Porter); ok {
		return p.Ports(l)
	}
	return DefaultPorts()
}
