package script

import (
	"fmt"
	"iter"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/expr/javascript"
	"sluice/engine/transform"
)

// ScriptValueMod runs JavaScript for every row. Fields that the script names are
// variables in it; variables that the settings name become fields. A script that
// sets pipeline_Status in its first run decides for each row whether it goes on.
//
// The script keeps its variables from row to row, as in Hop. One that provably
// uses nothing of an earlier row runs on several workers.
var ScriptValueMod = transform.Define[ScriptValueSettings](transform.About{
	ID:            "ScriptValueMod",
	Name:          "JavaScript",
	Category:      transform.CategoryScript,
	Summary:       "Compute fields with JavaScript.",
	HandlesErrors: true,
	RowNeutral:    []string{"optimizationLevel", "languageVersion"},
})

// ScriptValueSettings lists the settings in the order the form shows them.
type ScriptValueSettings struct {
	Scripts      []JavaScript  `hop:"jsScripts>jsScript" label:"Scripts" required:"true"`
	Fields       []ScriptField `hop:"fields>field" label:"Fields"`
	Optimization string        `hop:"optimizationLevel" default:"9" advanced:"true" help:"Has no effect here"`
	Language     string        `hop:"languageVersion" advanced:"true" help:"Has no effect here"`
	Compatible   bool          `hop:"compatible" advanced:"true" help:"Old value objects; not supported"`
	Single       string        `hop:"script" advanced:"true" form:"script" help:"The only script, in files of old versions"`
}

// JavaScript is one tab of scripts.
type JavaScript struct {
	Type   ScriptType `hop:"jsScript_type" default:"0" label:"Type"`
	Name   string     `hop:"jsScript_name" label:"Name"`
	Script string     `hop:"jsScript_script" label:"Script" form:"script"`
}

// ScriptType says when a script runs.
type ScriptType string

// The types of scripts.
const (
	normalScript    ScriptType = "-1"
	transformScript ScriptType = "0"
	startScript     ScriptType = "1"
	endScript       ScriptType = "2"
)

// Choices implements transform.Choices.
func (ScriptType) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(transformScript), Label: "Transform script", Help: "runs for every row"},
		{Code: string(startScript), Label: "Start script", Help: "runs before the first row"},
		{Code: string(endScript), Label: "End script", Help: "runs after the last row"},
		{Code: string(normalScript), Label: "Not run"},
	}
}

// ScriptField is a variable of the script that becomes a field.
type ScriptField struct {
	Name      string     `hop:"name" label:"Variable" required:"true"`
	Rename    string     `hop:"rename" label:"Rename to"`
	Type      batch.Type `hop:"type" default:"String"`
	Length    string     `hop:"length" default:"-1"`
	Precision string     `hop:"precision" default:"-1"`
	Replace   bool       `hop:"replace" label:"Replace value"`
}

// scriptPlan places the results; at is the position of each one in the output.
type scriptPlan struct {
	schema *batch.Schema
	at     []int
}

func (s *ScriptValueSettings) plan(in *batch.Schema, origin string) (*scriptPlan, error) {
	p := &scriptPlan{schema: in.Clone()}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == "" {
			p.at = append(p.at, -1)
			continue
		}
		length, precision := numberOr(f.Length, -1), numberOr(f.Precision, -1)
		if !f.Replace {
			nf := batch.NewField(f.Rename, f.Type)
			if f.Rename == "" {
				nf.Name = f.Name
			}
			nf.Length, nf.Precision, nf.Origin = length, precision, origin
			p.schema = p.schema.With(nf)
			p.at = append(p.at, p.schema.Len()-1)
			continue
		}
		k := p.schema.Index(f.Name)
		if k < 0 && f.Rename != "" {
			k = p.schema.Index(f.Rename)
		}
		if k < 0 {
			return nil, fmt.Errorf("the field to replace, %q, was not found; the input has %s", f.Name, strings.Join(in.Names(), ", "))
		}
		old := &p.schema.Fields[k]
		if old.Type != f.Type {
			old.Type, old.Mask = f.Type, ""
		}
		old.Length, old.Precision, old.Origin = length, precision, origin
		p.at = append(p.at, k)
	}
	return p, nil
}

func numberOr(text string, other int) int {
	var n int
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "%d", &n); err != nil {
		return other
	}
	return n
}

// Output implements transform.Settings.
func (s *ScriptValueSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	p, err := s.plan(l.Main(), l.Transform)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(p.schema)
}

// scripts are the compiled scripts of a transform; the last of a type counts, as
// in Hop. start and end may be nil.
type scripts struct{ row, start, end *javascript.Script }

func (s *ScriptValueSettings) compile() (*scripts, error) {
	var out scripts
	list := s.Scripts
	if s.Single != "" {
		list = []JavaScript{{Type: transformScript, Name: "script", Script: s.Single}}
	}
	for _, j := range list {
		if strings.TrimSpace(j.Script) == "" {
			continue
		}
		var to **javascript.Script
		switch j.Type {
		case transformScript:
			to = &out.row
		case startScript:
			to = &out.start
		case endScript:
			to = &out.end
		default:
			continue
		}
		c, err := javascript.Compile(j.Name, j.Script)
		if err != nil {
			return nil, err
		}
		*to = c
	}
	if out.row == nil {
		c, err := javascript.Compile("script", "")
		if err != nil {
			return nil, err
		}
		out.row = c
	}
	return &out, nil
}

func (s *scripts) all() []*javascript.Script {
	list := []*javascript.Script{s.row}
	for _, c := range []*javascript.Script{s.start, s.end} {
		if c != nil {
			list = append(list, c)
		}
	}
	return list
}

// mentions says whether any script holds a word.
func (s *scripts) mentions(word string) bool {
	for _, c := range s.all() {
		if c.Mentions(word) {
			return true
		}
	}
	return false
}

// Check implements transform.Checker.
func (s *ScriptValueSettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		c, err := s.compile()
		if err != nil {
			yield(transform.Errorf("jsScripts>jsScript", "%v", err))
			return
		}
		for _, sc := range c.all() {
			if line := sc.UsesJava(); line > 0 {
				p := transform.Warnf("jsScripts>jsScript", "script %q uses a Java class in line %d, which cannot be run here", sc.Name(), line)
				p.Hint = "use plain JavaScript or the script functions instead"
				if !yield(p) {
					return
				}
			}
		}
		if s.Compatible {
			yield(transform.Warnf("compatible", "the compatibility mode of old versions is not supported; the script runs without it"))
		}
	}
}

// Start implements transform.Settings.
func (s *ScriptValueSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	in := l.Main()
	if in == nil {
		return nil, errNoInput
	}
	plan, err := s.plan(in, l.Transform)
	if err != nil {
		return nil, err
	}
	c, err := s.compile()
	if err != nil {
		return nil, err
	}
	core := &scriptCore{env: env, settings: s, plan: plan, scripts: c, in: in}
	var names []string
	for i := range in.Fields {
		if c.mentions(in.Fields[i].Name) {
			core.used = append(core.used, i)
			names = append(names, in.Fields[i].Name)
		}
	}
	if c.start == nil && c.end == nil && c.row.IsPure(names) && !c.row.Mentions("getInputRowMeta") && !c.row.Mentions("getOutputRowMeta") && !c.row.Mentions("rowMeta") {
		return &parallelScript{scriptCore: core}, nil
	}
	return &orderedScript{scriptCore: core}, nil
}
