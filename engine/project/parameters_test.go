package project_test

import (
	"maps"
	"slices"
	"testing"

	"sluice/engine/project"
)

func TestActivateParameters(t *testing.T) {
	cases := map[string]struct {
		scope     map[string]string
		parameter project.Parameter
		want      string
	}{
		"value":                              {nil, project.Parameter{Name: "P", Value: "v", Default: "d"}, "v"},
		"value beats a variable":             {map[string]string{"P": "x"}, project.Parameter{Name: "P", Value: "v"}, "v"},
		"default":                            {nil, project.Parameter{Name: "P", Default: "d"}, "d"},
		"variable beats a default":           {map[string]string{"P": "x"}, project.Parameter{Name: "P", Default: "d"}, "x"},
		"empty variable does not":            {map[string]string{"P": ""}, project.Parameter{Name: "P", Default: "d"}, "d"},
		"empty default hides a variable":     {map[string]string{"P": "x"}, project.Parameter{Name: "P"}, ""},
		"values are stored as written":       {map[string]string{"A": "a"}, project.Parameter{Name: "P", Default: "${A}/x"}, "${A}/x"},
		"a parameter without name is passed": {map[string]string{"P": "x"}, project.Parameter{Value: "v"}, "x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			scope := scopeOf(c.scope)
			project.ActivateParameters(scope, []project.Parameter{c.parameter})
			if got, ok := scope.Get("P"); got != c.want || !ok {
				t.Errorf("P = %q, %v, want %q", got, ok, c.want)
			}
		})
	}
}

func TestWithValues(t *testing.T) {
	declared := []project.Parameter{{Name: "A", Default: "a"}, {Name: "B", Value: "old"}}
	given, unknown := project.WithValues(declared, map[string]string{"A": "1", "X": "2"})
	if given[0].Value != "1" || given[1].Value != "" || !slices.Equal(unknown, []string{"X"}) {
		t.Errorf("given %+v, unknown %v", given, unknown)
	}
	if declared[1].Value != "old" {
		t.Error("the declared parameters changed")
	}
}

func TestPassToPipeline(t *testing.T) {
	row := func(field string) (string, bool) { return map[string]string{"f": "row value"}[field], field == "f" }
	cases := map[string]struct {
		call                          project.ChildCall
		parameters, variables, action map[string]string
	}{
		"resolved value": {
			project.ChildCall{Mappings: []project.ParameterMapping{{Name: "P", Value: "${A}!"}}},
			map[string]string{"P": "a!"},
			nil,
			map[string]string{"P": "a!"},
		},
		"field wins over value": {
			project.ChildCall{Mappings: []project.ParameterMapping{{Name: "P", Field: "f", Value: "v"}}, Row: row},
			map[string]string{"P": "row value"},
			nil,
			map[string]string{"P": "row value"},
		},
		"field without row is empty": {
			project.ChildCall{Mappings: []project.ParameterMapping{{Name: "P", Field: "f", Value: "v"}}},
			map[string]string{"P": ""},
			nil,
			map[string]string{"P": ""},
		},
		"unknown field is empty": {
			project.ChildCall{Mappings: []project.ParameterMapping{{Name: "P", Field: "g"}}, Row: row},
			map[string]string{"P": ""},
			nil,
			map[string]string{"P": ""},
		},
		"pass all takes the action's variable": {
			project.ChildCall{PassAll: true},
			map[string]string{"Q": "q"},
			nil, nil,
		},
		"without pass all nothing": {project.ChildCall{}, nil, nil, nil},
		"listed is not replaced by pass all": {
			project.ChildCall{PassAll: true, Mappings: []project.ParameterMapping{{Name: "Q", Value: ""}}},
			map[string]string{"Q": ""},
			nil,
			map[string]string{"Q": ""},
		},
		"undeclared becomes a variable": {
			project.ChildCall{Mappings: []project.ParameterMapping{{Name: "X", Value: "x"}, {Name: "", Value: "y"}}},
			nil,
			map[string]string{"X": "x"},
			map[string]string{"X": "x"},
		},
		"values do not see each other": {
			project.ChildCall{Mappings: []project.ParameterMapping{{Name: "A", Value: "new"}, {Name: "P", Value: "${A}"}}},
			map[string]string{"P": "a"},
			map[string]string{"A": "new"},
			map[string]string{"A": "new", "P": "a"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.call.Scope = scopeOf(map[string]string{"A": "a", "Q": "q"})
			c.call.Declared = []string{"P", "Q"}
			got, err := c.call.Pipeline()
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got.Parameters, c.parameters) || !maps.Equal(got.Variables, c.variables) || !maps.Equal(got.Action, c.action) {
				t.Errorf("got %+v", got)
			}
			if before, _ := c.call.Scope.Get("P"); before != "" {
				t.Error("the scope changed")
			}
		})
	}
}

func TestPassToWorkflow(t *testing.T) {
	cases := map[string]struct {
		call project.ChildCall
		want map[string]string
	}{
		"listed":                           {project.ChildCall{Mappings: []project.ParameterMapping{{Name: "P", Value: "${A}"}}}, map[string]string{"P": "a"}},
		"undeclared is not passed":         {project.ChildCall{Mappings: []project.ParameterMapping{{Name: "X", Value: "x"}}}, nil},
		"empty listed without pass all":    {project.ChildCall{Mappings: []project.ParameterMapping{{Name: "P", Value: ""}}}, nil},
		"pass all takes parent parameters": {project.ChildCall{PassAll: true}, map[string]string{"P": "parent"}},
		"empty listed falls to the parent": {project.ChildCall{PassAll: true, Mappings: []project.ParameterMapping{{Name: "P", Value: ""}}}, map[string]string{"P": "parent"}},
		"listed beats the parent":          {project.ChildCall{PassAll: true, Mappings: []project.ParameterMapping{{Name: "P", Value: "v"}}}, map[string]string{"P": "v"}},
		"params from previous":             {project.ChildCall{FromPrevious: true}, map[string]string{"P": "parent"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// Q is a variable, not a parameter, of the parent: it is not passed.
			c.call.Scope = scopeOf(map[string]string{"A": "a", "Q": "q"})
			c.call.Declared = []string{"P", "Q"}
			c.call.Parent = map[string]string{"P": "parent", "OTHER": "o"}
			got, err := c.call.Workflow()
			if err != nil || !maps.Equal(got.Parameters, c.want) || len(got.Variables)+len(got.Action) != 0 {
				t.Errorf("got %+v, %v, want %v", got, err, c.want)
			}
		})
	}
	endless := project.ChildCall{Scope: scopeOf(map[string]string{"L": "${L}"}), Mappings: []project.ParameterMapping{{Name: "P", Value: "${L}"}}}
	if _, err := endless.Workflow(); err == nil {
		t.Error("no error for an endless value")
	}
}
