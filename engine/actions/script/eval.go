package script

import (
	"context"
	"log/slog"
	"runtime"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/expr/javascript"
)

// Eval runs JavaScript; the value of its last expression is the outcome. The
// errors of the action before it are kept, so that the script can look at them.
var Eval = action.Define[EvalSettings](action.About{
	ID:          "EVAL",
	Name:        "JavaScript",
	Category:    action.CategoryScript,
	Summary:     "Decide with JavaScript.",
	KeepsErrors: true,
	ReadsOnly:   true,
})

// EvalSettings lists the settings in the order the form shows them.
type EvalSettings struct {
	Script string `hop:"script" form:"script" required:"true"`
}

// Run implements action.Settings. A script that fails is a failure with one
// error.
func (s *EvalSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	// Until it has decided the script sees the outcome of the action before.
	program, err := javascript.Compile(env.Action, s.Script)
	if err != nil {
		r.OK, r.Errors = false, 1
		return err
	}
	h := &host{ctx: ctx, env: env}
	rt := javascript.New(javascript.Host{
		Transform: env.Action, Pipeline: env.Workflow.Name, Location: env.Location, Now: env.Now,
		Log:         func(_, message string) { h.log(engine.LevelBasic, message) },
		Variable:    env.Vars.Get,
		SetVariable: h.setVariable,
		Files:       env.Files,
	})
	if err := h.globals(rt, r, program); err != nil {
		r.OK = false
		return err
	}
	v, err := rt.Run(ctx, program)
	r.OK = false
	if err != nil {
		r.Errors = 1
		return err
	}
	answer, err := rt.Value(v, batch.Boolean)
	if err != nil {
		return err
	}
	r.OK = answer.Valid && answer.Bool()
	return nil
}

// host is what the script's objects reach.
type host struct {
	ctx context.Context // of the run; the objects live no longer
	env *action.Env
}

func (h *host) log(level slog.Level, message string) {
	h.env.Log.Log(h.ctx, level, message) //nolint:sloglint // the message is the script's, as in Hop
}

var scriptScopes = map[string]action.Scope{
	"s": action.ScopeProcess, "r": action.ScopeRoot, "p": action.ScopeParent, "g": action.ScopeGrandParent,
}

func (h *host) setVariable(name, value, scope string) error {
	return h.env.Scopes.Set(name, value, scriptScopes[scope])
}

// globals sets what scripts of the action see (reference 7.5).
func (h *host) globals(rt *javascript.Runtime, r *action.Result, program *javascript.Script) error {
	workflow := &WorkflowObject{host: h}
	this := map[string]any{"getName": func() string { return h.env.Action }}
	values := map[string]any{
		"errors": r.Errors, "lines_input": r.Input, "lines_output": r.Output, "lines_updated": r.Updated,
		"lines_rejected": r.Rejected, "lines_read": r.Read, "lines_written": r.Written, "files_retrieved": r.Files,
		"exit_status": r.ExitStatus, "nr": h.env.Number, "is_windows": runtime.GOOS == "windows",
		"rows": newRows(h, r).list, "previous_result": &ResultObject{host: h, r: r},
		"parent_workflow": workflow, "parent_job": workflow,
		"action": this, "_action_": this, "_entry_": this, "log": &LogObject{host: h},
	}
	if program.Mentions("java.lang.System") {
		values["java"] = map[string]any{"lang": map[string]any{"System": &SystemObject{host: h}}}
	}
	for name, v := range values {
		if err := rt.Provide(name, v); err != nil {
			return err
		}
	}
	return nil
}
