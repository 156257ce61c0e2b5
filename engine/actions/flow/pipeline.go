package flow

import (
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/transform"
)

// Pipeline runs a pipeline, once or for each result row. The counters of the
// result become the pipeline's, its rows replace those there were when it hands
// on any, its files are added (reference 2.5).
var Pipeline = action.Define[PipelineSettings](action.About{
	ID:       "PIPELINE",
	Name:     "Pipeline",
	Category: action.CategoryGeneral,
	Summary:  "Run a pipeline.",
})

// PipelineSettings lists the settings in the order the form shows them.
type PipelineSettings struct {
	RunConfig  transform.Expr[string] `hop:"run_configuration" form:"run-configuration" required:"true" label:"Run configuration"`
	Filename   transform.Expr[string] `hop:"filename" form:"pipeline" required:"true" label:"Pipeline"`
	ClearRows  bool                   `hop:"clear_rows" label:"Clear the result rows before"`
	ClearFiles bool                   `hop:"clear_files" label:"Clear the result files before"`
	ChildSettings
}

// Run implements action.Settings.
func (s *PipelineSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	c := childRun{settings: &s.ChildSettings, env: env, run: env.Children.RunPipeline, start: env.Children.StartPipeline, merge: mergePipeline}
	var err error
	if c.file, c.runConfig, err = target(env, s.Filename, s.RunConfig, "pipeline"); err != nil {
		return err
	}
	if s.ClearRows && !s.PerRow {
		r.SetRows(nil)
	}
	if s.ClearFiles {
		r.ResultFiles = nil
	}
	return c.execute(ctx, r)
}

func target(env *action.Env, file, config transform.Expr[string], kind string) (name, runConfig string, err error) {
	if runConfig, err = config.Eval(env); err != nil {
		return "", "", err
	}
	if name, err = file.Eval(env); err != nil {
		return "", "", err
	}
	switch {
	case name == "":
		return "", "", &engine.Error{Message: fmt.Sprintf("no %s is named", kind), Hint: "give its file"}
	case runConfig == "":
		return "", "", &engine.Error{Message: "no run configuration is named", Hint: "choose one, such as local"}
	}
	return name, runConfig, nil
}

func mergePipeline(r *action.Result, ended *action.Ended) {
	r.Clear()
	r.Count(&ended.Result.Result)
	for _, f := range ended.ResultFiles {
		r.AddFile(f)
	}
	if len(ended.Rows) > 0 {
		r.SetRows(ended.Rows)
		ended.Rows = nil
	}
	r.LogChannel, r.ExitStatus = ended.LogChannel, ended.ExitStatus
}
