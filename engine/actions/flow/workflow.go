package flow

import (
	"context"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// Workflow runs another workflow, once or for each result row. A workflow cannot
// run itself. The result becomes the child's; a child that failed counts one
// error more (reference 2.5).
var Workflow = action.Define[WorkflowSettings](action.About{
	ID:       "WORKFLOW",
	Name:     "Workflow",
	Category: action.CategoryGeneral,
	Summary:  "Run another workflow.",
})

// WorkflowSettings lists the settings in the order the form shows them.
type WorkflowSettings struct {
	RunConfig  transform.Expr[string] `hop:"run_configuration" form:"run-configuration" required:"true" label:"Run configuration"`
	Filename   transform.Expr[string] `hop:"filename" form:"workflow" required:"true" label:"Workflow"`
	PassExport bool                   `hop:"pass_export" advanced:"true" help:"For remote runs; has no effect here"`
	ChildSettings
}

// Run implements action.Settings.
func (s *WorkflowSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	c := childRun{settings: &s.ChildSettings, env: env, run: env.Children.RunWorkflow, start: env.Children.StartWorkflow, merge: mergeWorkflow}
	var err error
	if c.file, c.runConfig, err = target(env, s.Filename, s.RunConfig, "workflow"); err != nil {
		return err
	}
	return c.execute(ctx, r)
}

func mergeWorkflow(r *action.Result, ended *action.Ended) {
	r.Clear()
	r.Count(&ended.Result.Result)
	if !ended.OK {
		r.Errors++
	}
	for _, f := range ended.ResultFiles {
		r.AddFile(f)
	}
	if len(ended.Rows) > 0 {
		r.SetRows(ended.Rows)
		ended.Rows = nil
	}
	r.LogChannel, r.ExitStatus = ended.LogChannel, ended.ExitStatus
}
