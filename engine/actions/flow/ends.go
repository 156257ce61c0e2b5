package flow

import (
	"context"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// Success makes the result a success without errors.
var Success = action.Define[SuccessSettings](action.About{
	ID:        "SUCCESS",
	Name:      "Success",
	Category:  action.CategoryGeneral,
	Summary:   "Make the result a success and clear its errors.",
	ReadsOnly: true,
})

// SuccessSettings has no settings.
type SuccessSettings struct{}

// Run implements action.Settings.
func (s *SuccessSettings) Run(_ context.Context, _ *action.Env, r *action.Result) error {
	r.Succeed()
	return nil
}

// Dummy passes the result on. Only unconditional hops out of it are followed.
var Dummy = action.Define[DummySettings](action.About{
	ID:            "DUMMY",
	Name:          "Dummy",
	Category:      action.CategoryGeneral,
	Summary:       "Do nothing.",
	Unconditional: true,
	ReadsOnly:     true,
})

// DummySettings has no settings.
type DummySettings struct{}

// Run implements action.Settings.
func (s *DummySettings) Run(context.Context, *action.Env, *action.Result) error { return nil }

// Join is where parallel branches meet: it runs once, when all branches of the
// parallel section have ended, with their results added up. Elsewhere it passes
// the result on.
var Join = action.Define[JoinSettings](action.About{
	ID:          "JOIN",
	Name:        "Join",
	Category:    action.CategoryGeneral,
	Summary:     "Wait for parallel branches and go on as one.",
	KeepsErrors: true,
	Joins:       true,
	ReadsOnly:   true,
})

// JoinSettings has no settings.
type JoinSettings struct{}

// Run implements action.Settings.
func (s *JoinSettings) Run(context.Context, *action.Env, *action.Result) error { return nil }

// Abort ends the workflow it is in as a failure; no further hop is followed. The
// workflow above only sees a failed action.
var Abort = action.Define[AbortSettings](action.About{
	ID:          "ABORT",
	Name:        "Abort workflow",
	Category:    action.CategoryGeneral,
	Summary:     "End the workflow with a failure.",
	KeepsErrors: true,
	ReadsOnly:   true,
})

// AbortSettings lists the settings in the order the form shows them.
type AbortSettings struct {
	Message transform.Expr[string] `hop:"message"`
	Level   LogLevel               `hop:"loglevel" default:"Error" label:"Log level"`
	LogRows bool                   `hop:"always_log_rows" advanced:"true"`
}

// Run implements action.Settings.
func (s *AbortSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	env.Stop()
	r.OK, r.Errors = false, 1
	message, err := s.Message.Eval(env)
	if err != nil {
		return err
	}
	if message == "" {
		message = "The workflow was aborted"
	}
	env.Log.Log(ctx, s.Level.level(), message) //nolint:sloglint // the message is the action's, as in Hop
	return nil
}

// EndRepeat ends the loop of the Repeat action that runs this workflow.
var EndRepeat = action.Define[EndRepeatSettings](action.About{
	ID:        "EndRepeat",
	Name:      "End Repeat",
	Category:  action.CategoryGeneral,
	Summary:   "End the loop of the Repeat action that runs this workflow.",
	ReadsOnly: true,
})

// EndRepeatSettings has no settings.
type EndRepeatSettings struct{}

// Run implements action.Settings.
func (s *EndRepeatSettings) Run(_ context.Context, env *action.Env, r *action.Result) error {
	env.EndRepeat()
	r.Succeed()
	return nil
}
