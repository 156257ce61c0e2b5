package flow

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// ChildSettings are what the actions that run a pipeline or a workflow share.
type ChildSettings struct {
	PerRow       bool                  `hop:"exec_per_row" label:"Run once per result row"`
	FromPrevious bool                  `hop:"params_from_previous" label:"Take parameters from the previous result"`
	Wait         bool                  `hop:"wait_until_finished" default:"Y" label:"Wait until it has finished"`
	WaitTimeout  transform.Expr[int64] `hop:"wait_timeout" min:"0" unit:"ms" label:"Longest wait" help:"0 or empty: no limit. What runs longer is stopped and fails"`
	RemoteAbort  bool                  `hop:"follow_abort_remote" advanced:"true" help:"For remote runs; has no effect here"`
	PassAll      bool                  `hop:"parameters>pass_all_parameters" default:"Y" label:"Pass all parameters"`
	Parameters   []ChildParameter      `hop:"parameters>parameter"`
	SetLog       bool                  `hop:"set_logfile" label:"Write a log file"`
	LogFile      string                `hop:"logfile" form:"file" label:"Log file, without extension"`
	LogExtension string                `hop:"logext" default:"log" label:"Extension of the log file"`
	LogDate      bool                  `hop:"add_date" label:"Add the date to its name"`
	LogTime      bool                  `hop:"add_time" label:"Add the time to its name"`
	LogAppend    bool                  `hop:"set_append_logfile" label:"Append to the log file"`
	LogParent    bool                  `hop:"create_parent_folder" label:"Create its folder"`
	LogLevel     LogLevel              `hop:"loglevel" default:"Basic" label:"Level of the log file"`
}

// ChildParameter gives a value to a parameter of the child.
type ChildParameter struct {
	Name  string `hop:"name" required:"true"`
	Field string `hop:"stream_name" form:"field" label:"Field of the result row"`
	Value string `hop:"value" help:"May hold variables"`
}

// AfterDecode implements transform.AfterDecoder: what a new action has set is
// off when the file says nothing.
func (s *ChildSettings) AfterDecode(el *hopxml.Element) {
	if el.Child("wait_until_finished") == nil {
		s.Wait = false
	}
	if el.Child("parameters").Child("pass_all_parameters") == nil {
		s.PassAll = false
	}
}

// childRun is one run of such an action.
type childRun struct {
	settings  *ChildSettings
	env       *action.Env
	file      string
	runConfig string
	run       func(context.Context, action.Child) (*action.Ended, error)
	start     func(context.Context, action.Child) error
	merge     func(r *action.Result, ended *action.Ended)
}

// execute runs the child, once or once per row until it fails.
func (c *childRun) execute(ctx context.Context, r *action.Result) error {
	log, closeLog, err := c.openLog(ctx)
	if err != nil {
		return err
	}
	if !c.settings.PerRow {
		err = c.once(ctx, r, r.Result, nil, log)
	} else {
		err = c.eachRow(ctx, r, log)
	}
	if cerr := closeLog(); err == nil && cerr != nil {
		err = fmt.Errorf("write the log file: %w", cerr)
	}
	return err
}

func (c *childRun) eachRow(ctx context.Context, r *action.Result, log *slog.Logger) error {
	rows := r.SplitRows()
	defer func() {
		for _, b := range rows {
			b.Release()
		}
	}()
	r.SetRows(nil)
	r.OK = true
	for _, row := range rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		previous := r.LightClone()
		previous.Rows = []*batch.Batch{row}
		if err := c.once(ctx, r, previous.Result, row, log); err != nil || !r.OK {
			return err
		}
	}
	return nil
}

func (c *childRun) once(ctx context.Context, r *action.Result, previous transform.Result, row *batch.Batch, log *slog.Logger) error {
	call := project.ChildCall{PassAll: c.settings.PassAll, FromPrevious: c.settings.FromPrevious, Scope: c.env.Vars}
	for _, p := range c.settings.Parameters {
		call.Mappings = append(call.Mappings, project.ParameterMapping{Name: p.Name, Field: p.Field, Value: p.Value})
	}
	if row != nil {
		call.Row = func(field string) (string, bool) { return c.text(row, field) }
	}
	child := action.Child{File: c.file, RunConfig: c.runConfig, Call: call, Previous: previous, Log: log}
	if !c.settings.Wait {
		if err := c.start(ctx, child); err != nil {
			return err
		}
		r.OK = true
		return nil
	}
	ms, err := c.settings.WaitTimeout.Or(c.env, 0)
	if err != nil {
		return fmt.Errorf("longest wait: %w", err)
	}
	if limit := time.Duration(ms) * time.Millisecond; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &engine.Error{Message: fmt.Sprintf("it was stopped because it did not end within %s", limit)})
		defer cancel()
	}
	ended, err := c.run(ctx, child)
	if err != nil {
		return err
	}
	c.merge(r, ended)
	ended.Release()
	r.OK = ended.OK && r.Errors == 0
	return ended.Err
}

// text gives a field of the only row of a batch as text.
func (c *childRun) text(row *batch.Batch, field string) (string, bool) {
	return fieldText(c.env, row, field)
}

func fieldText(env *action.Env, row *batch.Batch, field string) (string, bool) {
	k := row.Schema.Index(field)
	if k < 0 {
		return "", false
	}
	codec, err := env.Semantics.Codec(&row.Schema.Fields[k])
	if err != nil {
		return "", false
	}
	for i := range row.All() {
		col, err := row.Col(k, codec)
		if err != nil || col.IsNull(i) {
			return "", err == nil
		}
		return string(codec.AppendCompatible(nil, col.Value(i))), true
	}
	return "", false
}

func noop() error { return nil }

// openLog gives the log of the child: nil is the action's own.
func (c *childRun) openLog(ctx context.Context) (*slog.Logger, func() error, error) {
	s := c.settings
	if !s.SetLog {
		return nil, noop, nil
	}
	name, err := c.env.Resolve(s.LogFile)
	if err != nil {
		return nil, noop, err
	}
	if name == "" {
		return nil, noop, &engine.Error{Message: "no log file is named", Hint: "give its name, or do not write one"}
	}
	now := c.env.Now().In(c.env.Location)
	if s.LogDate {
		name += now.Format("_20060102")
	}
	if s.LogTime {
		name += now.Format("_150405")
	}
	extension, err := c.env.Resolve(s.LogExtension)
	if err != nil {
		return nil, noop, err
	}
	if extension != "" {
		name += "." + extension
	}
	return action.OpenLogFile(ctx, c.env, name, action.LogFile{Append: s.LogAppend, Parents: s.LogParent, Level: s.LogLevel.level()})
}
