package script_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/expr"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/script"
)

// suiteDir is the folder of Hop's own projects.
func suiteDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SLUICE_HOP_SUITE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the Hop suite is missing; set SLUICE_HOP_SUITE: %v", err)
	}
	return dir
}

// suiteTransforms visits every transform element of the suite that has one of the
// family's types.
func suiteTransforms(t *testing.T, visit func(where string, d transform.Definition, el *hopxml.Element)) {
	t.Helper()
	types := map[string]transform.Definition{}
	for _, d := range script.Transforms {
		types[strings.ToLower(d.ID)] = d
	}
	err := filepath.WalkDir(suiteDir(t), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".hpl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(path, data)
		if err != nil {
			t.Logf("%s: %v", path, err)
			return nil
		}
		for _, el := range doc.Root().All("transform") {
			if d, ok := types[strings.ToLower(el.Child("type").Text())]; ok {
				visit(filepath.Base(path)+": "+el.Child("name").Text(), d, el)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSuiteDecodes(t *testing.T) {
	seen := map[string]int{}
	suiteTransforms(t, func(where string, d transform.Definition, el *hopxml.Element) {
		s, problems := d.Decode(el)
		for _, p := range problems {
			t.Errorf("%s: %s: %s", where, p.Setting, p.Message)
		}
		seen[d.ID]++
		checkCompiles(t, where, s)
	})
	for id, least := range map[string]int{"FilterRows": 90, "Calculator": 6, "Formula": 8, "SwitchCase": 2, "JoinRows": 2, "RegexEval": 1} {
		if seen[id] < least {
			t.Errorf("%d transforms of type %s, want at least %d", seen[id], id, least)
		}
	}
	t.Logf("decoded %v", seen)
}

// checkCompiles starts a transform over an input that has the fields it names,
// with types that fit.
func checkCompiles(t *testing.T, where string, s transform.Settings) {
	t.Helper()
	if sw, ok := s.(*script.SwitchCaseSettings); ok && sw.Field == "" {
		return // a template whose settings are injected
	}
	env, _ := transformtest.NewEnv(t, nil)
	env.Transform = where
	l := transform.Links{Transform: where, Inputs: []transform.Input{{From: "in", Schema: inputFor(s)}}}
	if j, ok := s.(*script.JoinRowsSettings); ok && j.Main != "" {
		l.Inputs[0].From = j.Main
	}
	if _, err := s.Output(l, env.Design); err != nil {
		t.Errorf("%s: output: %v", where, err)
		return
	}
	if _, err := s.Start(env, l); err != nil && !strings.Contains(err.Error(), "${") {
		t.Errorf("%s: %v", where, err)
	}
}

var reference = regexp.MustCompile(`\[([^\]]+)\]`)

// inputFor makes a schema of the fields that settings name.
func inputFor(s transform.Settings) *batch.Schema {
	types := map[string]batch.Type{}
	var names []string
	add := func(name string, t batch.Type) {
		if name == "" {
			return
		}
		if _, ok := types[name]; !ok {
			names = append(names, name)
			types[name] = t
		}
	}
	switch s := s.(type) {
	case *script.FilterRowsSettings:
		conditionFields(s.Condition, add)
	case *script.JoinRowsSettings:
		conditionFields(s.Condition, add)
	case *script.SwitchCaseSettings:
		add(s.Field, batch.String)
	case *script.RegexEvalSettings:
		add(s.Matcher, batch.String)
	case *script.CalculatorSettings:
		made := map[string]bool{}
		for _, c := range s.Calculations {
			for _, f := range []string{c.A, c.B, c.C} {
				if c.Type != "CONSTANT" && !made[f] {
					add(f, operandType(string(c.Type), c.ValueType))
				}
			}
			made[c.Field] = true
		}
	case *script.FormulaSettings:
		made := map[string]bool{}
		for _, f := range s.Formulas {
			for _, m := range reference.FindAllStringSubmatch(f.Formula, -1) {
				if !made[m[1]] {
					add(m[1], batch.Number)
				}
			}
			add(f.Replace, batch.String)
			made[f.Field] = true
		}
	case *script.ScriptValueSettings:
		for _, f := range s.Fields {
			if f.Replace {
				add(f.Name, f.Type)
			}
		}
	}
	schema := &batch.Schema{}
	for _, n := range names {
		schema.Fields = append(schema.Fields, batch.NewField(n, types[n]))
	}
	return schema
}

func operandType(code string, result batch.Type) batch.Type {
	switch {
	case strings.Contains(code, "DATE"), strings.Contains(code, "DAY"), strings.Contains(code, "WEEK"):
		return batch.Date
	case result == batch.String:
		return batch.String
	}
	return batch.Integer
}

func conditionFields(c *expr.Condition, add func(string, batch.Type)) {
	if c == nil {
		return
	}
	for _, k := range c.Children {
		conditionFields(k, add)
	}
	if len(c.Children) > 0 {
		return
	}
	t := batch.String
	if c.Constant != nil && c.Constant.Type != batch.None {
		t = c.Constant.Type
	}
	add(c.Left, t)
	add(c.Right, t)
}
