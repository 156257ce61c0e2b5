// Package unittest runs the unit tests of a project: a pipeline with some inputs
// replaced by data sets, and the rows that arrive at some transforms compared
// with golden ones.
//
// An Outcome tells what was compared and every difference. Running a test never
// changes a file of the project beyond what its pipeline itself writes.
package unittest

import (
	"context"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/dataset"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Outcome is what a unit test found.
type Outcome struct {
	Test        string
	Locations   int // golden transforms compared
	Rows        int // golden rows compared
	Differences []string
	Warnings    []string
	Err         error            // the test could not be run or its pipeline failed
	Result      transform.Result // of the pipeline; without rows
}

// Passed says whether the pipeline ran and nothing differs.
func (o *Outcome) Passed() bool { return o.Err == nil && len(o.Differences) == 0 }

// Variables that are set while a test runs.
const (
	variableRun  = "__UnitTest_Run__"
	variableName = "__UnitTest_Name__"
)

// Run runs one unit test of the runner's metadata below a scope.
func Run(ctx context.Context, r *pipeline.Runner, scope *project.Variables, runConfig, name string, scopes transform.Scopes) *Outcome {
	o := &Outcome{Test: name}
	t, err := r.Metadata.UnitTest(name)
	if err != nil {
		o.Err = err
		return o
	}
	run := &testRun{runner: r, test: t, scope: scope.Child(), outcome: o, captures: map[string]*capture{}}
	defer run.release()
	o.Err = run.execute(ctx, runConfig, scopes)
	return o
}

type testRun struct {
	runner   *pipeline.Runner
	test     *project.UnitTest
	scope    *project.Variables
	outcome  *Outcome
	captures map[string]*capture // by lower-case transform name
	injected []*dataRows
}

func (t *testRun) execute(ctx context.Context, runConfig string, scopes transform.Scopes) error {
	t.scope.Set(variableRun, "Y")
	t.scope.Set(variableName, t.test.Name)
	vars := map[string]string{}
	for _, v := range t.test.Variables {
		value, err := t.scope.Resolve(v.Value)
		if err != nil {
			return fmt.Errorf("variable %s of unit test %s: %w", v.Name, t.test.Name, err)
		}
		vars[v.Name] = value
	}
	t.scope.SetAll(vars)
	file, err := t.test.File(t.scope)
	if err != nil {
		return err
	}
	runner := *t.runner
	if len(t.test.DatabaseReplacements) > 0 && runner.Databases != nil {
		runner.Databases = t.replaced(runner.Databases)
	}
	e, err := runner.Prepare(ctx, pipeline.Run{
		File: file, RunConfig: runConfig, Scope: t.scope, Variables: vars, Scopes: scopes,
		Edit: func(g *pipeline.Graph) error { return t.edit(ctx, g) },
	})
	if err != nil {
		return err
	}
	result, err := e.Run(ctx)
	for _, b := range result.Rows {
		b.Release()
	}
	result.Rows = nil
	t.outcome.Result = result
	if err == nil && !result.OK {
		err = fmt.Errorf("the pipeline ended with %d errors", result.Errors)
	}
	if err != nil {
		return err
	}
	return t.compareAll(ctx)
}

// edit changes the pipeline for the test: tweaks, injected inputs, and a
// capturing Dummy at each golden transform.
func (t *testRun) edit(ctx context.Context, g *pipeline.Graph) error {
	for _, w := range t.test.Tweaks {
		n := g.Node(w.Transform)
		switch {
		case n == nil:
		case w.Tweak == "REMOVE_TRANSFORM":
			g.Remove(n.Name)
		case w.Tweak == "BYPASS_TRANSFORM":
			n.Settings, n.Problems, n.Errors, n.PerCopy = &passing{}, nil, nil, false
		}
	}
	for _, in := range t.test.Inputs {
		if err := t.inject(ctx, g, in); err != nil {
			return err
		}
	}
	for _, golden := range t.test.Golden {
		n := g.Node(golden.Transform)
		if n == nil {
			continue
		}
		c := &capture{}
		t.captures[strings.ToLower(n.Name)] = c
		n.Settings, n.Problems, n.Errors, n.Copies, n.PerCopy = c, nil, nil, "1", false
		n.Definition.Sink = false
	}
	return nil
}

func (t *testRun) inject(ctx context.Context, g *pipeline.Graph, in project.DataSetLocation) error {
	n := g.Node(in.Transform)
	if n == nil {
		return nil
	}
	set, err := t.read(ctx, in)
	if err != nil {
		return err
	}
	t.injected = append(t.injected, set)
	n.Settings, n.Problems, n.Errors, n.Copies = set, nil, nil, "1"
	hops := g.Hops[:0:0]
	for _, h := range g.Hops {
		if !strings.EqualFold(h.To, n.Name) {
			hops = append(hops, h)
		}
	}
	g.Hops = hops
	return nil
}

// read loads a data set and picks the mapped fields in the order of the mappings.
func (t *testRun) read(ctx context.Context, loc project.DataSetLocation) (*dataRows, error) {
	src := dataset.Source{Files: t.runner.Files, Vars: t.scope, Semantics: batch.ReadSemantics(t.scope.Get, t.runner.Location), Alloc: t.runner.Alloc}
	schema, list, err := dataset.Load(ctx, src, t.runner.Metadata, loc.DataSet)
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", loc.DataSet, err)
	}
	defer func() {
		for _, b := range list {
			b.Release()
		}
	}()
	out := &dataRows{schema: batch.NewSchema()}
	var cols []int
	for _, m := range loc.Mappings {
		k := schema.Index(m.DataSetField)
		if k < 0 {
			return nil, fmt.Errorf("data set %q has no field %q; correct the mapping of transform %q", loc.DataSet, m.DataSetField, loc.Transform)
		}
		f := schema.Fields[k]
		f.Name = m.TransformField
		out.schema = out.schema.With(f)
		cols = append(cols, k)
	}
	for _, b := range list {
		out.batches = append(out.batches, b.Pick(out.schema, cols))
	}
	return out, nil
}

func (t *testRun) release() {
	for _, c := range t.captures {
		c.release()
	}
	for _, d := range t.injected {
		d.release()
	}
}
