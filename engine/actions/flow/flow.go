// Package flow holds the actions that steer a workflow: its start and end, the
// pipelines and workflows it runs, conditions, loops, waits, variables and the
// log.
//
// Actions lists them.
package flow

import (
	"context"
	"log/slog"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/transform"
)

// Actions is the family.
var Actions = []action.Definition{
	Start,
	Pipeline,
	Workflow,
	RunPipelineTests,
	Success,
	Abort,
	Dummy,
	Join,
	Delay,
	SetVariables,
	WriteToLog,
	SimpleEval,
	Repeat,
	EndRepeat,
}

// LogLevel is a level of the execution log.
type LogLevel string

// Choices implements transform.Choices.
func (LogLevel) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "Nothing", Label: "nothing"},
		{Code: "Error", Label: "errors"},
		{Code: "Minimal", Label: "minimal"},
		{Code: "Basic", Label: "basic"},
		{Code: "Detailed", Label: "detailed"},
		{Code: "Debug", Label: "debug"},
		{Code: "Rowlevel", Label: "every row"},
	}
}

func (l LogLevel) level() slog.Level {
	level, err := engine.ParseLogLevel(string(l))
	if err != nil {
		return engine.LevelBasic
	}
	return level
}

// wait lets time pass; the error is the cause when ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
