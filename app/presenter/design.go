package presenter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/app/workspace"
	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/workflow"
)

// Field is a field of a row, for drop-downs and the list of output fields.
type Field struct {
	Name, Type, Origin string
	Length, Precision  int
}

// Design is what is known of a pipeline without running it: the fields at every
// transform, and the variables.
type Design struct {
	Inputs  map[string][]Field // by lower-case name of the transform
	Outputs map[string][]Field // of the main output
	Vars    *project.Variables
	Err     error // why fields are missing, nil when all are known
}

// errDesigned ends a preparation from which only the graph was wanted.
var errDesigned = errors.New("designed")

// Infer computes the fields at every transform, sources first. It may ask
// databases for layouts, so it runs beside the user interface. What cannot be known
// is left out.
func Infer(ctx context.Context, ws *workspace.Workspace, p *hopxml.Pipeline, file string) *Design {
	d := &Design{Inputs: map[string][]Field{}, Outputs: map[string][]Field{}}
	_, err := ws.Runner.Prepare(ctx, pipeline.Run{
		File: file, Pipeline: p, Scope: ws.Scope,
		Extend: func(ctx context.Context, prep *pipeline.Preparation) error {
			d.Vars = prep.Options.Vars
			d.infer(ctx, prep)
			return errDesigned
		},
	})
	if err != nil && !errors.Is(err, errDesigned) {
		d.Err = err
	}
	return d
}

// InferWorkflow gives what is known of a workflow: its variables.
func InferWorkflow(ws *workspace.Workspace, w *hopxml.Workflow, file string) *Design {
	d := &Design{Inputs: map[string][]Field{}, Outputs: map[string][]Field{}}
	d.Vars, d.Err = ws.Workflows.Variables(workflow.Run{File: file, Workflow: w, Scope: ws.Scope})
	return d
}

func (d *Design) infer(ctx context.Context, prep *pipeline.Preparation) {
	c := &chain{ctx: ctx, prep: prep, schemas: map[string]transform.Schemas{}, links: map[string]*transform.Links{}, asked: map[string]bool{}}
	for _, n := range prep.Graph.Nodes {
		c.node(n)
		key := lower(n.Name)
		if l := c.links[key]; l != nil {
			d.Inputs[key] = fieldsOf(l.Main())
		}
		d.Outputs[key] = fieldsOf(c.main(n))
	}
	d.Err = c.err
}

// chain walks the transforms against the direction of the hops.
type chain struct {
	ctx     context.Context
	prep    *pipeline.Preparation
	schemas map[string]transform.Schemas
	links   map[string]*transform.Links
	asked   map[string]bool
	err     error
}

// node computes the output of a transform, and those of what feeds it before.
func (c *chain) node(n *pipeline.Node) {
	key := lower(n.Name)
	if c.asked[key] || n.Settings == nil {
		return
	}
	c.asked[key] = true
	l := &transform.Links{Transform: n.Name, Copies: 1, Error: n.Errors}
	for _, h := range c.prep.Graph.Hops {
		switch {
		case strings.EqualFold(h.To, n.Name):
			in := transform.Input{From: h.From, Schema: batch.NewSchema()}
			if from := c.prep.Graph.Node(h.From); from != nil {
				c.node(from)
				if s := c.between(from, n.Name); s != nil {
					in.Schema = s
				}
			}
			l.Inputs = append(l.Inputs, in)
		case strings.EqualFold(h.From, n.Name) && !isError(n, h.To):
			l.Outputs = append(l.Outputs, h.To)
		}
	}
	for i := range l.Inputs {
		for _, port := range transform.PortsOf(n.Settings, *l).Inputs {
			if strings.EqualFold(port.From, l.Inputs[i].From) {
				l.Inputs[i].Info = port.Info
			}
		}
	}
	c.links[key] = l
	s, err := c.output(n, *l)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", n.Name, err)
	}
	c.schemas[key] = s
}

func isError(n *pipeline.Node, to string) bool {
	return n.Errors != nil && strings.EqualFold(n.Errors.Target, to)
}

// output asks the settings; half-filled settings may not cope, which must not end
// the designer.
func (c *chain) output(n *pipeline.Node, l transform.Links) (s transform.Schemas, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("its fields cannot be told (%v)", r)
		}
	}()
	return n.Settings.Output(l, &designer{c})
}

// between is the schema that flows from a transform to another.
func (c *chain) between(from *pipeline.Node, to string) *batch.Schema {
	s := c.schemas[lower(from.Name)]
	if isError(from, to) {
		if s[transform.Error] != nil {
			return s[transform.Error]
		}
		if l := c.links[lower(from.Name)]; l != nil && l.Main() != nil {
			return l.ErrorSchema(l.Main())
		}
		return nil
	}
	for _, port := range transform.PortsOf(from.Settings, *c.links[lower(from.Name)]).Outputs {
		if port.Target == "" || strings.EqualFold(port.Target, to) {
			if s[port.ID] != nil {
				return s[port.ID]
			}
		}
	}
	return s[transform.Main]
}

// main is the schema of the main output, else of the first.
func (c *chain) main(n *pipeline.Node) *batch.Schema {
	s := c.schemas[lower(n.Name)]
	if s[transform.Main] != nil || n.Settings == nil || c.links[lower(n.Name)] == nil {
		return s[transform.Main]
	}
	for _, port := range transform.PortsOf(n.Settings, *c.links[lower(n.Name)]).Outputs {
		if s[port.ID] != nil {
			return s[port.ID]
		}
	}
	return nil
}

func fieldsOf(s *batch.Schema) []Field {
	if s == nil {
		return nil
	}
	out := make([]Field, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		out[i] = Field{Name: f.Name, Type: f.Type.String(), Origin: f.Origin, Length: f.Length, Precision: f.Precision}
	}
	return out
}

// designer answers what Output asks.
type designer struct{ c *chain }

func (d *designer) Resolve(text string) (string, error) { return d.c.prep.Options.Vars.Resolve(text) }

func (d *designer) Semantics() *batch.Semantics {
	return batch.DefaultSemantics(d.c.prep.Options.Location)
}
func (d *designer) Metadata() *project.Metadata { return d.c.prep.Options.Metadata }
func (d *designer) PreviousRows() *batch.Schema { return nil }
func (d *designer) QueryLayout(connection, query string) (*batch.Schema, error) {
	o := d.c.prep.Options
	if o.Databases == nil {
		return nil, pipeline.ErrNoDatabases
	}
	return o.Databases.QueryLayout(o.Vars, connection, query)
}

func (d *designer) TableLayout(connection, schema, table string) (*batch.Schema, error) {
	o := d.c.prep.Options
	if o.Databases == nil {
		return nil, pipeline.ErrNoDatabases
	}
	return o.Databases.TableLayout(o.Vars, connection, schema, table)
}
