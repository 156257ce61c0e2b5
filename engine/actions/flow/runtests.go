package flow

import (
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/action"
)

// RunPipelineTests runs unit tests of pipelines. It is a success when every test
// ran without an error and no golden row differs.
var RunPipelineTests = action.Define[RunPipelineTestsSettings](action.About{
	ID:       "RunPipelineTests",
	Name:     "Run pipeline unit tests",
	Category: action.CategoryGeneral,
	Summary:  "Run pipelines and compare their rows with golden data sets.",
})

// RunPipelineTestsSettings lists the settings in the order the form shows them.
type RunPipelineTestsSettings struct {
	Tests []TestName `hop:"test_names>test_name"`
}

// TestName is one unit test.
type TestName struct {
	Name string `hop:"name" form:"unit-test" required:"true"`
}

// maxShownDifferences bounds the differences of one test that are logged.
const maxShownDifferences = 20

// Run implements action.Settings.
func (s *RunPipelineTestsSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	failed, compared := 0, 0
	for _, t := range s.Tests {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o := env.Children.RunTest(ctx, t.Name)
		compared += o.Rows
		for _, w := range o.Warnings {
			env.Log.Warn("Unit test", "test", t.Name, "warning", w)
		}
		if o.Passed {
			env.Log.Info("Unit test passed", "test", t.Name, "rows", o.Rows)
			continue
		}
		failed++
		for i, d := range o.Differences {
			if i == maxShownDifferences {
				env.Log.Error("Unit test differs further", "test", t.Name, "differences", len(o.Differences)-i)
				break
			}
			env.Log.Error("Unit test differs", "test", t.Name, "difference", d)
		}
		if o.Err != nil {
			env.Log.Error("Unit test failed", "test", t.Name, "err", o.Err)
		}
	}
	r.Succeed()
	if failed > 0 {
		r.Errors = int64(failed)
		return &engine.Error{Message: fmt.Sprintf("%d of %d unit tests failed", failed, len(s.Tests)), Hint: "the log tells what differs"}
	}
	return nil
}
