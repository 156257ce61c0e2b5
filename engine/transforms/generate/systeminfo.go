package generate

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// SystemInfo appends facts about the moment, the pipeline, the machine and the
// previous result to each row; without an input it makes one row of them.
var SystemInfo = transform.Define[SystemInfoSettings](transform.About{
	ID:       "SystemInfo",
	Name:     "Get system info",
	Category: transform.CategoryInput,
	Summary:  "Dates, names and figures of the system and the pipeline.",
})

// SystemInfoSettings lists the settings in the order the form shows them.
type SystemInfoSettings struct {
	Fields []SystemField `hop:"fields>field" required:"true"`
}

// SystemField is one field.
type SystemField struct {
	Name string     `hop:"name" required:"true"`
	Type SystemFact `hop:"type" required:"true"`
}

// SystemFact is the code of a fact. Two of Hop's codes begin with a blank.
type SystemFact string

// Choices implements transform.Choices.
func (SystemFact) Choices() []transform.Choice {
	var list []transform.Choice
	for _, f := range systemFacts() {
		list = append(list, transform.Choice{Code: f.code, Label: strings.TrimSpace(f.code)})
	}
	return list
}

// systemFact is a fact: its field and how it is found. variable facts are asked for
// each row, the others once per copy.
type systemFact struct {
	code     string
	typ      batch.Type
	variable bool
	value    func(env *transform.Env) batch.Value
}

func (f SystemFact) find() (systemFact, bool) {
	for _, fact := range systemFacts() {
		if strings.EqualFold(strings.TrimSpace(fact.code), strings.TrimSpace(string(f))) {
			return fact, true
		}
	}
	return systemFact{}, false
}

func (s *SystemInfoSettings) facts() ([]systemFact, error) {
	var list []systemFact
	for _, f := range s.Fields {
		fact, ok := f.Type.find()
		if !ok {
			return nil, fmt.Errorf("field %q: there is no system info %q", f.Name, string(f.Type))
		}
		list = append(list, fact)
	}
	return list, nil
}

func (s *SystemInfoSettings) fields(facts []systemFact, origin string) []batch.Field {
	var list []batch.Field
	for i, f := range facts {
		out := batch.NewField(s.Fields[i].Name, f.typ)
		out.Origin = origin
		if f.typ == batch.Integer {
			out.Length, out.Precision = 10, 0
		}
		list = append(list, out)
	}
	return list
}

// Output implements transform.Settings.
func (s *SystemInfoSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	facts, err := s.facts()
	if err != nil {
		return nil, err
	}
	return transform.OnMain(l.Main().With(s.fields(facts, l.Transform)...))
}

// Start implements transform.Settings.
func (s *SystemInfoSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	facts, err := s.facts()
	if err != nil {
		return nil, err
	}
	fields := s.fields(facts, l.Transform)
	fixed := make([]batch.Value, len(facts))
	for i, f := range facts {
		fixed[i] = f.value(env)
	}
	return processor(env, l, l.Main().With(fields...), func(b *batch.Batch) ([]*batch.Column, error) {
		cols := columns(env, fields)
		eachRow(b, cols, func() {
			for i, c := range cols {
				if facts[i].variable {
					c.AppendValue(facts[i].value(env))
				} else {
					c.AppendValue(fixed[i])
				}
			}
		})
		return cols, nil
	}, true), nil
}
