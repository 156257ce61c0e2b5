package flow

import (
	"context"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// WriteToLog writes a message to the execution log. Errors of the action before
// it are kept.
var WriteToLog = action.Define[WriteToLogSettings](action.About{
	ID:          "WRITE_TO_LOG",
	Name:        "Write to log",
	Category:    action.CategoryGeneral,
	Summary:     "Write a message to the execution log.",
	KeepsErrors: true,
	ReadsOnly:   true,
})

// WriteToLogSettings lists the settings in the order the form shows them.
type WriteToLogSettings struct {
	Level   LogLevel               `hop:"loglevel" default:"Basic" label:"Log level"`
	Subject transform.Expr[string] `hop:"logsubject"`
	Message transform.Expr[string] `hop:"logmessage" form:"multiline"`
}

// Run implements action.Settings.
func (s *WriteToLogSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	subject, err := s.Subject.Eval(env)
	if err != nil {
		return err
	}
	message, err := s.Message.Eval(env)
	if err != nil {
		return err
	}
	if subject != "" {
		message = subject + " - " + message
	}
	r.OK = true
	env.Log.Log(ctx, s.Level.level(), message) //nolint:sloglint // the message is the action's, as in Hop
	return nil
}
