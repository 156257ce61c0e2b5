package flow

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Repeat runs a pipeline or workflow until a variable of it has a value, until an
// End Repeat action runs in it, or until it fails. When the variable has the
// value already, it does not run at all.
var Repeat = action.Define[RepeatSettings](action.About{
	ID:       "Repeat",
	Name:     "Repeat",
	Category: action.CategoryGeneral,
	Summary:  "Run a pipeline or workflow again and again.",
})

// RepeatSettings lists the settings in the order the form shows them.
type RepeatSettings struct {
	Filename      transform.Expr[string] `hop:"filename" form:"file" required:"true" label:"Pipeline or workflow"`
	RunConfig     transform.Expr[string] `hop:"run_configuration" form:"run-configuration" label:"Run configuration"`
	Variable      transform.Expr[string] `hop:"variable_name" label:"Stop when this variable"`
	Value         transform.Expr[string] `hop:"variable_value" label:"has this value" help:"Empty: any value"`
	Delay         transform.Expr[int64]  `hop:"delay" unit:"s" min:"0" label:"Time between runs"`
	KeepValues    bool                   `hop:"keep_values" label:"Keep variables between runs"`
	Parameters    []RepeatParameter      `hop:"parameters>parameter"`
	LogEnabled    bool                   `hop:"logfile_enabled" label:"Write a log file"`
	LogBase       transform.Expr[string] `hop:"logfile_base" form:"file" label:"Log file, without extension"`
	LogExtension  transform.Expr[string] `hop:"logfile_extension" default:"log"`
	LogAppend     bool                   `hop:"logfile_appended" label:"Append to the log file"`
	LogDate       bool                   `hop:"logfile_add_date" label:"Add the date to its name"`
	LogTime       bool                   `hop:"logfile_add_time" label:"Add the time to its name"`
	LogRepetition bool                   `hop:"logfile_add_repetition" label:"Add the number of the run to its name"`
	LogInterval   string                 `hop:"logfile_update_interval" default:"5000" unit:"ms" advanced:"true" help:"Has no effect: lines are written at once"`
}

// RepeatParameter gives a value to a parameter of the child.
type RepeatParameter struct {
	Name  string `hop:"name" required:"true"`
	Value string `hop:"value" help:"May hold variables"`
}

// repeatRun is one run of the action.
type repeatRun struct {
	s                     *RepeatSettings
	env                   *action.Env
	file, config          string
	variable, value       string
	run                   func(context.Context, action.Child) (*action.Ended, error)
	previous              *action.Ended
	repetition            int
	logExtension, logBase string
}

// Run implements action.Settings.
func (s *RepeatSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	c := &repeatRun{s: s, env: env}
	if err := c.resolve(); err != nil {
		return err
	}
	seconds, err := s.Delay.Or(env, 0)
	if err != nil {
		return fmt.Errorf("time between runs: %w", err)
	}
	r.OK = true
	if c.reached(env.Vars) {
		return nil
	}
	for {
		ended, err := c.once(ctx)
		if c.previous != nil {
			c.previous.Release()
		}
		if err != nil {
			return err
		}
		c.previous = ended
		if !ended.OK || ended.Errors > 0 || ended.Stopped {
			r.Add(&ended.Result)
			r.OK = false
			env.Log.Error("The loop ends because what it runs failed or was stopped", "runs", c.repetition)
			return ended.Err
		}
		if ended.EndRepeat || c.reached(ended.Scope) {
			r.Add(&ended.Result)
			return nil
		}
		if err := wait(ctx, time.Duration(max(seconds, 0))*time.Second); err != nil {
			ended.Release()
			return err
		}
	}
}

func (c *repeatRun) resolve() (err error) {
	for _, e := range []struct {
		to   *string
		from transform.Expr[string]
	}{
		{&c.file, c.s.Filename},
		{&c.config, c.s.RunConfig},
		{&c.variable, c.s.Variable},
		{&c.value, c.s.Value},
		{&c.logBase, c.s.LogBase},
		{&c.logExtension, c.s.LogExtension},
	} {
		if *e.to, err = e.from.Eval(c.env); err != nil {
			return err
		}
	}
	switch lower := strings.ToLower(c.file); {
	case strings.HasSuffix(lower, ".hpl"):
		c.run = c.env.Children.RunPipeline
	case strings.HasSuffix(lower, ".hwf"):
		c.run = c.env.Children.RunWorkflow
	case c.file == "":
		return &engine.Error{Message: "no pipeline or workflow is named", Hint: "give the file to repeat"}
	default:
		return &engine.Error{Message: fmt.Sprintf("%s is neither a pipeline nor a workflow", c.file), Hint: "its name has to end with .hpl or .hwf"}
	}
	return nil
}

// reached says whether the variable has the value that ends the loop.
func (c *repeatRun) reached(scope *project.Variables) bool {
	if c.variable == "" {
		return false
	}
	value, _ := scope.Get(c.variable)
	if value == "" {
		return false
	}
	return c.value == "" || strings.EqualFold(value, c.value)
}

func (c *repeatRun) once(ctx context.Context) (*action.Ended, error) {
	c.repetition++
	call := project.ChildCall{PassAll: true, Scope: c.env.Vars}
	child := action.Child{File: c.file, RunConfig: c.config, Variables: map[string]string{}}
	for _, p := range c.s.Parameters {
		m := project.ParameterMapping{Name: p.Name, Value: p.Value}
		value, err := c.env.Resolve(p.Value)
		if err != nil {
			return nil, err
		}
		child.Variables[p.Name] = value
		if c.s.KeepValues && c.previous != nil {
			if kept, ok := c.previous.Scope.Get(p.Name); ok {
				m.Value = kept
			}
		}
		call.Mappings = append(call.Mappings, m)
	}
	if c.s.KeepValues && c.previous != nil {
		child.Variables = kept(c.previous.Scope)
	}
	child.Call = call
	log, closeLog, err := c.openLog(ctx)
	if err != nil {
		return nil, err
	}
	child.Log = log
	ended, err := c.run(ctx, child)
	if cerr := closeLog(); cerr != nil && err == nil {
		ended.Release()
		return nil, fmt.Errorf("write the log file: %w", cerr)
	}
	return ended, err
}

// kept gives the variables of a run for the next one, without those that name
// the run itself.
func kept(scope *project.Variables) map[string]string {
	all := scope.All()
	for name := range all {
		if strings.HasPrefix(name, "Internal.") {
			delete(all, name)
		}
	}
	return all
}

func (c *repeatRun) openLog(ctx context.Context) (*slog.Logger, func() error, error) {
	if !c.s.LogEnabled {
		return nil, noop, nil
	}
	name := c.logBase
	now := c.env.Now().In(c.env.Location)
	if c.s.LogDate {
		name += now.Format("_20060102")
	}
	if c.s.LogTime {
		name += now.Format("_150405")
	}
	if c.s.LogRepetition {
		name += fmt.Sprintf("_%04d", c.repetition)
	}
	if c.logExtension != "" {
		name += "." + c.logExtension
	}
	return action.OpenLogFile(ctx, c.env, name, action.LogFile{Append: c.s.LogAppend || c.repetition > 1 && !c.s.LogRepetition, Level: engine.LevelBasic})
}
